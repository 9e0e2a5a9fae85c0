"""What an engine promises to whoever drives it.

An engine is a `State`: one position of one match. It says whose answers it awaits, is given all of them at once
with `apply`, and says what happened as a list of events. It knows rules and nothing else: no clock, no process, no
luck but the seed in its `Setup`. Read `games.tictactoe` first; every engine has its shape.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, ClassVar, Self

import msgspec
from msgspec import Struct

from games.dice import Dice

Player = int
"""A seat, 0-based."""


class FaultKind(StrEnum):
    """What a bot did wrong. ILLEGAL is found by the engine, the rest by the referee."""

    TIMEOUT = "timeout"
    CRASH = "crash"
    CPU = "cpu"
    MEMORY = "memory"
    OUTPUT = "output"
    PROCESSES = "processes"
    PROTOCOL = "protocol"
    ERROR = "error"
    ILLEGAL = "illegal"


class Fault(Struct, frozen=True):
    """A bot's failure to give an answer that counts: a value, never an exception."""

    kind: FaultKind
    detail: str
    """One line for the bot's author: what came, what was wanted."""
    answer: Any = None
    """The refused answer as it came, when `kind` is ILLEGAL: some games show it to both players."""


class Call(Struct, frozen=True):
    """A question to one seat."""

    player: Player
    method: Method
    params: Any
    """A value of `method.params`: what this seat may see."""


class Notice(Struct, frozen=True, tag_field="event", tag="notice"):
    """Something told to seats that need not answer."""

    method: str
    params: Any
    to: tuple[Player, ...] = ()
    """The seats that hear it, in the order of delivery; () = the replay and its viewers only."""


class Ruling(Struct, frozen=True, tag_field="event", tag="ruling"):
    """A fault and what it costs by the game's own rule."""

    player: Player
    fault: Fault
    penalty: str
    out: bool = False
    """True: this seat is never called again."""


Event = Notice | Ruling


class Result(Struct, frozen=True):
    """How a match ended. Both tuples are in seat order."""

    ranks: tuple[int, ...]
    """1 = best; ties share a rank."""
    scores: tuple[float, ...]
    reason: str


def win(winner: Player, reason: str) -> Result:
    """A two-player result that `winner` (0 or 1) wins: 1 point to 0."""
    return Result((1, 2), (1.0, 0.0), reason) if winner == 0 else Result((2, 1), (0.0, 1.0), reason)


def draw(reason: str) -> Result:
    """A drawn two-player result: half a point each."""
    return Result((1, 1), (0.5, 0.5), reason)


class TimeControl(Struct, frozen=True):
    """Limits of time in seconds; None = no such limit."""

    initial_s: float | None = None
    """The bank a seat starts with."""
    increment_s: float = 0.0
    """Added to the bank after every answer in time."""
    per_call_s: float | None = None
    match_s: float | None = None
    opening_call_s: float | None = None
    """In place of `per_call_s` while the position says that it is `in_opening`."""


class Setup(Struct, frozen=True):
    """Everything that a match follows from, together with the answers: the replay's header."""

    seed: int
    names: tuple[str, ...]
    """One name a seat; as many seats play as there are names."""
    options: Any
    """A value of the game's `options` type."""


class Method(Struct, frozen=True):
    """One documented function or event of a game. Schemas, kits and reference pages are made from these."""

    name: str
    params: type
    result: Any
    """The documented type of the answer; `NoneType` where nothing is returned; None for a notification."""
    doc: str
    accepts: Any = None
    """What an answer is decoded as where the rules judge more than the documented type holds; None = `result`."""
    time_s: float | None = None
    """A limit of its own, in place of the time control's: such a call draws on no bank."""
    shared: tuple[str, ...] = ()
    """The members of `params` that every seat is shown alike, and that are worth encoding once for all of them. What
    an engine hands out there is one object for all seats, and is never changed afterwards."""
    rules: str = ""
    """Where the game's rules tell which answers are legal, such as `reantics.md, 5`."""
    viewers: bool = False
    """True for a notification that only the replay and its viewers hear: no bot is ever sent it."""

    @property
    def answer_type(self) -> Any:
        """The type that every answer has when `State.refusal` sees it."""
        return self.result if self.accepts is None else self.accepts


class Game(Struct, frozen=True):
    """A registered game."""

    name: str
    title: str
    seats: range
    """The numbers of seats that it can be played with."""
    methods: Mapping[str, Method]
    options: type
    """A frozen Struct; every field has a default."""
    time: TimeControl
    new: Callable[[Setup], State]
    fresh: bool = False
    """Every match is played by processes of its own, also by bots that could be used again."""
    trial: str | None = None
    """KEY=VALUE: an option that ends a first try within seconds, where a match by the rules takes minutes."""
    version: int = 1
    """Raised when the same answers may lead to another result: a replay names it."""


class State(ABC):
    """One position of one match. Mutable: `copy` before exploring."""

    METHODS: ClassVar[Mapping[str, Method]]
    """By name, the same mapping as in the `Game`."""

    setup: Setup
    warnings: Sequence[str] = ()
    """One line each, for whoever chose options that are played, but not quite as they stand."""
    result: Result | None
    """Set exactly once, when decided. Closing calls (`registerWin`, `end`) may still follow."""
    awaited: Mapping[Player, Method]
    """Whose answer is awaited now, to which function; more than one seat = simultaneous; empty = over."""
    in_opening: bool = False
    """The calls awaited now have the time control's `opening_call_s`, if there is one."""

    def opening(self) -> list[Event]:
        """The notices before the first call. Changes nothing."""
        return []

    @abstractmethod
    def params(self, player: Player) -> Any:
        """What the call awaited from `player` shows it: a value of the method's `params` type. Made from `view`."""

    @abstractmethod
    def refusal(self, player: Player, answer: Any) -> str | None:
        """Why the rules refuse `answer`, in words for its author; None = legal.

        `answer` has the awaited method's `answer_type`. No side effect; never raises.
        """

    @abstractmethod
    def step(self, answers: Mapping[Player, Any]) -> list[Event]:
        """Plays the judged answers of all awaited seats, each legal or a `Fault`. Use `apply`, which judges."""

    @abstractmethod
    def stop(self, reason: str) -> list[Event]:
        """Ends an undecided match from outside (the match clock, the operator), ranked by the game's own order."""

    def inject(self, player: Player, answers: Sequence[Mapping[str, Any]]) -> list[Event]:
        """Plays what a cheat of ours does out of turn, for games that have such opponents.

        ValueError if nobody can act out of turn in this game, or not now.
        """
        raise ValueError(f"seat {player} cannot act out of turn: this game has no cheats")

    @abstractmethod
    def legal(self, player: Player) -> Iterator[Any]:
        """Every legal answer of an awaited seat, lazily, in a fixed documented order."""

    @abstractmethod
    def view(self, player: Player | None) -> Any:
        """What `player` may see, as a Struct; None = everything."""

    @abstractmethod
    def copy(self, seed: int | None = None) -> Self:
        """An independent position. A seed replaces all luck still to come, so that a search cannot foresee it."""

    @abstractmethod
    def key(self) -> bytes:
        """Everything that decides how the match goes on, as canonical bytes: equal keys, equal futures."""

    @abstractmethod
    def __str__(self) -> str:
        """The position as a drawing for people, several lines."""

    def calls(self) -> tuple[Call, ...]:
        """The questions awaited now, in seat order."""
        return tuple([Call(player, method, self.params(player)) for player, method in self.awaited.items()])

    def check(self, player: Player, answer: Any) -> Fault | None:
        """Whether `answer`, typed or plain JSON values, is legal for the awaited `player`. Never raises for it."""
        judged = self._judge(player, self.awaited[player], answer)
        return judged if isinstance(judged, Fault) else None

    def apply(self, answers: Mapping[Player, Any]) -> list[Event]:
        """Judges and plays one answer or `Fault` for each awaited seat. ValueError for any other set of seats."""
        if answers.keys() != self.awaited.keys():
            raise ValueError(f"answers from seats {sorted(answers)}, but awaited are {sorted(self.awaited)}")
        judged = {}
        for player, method in self.awaited.items():
            answer = answers[player]
            judged[player] = answer if isinstance(answer, Fault) else self._judge(player, method, answer)
        return self.step(judged)

    def sample(self, player: Player, dice: Dice) -> Any:
        """A legal answer drawn with `dice`; ValueError if there is none. Override where `legal` is huge."""
        return dice.choice(list(self.legal(player)))

    def _judge(self, player: Player, method: Method, answer: Any) -> Any:
        """The answer in its type, or the Fault that it is."""
        wanted = method.result if method.accepts is None else method.accepts
        judged = answer
        if wanted is Any:
            if isinstance(answer, Struct):
                judged = msgspec.to_builtins(answer)
        elif type(answer) is not wanted:
            try:
                judged = typed(answer, wanted)
            except (msgspec.ValidationError, UnicodeEncodeError) as error:  # the latter: a key with a lone surrogate
                return Fault(FaultKind.ILLEGAL, str(error), answer)
        detail = self.refusal(player, judged)
        return judged if detail is None else Fault(FaultKind.ILLEGAL, detail, answer)


def typed(answer: Any, wanted: Any) -> Any:
    """`answer` as a value of type `wanted`, strictly: no text for a number, no 1.0 or true for 1.

    Raises msgspec.ValidationError.
    """
    if isinstance(answer, Struct):
        if isinstance(wanted, type) and isinstance(answer, wanted):
            return answer
        answer = msgspec.to_builtins(answer)
    return msgspec.convert(answer, wanted)
