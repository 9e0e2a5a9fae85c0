"""The game as an engine sees it: the moves so far, and the legal ones, in the engine's notation."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyspiel

from referee.harness.opponents._serve import Refused

PREFIX = "openspiel:"

Notation = Callable[[Any, int], str]
"""Takes a state of OpenSpiel and an action; returns the move."""


class Board:
    """The position of one match, followed from call to call. Refused for a game that engines cannot play."""

    def __init__(self, game: str, options: Mapping[str, Any]) -> None:
        """`game`: such as `openspiel:chess`. `options`: those of the match; OpenSpiel's parameters among them."""
        name = game.removeprefix(PREFIX)
        kinds = {kind.short_name: kind for kind in pyspiel.registered_games()}
        if not game.startswith(PREFIX) or name not in kinds:
            raise Refused(f"engines play OpenSpiel's games, such as {PREFIX}chess, not {game}")
        self.name, self.kind = name, kinds[name]
        defaults = self.kind.parameter_specification
        given = {key: options[key] for key in defaults if key in options and options[key] != defaults[key]}
        self._game = pyspiel.load_game(name, given)
        self.parameters: Mapping[str, Any] = self._game.get_parameters()
        self._fen = str(options.get("fen", ""))
        self._check()
        self._notation = NOTATIONS.get(name, _text)
        self._follow([])

    def _check(self) -> None:
        kind, players = self.kind, self._game.num_players()
        luck = kind.chance_mode != pyspiel.GameType.ChanceMode.DETERMINISTIC and self.name != "chess"
        if kind.dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL or players != 2 or luck:
            raise Refused(f"engines play games of two players who move in turn and without luck, not {self.name}")
        if kind.information != pyspiel.GameType.Information.PERFECT_INFORMATION:
            raise Refused(f"engines play games in which nothing is hidden, not {self.name}")

    def _follow(self, history: Sequence[int]) -> None:
        """Starts again from the first position."""
        self.state = self._game.new_initial_state(self._fen) if self._fen else self._game.new_initial_state()
        self.actions: list[int] = []
        self.moves: list[str] = []
        """Since the first position with a choice."""
        self.start_fen = self._fen
        """Of chess, if its first position is another than usual."""
        self.first = self.state.current_player()
        """The player who moves first; below 0: not known yet."""
        self.advance(history)

    def advance(self, history: Sequence[int]) -> None:
        """Plays the actions that are new since the last call."""
        known = len(self.actions)
        if list(history[:known]) != self.actions:
            self._follow(history)
            return
        for action in history[known:]:
            drawn = self.state.is_chance_node()
            if not drawn:
                self.moves.append(self._notation(self.state, action))
            self.state.apply_action(action)
            self.actions.append(action)
            if drawn:
                self.first, self.start_fen = self.state.current_player(), self.state.board().to_fen()

    @property
    def has_fen(self) -> bool:
        """Whether the game can begin from a position of chess."""
        return self.name == "chess"

    def legal(self) -> dict[str, int]:
        """Returns the legal moves, each with its action."""
        return {self._notation(self.state, action): action for action in self.state.legal_actions()}

    def action_of(self, text: str) -> int | None:
        """Returns the legal action that a move names, in any notation that engines use; None if there is not just one.

        At chess: castling as `O-O` or as king takes rook, a promotion in capitals, standard algebraic notation.
        """
        legal = self.legal()
        if text in legal:
            return legal[text]
        named = [action for move, action in legal.items() if move.lower() == text.lower()]
        if not named and self.name == "chess":
            named = [action for move, action in legal.items() if _names(text, move, self._san(action))]
        return named[0] if len(named) == 1 else None

    def _san(self, action: int) -> str:
        return str(self.state.action_to_string(action))

    def in_notation(self, text: str) -> str:
        """Returns a move in the notation of `legal`; unchanged if it is not legal."""
        action = self.action_of(text)
        return text if action is None else self._notation(self.state, action)


def _text(state: Any, action: int) -> str:
    """OpenSpiel's own text, in one word."""
    return "_".join(state.action_to_string(action).split())


def _chess(state: Any, action: int) -> str:
    """Long algebraic notation, such as `e2e4` or `e7e8q`."""
    board = state.board()
    move = pyspiel.chess.action_to_move(action, board)
    chess960 = state.get_game().get_parameters().get("chess960", False)
    return str(move.to_lan(chess960, board) if chess960 else move.to_lan())


def _go(state: Any, action: int) -> str:
    """A vertex, such as `D4`, or `PASS`."""
    return str(state.action_to_string(action).split()[-1].upper())


CHESS_MOVE = re.compile(
    r"(?P<piece>[KQRBNP])?(?P<from>[a-h]?[1-8]?)[-x:]?(?P<to>[a-h][1-8])(?:[=/]?\(?(?P<promoted>[qrbnQRBN])\)?)?"
)
"""A move at chess, in long or standard algebraic notation, without marks such as `+` at its end."""
CASTLING = {"O-O": "h", "O-O-O": "a"}
"""By its notation, the file of the rook."""


def _names(text: str, move: str, san: str) -> bool:
    """Whether a text names a move at chess, which is given in long and in standard algebraic notation."""
    text = re.sub(r"(e\.?p\.?)?[+#!?]*$", "", text)
    castles = san.rstrip("+#")
    rook = CASTLING.get(castles)
    if rook is not None and (
        text.upper().replace("0", "O") in (castles, castles.replace("-", "")) or text == f"{move[:2]}{rook}{move[1]}"
    ):
        return True
    match = CHESS_MOVE.fullmatch(text)
    if match is None:
        return False
    piece = san[0] if san[0] in "KQRBN" else "K" if rook else "P"
    origin, promoted = match["from"], (match["promoted"] or "").lower()
    of_piece = match["piece"] == piece if match["piece"] or len(origin) < 2 else True
    if not match["piece"] and len(origin) < 2:
        of_piece = piece == "P"
    return of_piece and match["to"] == move[2:4] and promoted == move[4:] and all(each in move[:2] for each in origin)


NOTATIONS: dict[str, Notation] = {"chess": _chess, "go": _go}
"""The games whose engines have a notation of their own."""
