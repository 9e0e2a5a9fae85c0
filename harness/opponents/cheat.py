"""The Arena's cheats, each of which breaks the rules once, so that its rival must flip the table.

Sources: tictactoe.md, quoridor.md and connectfour.md, B2.
Most cheats give an illegal answer. Some act out of turn, before the first move or twice in a row. They also have the
method `inject`, which the referee calls before every turn until it returns an answer. The argument of the program is
the name of the case.
"""

import sys
from collections.abc import Callable
from typing import Any

from referee.games.arena import FLIP
from referee.games.connectfour import ConnectFour
from referee.games.contract import Player
from referee.games.dice import Dice
from referee.games.quoridor import WALLS, Quoridor
from referee.games.tictactoe import CELLS, SYMBOLS, TicTacToe
from referee.harness.opponents._follow import Choose, Inject, follow
from referee.harness.opponents._quoridor import best
from referee.harness.opponents._serve import Start, serve

Answer = dict[str, Any]


def always(answer: Answer) -> Choose:
    """Gives the same answer at every turn."""
    return lambda position, player, dice: answer


def at_once(answer: Answer) -> Inject:
    """Injects the answer before the first move."""
    return lambda position, player: [answer]


def _answers(action: str, member: str = "position") -> Callable[[str], Answer]:
    return lambda place: {"action": action, member: place}


put, step, wall, drop = _answers("putSymbol"), _answers("move"), _answers("putWall"), _answers("putToken", "column")

# Tic-tac-toe. Some cheats begin with an honest NW.


def first_occupied_cell(position: TicTacToe, player: Player, dice: Dice) -> Answer:
    """Plays in the first occupied cell from NW to SE."""
    return put(next(cell for cell, symbol in zip(CELLS, position.board, strict=True) if symbol != "."))


def two_cells(position: TicTacToe, player: Player) -> list[Answer]:
    """Injects two moves at its second turn: the second empty cell of N, W, E, S, SE, then the first."""
    if player not in position.awaited or SYMBOLS[player] not in position.board:
        return []
    first, second, *_ = (cell for cell in ("N", "W", "E", "S", "SE") if position.board[CELLS.index(cell)] == ".")
    return [put(second), put(first)]


# Quoridor.


def script(*answers: Answer) -> Choose:
    """Gives these answers in order. The number of the turn is half the number of plies, for both seats."""
    return lambda position, player, dice: answers[position.plies // 2]


def two_steps(position: Quoridor, player: Player) -> list[Answer]:
    """Injects two moves at its first turn."""
    return [step("e8"), step("e7")] if player in position.awaited else []


def shut_in(position: Quoridor, player: Player, dice: Dice) -> Answer:
    """Puts a wall that cuts a pawn off from its goal; until there is one, it plays to win and prefers walls."""
    if position.walls_left[player]:
        for candidate in WALLS:
            if candidate.bit & position.free and position.shuts_in(candidate):
                return wall(candidate.name)
    return best(position, player, dice, walls_first=True)


def any_wall(position: Quoridor, player: Player, dice: Dice) -> Answer:
    """Puts a random wall, even if it has none left: the eleventh wall is the cheat."""
    return wall(dice.choice(list(position.placeable()) or list(WALLS)).name)


# Connect Four.


def two_tokens(position: ConnectFour, player: Player) -> list[Answer]:
    """Injects two tokens at its second turn."""
    return [drop("D"), drop("D")] if player in position.awaited and position.tokens[player] else []


CHEATS: dict[str, dict[str, Start]] = {
    "tictactoe": {
        "C_AI_OUT_OF_BOUND": follow(always(put(""))),
        "C_AI_DUP": follow(first_occupied_cell),
        "C_AI_X_FIRST": follow(always(put("NW")), at_once(put("NW"))),
        "C_AI_TWICE_A_ROW": follow(always(put("NW")), two_cells),
        "C_AI_FLIP_TABLE_RANDOMLY": follow(always({"action": FLIP})),
    },
    "quoridor": {
        "C_AI_TELEPORT": follow(script(step("e5"))),
        "C_AI_SECOND_FIRST": follow(script(step("e8")), at_once(step("e8"))),
        "C_AI_TWICE_A_ROW": follow(script(step("e8")), two_steps),
        "C_AI_WALL_OUTSIDE": follow(script(wall("i4h"))),
        "C_AI_PAWN_OUTSIDE": follow(script(step("e10"))),
        "C_AI_WALL_CROSS": follow(script(wall("e4h"), wall("e4v"))),
        "C_AI_WALL_BLOCKING": follow(shut_in),
        "C_AI_WALK_THROUGH_WALL": follow(script(wall("e1h"), step("e2"))),
        "C_AI_PUT_11_WALLS": follow(any_wall),
    },
    "connectfour": {
        "C_AI_OUT_OF_BOUND": follow(always(drop("H"))),
        "C_AI_OVERFLOW": follow(always(drop("D"))),
        "C_AI_Y_FIRST": follow(always(drop("D")), at_once(drop("D"))),
        "C_AI_TWICE_A_ROW": follow(always(drop("D")), two_tokens),
        "C_AI_FLIP_TABLE_RANDOMLY": follow(always({"action": FLIP})),
        "C_AI_NIL": follow(always({"action": "putToken"})),
        "C_AI_SURPRISE": follow(always({"action": "SUPRISE! 😁"})),
    },
}
"""The cheats by game and case."""


if __name__ == "__main__":
    case = sys.argv[1]
    serve(case, {game: cheats[case] for game, cheats in CHEATS.items() if case in cheats})
