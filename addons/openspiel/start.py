"""The first position of a match, where it is another than OpenSpiel's: a position as text, and moves from there."""

import re
from collections.abc import Sequence
from typing import Any

CHESS = "chess"
FEN_OPTION, MOVES_OPTION = "fen", "moves"
TENSOR_OPTION = "observation"
LONGEST_FEN = 120
MOST_MOVES = 1000
SIDE = 8
"""Squares in a row."""
FIELDS = re.compile(
    r"(?P<board>[1-8/pnbrqkPNBRQK]+) [wb] (?P<castling>-|[KQkqA-Ha-h]{1,4}) (-|[a-h][36]) \d{1,3} \d{1,4}", re.ASCII
)
FILES = "abcdefgh"


def first_state(game: Any, fen: str = "", moves: Sequence[int] = ()) -> Any:
    """Returns OpenSpiel's state after these moves from this position. ValueError if they lead to none."""
    if fen:
        check_fen(fen, bool(game.get_parameters().get("chess960")))
    state = game.new_initial_state(fen) if fen else game.new_initial_state()
    if state.is_terminal():
        raise ValueError(f"fen: in {fen} nobody can move")
    for number, action in enumerate(moves, 1):
        if state.is_chance_node() or action not in state.legal_actions():
            raise ValueError(f"moves: the action {action}, number {number}, is not legal there")
        state.apply_action(action)
        if state.is_terminal():
            raise ValueError(f"moves: the match is over after number {number}")
    return state


class Course:
    """A state of OpenSpiel that follows the actions of a match."""

    def __init__(self, game: Any, state: Any, options: Any) -> None:
        """`state`: the first of a match with these options, after their `moves`."""
        self._game, self._state, self._fen = game, state, getattr(options, FEN_OPTION, "")
        self._history: tuple[int, ...] = tuple(getattr(options, MOVES_OPTION, ()))

    def after(self, history: tuple[int, ...]) -> Any:
        """Returns the state after these actions; from the last one, if they continue it."""
        if history[: len(self._history)] != self._history:
            self._history, self._state = (), first_state(self._game, self._fen)
        rest = list(history[len(self._history) :])
        while rest:
            if self._state.is_simultaneous_node():
                players = self._game.num_players()
                self._state.apply_actions(rest[:players])
                del rest[:players]
            else:
                self._state.apply_action(rest.pop(0))
        self._history = history
        return self._state


def check_fen(fen: str, chess960: bool = False) -> None:
    """Raises ValueError for a text that is no position of chess. OpenSpiel crashes with some of these.

    In Chess960, castling is K and Q for the only rook of that side, or the letter of a rook's column.
    """
    match = FIELDS.fullmatch(fen) if len(fen) <= LONGEST_FEN else None
    shown = ascii(fen[:LONGEST_FEN])
    if match is None:
        raise ValueError(f"fen {shown}: expected six fields, such as 8/8/8/8/8/4k3/8/4K2R w K - 0 1")
    rows = [re.sub(r"\d", lambda digit: "." * int(digit[0]), row) for row in match["board"].split("/")]
    if len(rows) != SIDE or any(len(row) != SIDE for row in rows):
        raise ValueError(f"fen {shown}: expected 8 rows of 8 squares")
    if any("".join(rows).count(king) != 1 for king in "Kk"):
        raise ValueError(f"fen {shown}: expected one king of each side")
    if set(rows[0] + rows[-1]) & set("Pp"):
        raise ValueError(f"fen {shown}: a pawn cannot be on the first or the last row")
    castling = match["castling"].strip("-")
    if len({*castling}) < len(castling):
        raise ValueError(f"fen {shown}: castling has a letter twice")
    for letter in castling:
        row, king, rook = (rows[-1], "K", "R") if letter.isupper() else (rows[0], "k", "r")
        if chess960 and letter.lower() in FILES:
            may = king in row and row[FILES.index(letter.lower())] == rook
        elif chess960:
            left, _, right = row.partition(king)
            may = king in row and (right if letter in "Kk" else left).count(rook) == 1
        else:
            may = letter in "KQkq" and (row[4], row[7 if letter in "Kk" else 0]) == (king, rook)
        if not may:
            also = "" if chess960 else "; --set chess960=true plays from positions of Chess960"
            raise ValueError(f"fen {shown}: castling {letter} needs king and rook on their first squares{also}")
