"""The Arena's cheats (tictactoe.md, quoridor.md and connectfour.md, B2): each breaks the rules once, and the rival must
flip the table.

Most cheat with an answer like any other. Some act out of turn, before anybody has moved or twice in a row: such a cheat
also has the function `inject`, which the referee calls before every turn until it gives something. The program is
started with the case's name as its argument.
"""

import sys
from typing import Any

from referee.games.arena import FLIP, Battle
from referee.games.connectfour import ConnectFour
from referee.games.contract import Player
from referee.games.dice import Dice
from referee.games.quoridor import WALLS, Quoridor
from referee.games.tictactoe import CELLS, SYMBOLS, TicTacToe
from referee.harness.opponents._follow import Choose, Inject, Position, follow
from referee.harness.opponents._quoridor import best
from referee.harness.opponents._serve import Start, serve


def start(kind: type[Position], choose: Choose[Position], inject: Inject[Position] | None = None) -> Start:
    """A case: how it plays when it is asked, and what it does unasked."""
    return lambda match: follow(match, kind, choose, inject)


def put(cell: str) -> dict[str, Any]:
    """The answer that puts a symbol into `cell`, whatever that is."""
    return {"action": "putSymbol", "position": cell}


# Tic-tac-toe.


def no_cell(position: TicTacToe, player: Player, dice: Dice) -> Any:
    """Plays outside of the board."""
    return put("")


def first_occupied_cell(position: TicTacToe, player: Player, dice: Dice) -> Any:
    """Plays where a symbol is already, from NW to SE."""
    return put(next(cell for cell, symbol in zip(CELLS, position.board, strict=True) if symbol != "."))


def causeless_flip(position: Battle, player: Player, dice: Dice) -> Any:
    """Flips the table although the rival's move was legal."""
    return {"action": FLIP}


def north_west(position: TicTacToe, player: Player, dice: Dice) -> Any:
    """Plays NW, the first move of a cheat that begins honestly."""
    return put("NW")


def north_west_before_all(position: TicTacToe, player: Player) -> list[dict[str, Any]]:
    """Plays NW before O has moved."""
    return [put("NW")]


def two_cells(position: TicTacToe, player: Player) -> list[dict[str, Any]]:
    """At its second turn two moves: of the list N, W, E, S, SE the second empty cell, then the first."""
    if player not in position.awaited or SYMBOLS[player] not in position.board:
        return []
    first, second, *_ = (cell for cell in ("N", "W", "E", "S", "SE") if position.board[CELLS.index(cell)] == ".")
    return [put(second), put(first)]


# Quoridor. A script is what a cheat answers at its first turn, its second, and so on.


def step(square: str) -> dict[str, Any]:
    """The answer that moves the pawn to `square`, wherever that is."""
    return {"action": "move", "position": square}


def wall(name: str) -> dict[str, Any]:
    """The answer that puts a wall, wherever that is."""
    return {"action": "putWall", "position": name}


def script(*answers: dict[str, Any]) -> Choose[Quoridor]:
    """Answers by heart. Both seats have the same number of own turns behind them: half of the plies."""
    return lambda position, player, dice: answers[position.plies // 2]


def e8_before_all(position: Quoridor, player: Player) -> list[dict[str, Any]]:
    """Moves to e8 before first has moved."""
    return [step("e8")]


def two_steps(position: Quoridor, player: Player) -> list[dict[str, Any]]:
    """At its first turn two moves."""
    return [step("e8"), step("e7")] if player in position.awaited else []


def shut_in(position: Quoridor, player: Player, dice: Dice) -> Any:
    """Looks for a wall that shuts a pawn off from its goal; until there is one it plays to win, walls before moves."""
    if position.walls_left[player]:
        for candidate in WALLS:
            if candidate.bit & position.free and position.shuts_in(candidate):
                return wall(candidate.name)
    return best(position, player, dice, walls_first=True)


def any_wall(position: Quoridor, player: Player, dice: Dice) -> Any:
    """A random wall that fits, also when there is none left: the eleventh is the cheat."""
    return wall(dice.choice(list(position.placeable()) or list(WALLS)).name)


# Connect Four.


def drop(column: str) -> dict[str, Any]:
    """The answer that drops a token into `column`, whatever that is."""
    return {"action": "putToken", "column": column}


def always(answer: dict[str, Any]) -> Choose[ConnectFour]:
    """The same answer at every turn."""
    return lambda position, player, dice: answer


def d_before_all(position: ConnectFour, player: Player) -> list[dict[str, Any]]:
    """Drops into D before red has moved."""
    return [drop("D")]


def two_tokens(position: ConnectFour, player: Player) -> list[dict[str, Any]]:
    """At its second turn two tokens."""
    return [drop("D"), drop("D")] if player in position.awaited and position.tokens[player] else []


CHEATS: dict[str, dict[str, Start]] = {
    "tictactoe": {
        "C_AI_OUT_OF_BOUND": start(TicTacToe, no_cell),
        "C_AI_DUP": start(TicTacToe, first_occupied_cell),
        "C_AI_X_FIRST": start(TicTacToe, north_west, north_west_before_all),
        "C_AI_TWICE_A_ROW": start(TicTacToe, north_west, two_cells),
        "C_AI_FLIP_TABLE_RANDOMLY": start(TicTacToe, causeless_flip),
    },
    "quoridor": {
        "C_AI_TELEPORT": start(Quoridor, script(step("e5"))),
        "C_AI_SECOND_FIRST": start(Quoridor, script(step("e8")), e8_before_all),
        "C_AI_TWICE_A_ROW": start(Quoridor, script(step("e8")), two_steps),
        "C_AI_WALL_OUTSIDE": start(Quoridor, script(wall("i4h"))),
        "C_AI_PAWN_OUTSIDE": start(Quoridor, script(step("e10"))),
        "C_AI_WALL_CROSS": start(Quoridor, script(wall("e4h"), wall("e4v"))),
        "C_AI_WALL_BLOCKING": start(Quoridor, shut_in),
        "C_AI_WALK_THROUGH_WALL": start(Quoridor, script(wall("e1h"), step("e2"))),
        "C_AI_PUT_11_WALLS": start(Quoridor, any_wall),
    },
    "connectfour": {
        "C_AI_OUT_OF_BOUND": start(ConnectFour, always(drop("H"))),
        "C_AI_OVERFLOW": start(ConnectFour, always(drop("D"))),
        "C_AI_Y_FIRST": start(ConnectFour, always(drop("D")), d_before_all),
        "C_AI_TWICE_A_ROW": start(ConnectFour, always(drop("D")), two_tokens),
        "C_AI_FLIP_TABLE_RANDOMLY": start(ConnectFour, causeless_flip),
        "C_AI_NIL": start(ConnectFour, always({"action": "putToken"})),
        "C_AI_SURPRISE": start(ConnectFour, always({"action": "SUPRISE! 😁"})),
    },
}
"""By game and case."""


if __name__ == "__main__":
    case = sys.argv[1]
    serve(case, {game: cheats[case] for game, cheats in CHEATS.items() if case in cheats})
