"""A map of AI Arena 21 to walk on: free cells, distances, paths, and where a player may go.

A table is a list of rows: `table[row][col]`, as `items` and `heatmap` are. A cell is (row, col).
"""

from referee_kit.aiarena21 import BIKE_STEPS, BLOCK_CHAR, Location, Map, Player

FAR = 1_000_000
"""The distance of a cell to which no path leads."""


class Grid:
    """Made from the `game_map` of any call: it is the same throughout a match."""

    def __init__(self, game_map: Map) -> None:
        self.rows = game_map.rows
        self.cols = game_map.cols
        self._is_free = [[sign != BLOCK_CHAR for sign in line] for line in game_map.cells]
        self.free = [(row, col) for row in range(self.rows) for col in range(self.cols) if self._is_free[row][col]]
        """All free cells, row by row."""
        self._neighbours = {cell: self._beside(cell) for cell in self.free}

    def is_free(self, cell: Location) -> bool:
        """False off the map, too."""
        row, col = cell
        return 0 <= row < self.rows and 0 <= col < self.cols and self._is_free[row][col]

    def neighbours(self, cell: Location) -> list[Location]:
        """The free cells above, to the left, to the right and below."""
        return self._neighbours[cell] if cell in self._neighbours else self._beside(cell)

    def distances(self, starts: list[Location]) -> list[list[int]]:
        """A table: how many steps each cell is from the nearest of `starts`, or FAR. A start that is not free counts
        for nothing."""
        table = [[FAR] * self.cols for _ in range(self.rows)]
        queue = [start for start in starts if self.is_free(start)]
        for row, col in queue:
            table[row][col] = 0
        for cell in queue:
            steps = table[cell[0]][cell[1]] + 1
            for beside in self._neighbours[cell]:
                if table[beside[0]][beside[1]] == FAR:
                    table[beside[0]][beside[1]] = steps
                    queue.append(beside)
        return table

    def path(self, start: Location, target: Location) -> list[Location]:
        """A shortest path, both ends included; empty if there is none."""
        steps = self.distances([start])
        if not self.is_free(target) or steps[target[0]][target[1]] == FAR:
            return []
        path = [target]
        while path[-1] != start:
            row, col = path[-1]
            path.append(next(cell for cell in self._neighbours[path[-1]] if steps[cell[0]][cell[1]] < steps[row][col]))
        return path[::-1]

    def reach(self, player: Player) -> list[Location]:
        """Where `play_turn` may go, row by row; to stay is allowed."""
        if player.portal_gun:
            return self.free
        steps = self.distances([player.location])
        return [cell for cell in self.free if steps[cell[0]][cell[1]] <= speed(player)]

    def _beside(self, cell: Location) -> list[Location]:
        row, col = cell
        return [cell for cell in ((row - 1, col), (row, col - 1), (row, col + 1), (row + 1, col)) if self.is_free(cell)]


def speed(player: Player) -> int:
    """How many steps it may take in a turn."""
    return BIKE_STEPS if player.bike else 1


def name(cell: Location) -> str:
    """The cell as an answer: "row,col"."""
    return f"{cell[0]},{cell[1]}"
