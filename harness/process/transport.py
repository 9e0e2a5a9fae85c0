"""The interface for the bytes of the conversation with a bot, and the status of its process."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from referee.harness.common.records import Moment
from referee.harness.process.core_wait import CoreWaitMeter
from referee.harness.process.stderr import last_lines
from referee.harness.process.usage import Usage
from referee.protocol.messages import Initialize


class Late(Exception):
    """The deadline of an exchange has passed."""


class Transport(ABC):
    """Sends frames in the order in which they were `put`, and receives bytes.

    A deadline `until` is a time on the clock `now`.
    """

    writes_ahead = False
    """`write_ahead` must be called before the clock of a call starts."""
    background: tuple[int, ...] = ()
    """Descriptors that become readable when the bot writes to standard error or ends."""
    now: Callable[[], float]
    """The clock that calls are timed by, in seconds."""
    core_wait: CoreWaitMeter

    @property
    def carrier(self) -> "Transport":
        """The transport that carries the frames, if this one only counts their cost."""
        return self

    @abstractmethod
    def put(self, frame: bytes) -> bytes:
        """Queues a frame, and returns it as it will be sent."""

    @abstractmethod
    def send(self) -> bool:
        """Sends what the pipe takes at once. True if nothing is left. BrokenPipeError if nobody reads the pipe."""

    @abstractmethod
    async def send_rest(self, until: float) -> None:
        """Sends everything in the queue. Late if time runs out; the rest then goes out before the next frame."""

    @abstractmethod
    def drop(self) -> None:
        """Empties the queue."""

    @abstractmethod
    def receive(self, at: float) -> bytes | None:
        """Returns output that is there at once; b"" at its end.

        None if there is none, or if other tasks must get a turn first. They must when the last turn was more than
        `NEAR_S` before the time `at`, and when another match is open.
        """

    @abstractmethod
    async def wait(self, until: float, others: Sequence[int] | None = None) -> bytes:
        """Waits for output: at least one byte, or b"" at its end. Late if time runs out.

        Other tasks get a turn every `NEAR_S`, and when one of the descriptors `others` becomes readable. They get it at
        once if `others` is None or another match is open.
        """

    def came(self) -> float:
        """Returns when the output that `wait` has just returned came: not now, if it waited while other tasks ran."""
        return self.now()

    @abstractmethod
    def pending(self) -> bytes:
        """Returns output that is there; b"" if there is none, or at its end."""

    async def write_ahead(self) -> None:
        """Sends what must be on its way before the clock of a call starts."""

    def prepare(self, match: Initialize) -> None:
        """Prepares for the frames of a match."""

    def unread(self) -> bool:
        """Returns whether the bot has yet to read some of what was sent, as far as can be seen."""
        return False

    def rests(self) -> bool:
        """Returns whether the bot has read everything and uses no CPU time, as far as can be seen."""
        return True

    def is_ready(self) -> bool:
        """Returns whether the bot runs or waits for a core now, as far as can be seen."""
        return False


class ProcessStatus(Struct, frozen=True):
    """The usage and the output of a bot's process in a match. `usage` goes on changing."""

    usage: Usage = field(default_factory=Usage)
    curve: tuple[Moment, ...] = ()
    """The last few hundred readings of the usage."""
    exit_code: int | None = None
    """As a shell's, negative for a signal; None while the process runs, or if there is none."""
    pid: int | None = None
    """None if there is no process."""
    isolation: Mapping[str, str] = {}
    """The layer that keeps each guarantee."""
    stderr: Path | None = None
    """The file with standard error; None if nothing was written."""
    stderr_of_call: bytes = b""
    """Standard error since the last call began; of a long one, the end."""
    stderr_end: bytes = b""
    """The end of standard error."""

    @property
    def last_lines(self) -> tuple[str, ...]:
        """The last lines of standard error, printable."""
        return last_lines(self.stderr_end)
