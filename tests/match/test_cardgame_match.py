"""A match of several card games (cardgame.md, section 10): who begins each game, the winner, the price of a fault."""

import pytest
from scripted import Arena

from referee.harness.isolation.plan import OFF
from referee.harness.match.series import Outcome, Series, play_series
from referee.harness.process.limits import Limits

pytestmark = pytest.mark.trio

PASSES = "while True:\n    greet(); asked = call()\n    while True: answer(asked, [4, None]); asked = call()"
"""Nobody acts: the first to move wins, since the other's deck is empty a turn earlier (section 8)."""


async def best_of(arena: Arena, games: int, *bodies: str) -> Outcome:
    """Plays a match between two bots with these bodies, `a` named first."""
    bots = [arena.bot(body, name=name) for body, name in zip(bodies, "ab", strict=True)]
    plan = Series(arena.match(*bots, game="cardgame"), games, swap=True, first_to=games // 2 + 1)
    return await play_series(plan, Limits(isolation=OFF))


@pytest.mark.parametrize(("games", "won"), [(1, [1, 0]), (3, [2, 1]), (4, [2, 2])])
async def test_the_first_named_begins_every_even_game_and_equal_wins_are_a_draw(
    arena: Arena, games: int, won: list[int]
) -> None:
    outcome = await best_of(arena, games, PASSES, PASSES)
    assert [verdict.result.reason for verdict in outcome.matches] == ["fatigue"] * games
    assert [verdict.seats[0].name for verdict in outcome.matches] == ["a", "b", "a", "b"][:games]
    assert [verdict.result.ranks for verdict in outcome.matches] == [(1, 2)] * games
    assert len({verdict.seed for verdict in outcome.matches}) == games
    assert [line.wins for line in outcome.standings] == won


async def test_games_without_a_winner_count_for_nobody_and_do_not_end_the_match(arena: Arena) -> None:
    outcome = await best_of(arena, 3, "greet(); sys.exit(1)", "greet(); sys.exit(1)")
    assert [verdict.result.reason for verdict in outcome.matches] == ["no_winner"] * 3
    assert [(line.wins, line.draws, line.losses) for line in outcome.standings] == [(0, 3, 0)] * 2


async def test_a_fault_in_end_costs_neither_that_game_nor_the_next(arena: Arena) -> None:
    """The third game decides. The bot that crashes in every `end` has won it."""
    crashes = "greet(); asked = call()\nwhile asked['method'] != 'end': answer(asked, [4]); asked = call()\nos._exit(3)"
    outcome = await best_of(arena, 3, crashes, PASSES)
    assert [line.wins for line in outcome.standings] == [2, 1]
    assert [line.faults for line in outcome.standings] == [3, 0]
