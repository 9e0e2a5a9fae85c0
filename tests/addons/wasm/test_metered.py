"""Metered bots: time-outs that are part of the rules, and matches that are the same on every machine."""

import json
import os
import subprocess
import sys
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest
import trio
from modules import BUFFER, SPIN, bot, module, saved
from scripted import Arena
from wasmtime import wat2wasm

from referee.addons.wasm import runner, transport
from referee.addons.wasm.kind import MODULE
from referee.addons.wasm.play_again import play_again
from referee.addons.wasm.prices import UNITS_PER_MS, UNITS_PER_S
from referee.games.contract import FaultKind
from referee.games.game import TimeControl
from referee.harness.cli.main import main
from referee.harness.common import installed
from referee.harness.common.errors import RunError
from referee.harness.common.nurseries import ungrouped
from referee.harness.isolation.plan import OFF
from referee.harness.match.match import Match, play
from referee.harness.process.limits import Limits
from referee.harness.process.pipes import Pipes
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.spec import entrant, entrants
from referee.harness.replay.reader import Replay
from referee.harness.seats.chaos import CHAOS, Chaos
from referee.harness.seats.roster import open_roster

pytestmark = pytest.mark.slow

TOKEN = '{"action":"putToken","column":"C"}'
TENTH = TimeControl(per_call_s=0.1)


def column(folder: Path, work: str = "", pages: int = 4, name: str = "column") -> Entrant:
    """Returns a bot that always plays the column C at Connect Four."""
    return entrant(str(saved(folder, name, bot(TOKEN, work, pages))))


def match(arena: Arena, *bots: Entrant, time: TimeControl = TENTH, **changes: Any) -> Match:
    return msgspec.structs.replace(arena.match(*bots, game="connectfour", time=time), **changes)


def played(replay: Path) -> list[dict[str, Any]]:
    """Returns all of a replay that must repeat: without measured times and memory, host and paths."""
    lines = [json.loads(line) for line in replay.read_text().splitlines()]
    for line in lines:
        line.pop("cpu_us", None)
        for part in (*line.get("seats", ()), *line.get("faults", ())):
            for name in ("cpu_s", "off_turn_cpu_s", "peak_memory_bytes"):
                part.pop(name, None)
    return lines


# Time is fuel.


@pytest.mark.trio
async def test_a_whole_match_repeats_bit_for_bit(arena: Arena, tmp_path: Path) -> None:
    work = "(drop (call $random_get (i32.const 512) (i32.const 64)))"
    both = [column(tmp_path, work, name="one"), column(tmp_path, name="two")]
    replays = []
    for _ in range(2):
        verdict = await arena.play(match(arena, *both))
        assert [seat.fuel for seat in verdict.seats] == [seat.fuel for seat in verdict.seats if seat.fuel]
        replays.append(played(arena.folder / "match.jsonl"))
    assert replays[0] == replays[1]


@pytest.mark.trio
async def test_it_repeats_whatever_the_process_has_played_before(arena: Arena, tmp_path: Path) -> None:
    """A module may keep what it learns from one call for the next, but not from one match for the next."""
    count = "(i32.store (i32.const 512) (i32.add (i32.load (i32.const 512)) (i32.const 1)))"
    spins = (
        f"{count} (local.set $i (i32.mul (i32.load (i32.const 512)) (i32.const 1000)))"
        + """
        (loop $more (local.set $i (i32.sub (local.get $i) (i32.const 1))) (br_if $more (local.get $i)))"""
    )
    bots = [column(tmp_path, spins), entrant("@random")]
    fuel = []
    async with open_roster(Limits(isolation=OFF)) as roster:
        for _ in range(3):
            verdict = await play(match(arena, *bots, seed=1), roster)
            assert verdict.faults == ()
            fuel.append(verdict.seats[0].fuel)
        assert len(roster._idle[bots[0]]) == 1  # one process has played all
    assert fuel[0] == fuel[1] == fuel[2]


@pytest.mark.trio
async def test_a_call_that_uses_up_its_fuel_is_a_time_out(arena: Arena, tmp_path: Path) -> None:
    """SPEC.md, 9: `call_ms` 100 is 10^9 units. The bot cannot go on: each later call is the same time-out."""
    verdict = await arena.play(match(arena, column(tmp_path, SPIN), entrant("@random")), granted_s=10)
    fault = verdict.faults[0]
    assert (fault.kind, fault.detail) == (FaultKind.TIMEOUT, "call 1 used up its 1,000,000,000 units of fuel")
    assert fault.fuel == 100 * UNITS_PER_MS
    assert fault.wall_s == 0.1
    assert verdict.result.ranks == (2, 1)


@pytest.mark.trio
@pytest.mark.parametrize(("fuel", "lost"), [(200_000, True), (300_000, False)])
async def test_a_limit_of_fuel_holds_beside_that_of_time(arena: Arena, tmp_path: Path, fuel: int, lost: bool) -> None:
    """The bot uses 211,043 units in a call: 100,000 for each of its two host calls, and 10 for each byte."""
    limits = Limits(fuel=fuel)
    verdict = await arena.play(match(arena, column(tmp_path), entrant("@random")), limits)
    timeouts = [fault.detail for fault in verdict.faults if fault.kind is FaultKind.TIMEOUT]
    assert timeouts == (["call 1 used up its 200,000 units of fuel"] if lost else [])


@pytest.mark.trio
async def test_a_bot_that_reads_on_is_late_at_its_limit(arena: Arena, tmp_path: Path) -> None:
    """It may answer a later call."""
    reads = f"""(i32.store (i32.const 16) (i32.const {BUFFER})) (i32.store (i32.const 20) (i32.const 99))
        (drop (call $fd_read (i32.const 0) (i32.const 16) (i32.const 1) (i32.const 24)))"""
    verdict = await arena.play(match(arena, column(tmp_path, reads), entrant("@random")))
    assert verdict.faults[0].detail == "call 1 got no answer: the bot waits for more input"
    assert verdict.faults[0].wall_s == 0.1


@pytest.mark.trio
async def test_the_bank_and_the_increment_are_fuel(arena: Arena, tmp_path: Path) -> None:
    sleep = f"""(i64.store offset=24 (i32.const 512) (i64.const {400 * 10**6}))
        (i32.store offset=16 (i32.const 512) (i32.const 1))
        (drop (call $poll_oneoff (i32.const 512) (i32.const 768) (i32.const 1) (i32.const 900)))"""
    bank = TimeControl(initial_s=1.0, increment_s=0.1)
    verdict = await arena.play(match(arena, column(tmp_path, sleep), entrant("@random"), time=bank))
    assert verdict.faults[0].kind is FaultKind.TIMEOUT
    assert verdict.faults[0].call == 3  # 1.0 - 0.4 + 0.1 - 0.4 + 0.1 = 0.4, less the host calls
    assert verdict.seats[0].wall_s == pytest.approx(1.2, abs=0.001)


@pytest.mark.trio
async def test_a_limit_of_cpu_time_holds_in_fuel(arena: Arena, tmp_path: Path) -> None:
    limits = Limits(cpu_s=0.05)
    bots = [column(tmp_path, SPIN), column(tmp_path, name="rival")]
    verdict = await arena.play(match(arena, *bots), limits, granted_s=5)
    assert verdict.faults[0].kind is FaultKind.CPU
    assert verdict.faults[0].detail == "used more fuel than 0.05 s of CPU time are worth"


@pytest.mark.trio
async def test_frames_in_every_form_make_the_same_match(arena: Arena, tmp_path: Path) -> None:
    """Our bot finds the id by its place, so only pieces and pauses may change."""
    bots = [column(tmp_path, name="one"), column(tmp_path, name="two")]
    replays = []
    pieces = msgspec.structs.replace(CHAOS, members=False, reordered=False, padded=0)
    for pipes in (Pipes, lambda process: Chaos(process, pieces)):
        async with open_roster(Limits(isolation=OFF), pipes) as roster:
            await play(match(arena, *bots), roster)
        replays.append(played(arena.folder / "match.jsonl"))
    assert replays[0] == replays[1]


# Ends and limits.


@pytest.mark.trio
@pytest.mark.parametrize(
    ("work", "words"),
    [
        ("unreachable", "trapped: wasm `unreachable` instruction executed"),
        ("(call $proc_exit (i32.const 7))", "code 7"),
    ],
)
async def test_a_crash_is_quoted(arena: Arena, tmp_path: Path, work: str, words: str) -> None:
    verdict = await arena.play(match(arena, column(tmp_path, work), entrant("@random")))
    assert verdict.faults[0].kind is FaultKind.CRASH
    assert words in verdict.faults[0].detail


@pytest.mark.trio
async def test_a_module_that_never_reads_ends_with_its_start_up_fuel(arena: Arena, tmp_path: Path) -> None:
    spinner = entrant(str(saved(tmp_path, "spinner", module(SPIN))))
    limits = Limits(startup_s=0.1)
    verdict = await arena.play(match(arena, spinner, entrant("@random")), limits, granted_s=5)
    assert verdict.faults[0].fuel == round(0.1 * UNITS_PER_S)
    assert verdict.faults[0].detail == "call 1 used up its 1,000,000,000 units of fuel"


FIXED = """(local.set $i (i32.const 200000000))
    (loop $more (local.set $i (i32.sub (local.get $i) (i32.const 1))) (br_if $more (local.get $i)))"""
"""Computes for half a second."""


@pytest.mark.trio
async def test_a_bot_that_meets_the_guard_loses(arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Slow memory takes CPU time that fuel does not see, and a bot that is about to lose could waste it."""
    monkeypatch.setattr(transport, "GUARD_S", 0.2)
    monkeypatch.setattr(transport, "GUARD_FACTOR", 0)
    bots = [column(tmp_path, SPIN), entrant("@random")]
    verdict = await arena.play(match(arena, *bots, time=TimeControl(per_call_s=1.0)), granted_s=30)
    assert verdict.result.ranks == (2, 1)
    fault, *_ = verdict.faults
    assert fault.kind is FaultKind.CPU
    assert "took more than 0.2 s of CPU time that fuel does not see" in fault.detail
    assert arena.alive() == []
    monkeypatch.undo()
    assert await play_again(Replay(arena.folder / "match.jsonl"), {0: bots[0]}) == 1


@pytest.mark.trio
async def test_a_call_cannot_extend_its_guard_by_writing(
    arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "GUARD_S", 0.3)
    monkeypatch.setattr(transport, "GUARD_FACTOR", 0)
    some = FIXED.replace("200000000", "20000000")
    lines = (
        f"(loop $on {some} (drop (call $fd_write (i32.const 1) (i32.const 56) (i32.const 0) (i32.const 8))) (br $on))"
    )
    bots = [column(tmp_path, lines), entrant("@random")]
    verdict = await arena.play(match(arena, *bots, time=TimeControl(per_call_s=2.0)), granted_s=30)
    assert verdict.faults[0].kind is FaultKind.CPU


CHASE = """(drop (memory.grow (i32.sub (i32.const 2052) (memory.size))))
    (local.set $i (i32.const 0))
    (loop $build
        (i32.store offset=131072 (local.get $i) (i32.and (i32.add (i32.mul (local.get $i) (i32.const 1664525))
            (i32.const 1013904192)) (i32.const 134217664)))
        (br_if $build (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 64))) (i32.const 134217728))))
    (local.set $i (i32.const 100000))
    (loop $more CHASES
        (br_if $more (local.tee $i (i32.sub (local.get $i) (i32.const 1)))))""".replace(
    "CHASES", "(local.set $j (i32.load offset=131072 (local.get $j)))" * 20
)
"""Follows pointers from line to line of 128 MiB. Each step waits for memory, and costs three units."""
SEARCHES = (
    f"(loop $on {FIXED} (drop (call $fd_write (i32.const 2) (i32.const 56) (i32.const 0) (i32.const 8))) (br $on))"
)


@pytest.mark.trio
@pytest.mark.parametrize(
    ("work", "time", "kind"),
    [
        (CHASE, TENTH, FaultKind.CPU),
        (CHASE, TimeControl(initial_s=60.0), FaultKind.CPU),
        pytest.param(CHASE, TimeControl(), FaultKind.CPU, marks=pytest.mark.nightly),
        (SPIN, TimeControl(per_call_s=1.0), FaultKind.TIMEOUT),
        pytest.param(SEARCHES, TimeControl(per_call_s=1.0), FaultKind.TIMEOUT, marks=pytest.mark.nightly),
    ],
    ids=["short calls", "a bank", "no limit", "a long think", "a long think with calls of WASI"],
)
async def test_the_guard_is_one_account_of_the_fuel_that_was_used(
    arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, work: str, time: TimeControl, kind: FaultKind
) -> None:
    """It is not granted anew for each call, nor by the fuel that a call may use."""
    monkeypatch.setattr(transport, "GUARD_S", 1.0)
    # Slow memory is so slow only where a step follows another: wait less than the machine's caches hide.
    monkeypatch.setattr(transport, "GUARD_FACTOR", 5)
    verdict = await arena.play(match(arena, column(tmp_path, work), entrant("@random"), time=time), granted_s=60)
    assert verdict.faults[0].kind is kind, verdict.faults[0]
    assert kind is FaultKind.TIMEOUT or verdict.seats[0].cpu_s < 6


def test_the_check_refuses_a_module_that_stalls_at_its_first_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(transport, "GUARD_S", 0.5)
    column(tmp_path, CHASE.replace("100000", "3000000"))
    assert main(["check", str(tmp_path / "column.wasm"), "--game", "connectfour"]) == 1
    shown = capsys.readouterr().out
    assert "answers-every-call" in shown and f"of {transport.GUARD}" in " ".join(shown.split())
    assert "14 rules not checked until that is fixed" in shown


async def hold(seconds: float) -> None:
    """Stops the program that runs a module for so long, as soon as there is one."""
    while True:
        for child in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):
                if any("bot.compiled" in word for word in child.cmdline()):
                    child.suspend()
                    await trio.sleep(seconds)
                    child.resume()
                    return
        await trio.sleep(0.01)


@pytest.mark.trio
@pytest.mark.parametrize(("patience", "lost"), [(100, False), (2, True)])
async def test_a_machine_without_a_free_core_meets_no_guard(
    arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, patience: int, lost: bool
) -> None:
    """The guard counts the CPU time of the bot's process. Where that gets none for long, the run ends instead."""
    monkeypatch.setattr(transport, "GUARD_S", 0.5)
    monkeypatch.setattr(transport, "GUARD_FACTOR", 0)
    monkeypatch.setattr(transport, "GUARD_PATIENCE", patience)
    bots = [column(tmp_path), entrant("@random")]
    ends = pytest.raises(RunError, match="the machine is busy, or has stopped it") if lost else nullcontext()
    with ungrouped(), ends:
        async with open_roster(Limits(isolation=OFF)) as roster, trio.open_nursery() as nursery:
            nursery.start_soon(hold, 2.0)
            verdict = await play(match(arena, *bots), roster)
            assert [fault.kind for fault in verdict.faults] == [FaultKind.ILLEGAL]  # the column is full


# Specs, builds and records.

TURNED = "\u202e"
"""Turns the direction of the text that follows."""


@pytest.mark.trio
async def test_names_in_a_trap_are_printable(arena: Arena, tmp_path: Path) -> None:
    work, functions = "(call $abcdef)", "(func $abcdef unreachable)"
    content = bot(TOKEN, work, functions=functions).replace(b"abcdef", f"abc{TURNED}".encode())
    verdict = await arena.play(match(arena, entrant(str(saved(tmp_path, "named", content))), entrant("@random")))
    assert TURNED not in msgspec.json.encode(verdict).decode()
    assert "abc\\u202e" in "".join(verdict.faults[0].said)


def test_names_of_imports_are_printable(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = wat2wasm('(module (import "env" "abcdef" (func)))').replace(b"abcdef", f"abc{TURNED}".encode())
    file = saved(tmp_path, "named", bytes(content))
    assert main(["--game", "connectfour", str(file), "@random", "--json"]) == 3
    shown = "".join(capsys.readouterr())
    assert TURNED not in shown and "imports env.abc\\u202e" in shown.replace("\\\\", "\\")


def test_a_bot_file_runs_a_module(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    saved(folder, "bot", bot(TOKEN))
    (folder / "bot.toml").write_text('run = ["bot.wasm"]\n')
    assert MODULE.plays(entrant(str(folder)))
    (folder / "bot.wasm").unlink()
    assert main(["--game", "connectfour", str(folder), "@random", "--replay", str(tmp_path / "r.jsonl")]) == 3
    assert "run names 'bot.wasm', which is not there" in capsys.readouterr().err


def test_a_module_that_cannot_play_is_a_failed_build(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text.wasm").write_text("hello")
    assert main(["--game", "connectfour", str(tmp_path / "text.wasm"), "@random"]) == 3
    assert "text.wasm is no WebAssembly module" in capsys.readouterr().err


def test_without_wasmtime_a_line_says_what_to_install(tmp_path: Path) -> None:
    file = saved(tmp_path, "mine", bot(TOKEN))
    hidden = (
        "import sys; sys.modules['wasmtime'] = None; import importlib.metadata as m; real = m.version\n"
        "def version(name):\n"
        "    if name == 'wasmtime': raise m.PackageNotFoundError(name)\n"
        "    return real(name)\n"
        "m.version = version\n"
        "from referee.harness.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", hidden, "--game", "connectfour", str(file), "@random"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 3
    assert done.stderr.strip() == f"referee: mine.wasm needs wasmtime; to install it: {installed.extra_command('wasm')}"


@pytest.mark.trio
async def test_a_replay_says_what_determines_the_fuel(arena: Arena, tmp_path: Path) -> None:
    await arena.play(match(arena, column(tmp_path), entrant("@random")))
    replay = Replay(arena.folder / "match.jsonl")
    assert list(replay.header.metered) == [0]
    metering = replay.header.metered[0]
    assert metering.engine == runner.engine("bot.wasm")
    assert metering.fuel_per_ms == UNITS_PER_MS == 10_000_000
    turns = [json.loads(line) for line in (arena.folder / "match.jsonl").read_text().splitlines() if '"turn"' in line]
    assert all(("fuel" in turn) == ("0" in turn["wall_us"]) for turn in turns if "wall_us" in turn)


def test_two_bots_of_one_module_share_a_build(tmp_path: Path) -> None:
    file = saved(tmp_path, "mine", bot(TOKEN))
    one, two = entrants([str(file), str(file)])
    assert one.argv == two.argv
    assert os.path.exists(runner.module_of(one.argv))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('run = ["python3", "bot.py"]', "has no [wasm], which says how to build a module"),
        ('original = "bot.py"', "has no [wasm], which says how to build a module"),
        ('run = ["bot.py"]\n[wasm]\nrun = []', "run of [wasm] is []; expected the module"),
        ('run = ["bot.py"]\n[wasm]\nrun = ["/bin/true"]', "run of [wasm] is ['/bin/true']; expected the module"),
        ('run = ["bot.py"]\n[wasm]\nrun = [".wasm"]', "run of [wasm] is ['.wasm']; expected the module"),
    ],
)
def test_a_folder_without_a_module_cannot_be_built_as_one(
    tmp_path: Path, text: str, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    saved(tmp_path, "", bot("{}"))
    (tmp_path / "bot.py").touch()
    (tmp_path / "bot.toml").write_text(text)
    assert main(["build", str(tmp_path), "--target", "wasm", "--output", str(tmp_path / "out.wasm")]) == 2
    assert problem in " ".join(capsys.readouterr().err.split())


def test_the_verdict_has_a_column_of_fuel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = saved(tmp_path, "mine", bot(TOKEN))
    main(["--game", "connectfour", str(file), "@random", "--replay", str(tmp_path / "r.jsonl")])
    assert "fuel" in capsys.readouterr().out


# referee check.

DEPTH = """(func $deep (param $n i32) (result i32)
    (if (result i32) (local.get $n) (then (i32.add (i32.const 1) (call $deep (i32.sub (local.get $n) (i32.const 1)))))
        (else (i32.const 0))))"""
"""Recurses so many times, and uses the stack for each."""


@pytest.mark.parametrize(("deep", "passed"), [(0, True), (1000, True), (10**7, False)])
def test_the_rule_metered_compares_the_engines(
    tmp_path: Path, deep: int, passed: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    work = f"(drop (call $deep (i32.const {deep})))" if deep else ""
    file = saved(tmp_path, "mine", bot(TOKEN, work, functions=DEPTH if deep else ""))
    code = main(["check", str(file), "--game", "connectfour", "--seed", "1", "--only", "metered"])
    assert (code == 0) is passed
    if passed:
        assert "units in one" in " ".join(capsys.readouterr().out.split())
