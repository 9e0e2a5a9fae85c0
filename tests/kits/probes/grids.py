"""Answers each position with the results of the kit's functions for AI Arena 21.

Paths lead from the player to its opponent; distances are those from both.
"""

from referee_kit.aiarena21 import AIArena21Bot, run
from referee_kit.grid import Grid, name


class Grids(AIArena21Bot):
    def play_turn(self, game_map, me, opponent, items, new_items, heatmap, remaining_turns):
        grid, here, there = Grid(game_map), me.location, opponent.location
        says = [
            flag(grid.is_free(here)) + flag(grid.is_free(there)),
            listed(grid.free),
            listed(grid.neighbours(here)),
            "/".join(" ".join(map(str, row)) for row in grid.distances([here, there, here])),
            listed(grid.path(here, there)),
            listed(grid.reach(me)),
        ]
        return ";".join(says)


def flag(value):
    return "yes " if value else "no "


def listed(cells):
    return " ".join(map(name, cells))


if __name__ == "__main__":
    run(Grids)
