"""The built-in opponents at ReAntics: where they build, gather and fight."""

from typing import Any

import pytest

from referee.games.contract import Player, Setup
from referee.games.dice import Dice
from referee.games.reantics import GAME, GET_MOVE, ReAntics
from referee.games.reantics.board import COORDS, PlacedAnt, tile_at
from referee.games.reantics.types import DRONE, END, FOOD, QUEEN, SOLDIER, WORKER, Move
from referee.harness.opponents.forager import gather
from referee.harness.opponents.raider import raid

NO_LUCK = Dice(0)
BOTH = [gather, raid]


def begun() -> ReAntics:
    """Returns the position after both have placed as `@forager` does: anthills on (2,1) and (7,8)."""
    position = ReAntics(Setup(0, ("a", "b"), GAME.options()))
    while GET_MOVE not in position.awaited.values():
        answered(position, gather)
    return position


def answered(position: ReAntics, choose: Any) -> Any:
    ((player, _),) = position.awaited.items()
    answer = choose(position, player, NO_LUCK)
    assert position.check(player, answer) is None
    position.apply({player: answer})
    return answer


def put(position: ReAntics, number: int, kind: int, player: Player, x: int, y: int, health: int = 4) -> None:
    """Puts an ant on an absolute tile; it replaces the ant with that number."""
    if (before := position.ants[player].pop(number, None)) is not None:
        del position.ant_at[before.tile]
    ant = PlacedAnt(number, tile_at(0, x, y), kind, player, health, False, False)
    position.ants[player][number] = position.ant_at[ant.tile] = ant


def test_food_goes_to_the_tiles_that_are_farthest_from_the_rivals_buildings() -> None:
    """The rival's anthill is on (7,8), its tunnel on (2,8), and its grass on most of the far tiles."""
    position = begun()
    food = [COORDS[0][tile] for kind, tile in position.ground.neutral if kind == FOOD]
    assert len(food) == 4
    far = [min(abs(x - 7) + abs(y - 8), abs(x - 2) + abs(y - 8)) for x, y in food if y >= 6]
    assert min(far) >= 2


@pytest.mark.parametrize("choose", BOTH)
def test_a_placement_goes_on_where_it_stopped(choose: Any) -> None:
    position = ReAntics(Setup(0, ("a", "b"), GAME.options()))
    first = choose(position, 0, NO_LUCK)
    position.apply({0: first[:4]})
    assert choose(position, 0, NO_LUCK) == first[4:]


@pytest.mark.parametrize("choose", BOTH)
def test_the_queen_leaves_the_anthill_so_that_ants_can_be_built_on_it(choose: Any) -> None:
    position = begun()
    move = answered(position, choose)
    assert position.ants[0][0].tile != position.ground.hills[0]
    assert move.coordList[0] == COORDS[0][position.ground.hills[0]]


@pytest.mark.parametrize("choose", BOTH)
def test_the_queen_attacks_an_enemy_beside_the_anthill(choose: Any) -> None:
    position = begun()
    put(position, 9, DRONE, 1, 2, 3)
    while 9 in position.ants[1]:
        answered(position, choose)
        assert 0 in position.awaited, "the turn ended before the attack"


@pytest.mark.parametrize("choose", BOTH)
def test_a_worker_ends_its_way_on_food_and_carries_it_home(choose: Any) -> None:
    position = begun()
    before = after = position.food[0]
    while after <= before:
        assert position.ends < 20
        before = position.food[0]
        answered(position, choose if 0 in position.awaited else pause)
        after = position.food[0]


def pause(position: ReAntics, player: Player, dice: Dice) -> Any:
    """Ends the turn."""
    return Move(END)


def test_raiders_soldier_kills_a_worker_rather_than_hurting_a_queen() -> None:
    position = begun()
    put(position, 1, QUEEN, 1, 5, 7, health=10)
    put(position, 3, WORKER, 1, 5, 5)
    put(position, 8, SOLDIER, 0, 4, 6, health=8)
    answered(position, raid)
    assert 0 in position.awaited and position.attacker is not None
    assert answered(position, raid) == (5, 5)
    assert 3 not in position.ants[1]


def test_raiders_soldiers_take_the_anthill_of_a_rival_without_workers() -> None:
    position = begun()
    put(position, 1, QUEEN, 1, 0, 9, health=10)
    del position.ant_at[position.ants[1].pop(3).tile]
    put(position, 8, SOLDIER, 0, 7, 7, health=8)
    answered(position, raid)
    assert position.ants[0][8].tile == position.ground.hills[1]
