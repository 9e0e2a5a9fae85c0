"""Helpers for tests of AI Arena 21: positions with scripted luck, and moves."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from referee.games.aiarena21 import AIArena21, Cell, Ground, Options, load
from referee.games.contract import Event, Fault, Notice, Player, Ruling, Setup
from referee.games.dice import ScriptedDice

Place = tuple[int, int]
"""(row, col)."""

EXAMPLE = ".....\n..###\n.....\nS.S..\n"
"""The document's map of section 9: spawns on (3,0) and (3,2)."""


def scripted(
    ground: Ground, heads: bool, cells: Iterable[Place], batches: Iterable[Mapping[Place, str]]
) -> ScriptedDice:
    """Dice with a coin, random cells and batches. No batch left: an empty one. No cell left: any."""
    places = [row * ground.cols + col for row, col in cells]
    missing = max(0, 2 - len(ground.spawns))
    filled = [{row * ground.cols + col: letters for (row, col), letters in sorted(batch.items())} for batch in batches]
    return ScriptedDice(
        {
            "swap": [int(heads)],
            "spawn": places[:missing],
            "teleport": places[missing:],
            "batch": [*filled, *[{} for _ in range(50)]],
        }
    )


def begun(
    text: str = EXAMPLE,
    heads: bool = False,
    cells: Iterable[Place] = (),
    batches: Iterable[Mapping[Place, str]] = (),
    turns: int = 100,
    at: tuple[Place, Place] | None = None,
    score: tuple[int, int] = (100, 100),
) -> AIArena21:
    """A new match; `at` replaces the spawns."""
    setup = Setup(1, ("Team 1", "Team 2"), Options(map=text, turns=turns))
    state = AIArena21(setup, scripted(load(text), heads, cells, batches))
    if at is not None:
        state.cells = [row * state.ground.cols + col for row, col in at]
    state.score = list(score)
    return state


def offered(state: AIArena21) -> list[Sequence[Cell]]:
    """Returns the choices for each random cell so far."""
    assert isinstance(state.dice, ScriptedDice)
    return [cells for what, cells in state.dice.drawn if what in ("spawn", "teleport")]


def buy(state: AIArena21, first: Any = "", second: Any = "") -> list[Event]:
    """Both answers to `play_powerup`, one after the other."""
    return state.apply({0: first}) + state.apply({1: second})


def move(state: AIArena21, first: Any = None, second: Any = None) -> list[Event]:
    """Plays both answers to `play_turn`; None = stay. Buys nothing if power-ups come first."""
    events = buy(state) if asked(state) == "play_powerup" else []
    answers = {player: named(place(state, player)) for player in (0, 1)}
    answers |= {player: answer for player, answer in enumerate((first, second)) if answer is not None}
    return events + state.apply(answers)


def wait(state: AIArena21, until: int) -> None:
    """Both stay where they are until that turn begins."""
    while state.turn < until:
        move(state)


def asked(state: AIArena21) -> str:
    """The function that is awaited; empty when the game is over."""
    return next((method.name for method in state.awaited.values()), "")


def place(state: AIArena21, player: Player) -> Place:
    return state.ground.location[state.cells[player]]


def places(state: AIArena21) -> tuple[Place, Place]:
    return place(state, 0), place(state, 1)


def named(place: Place) -> str:
    """The cell as an answer names it."""
    return f"{place[0]},{place[1]}"


def shown(state: AIArena21, player: Player) -> dict[str, Any]:
    """Returns the view of the awaited `player` as plain values."""
    (params,) = [call.params for call in state.calls() if call.player == player]
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(params))
    return plain


def refusal(state: AIArena21, player: Player, answer: Any) -> str | None:
    fault = state.check(player, answer)
    return None if fault is None else fault.detail


def told(events: list[Event], method: str) -> list[Any]:
    """The contents of the notices of that name."""
    return [event.params for event in events if isinstance(event, Notice) and event.method == method]


def rulings(events: list[Event]) -> list[tuple[Player, str]]:
    """Returns each player's penalty."""
    return [(event.player, event.penalty) for event in events if isinstance(event, Ruling)]


def fault_of(events: list[Event]) -> Fault:
    (fault,) = [event.fault for event in events if isinstance(event, Ruling)]
    return fault
