"""`@baseline`: the Arena's simple opponent (tictactoe.md, quoridor.md and connectfour.md, B2)."""

from typing import Any

from referee.games.connectfour import ConnectFour
from referee.games.contract import Player
from referee.games.dice import Dice
from referee.games.quoridor import Quoridor
from referee.games.tictactoe import TicTacToe
from referee.harness.opponents._follow import follow
from referee.harness.opponents._serve import Start, serve


def first_empty_cell(position: TicTacToe, player: Player, dice: Dice) -> Any:
    """Tic-tac-toe: the first empty cell in the order NW N NE W C E SW S SE."""
    return next(position.legal(player))


def first_free_column(position: ConnectFour, player: Player, dice: Dice) -> Any:
    """Connect Four: the first column from the left that is not full."""
    return next(position.legal(player))


def any_answer(position: Quoridor, player: Player, dice: Dice) -> Any:
    """Quoridor: any legal answer, each as likely, so that it is nearly always a wall while walls last."""
    return position.sample(player, dice)


GAMES: dict[str, Start] = {
    "connectfour": lambda match: follow(match, ConnectFour, first_free_column),
    "quoridor": lambda match: follow(match, Quoridor, any_answer),
    "tictactoe": lambda match: follow(match, TicTacToe, first_empty_cell),
}


if __name__ == "__main__":
    serve("baseline", GAMES)
