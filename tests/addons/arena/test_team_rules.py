"""A team's web service at a seat of a match from the command line."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest
import requests
from teams import LIBRARIES, team

from referee.harness.cli.main import main
from referee.harness.common.errors import UsageError
from referee.harness.programs.spec import entrants

pytestmark = pytest.mark.slow


def played(capsys: pytest.CaptureFixture[str], *argv: str) -> dict[str, Any]:
    """Plays a match and returns its JSON."""
    assert main(["--game", "tictactoe", "--json", "--arena", "127.0.0.1:0", *argv]) == 0
    return dict(json.loads(capsys.readouterr().out))


def nowhere() -> str:
    raise AssertionError("the invitation names the arena")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_service_plays_a_series_and_the_replays_verify(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with team(LIBRARIES["requests"], nowhere) as strong:
        outcome = played(capsys, f"team={strong.url}", "@advanced", "--games", "2", "--swap", "--seed", "3")
    assert [match["result"]["reason"] for match in outcome["matches"]] == ["DRAW", "DRAW"]
    assert [seat["name"] for seat in outcome["matches"][1]["seats"]] == ["@advanced", "team"]
    assert outcome["matches"][0]["seats"][0]["command"] == [strong.url]
    assert len(set(strong.battles)) == 2
    for match in outcome["matches"]:
        assert main(["replay", "verify", str(tmp_path / match["replay"])]) == 0


def test_two_services_play_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    with team(LIBRARIES["requests"], nowhere) as one, team(LIBRARIES["forms"], nowhere) as two:
        (match,) = played(capsys, one.url, two.url)["matches"]
    assert match["result"]["reason"] == "DRAW" and match["faults"] == []
    assert one.battles != two.battles, "each has a key of its own"


def test_a_silent_service_runs_out_of_time(capsys: pytest.CaptureFixture[str]) -> None:
    def silent(url: str, battle: str) -> None:
        for _ in requests.get(f"{url}/start/{battle}", stream=True, timeout=30).iter_lines():
            pass

    with team(silent, nowhere) as quiet:
        (match,) = played(capsys, quiet.url, "@random", "--clock", "0.5")["matches"]
    assert match["result"]["ranks"] == [2, 1]
    assert [(fault["kind"], fault["detail"]) for fault in match["faults"]] == [("timeout", "no answer within 0.5 s")]


def test_a_service_that_cannot_be_reached_loses_before_the_first_call(capsys: pytest.CaptureFixture[str]) -> None:
    (match,) = played(capsys, "http://127.0.0.1:9", "@random")["matches"]
    assert match["result"]["ranks"] == [2, 1]
    assert match["faults"][0]["detail"].startswith("http://127.0.0.1:9/tic-tac-toe: ")


def test_an_address_in_use_is_reported_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        assert main(["--game", "tictactoe", "--arena", address, "http://127.0.0.1:9", "@random"]) == 2
    assert f"cannot listen on {address}: Address already in use" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("spec", "game", "words"),
    [
        ("http://127.0.0.1:5000", "reantics", "a web service plays the Arena's games only, not reantics"),
        ("http://", "tictactoe", "expected the address of a service"),
        ("http://127.0.0.1:99999", "tictactoe", "Port out of range"),
        ("http://h/?key=secret", "tictactoe", "expected the address of a service"),
    ],
)
def test_invalid_addresses_and_other_games_are_refused_at_once(spec: str, game: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        entrants([spec], game, people=True)
