"""Reads answers, refuses and lists them: aiarena21.md, sections 5 and 6."""

import re
from collections.abc import Iterator
from typing import Any

from referee.games.aiarena21 import types
from referee.games.aiarena21.board import Cell, Ground
from referee.games.aiarena21.position import Position
from referee.games.contract import Method, Player, in_brief

_FORMAT = re.compile(r"[0-9]+,[0-9]+")
_BID = re.compile(r"\s*([+-]?)([0-9]+)\s*")
_LONGEST_NUMBER = 18  # digits without leading zeros; more than any row or score has


def legal_answers(method: Method, ground: Ground, me: types.Player) -> Iterator[Any]:
    """Yields every legal answer of a player to a function, in one form each.

    Power-ups in the order of POWER_UPS, bids from 0 up, cells in row-major order without leading zeros.
    """
    if method is types.PLAY_POWERUP:
        yield from types.POWER_UPS
    elif method is types.PLAY_AUCTION:
        yield from range(me.score + 1)
    else:
        row, col = me.location
        at = row * ground.cols + col
        cells = ground.reach(at, me.bike, me.portal_gun) if method is types.PLAY_TURN else ground.free
        for cell in cells:
            row, col = ground.location[cell]
            yield f"{row},{col}"


def bid_of(answer: Any) -> int | None:
    """Reads a bid: a JSON integer, or ASCII digits with a sign and blanks around them. None if it is neither."""
    if type(answer) is int:
        return answer
    found = _BID.fullmatch(answer) if isinstance(answer, str) else None
    if found is None:
        return None
    sign, digits = found[1], found[2].lstrip("0")
    size = int(digits[:_LONGEST_NUMBER] or "0") if len(digits) <= _LONGEST_NUMBER else 10**_LONGEST_NUMBER
    return -size if sign == "-" else size


def cell_of(answer: Any, ground: Ground) -> Cell | str:
    """Returns the free cell that "row,col" names, or why it names none."""
    if not isinstance(answer, str) or _FORMAT.fullmatch(answer) is None:
        return f'{in_brief(answer)} is no cell; wanted "row,col" in digits, such as "6,11"'
    row, col = [number.lstrip("0") or "0" for number in answer.split(",")]
    if max(len(row), len(col)) > _LONGEST_NUMBER or int(row) >= ground.rows or int(col) >= ground.cols:
        return f"{in_brief(answer)} is off the map; rows are 0..{ground.rows - 1}, columns 0..{ground.cols - 1}"
    cell = int(row) * ground.cols + int(col)
    return cell if ground.is_free[cell] else f"{in_brief(answer)} is blocked; wanted a free cell"


def cell_named(answer: str, ground: Ground) -> Cell:
    """Returns the cell that a legal answer names."""
    row, _, col = answer.partition(",")
    return int(row.lstrip("0") or "0") * ground.cols + int(col.lstrip("0") or "0")


def refusal(state: Position, player: Player, answer: Any) -> str | None:
    """A power-up that the player cannot pay for is no fault: nothing happens (section 5)."""
    method = state.awaited[player]
    if method is types.PLAY_POWERUP:
        known = isinstance(answer, str) and answer in types.POWER_UPS
        return None if known else f'{in_brief(answer)} is no power-up; wanted "bike", "portal gun" or ""'
    if method is types.PLAY_AUCTION:
        return _bid_refusal(state, player, answer)
    cell = cell_of(answer, state.ground)
    if isinstance(cell, str):
        return cell
    return _move_refusal(state, player, cell) if method is types.PLAY_TURN else None


def _bid_refusal(state: Position, player: Player, answer: Any) -> str | None:
    bid = bid_of(answer)
    if bid is None:
        return f"{in_brief(answer)} is no bid; wanted a whole number, 0..{state.score[player]}"
    if 0 <= bid <= state.score[player]:
        return None
    return f"the bid is {in_brief(answer)}; wanted 0..{state.score[player]}, your score"


def _move_refusal(state: Position, player: Player, target: Cell) -> str | None:
    """Applies section 5 in order; `target` is a free cell."""
    ground, at = state.ground, state.cells[player]
    distance = ground.distance(at, target)
    if distance <= 1 or state.portal_gun_turns[player]:
        return None
    bike = state.bike_turns[player] > 0
    if bike and distance <= types.BIKE_STEPS and target in ground.within(at, types.BIKE_STEPS):
        return None
    (row, col), (to_row, to_col) = ground.location[at], ground.location[target]
    there = f"({to_row},{to_col}) is {distance} away from ({row},{col})"
    if not bike:
        return f"{there}; without a power-up a move goes 1 far"
    if distance > types.BIKE_STEPS:
        return f"{there}; a bike goes {types.BIKE_STEPS} far"
    return f"{there}, but no path of {types.BIKE_STEPS} steps through free cells leads there"
