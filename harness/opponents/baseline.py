"""`@baseline`: the Arena's simple opponent (tictactoe.md, quoridor.md and connectfour.md, B2)."""

from typing import Any

from referee.games.connectfour import ConnectFour
from referee.games.contract import Player
from referee.games.dice import Dice
from referee.games.quoridor import Quoridor
from referee.games.tictactoe import TicTacToe
from referee.harness.opponents._follow import follow
from referee.harness.opponents._serve import Start, serve


def first_answer(position: TicTacToe | ConnectFour, player: Player, dice: Dice) -> Any:
    """Takes the first empty cell in the order NW N NE W C E SW S SE, or the first column from the left with room."""
    return next(position.legal(player))


def any_answer(position: Quoridor, player: Player, dice: Dice) -> Any:
    """Quoridor: draws a legal answer. All are equally likely, so it is nearly always a wall while there are walls."""
    return position.sample(player, dice)


GAMES: dict[str, Start] = {
    "connectfour": follow(first_answer),
    "quoridor": follow(any_answer),
    "tictactoe": follow(first_answer),
}


if __name__ == "__main__":
    serve("baseline", GAMES)
