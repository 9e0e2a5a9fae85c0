"""`@greedy`: goes for the fruit with the most points per turn, one target at a time."""

from collections.abc import Iterable, Mapping
from typing import Any

from referee.games.aiarena21 import BIKE, BIKE_COST, BIKE_STEPS, BIKE_TURNS, Cell, Ground, Situation
from referee.games.contract import Player
from referee.games.dice import Dice
from referee.harness.opponents._follow import Turn, follow
from referee.harness.opponents._serve import Start, serve


def answer(turn: Turn, player: Player, dice: Dice) -> Any:
    """Answers each method with its own function."""
    functions = {"play_powerup": power_up, "play_turn": move, "play_auction": bid, "play_transport": transport}
    return functions[turn.method.name](turn.ground, turn.situation)


def power_up(ground: Ground, shown: Situation) -> str:
    """Buys a bike if it gains more points than it costs."""
    location, worth = _cell(ground, shown.me.location), _worth(ground, shown.items)
    if shown.me.bike or shown.me.score < BIKE_COST or not worth:
        return ""
    steps = walks(ground, [location])
    on_foot, riding = [max(rates(worth, steps, speed).values(), default=0.0) for speed in (1, BIKE_STEPS)]
    turns = min(BIKE_TURNS, shown.remaining_turns)
    return BIKE if (riding - on_foot) * turns > BIKE_COST else ""


def move(ground: Ground, shown: Situation) -> str:
    """Moves towards the fruit with the most points per turn; without fruit, towards the most likely place for one."""
    location, speed = _cell(ground, shown.me.location), BIKE_STEPS if shown.me.bike else 1
    steps = walks(ground, [location])
    worth = _worth(ground, shown.items)
    if not worth.keys() & steps.keys():
        worth = _worth(ground, shown.heatmap)
    gains = rates(worth, steps, speed)
    if not gains:
        return _named(ground, location)
    target = max(gains, key=lambda cell: (gains[cell], -steps[cell], -cell))
    while steps[target] > speed:
        target = next(cell for cell in ground.neighbours[target] if steps[cell] == steps[target] - 1)
    return _named(ground, target)


def bid(ground: Ground, shown: Situation) -> int:
    """Bids one more than the worth of this cell: winning costs half of both bids, losing costs the cell."""
    row, col = shown.me.location
    return min(shown.me.score, shown.items[row][col] + 1)


def transport(ground: Ground, shown: Situation) -> str:
    """Returns the free cell that is farthest from any fruit, best without a path to fruit.

    It is never the own cell, because another auction would follow.
    """
    location, steps = _cell(ground, shown.me.location), walks(ground, _worth(ground, shown.items))
    elsewhere = [cell for cell in ground.free if cell != location]
    return _named(ground, max(elsewhere, key=lambda cell: (steps.get(cell, len(ground.free)), -cell)))


def walks(ground: Ground, starts: Iterable[Cell]) -> dict[Cell, int]:
    """Returns the steps from each cell to the nearest of `starts`; cells without a path are left out."""
    edge = list(starts)
    steps = dict.fromkeys(edge, 0)
    for cell in edge:
        for neighbour in ground.neighbours[cell]:
            if neighbour not in steps:
                steps[neighbour] = steps[cell] + 1
                edge.append(neighbour)
    return steps


def rates(worth: Mapping[Cell, float], steps: Mapping[Cell, int], speed: int) -> dict[Cell, float]:
    """Returns the points per turn of each reachable cell, including the way there; `speed` is in steps per turn."""
    return {cell: value / max(1, -(-steps[cell] // speed)) for cell, value in worth.items() if cell in steps}


def _worth(ground: Ground, rows: Iterable[Iterable[float]]) -> dict[Cell, float]:
    """Returns the worth of the cells that are worth something, in row-major order."""
    values = [value for row in rows for value in row]
    return {cell: values[cell] for cell in ground.free if values[cell]}


def _cell(ground: Ground, location: tuple[int, int]) -> Cell:
    return location[0] * ground.cols + location[1]


def _named(ground: Ground, cell: Cell) -> str:
    row, col = ground.location[cell]
    return f"{row},{col}"


GAMES: dict[str, Start] = {"aiarena21": follow(answer)}


if __name__ == "__main__":
    serve("greedy", GAMES)
