"""The search of `@advanced` at Quoridor (quoridor.md B2), two plies deep.

A position is worth the rival's shortest path minus the own one, in steps. Paths ignore pawns, as in the path rule; the
original counts the rival's pawn. A wall that crosses neither shortest path therefore changes nothing, which makes the
search cheap.
"""

from typing import Any

from referee.games.contract import Player
from referee.games.dice import Dice
from referee.games.quoridor import GOALS, SQUARES, WALLS, Quoridor, Wall, replaced

WON = 1000
WALL_BY_BIT = {wall.bit: wall for wall in WALLS}


def best(position: Quoridor, player: Player, dice: Dice, walls_first: bool = False) -> dict[str, Any]:
    """Returns the answer with the best value after the rival's best reply, the first of several.

    The moves of the pawn come before the walls, unless `walls_first`. The walls are in random order.
    """
    pawn = []
    for square in position.targets(player):
        answer = {"action": "move", "position": SQUARES[square]}
        if GOALS[player] >> square & 1:
            return answer
        after = position.copy()
        after.pawns = replaced(after.pawns, player, square)
        pawn.append((answer, after))
    walls = []
    for wall in _placeable(position, player, dice):
        after = position.copy()
        after.walls_left = replaced(after.walls_left, player, after.walls_left[player] - 1)
        after.put(wall)
        walls.append(({"action": "putWall", "position": wall.name}, after))
    chosen, most = pawn[0][0], -2 * WON
    for answer, after in walls + pawn if walls_first else pawn + walls:
        value = -reply(after, 1 - player, enough=-most)
        if value > most:
            chosen, most = answer, value
    return chosen


def reply(position: Quoridor, player: Player, enough: int) -> int:
    """Returns the best value for `player`, who is to move, after one answer; any value of `enough` or more will do."""
    up, right = position.up, position.right
    own_square, rival_square = position.pawns[player], position.pawns[1 - player]
    own_goal, rival_goal = GOALS[player], GOALS[1 - player]
    rival_way, in_rivals_way = way(rival_square, rival_goal, up, right)
    value = -WON
    for square in position.targets(player):
        if own_goal >> square & 1:
            return WON
        value = max(value, rival_way - distance(square, own_goal, up, right))
    if value >= enough or not position.walls_left[player]:
        return value
    own_way, in_own_way = way(own_square, own_goal, up, right)
    value = max(value, rival_way - own_way)  # a wall that blocks no shortest path
    left = position.free & in_rivals_way
    while left and value < enough:
        bit = left & -left
        left ^= bit
        wall = WALL_BY_BIT[bit]
        longer = distance(rival_square, rival_goal, up & wall.up, right & wall.right)
        own = distance(own_square, own_goal, up & wall.up, right & wall.right) if bit & in_own_way else own_way
        if longer != NO_WAY != own:
            value = max(value, longer - own)
    return value


# Paths. `up` and `right` are the open steps, as in `Quoridor`.

NO_WAY = 81


def distance(square: int, goal: int, up: int, right: int) -> int:
    """Returns the number of steps from `square` to the nearest `goal` square; NO_WAY if there is no path."""
    steps, seen = 0, 1 << square
    while not seen & goal:
        before = seen
        seen |= (seen & up) << 9 | (seen & right) << 1 | seen >> 1 & right | seen >> 9 & up
        if seen == before:
            return NO_WAY
        steps += 1
    return steps


def way(square: int, goal: int, up: int, right: int) -> tuple[int, int]:
    """Returns the same and the walls, as bits of `Quoridor.free`, that cross one of the shortest paths.

    There must be a path.
    """
    layers = [1 << square]
    while not (seen := layers[-1]) & goal:
        layers.append(seen | (seen & up) << 9 | (seen & right) << 1 | seen >> 1 & right | seen >> 9 & up)
    ups = rights = 0
    here = layers.pop() & goal
    here &= -here
    for near in reversed(layers):
        if here >> 9 & up & near:
            here >>= 9
            ups |= here
        elif (here & up) << 9 & near:
            ups |= here
            here <<= 9
        elif here >> 1 & right & near:
            here >>= 1
            rights |= here
        else:
            rights |= here
            here <<= 1
    return len(layers), ups | ups >> 1 | (rights | rights >> 9) << 81


def _placeable(position: Quoridor, player: Player, dice: Dice) -> list[Wall]:
    """Returns the walls that may be placed, in random order."""
    if not position.walls_left[player]:
        return []
    in_the_way = 0
    for seat in (0, 1):
        in_the_way |= way(position.pawns[seat], GOALS[seat], position.up, position.right)[1]
    free = [wall for wall in WALLS if wall.bit & position.free]
    walls = [wall for wall in free if not (wall.bit & in_the_way and position.shuts_in(wall))]
    dice.shuffle(walls)
    return walls
