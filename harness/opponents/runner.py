"""`@runner`: takes the shortest path to its goal at Quoridor, and never puts a wall."""

from typing import Any

from referee.games.contract import Player
from referee.games.dice import Dice
from referee.games.quoridor import GOALS, SQUARES, Quoridor
from referee.harness.opponents._follow import follow
from referee.harness.opponents._quoridor import distance
from referee.harness.opponents._serve import Start, serve


def run(position: Quoridor, player: Player, dice: Dice) -> Any:
    """Moves to the square with the shortest path, the first of several; a wall only if the pawn cannot move."""
    steps = {
        square: distance(square, GOALS[player], position.up, position.right) for square in position.targets(player)
    }
    if not steps:
        return next(position.legal(player))
    return {"action": "move", "position": SQUARES[min(steps, key=steps.__getitem__)]}


GAMES: dict[str, Start] = {"quoridor": follow(run)}


if __name__ == "__main__":
    serve("runner", GAMES)
