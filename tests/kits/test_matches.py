"""Matches of the kits' bots under the real referee."""

import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from kits import bot_of, example, readme_bot, source

from referee.games import registry
from referee.games.contract import FaultKind
from referee.games.game import TimeControl
from referee.harness.common.paths import KITS
from referee.harness.isolation.plan import OFF
from referee.harness.match.match import Match
from referee.harness.match.series import Outcome, Series, play_series
from referee.harness.match.verdict import Verdict
from referee.harness.process.limits import Limits
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.spec import entrant
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import verify
from referee.protocol.messages import Encoding

PAIRS = [(("c", "javascript"), Encoding.JSON), (("java", "rust"), Encoding.MSGPACK)]
"""One pair for each encoding. The README's bots show that every kit plays under the referee."""

TIME = TimeControl(per_call_s=5.0)
"""Longer than a busy machine needs. These tests are not about the games' own limits."""


async def matches(
    entrants: tuple[Entrant, ...], game: str, encoding: Encoding, folder: Path, games: int = 2, **options: Any
) -> Outcome:
    """Plays a series in which the bots exchange seats, and verifies its replays."""
    found = registry.game(game)
    match = Match(found, entrants, 4711, found.options(**options), TIME, (encoding,), folder / "match.jsonl")
    outcome = await play_series(Series(match, games, swap=True), Limits(isolation=OFF))
    for verdict in outcome.matches:
        assert verdict.replay is not None
        assert verify(Replay(Path(verdict.replay))) == verdict.result
    return outcome


def assert_clean(verdict: Verdict, encoding: Encoding) -> None:
    """Checks that no bot had a fault or a late answer, and that all used the encoding."""
    assert verdict.faults == ()
    assert {seat.encoding for seat in verdict.seats} == {encoding}
    assert {seat.late_answers for seat in verdict.seats} == {0}


def named(name: str, program: Entrant) -> Entrant:
    return msgspec.structs.replace(program, name=name)


# The examples.


@pytest.fixture
def kits_of_pair(pair: tuple[str, str], request: pytest.FixtureRequest) -> None:
    """Builds both kits. An async test that is skipped would lose the reason."""
    for kit in pair:
        request.getfixturevalue(f"{kit}_kit")


@pytest.mark.trio
@pytest.mark.parametrize(("pair", "encoding"), PAIRS, ids=list(Encoding))
async def test_examples_of_two_languages_play_reantics_to_a_win_in_both_seats(
    pair: tuple[str, str], encoding: Encoding, kits_of_pair: None, tmp_path: Path
) -> None:
    one, two = (named(kit, example(kit, "reantics")) for kit in pair)
    outcome = await matches((one, two), "reantics", encoding, tmp_path)
    for verdict in outcome.matches:
        assert_clean(verdict, encoding)
        assert verdict.result.reason in ("food_goal", "starved", "queen_killed", "anthill_captured")
        assert sorted(verdict.result.ranks) == [1, 2]
    assert [seat.name for verdict in outcome.matches for seat in verdict.seats] == [*pair, *reversed(pair)]


@pytest.mark.trio
@pytest.mark.parametrize(
    ("game", "reason", "turns"),
    [("tictactoe", "DRAW", 9), ("quoridor", "FIRST_WIN", 75), ("connectfour", "DRAW", 42)],
)
async def test_examples_of_two_languages_play_the_same_match_in_both_seats(
    game: str, reason: str, turns: int, cpp_kit: None, tmp_path: Path
) -> None:
    """The examples for these games use no luck and think alike in both languages."""
    one, two = (named(kit, example(kit, game)) for kit in ("cpp", "python"))
    outcome = await matches((one, two), game, Encoding.JSON, tmp_path)
    for verdict in outcome.matches:
        assert_clean(verdict, Encoding.JSON)
        assert (verdict.result.reason, verdict.turns) == (reason, turns)


# Bots of a single file.


def test_the_readmes_bot_plays_by_the_readmes_own_command(kit: str, tmp_path: Path) -> None:
    command = re.search(r"referee --game reantics \./(\S+) @random", (KITS / kit / "README.md").read_text("utf-8"))
    assert command is not None
    file = source(kit, Path(command[1]).stem, readme_bot(kit))
    assert file.name == command[1]
    more = ["--set", "draw_after=50", "--call-time", "5s", "--json", "--strict", "--replay", "none"]
    done = subprocess.run(
        [*shlex.split(command[0]), *more], cwd=file.parent, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    outcome = msgspec.json.decode(done.stdout, type=Outcome)
    assert [seat.name for seat in outcome.matches[0].seats] == [Path(command[1]).stem, "@random"]
    assert_clean(outcome.matches[0], Encoding.JSON)


FAILURES = {
    "c": (
        "return (reantics_move){.move_type = REANTICS_END};",
        'referee_fail(match, "lost in the grass");',
        ["Lost.c:", "in get_move: lost in the grass"],
    ),
    "cpp": (
        "return {MoveType::END};",
        'throw std::runtime_error("lost in the grass");',
        ["getMove: lost in the grass"],
    ),
    "go": (
        "return reantics.Move{MoveType: reantics.End}",
        'panic("lost in the grass")',
        ["getMove: panic: lost in the grass\n", "in main.(*Lost).Move, ", "/Lost.go:"],
    ),
    "java": (
        "return new Move(MoveType.END);",
        'throw new IllegalStateException("lost in the grass");',
        ["java.lang.IllegalStateException: lost in the grass\n", "\tat Lost.getMove(Lost.java:"],
    ),
    "javascript": (
        "return { moveType: END };",
        'throw new Error("lost in the grass");',
        ["Error: lost in the grass\n", "    at Lost.getMove (file://"],
    ),
    "python": (
        "return Move(MoveType.END)",
        'raise ValueError("lost in the grass")',
        ["in get_move", "ValueError: lost in the grass"],
    ),
    "rust": ("Move::new(MoveType::End)", 'panic!("lost in the grass")', ["lost in the grass\n", "Lost.rs:"]),
}
"""For each kit: text of the README's bot, its replacement, and what its author must find on standard error."""


@pytest.mark.trio
async def test_a_bot_that_fails_loses_and_the_fault_has_its_message_and_trace(
    kit: str, kit_encoding: Encoding, tmp_path: Path
) -> None:
    healthy, failure, words = FAILURES[kit]
    text = re.sub(r"\b(Sleeper|MyBot)\b", "Lost", readme_bot(kit)).replace(healthy, failure)
    bot = bot_of(kit, "Lost", text)
    (verdict,) = (await matches((bot, entrant("@random")), "reantics", kit_encoding, tmp_path, games=1)).matches
    assert verdict.result.ranks == (2, 1)
    (fault,) = verdict.faults
    assert (fault.kind, fault.player, fault.method, fault.exit) == (FaultKind.ERROR, 0, "getMove", None)
    assert "lost in the grass" in fault.detail
    stderr = "\n".join(fault.last_words)
    assert all(word.expandtabs(4) in stderr for word in words), stderr
    log = verdict.seats[0].stderr
    assert log is not None and words[0] in Path(log).read_text("utf-8")
