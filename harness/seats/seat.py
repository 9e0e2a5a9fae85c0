"""A seat is anything that answers: a program over pipes, the engine with its dice, later a person or a client.

The loop of a match (`referee.harness.match.match`) knows `Seat` and nothing else of whoever plays.
"""

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import NoneType
from typing import Any

import trio
from msgspec import Struct

from referee.games.contract import NOT_YOUR_TURN, Call, Fault, FaultKind, Notice, Player, State
from referee.games.dice import Dice
from referee.harness.process.stall_clock import presence
from referee.harness.process.usage import Usage
from referee.harness.seats.notice_cache import SharedMembers
from referee.protocol.messages import Clock, Hello, Initialize

SETTLE_S = 0.005
"""How long bots that are kept may be busy with the end of a match before the next one begins."""
ASIDE_S = 0.000001
"""How long we sleep for them at a time. The kernel makes 50 µs of it, in which most have heard the end."""


class Charge(Struct):
    """What the last call cost."""

    wall_s: float = 0.0
    """What the bot's clock is charged."""
    cpu_s: float = 0.0
    """CPU time of the main process's threads during the call."""
    waited_s: float = 0.0
    """How long a call of more than a few milliseconds waited for a core, as far as that is known."""
    host_noise: bool = False
    """It was late, or would have been, because no core was free."""
    stderr_bytes: int = 0
    """Where in the file with its standard error begins what it wrote from this call on."""

    def clear(self) -> None:
        """Nothing was asked."""
        self.wall_s = self.cpu_s = self.waited_s = 0.0
        self.host_noise = False


class Moment(Struct, frozen=True):
    """What a program used when it was looked at."""

    at_s: float
    """Since its start."""
    memory_bytes: int
    cpu_s: float
    processes: int


class Frames(Struct, frozen=True):
    """What went over a wire last, each in its order."""

    sent: tuple[bytes, ...] = ()
    received: tuple[bytes, ...] = ()
    """As it was read: in pieces that need not be whole frames."""


class OutOfTurn(Struct, frozen=True):
    """What a seat did although nobody had asked it, for `State.inject`."""

    answers: list[dict[str, Any]]
    offence: str = NOT_YOUR_TURN


class Withdrawn(Struct, frozen=True):
    """Replaces an answer: while the seat thought, a viewer ended the match or another seat acted out of turn."""


def no_answer(limit_s: float) -> Fault:
    """Of a seat whose time has run out."""
    return Fault(FaultKind.TIMEOUT, f"no answer within {limit_s:g} s")


class Table:
    """What the seats of one match have in common."""

    def __init__(self, state: State, log: Callable[[Player], Path | None] | None = None) -> None:
        self.state = state
        """The position. A seat may look at it; only the loop changes it."""
        self.idle: Callable[[], None] | None = None
        """Called when an answer is not there at once: for work that has waited for such a moment."""
        self.log = log or _nowhere
        """Gives the file for a seat's standard error; None = it is kept nowhere."""
        self.seats: list[Seat] = []
        """In seat order."""
        self.shared = SharedMembers()
        """What is encoded once for all seats."""
        self.several = False
        """More than one seat is being asked just now."""
        self._silent = 0
        self._all_heard: trio.Event | None = None  # while several are asked
        self._background: tuple[int, ...] | None = None

    def ask_several(self, count: int) -> None:
        """So many seats are about to be asked at once."""
        self.several, self._silent, self._all_heard = True, count, trio.Event()

    def seat_done(self) -> None:
        """One of them has answered, or its time is over."""
        assert self._all_heard is not None
        self._silent -= 1
        if self._silent <= 0:
            self.several = False
            self._all_heard.set()

    async def all_heard(self) -> None:
        """Waits for the others before something long is done: their time runs, and is taken when we hear them."""
        assert self._all_heard is not None
        self._silent -= 1
        if self._silent <= 0:
            self._all_heard.set()
        await self._all_heard.wait()
        self._silent += 1

    @property
    def background(self) -> tuple[int, ...]:
        """The descriptors of all seats, by which they are heard of beside their answers."""
        if self._background is None:
            self._background = tuple([each for seat in self.seats for each in seat.background])
        return self._background

    def flush(self) -> None:
        """Has every seat hear what it was told so far. Called when an answer is not there at once: the seat whose
        turn it is is asked first, and one that is not asked for long hears of everything meanwhile."""
        for seat in self.seats:
            seat.flush()
        if self.idle is not None:
            self.idle()


class Seat(ABC):
    """Whoever plays at one seat, match after match.

    Nothing that it does wrong is an exception: `greet` and `ask` give a Fault then.
    """

    def __init__(self) -> None:
        self.hello = Hello()
        """What it said of itself."""
        self.greeted = False
        """It has said so."""
        self.fault: Fault | None = None
        """Why it is past answering; every further call is this fault at once. None = it plays."""
        self.charge = Charge()
        """What its last call cost. One object, written anew by every call."""
        self.calls = 0
        """How many it was asked in this match, the greeting apart."""
        self.wall_s = 0.0
        """Wall time of all of these."""
        self.waited_s = 0.0
        """How long it waited for a core in them, as far as that is known."""
        self.noisy_calls = 0
        """How many of them were late, or would have been, because no core was free."""
        self.calls_cpu_s = 0.0
        """CPU time of its main process in them."""

    @abstractmethod
    async def greet(self, match: Initialize, table: Table) -> Fault | None:
        """Opens a match. A seat that gives a fault here has lost: it is never asked, and that is its `fault`."""

    @abstractmethod
    async def ask(self, call: Call, clock: Clock, limit_s: float) -> Any:
        """The answer to one call within `limit_s` seconds of wall time (inf = for ever), or a Fault.

        One call is open at a time. `clock` is what the seat is shown of its time.
        """

    @abstractmethod
    def tell(self, notice: Notice) -> None:
        """Has the seat hear of something; never waits. It may come with the next call, or with `flush` before that."""

    @property
    def spoke(self) -> bool:
        """Whether the seat has acted out of turn and the match has yet to judge it. Only a client over HTTP does."""
        return False

    def flush(self) -> None:
        """Delivers what was told, as far as that needs no waiting."""

    def rests(self) -> bool:
        """Whether it has taken in all that it was told, and is busy with nothing any more."""
        return True

    def settle(self) -> None:
        """The match is over, and the seat may be greeted for another: what it has done wrong becomes its `fault`."""

    async def end(self, orderly: bool = True) -> None:
        """The seat is not needed any more: it is told so and has a moment, unless the match is broken off. Returns when
        nothing is left of it; what it does wrong there becomes its `fault`."""

    def end_match(self) -> None:
        """After `settle` or `end`: what it has used and written belongs to this match up to here."""

    @property
    def background(self) -> tuple[int, ...]:
        """Descriptors by which it is heard of beside its answers. Who waits for another seat gives way to them."""
        return ()

    # For the record.

    @property
    def usage(self) -> Usage:
        """What it has used in this match."""
        return Usage()

    def last_words(self) -> tuple[str, ...]:
        """The last lines that it wrote for its author."""
        return ()

    def call_stderr(self) -> bytes:
        """What it wrote for its author since its last call began: the end of that, if it was much."""
        return b""

    @property
    def curve(self) -> tuple[Moment, ...]:
        """What it used at the last few hundred readings."""
        return ()

    @property
    def last_frames(self) -> Frames:
        """What went over its wire last."""
        return Frames()

    @property
    def encoding(self) -> str:
        """How it speaks; empty: it needs no wire."""
        return ""

    @property
    def asked(self) -> str:
        """The last thing that it was asked, as it was sent: text, or hexadecimal digits."""
        return ""

    @property
    def answered(self) -> bytes:
        """What came back, as it came: the end of it, if it was much."""
        return b""

    @property
    def late_answers(self) -> int:
        """How many answers came after their time."""
        return 0

    @property
    def exit_code(self) -> int | None:
        """As a shell's, negative for a signal; None = it has not ended, or is no program."""
        return None

    @property
    def pid(self) -> int | None:
        """The process that it is, as it is seen from here; None: it is none."""
        return None

    @property
    def isolation(self) -> Mapping[str, str]:
        """By guarantee, the layer of `referee.harness.isolation.plan` that keeps it; empty: it is no program."""
        return {}

    @property
    def stderr(self) -> Path | None:
        """The file with what it wrote for its author, if that was anything."""
        return None


async def settle(seats: Iterable[Seat]) -> None:
    """A match is over, and these may be greeted for another: they have a moment for what they were told last.

    Other tasks have their turn meanwhile only if another match is open: to sleep takes trio longer than most bots need.
    """
    seats = tuple(seats)
    alone = presence().matches <= 1
    busy = [seat for seat in seats if not seat.rests()]
    until = time.perf_counter() + SETTLE_S
    while busy and time.perf_counter() < until:
        # A bot may share our core. One that has used much of it lately runs only when we sleep.
        os.sched_yield()
        busy = [seat for seat in busy if not seat.rests()]
        if busy:
            if alone:
                time.sleep(ASIDE_S)
            else:
                await trio.sleep(ASIDE_S)
            busy = [seat for seat in busy if not seat.rests()]
    for seat in seats:
        seat.settle()


class EngineSeat(Seat):
    """The engine's own answers: any legal one, as `State.sample` draws it. So it plays every game there is."""

    def __init__(self, dice: Dice | None = None) -> None:
        super().__init__()
        self.hello = Hello(name="random", reuse=True)
        self._own_dice = dice
        self._dice = Dice(0)
        self._table: Table | None = None

    async def greet(self, match: Initialize, table: Table) -> Fault | None:
        """Without dice of its own its luck follows from the seed that it is given, as a bot's does."""
        self._dice = Dice(match.seed) if self._own_dice is None else self._own_dice
        self._table = table
        self.greeted, self.calls = True, 0
        return None

    async def ask(self, call: Call, clock: Clock, limit_s: float) -> Any:
        if self._table is None:
            raise RuntimeError("a seat is asked before it was greeted")
        self.calls += 1
        if call.method.result is NoneType:
            return None
        try:
            return self._table.state.sample(call.player, self._dice)
        except ValueError as error:
            return Fault(FaultKind.ERROR, f"no legal answer: {error}")

    def tell(self, notice: Notice) -> None:
        """It sees the position itself."""


def _nowhere(player: Player) -> Path | None:
    return None
