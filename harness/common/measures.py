"""Measures: the costs of a call beside time and CPU. An add-on adds one by the hook `measures`.

A seat puts what a call has cost into `Cost.measured`, and what a match has cost into `CallTotals.measured`. Replays,
fault reports, standings and `--json` hold both, each under a member that the measure names. They are asked once, and
never while a match is played.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum, auto
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

import msgspec
from msgspec import Struct

from referee.harness import addons

if TYPE_CHECKING:
    from referee.games.contract import Player
    from referee.harness.replay.lines import FaultReport, Header, SeatSummary, Turn


class Record(Enum):
    """The records that have members of measures."""

    HEADER = auto()
    """The header of a replay. A member is a map by seat, as in the next."""
    TURN = auto()
    SEAT = auto()
    """The summary of a seat's part in a match."""
    FAULT = auto()
    STANDING = auto()
    """A bot's row over several matches."""


Member = tuple[str, Any, Any]
"""A member of a record: its name, its type, and the value of a record without it."""
R = TypeVar("R", bound=Struct)


class Measure:
    """A cost of calls. Each is a subclass, of which the registry holds one instance."""

    name: ClassVar[str]
    """The member of a summary, a fault and a standing."""
    place: ClassVar[int]
    """Its place among the members of all measures: the lowest comes first."""
    value: Any = Any
    """The type of a value."""
    in_full: tuple[str, ...] = ()
    """Members of turns that a replay has only if it is kept in full, with `--transcripts`."""

    def members(self, record: Record) -> Sequence[Member]:
        """Returns the members of a record."""
        return ()

    def total(self, values: Iterable[Any]) -> Any:
        """Returns the sum of what seats have cost; None if none was measured. A value may be None."""
        known = [value for value in values if value is not None]
        return sum(known[1:], known[0]) if known else None

    # What people read.

    def columns(self, record: Record) -> tuple[str, ...]:
        """Returns the headings of its columns in a table of seats or of standings."""
        return ()

    def cells(self, value: Any) -> tuple[str, ...]:
        """Returns the texts below these headings. None: another bot's."""
        return ()

    def words(self, value: Any) -> str:
        """Returns a value in words."""
        return str(value)

    def remark(self, seat: "SeatSummary") -> str:
        """Returns a line below the table of seats; empty = none."""
        return ""

    def of_call(self, fault: "FaultReport") -> str:
        """Returns what the call of a fault has cost, in words; empty = nothing to say."""
        return ""

    def asked_and_said(self, turn: "Turn", player: "Player") -> Iterable[str]:
        """Yields lines that show what a seat was asked in a turn, and what it has said, besides its frames."""
        return ()

    def shown_call_ms(self, header: "Header", player: "Player", call_ms: int | None) -> int | None:
        """Returns the limit of a call as the seat was shown it, in milliseconds. `call_ms`: that by the clock."""
        return call_ms


class Nothing(Measure):
    """Stands for a measure where no add-on has one."""

    name, place = "", 0


@cache
def measures() -> tuple[Measure, ...]:
    """Returns all measures."""
    return tuple(sorted(chain.from_iterable(addons.hooks().measures()), key=lambda measure: measure.place))


@cache
def member_names(record: Record) -> tuple[str, ...]:
    """Returns the names of the members of a record."""
    return tuple([name for measure in measures() for name, *_ in measure.members(record)])


@cache
def names_in_full() -> frozenset[str]:
    """Returns the members of turns that a replay has only if it is kept in full."""
    return frozenset([name for measure in measures() for name in measure.in_full])


@cache
def in_standings() -> Measure:
    """Returns the measure that standings have columns of; `Nothing` if there is none."""
    return next((measure for measure in measures() if measure.members(Record.STANDING)), Nothing())


def with_measures(record: Record) -> Callable[[type[R]], type[R]]:
    """Adds the members of all measures to a class of records, after its own."""

    def extended(kind: type[R]) -> type[R]:
        members = [member for measure in measures() for member in measure.members(record)]
        namespace = {"__doc__": kind.__doc__}
        made = msgspec.defstruct(kind.__name__, members, bases=(kind,), namespace=namespace, module=kind.__module__)
        return cast(type[R], made)

    return extended


def measured(record: Struct, name: str) -> Any:
    """Returns a member of a record that a measure has added; None if there is none."""
    return getattr(record, name, None)


def costs_no_time(record: Struct) -> bool:
    """Returns whether a seat or a fault has a cost that is no time, so that no machine slows it."""
    return any(measured(record, measure.name) is not None for measure in measures())


def of_members(record: Record, values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns those of these values that a record has a member for."""
    return {name: values[name] for name in member_names(record) if name in values}
