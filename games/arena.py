"""What the Arena's games share: the flipped table, the answers shown to both, the record. Rules: tictactoe.md, A4-B1.

A game adds its board and its moves: the abstract methods of `Battle`. `referee.games.tictactoe` shows how.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

from msgspec import UNSET, Meta, Struct, json
from msgspec.structs import replace

from referee.games.contract import (
    NOT_YOUR_TURN,
    Call,
    Event,
    Fault,
    FaultKind,
    Method,
    Notation,
    Notice,
    Player,
    Result,
    Ruling,
    Setup,
    State,
    draw,
    win,
)
from referee.games.dice import Dice, derive_seed

FLIP = "(╯°□°)╯︵ ┻━┻"
FLIP_ALIAS = "flipTable"
"""Of the flip, on standard input and output alone (A4): whoever hosts a client over HTTP refuses it."""
UNKNOWN_ACTION = "unknown action type"
OUT_OF_TIME = "You ran out of time"


class Play(Struct, frozen=True):
    """What `play` shows: no board, the events have told everything."""

    id: Annotated[str, Meta(description="the battle's id, a UUID")]


class ArenaOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """Rule options of every Arena game."""

    flip: Annotated[
        Literal["manual", "auto"],
        Meta(description="manual: the rival must flip after an invalid move; auto: the referee flips for it"),
    ] = "manual"
    opening: Annotated[
        int, Meta(ge=0, le=100, description="plies that the referee draws before the first call; both are told")
    ] = 0


DEAD_ENDS = 1000
"""So many drawn plies after which the battle can only end are taken back, before an opening counts as impossible."""
_BOTH = (0, 1)
_FLIP_REASONS = {
    FaultKind.TIMEOUT: OUT_OF_TIME,
    FaultKind.PROTOCOL: "protocol error",
    FaultKind.ILLEGAL: "invalid action",
}
_TOLD_AS_THEY_ARE = ("game already started", "didnt start game with ")
"""Details of faults that are reasons of A4 themselves: only whoever hosts a client over HTTP knows of them (C2, C4)."""
_FLIPPED = "FLIPPED: "


class Battle(State):
    """A position of an Arena game: whose turn it is and whether an invalid move waits for its flip."""

    SIDES: ClassVar[tuple[str, str]]
    """What the seats are called in events."""
    WINS: ClassVar[tuple[str, str]]
    """What the result is called when that seat wins on the board."""
    EVENT_TYPE: ClassVar[Any]
    """The game's event, a Struct: `youAre`, `id` and `winner` are among its members."""
    AWAITED: ClassVar[tuple[Mapping[Player, Method], Mapping[Player, Method]]]
    """`awaited` when that seat is to answer."""

    def __init__(self, setup: Setup, dice: Dice | None = None) -> None:
        super().__init__(setup, dice)
        self.auto_flip = setup.options.flip == "auto"
        self.play = Play(battle_id(setup.seed))
        self.pending: Player | None = None
        """Whose invalid move has not been answered yet."""
        self.pending_reason = ""
        self.shown: tuple[Mapping[str, Any], ...] = ()
        """Every answer so far as both players saw it, flips by the referee too."""
        self.awaited = self.AWAITED[0]
        self.drawn: list[Event] = []
        """What `opening` tells of the plies that were drawn."""

    # What a game adds.

    @abstractmethod
    def malformed(self, answer: Mapping[str, Any]) -> str | None:
        """Why `answer`, which is no flip, names no move at all; None = it names one."""

    @abstractmethod
    def forbidden(self, player: Player, answer: Mapping[str, Any]) -> str | None:
        """Why a well-formed move may not be made on this board; None = it may."""

    @abstractmethod
    def move(self, player: Player, answer: Mapping[str, Any]) -> list[Event]:
        """Plays and shows a legal move, hands the turn over or ends the battle."""

    # The contract of every engine.

    def opening(self) -> list[Event]:
        """Who is who, then the plies of the option `opening`, as if they had been played."""
        greetings = [
            Notice("event", self.EVENT_TYPE(youAre=side, id=self.play.id), (seat,))
            for seat, side in enumerate(self.SIDES)
        ]
        return [*greetings, *self.drawn]

    def params(self, player: Player) -> Play:
        return self.play

    def refusal(self, player: Player, answer: Any, alias: bool = True) -> str | None:
        """The reasons in words, in the order of A4, joined with line feeds. `alias`: the flip's is known."""
        if not isinstance(answer, dict):
            return "the answer is not an object; wanted one with an action"
        if answer.get("action") in ((FLIP, FLIP_ALIAS) if alias else (FLIP,)):
            return "You are not supposed to flip the table now" if self.pending is None else None
        malformed = self.malformed(answer)
        forbidden = None if malformed else self._forbidden(player, answer)
        if self.pending is None:
            return malformed or forbidden
        return "\n".join(filter(None, (malformed, "You should have flipped the table now", forbidden)))

    def step(self, answers: Mapping[Player, Any]) -> list[Event]:
        ((player, answer),) = answers.items()
        if not isinstance(answer, Fault):
            if self.pending is not None:
                return [self.show(player, answer), *self._flipped(player, self.pending_reason)]
            return self.move(player, answer)
        if answer.kind is FaultKind.ILLEGAL and isinstance(answer.answer, dict):
            alias = UNKNOWN_ACTION not in answer.detail.split("\n")
            return [self.show(player, answer.answer, alias), *self._invalid(player, answer)]
        return [self.rule(player, answer, "loses"), *self._flip_by_rival(player, _reason(answer))]

    def stop(self, reason: str) -> list[Event]:
        """A draw (assumed: the document knows no end from outside)."""
        return self.finish(draw(reason), "draw")

    def _forfeited(self, faults: Mapping[Player, Fault]) -> list[Event]:
        """As a fault in an answer (A4); if neither can play, nobody has won (assumed: the document is silent)."""
        events: list[Event] = [Ruling(player, fault, "loses", True) for player, fault in faults.items()]
        if len(self.out) == 2:
            return events + self.finish(self._walkover(faults), "draw")
        ((loser, fault),) = faults.items()
        return events + self._flip_by_rival(loser, _reason(fault))

    def copy(self, seed: int | None = None) -> Self:
        """Shares every member with the original: a game copies what it changes in place."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    # What only the Arena has.

    def inject(self, player: Player, answers: Sequence[Mapping[str, Any]], offence: str = NOT_YOUR_TURN) -> list[Event]:
        """Plays `answers` of `player` one after the other, whoever's turn it is: the hook of the cheats (B2), and of
        clients that post when nobody has asked them (C3).

        One that is in turn and legal is a move as any other. The first that is not makes `player` pending, shown as
        sent and not applied; the rest are shown too, and the rival is asked for its flip. Also before the first move.
        ValueError if the battle is over, or if an invalid move is waiting for its flip already.
        """
        if self.result is not None or self.pending is not None:
            raise ValueError(f"seat {player} cannot inject: the battle is over or a flip is due")
        events: list[Event] = []
        for answer in answers:
            if self.result is not None:
                break
            if self.pending is not None:
                events.append(self.show(player, answer))
                continue
            in_turn = player in self.awaited
            detail = self.refusal(player, answer, False) if in_turn else self._out_of_turn(player, answer, offence)
            events += self.step({player: Fault(FaultKind.ILLEGAL, detail, answer) if detail else answer})
        return events

    def _out_of_turn(self, player: Player, answer: Mapping[str, Any], offence: str) -> str:
        """All reasons against an answer of the player who is not to move, in the order of A4 and joined as there."""
        reasons = [self.refusal(player, answer, False), offence]  # no cheat of ours sends the alias, and no client may
        if offence != NOT_YOUR_TURN:  # A4 checks the turn last, and a double send before the move itself
            reasons.reverse()
        return "\n".join(filter(None, reasons))

    def _forbidden(self, player: Player, answer: Mapping[str, Any]) -> str | None:
        """Why the board forbids a well-formed move; None = it allows the move.

        Out of turn, the original asks for the side to move. A move that either side may make is wrong only by its turn.
        """
        seats = (player,) if player in self.awaited else (*self.awaited, player)
        reasons = [self.forbidden(seat, answer) for seat in seats]
        return reasons[0] if all(reasons) else None

    def record(self, clock_ms: tuple[int, int]) -> dict[str, Any]:
        """The battle's record (A6); `clock_ms` is what each seat has left. Null members while it is undecided."""
        outcome = winner = flipped_reason = None
        if self.result is not None:
            ranks, reason = self.result.ranks, self.result.reason
            winner = "draw" if ranks == (1, 1) else self.SIDES[ranks.index(1)]
            outcome = "DRAW" if winner == "draw" else self.WINS[ranks.index(1)]
            if reason.startswith(_FLIPPED):
                outcome, flipped_reason = "FLIPPED", reason.removeprefix(_FLIPPED)
        return {
            "result": outcome,
            "winner": winner,
            "flippedBy": None if flipped_reason is None else winner,  # whoever flips has won
            "flippedReason": flipped_reason,
            "clock": dict(zip(self.SIDES, clock_ms, strict=True)),
            "moves": list(self.shown),
        }

    # For the games.

    def draw_opening(self) -> None:
        """Plays the plies of the option `opening`, each drawn from all legal answers that do not end the battle.

        Called once, when the board is set up. ValueError if no such opening is found.
        """
        plies = self.setup.options.opening
        drawn = self._drawn(self.dice, plies, iter(range(DEAD_ENDS)))
        if drawn is None:
            raise ValueError(f"opening={plies}: no way was found to play so many plies without an end of the battle")
        for answer in drawn:
            (player,) = self.awaited
            self.drawn += self.step({player: answer})

    def _drawn(self, dice: Dice, plies: int, dead_ends: Iterator[int]) -> list[Mapping[str, Any]] | None:
        """So many answers one after the other, drawn from all that leave the battle undecided; where it goes on no
        further, the last is drawn anew. None = there are none, or none were found before the dead ends ran out."""
        if plies == 0:
            return []
        (player,) = self.awaited
        going_on = [answer for answer in self.legal(player) if self._goes_on(player, answer)]
        while going_on:
            answer = dice.choice(going_on, "opening")
            after = self.copy()
            after.step({player: answer})
            if (rest := after._drawn(dice, plies - 1, dead_ends)) is not None:
                return [answer, *rest]
            going_on.remove(answer)
            if next(dead_ends, None) is None:
                break
        return None

    def _goes_on(self, player: Player, answer: Mapping[str, Any]) -> bool:
        """Whether the battle is undecided after that legal answer."""
        trial = self.copy()
        trial.step({player: answer})
        return trial.result is None

    def show(self, player: Player, answer: Mapping[str, Any], alias: bool = True) -> Notice:
        """The answer as both players see it: members as sent, `player` ours, a flip always in kaomoji (B1)."""
        shown = {"player": self.SIDES[player], **answer}
        shown["player"] = self.SIDES[player]
        if alias and answer.get("action") == FLIP_ALIAS:
            shown["action"] = FLIP
        self.shown += (shown,)
        return Notice("event", shown, _BOTH)

    def finish(self, result: Result, winner: str) -> list[Event]:
        """Ends the battle; `winner` is a side or "draw"."""
        self.result, self.awaited = result, {}
        return [Notice("event", self.EVENT_TYPE(winner=winner), _BOTH)]

    def won(self, player: Player) -> list[Event]:
        """Ends the battle with a win on the board."""
        return self.finish(win(player, self.WINS[player]), self.SIDES[player])

    def take_over(self, view: Any) -> None:
        """What a whole view shows beside the board: a `to_move`, a `pending` side, its reason and the standing."""
        self.pending = None if view.pending is None else self.SIDES.index(view.pending)
        self.pending_reason = view.pending_reason
        self.resume(view.standing)

    def flip_due(self, signs: Sequence[str]) -> list[str]:
        """The line of a drawing that tells of an invalid move, while it waits for its flip; `signs` name the seats."""
        due = self.pending is not None and self.result is None
        return [f"{signs[self.pending or 0]}'s invalid move waits for a flip"] if due else []

    def turn_key(self) -> str:
        """Whose turn it is and what is pending, for `key`."""
        to_move = next(iter(self.awaited), "-")
        return f"{to_move}{'-' if self.pending is None else self.pending}{self.pending_reason}"

    def side(self, player: Player | None) -> Any:
        """The side's name; None for nobody."""
        return None if player is None else self.SIDES[player]

    # The flipped table (A4).

    def _invalid(self, player: Player, fault: Fault) -> list[Event]:
        """An invalid move waits for the rival's flip; in answer to one it loses."""
        reason = fault.detail
        if self.pending is not None or self.auto_flip:
            return [Ruling(player, fault, "loses"), *self._flip_by_rival(player, reason)]
        self.pending, self.pending_reason = player, reason
        self.awaited = self.AWAITED[1 - player]
        return [Ruling(player, fault, "the rival may flip the table and win")]

    def _flip_by_rival(self, loser: Player, reason: str) -> list[Event]:
        winner = 1 - loser
        return [self.show(winner, {"action": FLIP}), *self._flipped(winner, reason)]

    def _flipped(self, winner: Player, reason: str) -> list[Event]:
        return self.finish(win(winner, f"{_FLIPPED}{reason}"), self.SIDES[winner])


def notation(
    frame: str, sides: tuple[str, str], put: Mapping[str, str], signs: tuple[str, str], member: str = "position"
) -> Notation:
    """The notation of an Arena game.

    `put`: by action, what stands between the side and the place; `member`: where an answer has the place.
    """

    def shown(side: str, action: Any, position: Any) -> str | None:
        if action in (FLIP, FLIP_ALIAS):
            return f"{side} flips the table"
        if action in put and isinstance(position, str):
            return (
                f"{side} {put[action]} {position.lower() if len(position) > 1 and position[1].isdigit() else position}"
            )
        return None

    def answer(call: Call, action: Any) -> str | None:
        return shown(sides[call.player], action.action, getattr(action, member))

    def event(method: str, params: Mapping[str, Any], names: Sequence[str]) -> str | None:
        if "player" in params:
            return shown(params["player"], params.get("action"), params.get(member))
        if "winner" in params:
            return "a draw" if params["winner"] == "draw" else f"{params['winner']} wins"
        return ""  # which side each is, stands in the frame

    return Notation(frame, answer, event, signs=signs)


def _reason(fault: Fault) -> str:
    """Why the table is flipped upon that fault, in the words of A4 and A5."""
    if fault.detail.startswith(_TOLD_AS_THEY_ARE):
        return fault.detail
    if fault.kind is FaultKind.TIMEOUT and fault.detail.endswith(f"\n{OUT_OF_TIME}"):
        return fault.detail  # a late move whose position is no position either: A4 keeps that reason
    return _FLIP_REASONS.get(fault.kind, "crashed")


def without_opening(setup: Setup) -> Setup:
    """The setup of a position that is not to begin with plies of its own: a follower's, one made from a view."""
    return replace(setup, options=replace(setup.options, opening=0))


def battle_id(seed: int) -> str:
    """The id that the match's events and calls carry: a UUID (version 4) that follows from the seed alone."""
    dice = Dice(derive_seed(seed, "battle"))
    digits = f"{dice.bits() << 64 | dice.bits():032x}"
    return (
        f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{'89ab'[int(digits[16], 16) & 3]}{digits[17:20]}-{digits[20:]}"
    )


def as_printed(value: Any) -> str:
    """A member as the original's messages print it: `undefined` when missing; cut, since a bot chose its length."""
    if value is UNSET:
        return "undefined"
    if isinstance(value, str):
        return value[:100]
    try:
        return json.encode(value).decode()[:100]
    except (ValueError, RecursionError):  # ValueError: a huge number, half a character; RecursionError: a deep tree
        return f"a {type(value).__name__}"
