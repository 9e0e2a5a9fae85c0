"""The rules of a game as a program, for `referee --game ./folder` (protocol/SPEC.md, part two).

Rules are pure functions. The referee sends a position, the answers and the luck; the rules return the next position and
what follows from it. They keep nothing in between, and read no clock, file or random numbers.

A game derives from `Rules` and ends with `run(MyGame)`. Positions, options, params and answers are JSON values.
`random_game` is for its tests.
"""

import json
from collections.abc import Callable, Mapping, MutableSequence, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Generic, Self, TypeVar

from referee_kit.wire import Bot, Frames, Refusal, Server, UnknownMethod, choose, take_pipes

P = TypeVar("P")  # the game's positions
T = TypeVar("T")

_MASK = (1 << 64) - 1


class Luck:
    """The luck of one step: the same luck gives the same draws. A game without luck ignores it.

    SplitMix64, as in the other kits and in the referee's own games.
    """

    def __init__(self, seed: int) -> None:
        self.seed = self.state = seed & _MASK

    def bits(self) -> int:
        """Draws 64 random bits."""
        self.state = (self.state + 0x9E3779B97F4A7C15) & _MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def below(self, n: int) -> int:
        """Draws a whole number 0 … n-1."""
        limit = (1 << 64) - (1 << 64) % n  # numbers from the last whole multiple of n on would favour small results
        while (value := self.bits()) >= limit:
            pass
        return value % n

    def choice(self, items: Sequence[T]) -> T:
        """Draws one of the items."""
        return items[self.below(len(items))]

    def shuffle(self, items: MutableSequence[Any]) -> None:
        """Shuffles the items in place."""
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]


VERSION = 1  # of the conversation
INVALID_OPTIONS = -32602


class InvalidOptions(Refusal):
    """Thrown by `start` for options that make no match. The user sees the message."""

    code = INVALID_OPTIONS


@dataclass
class Fault:
    """Stands for the answer of a bot that gave none, or none of the right type."""

    kind: str  # timeout, crash, illegal, …: SPEC.md, 17
    detail: str  # a line for the bot's author
    answer: Any = None  # what the bot sent, if the kind is illegal

    @property
    def fatal(self) -> bool:
        """Whether the bot's process has ended: the seat is out, and no turn may await it."""
        return self.kind not in ("timeout", "error", "illegal")


@dataclass
class Result:
    """How the match ended, in seat order."""

    ranks: list[int]  # 1 = best; ties share a rank
    scores: list[float]  # 1, 0.5 and 0 for win, draw and loss, or points
    reason: str  # in a few words


@dataclass
class Turn(Generic[P]):
    """A position and what follows from it. The methods add to it and return it."""

    position: P
    calls: dict[int, dict[str, Any]] = field(default_factory=dict)  # by seat; none = the match is over
    notices: list[dict[str, Any]] = field(default_factory=list)
    rulings: list[dict[str, Any]] = field(default_factory=list)
    result: Result | None = None
    out: list[int] = field(default_factory=list)  # the seats that are never called again
    text: str = ""  # the position, drawn for people
    scores: list[float] = field(default_factory=list)  # how well each seat stands, for people only
    marks: dict[str, Any] = field(default_factory=dict)  # what a painter draws besides the view
    opening: bool = False  # the calls have the time limit of the opening
    warnings: list[str] = field(default_factory=list)  # after `start`: options that are not played exactly as given

    def ask(self, seat: int, method: str, params: Mapping[str, Any] | None = None) -> Self:
        """Asks a seat for an answer. `params`: what this seat may see."""
        self.calls[seat] = {"method": method, "params": {} if params is None else params}
        return self

    def notice(self, method: str, params: Mapping[str, Any], to: Sequence[int] | None = None) -> Self:
        """Tells seats something. None: every seat; no seat: the replay and its viewers."""
        notice = {"method": method, "params": params}
        self.notices.append(notice if to is None else {**notice, "to": list(to)})
        return self

    def refuse(self, seat: int, detail: str, penalty: str = "loses") -> Self:
        """Refuses an answer. `detail`: a line with what came and what was expected; `penalty`: what it costs."""
        return self._rule(seat, {"kind": "illegal", "detail": detail, "penalty": penalty})

    def punish(self, seat: int, penalty: str = "loses") -> Self:
        """Says what a given `Fault` costs. Every fault needs this."""
        return self._rule(seat, {"penalty": penalty})

    def _rule(self, seat: int, ruling: dict[str, Any]) -> Self:
        after = {"after": len(self.notices)} if self.notices else {}
        self.rulings.append({"seat": seat, **ruling, **after})
        return self

    def to_json(self) -> dict[str, Any]:
        """The turn as it is sent. Members that say nothing are left out."""
        calls = {str(seat): call for seat, call in self.calls.items()}
        rest = {
            name: value for name, value in vars(self).items() if name not in ("position", "calls", "result") and value
        }
        result = {} if self.result is None else {"result": vars(self.result)}
        return {"position": self.position, "calls": calls, **rest, **result}


class Rules(Generic[P]):
    """The rules of a game. All methods but the first two are optional: the kit tells the referee which there are."""

    game: str  # its name in game.toml

    def start(self, options: Any, seats: int, luck: Luck) -> Turn[P]:
        """Returns the first position. InvalidOptions if the options make no match."""
        raise NotImplementedError

    def step(self, position: P, answers: Mapping[int, Any], luck: Luck) -> Turn[P]:
        """Returns the next position. `answers` has a value or a `Fault` for each seat that was called."""
        raise NotImplementedError

    def view(self, position: P, seat: int | None) -> Any:
        """Returns what a seat may see, an object; None = everything. Undefined: nothing is hidden.

        `View` adds a drawing for the seat.
        """
        raise NotImplementedError

    def legal(self, position: P, seat: int, most: int) -> Sequence[Any] | None:
        """Returns the legal answers of an awaited seat in a fixed order, at most `most`. None: too many to list."""
        return None

    def sample(self, position: P, seat: int, luck: Luck) -> Any:
        """Draws a legal answer. Needed where `legal` returns None."""
        raise NotImplementedError

    def forfeit(self, position: P, faults: Mapping[int, Fault], luck: Luck) -> Turn[P]:
        """Takes seats out that cannot play on. Undefined: each loses, and the others share the win."""
        raise NotImplementedError

    def stop(self, position: P, reason: str) -> Turn[P]:
        """Ends the match from outside. Undefined: a draw."""
        raise NotImplementedError

    def deal(self, position: P, seat: int | None, luck: Luck) -> Turn[P]:
        """Draws again what is hidden from a seat; None: from the awaited seats together.

        Undefined: a person cannot take back an answer.
        """
        raise NotImplementedError

    def inject(self, position: P, seat: int, answers: Sequence[Any], reason: str, luck: Luck) -> Turn[P]:
        """Plays what a seat did out of turn. Undefined: nobody can act out of turn."""
        raise NotImplementedError


@dataclass
class View:
    """The view of a seat, and the position drawn for it."""

    view: Any
    text: str = ""


OPTIONAL = ("view", "legal", "sample", "forfeit", "stop", "deal", "inject")


def run(rules_class: type[Rules[Any]]) -> None:
    """Serves the rules until the referee ends the program."""
    reading, writing = take_pipes()
    RulesServer(rules_class(), Frames(reading), writing).serve()


class RulesServer(Server):
    """Answers the referee's requests."""

    def __init__(self, rules: Rules[Any], frames: Frames, writing: int) -> None:
        super().__init__(Program, rules.game, "", frames, writing)
        self.rules = rules

    def initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        """Agrees on the encoding, and says which optional requests the rules answer."""
        if params.get("rules", VERSION) != VERSION or params.get("game", self.name) != self.name:
            raise RuntimeError(
                f"these are rules of {self.name}, version {VERSION} of the protocol; asked for: {params}"
            )
        self.frames.encoding = choose(params.get("encodings", ["json"]))
        self.bot = Program(self.rules)
        defined = [name for name in OPTIONAL if getattr(type(self.rules), name) is not getattr(Rules, name)]
        return {"name": self.name, "encoding": self.frames.encoding, "requests": defined}


class Program(Bot):
    """Gives the rules their arguments."""

    def __init__(self, rules: Rules[Any]) -> None:
        self.rules = rules

    def call(self, method: str, params: dict[str, Any]) -> Any:
        """Answers a request of the referee. Params that this kit does not know are ignored."""
        rules, position, seat = self.rules, params.get("position"), params.get("seat")
        luck = Luck(int(params.get("luck", "0"), 16))
        answers = {int(seat): answer for seat, answer in params.get("answers", {}).items()} if method == "step" else {}
        faults = {int(seat): fault_of(fault) for seat, fault in params.get("faults", {}).items()}
        match method:
            case "start":
                return rules.start(params["options"], params["seats"], luck).to_json()
            case "step":
                return rules.step(position, {**answers, **faults}, luck).to_json()
            case "view":
                shown = rules.view(position, seat)
                return vars(shown) if isinstance(shown, View) else {"view": shown}
            case "legal":
                return rules.legal(position, params["seat"], params["most"])
            case "sample":
                return rules.sample(position, params["seat"], luck)
            case "forfeit":
                return rules.forfeit(position, faults, luck).to_json()
            case "stop":
                return rules.stop(position, params["reason"]).to_json()
            case "deal":
                return rules.deal(position, params.get("seat"), luck).to_json()
            case "inject":
                turn = rules.inject(position, params["seat"], params["answers"], params["reason"], luck)
                return turn.to_json()
        raise UnknownMethod(f"unknown request {method}")


def fault_of(members: dict[str, Any]) -> Fault:
    return Fault(members["kind"], members["detail"], members.get("answer"))


# For a game's tests.


def random_game(
    rules: Rules[P], options: Any = None, seats: int = 2, seed: int = 1, most: int = 10_000
) -> list[Turn[P]]:
    """Plays random legal answers to the end, and returns all turns.

    AssertionError for what `referee check` would find too: a legal answer that is ruled, a step that does not follow
    from what it is given, a position that is no JSON value, a result that does not rank all seats, a match without end.
    """
    luck = Luck(seed)
    turn: Turn[P] = _asked_twice(rules.start, {} if options is None else options, seats, luck.bits())
    turns = [turn]
    while turn.calls:
        assert len(turns) <= most, f"no end after {most} steps"
        answers = {}
        for seat in turn.calls:
            legal = rules.legal(turn.position, seat, 1000)
            answers[seat] = rules.sample(turn.position, seat, luck) if legal is None else luck.choice(legal)
        turn = _asked_twice(rules.step, turn.position, answers, luck.bits())
        assert not turn.rulings, f"a legal answer is ruled: {answers} -> {turn.rulings}"
        turns.append(turn)
    result = turn.result
    assert result is not None, "the match is over without a result"
    assert len(result.ranks) == len(result.scores) == seats, f"the result does not rank {seats} seats: {result}"
    return turns


def _asked_twice(ask: Callable[[Any, Any, Luck], Turn[P]], first: Any, second: Any, bits: int) -> Turn[P]:
    """The turn as the referee gets it. The two questions share nothing, so that the rules cannot change one."""
    once, again = [ask(deepcopy(first), deepcopy(second), Luck(bits)) for _ in range(2)]
    sent = json.dumps(once.to_json())
    assert json.dumps(again.to_json()) == sent, f"the same question has another answer: {again} != {once}"
    once.position = json.loads(sent)["position"]
    return once
