"""Core wait and the stall clock: bots are charged for their own time."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from needs import for_root
from scripted import PREAMBLE, Arena

from referee.games.contract import FaultKind
from referee.games.game import TimeControl
from referee.harness.common.errors import RunError
from referee.harness.isolation.plan import OFF
from referee.harness.isolation.process_tree import descendants
from referee.harness.match.series import Series, play_series
from referee.harness.match.verdict import decided_by_machine
from referee.harness.process import core_wait
from referee.harness.process.bot_process import Program
from referee.harness.process.core_wait import CoreWait, CoreWaitMeter, Thread, Tree, difference, is_ready, tree_below
from referee.harness.process.limits import Limits, OnNoise
from referee.harness.replay.lines import Stop
from referee.harness.replay.writer import ReplayWriter
from referee.harness.seats.program import Bot

pytestmark = [pytest.mark.slow, pytest.mark.alone]

BURN = """
def burn(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until: pass
"""
CALL = TimeControl(per_call_s=0.1)


@contextmanager
def burners(count: int, core: int | None = None) -> Iterator[None]:
    """Runs `count` processes that always want a core, or this one.

    None is a child of ours, so that none counts as left behind. Each has a session of its own: Linux shares the cores
    out among sessions first.
    """
    pinned = "" if core is None else f"os.sched_setaffinity(0, [{core}])\n"
    burner = f"import os; os.setsid()\n{pinned}while True: pass"
    start = f"for n in $(seq $2); do $1 -I -S -c '{burner}' </dev/null >/dev/null 2>&1 & echo $!; done"
    command = ["/bin/sh", "-c", start, "sh", sys.executable, str(count)]
    pids = list(map(int, subprocess.run(command, capture_output=True, check=True).stdout.split()))
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)


def rounds(arena: Arena, bot_s: float, rival_s: float, count: int) -> tuple[str, str]:
    """Returns bots that use this much CPU time in each of so many calls."""
    return tuple(  # type: ignore[return-value]
        f"{BURN}greet()\nfor _ in range({count}): asked = call(); burn({seconds}); answer(asked, '{hand}')\n"
        "answer(call(), None); call()"
        for seconds, hand in ((bot_s, "rock"), (rival_s, "rock"))
    )


@pytest.mark.trio
async def test_a_bot_loses_no_call_to_a_busy_machine_and_one_that_burns_too_much_loses_each(arena: Arena) -> None:
    """16 processes compete for the cores. Calls take the bots 5 ms and 150 ms of CPU time; the limit is 100 ms."""
    honest, burner = rounds(arena, 0.005, 0.15, 6)
    entrants = arena.bot(honest, name="honest"), arena.bot(burner, name="burner")
    match = arena.match(*entrants, game="rounds", rounds=6, turns=True, time=CALL)
    with burners(16):
        verdict = await arena.play(match, Limits(startup_s=60.0, on_noise=OnNoise.FORGIVE), granted_s=60.0)
    throws = [fault for fault in verdict.faults if fault.method == "throw"]
    assert [fault.player for fault in throws] == [1] * 6
    assert {fault.kind for fault in throws} == {FaultKind.TIMEOUT}


@pytest.mark.trio
async def test_core_wait_is_in_the_verdict_and_the_replay(arena: Arena) -> None:
    slow, quick = rounds(arena, 0.03, 0.0, 3)
    entrants = arena.bot(slow, name="slow"), arena.bot(quick, name="quick")
    match = arena.match(*entrants, game="rounds", rounds=3, turns=True, time=TimeControl(per_call_s=30.0))
    with burners(8):
        verdict = await arena.play(match, Limits(startup_s=60.0), granted_s=60.0)
    seat = verdict.seats[0]
    assert 0 < seat.waited_s <= seat.wall_s
    turns = [json.loads(line) for line in (arena.folder / "match.jsonl").read_bytes().splitlines()]
    assert any("0" in turn.get("waited_us", {}) for turn in turns)


@pytest.mark.parametrize(("on_noise", "times"), [(OnNoise.REPLAY, 3), (OnNoise.FORGIVE, 10)])
def test_a_late_answer_is_awaited_for_a_few_limits_however_long_no_core_was_free(on_noise: OnNoise, times: int) -> None:
    waited: Any = SimpleNamespace(read=lambda answered: CoreWait(ran_s=0.0, waited_s=60.0))
    transport: Any = SimpleNamespace(core_wait=waited, now=lambda: 6.0, background=())
    bot = Bot(transport, Program(), Limits(on_noise=on_noise))
    assert bot._extended(started=5.0, limit_s=0.5) == 5.5 + times * 0.5


@pytest.mark.trio
async def test_a_bot_that_sleeps_waits_for_no_core_however_often_the_referee_does(arena: Arena) -> None:
    """Each look at the bot may wait for a core, 20 times in this call. Only the last wait can delay the answer.

    No time is charged in which the referee itself did not run, so that less than two seconds may be.
    """
    bot = arena.bot("greet(); asked = call(); time.sleep(2); answer(asked, cell('C')); call()")
    rival = arena.bot("greet(); call()", name="rival")
    with burners(24):
        verdict = await arena.play(arena.match(bot, rival), Limits(startup_s=60.0), granted_s=60.0)
    assert verdict.seats[0].wall_s > 0.5
    assert verdict.seats[0].waited_s < 0.3


@pytest.mark.trio
@pytest.mark.parametrize(("late", "played"), [("burn(5)", 4), ("time.sleep(5)", 1)], ids=["busy", "idle"])
async def test_a_match_is_played_again_if_a_late_bot_had_no_core(arena: Arena, late: str, played: int) -> None:
    """Three times at most. Of a second one that computes gets some 0.11 s, with 16 others at two cores."""
    greeted = arena.folder / "greeted"
    note = f"open('{greeted}', 'a').write('x')"
    body = f"{BURN}greet(); {note}; asked = call(); {late}; answer(asked, cell('C'))"
    match = arena.match(arena.bot(body), arena.bot("greet(); call()", name="rival"), time=TimeControl(per_call_s=1.0))
    limits = Limits(startup_s=60.0, on_noise=OnNoise.REPLAY, isolation=OFF)
    with burners(16):
        outcome = await play_series(Series(match), limits)
    plays = len(greeted.read_text())
    assert min(2, played) <= plays <= played, (
        "a game in which it gets a core after all, or its own work is too much, counts"
    )
    assert outcome.noise is not None
    if plays == played:
        noisy = int(played > 1)
        assert (outcome.noise.calls, outcome.noise.faults) == (1, 1)
        assert (outcome.noise.noisy_calls, outcome.noise.noisy_faults) == (noisy, noisy)


@pytest.mark.trio
async def test_only_the_fault_reports_of_the_last_attempt_stay_beside_the_replay(arena: Arena) -> None:
    """The bot computes too long in its first match only, and 16 processes take the cores from it."""
    played = arena.folder / "played"
    body = f"{BURN}greet(); asked = call(); again = os.path.exists('{played}'); open('{played}', 'a').write('x')\n"
    body += "again or burn(5); answer(asked, cell('NW')); put('W'); put('SW'); call()"
    rival = arena.bot("greet(); put('C'); put('E'); call()", name="rival")
    match = arena.match(arena.bot(body), rival, time=TimeControl(per_call_s=1.0))
    limits = Limits(startup_s=60.0, on_noise=OnNoise.REPLAY, isolation=OFF)
    with burners(16):
        outcome = await play_series(Series(msgspec.structs.replace(match, fault_reports=True)), limits)
    (verdict,) = outcome.matches
    told = {Path(fault.bundle).name for fault in verdict.faults if fault.bundle is not None}
    assert {path.name for path in arena.folder.glob("match.seat*.fault*")} == told


@pytest.mark.trio
@pytest.mark.parametrize(("needs_s", "machine"), [(0.2, True), (9.0, False)], ids=["in time alone", "endless"])
async def test_a_late_bot_is_at_fault_if_it_had_its_time(arena: Arena, needs_s: float, machine: bool) -> None:
    """It needs two thirds of the limit, or more than there is. A program on its core takes half of the time."""
    core = min(os.sched_getaffinity(0))
    late = (
        f"{BURN}os.sched_setaffinity(0, [{core}]); greet(); asked = call(); burn({needs_s}); answer(asked, cell('C'))"
    )
    match = arena.match(arena.bot(late), arena.bot("greet(); call()", name="rival"), time=TimeControl(per_call_s=0.3))
    with burners(1, core):
        verdict = await arena.play(match, Limits(startup_s=60.0), granted_s=60.0)
    (fault,) = verdict.faults
    assert (fault.player, fault.kind) == (0, FaultKind.TIMEOUT), "the answer is late in any case"
    assert decided_by_machine(verdict) == fault.host_noise
    if fault.cpu_s > 0.27 or machine:  # else the machine is too busy to tell
        assert fault.host_noise == machine
        awaited = fault.wall_s > 0.3
        assert awaited or fault.cpu_s < needs_s + 0.1 if machine else not awaited  # it is not awaited for ever


@pytest.mark.trio
@pytest.mark.parametrize("on_noise", OnNoise)
async def test_the_core_wait_of_earlier_calls_empties_a_bank(arena: Arena, on_noise: OnNoise) -> None:
    core = min(os.sched_getaffinity(0))
    moves = "".join(f"asked = call(); burn(0.15); answer(asked, cell('{cell}'))\n" for cell in ("NW", "W"))
    late = f"{BURN}os.sched_setaffinity(0, [{core}]); greet()\n{moves}call(); time.sleep(60)"
    rival = arena.bot("greet(); put('C'); put('E'); call()", name="rival")
    bank = TimeControl(per_call_s=None, initial_s=1.0)
    match = arena.match(arena.bot(late), rival, time=bank)
    with burners(1, core):
        outcome = await play_series(Series(match), Limits(startup_s=60.0, on_noise=on_noise, isolation=OFF))
    (verdict,) = outcome.matches
    assert [(fault.player, fault.kind) for fault in verdict.faults] == [(0, FaultKind.TIMEOUT)]
    assert decided_by_machine(verdict) == (on_noise is not OnNoise.FORGIVE)


STARVES = """
import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])}); os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
print(flush=True)
while True: pass
"""


@pytest.mark.trio
@pytest.mark.skipif(
    os.geteuid() != 0 or len(os.sched_getaffinity(0)) < 2, reason=for_root("only root has real-time processes")
)
@pytest.mark.parametrize(
    ("late", "on_noise", "lost"),
    [
        ("burn(0.01)", OnNoise.FORGIVE, False),
        ("burn(0.01)", OnNoise.CHARGE, True),
        ("time.sleep(5)", OnNoise.FORGIVE, True),
    ],
)
async def test_a_bot_that_gets_no_core_until_its_deadline_has_waited(
    arena: Arena, late: str, on_noise: OnNoise, lost: bool
) -> None:
    """The kernel books the wait only when the bot gets a core. A real-time process leaves it a twentieth."""
    core = max(os.sched_getaffinity(0))
    pinned = f"{BURN}greet(); os.sched_setaffinity(0, {{{core}}}); put('NW'); asked = call(); {late}"
    bot = arena.bot(f"{pinned}; answer(asked, cell('W')); put('SW'); call()")
    starving = f"subprocess.Popen([sys.executable, '-I', '-S', '-c', {STARVES!r}, '{core}'], stdout=subprocess.PIPE)"
    rival = arena.bot(
        f"import subprocess; greet(); asked = call(); begun = {starving}; begun.stdout.readline()\n"
        "answer(asked, cell('C')); put('E'); call()",
        name="rival",
    )
    match = arena.match(bot, rival, time=TimeControl(per_call_s=0.5))
    verdict = await arena.play(match, Limits(on_noise=on_noise, isolation=OFF), granted_s=20.0)
    assert [fault.player for fault in verdict.faults] == [0] * lost


LOSES_ITS_CORE = """
import os, sys, time
core, asleep_s = int(sys.argv[1]), float(sys.argv[2])
if os.fork(): os.wait(); sys.exit()
os.sched_setaffinity(0, {core})
print(flush=True); sys.stdin.readline()
until = time.thread_time() + 0.02
while time.thread_time() < until: pass
print(os.getpid(), flush=True)
if asleep_s: time.sleep(asleep_s)
while True: pass
"""
TAKES_IT = """
import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])}); os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
print(flush=True); sys.stdin.readline()
while True: pass
"""


@pytest.mark.skipif(
    os.geteuid() != 0 or len(os.sched_getaffinity(0)) < 2, reason=for_root("only root has real-time processes")
)
@pytest.mark.parametrize("asleep_s", [0.0, 0.2])
def test_a_bot_that_loses_its_core_in_the_middle_of_a_call_waits_from_then_on_unless_it_sleeps(asleep_s: float) -> None:
    """It has run since the first reading, and the kernel has booked nothing: only that it never slept shows it."""
    core = str(max(os.sched_getaffinity(0)))
    with ExitStack() as ended:
        bot, taker = (started(ended, script, core, str(asleep_s)) for script in (LOSES_ITS_CORE, TAKES_IT))
        assert bot.stdin and bot.stdout and taker.stdin
        meter = CoreWaitMeter(bot.pid, bot.stdout.fileno())
        bot.stdin.write(b"\n")
        meter.start()
        began = time.perf_counter()
        pid = int(bot.stdout.readline())
        while asleep_s and is_ready(pid):
            pass
        taker.stdin.write(b"\n")
        time.sleep(0.3)
        found, took_s = meter.read(answered=False), time.perf_counter() - began
    assert found is not None
    if asleep_s:
        assert found.waited_s < took_s - found.ran_s - 0.9 * asleep_s
    else:
        assert found.waited_s > 0.9 * (took_s - found.ran_s) > 0.1


def started(ended: ExitStack, script: str, *words: str) -> subprocess.Popen[bytes]:
    """Starts a Python process that ends with all its children. Returns when it has printed a line."""
    command = [sys.executable, "-I", "-S", "-c", script, *words]
    process = subprocess.Popen(command, 0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    ended.callback(process.wait)
    ended.callback(os.killpg, process.pid, signal.SIGKILL)
    assert process.stdout is not None
    process.stdout.readline()
    return process


def test_every_thread_below_a_process_is_read_and_not_its_own() -> None:
    script = "import os, threading\nthreading.Thread(target=os.read, args=(0, 1)).start(); print(flush=True)"
    with ExitStack() as ended:
        above = started(ended, f"import subprocess, sys; subprocess.run([sys.executable, '-c', {script!r}])")
        (pid,) = descendants(above.pid)
        tree = tree_below(above.pid)
        assert tree.threads.keys() == set(map(int, os.listdir(f"/proc/{pid}/task"))) and len(tree.threads) == 2
    assert tree.whole
    assert tree.threads[pid].ran_ns > 0


@pytest.mark.parametrize(("threads", "whole"), [(5, True), (200, False)])
def test_a_small_tree_is_read_whole_however_long_it_takes(
    threads: int, whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CPU time holds what a shared machine gave to others meanwhile: an unread wait would be the bot's fault."""
    monkeypatch.setattr(core_wait, "LOOK_S", 0.0)
    script = f"import threading\nfor _ in range({threads}): threading.Thread(target=input, daemon=True).start()\n"
    script += "print(flush=True); input()"
    with ExitStack() as ended:
        above = started(ended, f"import subprocess, sys; subprocess.run([sys.executable, '-c', {script!r}])")
        tree = tree_below(above.pid)
    assert tree.whole == whole
    assert (len(tree.threads) == threads + 1) == whole


MS = 1_000_000


def test_core_wait_is_that_of_one_thread_less_what_other_threads_of_the_bot_ran() -> None:
    before = Tree({1: Thread(10, 20), 2: Thread(0, 0)}, True, 0)
    after = {1: Thread(10 + 3 * MS, 20 + 7 * MS), 2: Thread(MS, MS), 3: Thread(0, 9 * MS)}
    assert difference(before, Tree(after, True, 4 * MS)) == (0.003, 0.006)
    assert difference(before, Tree(after, True, 6 * MS)) == (0.003, 0.004), "a child that has ended ran for 2 ms"
    assert difference(before._replace(whole=False), Tree(after, True, 0)) == (0.003, 0.006), "3 may be older"
    assert difference(before._replace(whole=False), Tree(after, True, 0), {3: 9 * MS}) == (0.003, 0.006)
    assert difference(before, Tree(after, True, 0), humble={1}) == (0.003, 0.005)


@pytest.mark.trio
@pytest.mark.parametrize("pause", [False, True])
async def test_a_bot_that_computes_while_its_rival_thinks_is_measured_or_stopped(arena: Arena, pause: bool) -> None:
    burnt = f"burn(0.25); open('{arena.folder}/burnt', 'a').write('x')"
    thinker = arena.bot(f"{BURN}greet(); put('NW'); {burnt}; put('W'); {burnt}; put('SW'); call()")
    body = f"""
greet()
for number, place in enumerate("CE"):
    asked, until = call(), time.monotonic() + {0.4 if pause else 4.5}
    while time.monotonic() < until:  # it thinks until the other has burnt enough, as long as that may take here
        if os.path.exists("{arena.folder}/burnt") and os.path.getsize("{arena.folder}/burnt") > number: break
        time.sleep(0.01)
    answer(asked, cell(place))
call()
"""
    match = arena.match(thinker, arena.bot(body, name="rival"))
    verdict = await arena.play(match, Limits(pause=pause), granted_s=8.0)
    assert (verdict.result.ranks, verdict.faults) == ((1, 2), ())
    if pause:
        assert verdict.seats[0].off_turn_cpu_s < 0.2
    else:
        assert verdict.seats[0].off_turn_cpu_s > 0.25


def test_a_suspended_referee_charges_nobody_and_reports_the_stall(tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text(
        PREAMBLE + "greet(); asked = call(); os.write(2, b'asked\\n'); time.sleep(0.2)\n"
        "answer(asked, cell('NW'))\nfor c in ('W', 'SW'): put(c)\ncall()"
    )
    rival = tmp_path / "rival.py"
    rival.write_text(PREAMBLE + "greet(); put('C'); put('E'); call()")
    command = [
        sys.executable,
        "-m",
        "referee.harness.cli.main",
        "--game",
        "tictactoe",
        "--call-time",
        "600ms",
        "--json",
    ]
    command += ["--replay", str(tmp_path / "match.jsonl"), str(bot), str(rival)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=tmp_path, start_new_session=True) as referee:
        while not (tmp_path / "match.seat0.stderr").exists():
            time.sleep(0.005)
        os.kill(referee.pid, signal.SIGSTOP)
        time.sleep(2.0)
        os.kill(referee.pid, signal.SIGCONT)
        out, _ = referee.communicate(timeout=60)
    verdict = json.loads(out)["matches"][0]
    assert verdict["faults"] == []
    assert verdict["away_s"] > 1.5
    assert verdict["seats"][0]["wall_s"] < 0.6


@pytest.mark.trio
async def test_a_replay_that_a_bot_removes_is_noticed(arena: Arena) -> None:
    bot = arena.bot(
        f"greet(); os.unlink({str(arena.folder / 'match.jsonl')!r}); put('NW'); put('W'); put('SW'); call()"
    )
    rival = arena.bot("greet(); put('C'); put('E'); call()", name="rival")
    with pytest.raises(RunError, match="another program changed the replay"):
        await arena.play(arena.match(bot, rival))


def test_a_replay_that_is_truncated_while_it_is_written_is_noticed(tmp_path: Path) -> None:
    with (
        pytest.raises(RunError, match="another program changed the replay"),
        ReplayWriter(tmp_path / "match.jsonl") as recorder,
    ):
        for _ in range(300):
            recorder.write(Stop("told to", [], ""))
        os.truncate(tmp_path / "match.jsonl", 0)
