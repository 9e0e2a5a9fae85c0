"""Tic-tac-toe, level 1 of the Arena, with the flipped table. Rules: tictactoe.md, parts A and B.

Seat 0 plays `O` and moves first, seat 1 plays `X`. A bot keeps its own board from the events.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from msgspec import UNSET, Meta, Struct, UnsetType, json

from games.api import (
    Event,
    Fault,
    FaultKind,
    Game,
    Method,
    Notice,
    Player,
    Result,
    Ruling,
    Setup,
    State,
    TimeControl,
    draw,
    win,
)
from games.dice import Dice, derive_seed

CELLS = ("NW", "N", "NE", "W", "C", "E", "SW", "S", "SE")  # row by row from the top left (A1)
INDEX = {cell: index for index, cell in enumerate(CELLS)}
LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
LINES_THROUGH = [[line for line in LINES if index in line] for index in range(9)]
FLIP = "(╯°□°)╯︵ ┻━┻"
FLIP_ALIAS = "flipTable"

Symbol = Literal["O", "X"]
SYMBOLS: tuple[Symbol, Symbol] = ("O", "X")
Cell = Literal["NW", "N", "NE", "W", "C", "E", "SW", "S", "SE"]


class Action(Struct, frozen=True, omit_defaults=True):
    """An answer to `play`: a symbol put into an empty cell, or the table flipped."""

    action: Annotated[Literal["putSymbol", "(╯°□°)╯︵ ┻━┻"], Meta(description="putSymbol, or the flip in kaomoji")]
    position: Annotated[Cell | UnsetType, Meta(description="the cell, for putSymbol only")] = UNSET


class Play(Struct, frozen=True):
    """What `play` shows: no board, the events have told everything."""

    id: Annotated[str, Meta(description="the battle's id, a UUID")]


class ArenaEvent(Struct, frozen=True, omit_defaults=True):
    """Who you are; what `player` did; who won. Look at `player` first: beside it anything may stand, just as sent."""

    youAre: Annotated[Symbol | UnsetType, Meta(description="your symbol; the first event")] = UNSET
    id: Annotated[str | UnsetType, Meta(description="the battle's id, beside youAre")] = UNSET
    player: Annotated[Symbol | UnsetType, Meta(description="who answered")] = UNSET
    action: Annotated[Any, Meta(description="putSymbol, the flip, or whatever was sent")] = UNSET
    position: Annotated[Any, Meta(description="the cell, or whatever was sent")] = UNSET
    winner: Annotated[Literal["O", "X", "draw"] | UnsetType, Meta(description="the last event")] = UNSET


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    """Rule options of tic-tac-toe."""

    flip: Annotated[
        Literal["manual", "auto"],
        Meta(description="manual: the rival must flip after an invalid move; auto: the referee flips for it"),
    ] = "manual"


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
)
EVENT = Method("event", ArenaEvent, None, "Something happened: see the members that are there.")
METHODS = {method.name: method for method in (PLAY, EVENT)}

_AWAITED: tuple[Mapping[Player, Method], ...] = ({0: PLAY}, {1: PLAY})
_FLIP_REASONS = {
    FaultKind.TIMEOUT: "You ran out of time",
    FaultKind.PROTOCOL: "protocol error",
    FaultKind.ILLEGAL: "invalid action",
}
_BOTH = (0, 1)


class TicTacToe(State):
    """A position: the board, whose turn it is and whether an invalid move waits for its flip."""

    METHODS = METHODS

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.auto_flip = setup.options.flip == "auto"
        self.play = Play(battle_id(setup.seed))
        self.board = ["."] * 9
        self.pending: Player | None = None
        self.pending_reason = ""
        self.result: Result | None = None
        self.awaited = _AWAITED[0]

    def opening(self) -> list[Event]:
        return [
            Notice("event", ArenaEvent(youAre=symbol, id=self.play.id), (seat,)) for seat, symbol in enumerate(SYMBOLS)
        ]

    def params(self, player: Player) -> Play:
        return self.play

    def refusal(self, player: Player, answer: Any) -> str | None:
        """The reasons in words, in the order of A4, joined with line feeds."""
        if not isinstance(answer, dict):
            return "the answer is not an object; wanted one with an action"
        action = answer.get("action")
        if action in (FLIP, FLIP_ALIAS):
            return "You are not supposed to flip the table now" if self.pending is None else None
        reasons = []
        position = answer.get("position", UNSET)
        index = _index(position) if action == "putSymbol" else None
        if action != "putSymbol":
            reasons.append("unknown action type")
        elif index is None:
            reasons.append(f"{_javascript(position)} is not a valid position")
        if self.pending is not None:
            reasons.append("You should have flipped the table now")
        if index is not None and self.board[index] != ".":
            reasons.append(f"location {index % 3},{index // 3} is not empty")
        return "\n".join(reasons) if reasons else None

    def step(self, answers: Mapping[Player, Any]) -> list[Event]:
        ((player, answer),) = answers.items()
        if not isinstance(answer, Fault):
            shown = self._shown(player, answer)
            if self.pending is not None:
                return [shown, *self._flipped(player, self.pending_reason)]
            return [shown, *self._put(player, answer["position"])]
        if answer.kind is FaultKind.ILLEGAL and isinstance(answer.answer, dict):
            return [self._shown(player, answer.answer), *self._invalid(player, answer)]
        reason = _FLIP_REASONS.get(answer.kind, "crashed")
        return [Ruling(player, answer, "loses"), *self._flip_by_rival(player, reason)]

    def stop(self, reason: str) -> list[Event]:
        """A draw (assumed: the document knows no end from outside)."""
        return self._end(draw(reason), "draw")

    def legal(self, player: Player) -> Iterator[dict[str, str]]:
        """The empty cells from NW to SE; only the flip after an invalid move."""
        if self.pending is not None:
            yield {"action": FLIP}
            return
        for index, cell in enumerate(CELLS):
            if self.board[index] == ".":
                yield {"action": "putSymbol", "position": cell}

    def view(self, player: Player | None) -> View:
        to_move = [SYMBOLS[seat] for seat in self.awaited]
        return View(
            board="".join(self.board),
            to_move=to_move[0] if to_move else None,
            pending=None if self.pending is None else SYMBOLS[self.pending],
        )

    def copy(self, seed: int | None = None) -> Self:
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.board = self.board.copy()
        return twin

    def key(self) -> bytes:
        to_move = next(iter(self.awaited), "-")
        return f"{''.join(self.board)}{to_move}{'-' if self.pending is None else self.pending}".encode()

    def __str__(self) -> str:
        rows = ["".join(self.board[start : start + 3]) for start in (0, 3, 6)]
        if self.pending is not None:
            rows.append(f"{SYMBOLS[self.pending]}'s invalid move waits for a flip")
        return "\n".join(rows)

    # The stages of a turn.

    def _put(self, player: Player, cell: str) -> list[Event]:
        board, symbol = self.board, SYMBOLS[player]
        index = INDEX[cell]
        board[index] = symbol
        for a, b, c in LINES_THROUGH[index]:
            if board[a] == board[b] == board[c]:
                return self._end(win(player, f"{symbol}_WIN"), symbol)
        if "." not in board:
            return self._end(draw("DRAW"), "draw")
        self.awaited = _AWAITED[1 - player]
        return []

    def _invalid(self, player: Player, fault: Fault) -> list[Event]:
        """An invalid move waits for the rival's flip; in answer to one it loses (A4)."""
        reason = fault.detail
        if self.pending is not None or self.auto_flip:
            return [Ruling(player, fault, "loses"), *self._flip_by_rival(player, reason)]
        self.pending, self.pending_reason = player, reason
        self.awaited = _AWAITED[1 - player]
        return [Ruling(player, fault, "the rival may flip the table and win")]

    def _flip_by_rival(self, loser: Player, reason: str) -> list[Event]:
        winner = 1 - loser
        return [self._shown(winner, {"action": FLIP}), *self._flipped(winner, reason)]

    def _flipped(self, winner: Player, reason: str) -> list[Event]:
        return self._end(win(winner, f"FLIPPED: {reason}"), SYMBOLS[winner])

    def _end(self, result: Result, winner: Symbol | Literal["draw"]) -> list[Event]:
        self.result, self.awaited = result, {}
        return [Notice("event", ArenaEvent(winner=winner), _BOTH)]

    def _shown(self, player: Player, answer: Mapping[str, Any]) -> Notice:
        """The answer as both players see it: members as sent, `player` ours, a flip always in kaomoji."""
        shown = {"player": SYMBOLS[player], **answer}
        shown["player"] = SYMBOLS[player]
        if answer.get("action") == FLIP_ALIAS:
            shown["action"] = FLIP
        return Notice("event", shown, _BOTH)


def battle_id(seed: int) -> str:
    """The id that the match's events and calls carry: a UUID (version 4) that follows from the seed alone."""
    dice = Dice(derive_seed(seed, "battle"))
    digits = f"{dice.bits() << 64 | dice.bits():032x}"
    return (
        f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{'89ab'[int(digits[16], 16) & 3]}{digits[17:20]}-{digits[20:]}"
    )


def _index(position: Any) -> int | None:
    return INDEX.get(position) if isinstance(position, str) else None


def _javascript(value: Any) -> str:
    """A member as the original's messages print it: `undefined` when missing; cut, since a bot chose its length."""
    if value is UNSET:
        return "undefined"
    if isinstance(value, str):
        return value[:100]
    try:
        return json.encode(value).decode()[:100]
    except (ValueError, RecursionError):  # a huge number or half a character, a deep tree
        return f"a {type(value).__name__}"


GAME = Game(
    name="tictactoe",
    title="Tic-tac-toe",
    seats=range(2, 3),
    methods=METHODS,
    options=Options,
    time=TimeControl(initial_s=18.0, increment_s=2.0),
    new=TicTacToe,
)
