"""The rules of a check, and its results: findings and costs."""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

from referee.games.contract import FaultKind
from referee.harness.check.source_lines import Place


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
    "metered": Rule(
        "A module uses the same fuel in pieces and by another engine",
        "build it without threads and relaxed SIMD; keep its recursion far from the end of the stack",
        "SPEC.md 6",
    ),
    "time-limit": Rule("It answers every call in time", "use only a part of the time in `clock`", "SPEC.md 9, 17"),
    "memory-limit": Rule("It stays below the memory limit", "use less memory", "SPEC.md 17"),
    "plays-random": Rule("It plays whole matches against @random", "play the same seed again with `referee`", None),
    "plays-builtin": Rule(
        "It plays whole matches against the best built-in bot", "play the same seed again with `referee`", None
    ),
}
"""In the order in which they are tried."""
BASIC_RULES = ("builds", "starts", "greets-json", "greets-msgpack", "answers-every-call", "every-seat")
"""A bot that fails one of these is not tried further."""


GAME_RULES: Mapping[str, Rule] = {
    "game-starts": Rule(
        "The program starts, and has a first position for every number of seats",
        "answer initialize and start; flush standard output after every answer",
        "SPEC.md 19-21",
    ),
    "game-start-repeats": Rule(
        "The first position follows from options, seats and luck alone",
        "take all random numbers from `luck`; read no clock and no file that changes",
        "SPEC.md 20, 26",
    ),
    "game-ends": Rule(
        "Matches between random players end, and their results rank all seats",
        "end a match that goes on for too long, such as by a limit of turns",
        "SPEC.md 21, 25",
    ),
    "game-steps-repeat": Rule(
        "A step follows from position, answers and luck alone",
        "keep nothing between two requests; take all random numbers from `luck`; read no clock",
        "SPEC.md 20, 26, 28",
    ),
    "game-legal-accepted": Rule(
        "Every answer of the list of legal ones is accepted", "list what step accepts, in this position", "SPEC.md 27"
    ),
    "game-others-refused": Rule(
        "Every answer that is not in the list is refused", "refuse it with a ruling, or list it", "SPEC.md 24, 27"
    ),
    "game-faults-ruled": Rule(
        "Faults of every kind have a ruling, in and out of turn",
        "return one ruling for each member of `faults`, and await no seat that is out",
        "SPEC.md 24, 27",
    ),
    "game-views-fit": Rule(
        "Every seat can look at every position", "return views that fit view and seat_view of game.toml", "SPEC.md 27"
    ),
    "game-views-hide": Rule(
        "No seat sees what is hidden from it", "leave out of a seat's view what `deal` draws again", "SPEC.md 27"
    ),
    "game-memory-flat": Rule(
        "Memory does not grow from match to match",
        "keep nothing between two requests, or forget the oldest; where a runtime collects garbage, limit its heap so"
        " that it fills soon, as with `java -Xmx64m` or `node --max-old-space-size=64`",
        "SPEC.md 28",
    ),
    "game-step-times": Rule("A step takes little time", "make step faster: all bots wait for it", "SPEC.md 29"),
}
"""The rules for the rules program of a game, in the order in which they are tried."""


def rule_named(name: str) -> Rule:
    """Returns a rule for bots or for games."""
    return RULES[name] if name in RULES else GAME_RULES[name]


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
