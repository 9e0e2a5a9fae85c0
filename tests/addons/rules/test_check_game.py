"""`referee check --game FOLDER`: what it finds in the rules of a game."""

import json
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from rules_games import COUNTDOWN, SERVE, STEADY, write_game

from referee.addons.rules import game_trial
from referee.harness.cli.main import main
from referee.harness.process.core_wait import Thread

pytestmark = pytest.mark.slow

STEP = """
steady = step
def step(position, answers, faults, luck):
    turn = steady(position, answers, faults, luck)
"""
REFUSES = """
def step(position, answers, faults, luck):
    seat = (3 - position) % 2
    if faults or answers[str(seat)] != position:
        ruling = {"seat": seat, "penalty": "loses"} | ({} if faults else {"detail": "not the position"})
        return over(position, (2, 1) if seat == 0 else (1, 2), rulings=[ruling])
    return awaits(position - 1, 1 - seat) if position else over(position)
"""
HIDES = """
def start(options, seats, luck):
    return awaits([3, int(luck, 16) % 1000])

def step(position, answers, faults, luck):
    wrong = {} if answers.get("0") == 1 or faults else {"detail": "not 1"}
    rulings = [{"seat": 0, "penalty": "loses"} | wrong] if faults or wrong else []
    return over(position, rulings=rulings)

def legal(position, seat, most):
    return [1]

def deal(position, luck):
    return awaits([position[0], int(luck, 16) % 1000])

def view(position, seat):
    return {"view": {"shown": position[:1] if seat is not None else position}}
"""
VIEWS = {"view": {"type": "object", "properties": {"shown": {"type": "array", "items": {"type": "integer"}}}}}
ALL = "\nserve(start=start, step=step, legal=legal, view=view, deal=deal)\n"
SOUND = {"plain": STEADY + REFUSES + SERVE, "hiding": STEADY + HIDES + ALL}
AT_ONCE = """
def start(options, seats, luck):
    return both([3, int(luck, 16) % 1000, int(luck[::-1], 16) % 1000])

def both(position):
    return {"position": position, "calls": {seat: {"method": "move", "params": {}} for seat in "01"}}

def step(position, answers, faults, luck):
    if not faults and position[0]:
        return both([position[0] - 1, *position[1:]])
    rulings = [{"seat": int(seat), "penalty": "loses"} for seat in faults]
    return over(position, (2, 1) if "0" in faults else (1, 2), rulings=rulings)

def legal(position, seat, most):
    return [1]

def deal(position, luck, seat=None):
    dealt = [position[0], *[int(luck, 16) % 1000] * 2]
    if seat is not None:
        dealt[1 + seat] = position[1 + seat]
    return both(dealt if seat is not None else position)

def view(position, seat):
    return {"view": {"shown": position if seat is None else [position[0], position[1 + seat]]}}
"""
"""Two seats are asked at once; each has a secret."""
DEFECTS = {
    "shows a secret where seats move at once": (
        "game-views-hide",
        AT_ONCE + "\ndef view(position, seat):\n    return {'view': {'shown': position}}" + ALL,
    ),
    "ranks a seat that is out with others": (
        "game-faults-ruled",
        HIDES + "\ndef forfeit(position, faults, luck):\n    rulings = [{'seat': int(seat), 'penalty': 'loses'} "
        "for seat in faults]\n    return over(position, (1, 1), rulings=rulings)"
        "\nserve(start=start, step=step, legal=legal, view=view, deal=deal, forfeit=forfeit)\n",
    ),
    "reads a clock": ("game-steps-repeat", STEP + "    return turn | {'text': str(time.time() // 1)}" + SERVE),
    "draws": ("game-start-repeats", "\ndef start(**_):\n    return awaits(os.urandom(2).hex())" + SERVE),
    "draws when it starts": (
        "game-start-repeats",
        "\nx = os.urandom(2)[0]\ndef start(**_):\n    return awaits(x)" + SERVE,
    ),
    "counts": (
        "game-steps-repeat",
        "\nseen = []" + STEP + "    seen.append(1)\n    return turn | {'scores': [len(seen), 0]}" + SERVE,
    ),
    "goes on for ever": ("game-ends", STEP + "    return awaits(3, 0)" + SERVE),
    "lists too much": (
        "game-legal-accepted",
        REFUSES + "\ndef legal(position, **_):\n    return [position, 77]" + SERVE,
    ),
    "accepts too much": ("game-others-refused", SERVE),
    "rules no fault": ("game-faults-ruled", STEP + "    return turn | {'rulings': []}" + SERVE),
    "awaits the dead": (
        "game-faults-ruled",
        "\ndef step(faults, **_):\n    return awaits(1, rulings="
        "[{'seat': int(seat), 'penalty': 'none'} for seat in faults])" + SERVE,
    ),
    "shows a view of another type": (
        "game-views-fit",
        HIDES + "\ndef view(**_):\n    return {'view': {'shown': 1}}" + ALL,
    ),
    "shows what is hidden": (
        "game-views-hide",
        HIDES + "\ndef view(position, seat):\n    return {'view': {'shown': position}}" + ALL,
    ),
    "draws what is hidden": (
        "game-views-hide",
        HIDES + "\nhides = view\ndef view(position, seat):\n"
        "    return hides(position, seat) | {'text': f'cards: {position[1]}'}" + ALL,
    ),
    "lists what is hidden": (
        "game-views-hide",
        HIDES + "\ndef legal(position, seat, most):\n    return [1, 2, 3 + position[1] % 2]" + ALL,
    ),
    "orders its list by what is hidden": (
        "game-views-hide",
        HIDES + "\ndef legal(position, seat, most):\n    return [1, 2] if position[1] % 2 else [2, 1]" + ALL,
    ),
    "hides nothing": ("game-views-hide", HIDES + "\nserve(start=start, step=step, legal=legal, deal=deal)\n"),
    "remembers": (
        "game-memory-flat",
        "\nkept = []" + STEP + "    kept.append(bytearray(1 << 17))\n    return turn" + SERVE,
    ),
    "ends at once": ("game-starts", "\nos._exit(3)"),
}


@pytest.fixture(autouse=True)
def _short_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(game_trial, "LONGEST", 100)
    monkeypatch.setattr(game_trial, "LATER_S", 1.1)
    monkeypatch.setattr(game_trial, "MEMORY_GAMES", 100)
    monkeypatch.setattr(game_trial, "LEAK_BYTES", 80 << 20)
    monkeypatch.chdir(tmp_path)


def test_a_leak_check_that_cannot_look_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`deal` draws nothing anew where both seats are asked, unless it knows for whom."""
    blind = "\ndeal_for = deal\ndef deal(position, luck, seat=None):\n    return deal_for(position, luck)"
    for name, more, status, note in (
        ("sharp", "", "passed", " views"),
        (
            "blind",
            blind,
            "skipped",
            "not covered: positions that ask several seats at once, in which deal has drawn nothing else",
        ),
    ):
        write_game(tmp_path / name, STEADY + AT_ONCE + more + ALL, **VIEWS)
        assert main(["check", "--game", f"./{name}", "--only", "game-views-hide", "--json"]) == 0
        (_, found) = json.loads(capsys.readouterr().out)["checks"]
        assert (found["status"], found["note"].endswith(note)) == (status, True)


@pytest.mark.parametrize("kind", SOUND)
def test_sound_rules_pass(tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    write_game(tmp_path / "small", SOUND[kind], **(VIEWS if kind == "hiding" else {}))
    assert main(["check", "--game", "./small", "--seed", "5", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [each["rule"] for each in report["checks"]] == list(game_trial.rules)
    skipped = {each["rule"] for each in report["checks"] if each["status"] == "skipped"}
    assert skipped == (set() if kind == "hiding" else {"game-views-hide"})


HEAP = """
import mmap
heap, used = mmap.mmap(-1, HEAP << 20), [0]
def touch():
    for place in range(used[0], used[0] + (1 << 17), 4096):
        heap[place % len(heap)] = 1
    used[0] += 1 << 17
"""
"""A runtime with a garbage collector takes memory until its heap is full."""


def memory_flat(folder: Path, program: str, capsys: pytest.CaptureFixture[str], code: int = 0) -> Any:
    """Checks the memory of a program, and returns the result. `code`: the expected exit code."""
    write_game(folder / "small", STEADY + program + SERVE)
    words = ["check", "--game", "./small", "--only", "game-memory-flat", "--seed", "5", "--json"]
    assert main(words) == code
    return next(each for each in json.loads(capsys.readouterr().out)["checks"] if each["rule"] == "game-memory-flat")


def test_a_heap_that_fills_once_is_no_leak(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = HEAP.replace("HEAP", "48") + STEP + "    touch()\n    return turn"
    result = memory_flat(tmp_path, program, capsys)
    assert result["status"] == "passed" and int(result["note"].split()[0]) > 100, result


def test_a_heap_that_rises_and_falls_is_no_leak(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its last size is far above that in the middle, by chance of when garbage was collected."""
    program = (
        "kept = []"
        + STEP
        + "    kept.append(bytearray(1 << 18))\n    len(kept) > 190 and kept.clear()\n    return turn"
    )
    assert memory_flat(tmp_path, "\n" + program, capsys)["status"] == "passed"


@pytest.mark.parametrize("is_busy", [False, True])
def test_a_heap_that_is_not_full_in_time_is_refused_by_nobody(
    tmp_path: Path, is_busy: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It raises doubts, or is not decided: then no core was free for most of the time."""
    began = time.monotonic()

    def own_thread() -> Thread:
        return Thread(0, round(0.9e9 * (time.monotonic() - began)) if is_busy else 0)

    monkeypatch.setattr(game_trial, "own_thread", own_thread)
    monkeypatch.setattr(game_trial, "busiest_thread", lambda pid: Thread(0, 0))
    monkeypatch.setattr(game_trial, "LEAK_S", 0.1)
    monkeypatch.setattr(game_trial, "LEAK_BYTES", 1 << 40)
    monkeypatch.setattr(game_trial, "GROWTH_BYTES", 1 << 10)
    program = HEAP.replace("HEAP", "900") + STEP + "    touch()\n    return turn"
    result = memory_flat(tmp_path, program, capsys, code=4 if is_busy else 0)
    assert result["status"] == ("not decided" if is_busy else "passed")
    if not is_busy:
        (finding,) = result["findings"]
        assert finding["level"] == "warning" and "a leak, or a heap that is not full yet" in finding["text"]


def test_the_memory_of_a_program_that_a_script_starts_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "small"
    program = "\nkept = []" + STEP + "    kept.append(bytearray(1 << 17))\n    return turn"
    write_game(folder, STEADY + program + SERVE)
    command = f'run = ["/bin/sh", "-c", "{sys.executable} -I -S -B rules.py; exit 0"]'
    lines = [command if line.startswith("run") else line for line in (folder / "game.toml").read_text().splitlines()]
    (folder / "game.toml").write_text("\n".join(lines))
    words = ["check", "--game", "./small", "--only", "game-memory-flat", "--seed", "5", "--json"]
    assert main(words) == 1


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_is_found(tmp_path: Path, defect: str, capsys: pytest.CaptureFixture[str]) -> None:
    rule, body = DEFECTS[defect]
    write_game(tmp_path / "small", STEADY + body, **(VIEWS if "view" in body else {}))
    only = [] if rule == "game-starts" else ["--only", rule]
    assert main(["check", "--game", "./small", "--seed", "5", "--json", *only]) == 1
    report = json.loads(capsys.readouterr().out)
    failed = [each["rule"] for each in report["checks"] if each["status"] == "failed"]
    assert failed == [rule]


@pytest.mark.parametrize(
    ("defect", "what"),
    [("draws what is hidden", "the drawing for seat 0"), ("orders its list by what is hidden", "the legal answers of")],
)
def test_a_leak_check_names_what_a_seat_is_shown(
    tmp_path: Path, defect: str, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rule, body = DEFECTS[defect]
    write_game(tmp_path / "small", STEADY + body, **VIEWS)
    assert main(["check", "--game", "./small", "--seed", "5", "--only", rule]) == 1
    assert what in " ".join(capsys.readouterr().out.split())


def test_a_finding_says_what_to_do_in_every_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_game(tmp_path / "small", STEADY + DEFECTS["draws"][1])
    files = ["--junit", "junit.xml"]
    assert main(["check", "--game", "./small", "--only", "game-start-repeats", "--seed", "5", *files]) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "take all random numbers from `luck`" in shown
    assert "referee check --game ./small --seed 5 --only game-start-repeats" in shown
    case = ElementTree.parse("junit.xml").find(".//testcase[@name='game-start-repeats']/failure")
    assert case is not None and "position was" in str(case.get("message"))


def test_a_game_of_a_package_has_no_rules_to_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--game", "tictactoe"]) == 2
    assert "no bot is named" in capsys.readouterr().err


def test_countdown_in_plain_python_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--game", str(COUNTDOWN), "--seed", "5"]) == 0
    assert "passed: nothing found" in capsys.readouterr().out
