"""The output of commands is that of the files in `screens`. New wording changes a file and no test."""

from pathlib import Path

import pytest
from screens import Screen
from scripted import Arena

from referee.harness.cli.main import main

pytestmark = pytest.mark.slow

MATCH = "--game tictactoe winner.py loser.py --seed 5"
SHOWN = "replay show match.jsonl"
SCREENS = {
    "verdict": (0, f"{MATCH} --replay verdict.jsonl"),
    "verdict-fault": (0, "--game tictactoe winner.py Lost=faulty.py --seed 5 --replay fault.jsonl"),
    "verbose": (0, f"{MATCH} --replay none -v"),
    "series": (0, f"{MATCH} --games 3 --jobs 1 --replay none"),
    "best-of": (0, f"{MATCH} --best-of 3 --jobs 1 --replay none"),
    "replay-show": (0, SHOWN),
    "replay-show-calls": (0, f"{SHOWN} --calls --turn 4"),
    "replay-verify": (0, "replay verify match.jsonl"),
    "replay-verify-changed": (1, "replay verify changed.jsonl"),
    "games-tictactoe": (0, "games tictactoe"),
    "games-aiarena21": (0, "games aiarena21"),
    "check-refused": (1, "check faulty.py --game tictactoe --seed 7"),
    "tournament-show": (0, "tournament show cup"),
    "help-check": (0, "help check"),
    "help-tournament": (0, "help tournament"),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with three bots, the replay of a match, one that was changed, and a tournament."""
    arena = Arena(tmp_path_factory.mktemp("screens"))
    arena.bot("greet(); put('NW'); put('W'); put('SW'); call()", name="winner")
    arena.bot("greet(); put('C'); put('E'); call()", name="loser")
    arena.bot("greet(); put('C'); call(); print('where am I?', file=sys.stderr); sys.exit(1)", name="faulty")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(arena.folder)
        assert main([*MATCH.split(), "--replay", "match.jsonl"]) == 0
        cup = "tournament run --game tictactoe @random @baseline --games 2 --seed 1 --jobs 1 --ledger cup"
        assert main(cup.split()) == 0
        replay = Path("match.jsonl").read_text()
        Path("changed.jsonl").write_text(replay.replace('"position":"C"', '"position":"N"', 1))
    return arena.folder


@pytest.mark.parametrize("name", SCREENS)
def test_a_command_prints_its_screen(
    name: str,
    place: Path,
    screen: Screen,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, line = SCREENS[name]
    monkeypatch.chdir(place)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    assert main(line.split()) == code
    out, err = capsys.readouterr()
    screen(name, out + err)


def test_every_file_is_a_screen() -> None:
    assert {path.stem for path in (Path(__file__).parent / "screens").iterdir()} == SCREENS.keys()
