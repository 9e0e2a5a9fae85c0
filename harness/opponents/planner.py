"""`@planner`: searches for the way that collects most in the next turns, and bids for a place that suits it."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from referee.games.aiarena21 import BIKE, BIKE_COST, BIKE_STEPS, BIKE_TURNS, Cell, Ground, Situation
from referee.games.aiarena21.types import DEPLOYMENT_TURNS, ONION
from referee.games.contract import Player
from referee.games.dice import Dice
from referee.harness.opponents._follow import Turn, follow
from referee.harness.opponents._serve import Start, serve
from referee.harness.opponents.greedy import transport, walks

TURNS = 14
"""The number of turns that it looks ahead."""
WAYS = 40
"""The number of ways that it follows at a time."""
PATIENCE = 0.97
"""The worth of a point one turn later."""
SHARED = 0.6
"""The worth of fruit that the rival can reach first."""
LURE = 0.9
"""The part of the worth of fruit that counts one step away from it, at the end of a way."""
LEAST = 0.1
"""The lure that is not followed further."""
PLACE = 20
"""The worth of staying while the rival is sent away, in points."""


class Way(Struct):
    """A way, by its end."""

    cell: Cell
    first: Cell
    """Where its first turn ends."""
    points: float
    taken: frozenset[Cell]


class Prospect(Struct):
    """What there is to collect."""

    ground: Ground
    now: Mapping[Cell, float]
    """The worth of the fruit on each cell."""
    later: Mapping[Cell, float]
    """The worth of the next fruit, which can be collected from turn `due` on, counted from this one."""
    due: int
    turns: int
    """The turns to look at."""
    lure: Mapping[Cell, float]

    def worth(self, cell: Cell, turn: int) -> float:
        """Returns the worth of what lies on a cell in that turn, counted from this one."""
        return self.now.get(cell, 0.0) + (self.later.get(cell, 0.0) if turn >= self.due else 0.0)

    def lure_at(self, way: Way) -> float:
        """Returns the lure of a way's end, which is spent once its fruit is taken."""
        return 0.0 if way.cell in way.taken else self.lure.get(way.cell, 0.0)


def answer(turn: Turn, player: Player, dice: Dice) -> Any:
    """Answers each method with its own function."""
    ground, shown = turn.ground, turn.situation
    here = _cell(ground, shown.me.location)
    if turn.method.name == "play_auction":
        row, col = shown.me.location
        return min(shown.me.score, shown.items[row][col] + PLACE)
    if turn.method.name == "play_transport":
        return transport(ground, shown)
    prospect = prospect_of(ground, shown, turn.options.turns - shown.remaining_turns)
    if turn.method.name == "play_turn":
        row, col = ground.location[best_way(prospect, here, BIKE_TURNS * shown.me.bike).first]
        return f"{row},{col}"
    if shown.me.bike or shown.me.score < BIKE_COST:
        return ""
    gain = best_way(prospect, here, BIKE_TURNS).points - best_way(prospect, here, 0).points
    return BIKE if gain > BIKE_COST else ""


def prospect_of(ground: Ground, shown: Situation, turn: int) -> Prospect:
    """Returns what the situation shows. Fruit that the rival is nearer to is worth less."""
    own, rival = [walks(ground, [_cell(ground, player.location)]) for player in (shown.me, shown.opponent)]
    points = [points for row in shown.items for points in row]
    far = len(points)
    now = {
        cell: points[cell] * (SHARED if rival.get(cell, far) < own.get(cell, far) else 1.0)
        for cell in ground.free
        if points[cell]
    }
    due = DEPLOYMENT_TURNS - turn % DEPLOYMENT_TURNS
    later = peaks(ground, [heat for row in shown.heatmap for heat in row]) if due < shown.remaining_turns else {}
    return Prospect(ground, now, later, due, min(TURNS, shown.remaining_turns), lure_of(ground, now, later, due))


def peaks(ground: Ground, heat: Sequence[float]) -> dict[Cell, float]:
    """Returns the cells on which the next fruit probably is: those hotter than their neighbours."""
    return {
        cell: float(int(heat[cell]))
        for cell in ground.free
        if heat[cell] >= ONION and all(heat[cell] > heat[beside] for beside in ground.neighbours[cell])
    }


def lure_of(ground: Ground, now: Mapping[Cell, float], later: Mapping[Cell, float], due: int) -> dict[Cell, float]:
    """Returns for each cell the worth of the fruit that attracts it most."""
    worth = dict(now)
    for cell, points in later.items():
        worth[cell] = max(worth.get(cell, 0.0), points * PATIENCE**due)
    levels: dict[Cell, float] = {}
    for source, points in sorted(worth.items(), key=lambda item: -item[1]):
        edge = [source]
        while edge and points > LEAST:
            reached = [cell for cell in dict.fromkeys(edge) if levels.get(cell, 0.0) < points]
            levels.update(dict.fromkeys(reached, points))
            edge = [beside for cell in reached for beside in ground.neighbours[cell]]
            points *= LURE
    return levels


def best_way(prospect: Prospect, start: Cell, bike: int) -> Way:
    """Returns the way with the most points (beam search); `bike`: the turns with a bike from now on."""
    ground = prospect.ground
    ways = [Way(start, start, 0.0, frozenset())]
    factor = 1.0
    for turn in range(prospect.turns):
        found: dict[tuple[Cell, float], Way] = {}
        for way in ways:
            reach = ground.within(way.cell, BIKE_STEPS) if turn < bike else (*ground.neighbours[way.cell], way.cell)
            for cell in reach:
                points, taken = way.points, way.taken
                if cell not in taken and (worth := prospect.worth(cell, turn)):
                    points, taken = points + worth * factor, taken | {cell}
                key = cell, points
                if key not in found:
                    found[key] = Way(cell, cell if turn == 0 else way.first, points, taken)
        ways = sorted(found.values(), key=lambda way: way.points + prospect.lure_at(way), reverse=True)[:WAYS]
        factor *= PATIENCE
    return ways[0]


def _cell(ground: Ground, location: tuple[int, int]) -> Cell:
    return location[0] * ground.cols + location[1]


GAMES: dict[str, Start] = {"aiarena21": follow(answer)}


if __name__ == "__main__":
    serve("planner", GAMES)
