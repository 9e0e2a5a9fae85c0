"""A seat of a match: a program, the engine, a person or a client on another machine."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from types import NoneType
from typing import Any, TypeVar

import trio
from msgspec import Struct

from referee.games.contract import NOT_YOUR_TURN, Call, Fault, FaultKind, Notice, Player, State
from referee.harness.common.nurseries import ungrouped
from referee.harness.common.records import NO_COST, Cost
from referee.harness.process.transport import ProcessStatus
from referee.harness.seats.notice_cache import NoticeCache
from referee.protocol.messages import Clock, Hello, Initialize

Called = TypeVar("Called")
PROGRAM_CHARACTERS = 100
"""Longest name of a program, and longest version, that is kept."""


class Reply(Struct, frozen=True):
    """The outcome of a call."""

    value: Any
    """The answer, a Fault, or Withdrawn."""
    cost: Cost = NO_COST


class CallTotals(Struct):
    """The sums over the calls of a match, without the greeting."""

    calls: int = 0
    wall_s: float = 0.0
    cpu_s: float = 0.0
    waited_s: float = 0.0
    slowed: int = 0
    measured: dict[str, Any] = {}
    """What else the match has cost the seat, by the members of its summary that an add-on's measure has."""


class SeatStatus(Struct, frozen=True):
    """A seat's part in a match so far, besides its `totals`. The usage goes on changing."""

    encoding: str = ""
    """Empty for a seat without a wire."""
    late_answers: int = 0
    """Answers that came after their time."""
    sent: tuple[bytes, ...] = ()
    """The last frames to the seat."""
    received: tuple[bytes, ...] = ()
    """The last bytes from it as they were read, in pieces that need not be whole frames."""
    request: bytes = b""
    """The last frame that asked for something."""
    answer: bytes = b""
    """The bytes that came back."""
    process: ProcessStatus = ProcessStatus()
    note: str = ""
    """A remark for the user, on a seat whose answers come from a replay."""


class OutOfTurn(Struct, frozen=True):
    """An act of a seat that was not asked, for `State.inject`."""

    answers: list[dict[str, Any]]
    reason: str = NOT_YOUR_TURN


class Withdrawn(Struct, frozen=True):
    """Replaces an answer: while the seat thought, a viewer ended the match or another seat acted out of turn."""


class MatchContext:
    """One match: its position, its seats, and what is encoded once for all of them."""

    def __init__(self, state: State, log: Callable[[Player], Path | None] = lambda player: None) -> None:
        self.state = state
        """The position. Seats may look at it; only the driver of the match changes it."""
        self.seats: list[Seat] = []
        self.log = log
        """Returns the file for a seat's standard error; None = it is not kept."""
        self.idle: Callable[[], None] | None = None
        """Called while an answer is awaited."""
        self.notices = NoticeCache()
        self.several = False
        """More than one call is open."""
        self._open_calls = 0
        self._all_read: trio.Event
        self._background: tuple[int, ...] | None = None

    async def side_by_side(self, make: Callable[[Called], Awaitable[object]], calls: Sequence[Called]) -> None:
        """Makes several calls at once, each by `make`."""
        self.several, self._open_calls, self._all_read = True, len(calls), trio.Event()

        async def one(call: Called) -> None:
            await make(call)
            self._call_read()
            self.several = self._open_calls > 0

        with ungrouped():
            async with trio.open_nursery() as nursery:
                for call in calls:
                    nursery.start_soon(one, call)

    async def all_read(self) -> None:
        """Waits until the answers of the other open calls have been read: their clocks run.

        Call this before work that takes more than a millisecond.
        """
        self._call_read()
        await self._all_read.wait()
        self._open_calls += 1

    def _call_read(self) -> None:
        self._open_calls -= 1
        if self._open_calls <= 0:
            self._all_read.set()

    @property
    def background(self) -> tuple[int, ...]:
        """The descriptors of all seats that need a reader while an answer is awaited."""
        if self._background is None:
            self._background = tuple([each for seat in self.seats for each in seat.background])
        return self._background

    def flush(self) -> None:
        """Sends all queued notices. Called when an answer is not there at once, so the seat on move is asked first."""
        for seat in self.seats:
            seat.flush()
        if self.idle is not None:
            self.idle()


class Seat(ABC):
    """Takes part in one match after the other. Wrong behaviour of the seat is a Fault, not an exception."""

    background: tuple[int, ...] = ()
    """Descriptors that need a reader while another seat is awaited."""

    def __init__(self) -> None:
        self.handshake = Hello()
        """Name, version and offers of the seat."""
        self.greeted = False
        """`greet` has succeeded before: the seat has started."""
        self.fault: Fault | None = None
        """Why the seat can no longer answer; every further call is this fault at once."""
        self.totals = CallTotals()

    @property
    def program_name(self) -> str | None:
        """The name and version that its program gave; None if it gave neither."""
        return " ".join(filter(None, (self.handshake.name, self.handshake.version)))[:PROGRAM_CHARACTERS] or None

    @abstractmethod
    async def greet(self, match: Initialize, context: MatchContext) -> Reply:
        """Opens a match. The value is None, or a Fault: the seat has lost, and is never asked."""

    @abstractmethod
    async def ask(self, call: Call, clock: Clock, limit_s: float) -> Reply:
        """Makes one call, of at most `limit_s` seconds (inf = no limit). `clock` is what the seat is shown of its time.

        A seat has one open call at a time.
        """

    @abstractmethod
    def notify(self, notice: Notice) -> None:
        """Queues a notice. Never blocks; the notice may go out with the next call or `flush`."""

    def flush(self) -> None:
        """Sends queued notices as far as that does not block."""

    async def end(self, orderly: bool = True) -> None:
        """Ends the seat; in an orderly end it is notified and gets a moment. Sets `fault` for a fault at the end.

        The second time, it does nothing.
        """

    def status(self, brief: bool = False) -> SeatStatus:
        """Returns what is known of the match so far. `brief`: without frames, and as in `Program.status`."""
        return SeatStatus()


class LocalSeat(Seat):
    """A seat that sees the position itself, and so needs neither frames nor notices. It has no clock."""

    context: MatchContext

    def __init__(self, name: str) -> None:
        super().__init__()
        self.handshake = Hello(name=name, reuse=True)

    async def greet(self, match: Initialize, context: MatchContext) -> Reply:
        self.context, self.fault = context, None
        self.greeted, self.totals = True, CallTotals()
        return Reply(None)

    async def ask(self, call: Call, clock: Clock, limit_s: float) -> Reply:
        if self.fault is not None:
            return Reply(self.fault)
        self.totals.calls += 1
        return Reply(None if call.method.result is NoneType else await self.answer(call))

    @abstractmethod
    async def answer(self, call: Call) -> Any:
        """Returns the answer, a Fault, or Withdrawn. Not called for calls without a result."""

    def notify(self, notice: Notice) -> None:
        """Does nothing."""


class OutOfTurnSeat(Seat):
    """A seat that may act although it is not asked, as clients on other machines can."""

    @property
    @abstractmethod
    def spoke(self) -> bool:
        """Whether the seat has acted out of turn, and the match has not judged that yet."""

    @abstractmethod
    async def out_of_turn(self) -> OutOfTurn | Fault | None:
        """Waits until the seat's rival may move; returns what the seat did by then, or why it can no longer play."""


def no_answer(limit_s: float) -> Fault:
    """Returns the fault of a seat whose time has run out."""
    return Fault(FaultKind.TIMEOUT, f"no answer within {round(limit_s, 3):g} s")
