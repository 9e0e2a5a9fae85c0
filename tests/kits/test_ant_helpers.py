"""The Python kit's functions for ReAntics, compared with the engine and with reantics.md, 11.3."""

import sys
from itertools import product
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.games import reantics, registry
from referee.games.contract import Setup
from referee.games.dice import Dice
from referee.harness.common.paths import KITS

sys.path.append(str(KITS / "python"))
from referee_kit import ants as kit
from referee_kit.reantics import (
    Ant,
    AntType,
    Construction,
    ConstructionType,
    GameState,
    Inventory,
    Move,
    MoveType,
    Phase,
)

for name in [name for name in sys.modules if name.partition(".")[0] == "referee_kit"]:
    del sys.modules[name]  # other tests check who loads it
sys.path.remove(str(KITS / "python"))

GAME = registry.game("reantics")


def shown(seed: int, turns: int) -> tuple[Any, int, GameState]:
    """Returns a state after random answers, the player to move, and that player's view."""
    dice, state = Dice(seed), GAME.new(Setup(seed, ("a", "b"), GAME.options()))
    while state.result is None:
        for call in state.calls():
            if call.method.name == "getMove" and turns <= 0:
                return state, call.player, GameState.from_json(msgspec.to_builtins(call.params)["currentState"])
        turns -= 1
        state.apply({player: state.sample(player, dice) for player in state.awaited})
    return shown(seed + 1, turns // 2)


def plain(move: Move) -> tuple[int, tuple[Any, ...], int | None]:
    return move.move_type, tuple(tuple(coords) for coords in move.coord_list or ()), move.build_type


@given(st.integers(0, 1 << 32), st.integers(5, 400))
def test_the_legal_moves_are_the_engines(seed: int, turns: int) -> None:
    state, player, view = shown(seed, turns)
    listed = kit.list_all_legal_moves(view)
    legal = [Move(move.moveType, move.coordList, move.buildType) for move in state.legal(player)]
    assert {plain(move) for move in listed} == {plain(move) for move in legal}
    assert plain(listed[-1]) == (MoveType.END, (), None)


@given(st.integers(0, 1 << 32), st.integers(5, 400))
def test_get_next_state_copies_the_state_and_applies_a_move(seed: int, turns: int) -> None:
    _, _, view = shown(seed, turns)
    before = kit.fastclone(view)
    before.board = view.board
    me = view.whose_turn
    for move in kit.list_all_legal_moves(view):
        after, then = kit.get_next_state(view, move), kit.get_next_state_adversarial(view, move)
        assert view == before
        assert then.whose_turn == (1 - me if move.move_type == MoveType.END else me)
        if move.move_type == MoveType.BUILD:
            assert len(after.inventories[me].ants) == len(view.inventories[me].ants) + 1
            cost = kit.UNIT_STATS[move.build_type or 0].cost
            assert after.inventories[me].food_count == view.inventories[me].food_count - cost
        if move.move_type == MoveType.MOVE_ANT:
            assert move.coord_list is not None
            ant, moved = kit.get_ant_at(after, move.coord_list[-1]), kit.get_ant_at(then, move.coord_list[-1])
            assert ant is not None and moved is not None
            assert (ant.player, ant.has_moved, moved.has_moved) == (me, False, True)


def test_the_tables_are_the_engines() -> None:
    for kind, unit in enumerate(reantics.UNITS):
        stats = kit.UNIT_STATS[kind]
        assert stats.movement == unit.moves
        assert stats.health == unit.health
        assert (stats.attack, stats.range) == (unit.attack, unit.range) or kind == AntType.WORKER
        assert stats.ignores_grass == unit.ignores_grass


def position(*rows: str, carrying: bool = False) -> GameState:
    """Returns a state with this top left corner of the board, seat 0 to move.

    Q W D S R are own ants, q w d s r the enemy's; ^ @ own buildings, v the enemy's anthill, ; grass, % food.
    """
    state = GameState(Phase.PLAY_PHASE, 0, [Inventory(player, 0, [], []) for player in range(3)])
    for y, row in enumerate(rows):
        for x, sign in enumerate(row):
            if sign.upper() in "QWDSR" and sign != ".":
                kind, owner = AntType("QWDSR".index(sign.upper())), int(sign.islower())
                ant = Ant(
                    len(kit.get_ant_list(state)), (x, y), kind, owner, kit.UNIT_STATS[kind].health, carrying, False
                )
                state.inventories[owner].ants.append(ant)
            elif sign in "^@v":
                building, owner = ConstructionType.TUNNEL if sign == "@" else ConstructionType.ANTHILL, int(sign == "v")
                state.inventories[owner].constrs.append(Construction((x, y), building, 1, owner, 3))
            elif sign in ";%":
                neutral, cost = (ConstructionType.GRASS, 2) if sign == ";" else (ConstructionType.FOOD, 1)
                state.inventories[2].constrs.append(Construction((x, y), neutral, cost))
    return state


def test_neighbours_come_left_right_up_down() -> None:
    assert kit.list_adjacent((4, 4)) == [(3, 4), (5, 4), (4, 3), (4, 5)]
    assert kit.list_adjacent((0, 0)) == [(1, 0), (0, 1)]
    assert kit.list_adjacent((0, 10)) == kit.list_adjacent((1, 2, 3)) == []  # type: ignore[arg-type]


def test_attackable_tiles_come_by_column_then_row() -> None:
    assert kit.list_attackable((0, 0)) == [(0, 1), (1, 0)]
    found = kit.list_attackable((5, 5), 3)
    assert found == sorted(found)
    assert len(found) == 24


def test_paths_come_in_the_documented_order() -> None:
    state = position("W;", "..")
    assert kit.list_all_movement_paths(state, (0, 0), 2) == [
        [(0, 0), (1, 0)],
        [(0, 0), (0, 1)],
        [(0, 0), (0, 1), (1, 1)],
        [(0, 0), (0, 1), (0, 2)],
        [(0, 0), (0, 1)],
        [(0, 0)],
    ]
    assert kit.list_all_movement_paths(state, (0, 0), 0) == []


def test_grass_costs_two_except_for_ants_that_ignore_it() -> None:
    state = position("W;", ".")
    assert kit.list_reachable_adjacent(state, (0, 0), 1) == [(0, 1)]
    assert kit.list_reachable_adjacent(state, (0, 0), 1, True) == [(1, 0), (0, 1)]
    assert kit.steps_to_reach(state, (0, 0), (1, 0)) == 2
    assert kit.steps_to_reach(state, (0, 0), (9, 9)) == 18
    assert kit.steps_to_reach(state, (0, 0), (9, 10)) == -1


def test_a_path_toward_a_tile_is_greedy_and_may_stay_put() -> None:
    assert kit.create_path_toward(position("W..."), (0, 0), (3, 0), 2) == [(0, 0), (1, 0), (2, 0)]
    shut = position("W;", ";")
    assert kit.create_path_toward(shut, (0, 0), (3, 0), 1) == [(0, 0)]
    assert kit.find_path_recursive(shut, (0, 0), (3, 0), 1, False) == ([(0, 0)], 3)


def test_the_a_star_ends_before_its_goal_and_counts_grass_as_one() -> None:
    assert kit.a_star_search_path(position("W;.."), (0, 0), (3, 0)) == [(0, 0), (1, 0), (2, 0)]
    assert kit.a_star_search_path(position("W..s"), (0, 0), (3, 0)) is None
    assert kit.a_star_search_path(position("W"), (0, 0), (0, 0)) == []


def test_get_winner_is_seen_from_the_player_to_move() -> None:
    state = position("Q", "q", "^", "v")
    state.inventories[0].food_count = state.inventories[1].food_count = 1
    assert kit.get_winner(state) is None
    state.inventories[1].food_count = 0
    assert kit.get_winner(state) == 1  # starved: no food and a single ant
    state.whose_turn = 1
    assert kit.get_winner(state) == 0


def test_a_sides_queen_anthill_and_tunnels_are_found() -> None:
    own, enemy, nobody = position("Q.@", "^qv", "@;%").inventories
    assert (kit.get_queen(own), kit.get_queen(enemy)) == (own.ants[0], enemy.ants[0])
    assert [side and side.coords for side in map(kit.get_anthill, (own, enemy, nobody))] == [(0, 1), (2, 1), None]
    assert [tunnel.coords for tunnel in kit.get_tunnels(own)] == [(2, 0), (0, 2)]
    assert (kit.get_queen(nobody), kit.get_tunnels(enemy)) == (None, [])


def test_a_worker_takes_and_drops_food_at_once_in_get_next_state() -> None:
    state = position("QW%", "^q")
    after = kit.get_next_state(state, Move(MoveType.MOVE_ANT, [(1, 0), (2, 0)]))
    assert [ant.carrying for ant in after.inventories[0].ants] == [False, True]
    loaded = position("QW@", carrying=True)
    after = kit.get_next_state(loaded, Move(MoveType.MOVE_ANT, [(1, 0), (2, 0)]))
    assert (after.inventories[0].food_count, kit.get_ant_at(after, (2, 0)).carrying) == (1, False)  # type: ignore[union-attr]


def test_an_enemy_on_our_anthill_weakens_it_with_any_move() -> None:
    state = position("Q")
    state.inventories[0].constrs.append(Construction((5, 5), ConstructionType.ANTHILL, 1, 0, 3))
    state.inventories[1].ants.append(Ant(9, (5, 5), AntType.DRONE, 1, 4, False, False))
    for move in (Move(MoveType.END), Move(MoveType.MOVE_ANT, [(0, 0)])):
        assert kit.get_next_state(state, move).inventories[0].constrs[0].capture_health == 2


def test_the_board_is_drawn_and_turned_for_player_two(capsys: pytest.CaptureFixture[str]) -> None:
    state = position("Q;", "^%")
    kit.ascii_print_state(state)
    first = capsys.readouterr().out.splitlines()
    assert first[0] == first[11] == " 0123456789"
    assert first[1:3] == ["0Q;........0", "1^%........1"]
    assert first[-1] == " food: 0/0"
    state.whose_turn = 1
    kit.ascii_print_state(state)
    second = capsys.readouterr().out.splitlines()
    assert second[0] == " 9876543210"
    assert second[10] == "0........;Q0"


def test_distances_agree_on_every_tile() -> None:
    tiles = list(product(range(10), repeat=2))
    assert all(kit.approx_dist(a, b) == kit.steps_to_reach(position(), a, b) for a in tiles[::13] for b in tiles)
