"""The registration of a game: its engine, types, defaults and presentation."""

from collections.abc import Callable, Mapping, Sequence
from types import NoneType
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from referee.games.board import Board
from referee.games.contract import LOSES, Call, Method, Setup, State, typed

Seconds = Annotated[float, Meta(ge=0, le=1e9)]
"""A time as people and files may give it: up to thirty years."""


class TimeControl(Struct, frozen=True):
    """Limits of time in seconds; None = no such limit."""

    initial_s: Seconds | None = None
    """The bank a seat starts with."""
    increment_s: Seconds = 0.0
    """Added to the bank after every answer in time."""
    per_call_s: Seconds | None = None
    match_s: Seconds | None = None
    opening_call_s: Seconds | None = None
    """Replaces `per_call_s` while the position is `in_opening`."""
    closing_call_s: Seconds | None = None
    """Replaces the limit of every method that has one of its own (closing calls); None = the game's."""
    answers: Annotated[int, Meta(ge=1)] | UnsetType = UNSET
    """After every so many answers, the bank gets what a seat started with; unset = never."""
    final_s: Seconds | UnsetType = UNSET
    """The seconds that the bank gets instead after the first of these periods, to the end; unset = periods repeat."""

    def own_s(self, method: Method) -> float | None:
        """Returns the limit of a method that has one of its own, None for any other."""
        return method.time_s if method.time_s is None or self.closing_call_s is None else self.closing_call_s


def _no_words(*_: Any) -> None:
    return None


def _no_text(*_: Any) -> str:
    return ""


def _nothing(*_: Any) -> tuple[()]:
    return ()


class Stakes(Struct, frozen=True, omit_defaults=True):
    """The amounts that a match is played for, where scores are amounts such as chips."""

    least: float
    """The lowest score that a seat can have."""
    total: float | None = None
    """The sum of all scores; None: it varies."""

    def after_faults(self, lost: Sequence[bool]) -> list[float]:
        """Returns the worth of a match that faults have decided, by seat. `lost`: whether the seat was at fault.

        It has lost the most that can be lost, or a fault would be better than a bad hand. The others share the rest, or
        have 0 if the sum varies.
        """
        others = lost.count(False)
        rest = 0.0 if self.total is None or not others else (self.total - self.least * lost.count(True)) / others
        return [self.least if each else rest for each in lost]


class Score(Struct, frozen=True):
    """A number that shows how well each seat is doing: a measure for people, which decides nothing."""

    unit: str
    """The unit, in the words that follow the numbers: `points`."""
    meaning: str
    """A sentence that explains the unit."""
    count: Callable[[Any], Sequence[float]]
    """Takes a `State`, also a decided one, and returns a number for each seat."""
    fewest: bool = False
    """Whether the fewest are best."""


class Highlight(Struct, frozen=True):
    """Something in a match that people want to find again."""

    kind: Literal["capture", "death", "lead"]
    words: str
    """A phrase with the names of those whom it concerns."""


class Presentation(Struct, frozen=True):
    """How people see and write what is played, with the same coordinates for both sides. Every part is optional."""

    frame: str = ""
    """The meaning of the coordinates, and from whose side."""
    history: Callable[[Any, int], Sequence[str]] = _nothing
    """The moves so far that a seat may know, in words, each with who made it. Takes the state and the seat."""
    start: Callable[[Any, int], str] = _no_text
    """The position that the match began from, in words that the seat may know; empty = the usual one. Takes the state
    and the seat."""
    answer: Callable[[Call, Any], str | None] = _no_words
    """Words for an answer to a call; None = print it as JSON. The answer has the documented type, but may break the
    rules. Callers use `in_words`."""
    event: Callable[[str, Mapping[str, Any], Sequence[str]], str | None] = _no_words
    """Words for an event: its function, its params as plain values and the seats' names. Empty: the answers and the
    board show it already. None = print it as JSON."""
    highlights: Callable[[Any, Any, Sequence[Mapping[str, Any]], Sequence[str]], Sequence[Highlight]] = _nothing
    """The captures and deaths of a turn, for the time line. Takes `view(None)` before and after it, its events as plain
    values and the seats' names. `score` gives the changes of the lead, and the referee knows the faults."""
    read: Callable[[Call, str], Any] = _no_words
    """The answer that a person's text means, if too many are legal to list them; None = none."""
    board: Callable[[Any, int | None], Board | None] = _no_words
    """What there is to see of a position, as data that the viewer and the terminal draw. Takes the state and the seat,
    which may see no more than its view has; None = everything. Returns None if the game has no board."""
    clicks: Callable[[Any, int, Any], Sequence[str]] = _nothing
    """The clicks on the board that mean an answer: names of its cells in their order, and texts of buttons, each after
    "!". Takes the state, the seat and the answer, which has the documented type. Callers use `keys`."""
    secret: frozenset[str] = frozenset()
    """The functions whose answers the other seats do not see."""
    signs: tuple[str, ...] = ()
    """A regular expression for each seat that finds the signs of its pieces in a line of the drawn board."""
    legend: Mapping[str, str] = {}
    """The meaning of each sign of a drawn position (`str(state)`), in the order to print."""
    endings: Mapping[str, str] = {}
    """Words for each reason of a result, such as `{loser}'s queen was killed`. `referee.games.ending` fills in
    `{winner}`, `{loser}`, `{scores}` (the best first) and `{detail}` (what follows a colon in the reason). It has words
    for faults itself."""
    score: Score | None = None
    """How well each seat stands, to say from which turn on the loser was behind."""
    losing: frozenset[str] = frozenset({LOSES})
    """The penalties of faults after which a seat has lost."""
    card_names: Mapping[str, str] = {}
    """The names of pieces or cards that views show by number, by that number."""
    card_texts: Mapping[str, str] = {}
    """The text of a card besides its name, such as cost and strength, by the same number."""

    def legend_line(self) -> str:
        """Returns the legend in a line, to print under a drawn position; empty if there is none."""
        return "   ".join(f"{sign} {meaning}" for sign, meaning in self.legend.items())

    def keys(self, state: Any, player: int, answer: Any) -> list[str]:
        """Returns the clicks for any answer as it came; none if the game has no words for it."""
        try:
            return [*self.clicks(state, player, typed(answer, state.awaited[player].answer_type))]
        except (msgspec.ValidationError, UnicodeEncodeError):
            return []

    def in_words(self, call: Call, answer: Any) -> str | None:
        """Returns words for any answer as it came; None if the game has no words for it.

        The answer to a call without a result is the call's name.
        """
        if call.method.result is NoneType:
            return call.method.name
        try:
            return self.answer(call, typed(answer, call.method.result))
        except (msgspec.ValidationError, UnicodeEncodeError):
            return None


class Game(Struct, frozen=True, eq=False):
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
    """Makes the position that such a view shows. Callers use `position`."""
    doc: str = ""
    """The docstring of its module. Its first paragraph says what the game is."""
    constants: Mapping[str, Any] = {}
    """Names of the rules' document for numbers and texts, for schemas, kits and pages: whole numbers, texts or flat
    tuples of either."""
    fresh: bool = False
    """Whether every match starts new processes, even for bots that could be used again."""
    vary: Mapping[str, Any] = {}
    """Options that make the start depend on the seed. Empty: it does so already, or bots make it. A bot's
    own set-up is a part of the bot, and no option here takes it away."""
    set_up: tuple[str, ...] = ()
    """The methods by which a bot sets up before the play begins."""
    leaves_out: Mapping[str, str] = {}
    """What bots are not asked for, by the option that takes it away."""
    short: Mapping[str, Any] = {}
    """Options for a match of a few seconds that ends by itself, for first tries, tests and benchmarks."""
    presentation: Presentation = Presentation()
    rules_page: str = ""
    """The page with the rules, in Markdown. This path and the next three are relative to the folder of the module that
    defines `options`; the referee's own games need no paths."""
    prompt: str = ""
    """A template whose blocks replace those of the prompts for language models."""
    painter: str = ""
    """The script that draws the board in the viewer. `docs/reference/game-packages.md` documents its interface."""
    starters: str = ""
    """A folder with one for each language that `referee new` has a bot in: `python/bot.py` and its binding."""
    opponents: Mapping[str, str] = {}
    """Built-in bots that the package brings: the name, `@` apart, and the module that `python -m` runs. Or the absolute
    path of a bot, of games that no package brings. `NAME:NUMBER` is a bot that takes a number as its argument, and the
    number that it has otherwise: `mcts:100` plays as `@mcts`, or as `@mcts:1000`."""
    encoding: str = ""
    """The module whose `ENCODING` turns positions into arrays for training (`referee.rl`). The referee's own games need
    no name."""
    files: str = ""
    """The module whose `FILES` reads and writes the game's own files (`harness/common/game_files.py`), such as PGN."""
    stakes: Callable[[Any, int], Stakes | None] = _no_words
    """Takes options and the number of seats; returns what a match is played for. None: scores are no amounts."""
    version: int = 1
    """Raised when the same answers may lead to another result: a replay names it."""
    sha256: str = ""
    """The hash of the files with its rules, if no package brings them: a replay names it."""
    stderr_to: Callable[[str], None] | None = None
    """For rules that are a program: keeps its standard error in the file of that name from now on; "" = nowhere."""

    @property
    def ending(self) -> Mapping[str, Any]:
        """Options with which a match ends by itself: those of `short` if normally only a clock ends it, or none."""
        return self.short if self.time.match_s is not None else {}

    def position(self, setup: Setup, view: Any) -> State:
        """Returns the position that a `view(None)` of that setup shows, also if given as plain JSON values.

        It has the same key, and the same answers lead to the same future. ValueError if the view shows no position.
        """
        if self.rebuild is None:
            raise ValueError(f"{self.name} cannot make positions from views")
        return self.rebuild(setup, msgspec.convert(msgspec.to_builtins(view), self.view, str_keys=True))


def named(namespace: Mapping[str, Any], names: str) -> dict[str, Any]:
    """Returns the constants of a module that `names`, separated by blanks, lists. KeyError if one is missing."""
    return {name: namespace[name] for name in names.split()}


def choice(namespace: Mapping[str, Any], names: str) -> dict[str, Any]:
    """Returns the JSON Schema of a number that is one of these constants, with their names.

    For `Meta(extra_json_schema=…)` of an alias in a game's types. Kits make an enumeration of it where the language has
    one, with the alias's name. Nothing is validated.
    """
    constants = named(namespace, names)
    return {"enum": [*constants.values()], "x-enum-varnames": [*constants]}


class Listed(Struct, frozen=True):
    """A game of a family, as a list shows it."""

    name: str
    title: str
    seats: range
    dynamics: str
    """`sequential` or `simultaneous`."""
    information: str
    """`perfect`, `imperfect` or `one shot`."""
    chance: bool
    """Whether luck is part of its rules."""


class Family(Struct, frozen=True):
    """Many games under one prefix, which are made when they are asked for: `NAME:GAME`."""

    name: str
    title: str
    package: str
    """The module that must be installed."""
    extra: str
    """The extra that installs it."""
    game: Callable[[str], Game]
    """Returns the game of that name, the prefix apart. KeyError with the reason if there is none."""
    listed: Callable[[], Sequence[Listed]]
    """Returns all games that can be played."""
    environment: Callable[[str], Game] | None = None
    """As `game`, also for games for one player, which only environments for training play; None: there are none."""
