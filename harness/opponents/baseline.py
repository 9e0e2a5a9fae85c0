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
    """Tic-tac-toe: takes the first empty cell in the order NW N NE W C E SW S SE."""
    return next(position.legal(player))


def first_free_column(position: ConnectFour, player: Player, dice: Dice) -> Any:
    """Connect Four: takes the first column from the left that is not full."""
    return next(position.legal(player))


def any_answer(position: Quoridor, player: Player, dice: Dice) -> Any:
    """Quoridor: draws a legal answer. All are equally likely, so it is nearly always a wall while there are walls."""
    return position.sample(player, dice)


GAMES: dict[str, Start] = {
    "connectfour": follow(first_free_column),
    "quoridor": follow(any_answer),
    "tictactoe": follow(first_empty_cell),
}


if __name__ == "__main__":
    serve("baseline", GAMES)
