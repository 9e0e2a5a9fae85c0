"""The built-in opponents: they play every game, follow their seed, and refuse what they cannot do."""

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from driving import Bot
from scripted import Arena

from referee.games import registry
from referee.games.contract import FaultKind
from referee.harness.isolation.plan import OFF
from referee.harness.match.series import Series, play_series
from referee.harness.process.limits import Limits
from referee.harness.programs.spec import entrant
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import verify
from referee.protocol.messages import Encoding, ErrorObject

pytestmark = pytest.mark.slow

RANDOM = entrant("@random")
OURS = registry.own_names()


@pytest.fixture(params=list(Encoding))
def encoding(request: pytest.FixtureRequest) -> Encoding:
    return Encoding(request.param)


async def randoms(arena: Arena, game: str, encoding: Encoding) -> list[list[Any]]:
    """Plays a series of two matches of `@random` against itself, which replays verify. Returns the answers of each.

    The processes play both matches: the later handshake uses the encoding in force.
    """
    bots = [msgspec.structs.replace(RANDOM, name=name) for name in "abcd"[: registry.game(game).seats[0]]]
    match = arena.match(*bots, game=game, seed=7, encodings=(encoding,), **registry.game(game).short)
    outcome = await play_series(Series(match, 2, swap=True), Limits(isolation=OFF))
    for verdict in outcome.matches:
        assert verify(Replay(Path(str(verdict.replay)))) == verdict.result
        assert verdict.faults == ()
        assert {(seat.encoding, seat.program, seat.stderr) for seat in verdict.seats} == {(encoding, "random", None)}
    lines = [Path(str(verdict.replay)).read_bytes().splitlines()[2:-1] for verdict in outcome.matches]
    return [[msgspec.json.decode(line).get("answers") for line in match] for match in lines]


@pytest.mark.trio
@pytest.mark.parametrize("game", OURS)
async def test_random_plays_the_same_matches_in_both_encodings_and_others_with_another_seed(
    arena: Arena, game: str
) -> None:
    first, second = await randoms(arena, game, Encoding.JSON)
    assert first != second, "each match has a seed of its own"
    assert await randoms(arena, game, Encoding.MSGPACK) == [first, second]


STRANGE = {"action": 5, "position": {}, "youAre": [], "player": 7, "id": None}


@pytest.mark.trio
@pytest.mark.parametrize(
    ("body", "kind", "flip"),
    [
        ("call(); os._exit(3)", FaultKind.CRASH, "manual"),
        ("throw('what?'); call()", FaultKind.ILLEGAL, "auto"),
        (f"throw({STRANGE}); call()", FaultKind.ILLEGAL, "manual"),
    ],
)
async def test_random_follows_a_match_that_a_rivals_fault_ends(
    arena: Arena, body: str, kind: FaultKind, flip: str
) -> None:
    """Whatever the rival does, `@random` wins in both seats and prints nothing."""
    rival = arena.bot(f"greet(); {body}")
    match = arena.match(RANDOM, rival, flip=flip)
    outcome = await play_series(Series(match, 2, swap=True), Limits(isolation=OFF))
    for verdict, seat in zip(outcome.matches, (0, 1), strict=True):
        assert verdict.result.ranks[seat] == 1
        assert [(fault.player, fault.kind) for fault in verdict.faults] == [(1 - seat, kind)]
        assert verdict.seats[seat].stderr is None


# What they refuse.


@pytest.mark.parametrize("name", ["random", "advanced", "C_AI_DUP"])
def test_a_game_that_an_opponent_does_not_know_is_refused(name: str, tmp_path: Path) -> None:
    with Bot(entrant(f"@{name}"), Encoding.JSON, tmp_path / "log") as bot:
        refusal = bot.initialize("connect4")
        assert isinstance(refusal, ErrorObject)
        assert refusal.code == -32000
        assert re.fullmatch(rf"@{name} plays .*, not connect4", refusal.message)


@pytest.mark.parametrize("game", ["aibg5", "tictactoe"])
def test_an_unknown_method_is_an_error_and_an_unknown_notification_nothing(
    game: str, encoding: Encoding, tmp_path: Path
) -> None:
    """Of a game whose opponents see only calls, and of one in which they follow the match."""
    with Bot(RANDOM, encoding, tmp_path / "log") as bot:
        assert bot.initialize(game).encoding is encoding
        bot.notify("surprise", {"player": "X"})
        assert bot.call("surprise") == ErrorObject(-32601, "unknown method surprise")
        assert bot.exit() == 0
        assert bot.stderr() == ""


def test_an_exception_is_an_error_with_a_trace_on_stderr_and_the_opponent_goes_on(
    encoding: Encoding, tmp_path: Path
) -> None:
    with Bot(RANDOM, encoding, tmp_path / "log") as bot:
        bot.initialize("reantics")
        failure = bot.call("getMove", {"currentState": {"phase": "three"}})
        assert isinstance(failure, ErrorObject)
        assert (failure.code, failure.message) == (-32000, "Expected `int`, got `str` - at `$.phase`")
        assert "Traceback (most recent call last):\n" in bot.stderr()
        bot.notify("registerWin", {})
        assert bot.call("registerWin", {"hasWon": True}) is None
        bot.initialize("tictactoe")
        bot.notify("event", {"player": "Z"})
        assert bot.call("play", {"id": "battle"})["action"] == "putSymbol"
        assert "ValueError: tuple.index(x): x not in tuple\n" in bot.stderr()
        assert bot.close_input() == 0
