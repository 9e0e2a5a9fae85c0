"""Tic-tac-toe, level 1 of the Arena, with the flipped table. Rules: tictactoe.md, parts A and B.

The flipped table and all else that the Arena's games share stands in `games.arena`; here are the board and its moves.
Seat 0 plays `O` and moves first, seat 1 plays `X`. A bot keeps its own board from the events.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from msgspec import UNSET, Meta, Struct, UnsetType

from games.api import Event, Game, Method, Player, Setup, TimeControl, draw
from games.arena import FLIP, ArenaOptions, Battle, Play, as_printed

CELLS = ("NW", "N", "NE", "W", "C", "E", "SW", "S", "SE")  # row by row from the top left (A1)
INDEX = {cell: index for index, cell in enumerate(CELLS)}
LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
LINES_THROUGH = [[line for line in LINES if index in line] for index in range(9)]

Symbol = Literal["O", "X"]
SYMBOLS: tuple[Symbol, Symbol] = ("O", "X")
Cell = Literal["NW", "N", "NE", "W", "C", "E", "SW", "S", "SE"]


class Action(Struct, frozen=True, omit_defaults=True):
    """An answer to `play`: a symbol put into an empty cell, or the table flipped."""

    action: Annotated[Literal["putSymbol", "(╯°□°)╯︵ ┻━┻"], Meta(description="putSymbol, or the flip in kaomoji")]
    position: Annotated[Cell | UnsetType, Meta(description="the cell, for putSymbol only")] = UNSET


class ArenaEvent(Struct, frozen=True, omit_defaults=True):
    """Who you are; what `player` did; who won. Look at `player` first: beside it anything may stand, just as sent."""

    youAre: Annotated[Symbol | UnsetType, Meta(description="your symbol; the first event")] = UNSET
    id: Annotated[str | UnsetType, Meta(description="the battle's id, beside youAre")] = UNSET
    player: Annotated[Symbol | UnsetType, Meta(description="who answered")] = UNSET
    action: Annotated[Any, Meta(description="putSymbol, the flip, or whatever was sent")] = UNSET
    position: Annotated[Any, Meta(description="the cell, or whatever was sent")] = UNSET
    winner: Annotated[Literal["O", "X", "draw"] | UnsetType, Meta(description="the last event")] = UNSET


class Options(ArenaOptions, frozen=True, forbid_unknown_fields=True):
    """Rule options of tic-tac-toe."""


class View(Struct, frozen=True):
    """The whole position; nothing in this game is hidden."""

    board: str
    """Nine characters `O`, `X` or `.`, row by row from the top left."""
    to_move: Symbol | None
    pending: Symbol | None
    """Whose invalid move has not been answered yet."""


PLAY = Method(
    "play",
    Play,
    Action,
    "Your turn: put your symbol into an empty cell, or flip the table right after an invalid move of the rival.",
    accepts=Any,  # an object that is no legal action is an invalid move and part of the game (A4)
    rules="tictactoe.md, A4",
)
EVENT = Method("event", ArenaEvent, None, "Something happened: see the members that are there.")
METHODS = {method.name: method for method in (PLAY, EVENT)}


class TicTacToe(Battle):
    """A position: the board, whose turn it is and whether an invalid move waits for its flip."""

    METHODS = METHODS
    SIDES = SYMBOLS
    EVENT_TYPE = ArenaEvent
    AWAITED = ({0: PLAY}, {1: PLAY})

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.board = ["."] * 9

    def malformed(self, answer: Mapping[str, Any]) -> str | None:
        if answer.get("action") != "putSymbol":
            return "unknown action type"
        position = answer.get("position", UNSET)
        if not isinstance(position, str) or position not in INDEX:
            return f"{as_printed(position)} is not a valid position"
        return None

    def forbidden(self, player: Player, answer: Mapping[str, Any]) -> str | None:
        index = INDEX[answer["position"]]
        return None if self.board[index] == "." else f"location {index % 3},{index // 3} is not empty"

    def move(self, player: Player, answer: Mapping[str, Any]) -> list[Event]:
        """Puts the symbol; three in a line win, a full board is a draw (A3)."""
        board, index = self.board, INDEX[answer["position"]]
        shown = self.show(player, answer)
        board[index] = SYMBOLS[player]
        for a, b, c in LINES_THROUGH[index]:
            if board[a] == board[b] == board[c]:
                return [shown, *self.won(player)]
        if "." not in board:
            return [shown, *self.finish(draw("DRAW"), "draw")]
        self.awaited = self.AWAITED[1 - player]
        return [shown]

    def legal(self, player: Player) -> Iterator[dict[str, str]]:
        """The empty cells from NW to SE; only the flip after an invalid move."""
        if self.pending is not None:
            yield {"action": FLIP}
            return
        for index, cell in enumerate(CELLS):
            if self.board[index] == ".":
                yield {"action": "putSymbol", "position": cell}

    def view(self, player: Player | None) -> View:
        return View("".join(self.board), self.side(next(iter(self.awaited), None)), self.side(self.pending))

    def copy(self, seed: int | None = None) -> Self:
        twin = super().copy(seed)
        twin.board = self.board.copy()
        return twin

    def key(self) -> bytes:
        return f"{''.join(self.board)}{self.turn_key()}".encode("utf-8", "surrogatepass")

    def __str__(self) -> str:
        rows = ["".join(self.board[start : start + 3]) for start in (0, 3, 6)]
        if self.pending is not None:
            rows.append(f"{SYMBOLS[self.pending]}'s invalid move waits for a flip")
        return "\n".join(rows)


GAME = Game(
    name="tictactoe",
    title="Tic-tac-toe",
    seats=range(2, 3),
    methods=METHODS,
    options=Options,
    time=TimeControl(initial_s=18.0, increment_s=2.0),
    new=TicTacToe,
)
