"""The lines of a replay: what each of them holds, and how it is applied to a position again.

A replay is a file of JSON objects, one a line: a `Header`, an `Opening`, a `Turn` for every `State.apply`, and an
`Ending`. Before the ending there may be an `Injection` (a seat acted out of turn), a `Forfeit` (seats that cannot play
were removed) and a `Stop` (the match was ended from outside).

The setup and the answers alone determine the rest: the events, the hash of every position, and the result.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

from referee.games.contract import NOT_YOUR_TURN, Event, Fault, FaultKind, Player, Result, Setup, State
from referee.games.game import TimeControl
from referee.harness.common.measures import Record, with_measures
from referee.protocol.messages import Encoding
from referee.protocol.text import printable

REPLAY_VERSION = 1


class Origin(Struct, frozen=True):
    """The match that a forked match continues."""

    replay: str
    """The name of its replay."""
    turn: int
    """The last turn that both matches share; 0 = the opening."""
    sha256: str
    """The hash of that replay up to this turn, each line with its LF."""
    seats: tuple[Player, ...]
    """The seats that were given to other bots."""


@with_measures(Record.HEADER)
class Conditions(Struct, frozen=True):
    """What determines a match, and the conditions under which it was played."""

    replay: int
    game: str
    game_version: int
    setup: Setup
    time: TimeControl
    limits: Mapping[str, Any]
    """The members of `referee.Limits`."""
    commands: tuple[tuple[str, ...], ...]
    isolation: Mapping[str, str] = {}
    """By guarantee, the isolation layer that kept it for every program; empty = none."""
    people: tuple[Player, ...] = ()
    """The seats of people, who play without a clock."""
    functions: tuple[Player, ...] = ()
    """The seats of Python functions, which ran in the referee's process, without a clock, limits or isolation."""
    folders: tuple[str, ...] = ()
    """The bots' working folders, in seat order."""
    origin: Origin | None = None
    """The match that this one continues; None = it began at the beginning."""
    tree_read_by: str = ""
    """How the referee found a bot's processes: the kernel's `children files`, or the slower `psutil`."""
    again: tuple[str, ...] = ()
    """The command line that plays the match again, with paths as they were given; empty = there is none."""
    encodings: tuple[Encoding, ...] = ()
    """What the bots could choose from; empty = the replay's version does not say."""


class Header(Conditions, frozen=True):
    """The first line: the conditions of the match."""

    game_sha256: str | UnsetType = UNSET
    """The hash of the files with the rules, if they are a program."""


class Opening(Struct, frozen=True):
    """The notices before the first call, and the hash of the first position."""

    opening: list[Any]
    hash: str


@with_measures(Record.TURN)
class Turn(Struct, frozen=True, omit_defaults=True):
    """One `State.apply`. Keys of the maps are seats. Only the times, in microseconds, cannot be simulated."""

    turn: int
    answers: dict[Player, Any]
    faults: dict[Player, Fault] = {}
    events: Sequence[Any] = []
    wall_us: dict[Player, int] = {}
    cpu_us: dict[Player, int] = {}
    waited_us: dict[Player, int] = {}
    """How long a call of more than 5 ms waited for a core. With `--limit on_noise=forgive` `wall_us` leaves it out."""
    paused_ms: int = 0
    """How long a viewer paused the match before this turn. No clock ran; bots may have thought on."""
    hash: str = ""
    stderr: dict[Player, int] = {}
    """Where the stderr of this call begins in a seat's stderr file, in bytes. It ends where the seat's next call
    begins. Seats that had written nothing by then are left out."""


class Injection(Struct, frozen=True, omit_defaults=True):
    """A seat acted out of turn, between two turns."""

    inject: Player
    answers: list[dict[str, Any]]
    events: list[Any]
    hash: str
    reason: str = field(name="offence", default=NOT_YOUR_TURN)
    """The name of the fault."""


class Forfeit(Struct, frozen=True):
    """Seats that cannot play were removed, between two turns or before the first."""

    forfeit: dict[Player, Fault]
    events: list[Any]
    hash: str


class Stop(Struct, frozen=True):
    """The match was ended from outside, between two turns."""

    stop: str
    """The reason."""
    events: list[Any]
    hash: str


@with_measures(Record.SEAT)
class SeatSummary(Struct, frozen=True):
    """One seat's part in a match."""

    name: str
    program: str | None
    """The name and version that the program gave."""
    command: tuple[str, ...]
    encoding: str
    rank: int
    """1 = best; ties share a rank."""
    score: float
    calls: int
    wall_s: float
    cpu_s: float
    peak_memory_bytes: int
    late_answers: int
    stderr: str | None
    """The file with its standard error; None = it wrote nothing."""
    waited_s: float = 0.0
    """How long it waited for a core, in calls of more than 5 ms."""
    noisy_calls: int = 0
    """The number of calls that were late, or would have been, because no core was free."""
    off_turn_cpu_s: float = 0.0
    """CPU time that it and its children used while no call was open."""
    human: bool = False
    """A person played, without a clock."""
    function: bool = False
    """A Python function played, in the referee's process, without a clock, limits or isolation."""
    faults: int | None = None
    """The number of faults, with or without a `FaultReport`. None = the replay's version does not say."""
    noisy_faults: int = 0
    """The number of faults in calls that were late because no core was free."""


ANSWER_CHARACTERS = 2000
"""The longest answer that a `FaultReport` quotes."""
FULL_REPORTS = 8
"""The most `FaultReport`s of a seat in a match: a bot may fail at every call. Further faults are only counted."""
GAME_OVER = "none: the game was over"
"""The penalty of a fault after the last answer."""


@with_measures(Record.FAULT)
class FaultReport(Struct, frozen=True):
    """A fault, for the author of the bot."""

    player: int
    name: str
    kind: FaultKind
    detail: str
    penalty: str
    turn: int
    """The turn of the replay, counted from 1."""
    call: int
    """The bot's own calls, counted from 1."""
    method: str
    frame: str
    """The call as sent: text, or hexadecimal for MessagePack."""
    wall_s: float
    cpu_s: float
    peak_memory_bytes: int
    exit: str | None
    """The exit code or signal, if the process had ended by itself."""
    last_words: tuple[str, ...]
    """The last lines of its standard error."""
    waited_s: float = 0.0
    """How long the call waited for a core, if it took more than 5 ms."""
    host_noise: bool = False
    """The call was late because no core was free, as far as the referee can tell."""
    answer: str = ""
    """The answer as received: text, or hexadecimal for MessagePack; cut after `ANSWER_CHARACTERS`."""
    position: str = ""
    """The position that the call was about, as `str(state)` draws it; empty = none."""
    rules: str = ""
    """The page and section of the rule, such as `reantics.md, 5` or `SPEC.md, 16`."""
    said: tuple[str, ...] = ()
    """The last lines of its standard error in that call."""
    bundle: str | None = None
    """The fault report's folder, for `referee repro`; None = none was written."""


class Ending(Struct, frozen=True):
    """The last line: the result, and a summary of every seat and its faults."""

    result: Result | None
    """None = the match was not played to its end."""
    seats: tuple[SeatSummary, ...] = ()
    faults: tuple[FaultReport, ...] = ()
    """The first `FULL_REPORTS` of each seat, in the order of the match; `seats` counts all faults. Replays of earlier
    versions have a report of each fault and no count."""
    aborted: str | UnsetType = UNSET
    """Why the match was not played to its end: an interrupt, a signal, a failed run."""


Step = Opening | Turn | Injection | Forfeit | Stop
"""A line that leads to a position."""
Line = Header | Step | Ending


def detail_of(fault: Fault, method: str) -> str:
    """Returns a fault's detail for a report, which names the method elsewhere."""
    return printable(fault.detail.removeprefix(f"{method}: "))


def more_faults(seats: Iterable[SeatSummary], faults: Iterable[FaultReport]) -> tuple[int, ...]:
    """Returns, by seat, the number of faults without a report."""
    reported = Counter(fault.player for fault in faults)
    return tuple(max(0, (seat.faults or 0) - reported[player]) for player, seat in enumerate(seats))


def apply_step(state: State, step: Step) -> list[Event]:
    """Applies a step to the position before it and returns the events. ValueError if it is not possible there."""
    match step:
        case Turn():
            return state.apply(step.answers | step.faults)
        case Opening():
            return state.opening()
        case Forfeit():
            return state.forfeit(step.forfeit)
        case Stop():
            return state.stop(step.stop)
    if step.inject not in range(len(state.setup.names)):
        raise ValueError(f"there is no seat {step.inject}")
    return state.inject(step.inject, step.answers, step.reason)


def state_hash(state: State) -> str:
    """Returns 16 hexadecimal digits that change with anything that decides how the match continues."""
    return blake2b(state.key(), digest_size=8).hexdigest()


def plain(value: Any) -> Any:
    """Returns a value as replays and pages hold it: of JSON's types only."""
    return msgspec.json.decode(msgspec.json.encode(value))
