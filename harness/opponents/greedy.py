"""`@greedy`: takes what is nearest and worth most, one target at a time."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from referee.games.aiarena21 import (
    BIKE,
    BIKE_COST,
    BIKE_STEPS,
    BIKE_TURNS,
    METHODS,
    Cell,
    Ground,
    Options,
    Situation,
    ground_of,
)
from referee.harness.opponents._serve import Handler, Start, UnknownMethod, serve
from referee.protocol.messages import Initialize


def follow_aiarena21(match: Initialize) -> Handler:
    """Every call shows all that the answer is made of."""
    ground = ground_of(msgspec.convert(match.options, Options))
    functions = {
        "play_powerup": power_up,
        "play_turn": move,
        "play_auction": bid,
        "play_transport": transport,
    }

    def handle(method: str, params: dict[str, Any]) -> Any:
        if method not in functions:
            raise UnknownMethod(method)
        return functions[method](ground, msgspec.convert(params, METHODS[method].params))

    return handle


def power_up(ground: Ground, shown: Situation) -> str:
    """A bike, if while it runs it brings more than it costs."""
    here, worth = _cell(ground, shown.me.location), _worth(ground, shown.items)
    if shown.me.bike or shown.me.score < BIKE_COST or not worth:
        return ""
    steps = walks(ground, [here])
    on_foot, riding = [max(rates(worth, steps, speed).values(), default=0.0) for speed in (1, BIKE_STEPS)]
    turns = min(BIKE_TURNS, shown.remaining_turns)
    return BIKE if (riding - on_foot) * turns > BIKE_COST else ""


def move(ground: Ground, shown: Situation) -> str:
    """A turn's way towards the best fruit by points per turn; where none lies, towards the heat of the next."""
    here, speed = _cell(ground, shown.me.location), BIKE_STEPS if shown.me.bike else 1
    steps = walks(ground, [here])
    worth = _worth(ground, shown.items)
    if not worth.keys() & steps.keys():
        worth = _worth(ground, shown.heatmap)
    gains = rates(worth, steps, speed)
    if not gains:
        return _named(ground, here)
    target = max(gains, key=lambda cell: (gains[cell], -steps[cell], -cell))
    while steps[target] > speed:
        target = next(cell for cell in ground.neighbours[target] if steps[cell] == steps[target] - 1)
    return _named(ground, target)


def bid(ground: Ground, shown: Situation) -> int:
    """What lies here, and one more: to win costs half of both bids, to lose costs the place."""
    row, col = shown.me.location
    return min(shown.me.score, shown.items[row][col] + 1)


def transport(ground: Ground, shown: Situation) -> str:
    """The free cell that is the farthest walk from any fruit; one with no way to fruit is best of all. Never the own
    cell: another auction would follow."""
    here, steps = _cell(ground, shown.me.location), walks(ground, _worth(ground, shown.items))
    elsewhere = [cell for cell in ground.free if cell != here]
    return _named(ground, max(elsewhere, key=lambda cell: (steps.get(cell, len(ground.free)), -cell)))


def walks(ground: Ground, starts: Iterable[Cell]) -> dict[Cell, int]:
    """How many steps each cell is from the nearest of `starts`; cells with no way to one are left out."""
    edge = list(starts)
    steps = dict.fromkeys(edge, 0)
    for cell in edge:
        for beside in ground.neighbours[cell]:
            if beside not in steps:
                steps[beside] = steps[cell] + 1
                edge.append(beside)
    return steps


def rates(worth: Mapping[Cell, float], steps: Mapping[Cell, int], speed: int) -> dict[Cell, float]:
    """What each cell in reach brings a turn, the way included; `speed` is steps a turn."""
    return {cell: value / max(1, -(-steps[cell] // speed)) for cell, value in worth.items() if cell in steps}


def _worth(ground: Ground, rows: Iterable[Iterable[float]]) -> dict[Cell, float]:
    """The cells that hold something, in row-major order."""
    values = [value for row in rows for value in row]
    return {cell: values[cell] for cell in ground.free if values[cell]}


def _cell(ground: Ground, location: tuple[int, int]) -> Cell:
    return location[0] * ground.cols + location[1]


def _named(ground: Ground, cell: Cell) -> str:
    row, col = ground.location[cell]
    return f"{row},{col}"


GAMES: dict[str, Start] = {"aiarena21": follow_aiarena21}


if __name__ == "__main__":
    serve("greedy", GAMES)
