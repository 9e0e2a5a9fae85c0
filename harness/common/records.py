"""The cost of a call, and the usage of a process at one moment."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class Moment(Struct, frozen=True):
    """Usage of a bot's process tree at one reading."""

    at_s: float
    """Since its start."""
    memory_bytes: int
    cpu_s: float
    processes: int


class Cost(Struct, frozen=True):
    """The cost of one call."""

    wall_s: float = 0.0
    """Charge to the seat's clock."""
    cpu_s: float = 0.0
    """CPU time of the main process."""
    waited_s: float = 0.0
    """How long a call of more than a few milliseconds waited for a core, if that is known."""
    slowed: bool = False
    """The call was late or almost late because no core was free."""
    stderr_bytes: int = 0
    """Size of the file with standard error when the call began."""
    measured: Mapping[str, Any] = {}
    """What else it has cost, by the members of turns that an add-on's measure has."""


NO_COST = Cost()
