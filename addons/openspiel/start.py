"""The first position of a match, where it is another than OpenSpiel's: a position as text, and moves from there."""

from collections.abc import Sequence
from typing import Any

from referee.addons.openspiel.fen import check_fen

CHESS = "chess"
FEN_OPTION, MOVES_OPTION = "fen", "moves"
TENSOR_OPTION = "observation"
MOST_MOVES = 1000


def first_state(game: Any, fen: str = "", moves: Sequence[int] = ()) -> Any:
    """Returns OpenSpiel's state after these moves from this position. ValueError if they lead to none."""
    if fen:
        check_fen(fen, bool(game.get_parameters().get("chess960")))
    state = game.new_initial_state(fen) if fen else game.new_initial_state()
    if state.is_terminal():
        raise ValueError(f"fen: in {fen} the match is over: nobody can move, or it is drawn")
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
