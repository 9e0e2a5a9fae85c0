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
from referee.harness.paths import KITS

sys.path.append(str(KITS / "python"))
from referee_kit import reantics as kit

for name in [name for name in sys.modules if name.partition(".")[0] == "referee_kit"]:
    del sys.modules[name]  # other tests check who loads it
sys.path.remove(str(KITS / "python"))

GAME = registry.game("reantics")


def shown(seed: int, turns: int) -> tuple[Any, int, kit.GameState]:
    """Returns a state after random answers, the player to move, and that player's view."""
    dice, state = Dice(seed), GAME.new(Setup(seed, ("a", "b"), GAME.options()))
    while state.result is None:
        for call in state.calls():
            if call.method.name == "getMove" and turns <= 0:
                return state, call.player, kit.GameState.from_json(msgspec.to_builtins(call.params)["currentState"])
        turns -= 1
        state.apply({player: state.sample(player, dice) for player in state.awaited})
    return shown(seed + 1, turns // 2)


def plain(move: Any) -> tuple[int, tuple[Any, ...], int | None]:
    return move.moveType, tuple(tuple(coords) for coords in move.coordList or ()), move.buildType


@given(st.integers(0, 1 << 32), st.integers(5, 400))
def test_the_legal_moves_are_the_engines(seed: int, turns: int) -> None:
    state, player, view = shown(seed, turns)
    listed = kit.listAllLegalMoves(view)
    assert {plain(move) for move in listed} == {plain(move) for move in state.legal(player)}
    assert plain(listed[-1]) == (kit.END, (), None)


@given(st.integers(0, 1 << 32), st.integers(5, 400))
def test_getNextState_copies_the_state_and_applies_a_move(seed: int, turns: int) -> None:
    _, _, view = shown(seed, turns)
    before = kit.fastclone(view)
    before.board = view.board
    me = view.whoseTurn
    for move in kit.listAllLegalMoves(view):
        after, then = kit.getNextState(view, move), kit.getNextStateAdversarial(view, move)
        assert view == before
        assert then.whoseTurn == (1 - me if move.moveType == kit.END else me)
        if move.moveType == kit.BUILD:
            assert len(after.inventories[me].ants) == len(view.inventories[me].ants) + 1
            cost = kit.UNIT_STATS[move.buildType or 0][kit.COST]
            assert after.inventories[me].foodCount == view.inventories[me].foodCount - cost
        if move.moveType == kit.MOVE_ANT:
            assert move.coordList is not None
            ant, moved = kit.getAntAt(after, move.coordList[-1]), kit.getAntAt(then, move.coordList[-1])
            assert ant is not None and moved is not None
            assert (ant.player, ant.hasMoved, moved.hasMoved) == (me, False, True)


def test_the_tables_are_the_engines() -> None:
    for kind, unit in enumerate(reantics.UNITS):
        stats = kit.UNIT_STATS[kind]
        assert stats[kit.MOVEMENT] == unit.moves
        assert stats[kit.HEALTH] == unit.health
        assert (stats[kit.ATTACK], stats[kit.RANGE]) == (unit.attack, unit.range) or kind == kit.WORKER
        assert stats[kit.IGNORES_GRASS] == unit.ignores_grass


def position(*rows: str, carrying: bool = False) -> kit.GameState:
    """Returns a state with this top left corner of the board, seat 0 to move.

    Q W D S R are own ants, q w d s r the enemy's; ^ @ own buildings, v the enemy's anthill, ; grass, % food.
    """
    state = kit.GameState(kit.PLAY_PHASE, 0, [kit.Inventory(player, 0, [], []) for player in range(3)])
    for y, row in enumerate(rows):
        for x, sign in enumerate(row):
            if sign.upper() in "QWDSR" and sign != ".":
                kind, owner = "QWDSR".index(sign.upper()), int(sign.islower())
                ant = kit.Ant(len(kit.getAntList(state)), (x, y), kind, owner, kit.UNIT_STATS[kind][1], carrying, False)
                state.inventories[owner].ants.append(ant)
            elif sign in "^@v":
                kind, owner = (kit.TUNNEL if sign == "@" else kit.ANTHILL), int(sign == "v")
                state.inventories[owner].constrs.append(kit.Construction((x, y), kind, 1, owner, 3))
            elif sign in ";%":
                kind = kit.GRASS if sign == ";" else kit.FOOD
                cost = 2 if sign == ";" else 1
                state.inventories[2].constrs.append(kit.Construction((x, y), kind, cost))
    return state


def test_neighbours_come_left_right_up_down() -> None:
    assert kit.listAdjacent((4, 4)) == [(3, 4), (5, 4), (4, 3), (4, 5)]
    assert kit.listAdjacent((0, 0)) == [(1, 0), (0, 1)]
    assert kit.listAdjacent((0, 10)) == kit.listAdjacent((1, 2, 3)) == []  # type: ignore[arg-type]


def test_attackable_tiles_come_by_column_then_row() -> None:
    assert kit.listAttackable((0, 0)) == [(0, 1), (1, 0)]
    found = kit.listAttackable((5, 5), 3)
    assert found == sorted(found)
    assert len(found) == 24


def test_paths_come_in_the_documented_order() -> None:
    state = position("W;", "..")
    assert kit.listAllMovementPaths(state, (0, 0), 2) == [
        [(0, 0), (1, 0)],
        [(0, 0), (0, 1)],
        [(0, 0), (0, 1), (1, 1)],
        [(0, 0), (0, 1), (0, 2)],
        [(0, 0), (0, 1)],
        [(0, 0)],
    ]
    assert kit.listAllMovementPaths(state, (0, 0), 0) == []


def test_grass_costs_two_except_for_ants_that_ignore_it() -> None:
    state = position("W;", ".")
    assert kit.listReachableAdjacent(state, (0, 0), 1) == [(0, 1)]
    assert kit.listReachableAdjacent(state, (0, 0), 1, True) == [(1, 0), (0, 1)]
    assert kit.stepsToReach(state, (0, 0), (1, 0)) == 2
    assert kit.stepsToReach(state, (0, 0), (9, 9)) == 18
    assert kit.stepsToReach(state, (0, 0), (9, 10)) == -1


def test_a_path_toward_a_tile_is_greedy_and_may_stay_put() -> None:
    assert kit.createPathToward(position("W..."), (0, 0), (3, 0), 2) == [(0, 0), (1, 0), (2, 0)]
    shut = position("W;", ";")
    assert kit.createPathToward(shut, (0, 0), (3, 0), 1) == [(0, 0)]
    assert kit.findPathRecursive(shut, (0, 0), (3, 0), 1, False) == ([(0, 0)], 3)


def test_the_a_star_ends_before_its_goal_and_counts_grass_as_one() -> None:
    assert kit.aStarSearchPath(position("W;.."), (0, 0), (3, 0)) == [(0, 0), (1, 0), (2, 0)]
    assert kit.aStarSearchPath(position("W..s"), (0, 0), (3, 0)) is False
    assert kit.aStarSearchPath(position("W"), (0, 0), (0, 0)) == []


def test_getWinner_is_seen_from_the_player_to_move() -> None:
    state = position("Q", "q", "^", "v")
    state.inventories[0].foodCount = state.inventories[1].foodCount = 1
    assert kit.getWinner(state) is None
    state.inventories[1].foodCount = 0
    assert kit.getWinner(state) == 1  # starved: no food and a single ant
    state.whoseTurn = 1
    assert kit.getWinner(state) == 0


def test_a_worker_takes_and_drops_food_at_once_in_getNextState() -> None:
    state = position("QW%", "^q")
    after = kit.getNextState(state, kit.Move(kit.MOVE_ANT, [(1, 0), (2, 0)]))
    assert [ant.carrying for ant in after.inventories[0].ants] == [False, True]
    loaded = position("QW@", carrying=True)
    after = kit.getNextState(loaded, kit.Move(kit.MOVE_ANT, [(1, 0), (2, 0)]))
    assert (after.inventories[0].foodCount, kit.getAntAt(after, (2, 0)).carrying) == (1, False)  # type: ignore[union-attr]


def test_an_enemy_on_our_anthill_weakens_it_with_any_move() -> None:
    state = position("Q")
    state.inventories[0].constrs.append(kit.Construction((5, 5), kit.ANTHILL, 1, 0, 3))
    state.inventories[1].ants.append(kit.Ant(9, (5, 5), kit.DRONE, 1, 4, False, False))
    for move in (kit.Move(kit.END), kit.Move(kit.MOVE_ANT, [(0, 0)])):
        assert kit.getNextState(state, move).inventories[0].constrs[0].captureHealth == 2


def test_the_board_is_drawn_and_turned_for_player_two(capsys: pytest.CaptureFixture[str]) -> None:
    state = position("Q;", "^%")
    kit.asciiPrintState(state)
    first = capsys.readouterr().out.splitlines()
    assert first[0] == first[11] == " 0123456789"
    assert first[1:3] == ["0Q;........0", "1^%........1"]
    assert first[-1] == " food: 0/0"
    state.whoseTurn = 1
    kit.asciiPrintState(state)
    second = capsys.readouterr().out.splitlines()
    assert second[0] == " 9876543210"
    assert second[10] == "0........;Q0"


def test_distances_agree_on_every_tile() -> None:
    tiles = list(product(range(10), repeat=2))
    assert all(kit.approxDist(a, b) == kit.stepsToReach(position(), a, b) for a in tiles[::13] for b in tiles)
