"""Reads the text of actions, refuses and lists them: aibg5.md, section 5."""

import re
from collections.abc import Iterator
from typing import Any

from referee.games.aibg5.board import (
    ASTEROID,
    BLACKHOLE,
    BOSS,
    CELLS,
    EMPTY,
    INDEX,
    LINES,
    NEIGHBOURS,
    NOUNS,
    WORMHOLE,
    Cell,
    place,
)
from referee.games.aibg5.position import Position
from referee.games.aibg5.types import ATTACK_RANGE, JOIN_GAME, RADIUS, Action
from referee.games.contract import Player, in_brief
from referee.games.hexgrid import NOWHERE, distance

_COORDINATE = re.compile(r"[+-]?[0-9]+")
_LONGEST_COORDINATE = 10  # digits without leading zeros: more would not be of 32 bits
_INT32 = range(-(1 << 31), 1 << 31)
TWO_WAYS = '"move,Q,R" or "attack,Q,R"'
NO_ACTION = f"null: no action was given; wanted {TWO_WAYS}"


def read_action(text: str) -> tuple[str, int, int] | str:
    """Returns the three parts of an action's text, or the message of the check that it fails, 2 or 3."""
    parts = text.replace(" ", "").split(",")
    while parts and not parts[-1]:
        parts.pop()
    if len(parts) != 3:
        return f"three_parameters: {in_brief(text)} has {len(parts)} parts; wanted three, {TWO_WAYS}"
    q, r = _coordinate(parts[1]), _coordinate(parts[2])
    if q is None or r is None:
        wrong, part = ("Q", parts[1]) if q is None else ("R", parts[2])
        return f"coordinate_format: {wrong} is {in_brief(part)}; wanted a whole number"
    return parts[0], q, r


def _coordinate(text: str) -> int | None:
    """Reads a whole number of 32 bits in ASCII digits, with or without a sign. None if it is none."""
    if _COORDINATE.fullmatch(text) is None or len(text.lstrip("+-0")) > _LONGEST_COORDINATE:
        return None
    number = int(text.lstrip("+-0") or "0") * (-1 if text[0] == "-" else 1)
    return number if number in _INT32 else None


def refusal(state: Position, player: Player, answer: Any) -> str | None:
    """Applies the checks in order. The message begins with the code of the first that fails.

    A trapped player's answer does not matter.
    """
    if state.awaited[player] is JOIN_GAME or state.ships[player].trap:
        return None
    text = text_of(answer)
    if not isinstance(text, str):
        return NO_ACTION if text is None else f"null: the action is {in_brief(text)}; wanted text, {TWO_WAYS}"
    action = read_action(text)
    if isinstance(action, str):
        return action
    word, q, r = action
    target = INDEX.get((q, r))
    if target is None:
        return f"off_map: ({q},{r}) is not on the board; |q|, |r| and |q+r| are at most {RADIUS}"
    if word == "move":
        return move_refusal(state, player, target)
    if word == "attack":
        return attack_refusal(state, player, target)
    return f"unknown_action: {in_brief(word)}; wanted move or attack"


def text_of(answer: Any) -> Any:
    """Returns the member `action`; None if it is missing, or the answer is no object (assumed: like no action)."""
    if isinstance(answer, Action):
        return answer.action
    return answer.get("action") if isinstance(answer, dict) else None


def move_refusal(state: Position, player: Player, target: Cell) -> str | None:
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


def attack_refusal(state: Position, player: Player, target: Cell) -> str | None:
    """Refuses a shot that would end at a black hole or a wormhole too (section 7)."""
    here = state.ships[player].cell
    if target == here:
        return "self_attack: you cannot attack your own tile"
    if target not in LINES[here]:
        away = distance(CELLS[here], CELLS[target])
        return f"out_of_range: {place(target)} is {away} away from {place(here)}; an attack goes {ATTACK_RANGE}"
    if target not in state.seat_at and state.kinds[target] not in (ASTEROID, BOSS):
        return f"not_attackable: on {place(target)} is {NOUNS[state.kinds[target]]}, and no player"
    hit = state.first_obstacle(player, target)
    if hit not in state.seat_at and state.kinds[hit] in (BLACKHOLE, WORMHOLE):
        return f"not_attackable: the shot at {place(target)} ends at {NOUNS[state.kinds[hit]]} on {place(hit)}"
    return None


def legal(state: Position, player: Player) -> Iterator[Any]:
    """Yields moves E, SE, SW, W, NW, NE, then attacks by r, then q; a single answer if it does not matter.

    Nothing for a player between wormholes with blocked exits: all its actions are illegal.
    """
    if state.joining:
        yield {}
    elif state.ships[player].trap:
        yield {"action": ""}
    else:
        here = state.ships[player].cell
        for word, targets, refusal_of in (
            ("move", NEIGHBOURS[here], move_refusal),
            ("attack", LINES[here], attack_refusal),
        ):
            for target in targets:
                if target != NOWHERE and refusal_of(state, player, target) is None:
                    q, r = CELLS[target]
                    yield {"action": f"{word},{q},{r}"}
