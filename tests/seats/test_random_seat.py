"""The engine at a seat, with its dice."""

import json
from pathlib import Path

import pytest
from scripted import Arena

from referee.games import registry
from referee.games.contract import Setup
from referee.games.dice import Dice, derive_seed
from referee.harness.match.turn import shown_limits
from referee.harness.process.limits import Limits
from referee.harness.programs.built_in import check_seats
from referee.harness.programs.spec import entrant
from referee.harness.seats.random_seat import RandomSeat
from referee.harness.seats.seat import MatchContext, Reply
from referee.protocol.messages import Encoding, Initialize

pytestmark = pytest.mark.trio


async def test_random_plays_a_game_that_was_installed_beside_the_referee(arena: Arena) -> None:
    check_seats(["@random", "@random"], "rounds", every_seat=True)
    match = arena.match(entrant("@random"), entrant("@random"), game="rounds", rounds=9)
    first, again = await arena.play(match), await arena.play(match)
    assert first.faults == ()
    assert first.result == again.result, "its luck follows from the seed"
    assert [(seat.program, seat.command, seat.encoding) for seat in first.seats] == [("random", ("@random",), "")] * 2
    assert [seat.calls for seat in first.seats] == [10, 10], "nine throws and the closing call"


async def test_random_plays_against_a_program_and_two_seats_have_different_luck(arena: Arena) -> None:
    bot = arena.bot("greet()\nfor _ in range(9): throw('rock')\nanswer(call(), None); call()")
    verdict = await arena.play(arena.match(entrant("@random"), bot, game="rounds", rounds=9))
    assert verdict.faults == ()
    match = arena.match(entrant("@random"), entrant("@random"), game="rounds", rounds=9)
    await arena.play(match)
    lines = [json.loads(line) for line in Path(str(match.replay)).read_text().splitlines()]
    throws = [line["answers"] for line in lines if "turn" in line][:9]
    assert len({throw["0"] for throw in throws}) > 1
    assert any(throw["0"] != throw["1"] for throw in throws)


@pytest.mark.parametrize("name", registry.names())
async def test_the_engine_plays_every_game_to_its_end(name: str) -> None:
    """Or for 300 turns."""
    game = registry.game(name)
    names = tuple("abcd"[: game.seats.start])
    setup = Setup(5, names, game.options())
    context = MatchContext(game.new(setup))
    seats = [RandomSeat(Dice(derive_seed(5, player))) for player in range(len(names))]
    for player, seat in enumerate(seats):
        limits = shown_limits(Limits(), game, game.time)
        hello = Initialize(1, name, setup.options, player, names, tuple(Encoding), limits, 1)
        assert await seat.greet(hello, context) == Reply(None)
    for _ in range(300):
        if not context.state.awaited:
            break
        answers = {call.player: (await seats[call.player].ask(call, None, 1.0)).value for call in context.state.calls()}  # type: ignore[arg-type]
        assert all(context.state.check(player, answer) is None for player, answer in answers.items())
        context.state.apply(answers)
