"""Walks to the fruit that brings most points a turn, the way included; between equals, and where no fruit lies, to the
heat of what comes next. Buys a bike when it collects more than it costs, and bids what lies on the cell."""

from collections.abc import Sequence

from referee_kit.aiarena21 import (
    BIKE,
    BIKE_COST,
    BIKE_STEPS,
    BIKE_TURNS,
    AIArena21Bot,
    Item,
    Location,
    Map,
    Player,
    PowerUp,
    run,
)
from referee_kit.grid import FAR, Grid, name, speed


class Picker(AIArena21Bot):
    def __init__(self) -> None:
        self.grid: Grid | None = None

    def play_powerup(
        self,
        game_map: Map,
        me: Player,
        opponent: Player,
        items: list[list[int]],
        new_items: list[list[list[Item]]],
        heatmap: list[list[float]],
        remaining_turns: int,
    ) -> PowerUp:
        if me.bike or me.score < BIKE_COST:
            return ""
        plan = Plan(self.walkable(game_map), items, heatmap)
        turns = min(BIKE_TURNS, remaining_turns)
        gain = plan.harvest(me.location, turns, BIKE_STEPS) - plan.harvest(me.location, turns, 1)
        return BIKE if gain > BIKE_COST else ""

    def play_turn(
        self,
        game_map: Map,
        me: Player,
        opponent: Player,
        items: list[list[int]],
        new_items: list[list[list[Item]]],
        heatmap: list[list[float]],
        remaining_turns: int,
    ) -> str:
        grid = self.walkable(game_map)
        target = Plan(grid, items, heatmap).target(me.location, speed(me))
        if target is None:
            target = Plan(grid, heatmap, heatmap).target(me.location, speed(me)) or me.location
        path = grid.path(me.location, target)
        return name(path[min(speed(me), len(path) - 1)])

    def play_auction(
        self,
        game_map: Map,
        me: Player,
        opponent: Player,
        items: list[list[int]],
        new_items: list[list[list[Item]]],
        heatmap: list[list[float]],
        remaining_turns: int,
    ) -> int:
        """What lies here, and one more for the place: the winner pays half of both bids."""
        row, col = me.location
        return min(me.score, items[row][col] + 1)

    def play_transport(
        self,
        game_map: Map,
        me: Player,
        opponent: Player,
        items: list[list[int]],
        new_items: list[list[list[Item]]],
        heatmap: list[list[float]],
        remaining_turns: int,
    ) -> str:
        """The cell that is the longest walk from any fruit; where none lies, from us."""
        grid = self.walkable(game_map)
        fruit = [(row, col) for row, col in grid.free if items[row][col]]
        steps = grid.distances(fruit or [me.location])
        return name(max(grid.free, key=lambda cell: steps[cell[0]][cell[1]]))

    def walkable(self, game_map: Map) -> Grid:
        if self.grid is None:
            self.grid = Grid(game_map)
        return self.grid


class Plan:
    """Where to go on a board on which `worth` lies: a table of points, or of heat."""

    def __init__(self, grid: Grid, worth: Sequence[Sequence[float]], heat: list[list[float]]) -> None:
        self.grid = grid
        self.worth = [list(row) for row in worth]
        self.heat = heat

    def target(self, start: Location, steps_a_turn: int) -> Location | None:
        """The cell that brings most a turn; then the hotter, the nearer, the first one. None: nothing is in reach."""
        steps = self.grid.distances([start])
        best, best_key = None, (0.0, 0.0, 0)
        for row, col in self.grid.free:
            if self.worth[row][col] and steps[row][col] < FAR:
                rate = self.worth[row][col] / turns_for(steps[row][col], steps_a_turn)
                key = (rate, self.heat[row][col], -steps[row][col])
                if best is None or key > best_key:
                    best, best_key = (row, col), key
        return best

    def harvest(self, start: Location, turns: int, steps_a_turn: int) -> float:
        """What going from target to target brings in so many turns; of one that is too far, the part of the way."""
        worth, brought = self.worth, 0.0
        self.worth = [list(row) for row in worth]
        while turns > 0:
            target = self.target(start, steps_a_turn)
            if target is None:
                break
            needed = turns_for(self.grid.distances([start])[target[0]][target[1]], steps_a_turn)
            brought += self.worth[target[0]][target[1]] * min(turns, needed) / needed
            self.worth[target[0]][target[1]] = 0
            start, turns = target, turns - needed
        self.worth = worth
        return brought


def turns_for(steps: int, steps_a_turn: int) -> int:
    """How long the way takes; to stay takes a turn too."""
    return max(1, (steps + steps_a_turn - 1) // steps_a_turn)


if __name__ == "__main__":
    run(Picker)
