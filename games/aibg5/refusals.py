"""Refusals of moves and attacks of AIBG 5.0: checks 6 to 10 (aibg5.md, section 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games.aibg5.board import (
    ASTEROID,
    BLACKHOLE,
    BOSS,
    CELLS,
    EMPTY,
    LINES,
    NEIGHBOURS,
    NOUNS,
    WORMHOLE,
    Cell,
    place,
)
from referee.games.aibg5.types import ATTACK_RANGE
from referee.games.contract import Player as Seat
from referee.games.hexgrid import NOWHERE, length

if TYPE_CHECKING:
    from referee.games.aibg5.rules import AIBG5


def move_refusal(state: AIBG5, player: Seat, target: Cell) -> str | None:
    here = state.ships[player].cell
    if target not in NEIGHBOURS[here]:
        return f"move_not_adjacent: {place(target)} is not next to {place(here)}; a move is one step"
    there = f"move_onto_full_or_player: on {place(target)}"
    if target in state.seat_at:
        return f"{there} stands player {state.seat_at[target] + 1}"
    kind = state.kinds[target]
    if kind in (ASTEROID, BOSS):
        return f"{there} is {NOUNS[kind]}"
    if kind == WORMHOLE:
        out = state.wormhole_exit(here, target)
        if out == NOWHERE or not state.is_free(player, out, (EMPTY,)):
            blocked = "off the board" if out == NOWHERE else f"{place(out)}, which is not free"
            return f"{there} is a wormhole whose exit is {blocked}"
    return None


def attack_refusal(state: AIBG5, player: Seat, target: Cell) -> str | None:
    """Refuses a shot that would end at a black hole or a wormhole too (section 7)."""
    here = state.ships[player].cell
    if target == here:
        return "self_attack: you cannot attack your own tile"
    if target not in LINES[here]:
        (q, r), (to_q, to_r) = CELLS[here], CELLS[target]
        away = length(to_q - q, to_r - r)
        return f"out_of_range: {place(target)} is {away} away from {place(here)}; an attack goes {ATTACK_RANGE}"
    if target not in state.seat_at and state.kinds[target] not in (ASTEROID, BOSS):
        return f"not_attackable: on {place(target)} is {NOUNS[state.kinds[target]]}, and no player"
    hit = state.first_obstacle(player, target)
    if hit not in state.seat_at and state.kinds[hit] in (BLACKHOLE, WORMHOLE):
        return f"not_attackable: the shot at {place(target)} ends at {NOUNS[state.kinds[hit]]} on {place(hit)}"
    return None
