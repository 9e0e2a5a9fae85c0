"""Whole matches of the kits' bots under the real referee."""

import re
import shlex
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from kits import SUFFIXES, WriteBot, example, readme_bot

from referee.games import registry
from referee.games.contract import FaultKind, TimeControl
from referee.harness.isolation.plan import OFF
from referee.harness.match.play import Match
from referee.harness.match.series import Outcome, Series, play_series
from referee.harness.match.verdict import Verdict
from referee.harness.opponents import OPPONENTS
from referee.harness.paths import KITS
from referee.harness.process.limits import Limits
from referee.harness.programs.spec import Entrant, entrant
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import verify
from referee.protocol.messages import Encoding

PAIRS = list(pairwise([*sorted(SUFFIXES), min(SUFFIXES)]))
"""Each kit and the next one, round in a ring: so every kit meets two others, however many there are."""

TIME = TimeControl(per_call_s=5.0)
"""More than a busy machine takes; the games' own limits are not what is tested here."""


@pytest.fixture(params=PAIRS, ids="-".join)
def pair(request: pytest.FixtureRequest) -> tuple[str, str]:
    """Two kits, built."""
    for kit in request.param:
        request.getfixturevalue(f"{kit}_kit")
    one, two = request.param
    return one, two


async def matches(
    entrants: tuple[Entrant, ...], game: str, encoding: Encoding, folder: Path, games: int = 2, **options: Any
) -> Outcome:
    """A series that changes seats, with records that verify."""
    found = registry.game(game)
    match = Match(found, entrants, 4711, found.options(**options), TIME, (encoding,), folder / "match.jsonl")
    outcome = await play_series(Series(match, games, swap=True), Limits(isolation=OFF))
    for verdict in outcome.matches:
        assert verdict.replay is not None
        assert verify(Replay(Path(verdict.replay))) == verdict.result
    return outcome


def assert_clean(verdict: Verdict, encoding: Encoding) -> None:
    """Nobody was at fault, or late, and everybody spoke as asked."""
    assert verdict.faults == ()
    assert {seat.encoding for seat in verdict.seats} == {encoding}
    assert {seat.late_answers for seat in verdict.seats} == {0}


def named(name: str, program: Entrant) -> Entrant:
    return msgspec.structs.replace(program, name=name)


# The examples.


@pytest.mark.trio
async def test_two_foragers_of_different_languages_play_to_a_win_in_both_seats(
    pair: tuple[str, str], encoding: Encoding, tmp_path: Path
) -> None:
    one, two = (named(kit, example(kit, "reantics")) for kit in pair)
    outcome = await matches((one, two), "reantics", encoding, tmp_path)
    for verdict in outcome.matches:
        assert_clean(verdict, encoding)
        assert verdict.result.reason in ("food_goal", "starved", "queen_killed", "anthill_captured")
        assert sorted(verdict.result.ranks) == [1, 2]
    assert [seat.name for verdict in outcome.matches for seat in verdict.seats] == [*pair, *reversed(pair)]


@pytest.mark.trio
async def test_two_perfect_players_of_different_languages_draw_in_both_seats(
    pair: tuple[str, str], encoding: Encoding, tmp_path: Path
) -> None:
    one, two = (named(kit, example(kit, "tictactoe")) for kit in pair)
    outcome = await matches((one, two), "tictactoe", encoding, tmp_path)
    for verdict in outcome.matches:
        assert_clean(verdict, encoding)
        assert (verdict.result.reason, verdict.turns) == ("DRAW", 9)


@pytest.mark.trio
async def test_two_masons_of_different_languages_play_to_a_win_in_both_seats(
    pair: tuple[str, str], encoding: Encoding, tmp_path: Path
) -> None:
    """Neither draws lots, and both think alike: it is the same match, whoever has which seat."""
    one, two = (named(kit, example(kit, "quoridor")) for kit in pair)
    outcome = await matches((one, two), "quoridor", encoding, tmp_path)
    for verdict in outcome.matches:
        assert_clean(verdict, encoding)
        assert (verdict.result.reason, verdict.turns) == ("FIRST_WIN", 75)


@pytest.mark.trio
async def test_two_droppers_of_different_languages_play_the_same_match_in_both_seats(
    pair: tuple[str, str], tmp_path: Path
) -> None:
    one, two = (named(kit, example(kit, "connectfour")) for kit in pair)
    outcome = await matches((one, two), "connectfour", Encoding.JSON, tmp_path)
    for verdict in outcome.matches:
        assert_clean(verdict, Encoding.JSON)
        assert (verdict.result.reason, verdict.turns) == ("DRAW", 42)


QUORIDOR_CHEATS = {
    name: opponent.seats["quoridor"]
    for name, opponent in OPPONENTS.items()
    if name.startswith("C_AI_") and "quoridor" in opponent.seats
}
"""Each with its seat."""


@pytest.mark.trio
@pytest.mark.parametrize("name", QUORIDOR_CHEATS)
async def test_mason_flips_the_table_after_every_cheat_of_the_arena(kit: str, name: str, tmp_path: Path) -> None:
    """Whoever places random walls has lost before the eleventh."""
    mason, cheat = example(kit, "quoridor"), entrant(f"@{name}")
    pair = (cheat, mason) if QUORIDOR_CHEATS[name] == 0 else (mason, cheat)
    (verdict,) = (await matches(pair, "quoridor", Encoding.JSON, tmp_path, games=1)).matches
    if name == "C_AI_PUT_11_WALLS":
        assert verdict.result.reason == "FIRST_WIN"
    else:
        assert verdict.result.reason.startswith("FLIPPED: ")
        assert verdict.result.ranks[pair.index(mason)] == 1


@pytest.mark.trio
@pytest.mark.parametrize("game", ["quoridor", "reantics", "tictactoe"])
async def test_the_examples_never_lose_to_random_play(kit: str, game: str, encoding: Encoding, tmp_path: Path) -> None:
    """Both processes play all matches: who can be used again is."""
    outcome = await matches((example(kit, game), entrant("@random")), game, encoding, tmp_path, games=4)
    for verdict in outcome.matches:
        assert_clean(verdict, encoding)
    ours, theirs = outcome.standings
    assert ours.losses == 0
    assert (ours.wins, ours.draws) == (4, 0) if game != "tictactoe" else ours.wins > 0
    assert theirs.faults == 0


# The templates.


@pytest.mark.trio
@pytest.mark.parametrize(("game", "options"), [("quoridor", {}), ("reantics", {"draw_after": 100}), ("tictactoe", {})])
async def test_the_templates_play_whole_legal_matches_against_random_play(
    kit: str, game: str, options: dict[str, Any], encoding: Encoding, tmp_path: Path
) -> None:
    entrants = example(kit, f"my_{game}"), entrant("@random")
    outcome = await matches(entrants, game, encoding, tmp_path, **options)
    for verdict in outcome.matches:
        assert_clean(verdict, encoding)


@pytest.mark.trio
@pytest.mark.parametrize(
    ("game", "options", "endings"),
    [
        ("quoridor", {}, ["FIRST_WIN", "SECOND_WIN", "DRAW"]),
        ("reantics", {"draw_after": 50}, ["draw_limit", "queen_killed", "starved", "anthill_captured"]),
        ("tictactoe", {}, ["O_WIN", "X_WIN", "DRAW"]),
    ],
)
async def test_the_templates_of_different_languages_play_each_other(
    pair: tuple[str, str], game: str, options: dict[str, Any], endings: list[str], encoding: Encoding, tmp_path: Path
) -> None:
    one, two = (named(kit, example(kit, f"my_{game}")) for kit in pair)
    outcome = await matches((one, two), game, encoding, tmp_path, **options)
    for verdict in outcome.matches:
        assert_clean(verdict, encoding)
        assert verdict.result.reason in endings


# Bots of a single file.


def test_the_readmes_bot_plays_by_the_readmes_own_command(kit: str, tmp_path: Path) -> None:
    command = re.search(r"referee --game reantics \./(\S+) @random", (KITS / kit / "README.md").read_text("utf-8"))
    assert command is not None
    (tmp_path / command[1]).write_text(readme_bot(kit), "utf-8")
    more = ["--set", "draw_after=50", "--call-time", "5s", "--json", "--strict"]
    done = subprocess.run([*shlex.split(command[0]), *more], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    outcome = msgspec.json.decode(done.stdout, type=Outcome)
    assert [seat.name for seat in outcome.matches[0].seats] == [Path(command[1]).stem, "@random"]
    assert_clean(outcome.matches[0], Encoding.JSON)


FAILURES = {
    "c": (
        "return (reantics_move){.moveType = REANTICS_END};",
        'referee_fail(match, "lost in the grass");',
        ["Lost.c:", "in getMove: lost in the grass"],
    ),
    "cpp": (
        "return {MoveType::END};",
        'throw std::runtime_error("lost in the grass");',
        ["getMove: lost in the grass"],
    ),
    "go": (
        "return reantics.Move{MoveType: reantics.END}",
        'panic("lost in the grass")',
        ["getMove: panic: lost in the grass\n", "in main.(*Lost).GetMove, ", "/Lost.go:"],
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
        "return Move(END)",
        'raise ValueError("lost in the grass")',
        ["in getMove", "ValueError: lost in the grass"],
    ),
    "rust": ("Move::new(MoveType::End)", 'panic!("lost in the grass")', ["lost in the grass\n", "Lost.rs:"]),
}
"""What is put in the place of what in a README's bot, and the words that its author finds."""


@pytest.mark.trio
async def test_a_bot_that_fails_loses_and_its_words_and_trace_are_in_the_fault(
    kit: str, encoding: Encoding, written: WriteBot, tmp_path: Path
) -> None:
    healthy, failure, words = FAILURES[kit]
    source = re.sub(r"\b(Sleeper|MyBot)\b", "Lost", readme_bot(kit)).replace(healthy, failure)
    bot = written(kit, "Lost", source)
    (verdict,) = (await matches((bot, entrant("@random")), "reantics", encoding, tmp_path, games=1)).matches
    assert verdict.result.ranks == (2, 1)
    (fault,) = verdict.faults
    assert (fault.kind, fault.player, fault.method, fault.exit) == (FaultKind.ERROR, 0, "getMove", None)
    assert "lost in the grass" in fault.detail
    told = "\n".join(fault.last_words)
    assert all(word.expandtabs(4) in told for word in words), told
    log = verdict.seats[0].stderr
    assert log is not None and words[0] in Path(log).read_text("utf-8")
