"""`@baseline`: the Arena's simple opponent (tictactoe.md and quoridor.md, B2)."""

from typing import Any

from games.api import Player
from games.dice import Dice
from games.quoridor import Quoridor
from games.tictactoe import TicTacToe
from harness.opponents._follow import follow
from harness.opponents._serve import Start, serve


def first_empty_cell(position: TicTacToe, player: Player, dice: Dice) -> Any:
    """Tic-tac-toe: the first empty cell in the order NW N NE W C E SW S SE."""
    return next(position.legal(player))


def any_answer(position: Quoridor, player: Player, dice: Dice) -> Any:
    """Quoridor: any legal answer, each as likely, so that it is nearly always a wall while walls last."""
    return position.sample(player, dice)


GAMES: dict[str, Start] = {
    "quoridor": lambda match: follow(match, Quoridor, any_answer),
    "tictactoe": lambda match: follow(match, TicTacToe, first_empty_cell),
}


if __name__ == "__main__":
    serve("baseline", GAMES)
