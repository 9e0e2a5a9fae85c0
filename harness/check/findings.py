"""What a check looks for and what it leaves behind: the rules by name, the findings, the costs."""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from referee.harness.check.source_lines import Place


class Level(StrEnum):
    """ERROR refuses the bot; WARNING does so under `--strict`; NOTE is only told."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Rule(Struct, frozen=True):
    """Something that every bot must do. Its name stands in reports, and stays the same for ever."""

    title: str
    advice: str
    """What to do about it."""
    section: str | None = None
    """Where it is written."""


RULES: Mapping[str, Rule] = {
    "builds": Rule("It builds, if bot.toml or its language says how", "mend what is named first, and build it again"),
    "starts": Rule(
        "The program starts and answers initialize",
        "answer the first line on standard input, with its id, and flush",
        "SPEC.md 6-7",
    ),
    "greets-json": Rule(
        "It plays in JSON when nothing else is offered",
        "choose one of the offered encodings, and write what was chosen",
        "SPEC.md 2, 7",
    ),
    "greets-msgpack": Rule(
        "It plays in MessagePack if that is what it chose",
        "write MessagePack from the frame after the answer to initialize on, or choose json",
        "SPEC.md 3, 7",
    ),
    "answers-every-call": Rule(
        "Every function that the game asks for is answered, legally",
        "try that call alone; print what the bot thinks to standard error",
        "SPEC.md 9-11",
    ),
    "every-seat": Rule("It plays at every seat", "look at `seat` in initialize", "SPEC.md 6"),
    "exit": Rule(
        "It ends by itself within a second after exit, with status 0 and nothing left behind",
        "end the loop at the notification exit; wait for what was started",
        "SPEC.md 14",
    ),
    "end-of-file": Rule(
        "It ends by itself within a second when standard input closes, with status 0",
        "end the loop when reading gives nothing",
        "SPEC.md 14",
    ),
    "unknown-members": Rule(
        "Unknown members and notifications are ignored, in any order of the members",
        "read the members that you know by name and leave the rest alone",
        "SPEC.md 8, 12",
    ),
    "chunked-pipes": Rule(
        "Frames may come in pieces", "read on until the frame is whole: one read is not one frame", "SPEC.md 2-3"
    ),
    "slow-pipes": Rule("The rest of a frame may come late", "wait for the rest, without a time limit", "SPEC.md 2-3"),
    "largest-states": Rule(
        "The last calls and the largest params are answered", "try that call alone with these params", "SPEC.md 9"
    ),
    "repeatable": Rule(
        "The same seed gives the same answers",
        "draw all luck from `seed` in initialize; let no clock decide",
        "SPEC.md 6",
    ),
    "many-games": Rule(
        "Several matches in one process, if it said that it may be used again",
        'forget everything at initialize, or leave "reuse" out',
        "SPEC.md 13",
    ),
    "time-limit": Rule("Every call is answered in time", "think for a part of what `clock` grants", "SPEC.md 9, 17"),
    "memory-limit": Rule("It stays below the limit of memory", "keep less", "SPEC.md 17"),
    "plays-random": Rule("It plays whole matches against @random", "play that seed again with `referee`", None),
    "plays-builtin": Rule(
        "It plays whole matches against the best built-in bot", "play that seed again with `referee`", None
    ),
}
"""In the order in which they are tried."""


class Finding(Struct, frozen=True):
    """A defect, or something to know, in one line."""

    rule: str
    level: Level
    text: str
    seat: int | None = None
    call: int | None = None
    """The call's id."""
    method: str | None = None
    encoding: str | None = None
    last_words: tuple[str, ...] = ()
    """The last lines of standard error, or of what the build printed."""
    section: str | None = None
    """Where it is written what was wanted."""
    places: tuple[Place, ...] = ()
    """The lines of the bot's own files that are named there, those that matter most first."""
    again: tuple[str, ...] = ()
    """The command line that finds it again."""

    @property
    def where(self) -> str:
        """Where it was found, in a few words; empty if that says nothing."""
        call = None if self.method is None else f"call {self.call} {self.method}"
        seat = None if self.seat is None else f"seat {self.seat}"
        return ", ".join(filter(None, (seat, call, self.encoding)))


class Status(StrEnum):
    """What became of a rule."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


NOT_TRIED = "not tried: what is found above comes first"


class Checked(Struct, frozen=True):
    """One rule, tried."""

    rule: str
    status: Status
    duration_s: float
    note: str = ""
    """What was tried, or why it was not."""
    findings: tuple[Finding, ...] = ()


class Costs(Struct, frozen=True):
    """What the bot used beside what it may use; None = no such limit."""

    startup_s: float
    calls: int
    median_s: float
    """Of all calls."""
    max_s: float
    max_method: str | None
    limit_s: float | None
    """Of one call: its own, or the whole bank where there is only that."""
    peak_memory_bytes: int
    memory_bytes: int | None


class CheckReport(Struct, frozen=True):
    """A whole check."""

    game: str
    seed: int
    name: str
    program: str | None
    passed: bool
    checks: tuple[Checked, ...]
    costs: Costs | None

    def count(self, level: Level) -> int:
        """How many findings there are of that level."""
        return sum(finding.level is level for check in self.checks for finding in check.findings)
