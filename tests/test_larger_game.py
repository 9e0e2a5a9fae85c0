"""Builds, plays and checks the package in docs/tutorials/larger-game-of-your-own.md exactly as the page says."""

import importlib
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from needs import skip_without

from referee.games.contract import Fault, FaultKind, Notice, Setup
from referee.games.dice import ScriptedDice

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "tutorials" / "larger-game-of-your-own.md").read_text("utf-8")
FILES = dict(re.findall(r"^`dice/([\w./]+)`:\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
COMMANDS = [
    line for block in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL) for line in block.splitlines()
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page's package on the path, with its entry point."""
    site = tmp_path_factory.mktemp("site")
    information = {
        "liars_dice-1.0.dist-info/entry_points.txt": "[referee.games]\nliars_dice = liars_dice:GAME\n",
        "liars_dice-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: liars-dice\nVersion: 1.0\n",
    }
    for path, text in (FILES | information).items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text, "utf-8")
    return site


@pytest.fixture
def module(site: Path) -> Iterator[Any]:
    """The page's engine."""
    sys.path.insert(0, str(site))
    try:
        yield importlib.import_module("liars_dice")
    finally:
        sys.path.remove(str(site))


def command(start: str) -> str:
    """Returns the page's command that begins so."""
    (found,) = {each for each in COMMANDS if each.startswith(start)}
    return found


def run(line: str, site: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Runs a command that must succeed, and returns its standard output."""
    monkeypatch.setenv("PYTHONPATH", str(site))
    words = shlex.split(line)
    program = (
        [sys.executable, *words[1:]] if words[0] == "python" else [sys.executable, "-m", "referee.harness.cli.main"]
    )
    rest = [] if words[0] == "python" else words[1:]
    done = subprocess.run([*program, *rest], cwd=folder, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, f"{line}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def begun(module: Any, *rolls: int, dice: int = 1) -> Any:
    """Returns a match of three with these dice, seat by seat, one throw of all after the other."""
    script = ScriptedDice({"die": [roll - 1 for roll in rolls]})
    return module.LiarsDice(Setup(1, ("a", "b", "c"), module.Options(dice=dice)), script)


def test_a_match_of_three_is_played_shown_and_verified(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(command("referee --game liars_dice @random @random @random"), site, tmp_path, monkeypatch)
    assert "verified" in run(command("referee replay verify"), site, tmp_path, monkeypatch)
    lines = [json.loads(line) for line in (tmp_path / "match.jsonl").read_text("utf-8").splitlines()]
    assert [event["to"] for event in lines[1]["opening"]] == [[0], [1], [2]]
    assert sorted(lines[-1]["result"]["ranks"]) == [1, 2, 3]


def test_the_bot_in_go_passes_the_check_and_wins(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_without("go")
    bindings = command("python -m referee.tools bindings").replace("dice/liars_dice", str(site / "liars_dice"))
    run(bindings, site, tmp_path, monkeypatch)
    run(command("referee new"), site, tmp_path, monkeypatch)
    run(command("referee check"), site, tmp_path, monkeypatch)
    series = f"{command('referee --game liars_dice gobot')} --seed 3 --json --jobs 1"
    outcome = json.loads(run(series, site, tmp_path, monkeypatch))
    assert outcome["standings"][0]["wins"] >= 7 and outcome["standings"][0]["faults"] == 0


def test_a_true_bid_costs_the_doubter_a_die_and_a_lie_its_bidder(module: Any) -> None:
    for count, loser in ((2, 1), (3, 0)):
        state = begun(module, 5, 5, 2, *[1] * 6, dice=1)
        made = state.apply({0: {"count": count, "face": 5}})
        assert [event.to for event in made] == [(0, 1, 2)]
        shown, *_ = state.apply({1: {"count": 0, "face": 0}})
        assert isinstance(shown, Notice) and shown.params.loser == loser
        assert not state.hands[loser] and state.result is None
        assert [*state.awaited] == [2 if loser == 1 else 1]


def test_a_bid_must_be_higher_and_possible(module: Any) -> None:
    state = begun(module, 5, 5, 2)
    assert state.check(0, {"count": 0, "face": 0}).detail == "there is no bid yet that could be a lie"
    assert "3 dice are left" in state.check(0, {"count": 4, "face": 1}).detail
    state.apply({0: {"count": 2, "face": 3}})
    for bid in ({"count": 2, "face": 3}, {"count": 1, "face": 6}, {"count": 2, "face": 2}):
        assert "is not higher than 2 × 3" in state.check(1, bid).detail
    assert state.check(1, {"count": 2, "face": 4}) is None


def test_a_player_sees_its_own_dice_alone(module: Any) -> None:
    state = begun(module, 5, 4, 2)
    assert state.view(1).dice == (4,) and state.view(1).left == (1, 1, 1)
    assert "4" not in str(state.shown_to(0)) and "5" in state.shown_to(0)


def test_a_fault_costs_a_die_and_the_others_go_on_after_a_forfeit(module: Any) -> None:
    state = begun(module, *[1] * 30, dice=2)
    (ruling, *_) = state.apply({0: Fault(FaultKind.TIMEOUT, "late")})
    assert ruling.penalty == "loses a die" and state.view(0).left == (1, 2, 2)
    (ruling, *_) = state.forfeit({0: Fault(FaultKind.CRASH, "gone")})
    assert ruling.penalty == "loses" and ruling.out and [*state.awaited] == [1]
    state.forfeit({1: Fault(FaultKind.CRASH, "gone")})
    assert state.result.ranks == (3, 2, 1)


@pytest.mark.nightly
def test_the_engine_keeps_the_contract(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(site))
    words = shlex.split(command("pytest tests/games/test_every_game.py"))
    argv = [sys.executable, "-m", *words, "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout[-2000:]
