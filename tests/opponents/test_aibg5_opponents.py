"""The built-in opponents at AIBG 5.0: what they answer to a position. Whole matches: test_levels.py."""

import json
from typing import Any

import pytest

from referee.games.aibg5 import (
    AIBG5,
    ASTEROID,
    BLACKHOLE,
    BOSS,
    BOSS_CELLS,
    CELLS,
    DO_ACTION,
    EMPTY,
    HEALTH,
    INDEX,
    RINGS,
    WORMHOLE,
    Ground,
    Options,
)
from referee.games.contract import Fault, FaultKind, Setup
from referee.games.dice import Dice
from referee.harness.opponents._aibg5 import first_step, step_cost
from referee.harness.opponents.gunner import besiege
from referee.harness.opponents.trainer import hunt, nearest

pytestmark = pytest.mark.slow

NAMES = ("one", "two", "three", "four")
Place = tuple[int, int]


def bare() -> str:
    """A map file with nothing but the boss."""
    rows: dict[int, list[dict[str, Any]]] = {}
    for cell, (q, r) in enumerate(CELLS):
        kind = ("FULL", "BOSS") if cell in BOSS_CELLS else ("NORMAL", "NONE")
        rows.setdefault(r, []).append({"q": q, "r": r, "type": kind[0], "entity": kind[1]})
    return json.dumps(list(rows.values()))


BARE = bare()


def position(at: dict[int, Place], tiles: dict[Place, int] | None = None) -> AIBG5:
    """Players by seat, the others on their starts; no items."""
    state = AIBG5(Setup(1, NAMES, Options(map=BARE)))
    for cell in range(len(CELLS)):
        if RINGS[cell] > 1:
            state.kinds[cell] = EMPTY
    for place, kind in (tiles or {}).items():
        state.kinds[INDEX[place]] = kind
        if kind == ASTEROID:
            state.asteroids[INDEX[place]] = 350
    for seat, place in at.items():
        state.ships[seat].cell = INDEX[place]
    state.seat_at = {ship.cell: seat for seat, ship in enumerate(state.ships)}
    return state


def hunted(at: dict[int, Place], tiles: dict[Place, int] | None = None, seat: int = 0, trap: int = 0) -> str:
    state = position(at, tiles)
    state.ships[seat].trap = trap
    state.awaited = {seat: DO_ACTION}
    answer = hunt(state, seat, Dice(1))
    assert state.check(seat, answer) is None
    return str(answer["action"])


# @trainer


def test_trainer_shoots_at_players_up_to_three_cells_away() -> None:
    assert hunted({0: (-7, -3), 1: (-4, -3)}) == "attack,-4,-3"
    assert hunted({0: (-7, -3), 1: (-3, -3)}) == "move,-6,-3"


def test_trainer_hunts_the_nearest_other_player_or_the_first_of_several() -> None:
    state = position({0: (-7, 0), 1: (-9, 0), 2: (-5, 0), 3: (-4, 0)})
    assert [nearest(state, seat) for seat in range(4)] == [1, 0, 3, 2]


@pytest.mark.parametrize("seat", range(4))
def test_trainer_never_hunts_itself(seat: int) -> None:
    state = position({})
    assert nearest(state, seat) != seat


def test_trainer_shoots_an_asteroid_on_the_cheapest_path() -> None:
    wall = {(-9, r): ASTEROID for r in range(-5, 15)}
    assert hunted({0: (-10, 2), 1: (-6, 2)}, wall) == "attack,-9,2"


def test_trainer_avoids_a_cell_that_costs_more_than_a_detour() -> None:
    assert hunted({0: (-10, 2), 1: (-6, 2)}, {(-9, 2): ASTEROID}) in ("move,-10,3", "move,-9,1")
    assert hunted({0: (-10, 2), 1: (-6, 2)}, {(-9, 2): BLACKHOLE}) in ("move,-10,3", "move,-9,1")


def test_trainer_enters_a_black_hole_only_if_the_detour_is_longer() -> None:
    wall = {(-9, r): ASTEROID for r in range(-5, 15)} | {(-9, 2): BLACKHOLE}
    assert hunted({0: (-10, 2), 1: (-6, 2)}, wall) == "move,-9,2"


def test_trainer_does_not_shoot_at_a_player_behind_a_black_hole() -> None:
    assert hunted({0: (-8, 2), 1: (-6, 2)}, {(-7, 2): BLACKHOLE}).startswith("move,")


def test_trainer_answers_in_a_black_hole() -> None:
    assert hunted({0: (-7, 0), 1: (-3, 0)}, {(-7, 0): BLACKHOLE}, trap=2) == ""


def test_trainer_without_a_path_gives_any_legal_answer() -> None:
    """It does not plan through wormholes, but they may be its only moves."""
    ring = [(-8, 0), (-9, 1), (-10, 1), (-10, 0), (-9, -1), (-8, -1)]
    state = position({0: (-9, 0), 1: (-4, 0)}, dict.fromkeys(ring, WORMHOLE))
    state.ground = Ground(state.ground.kinds, {INDEX[place]: number // 2 for number, place in enumerate(ring)})
    state.awaited = {0: DO_ACTION}
    assert hunt(state, 0, Dice(1)) in list(state.legal(0))


@pytest.mark.parametrize(
    ("kind", "health", "level", "cost"),
    [
        (EMPTY, 0, 1, 1),
        (BLACKHOLE, 0, 1, 3),
        (ASTEROID, 350, 1, 4),
        (ASTEROID, 300, 1, 3),
        (ASTEROID, 50, 1, 2),
        (ASTEROID, 350, 2, 3),
        (ASTEROID, 350, 5, 2),
    ],
)
def test_a_step_costs_1_plus_2_for_a_hole_or_the_shots_at_an_asteroid(
    kind: int, health: int, level: int, cost: int
) -> None:
    state = position({}, {(0, 9): kind})
    state.asteroids[INDEX[0, 9]] = health
    state.ships[0].level = level
    assert step_cost(state, 0, INDEX[0, 9]) == cost


@pytest.mark.parametrize("kind", [WORMHOLE, BOSS])
def test_trainer_avoids_wormholes_and_the_boss(kind: int) -> None:
    state = position({0: (-10, 2), 1: (-6, 2)}, {(-9, 2): kind})
    way = first_step(state, 0, (INDEX[-6, 2],))
    assert way is not None and CELLS[way[0]] in ((-10, 3), (-9, 1))


def test_trainer_avoids_other_players() -> None:
    state = position({0: (-10, 2), 1: (-6, 2), 2: (-9, 2)})
    way = first_step(state, 0, (INDEX[-6, 2],))
    assert way is not None and CELLS[way[0]] in ((-10, 3), (-9, 1))


def test_trainer_ignores_players_that_are_out() -> None:
    state = position({0: (-10, 2), 1: (-9, 2)})
    state.apply({seat: Fault(FaultKind.TIMEOUT, "late") if seat == 1 else {} for seat in range(4)})
    assert nearest(state, 0) == 2


# @gunner


def besieged(at: dict[int, Place], tiles: dict[Place, int] | None = None, health: int = 1000) -> str:
    state = position(at, tiles)
    state.ships[0].health = health
    state.awaited = {0: DO_ACTION}
    answer = besiege(state, 0, Dice(1))
    assert state.check(0, answer) is None
    return str(answer["action"])


def test_gunner_goes_to_the_ring_from_which_it_reaches_the_boss_and_shoots() -> None:
    assert besieged({0: (-6, 0)}) in ("move,-5,0", "move,-6,1", "move,-5,-1")
    assert besieged({0: (-5, 0)}).startswith("move,-4")
    assert besieged({0: (-4, 0)}).startswith("attack,-1,")


def test_gunner_prefers_the_boss_to_a_player_and_the_weaker_of_two_players() -> None:
    assert besieged({0: (-4, 0), 1: (-5, 0)}).startswith("attack,-1,")
    state = position({0: (-9, 0), 1: (-11, 0), 2: (-9, 2)})
    state.ships[2].health, state.awaited = 400, {0: DO_ACTION}
    assert besiege(state, 0, Dice(1)) == {"action": "attack,-9,2"}


def test_gunner_looks_for_health_only_when_it_is_hurt() -> None:
    tiles = {(-9, 0): HEALTH}
    assert besieged({0: (-7, 0)}, tiles).startswith("move,-6")
    assert besieged({0: (-7, 0)}, tiles, health=300) == "move,-8,0"
