"""The lines of a record, each a JSON object: a `Header`, an `Opening`, one `Turn` for every `apply`, an `Injection`
where a cheat of ours acted out of turn, a `Forfeit` where seats were taken out that cannot play, a `Stop` if there
was one, an `Ending`.

The setup and the answers alone give everything else again: the events, the hash of the position after each turn and
the result.
"""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from referee.games.contract import NOT_YOUR_TURN, Event, Fault, Player, Result, Setup, State, TimeControl
from referee.harness.match.verdict import FaultReport, Seat
from referee.harness.process.limits import Limits

REPLAY_VERSION = 1


class Origin(Struct, frozen=True):
    """The match that another one went on from."""

    replay: str
    """The name of its record."""
    turn: int
    """The last turn that both have in common; 0: the opening."""
    sha256: str
    """Of that record up to there, line by line with its LF."""
    seats: tuple[Player, ...]
    """The seats that were given to other bots."""


class Header(Struct, frozen=True):
    """The first line: all that the match follows from, and under which conditions it was played."""

    replay: int
    game: str
    game_version: int
    setup: Setup
    time: TimeControl
    limits: Limits
    commands: tuple[tuple[str, ...], ...]
    isolation: Mapping[str, str] = {}
    """By guarantee, the layer that kept it for every program that played; empty: there was none."""
    people: tuple[Player, ...] = ()
    """The seats at which people play; no clock runs for them."""
    folders: tuple[str, ...] = ()
    """Where the bots ran, in seat order."""
    origin: Origin | None = None
    """The match that this one went on from; None: it began at its beginning."""
    tree_read_by: str = ""
    """How the processes of a bot were found: by the kernel's `children files`, or by `psutil` from the whole process
    table, later and at a higher price."""
    again: tuple[str, ...] = ()
    """The command line that plays it again, with paths as they were given; empty: none does."""


class Opening(Struct, frozen=True):
    """What was told before the first call, and the hash of the first position."""

    opening: list[Any]
    hash: str


class Turn(Struct, frozen=True, omit_defaults=True):
    """One `apply`. Keys of the maps are seats. Only the times, in microseconds, cannot be simulated."""

    turn: int
    answers: dict[Player, Any]
    faults: dict[Player, Fault] = {}
    events: Sequence[Any] = []
    wall_us: dict[Player, int] = {}
    cpu_us: dict[Player, int] = {}
    waited_us: dict[Player, int] = {}
    """How long a call of more than 5 ms waited for a core; under `--on-noise forgive` that is not in `wall_us`."""
    paused_ms: int = 0
    """How long somebody who watched held the match before this turn. No clock ran; bots may have pondered."""
    hash: str = ""
    stderr: dict[Player, int] = {}
    """Where, in bytes, what a seat wrote to its standard error from this call on begins in that file: up to where its
    next call begins. Seats that had written nothing by then are left out."""


class Injection(Struct, frozen=True, omit_defaults=True):
    """A seat acted out of turn, between two turns: which, what was shown as its answers, and what came of it."""

    inject: Player
    answers: list[dict[str, Any]]
    events: list[Any]
    hash: str
    offence: str = NOT_YOUR_TURN
    """What that is called."""


class Forfeit(Struct, frozen=True):
    """Seats that cannot play were taken out, between two turns or before the first: why, and what came of it."""

    forfeit: dict[Player, Fault]
    events: list[Any]
    hash: str


class Stop(Struct, frozen=True):
    """The match was ended from outside, between two turns: what the engine was told, and what came of it."""

    stop: str
    events: list[Any]
    hash: str


class Ending(Struct, frozen=True):
    """The last line: the result and, for the reader, each seat's costs and its faults."""

    result: Result | None
    """None: the match was not played to its end."""
    seats: tuple[Seat, ...] = ()
    faults: tuple[FaultReport, ...] = ()
    """The first `FULL_REPORTS` of each seat, in the order of the match. `seats` has the number of all; replays of
    earlier versions have a report of each fault and no number."""
    aborted: str | UnsetType = UNSET
    """Why it was not played to its end: an interrupt, a signal, a run that failed."""


Step = Opening | Turn | Injection | Forfeit | Stop
"""What leads to a position."""
Line = Header | Opening | Turn | Injection | Forfeit | Stop | Ending


def played_again(state: State, step: Step) -> list[Event]:
    """What comes of a step in the position before it. ValueError where it cannot be played there."""
    if isinstance(step, Turn):
        return state.apply(step.answers | step.faults)
    if isinstance(step, Opening):
        return state.opening()
    if isinstance(step, Injection):
        if step.inject not in range(len(state.setup.names)):
            raise ValueError(f"there is no seat {step.inject}")
        return state.inject(step.inject, step.answers, step.offence)
    if isinstance(step, Forfeit):
        return state.forfeit(step.forfeit)
    return state.stop(step.stop)


def state_hash(state: State) -> str:
    """16 hexadecimal digits that change with anything that decides how the match goes on."""
    return blake2b(state.key(), digest_size=8).hexdigest()


def plain(value: Any) -> Any:
    """A value as it stands in a record and on a page: of JSON's types alone."""
    return msgspec.json.decode(msgspec.json.encode(value))
