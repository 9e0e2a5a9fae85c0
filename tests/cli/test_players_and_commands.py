"""Each kind of player with each command: it plays, or is refused in a line with exit code 2."""

from pathlib import Path

import pytest

import referee
from referee.harness.cli.main import main
from referee.harness.common.errors import UsageError
from referee.harness.programs.kinds import prefixes

pytestmark = pytest.mark.slow

CLIENTS = {"human": "people", "script:moves.txt": "scripts", "http://127.0.0.1:9": "web services"}
COMMANDS = {
    "check": ("check", "BOT", "--game", "tictactoe"),
    "gate": ("gate", "BOT", "@random", "--game", "tictactoe"),
    "tournament": ("tournament", "run", "BOT", "@random", "--game", "tictactoe", "--ledger", "cup"),
    "repro": ("repro", "match.jsonl", "BOT"),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Works in a folder with a script, and the replay of a function that fails."""
    monkeypatch.chdir(tmp_path)
    Path("moves.txt").write_text("nw\n")
    referee.play("tictactoe", [lambda decision: 5, "@random"], seed=1, replay="match.jsonl")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("bot", CLIENTS)
def test_who_plays_single_matches_only_is_refused_elsewhere(
    bot: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [bot if word == "BOT" else word for word in COMMANDS[command]]
    assert main(words) == 2
    assert f"{bot}: {CLIENTS[bot]} play single matches only, by `referee --game`; name a program here" in " ".join(
        capsys.readouterr().err.split()
    )


@pytest.mark.parametrize("bot", CLIENTS)
def test_functions_play_no_clients(bot: str) -> None:
    with pytest.raises(UsageError, match=f"{CLIENTS[bot]} play single matches only"):
        referee.play("tictactoe", [bot, "@random"])


def test_a_fault_of_a_function_is_reproduced_by_a_named_bot_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("repro", "match.jsonl")) == 2
    assert "a Python function played at seat 0 (<lambda>); name a bot with BOT" in capsys.readouterr().err
    assert main(("repro", "match.jsonl", "@random")) == 0


def test_a_script_goes_on_if_it_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("--game", "tictactoe", "script:moves.txt", "@random", "--replay", "script.jsonl")) == 0
    assert main(("fork", "script.jsonl", "--turn", "1")) == 2
    assert "a script played at seat 0 (moves); name a bot with --seat 0=BOT" in capsys.readouterr().err
    assert main(("fork", "script.jsonl", "--turn", "1", "--seat", "0=script:moves.txt")) == 0
    assert main(("fork", "script.jsonl", "--turn", "1", "--seat", "0=http://127.0.0.1:9")) == 2
    assert main(("--game", "tictactoe", "script:moves.txt", "@random", "--games", "4", "--jobs", "2")) == 2
    assert "--jobs cannot be combined with script:" in capsys.readouterr().err


def test_the_help_names_every_kind_of_bot(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("play", "--help")) == 0
    shown = capsys.readouterr().out
    assert [prefix for prefix in prefixes() if prefix not in shown] == []
