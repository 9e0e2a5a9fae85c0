"""A bot cannot feign core wait: the machine is no suspect for a time-out of a bot that had its time."""

import os
from pathlib import Path

import pytest
from contests import burners
from scripted import Arena

from referee.games.contract import FaultKind
from referee.games.game import TimeControl
from referee.harness.isolation.plan import OFF, Isolation
from referee.harness.match.match import play
from referee.harness.match.series import Series, play_series
from referee.harness.match.verdict import Verdict, decided_by_machine
from referee.harness.process.limits import Limits, OnNoise
from referee.harness.seats.roster import open_roster

pytestmark = [pytest.mark.slow, pytest.mark.alone]

LIMIT_S = 0.6
UNSURE_S = 0.03
"""The kernel counts the time of a core in ticks of 10 ms."""
CORE = min(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0
PINNED = f"os.sched_setaffinity(0, [{CORE}])"
LATE = """
import hashlib, signal, threading
def spin(seconds=1e9):
    until = time.monotonic() + seconds
    while time.monotonic() < until: pass
def threads(count):
    work = ("md5", b"", b"", 1 << 30)
    for _ in range(count): threading.Thread(target=hashlib.pbkdf2_hmac, args=work, daemon=True).start()
def forked(work):
    if os.fork() == 0: work(); os._exit(0)
def short_forks():
    while True: os.waitpid(os.spawnv(os.P_NOWAIT, "/bin/true", ["true"]), 0); forked(lambda: spin(0.003)); os.wait()
def yields():
    while True: os.sched_yield()
"""
"""`pbkdf2_hmac` runs without Python's lock, so that every thread wants a core."""
FEIGNED = {
    "one endless loop": "spin()",
    "fifty threads": "threads(50); spin()",
    "fifty threads, then sleep": "threads(50); time.sleep(1e9)",
    "half asleep": f"forked(lambda: spin({LIMIT_S / 2})); spin({LIMIT_S / 2}); time.sleep(1e9)",
    "twenty processes": "[forked(spin) for _ in range(20)]; spin()",
    "children that end at once": "forked(short_forks); spin()",
    "sched_yield": "[forked(yields) for _ in range(4)]; yields()",
}
HUMBLE = {
    "SCHED_IDLE": "os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0)); spin()",
    "nice": "os.nice(19); spin()",
    "nice session": "open('/proc/self/autogroup', 'w').write('19'); spin()",
}


def busy_s() -> float:
    """Returns for how long the bots' core was busy since the machine started."""
    line = next(line for line in Path("/proc/stat").read_text().splitlines() if line.startswith(f"cpu{CORE} "))
    user, nice, system, _, _, irq, softirq, *_ = map(int, line.split()[1:])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


async def played(arena: Arena, late: str, limits: Limits) -> tuple[Verdict, float]:
    """Plays a match with a bot that never answers. Returns for how long others can have had its core."""
    bot = arena.bot(f"{LATE}{PINNED}; greet(); call(); {late}", name="late")
    match = arena.match(bot, arena.bot("greet(); call()", name="rival"), time=TimeControl(per_call_s=LIMIT_S))
    before_s = busy_s()
    async with open_roster(limits) as roster:
        verdict = await play(match, roster)
    return verdict, busy_s() - before_s - verdict.seats[0].cpu_s


@pytest.mark.trio
@pytest.mark.parametrize("isolation", [OFF, Isolation()], ids=["off", "default"])
@pytest.mark.parametrize("late", FEIGNED.values(), ids=FEIGNED)
async def test_a_bot_waits_for_others_only_and_not_for_itself(arena: Arena, late: str, isolation: Isolation) -> None:
    verdict, others_s = await played(arena, late, Limits(startup_s=60.0, isolation=isolation))
    (fault,) = verdict.faults
    assert (fault.player, fault.kind) == (0, FaultKind.TIMEOUT)
    assert fault.waited_s <= others_s + UNSURE_S
    assert not decided_by_machine(verdict) or others_s > LIMIT_S / 10 - UNSURE_S


@pytest.mark.trio
@pytest.mark.parametrize("late", HUMBLE.values(), ids=HUMBLE)
async def test_a_bot_that_lowers_its_priority_waits_by_its_own_choice(arena: Arena, late: str) -> None:
    with burners(CORE, 4):
        verdict, _ = await played(arena, late, Limits(startup_s=60.0, isolation=OFF))
    assert [fault.kind for fault in verdict.faults] == [FaultKind.TIMEOUT]
    assert verdict.faults[0].waited_s < LIMIT_S / 10
    assert not decided_by_machine(verdict)


@pytest.mark.trio
@pytest.mark.parametrize("on_noise", [OnNoise.FORGIVE, OnNoise.REPLAY])
async def test_feigned_core_wait_gives_no_time_back_and_no_second_match(arena: Arena, on_noise: OnNoise) -> None:
    limits = Limits(startup_s=60.0, isolation=OFF, on_noise=on_noise)
    bot = arena.bot(
        f"{LATE}{PINNED}; greet(); asked = call(); threads(20); spin(1.3 * {LIMIT_S}); answer(asked, cell('C'))"
    )
    match = arena.match(bot, arena.bot("greet(); call()", name="rival"), time=TimeControl(per_call_s=LIMIT_S))
    before_s = busy_s()
    outcome = await play_series(Series(match), limits)
    (verdict,) = outcome.matches
    others_s = busy_s() - before_s - verdict.seats[0].cpu_s
    assert [fault.player for fault in verdict.faults] == [0] or others_s > 0.3 * LIMIT_S
    assert not decided_by_machine(verdict) or others_s > LIMIT_S / 10 - UNSURE_S
