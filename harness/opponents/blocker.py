"""`@blocker`: looks one move ahead. It wins if it can, blocks the rival's win, and else plays at random."""

from typing import Any

from referee.games.connectfour import ConnectFour
from referee.games.contract import Player
from referee.games.dice import Dice
from referee.games.tictactoe import CELLS, LINES, SYMBOLS, TicTacToe
from referee.harness.opponents._connectfour import Search
from referee.harness.opponents._follow import follow
from referee.harness.opponents._serve import Start, serve


def cell(position: TicTacToe, player: Player, dice: Dice) -> Any:
    """Tic-tac-toe: completes a line of its own, else one of the rival's, else takes a random cell."""
    for symbol in (SYMBOLS[player], SYMBOLS[1 - player]):
        for line in LINES:
            drawn = [position.board[index] for index in line]
            if drawn.count(symbol) == 2 and "." in drawn:
                return {"action": "putSymbol", "position": CELLS[line[drawn.index(".")]]}
    return position.sample(player, dice)


def column(position: ConnectFour, player: Player, dice: Dice) -> Any:
    """Connect Four: the same, but a random column only if the rival cannot win on top of the token, if there is one."""
    search, board = Search(position.board), position.board
    own, rival = position.tokens[player], position.tokens[1 - player]
    answers = list(position.legal(player))
    cells = [board.landing(own | rival, board.names.index(answer["column"])) for answer in answers]
    for tokens in (own, rival):
        for answer, landing in zip(answers, cells, strict=True):
            if landing & search.completing(tokens, own | rival):
                return answer
    lost = search.completing(rival, own | rival)
    safe = [answer for answer, landing in zip(answers, cells, strict=True) if not landing << 1 & lost]
    return dice.choice(safe or answers)


GAMES: dict[str, Start] = {"connectfour": follow(column), "tictactoe": follow(cell)}


if __name__ == "__main__":
    serve("blocker", GAMES)
