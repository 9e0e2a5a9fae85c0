"""What an engine promises to whoever drives it.

An engine is a `State`: one position of one match. It says whose answers it awaits, is given all of them at once
with `apply`, and says what happened as a list of events. It knows rules and nothing else: no clock, no process, no
luck but the seed in its `Setup`. Read `referee.games.tictactoe` first; every engine has its shape.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import wraps
from typing import Any, ClassVar, Self

import msgspec
from msgspec import Struct

from referee.games.dice import Dice

Player = int
"""A seat, 0-based."""


NOT_YOUR_TURN = "Not your turn"
"""What an answer out of turn is called, unless somebody knows better."""


class FaultKind(StrEnum):
    """What a bot did wrong. ILLEGAL is found by the engine, the rest by the referee."""

    TIMEOUT = "timeout"
    CRASH = "crash"
    CPU = "cpu"
    MEMORY = "memory"
    OUTPUT = "output"
    PROCESSES = "processes"
    FILES = "files"
    PROTOCOL = "protocol"
    ERROR = "error"
    ILLEGAL = "illegal"


FATAL = frozenset(
    {
        FaultKind.CRASH,
        FaultKind.CPU,
        FaultKind.MEMORY,
        FaultKind.OUTPUT,
        FaultKind.PROCESSES,
        FaultKind.FILES,
        FaultKind.PROTOCOL,
    }
)
"""The kinds that end the process: nobody is left there who could answer."""


class Fault(Struct, frozen=True):
    """A bot's failure to give an answer that counts: a value, never an exception."""

    kind: FaultKind
    detail: str
    """One line for the bot's author: what came, what was wanted."""
    answer: Any = None
    """The refused answer as it came, when `kind` is ILLEGAL: some games show it to both players."""

    @property
    def fatal(self) -> bool:
        """The process is gone; a seat with such a fault is out."""
        return self.kind in FATAL


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
    """What the game pays, in its own unit: 1, ½ and 0 for win, draw and loss, or points."""
    reason: str
    """Why it ended, in one or few words."""


def win(winner: Player, reason: str) -> Result:
    """A two-player result that `winner` (0 or 1) wins: 1 point to 0."""
    return Result((1, 2), (1.0, 0.0), reason) if winner == 0 else Result((2, 1), (0.0, 1.0), reason)


def draw(reason: str) -> Result:
    """A drawn two-player result: half a point each."""
    return Result((1, 1), (0.5, 0.5), reason)


def walkover(seats: int, out: Collection[Player], reason: str) -> Result:
    """What a match ends with in which the seats `out` have lost: the others share the first rank and one point.

    With nobody left nobody has won: a shared rank, for the reason `no_winner`.
    """
    left = [player for player in range(seats) if player not in out]
    if not left:
        return Result((1,) * seats, (1 / seats,) * seats, "no_winner")
    ranks = tuple(1 if player in left else len(left) + 1 for player in range(seats))
    return Result(ranks, tuple(1 / len(left) if player in left else 0.0 for player in range(seats)), reason)


class Standing(Struct, frozen=True):
    """What every position has beside its board: a part of every `view(None)`."""

    awaited: dict[Player, str]
    """The functions awaited, by seat."""
    out: tuple[Player, ...]
    """The seats that are past answering, ascending."""
    result: Result | None
    """None while the match goes on."""
    luck: str
    """What the dice go on from: 16 hexadecimal digits, since 64 bits are more than many readers of JSON can hold."""


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
    closing_call_s: float | None = None
    """In place of the limit that a method has of its own, as the last call of a match has; None = the game's."""

    def own_s(self, method: Method) -> float | None:
        """The limit of a method that has one of its own, None of any other."""
        return method.time_s if method.time_s is None or self.closing_call_s is None else self.closing_call_s


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


class Notation(Struct, frozen=True):
    """How people read and write what is played: one manner and one frame of reference for both sides."""

    frame: str
    """What the coordinates count, and from whose side."""
    answer: Callable[[Call, Any], str | None]
    """An answer to a call in a few words. It has the documented type, but may break the rules; None = no words."""
    event: Callable[[str, Mapping[str, Any], Sequence[str]], str | None]
    """An event, by its function, its params as plain values and the names of the seats. Empty: the answers and the
    board have told it. None = it has no words."""
    read: Callable[[Call, str], Any] | None = None
    """The answer that a text names where the legal ones are too many to list; None = it names none."""
    secret: frozenset[str] = frozenset()
    """The functions whose answers the other seats do not see."""
    signs: tuple[str, ...] = ()
    """By seat, a regular expression for the signs of its pieces in a line of the drawn board."""

    def in_words(self, call: Call, answer: Any) -> str | None:
        """Any answer, as it came: None where the game has no words for it."""
        try:
            return self.answer(call, typed(answer, call.method.result))
        except (msgspec.ValidationError, UnicodeEncodeError):
            return None


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
    view: Any = None
    """The type of `State.view(None)`."""
    seat_view: Any = None
    """The type of `State.view(player)`; None: the same."""
    rebuild: Callable[[Setup, Any], State] | None = None
    """The position that such a view shows, in that setup. Use `position`."""
    doc: str = ""
    """The docstring of its module: its first paragraph says what the game is."""
    constants: Mapping[str, Any] = {}
    """The names that the rules' document gives to numbers and texts, for schemas, kits and pages: whole numbers, texts
    or flat tuples of either."""
    fresh: bool = False
    """Every match is played by processes of its own, also by bots that could be used again."""
    vary: Mapping[str, Any] = {}
    """Options that make the start follow from the seed, where it does not by itself: for whoever wants many different
    matches. Empty: every seed is another match already."""
    short: Mapping[str, Any] = {}
    """Options for a match of a few seconds that ends by itself: for first tries, tests, benchmarks and examples."""
    legend: Mapping[str, str] = {}
    """What each sign of a drawn position (`str(state)`) means, in the order to print."""
    pieces: Mapping[str, str] = {}
    """The names of what views show by a number, such as cards, by that number."""
    prints: Mapping[str, str] = {}
    """What stands on them beside the name, such as cost and strength, by the same number: for people who choose."""
    notation: Notation | None = None
    """How answers are written for people; None = as JSON."""
    version: int = 1
    """Raised when the same answers may lead to another result: a replay names it."""

    @property
    def ending(self) -> Mapping[str, Any]:
        """Options with which a match ends soon: those of a short one where else only a clock would end it, or none."""
        return self.short if self.time.match_s is not None else {}

    def position(self, setup: Setup, view: Any) -> State:
        """The position that `view` shows: what `State.view(None)` gave in that setup, or the same as plain JSON values.

        It has the same key, and the same answers lead to the same future. ValueError if it is no such view.
        """
        if self.rebuild is None:
            raise ValueError(f"{self.name} cannot make positions from views")
        return self.rebuild(setup, msgspec.convert(msgspec.to_builtins(view), self.view, str_keys=True))


def named(namespace: Mapping[str, Any], names: str) -> dict[str, Any]:
    """These constants of a module, `names` with blanks between them, in this order. KeyError for one it has not."""
    return {name: namespace[name] for name in names.split()}


def choice(namespace: Mapping[str, Any], names: str) -> dict[str, Any]:
    """What a schema says of a number that is one of these constants: their values, and beside them their names.

    For `Meta(extra_json_schema=…)` of an alias in a game's types: the kits of languages that have enumerations make one
    of it, called like the alias. Nothing is checked by it.
    """
    constants = named(namespace, names)
    return {"enum": [*constants.values()], "x-enum-varnames": [*constants]}


class State(ABC):
    """One position of one match. Mutable: `copy` before exploring."""

    METHODS: ClassVar[Mapping[str, Method]]
    """By name, the same mapping as in the `Game`."""

    setup: Setup
    dice: Dice
    """All luck of the match: an engine draws from nothing else, and says what each draw is for."""
    warnings: Sequence[str] = ()
    """One line each, for whoever chose options that are played, but not quite as they stand."""
    result: Result | None
    """Set exactly once, when decided. Closing calls (`registerWin`, `end`) may still follow."""
    awaited: Mapping[Player, Method]
    """Whose answer is awaited now, to which function; more than one seat = simultaneous; empty = over."""
    out: frozenset[Player] = frozenset()
    """The seats that are past answering: no call is awaited from them any more. Kept by `forfeit` and `rule`."""
    in_opening: bool = False
    """The calls awaited now have the time control's `opening_call_s`, if there is one."""

    def __init_subclass__(cls) -> None:
        """Has `legal`, `sample` and `view` of every game refuse a seat that they have nothing to tell of."""
        super().__init_subclass__()
        for name, checked in _CHECKED.items():
            if name in cls.__dict__:
                setattr(cls, name, checked(cls.__dict__[name]))

    def __init__(self, setup: Setup, dice: Dice | None = None) -> None:
        """The first position of a match. `dice` in place of those of the setup's seed are for tests: `ScriptedDice`.

        ValueError, one line, for options that together make no match.
        """
        self.setup = setup
        self.dice = Dice(setup.seed) if dice is None else dice
        self.result = None

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

    def forfeit(self, faults: Mapping[Player, Fault]) -> list[Event]:
        """Takes seats out of the match that cannot play, whoever's turn it is; `faults` says why.

        For the driver, where no answer is at fault: a program that never greeted, that refused the game, that is gone
        between two calls. All seats that are lost together come in one call, since who has won depends on it. Allowed
        at any time, also before the first call (after `opening`) and after the result. Each seat gets a `Ruling` with
        `out`, is in `out` and is never awaited again. It has lost, and the game ranks the others: a game of two ends
        at once; one of more goes on while its rules have somebody to play with. If nobody is left to answer, the match
        is over. Once there is a result it stays: the seat is just spared the closing calls.

        ValueError for a seat that there is not, or that is out already: a bug of the driver's.
        """
        seats = set(range(len(self.setup.names)))
        if strange := faults.keys() - (seats - self.out):
            raise ValueError(f"seats {sorted(strange)} cannot forfeit: there is no such seat, or it is out already")
        if not faults:
            return []
        self.out |= faults.keys()
        if self.result is None:
            return self._forfeited(dict(sorted(faults.items())))
        self.awaited = {player: method for player, method in self.awaited.items() if player not in self.out}
        return [Ruling(player, fault, "none", True) for player, fault in sorted(faults.items())]

    def _forfeited(self, faults: Mapping[Player, Fault]) -> list[Event]:
        """What `forfeit` does to an undecided match; `faults` in seat order, all in `out` already.

        Override it in a game that goes on without them, or that has notices or closing calls at its end.
        """
        self.result, self.awaited = self._walkover(faults), {}
        return [Ruling(player, fault, "loses", True) for player, fault in faults.items()]

    def _walkover(self, faults: Mapping[Player, Fault]) -> Result:
        """The result when these seats have lost; its reason is the kind of the first fault."""
        reason = next(iter(faults.values())).kind.value
        return walkover(len(self.setup.names), self.out, reason)

    def rule(self, player: Player, fault: Fault, penalty: str) -> Ruling:
        """The ruling on a fault in an answer. For engines: a seat whose process is gone is `out` from here on."""
        if fault.fatal:
            self.out |= {player}
        return Ruling(player, fault, penalty, fault.fatal)

    def inject(self, player: Player, answers: Sequence[Mapping[str, Any]], offence: str = NOT_YOUR_TURN) -> list[Event]:
        """Plays what a seat does out of turn, in games that know what to make of that. `offence` says what it is.

        ValueError if nobody can act out of turn in this game, or not now.
        """
        raise ValueError(f"seat {player} cannot act out of turn: this game has no cheats")

    @abstractmethod
    def legal(self, player: Player) -> Iterator[Any]:
        """Every legal answer of an awaited seat, lazily, in a fixed documented order. ValueError for any other seat."""

    @abstractmethod
    def view(self, player: Player | None) -> Any:
        """What `player` may see, as a Struct; None = everything, luck and what is hidden too.

        From everything, `Game.position` makes the same position again. ValueError for a seat that there is not.
        """

    @abstractmethod
    def copy(self, seed: int | None = None) -> Self:
        """An independent position. A seed replaces all luck still to come, so that a search cannot foresee it."""

    @abstractmethod
    def key(self) -> bytes:
        """Everything that decides how the match goes on, as canonical bytes: equal keys, equal futures."""

    @abstractmethod
    def __str__(self) -> str:
        """The position as a drawing for people, several lines."""

    def shown_to(self, player: Player) -> str:
        """The same drawing with what this player may see. Override it in a game that hides something."""
        return str(self)

    def marks(self) -> Mapping[str, Any]:
        """What follows from this position by the rules and no view says, for pages that draw it: where pieces can go,
        what has won. JSON values; no bot is ever sent it. Override it in a game that has a painter for it."""
        return {}

    def standing(self) -> Standing:
        """The part of `view(None)` that is alike in all games."""
        awaited = {player: method.name for player, method in self.awaited.items()}
        return Standing(awaited, tuple(sorted(self.out)), self.result, f"{self.dice.state:016x}")

    def resume(self, standing: Standing) -> None:
        """Takes that part over, in a position that is made from a view."""
        self.awaited = {player: self.METHODS[name] for player, name in standing.awaited.items()}
        self.out, self.result = frozenset(standing.out), standing.result
        self.dice = Dice(int(standing.luck, 16))

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and `copy.deepcopy`: functions by name, so that they are the game's own again afterwards."""
        awaited = {player: method.name for player, method in self.awaited.items()}
        return {**self.__dict__, "awaited": awaited}

    def __setstate__(self, members: dict[str, Any]) -> None:
        self.__dict__.update(members)
        self.awaited = {player: self.METHODS[name] for player, name in members["awaited"].items()}

    def calls(self) -> tuple[Call, ...]:
        """The questions awaited now, in seat order."""
        return tuple([Call(player, method, self.params(player)) for player, method in self.awaited.items()])

    def check(self, player: Player, answer: Any) -> Fault | None:
        """Whether `answer`, typed or plain JSON values, is legal for `player`. Never raises for it.

        ValueError for a seat that is not awaited.
        """
        method = self.awaited.get(player)
        if method is None:
            raise ValueError(f"an answer from seat {player}, but awaited are {_seats(self.awaited)}")
        judged = self._judge(player, method, answer)
        return judged if isinstance(judged, Fault) else None

    def apply(self, answers: Mapping[Player, Any]) -> list[Event]:
        """Judges and plays one answer or `Fault` for each awaited seat. ValueError for any other set of seats, and when
        the match is over."""
        return self.step(self.judged(answers))

    def judged(self, answers: Mapping[Player, Any]) -> dict[Player, Any]:
        """What `step` is given for these answers: each in its type, or the `Fault` that it is. Changes nothing.

        ValueError as in `apply`.
        """
        if answers.keys() != self.awaited.keys() or not answers:
            raise ValueError(f"answers from seats {sorted(answers)}, but awaited are {_seats(self.awaited)}")
        judged = {}
        for player, method in self.awaited.items():
            answer = answers[player]
            judged[player] = answer if isinstance(answer, Fault) else self._judge(player, method, answer)
        return judged

    def sample(self, player: Player, dice: Dice) -> Any:
        """A legal answer drawn with `dice`; ValueError if there is none, and for a seat that is not awaited. Override
        where `legal` is huge."""
        return dice.choice(list(self.legal(player)))

    def _judge(self, player: Player, method: Method, answer: Any) -> Any:
        """The answer in its type, or the Fault that it is."""
        answer_type = method.result if method.accepts is None else method.accepts
        judged = answer
        if answer_type is Any:
            if isinstance(answer, Struct):
                judged = msgspec.to_builtins(answer)
        elif type(answer) is not answer_type:
            try:
                judged = typed(answer, answer_type)
            except (
                msgspec.ValidationError,
                UnicodeEncodeError,
            ) as error:  # UnicodeEncodeError comes of a key with half a character
                return Fault(FaultKind.ILLEGAL, str(error), answer)
        detail = self.refusal(player, judged)
        return judged if detail is None else Fault(FaultKind.ILLEGAL, detail, answer)


def _legal(function: Callable[[State, Player], Any]) -> Callable[[State, Player], Any]:
    """The same for a seat that is awaited; ValueError for any other."""

    @wraps(function)
    def legal(state: State, player: Player) -> Any:
        if player not in state.awaited:
            raise ValueError(f"legal of seat {player}, but awaited are {_seats(state.awaited)}")
        return function(state, player)

    return legal


def _sample(function: Callable[[State, Player, Dice], Any]) -> Callable[[State, Player, Dice], Any]:
    """The same for a seat that is awaited; ValueError for any other."""

    @wraps(function)
    def sample(state: State, player: Player, dice: Dice) -> Any:
        if player not in state.awaited:
            raise ValueError(f"sample of seat {player}, but awaited are {_seats(state.awaited)}")
        return function(state, player, dice)

    return sample


def _view(function: Callable[[State, Player | None], Any]) -> Callable[[State, Player | None], Any]:
    """The same for None, and for a seat that there is; ValueError for any other."""

    @wraps(function)
    def view(state: State, player: Player | None) -> Any:
        # Most who look are awaited, and to ask that is quicker.
        if player is not None and player not in state.awaited and player not in range(len(state.setup.names)):
            raise ValueError(f"view of seat {player}, but there are 0 to {len(state.setup.names) - 1}")
        return function(state, player)

    return view


_CHECKED: Mapping[str, Callable[[Any], Any]] = {"legal": _legal, "sample": _sample, "view": _view}


def _seats(awaited: Mapping[Player, Method]) -> str:
    """Those whose answers are wanted, in words."""
    return str(sorted(awaited)) if awaited else "none: the match is over"


def typed(answer: Any, answer_type: Any) -> Any:
    """`answer` as a value of type `answer_type`, strictly: no text for a number, no 1.0 or true for 1.

    Raises msgspec.ValidationError.
    """
    if isinstance(answer, Struct):
        if isinstance(answer_type, type) and isinstance(answer, answer_type):
            return answer
        answer = msgspec.to_builtins(answer)
    return msgspec.convert(answer, answer_type)
