"""Helpers for tests of AIBG 5.0: positions with a scripted map and luck, and actions."""

import json
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from referee.games.aibg5 import AIBG5, BOSS_CELLS, CELLS, DO_ACTION, INDEX, KINDS, Options
from referee.games.contract import Event, Fault, FaultKind, Notice, Ruling, Setup
from referee.games.dice import Dice, ScriptedDice

Place = tuple[int, int]
"""(q, r)."""
T = TypeVar("T")

LATE = Fault(FaultKind.TIMEOUT, "late")
NAMES = ("A", "B", "C", "D")
JOINED: Mapping[int, Any] = {player: {} for player in range(4)}
"""All four answers to `joinGame`."""


class Scripted(ScriptedDice):
    """Dice with scripted places of items and pauses; then, items go to the last possible cell and pauses are 3."""

    def __init__(self, places: Iterable[Place] = (), pauses: Iterable[int] = ()) -> None:
        super().__init__()
        self.places, self.pauses = deque(places), deque(pauses)

    @property
    def offered(self) -> list[Sequence[Any]]:
        return [items for _, items in self.drawn]

    def choice(self, items: Sequence[T], what: str = "") -> T:
        if what == "pause":
            outcome: Any = self.pauses.popleft() if self.pauses else 3
        else:
            outcome = INDEX[self.places.popleft()] if self.places else items[-1]
        self.script[what] = [outcome]
        return super().choice(items, what)


def map_rows(tiles: Mapping[Place, str] | None = None) -> list[list[dict[str, Any]]]:
    """A map file's content with the boss and `tiles`: FENCE, BLACKHOLE, or a WORMHOLE's id as text."""
    rows: dict[int, list[dict[str, Any]]] = {}
    for cell, (q, r) in enumerate(CELLS):
        entity = "BOSS" if cell in BOSS_CELLS else (tiles or {}).get((q, r), "NONE")
        found: dict[str, Any] = {"q": q, "r": r, "type": "NORMAL", "entity": entity}
        if entity in ("FENCE", "BOSS"):
            found["type"] = "FULL"
        elif entity.isdecimal():
            found |= {"entity": "WORMHOLE", "id": int(entity)}
        rows.setdefault(r, []).append(found)
    return list(rows.values())


def begun(
    tiles: Mapping[Place, str] | None = None,
    at: Mapping[int, Place] | None = None,
    dice: Dice | None = None,
    **options: Any,
) -> AIBG5:
    """A match on a board that holds the boss and `tiles` alone, all joined, player 1 to move; `at` by `playerIdx`.

    Unless `dice` places them elsewhere, HEALTH is on (0,10) and EXPERIENCE on (0,14).
    """
    text = json.dumps(map_rows(tiles))
    state = AIBG5(Setup(1, NAMES, Options(map=text, **options)), dice or Scripted())
    state.apply(JOINED)
    for player, place in (at or {}).items():
        stand(state, player, place)
    return state


def stand(state: AIBG5, player: int, place: Place) -> None:
    """Puts a player on a cell, regardless of the rules."""
    ship = state.ships[player - 1]
    del state.seat_at[ship.cell]
    ship.cell = INDEX[place]
    state.seat_at[ship.cell] = player - 1
    refresh(state)


def give(state: AIBG5, player: int, **numbers: int) -> None:
    """Sets what a player has: health, level, xp, score …"""
    for name, number in numbers.items():
        setattr(state.ships[player - 1], name, number)
    refresh(state)


def refresh(state: AIBG5) -> None:
    state._state = None


def act(state: AIBG5, player: int, answer: Any) -> list[Event]:
    """Plays a turn of that player, even out of turn; a text is the action."""
    state.awaited = {player - 1: DO_ACTION}
    return state.apply({player - 1: {"action": answer} if isinstance(answer, str) else answer})


def boss_turn(state: AIBG5) -> list[Event]:
    """Plays a fault of player 4 and the boss's turn."""
    return act(state, 4, "pass")


def refusal(state: AIBG5, player: int, answer: Any) -> str:
    """Returns the refusal of an action; empty = legal."""
    state.awaited = {player - 1: DO_ACTION}
    fault = state.check(player - 1, {"action": answer} if isinstance(answer, str) else answer)
    return "" if fault is None else fault.detail


def code(state: AIBG5, player: int, answer: Any) -> str:
    return refusal(state, player, answer).partition(":")[0]


def message(state: AIBG5, player: int) -> str | None:
    """Returns the message of the player's next `doAction`."""
    state.awaited = {player - 1: DO_ACTION}
    told: str | None = shown(state, player)["message"]
    return told


def shown(state: AIBG5, player: int) -> dict[str, Any]:
    """The parameters of the call that awaits `player`, as plain values."""
    (params,) = [call.params for call in state.calls() if call.player == player - 1]
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(params))
    return plain


def seen(state: AIBG5, player: int) -> dict[str, Any]:
    """The player as the state shows it."""
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(state.game_state()))[f"player{player}"]
    return plain


def place(state: AIBG5, player: int) -> Place:
    return CELLS[state.ships[player - 1].cell]


def kind(state: AIBG5, place: Place) -> str:
    return KINDS[state.kinds[INDEX[place]]]


def tile(state: AIBG5, place: Place) -> dict[str, Any]:
    """The tile as the state shows it."""
    rows = msgspec.json.decode(msgspec.json.encode(state.game_state().map.tiles))
    (found,) = [tile for row in rows for tile in row if (tile["q"], tile["r"]) == place]
    return dict(found)


def told(events: list[Event], method: str) -> list[Any]:
    return [event.params for event in events if isinstance(event, Notice) and event.method == method]


def rulings(events: list[Event]) -> list[tuple[int, str, bool]]:
    """The `playerIdx`, the penalty, whether it is out."""
    return [(event.player + 1, event.penalty, event.out) for event in events if isinstance(event, Ruling)]
