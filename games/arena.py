"""The base of the Arena's games: flipped table, answers shown to both, log. Rules: tictactoe.md, A4-B1.

A game adds its board and its moves: the abstract methods of `Battle`. `referee.games.tictactoe` is an example.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

from msgspec import UNSET, Meta, Struct
from msgspec.structs import astuple, replace

from referee.games.contract import (
    LOSES,
    NOT_YOUR_TURN,
    Call,
    Event,
    Fault,
    FaultKind,
    Notice,
    Player,
    Result,
    Ruling,
    Setup,
    in_json,
    win,
)
from referee.games.dice import Dice, derive_seed
from referee.games.game import Game, Presentation, Score
from referee.games.turn_game import TurnGame

FLIP = "(╯°□°)╯︵ ┻━┻"
FLIP_ALIAS = "flipTable"
"""Another name of the flip, on standard input and output only (A4). The HTTP server refuses it."""
UNKNOWN_ACTION = "unknown action type"
OUT_OF_TIME = "You ran out of time"


class Play(Struct, frozen=True):
    """Parameters of `play`: no board, since the events tell everything."""

    id: Annotated[str, Meta(description="the battle's id, a UUID")]


class ArenaOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """Rule options of every Arena game."""

    flip: Annotated[
        Literal["manual", "auto"],
        Meta(description="manual: the opponent must flip after an invalid move; auto: the referee flips for it"),
    ] = "manual"
    opening: Annotated[
        int, Meta(ge=0, le=100, description="plies that the referee draws before the first call and shows to both")
    ] = 0


DEAD_ENDS = 1000
"""Most drawn plies that are taken back because every next ply would end the battle."""
_BOTH = (0, 1)
_FLIPS = (FLIP, FLIP_ALIAS)
_FLIP_REASONS = {
    FaultKind.TIMEOUT: OUT_OF_TIME,
    FaultKind.PROTOCOL: "protocol error",
    FaultKind.ILLEGAL: "invalid action",
}
_SERVER_REASONS = ("game already started", "didnt start game with ")
"""Fault details of the HTTP server that are reasons of A4 themselves (C2, C4)."""
_FLIPPED = "FLIPPED: "
MAY_FLIP = "the rival may flip the table and win"
"""The penalty of an invalid move. The rival loses if it does not flip."""
_FLIP = {"action": FLIP}


class Table(TurnGame):
    """What both players see of a battle. No member is changed in place, so that copies share them all."""

    SIDES: ClassVar[tuple[Any, Any]]
    """The names of the seats in events."""
    WINS: ClassVar[tuple[str, str]]
    """The reason of the result if that seat wins on the board."""
    EVENT_TYPE: ClassVar[Any]
    """The game's event, a Struct with at least `youAre`, `id` and `winner`."""
    VIEW: ClassVar[Any]
    """A Struct: the members of `shown_board`, `to_move` and `pending`."""
    FULL_VIEW: ClassVar[Any]
    """The same with `pending_reason` and `standing`."""

    def __init__(self, setup: Setup, dice: Dice | None = None) -> None:
        super().__init__(setup, dice)
        self.auto_flip = setup.options.flip == "auto"
        self.call_params = Play(battle_id(setup.seed))
        self._keep_calls()
        self.pending: Player | None = None
        """The seat whose invalid move has not been answered yet."""
        self.pending_reason = ""
        self.shown: tuple[Mapping[str, Any], ...] = ()
        """Every answer so far as both players saw it, including flips by the referee."""
        self.drawn_events: tuple[Event, ...] = ()
        """The events of the plies that were drawn."""

    @classmethod
    def registration(cls, name: str, title: str, constants: Mapping[str, Any], **rest: Any) -> Game:
        """Returns the registration of this game. `rest`: more members of `Game`."""
        return cls._registered(name, title, seat_view=cls.VIEW, constants={**constants, "FLIP": FLIP}, **rest)

    @classmethod
    def rebuilt(cls, setup: Setup, view: Any) -> Self:
        """Returns the position of a full view, without its earlier moves. ValueError if it is no position."""
        state = cls._on_board(setup, view)
        state.pending_reason = view.pending_reason
        state.resume(view.standing)
        return state

    @classmethod
    def _on_board(cls, setup: Setup, view: Any) -> Self:
        """Returns a position with what a seat's view shows."""
        state = cls(without_opening(setup))
        state.setup = setup
        state.pending = None if view.pending is None else cls.SIDES.index(view.pending)
        state.restore_board(view)
        return state

    # For games to define.

    @abstractmethod
    def shown_board(self) -> tuple[Any, ...]:
        """Returns the members of a view that show the board."""

    @abstractmethod
    def restore_board(self, view: Any) -> None:
        """Restores the board from them. ValueError if they show none."""

    # The contract of every engine.

    def opening(self) -> list[Event]:
        """Tells each player its side, then the plies of the option `opening` as if they had been played."""
        greetings = [
            Notice("event", self.EVENT_TYPE(youAre=side, id=self.call_params.id), (seat,))
            for seat, side in enumerate(self.SIDES)
        ]
        return [*greetings, *self.drawn_events]

    def _keep_calls(self) -> None:
        """Makes the calls of the whole battle: they show nothing of the position."""
        self._calls = {seat: (Call(seat, self.MOVE, self.call_params),) for seat in _BOTH}

    def __setstate__(self, members: dict[str, Any]) -> None:
        super().__setstate__(members)
        self._keep_calls()  # with the game's own method

    def calls(self) -> tuple[Call, ...]:
        for player in self.awaited:
            return self._calls[player]
        return ()

    def params(self, player: Player) -> Play:
        return self.call_params

    def copy(self, seed: int | None = None) -> Self:
        """All luck is in the first position, so that a seed changes nothing."""
        return self._twin()

    def finish(self, result: Result) -> list[Event]:
        self.result, self.awaited = result, {}
        return [Notice("event", self.EVENT_TYPE(winner=self._winner(result)), _BOTH)]

    def _view(self, player: Player) -> Any:
        sides, pending = self.SIDES, self.pending
        turn = sides[next(iter(self.awaited))] if self.awaited else None, None if pending is None else sides[pending]
        return self.VIEW(*self.shown_board() + turn)

    def _full_view(self) -> Any:
        return self.FULL_VIEW(*astuple(self._view(0)), self.pending_reason, self.standing())

    def turn_key(self) -> str:
        """Returns whose turn it is and what is pending, for `key`."""
        to_move = next(iter(self.awaited), "-")
        return f"{to_move}{'-' if self.pending is None else self.pending}{self.pending_reason}"

    def drawn_flip(self, signs: Sequence[str]) -> list[str]:
        """Returns the line of a drawing about an invalid move that waits for its flip; `signs` name the seats."""
        waits = self.pending is not None and self.result is None
        return [f"{signs[self.pending or 0]}'s invalid move waits for a flip"] if waits else []

    # The battle's log (A6).

    def record(self, clock_ms: tuple[int, int]) -> dict[str, Any]:
        """Returns the battle's log; `clock_ms` is the time each seat has left. Null members while it is undecided."""
        outcome = winner = flipped_reason = None
        if self.result is not None:
            ranks, reason = self.result.ranks, self.result.reason
            winner = self._winner(self.result)
            outcome = "DRAW" if winner == "draw" else self.WINS[ranks.index(1)]
            if reason.startswith(_FLIPPED):
                outcome, flipped_reason = "FLIPPED", reason.removeprefix(_FLIPPED)
        return {
            "result": outcome,
            "winner": winner,
            "flippedBy": None if flipped_reason is None else winner,  # the player who flips wins
            "flippedReason": flipped_reason,
            "clock": dict(zip(self.SIDES, clock_ms, strict=True)),
            "moves": list(self.shown),
        }

    def _show(self, player: Player, answer: Mapping[str, Any], alias: bool = True) -> Notice:
        """Shows both players an answer: members as sent, `player` ours, a flip always in kaomoji (B1)."""
        side = self.SIDES[player]
        shown = {"player": side, **answer}
        if "player" in answer:
            shown["player"] = side
        if alias and answer.get("action") == FLIP_ALIAS:
            shown["action"] = FLIP
        self.shown += (shown,)
        return Notice("event", shown, _BOTH)

    def _winner(self, result: Result) -> str:
        return "draw" if result.ranks == (1, 1) else self.SIDES[result.ranks.index(1)]


class Battle(Table):
    """A position of an Arena game, with the rules of the flipped table."""

    def __init__(self, setup: Setup, dice: Dice | None = None) -> None:
        super().__init__(setup, dice)
        if setup.options.opening:
            self._draw_opening(setup.options.opening)

    # For games to define.

    @abstractmethod
    def moves(self, player: Player) -> Iterator[dict[str, Any]]:
        """Yields every legal move but the flip, in a documented order."""

    @abstractmethod
    def malformed(self, answer: Mapping[str, Any]) -> str | None:
        """Returns why `answer`, which is no flip, names no move at all; None = it names one."""

    @abstractmethod
    def forbidden(self, player: Player, answer: Mapping[str, Any]) -> str | None:
        """Returns why a well-formed move is not allowed on this board; None = it is."""

    def shown_move(self, answer: Mapping[str, Any]) -> Mapping[str, Any]:
        """Returns a legal move as both players see it."""
        return answer

    # The contract of every engine.

    def _legal(self, player: Player) -> Iterator[dict[str, Any]]:
        """After an invalid move, only the flip."""
        return self.moves(player) if self.pending is None else iter([{"action": FLIP}])

    def refusal(self, player: Player, answer: Any, alias: bool = True) -> str | None:
        """Returns the reasons in the order of A4, joined with line feeds. `alias`: accept the flip's alias."""
        if not isinstance(answer, dict):
            return "the answer is not an object; wanted one with an action"
        if answer.get("action") in (_FLIPS if alias else (FLIP,)):
            return "You are not supposed to flip the table now" if self.pending is None else None
        malformed = self.malformed(answer)
        forbidden = None if malformed else self._forbidden(player, answer)
        if self.pending is None:
            return malformed or forbidden
        return "\n".join(filter(None, (malformed, "You should have flipped the table now", forbidden)))

    def step(self, answers: Mapping[Player, Any]) -> list[Event]:
        ((player, answer),) = answers.items()
        if isinstance(answer, Fault):
            return self._fault(player, answer)
        if self.pending is not None:
            return self._flip(player, self.pending_reason, answer)
        shown = self._show(player, self.shown_move(answer))
        result = self.play(player, answer)
        if result is not None:
            return [shown, *self.finish(result)]
        self.awaited = {1 - player: self.MOVE}
        return [shown]

    def _forfeited(self, faults: Mapping[Player, Fault]) -> list[Event]:
        """As a fault in an answer (A4); if neither can play, nobody wins (assumed: the document is silent)."""
        if len(self.out) == 2:
            return super()._forfeited(faults)
        ((loser, fault),) = faults.items()
        return [Ruling(loser, fault, LOSES, True), *self._flip(1 - loser, _reason(fault))]

    # Answers out of turn (B2, C3).

    def inject(self, player: Player, answers: Sequence[Mapping[str, Any]], reason: str = NOT_YOUR_TURN) -> list[Event]:
        """Plays `answers` of `player` one after the other, regardless of whose turn it is.

        For cheats (B2), and for clients that post without being asked (C3). An answer in turn and legal is an ordinary
        move. The first one that is not makes `player` pending: it is shown as sent and not applied. The rest are only
        shown, and the rival is asked for its flip. Allowed before the first move.

        ValueError if the battle is over, or if an invalid move is waiting for its flip already.
        """
        if self.result is not None or self.pending is not None:
            raise ValueError(f"seat {player} cannot inject: the battle is over or a flip is due")
        events: list[Event] = []
        for answer in answers:
            if self.result is not None:
                break
            if self.pending is not None:
                events.append(self._show(player, answer))
                continue
            in_turn = player in self.awaited
            detail = self.refusal(player, answer, False) if in_turn else self._out_of_turn(player, answer, reason)
            events += self.step({player: Fault(FaultKind.ILLEGAL, detail, answer) if detail else answer})
        return events

    def _out_of_turn(self, player: Player, answer: Mapping[str, Any], reason: str) -> str:
        """All reasons against an answer of the player who is not to move, in the order of A4 and joined as there."""
        reasons = [self.refusal(player, answer, False), reason]  # no cheat of ours sends the alias, no client may
        if reason != NOT_YOUR_TURN:  # A4 checks the turn last, and a double send before the move itself
            reasons.reverse()
        return "\n".join(filter(None, reasons))

    def _forbidden(self, player: Player, answer: Mapping[str, Any]) -> str | None:
        """Returns why the board forbids a well-formed move; None = it allows the move.

        Out of turn, the original asks for the side to move. A move that either side may make is wrong only by its turn.
        """
        if player in self.awaited:
            return self.forbidden(player, answer)
        reasons = [self.forbidden(seat, answer) for seat in (*self.awaited, player)]
        return reasons[0] if all(reasons) else None

    # The flipped table (A4).

    def _fault(self, player: Player, fault: Fault) -> list[Event]:
        """An invalid move waits for the rival's flip. A second one, in answer to it, loses, as other faults do."""
        if fault.kind is not FaultKind.ILLEGAL or not isinstance(fault.answer, dict):
            return [self.rule(player, fault, LOSES), *self._flip(1 - player, _reason(fault))]
        shown = self._show(player, fault.answer, UNKNOWN_ACTION not in fault.detail.split("\n"))
        if self.pending is not None or self.auto_flip:
            return [shown, Ruling(player, fault, LOSES), *self._flip(1 - player, fault.detail)]
        self.pending, self.pending_reason = player, fault.detail
        self.give_turn(1 - player)
        return [shown, Ruling(player, fault, MAY_FLIP)]

    def _flip(self, winner: Player, reason: str, answer: Mapping[str, Any] = _FLIP) -> list[Event]:
        return [self._show(winner, answer), *self.finish(win(winner, f"{_FLIPPED}{reason}"))]

    # The option `opening`.

    def _draw_opening(self, plies: int) -> None:
        """Plays plies drawn from all legal answers that do not end the battle. ValueError if there are none."""
        drawn = self._drawn_plies(self.dice, plies, iter(range(DEAD_ENDS)))
        if drawn is None:
            raise ValueError(f"opening={plies}: found no opening of {plies} plies after which the battle goes on")
        events: list[Event] = []
        for answer in drawn:
            (player,) = self.awaited
            events += self.step({player: answer})
        self.drawn_events = tuple(events)

    def _drawn_plies(self, dice: Dice, plies: int, dead_ends: Iterator[int]) -> list[Mapping[str, Any]] | None:
        """Draws that many answers one after the other, and the last one again if the battle can only end after it.

        None = there are none, or `dead_ends` ran out first.
        """
        if plies == 0:
            return []
        (player,) = self.awaited
        candidates = [answer for answer in self._legal(player) if self._after(player, answer).result is None]
        while candidates:
            answer = dice.choice(candidates, "opening")
            rest = self._after(player, answer)._drawn_plies(dice, plies - 1, dead_ends)
            if rest is not None:
                return [answer, *rest]
            candidates.remove(answer)
            if next(dead_ends, None) is None:
                break
        return None

    def _after(self, player: Player, answer: Mapping[str, Any]) -> Self:
        after = self.copy()
        after.step({player: answer})
        return after


def presentation(
    frame: str,
    sides: tuple[str, str],
    verbs: Mapping[str, str],
    signs: tuple[str, str],
    legend: Mapping[str, str],
    endings: Mapping[str, str],
    score: Score,
    member: str = "position",
) -> Presentation:
    """Returns the presentation of an Arena game.

    `verbs`: by action, the word between the side and the place; `member`: the part of an answer that has the place.
    `endings`: words for the reasons of results, without that of a flipped table.
    """

    def words(side: str, action: Any, position: Any) -> str | None:
        if action in (FLIP, FLIP_ALIAS):
            return f"{side} flips the table"
        if action in verbs and isinstance(position, str):
            square = len(position) > 1 and position[1].isdigit()
            return f"{side} {verbs[action]} {position.lower() if square else position}"
        return None

    def answer(call: Call, action: Any) -> str | None:
        return words(sides[call.player], action.action, getattr(action, member))

    def event(method: str, params: Mapping[str, Any], names: Sequence[str]) -> str | None:
        if "player" in params:
            return words(params["player"], params.get("action"), params.get(member))
        if "winner" in params:
            return "a draw" if params["winner"] == "draw" else f"{params['winner']} wins"
        return ""  # the frame says which side each seat is

    endings = {**endings, "FLIPPED": "the table was flipped after {loser}'s fault: {detail}"}
    return Presentation(
        frame=frame,
        answer=answer,
        event=event,
        signs=signs,
        legend=legend,
        endings=endings,
        score=score,
        losing=frozenset({LOSES, MAY_FLIP}),
    )


def _reason(fault: Fault) -> str:
    """Returns why the table is flipped after that fault, in the words of A4 and A5."""
    if fault.detail.startswith(_SERVER_REASONS):
        return fault.detail
    if fault.kind is FaultKind.TIMEOUT and fault.detail.endswith(f"\n{OUT_OF_TIME}"):
        return fault.detail  # a late move to a malformed position: A4 keeps that reason
    return _FLIP_REASONS.get(fault.kind, "crashed")


def without_opening(setup: Setup) -> Setup:
    """Returns the setup for a position that must not draw plies of its own, such as one made from a view."""
    return replace(setup, options=replace(setup.options, opening=0))


def battle_id(seed: int) -> str:
    """Returns the id in the match's events and calls: a UUID (version 4) that depends on the seed alone."""
    dice = Dice(derive_seed(seed, "battle"))
    drawn = f"{dice.bits():016x}{dice.bits():016x}"
    variant = "89ab"[int(drawn[16], 16) & 3]
    return f"{drawn[:8]}-{drawn[8:12]}-4{drawn[13:16]}-{variant}{drawn[17:20]}-{drawn[20:]}"


def as_printed(value: Any) -> str:
    """Returns a member as the original's messages print it: `undefined` if missing, and at most 100 characters."""
    if value is UNSET:
        return "undefined"
    return value[:100] if isinstance(value, str) else in_json(value)
