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
    r"(?P<board>[1-8/pnbrqkPNBRQK]+) [wb] (?P<castling>-|(?=[KQkq])K?Q?k?q?) (-|[a-h][36]) \d{1,3} \d{1,4}", re.ASCII
)
CASTLING = {"K": ("K", 7, 4, 7), "Q": ("K", 7, 4, 0), "k": ("k", 0, 4, 7), "q": ("k", 0, 4, 0)}
"""By its letter: the king, the row from the top, and the columns of king and rook."""


def first_state(game: Any, fen: str = "", moves: Sequence[int] = ()) -> Any:
    """Returns OpenSpiel's state after these moves from this position. ValueError if they lead to none."""
    if fen:
        check_fen(fen)
        if game.get_parameters().get("chess960"):
            raise ValueError("fen cannot be combined with chess960, which draws the first position")
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


def check_fen(fen: str) -> None:
    """Raises ValueError for a text that is no position of chess. OpenSpiel crashes with some of these."""
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
    for letter in match["castling"].strip("-"):
        king, row, of_king, of_rook = CASTLING[letter]
        rook = "R" if king.isupper() else "r"
        if (rows[row][of_king], rows[row][of_rook]) != (king, rook):
            raise ValueError(f"fen {shown}: castling {letter} needs king and rook on their first squares")
