"""Tic-tac-toe, level 1 of the Arena, with the flipped table. Rules: tictactoe.md, parts A and B.

Seat 0 plays `O` and moves first, seat 1 plays `X`. A bot keeps its own board from the events. `referee.games.arena` has
the flipped table and everything else that the Arena's games share.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from referee.games.arena import UNKNOWN_ACTION, ArenaOptions, Battle, Play, as_printed, presentation
from referee.games.contract import Method, Player, Result, Standing, draw, win
from referee.games.game import Score, TimeControl, named

CELLS = ("NW", "N", "NE", "W", "C", "E", "SW", "S", "SE")  # row by row from the top left (A1)
INDEX = {cell: index for index, cell in enumerate(CELLS)}
LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
LINES_THROUGH = [[line for line in LINES if index in line] for index in range(9)]

Symbol = Literal["O", "X"]
SYMBOLS: tuple[Symbol, Symbol] = ("O", "X")
ActionType = Literal["putSymbol", "(╯°□°)╯︵ ┻━┻"]
Winner = Literal["O", "X", "draw"]
Cell = Literal["NW", "N", "NE", "W", "C", "E", "SW", "S", "SE"]


class Action(Struct, frozen=True, omit_defaults=True):
    """An answer to `play`: a symbol put into an empty cell, or the table flipped."""

    action: Annotated[ActionType, Meta(description="putSymbol, or the flip in kaomoji")]
    position: Annotated[Cell | UnsetType, Meta(description="the cell, for putSymbol only")] = UNSET


class ArenaEvent(Struct, frozen=True, omit_defaults=True):
    """Who you are, what `player` did, or who won. Check `player` first: with it, the other members are as sent."""

    youAre: Annotated[Symbol | UnsetType, Meta(description="your symbol; the first event")] = UNSET
    id: Annotated[str | UnsetType, Meta(description="the battle's id, with youAre")] = UNSET
    player: Annotated[Symbol | UnsetType, Meta(description="the side that answered")] = UNSET
    action: Annotated[Any, Meta(description="putSymbol, the flip, or whatever was sent")] = UNSET
    position: Annotated[Any, Meta(description="the cell, or whatever was sent")] = UNSET
    winner: Annotated[Winner | UnsetType, Meta(description="the last event")] = UNSET


class Options(ArenaOptions, frozen=True, forbid_unknown_fields=True):
    """Rule options of tic-tac-toe."""


class View(Struct, frozen=True):
    """The board; nothing in this game is hidden."""

    board: Annotated[str, Meta(description="nine characters `O`, `X` or `.`, row by row from the top left")]
    to_move: Annotated[Symbol | None, Meta(description="the side to move; null when the battle is over")]
    pending: Annotated[Symbol | None, Meta(description="the side whose invalid move has not been answered yet")]


class FullView(View, frozen=True):
    """The whole position."""

    pending_reason: Annotated[str, Meta(description="why the pending move was invalid")]
    standing: Standing


PLAY = Method(
    "play",
    Play,
    Action,
    "Your turn: put your symbol into an empty cell, or flip the table right after your opponent's invalid move.",
    accepts=Any,  # an object that is no legal action is an invalid move and part of the game (A4)
    rules="tictactoe.md, A4",
)
EVENT = Method("event", ArenaEvent, None, "Something happened. The members that are present say what.")
METHODS = {method.name: method for method in (PLAY, EVENT)}


class TicTacToe(Battle):
    """A position: the board, whose turn it is and whether an invalid move waits for its flip."""

    METHODS = METHODS
    MOVE = PLAY
    SIDES = SYMBOLS
    WINS = ("O_WIN", "X_WIN")
    EVENT_TYPE, VIEW, FULL_VIEW = ArenaEvent, View, FullView

    def start(self) -> None:
        self.board = ["."] * 9

    def malformed(self, answer: Mapping[str, Any]) -> str | None:
        if answer.get("action") != "putSymbol":
            return UNKNOWN_ACTION
        position = answer.get("position", UNSET)
        if not isinstance(position, str) or position not in INDEX:
            return f"{as_printed(position)} is not a valid position"
        return None

    def forbidden(self, player: Player, answer: Mapping[str, Any]) -> str | None:
        index = INDEX[answer["position"]]
        return None if self.board[index] == "." else f"location {index % 3},{index // 3} is not empty"

    def play(self, player: Player, move: Mapping[str, Any]) -> Result | None:
        """Puts the symbol; three in a line win, a full board is a draw (A3)."""
        index = INDEX[move["position"]]
        board = self.board = self.board.copy()
        board[index] = SYMBOLS[player]
        for a, b, c in LINES_THROUGH[index]:
            if board[a] == board[b] == board[c]:
                return win(player, self.WINS[player])
        return None if "." in board else draw("DRAW")

    def moves(self, player: Player) -> Iterator[dict[str, Any]]:
        """The empty cells from NW to SE."""
        for index, cell in enumerate(CELLS):
            if self.board[index] == ".":
                yield {"action": "putSymbol", "position": cell}

    def marks(self) -> dict[str, list[str]]:
        """`won`: the cells of complete lines (A3)."""
        full = {cell for line in LINES for cell in line if {self.board[each] for each in line} in ({"O"}, {"X"})}
        return {"won": [CELLS[cell] for cell in sorted(full)]} if full else {}

    def key(self) -> bytes:
        return f"{''.join(self.board)}{self.turn_key()}".encode("utf-8", "surrogatepass")

    def __str__(self) -> str:
        rows = ["".join(self.board[start : start + 3]) for start in (0, 3, 6)]
        return "\n".join([*rows, *self.drawn_flip(SYMBOLS)])

    def shown_board(self) -> tuple[str]:
        return ("".join(self.board),)

    def restore_board(self, view: View) -> None:
        if len(view.board) != 9 or set(view.board) - set(".OX"):
            raise ValueError(f"the board is {view.board!r}; expected nine characters O, X or .")
        self.board = list(view.board)


def threats(board: Sequence[str], own: str) -> int:
    """Counts the empty cells that would complete a line; a complete line counts too."""
    lines = [[cell for cell in line if board[cell] != own] for line in LINES]
    cells = {cells[0] for cells in lines if len(cells) == 1 and board[cells[0]] == "."}
    return len(cells) + ([] in lines)


GAME = TicTacToe.registration(
    "tictactoe",
    "Tic-tac-toe",
    options=Options,
    time=TimeControl(initial_s=18.0, increment_s=2.0),
    vary={"opening": 2},
    presentation=presentation(
        "cells as on a map, N at the top; seat 0 is O",
        SYMBOLS,
        {"putSymbol": "to"},
        ("O", "X"),
        {"O": "seat 0", "X": "seat 1", ".": "an empty cell"},
        {**dict.fromkeys(TicTacToe.WINS, "{winner} has three in a line"), "DRAW": "the board is full"},
        Score(
            "threats",
            "The empty cells that would complete a line of three; a complete line counts too.",
            lambda state: [threats(state.board, own) for own in SYMBOLS],
        ),
    ),
    doc=__doc__ or "",
    constants=named(globals(), "CELLS"),
    version=2,
)
