"""`referee team analyse`: the common properties of the games that a team lost."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from contests import referee as run_referee
from hosted import Team, games_of, playing, until
from hosting import Cup, serving

import referee
from referee.addons.host import teams
from referee.addons.host.lost_games import LostGame, taken_together
from referee.addons.host.team_answers import TeamGame
from referee.addons.tournament.inbox import Withdraw, hand_in
from referee.harness.cli.main import main
from referee.harness.replay.assessment import Assessment, Moment, Point, assessor
from referee.harness.replay.lines import FaultReport
from referee.harness.replay.reader import Replay

needs_assessor = pytest.mark.skipif(assessor() is None, reason="nothing here finds out where games turn")


def game(name: str, rivals: str = "red", seat: int = 0, is_lost: bool = True) -> TeamGame:
    return TeamGame(name, "2026-11-27 10:00", rivals, seat, 2, 2, is_lost, "lost")


def fault(kind: str, turn: int) -> FaultReport:
    words = {"player": 0, "name": "a", "detail": "", "penalty": "", "call": 1, "method": "", "frame": "", "exit": None}
    times = {"wall_s": 0.0, "cpu_s": 0.0, "peak_memory_bytes": 0, "last_words": ()}
    return msgspec.convert(words | times | {"kind": kind, "turn": turn}, FaultReport)


def assessed(*expected: float, seat: int = 0, moments: tuple[tuple[int, int], ...] = ()) -> Assessment:
    """An assessment with a point for every third turn."""
    pairs = [(each, 1 - each) if seat == 0 else (1 - each, each) for each in expected]
    points = [Point(3 * number, pair, (0.0, 0.0)) for number, pair in enumerate(pairs)]
    return Assessment("@advanced", points, [Moment(turn, since, f"turn {turn}") for turn, since in moments])


def test_lost_games_are_taken_together_for_the_seat_of_the_team() -> None:
    one = LostGame(
        game("one"), "one.gz", assessed(0.5, 0.5, 0.1, 0.0, moments=((6, 3), (9, 6))),
        (fault("timeout", 5), fault("timeout", 6), fault("illegal", 99)),
    )  # fmt: skip
    other = LostGame(
        game("other", "green", 1), "other.gz", assessed(0.5, 0.3, 0.4, 0.0, seat=1, moments=((6, 3), (9, 6), (3, 0)))
    )
    every = [one.game, other.game, game("won", "green", is_lost=False), game("third", "red")]
    found = taken_together(every, [one, other], {"bad": "damaged"})
    bounds = [0.5, 0.4, 0.25, 0.0]
    assert [each.before for each in found.phases] == pytest.approx(bounds[:3])
    assert [each.after for each in found.phases] == pytest.approx(bounds[1:])
    assert [(each.rivals, each.lost, each.games) for each in found.rivals] == [("red", 2, 2), ("green", 1, 2)]
    timeout, illegal = found.faults
    assert (timeout.kind, timeout.games, timeout.faults) == ("timeout", 1, 2)
    assert timeout.cost == pytest.approx(-0.4), "both are between the same positions, whose change counts once"
    assert (illegal.kind, illegal.cost) == ("illegal", pytest.approx(-0.1))
    looks = [(each.game, each.since, each.turn, round(each.change, 2)) for each in found.moments]
    assert looks == [("one", 3, 6, -0.4), ("other", 6, 9, -0.4), ("other", 0, 3, -0.2)], "a gain is none"
    assert found.skipped == {"bad": "damaged"} and found.games == ["one", "other"]


class Contest:
    """The answers of a contest, instead of `Client`."""

    def __init__(self, games: list[TeamGame], files: dict[str, bytes]) -> None:
        self.games, self.files = games, files

    def got(self, path: str, kind: Any) -> Any:
        assert path == "/team/games"
        return self.games

    def fetched(self, path: str, most_bytes: int) -> bytes:
        return self.files[path.removeprefix("/team/games/").removesuffix(".jsonl.gz")]


@pytest.fixture
def replay(tmp_path: Path) -> bytes:
    file = tmp_path / "match.jsonl"
    referee.play("tictactoe", ["@random", "@advanced"], seed=1, replay=file)
    assert Replay(file).ending
    return gzip.compress(file.read_bytes())


@needs_assessor
def test_games_whose_replays_lie_are_left_out(
    tmp_path: Path, replay: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = gzip.decompress(replay).splitlines(keepends=True)
    files = {
        "good": replay,
        "none": b"",
        "noise": b"\x1f\x8b" + b"\xff" * 50,
        "cut": gzip.compress(b"".join([*lines[:2], *lines[3:]])),
        "seat": replay,
        "deep": gzip.compress(b"[" * 100_000),
    }
    games = [game(name, seat=7 if name == "seat" else 0) for name in (*files, "../evil")]
    monkeypatch.setattr("referee.addons.host.cli.team.Where.client", Contest([*games, game("")], files))
    monkeypatch.chdir(tmp_path)
    assert main(["team", "analyse", "--last", "9", "--seconds", "2", "--json"]) == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert found["games"] == ["good"] and set(found["skipped"]) == {*files, "../evil"} - {"good"}
    assert "seat 7" in found["skipped"]["seat"] and "seat is left out" in captured.err
    assert {path.name for path in tmp_path.iterdir()} == {"match.jsonl", "replays"}
    monkeypatch.setattr("referee.addons.host.cli.team.Where.client", Contest(games[1:], files))
    assert main(["team", "analyse"]) == 2 and "none of the lost games" in capsys.readouterr().err
    monkeypatch.setattr("referee.addons.host.cli.team.Where.client", Contest([], files))
    assert main(["team", "analyse"]) == 0 and "no lost game" in capsys.readouterr().out


@needs_assessor
@pytest.mark.slow
def test_a_team_reads_why_it_loses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cup = Cup(tmp_path)
    weak, strong = Team(cup.store, "weak"), Team(cup.store, "strong")
    entries = weak.submit("@random"), strong.submit("@blocker")
    hand_in(cup.store.folder, Withdraw(("Blue",)))
    with playing(cup.store.folder):
        until(lambda: games_of(cup.store.folder, [entries[0].ident]) > 10, "enough games")
    session = teams.open_link(cup.store, teams.new_link(cup.store, weak.number, "join", "x"), "B")
    person = teams.person(cup.store, session)
    assert person is not None
    monkeypatch.setenv("REFEREE_TOKEN", teams.new_program_token(cup.store, person))
    with serving(cup):
        text = run_referee(tmp_path, "team", "analyse", "--last", "3", "--seconds", "6", "--to", cup.address)
    assert re.match("3 of your last 3 lost games, as (the search|@advanced) sees them\n  first third", text)
    assert "against strong: lost " in text
    commands = [line.split() for line in text.splitlines() if line.startswith("  referee ")]
    assert 2 <= len(commands) <= 6
    for command in commands:
        if command[1:3] == ["replay", "show"]:
            assert run_referee(tmp_path, *command[1:])
        else:
            assert command[1] == "fork" and (tmp_path / command[2]).is_file()
