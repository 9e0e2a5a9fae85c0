"""The rules of a check, and its results: findings and costs."""

from collections import ChainMap
from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from functools import cache
from itertools import chain, takewhile
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from msgspec import Struct, field

from referee.games.contract import FaultKind
from referee.games.game import Game
from referee.harness.addons import hooks
from referee.harness.check.source_lines import Place
from referee.harness.common.errors import RunError

if TYPE_CHECKING:
    from referee.harness.check.checks import Progress
    from referee.harness.check.trial import Trial


class Level(StrEnum):
    """ERROR refuses the bot, WARNING only with `--strict`. NOTE is information."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Rule(Struct, frozen=True):
    """Something that every bot must do. Reports contain its name, which never changes."""

    title: str
    advice: str
    """How to fix a failure."""
    section: str | None = None
    """The section of the document that requires it."""


class GameCheck(Protocol):
    """How rules of games are checked."""

    rules: "Mapping[str, Rule]"
    """In the order in which they are tried."""

    def takes(self, game: Game) -> bool:
        """Returns whether the rules of a game can be checked so."""

    def check(
        self, game: Game, spec: str, seed: int, options: Any, only: frozenset[str], progress: "Progress"
    ) -> "CheckReport":
        """Tries the rules, or those of `only`. `spec`: how the user names the game. RunError for a failed machine."""

    def not_started(self, game: Game, spec: str, seed: int, error: RunError) -> "CheckReport":
        """Returns the report of rules that cannot be started."""


class Added(NamedTuple):
    """A rule of an add-on."""

    name: str
    rule: Rule
    tried: "Callable[[Trial], Awaitable[str]]"
    """Tries it, and returns in a few words what was tried."""


RULES: Mapping[str, Rule] = {
    "builds": Rule("It builds, if bot.toml or its language says how", "fix the first error, and build again"),
    "starts": Rule(
        "The program starts and answers initialize",
        "answer the first line of standard input with its id, and flush standard output",
        "SPEC.md 6-7",
    ),
    "greets-json": Rule(
        "It plays in JSON when nothing else is offered",
        "choose one of the offered encodings, and write in that one",
        "SPEC.md 2, 7",
    ),
    "greets-msgpack": Rule(
        "It plays in MessagePack if it chose that",
        "write MessagePack after the answer to initialize, or choose json",
        "SPEC.md 3, 7",
    ),
    "answers-every-call": Rule(
        "Every call gets a legal answer",
        "try that call alone; print what the bot thinks to standard error",
        "SPEC.md 9-11",
    ),
    "every-seat": Rule("It plays at every seat", "read `seat` in initialize", "SPEC.md 6"),
    "exit": Rule(
        "It exits with code 0 within a second after exit, and leaves no process",
        "end the loop at the notification exit; wait for all child processes",
        "SPEC.md 14",
    ),
    "end-of-file": Rule(
        "It exits with code 0 within a second when standard input closes",
        "end the loop when a read returns nothing",
        "SPEC.md 14",
    ),
    "unknown-members": Rule(
        "It ignores unknown members and notifications; members may come in any order",
        "read members by name and ignore the others",
        "SPEC.md 8, 12",
    ),
    "chunked-pipes": Rule(
        "Frames may come in pieces", "read until the frame is complete: one read is not one frame", "SPEC.md 2-3"
    ),
    "slow-pipes": Rule("The rest of a frame may come late", "wait for the rest, without a time limit", "SPEC.md 2-3"),
    "largest-states": Rule(
        "It answers the last calls and the largest params", "try that call alone with these params", "SPEC.md 9"
    ),
    "repeatable": Rule(
        "The same seed gives the same answers",
        "take all random numbers from `seed` in initialize; do not depend on a clock",
        "SPEC.md 6",
    ),
    "many-games": Rule(
        'It plays several matches in one process, if it says "reuse"',
        'reset everything at initialize, or leave "reuse" out',
        "SPEC.md 13",
    ),
    "time-limit": Rule("It answers every call in time", "use only a part of the time in `clock`", "SPEC.md 9, 17"),
    "memory-limit": Rule("It stays below the memory limit", "use less memory", "SPEC.md 17"),
    "plays-random": Rule("It plays whole matches against @random", "play the same seed again with `referee`", None),
    "plays-builtin": Rule(
        "It plays whole matches against the best built-in bot", "play the same seed again with `referee`", None
    ),
}
"""Ours, in the order in which they are tried."""
FIRST_LIMIT = "time-limit"
BASIC_RULES = ("builds", "starts", "greets-json", "greets-msgpack", "answers-every-call", "every-seat")
"""A bot that fails one of these is not tried further."""


@cache
def added() -> Mapping[str, Added]:
    """Returns the rules of add-ons by name."""
    return {each.name: each for each in chain.from_iterable(hooks().findings())}


@cache
def bot_rules() -> Mapping[str, Rule]:
    """Returns all rules for bots, in the order in which they are tried: those of add-ons before the limits."""
    first = dict(takewhile(lambda item: item[0] != FIRST_LIMIT, RULES.items()))
    return {**first, **{name: each.rule for name, each in added().items()}, **RULES}


@cache
def game_checks() -> tuple["GameCheck", ...]:
    """Returns how the rules of games are checked, by add-ons."""
    return tuple(chain.from_iterable(hooks().game_checks()))


def rule_named(name: str) -> Rule:
    """Returns a rule for bots or for games."""
    return ChainMap(dict(bot_rules()), *(dict(each.rules) for each in game_checks()))[name]


class Finding(Struct, frozen=True):
    """A defect or an observation, in one line."""

    rule: str
    level: Level
    text: str
    seat: int | None = None
    call: int | None = None
    """The call's id."""
    method: str | None = None
    encoding: str | None = None
    last_words: tuple[str, ...] = ()
    """The last lines of stderr, or of the build's output."""
    section: str | None = None
    """The section of the document that requires it."""
    places: tuple[Place, ...] = ()
    """The lines of the bot's own files that it mentions, the most important first."""
    command: tuple[str, ...] = field(default=(), name="again")
    """The command line that reproduces it."""

    @property
    def advice(self) -> str:
        """How to fix it: by how the bot failed, otherwise by the rule."""
        if self.rule == "builds" and not self.last_words:
            return "correct that, and check again"
        if f"{FaultKind.CRASH}: " in self.text:
            if self.last_words:
                return "find out why the program ended: see the last lines of stderr"
            return "read standard input until `exit`; with a kit, call run(…) at the end of the program"
        return rule_named(self.rule).advice

    @property
    def where(self) -> str:
        """The seat, call and encoding, as far as they matter."""
        call = None if self.method is None else f"call {self.call} {self.method}"
        seat = None if self.seat is None else f"seat {self.seat}"
        return ", ".join(filter(None, (seat, call, self.encoding)))


class Status(StrEnum):
    """The outcome of a rule."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    UNDECIDED = "not decided"
    """The bot was late in every attempt, and the machine may be the cause."""


NOT_TRIED = "not tried: fix the findings above first"
UNDECIDED = "not decided: the machine was busy"
"""The verdict on a bot that is neither accepted nor refused."""


UNDECIDED_NOTE = "the machine was busy"


class RuleResult(Struct, frozen=True):
    """One rule, and what came of it."""

    rule: str
    status: Status
    duration_s: float
    note: str = ""
    """The attempt in a few words, or the reason to skip it."""
    findings: tuple[Finding, ...] = ()


class Costs(Struct, frozen=True):
    """The resources that the bot used, and their limits; None: no limit."""

    startup_s: float
    calls: int
    median_s: float
    max_s: float
    max_method: str | None
    limit_s: float | None
    """The time for one call, or for all calls if there is no limit for one."""
    peak_memory_bytes: int
    memory_bytes: int | None


class CheckReport(Struct, frozen=True):
    """The result of a check."""

    game: str
    seed: int
    name: str
    program: str | None
    passed: bool
    checks: tuple[RuleResult, ...]
    costs: Costs | None
    games: int = 0
    """How many games were played, repeated ones included."""
    decided_by_machine: int = 0
    """Of these, those in which the bot was late and the machine may be the cause."""

    @property
    def undecided(self) -> bool:
        """Whether the bot is neither accepted nor refused, because the machine was busy: try again."""
        statuses = [check.status for check in self.checks]
        return Status.UNDECIDED in statuses and Status.FAILED not in statuses

    @property
    def verdict(self) -> str:
        """The verdict in words."""
        return "passed" if self.passed else UNDECIDED if self.undecided else "refused"

    def count(self, level: Level) -> int:
        """Returns the number of findings of that level."""
        return sum(finding.level is level for check in self.checks for finding in check.findings)
