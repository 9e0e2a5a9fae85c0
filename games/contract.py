"""The contract between an engine and its driver.

An engine is a `State`: one position of one match. It names the seats whose answers it awaits, takes all of them at once
in `apply`, and returns a list of events. It knows the rules and nothing else: no clock, no process, and no luck except
the seed in its `Setup`. `referee.games.turn_game` is a base for two-player games.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Self, final

import msgspec
from msgspec import Meta, Struct

from referee.games.dice import Dice

Player = int
"""A seat, 0-based."""

LOSES = "loses"  # the penalty of a fault that loses the match, in every game
NOT_YOUR_TURN = "Not your turn"  # the default description of an answer out of turn


class FaultKind(StrEnum):
    """The kinds of faults. The engine finds ILLEGAL, the referee finds the others."""

    TIMEOUT = "timeout"
    CRASH = "crash"
    CPU = "cpu"
    MEMORY = "memory"
    OUTPUT = "output"
    PROCESSES = "processes"
    FILES = "files"
    PROTOCOL = "protocol"
    ERROR = "error"
    TOKENS = "tokens"
    ILLEGAL = "illegal"


FATAL = frozenset(FaultKind) - {FaultKind.TIMEOUT, FaultKind.ERROR, FaultKind.ILLEGAL}
"""The kinds after which the bot's process no longer runs."""


class Fault(Struct, frozen=True):
    """A bot's failure to give a legal answer: a value, never an exception."""

    kind: FaultKind
    detail: str
    """One line for the bot's author: what came, what was expected."""
    answer: Any = None
    """The refused answer as it came, if `kind` is ILLEGAL. Some games show it to both players."""

    @property
    def fatal(self) -> bool:
        """Whether the process no longer runs, so that the seat is out."""
        return self.kind in FATAL


class Method(Struct, frozen=True):
    """A documented function or event of a game. Schemas, kits and reference pages are made from these."""

    name: str
    params: type
    result: Any
    """The documented type of the answer; `NoneType` if nothing is returned; None for a notification."""
    doc: str
    accepts: Any = None
    """The type that an answer is decoded as, if the rules judge more than the documented type; None = `result`."""
    time_s: float | None = None
    """A limit of its own that replaces the time control's. Such a call uses no bank."""
    shared: tuple[str, ...] = ()
    """The members of `params` that are the same object for all seats and are worth encoding once. The engine never
    changes them afterwards."""
    rules: str = ""
    """The section of the rules that says which answers are legal, such as `reantics.md, 5`."""
    remarks: tuple[str, ...] = ()  # of an answer: how it was found; games that differ in these alone are the same
    viewers: bool = False  # whether a notification goes to the replay and its viewers only, never to a bot

    @property
    def answer_type(self) -> Any:
        """The type of every answer that `State.refusal` sees."""
        return self.result if self.accepts is None else self.accepts


class Call(Struct, frozen=True):
    """A question to one seat."""

    player: Player
    method: Method
    params: Any
    """What this seat may see: a value of type `method.params`."""


class Notice(Struct, frozen=True, tag_field="event", tag="notice"):
    """A message to seats that need no answer."""

    method: str
    params: Any
    to: tuple[Player, ...] = ()
    """The receiving seats in the order of delivery; () = only the replay and its viewers."""


class Ruling(Struct, frozen=True, tag_field="event", tag="ruling"):
    """A fault and its penalty under the game's own rules."""

    player: Player
    fault: Fault
    penalty: str
    out: bool = False
    """Whether this seat is never called again."""


Event = Notice | Ruling


class Result(Struct, frozen=True):
    """How a match ended. Both tuples are in seat order."""

    ranks: Annotated[tuple[int, ...], Meta(description="1 = best; ties share a rank")]
    scores: Annotated[tuple[float, ...], Meta(description="1, ½ and 0 for win, draw and loss, or points")]
    reason: Annotated[str, Meta(description="why it ended, in a few words")]


def win(winner: Player, reason: str) -> Result:
    """Returns a two-player result that `winner` (0 or 1) wins, 1 point to 0."""
    return Result((1, 2), (1.0, 0.0), reason) if winner == 0 else Result((2, 1), (0.0, 1.0), reason)


def draw(reason: str, seats: int = 2) -> Result:
    """Returns a result in which all seats share the first rank and one point."""
    return Result((1,) * seats, (1 / seats,) * seats, reason)


class Standing(Struct, frozen=True):
    """What every position has besides its board: a part of every `view(None)`."""

    awaited: Annotated[dict[Player, str], Meta(description="the functions awaited, by seat")]
    out: Annotated[tuple[Player, ...], Meta(description="the seats that are never called again, ascending")]
    result: Annotated[Result | None, Meta(description="none while the match goes on")]
    luck: Annotated[str, Meta(description="state of the dice in hexadecimal: many JSON readers cannot hold 64 bits")]


class Setup(Struct, frozen=True):
    """The start of a match, from which everything follows together with the answers: the replay's header."""

    seed: int
    names: tuple[str, ...]
    """One name for each seat."""
    options: Any
    """A value of the game's `options` type."""


class Position(ABC):
    """The part of an engine that describes a position: its members, views, copies and keys."""

    METHODS: ClassVar[Mapping[str, Method]]
    """By name, the same mapping as in the `Game`."""
    deals_again: bool = True  # whether `copy(seed)` does; else a person at a seat cannot take back an answer

    setup: Setup
    dice: Dice
    """The only source of luck. An engine says what each draw is for."""
    warnings: Sequence[str] = ()
    """One line for each option that is valid but not played exactly as given."""
    result: Result | None
    """Set exactly once, when the match is decided. Closing calls (`registerWin`, `end`) may still follow."""
    awaited: Mapping[Player, Method]
    """The seats whose answers are awaited, each with its function. Several seats = simultaneous; empty = over."""
    out: frozenset[Player] = frozenset()
    """The seats that are never called again. `forfeit` and `rule` add to it."""
    in_opening: bool = False
    """Whether the calls awaited now have the time control's `opening_call_s`."""

    def __init__(self, setup: Setup, dice: Dice | None = None) -> None:
        """Makes the first position of a match. Tests pass `ScriptedDice`; None = dice with the setup's seed.

        ValueError, one line, if the options together make no match.
        """
        self.setup = setup
        self.dice = Dice(setup.seed) if dice is None else dice
        self.result = None

    @final
    def view(self, player: Player | None) -> Any:
        """Returns what `player` may see, as a Struct; None = everything, including luck and what is hidden.

        `Game.position` makes the same position from everything. ValueError if there is no such seat.
        """
        if player is None:
            return self._full_view()
        # Awaited seats are the common case, and that test is faster.
        if player not in self.awaited and player not in self._seats:
            raise ValueError(f"view of seat {player}, but there are 0 to {self._seats[-1]}")
        return self._view(player)

    def copy(self, seed: int | None = None) -> Self:
        """Returns an independent position with dice of its own.

        A seed replaces all luck to come, so that a search cannot foresee it, and deals hidden cards again.
        """
        dice = self.dice.copy() if seed is None else Dice(seed)
        return deepcopy(self, {id(self.setup): self.setup, id(self.dice): dice})

    def key(self) -> bytes:
        """Returns everything that decides how the match goes on, as canonical bytes: equal keys, equal futures."""
        view = msgspec.to_builtins(self._full_view(), str_keys=True, order="deterministic")
        return _ENCODER.encode(view)

    def shown_to(self, player: Player) -> str:
        """Draws what this player may see. A game that hides something overrides it."""
        return str(self)

    def marks(self) -> Mapping[str, Any]:
        """Returns what pages draw besides the views, such as reachable cells, as JSON values. Bots never get it."""
        return {}

    @abstractmethod
    def _view(self, player: Player) -> Any:
        """Returns what a seat may see, as a Struct."""

    @abstractmethod
    def _full_view(self) -> Any:
        """Returns the whole position as a Struct, with `standing()`."""

    @abstractmethod
    def __str__(self) -> str:
        """Draws the position for people, in several lines."""

    # Tools for engines.

    @property
    def _seats(self) -> range:
        return range(len(self.setup.names))

    def standing(self) -> Standing:
        """Returns the part of the full view that is alike in all games."""
        awaited = {player: method.name for player, method in self.awaited.items()}
        return Standing(awaited, tuple(sorted(self.out)), self.result, f"{self.dice.state:016x}")

    def resume(self, standing: Standing) -> None:
        """Restores that part in a position that is made from a view."""
        self.awaited = {player: self.METHODS[name] for player, name in standing.awaited.items()}
        self.out, self.result = frozenset(standing.out), standing.result
        self.dice = Dice(int(standing.luck, 16))

    def _twin(self) -> Self:
        """Returns a copy that shares every member, the dice too: the start of a fast `copy`."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    # Pickle and `deepcopy` keep the names of the awaited functions, and so restore the game's own objects.

    def __getstate__(self) -> dict[str, Any]:
        awaited = {player: method.name for player, method in self.awaited.items()}
        return {**self.__dict__, "awaited": awaited}

    def __setstate__(self, members: dict[str, Any]) -> None:
        self.__dict__.update(members)
        self.awaited = {player: self.METHODS[name] for player, name in members["awaited"].items()}


class State(Position):
    """One position of one match, and its rules. Mutable: `copy` before exploring.

    A driver uses the methods without an underscore. An engine defines `step`, `_legal`, `_view`, `_full_view` and
    `__str__`, and replaces the defaults of others where they are too slow or its rules differ.
    """

    CLOSING: ClassVar[Method | None] = None
    """The function that every seat is called with after the result, unless it is out. Its answer changes nothing."""

    # For drivers.

    def opening(self) -> list[Event]:
        """Returns the notices before the first call. Changes nothing."""
        return []

    def calls(self) -> tuple[Call, ...]:
        """Returns the questions awaited now, in seat order."""
        calls = []
        for player, method in self.awaited.items():  # a comprehension is a call more in Python 3.11
            calls.append(Call(player, method, self.params(player)))
        return tuple(calls)

    def check(self, player: Player, answer: Any) -> Fault | None:
        """Returns the fault in `answer`, typed or as plain JSON values; None = legal.

        ValueError if the seat is not awaited.
        """
        method = self.awaited.get(player)
        if method is None:
            raise ValueError(f"an answer from seat {player}, but awaited are {_words(self.awaited)}")
        judged = self._judge(player, method, answer)
        return judged if isinstance(judged, Fault) else None

    def apply(self, answers: Mapping[Player, Any]) -> list[Event]:
        """Judges and plays one answer or `Fault` for each awaited seat.

        ValueError if the answers are not from exactly the awaited seats, if the match is over, or if an awaited seat is
        out, which is a bug of the engine.
        """
        return self.step(self.judged(answers))

    def judged(self, answers: Mapping[Player, Any]) -> dict[Player, Any]:
        """Returns what `step` gets for these answers: each in its type, or its `Fault`. ValueError as in `apply`."""
        awaited = self.awaited
        if len(answers) != len(awaited) or not answers:
            raise _unexpected(answers, awaited)
        if self.out and not self.out.isdisjoint(awaited):
            raise ValueError(f"awaited are {_words(awaited)}, but seats {sorted(self.out)} are out")
        judged = {}
        for player, method in awaited.items():
            if player not in answers:
                raise _unexpected(answers, awaited)
            answer = answers[player]
            judged[player] = answer if isinstance(answer, Fault) else self._judge(player, method, answer)
        return judged

    @final
    def legal(self, player: Player) -> Iterator[Any]:
        """Returns every legal answer of an awaited seat, lazily, in a fixed order. ValueError for any other seat."""
        if player not in self.awaited:
            raise ValueError(f"legal of seat {player}, but awaited are {_words(self.awaited)}")
        return self._legal(player)

    @final
    def sample(self, player: Player, dice: Dice) -> Any:
        """Draws a legal answer of an awaited seat with `dice`. ValueError for any other seat."""
        if player not in self.awaited:
            raise ValueError(f"sample of seat {player}, but awaited are {_words(self.awaited)}")
        return self._sample(player, dice)

    def forfeit(self, faults: Mapping[Player, Fault]) -> list[Event]:
        """Takes seats out of the match, in or out of turn; `faults` says why.

        For faults outside an answer: a program that never greeted, refused the game or ended between two calls. Pass
        all seats that are lost together, since the winner depends on it. Allowed at any time after `opening`. Each seat
        gets a `Ruling` with `out`: it has lost, and the game ranks the others. A result never changes: after it, the
        seat only misses the closing calls.

        ValueError if there is no such seat or it is out already: a bug of the driver.
        """
        if strange := faults.keys() - (set(self._seats) - self.out):
            raise ValueError(f"seats {sorted(strange)} cannot forfeit: there is no such seat, or it is out already")
        if not faults:
            return []
        self.out |= faults.keys()
        if self.result is None:
            return self._forfeited(dict(sorted(faults.items())))
        self.awaited = {player: method for player, method in self.awaited.items() if player not in self.out}
        return [Ruling(player, fault, "none", True) for player, fault in sorted(faults.items())]

    def stop(self, reason: str) -> list[Event]:
        """Ends an undecided match from outside (match clock, operator). A draw unless the game ranks the seats."""
        return self.finish(draw(reason, len(self._seats)))

    def inject(self, player: Player, answers: Sequence[Mapping[str, Any]], reason: str = NOT_YOUR_TURN) -> list[Event]:
        """Plays what a seat does out of turn, in games that have rules for it. `reason` describes the fault.

        ValueError if nobody can act out of turn in this game, or not now.
        """
        raise ValueError(f"seat {player} cannot act out of turn: this game has no cheats")

    # For engines to define.

    @abstractmethod
    def step(self, answers: Mapping[Player, Any]) -> list[Event]:
        """Plays the judged answers of all awaited seats, each legal or a `Fault`. Drivers use `apply`."""

    @abstractmethod
    def _legal(self, player: Player) -> Iterator[Any]:
        """Yields every legal answer of an awaited seat, in a documented order."""

    # For engines to override.

    def params(self, player: Player) -> Any:
        """Returns what the call to an awaited seat shows it, a value of the method's `params` type: its view."""
        return self._view(player)

    def refusal(self, player: Player, answer: Any) -> str | None:
        """Returns why the rules refuse `answer`, for the bot's author; None = legal.

        `answer` has the awaited method's `answer_type`. Changes nothing and never raises. The default looks for the
        answer among all legal ones.
        """
        legal = list(self._legal(player))
        if answer in legal:
            return None
        expected = ", ".join(map(in_json, legal[:3])) + ", …" * (len(legal) > 3)
        return f"{in_json(answer)} is not legal now; expected one of {expected}"

    def _sample(self, player: Player, dice: Dice) -> Any:
        """Draws a legal answer of an awaited seat. A game with too many to list overrides it."""
        return dice.choice(list(self._legal(player)))

    def _forfeited(self, faults: Mapping[Player, Fault]) -> list[Event]:
        """Handles `forfeit` in an undecided match; `faults` in seat order, all in `out` already."""
        rulings: list[Event] = [Ruling(player, fault, LOSES, True) for player, fault in faults.items()]
        return rulings + self.finish(self._walkover(faults))

    # Tools for engines.

    def rule(self, player: Player, fault: Fault, penalty: str) -> Ruling:
        """Makes the ruling on a fault in an answer. After a fatal one the seat is out."""
        if fault.fatal:
            self.out |= {player}
        return Ruling(player, fault, penalty, fault.fatal)

    def finish(self, result: Result) -> list[Event]:
        """Decides the match; closing calls follow, if the game has them. A game that tells the seats overrides it."""
        closing = self.CLOSING
        self.result = result
        self.awaited = {} if closing is None else {seat: closing for seat in self._seats if seat not in self.out}
        return []

    def _closed(self, answers: Mapping[Player, Any]) -> list[Event]:
        """Ends the match after the closing calls."""
        self.awaited = {}
        return [self.rule(seat, answer, "none") for seat, answer in answers.items() if isinstance(answer, Fault)]

    def _walkover(self, faults: Mapping[Player, Fault]) -> Result:
        """Returns the result after the seats in `out` and those at fault have lost: the others share rank and point.

        Its reason is the kind of the first fault. If no seat is left, nobody wins: a draw for the reason `no_winner`.
        """
        seats = self._seats
        left = [seat for seat in seats if seat not in self.out and seat not in faults]
        if not left:
            return draw("no_winner", len(seats))
        ranks = tuple([1 if seat in left else len(left) + 1 for seat in seats])
        scores = tuple([1 / len(left) if seat in left else 0.0 for seat in seats])
        return Result(ranks, scores, next(iter(faults.values())).kind.value)

    def _judge(self, player: Player, method: Method, answer: Any) -> Any:
        """Returns the answer in its type, or its Fault."""
        answer_type = method.result if method.accepts is None else method.accepts
        judged = answer
        if answer_type is Any:
            if isinstance(answer, Struct):
                judged = msgspec.to_builtins(answer)
        elif type(answer) is not answer_type:
            try:
                judged = typed(answer, answer_type)
            except (msgspec.ValidationError, UnicodeEncodeError) as error:  # the latter: a key with half a character
                return Fault(FaultKind.ILLEGAL, str(error), answer)
        detail = self.refusal(player, judged)
        return judged if detail is None else Fault(FaultKind.ILLEGAL, detail, answer)


_ENCODER = msgspec.json.Encoder()


def _unexpected(answers: Mapping[Player, Any], awaited: Mapping[Player, Method]) -> ValueError:
    return ValueError(f"answers from seats {sorted(answers)}, but awaited are {_words(awaited)}")


def _words(awaited: Mapping[Player, Method]) -> str:
    return str(sorted(awaited)) if awaited else "none: the match is over"


def typed(answer: Any, answer_type: Any) -> Any:
    """Returns `answer` as a value of `answer_type`, strictly: no text for a number, no 1.0 or true for 1.

    Raises msgspec.ValidationError.
    """
    if isinstance(answer, Struct):
        if isinstance(answer_type, type) and isinstance(answer, answer_type):
            return answer
        answer = msgspec.to_builtins(answer)
    return msgspec.convert(answer, answer_type)


def in_json(value: Any) -> str:
    """Returns the first 100 characters of a value as JSON, whatever a bot sent."""
    try:
        return _ENCODER.encode(value).decode()[:100]
    except (ValueError, RecursionError):  # a huge number or half a character; a deep tree
        return in_brief(value)


def in_brief(value: Any) -> str:
    """Describes what a bot sent in one line of bounded length."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if abs(value) < 1 << 64 else "a number beyond 64 bits"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, str):  # in ASCII, since digits of other scripts look alike
        return ascii(value) if len(value) <= 60 else ascii(value[:60]) + "…"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}" if value else "an empty list"
    return "an object" if isinstance(value, dict) else f"a {type(value).__name__}"
