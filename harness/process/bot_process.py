"""One bot's process: its states, its limits, its usage, its standard error and its end."""

import os
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from enum import IntEnum, auto
from functools import partial
from itertools import count
from math import inf
from pathlib import Path
from time import clock_gettime_ns
from typing import Final

import trio

from referee.games.contract import Fault, FaultKind
from referee.harness.common.errors import RunError
from referee.harness.isolation.layers.cgroups import Group
from referee.harness.isolation.process_tree import descendants, stop_all
from referee.harness.isolation.spawner import Ends
from referee.harness.isolation.supervisor import PORTABLE, kill
from referee.harness.isolation.supervisor_messages import Message
from referee.harness.process import scratch
from referee.harness.process.limits import DEFAULT_LIMITS, Limits, crashed, kernel_fault, passed_limit
from referee.harness.process.stderr import StderrLog
from referee.harness.process.transport import ProcessStatus
from referee.harness.process.usage import SAMPLE_EVERY_S, Curve, Meter
from referee.protocol.errors import LocalProtocolError
from referee.protocol.text import mebibytes


class State(IntEnum):
    """The state of a bot's process."""

    STARTING = auto()
    """The supervisor has not said that the program runs."""
    RUNNING = auto()
    """It runs, and no call is open."""
    PAUSED = auto()
    """No call is open, and its processes are stopped."""
    CALLING = auto()
    """It runs, and a call is open."""
    LEAVING = auto()
    """It was asked to exit."""
    LEFT = auto()
    """It has exited as asked. Processes that it has started may be left, here and in the next state."""
    ENDED = auto()
    """It has exited unasked, or was killed."""
    ENDING = auto()
    """`end` waits for the last of its processes."""
    GONE = auto()
    """Nothing of it is left, and every descriptor is given back."""


PAUSED = State.PAUSED  # looked up here, since each call needs it
IDLE = (State.RUNNING, PAUSED)
"""The states in which it waits for a call."""


class Row(dict[str, State]):
    """What may happen in a state, and the state that follows. LocalProtocolError for anything else."""

    def __init__(self, words: str, **events: State) -> None:
        super().__init__(events)
        self._words = words

    def __missing__(self, event: str) -> State:
        raise LocalProtocolError(f"{event!r} cannot happen to a bot that {self._words}")


TRANSITIONS: Final[Mapping[State, Row]] = {
    State.STARTING: Row(
        "is being started",
        started=State.RUNNING,
        lost=State.GONE,
        exit=State.ENDED,
        kill=State.ENDED,
        end=State.ENDING,
    ),
    State.RUNNING: Row(
        "runs and no call is open",
        call=State.CALLING,
        pause=State.PAUSED,
        leave=State.LEAVING,
        exit=State.ENDED,
        kill=State.ENDED,
        end=State.ENDING,
    ),
    State.PAUSED: Row(
        "is paused",
        call=State.CALLING,
        leave=State.LEAVING,
        exit=State.ENDED,
        kill=State.ENDED,
        end=State.ENDING,
    ),
    State.CALLING: Row("has an open call", answer=State.RUNNING, exit=State.ENDED, kill=State.ENDED, end=State.ENDING),
    State.LEAVING: Row("was asked to exit", leave=State.LEAVING, exit=State.LEFT, kill=State.ENDED, end=State.ENDING),
    State.LEFT: Row("has exited as asked", leave=State.LEFT, kill=State.LEFT, end=State.ENDING),
    State.ENDED: Row(
        "has ended",
        started=State.ENDED,
        call=State.ENDED,
        answer=State.ENDED,
        leave=State.ENDED,
        exit=State.ENDED,
        kill=State.ENDED,
        end=State.ENDING,
    ),
    State.ENDING: Row(
        "is being ended",
        answer=State.ENDING,
        leave=State.ENDING,
        exit=State.ENDING,
        kill=State.ENDING,
        end=State.ENDING,
        gone=State.GONE,
    ),
    State.GONE: Row("is gone", answer=State.GONE, leave=State.GONE, kill=State.GONE, end=State.GONE),
}
"""What may happen in each state. Anything else is a bug of ours.

The supervisor reports that the process has `started`, and its `exit`; `lost` means that no supervisor has taken the
request. The seat opens a `call` and closes it, which is an `answer` also if none came; after that, the limits may ask
for a `pause`. The seat may ask the process to `leave`, `kill` it for a fault, and `end` it, at any time and more than
once. When nothing is left, the process is `gone`. A process may end before its seat has noticed, so a call to it is
legal then.
"""


class Program:
    """A running bot. The methods here are those of a bot without a process of its own."""

    state = State.RUNNING
    log: StderrLog
    isolation: Mapping[str, str] = {}
    """The layer that keeps each guarantee."""
    cpu_ns: Callable[[], int] = staticmethod(lambda: 0)
    """Returns the CPU time of the main process, in nanoseconds. OSError if the process is gone."""

    def happens(self, event: str) -> None:
        """Takes the state that follows an event. LocalProtocolError if the event is illegal in this state."""
        self.state = TRANSITIONS[self.state][event]

    def start_match(self, log: Callable[[], Path | None]) -> None:
        """Counts usage and standard error from here. `log` returns the file for the latter."""

    def end_match(self) -> None:
        """Takes the last reading and the last standard error of a match."""

    def call(self) -> None:
        """Opens a call: the bot runs."""
        self.happens("call")

    def answer(self) -> None:
        """Closes the call, also if no answer came. The bot is stopped until the next if the limits ask for that."""
        self.happens("answer")

    async def why_silent(self, stream: str) -> Fault:
        """Returns the fault of a bot that gave no answer and has closed its end of `stream`."""
        return Fault(FaultKind.CRASH, "gave no answer")

    def measure(self) -> Fault | None:
        """Reads the usage, unless it was read a moment ago. Returns the fault of a bot beyond a limit."""
        return None

    async def watch(self, report: Callable[[Fault], None]) -> None:
        """Follows the bot until `end`; calls `report` when the bot exceeds a limit or ends."""

    def expect_exit(self) -> None:
        """From here on, the end of the process is no fault."""
        self.happens("leave")

    async def leave(self, patience_s: float) -> int | None:
        """Closes standard input and waits for the process. Returns its exit code; None if it still runs."""
        return None

    def kill(self) -> None:
        """Kills the bot with everything that it has started. Never blocks."""
        self.happens("kill")

    async def end(self) -> None:
        """Ends the bot. Returns when all its processes are gone. Does nothing the second time."""
        self.happens("end")
        if self.state is State.ENDING:
            self.happens("gone")

    def status(self, brief: bool = False) -> ProcessStatus:
        """Returns what the process has used and written so far. `brief`: without readings and standard error."""
        return ProcessStatus()


END_S = 1.0
"""Time for the end of a process to become known after the end of its output. Runtimes such as Java's and Node's close
that first, and a busy machine may then have no core for them."""
SUPERVISOR_S = 0.5
"""Time that a supervisor has to end a process tree before we look after it."""
MAX_WAKEUPS = 4
"""Times that a supervisor is woken up before it is killed."""
UNSUPERVISED = Fault(
    FaultKind.CRASH,
    "was killed with its supervisor, the process of Referee above every bot; something killed that process",
)


class BotProcess(Program):
    """A process below a supervisor, held to its limits. It owns the referee's ends of its pipes, all non-blocking."""

    def __init__(self, ends: Ends, limits: Limits = DEFAULT_LIMITS, folder: Path | None = None) -> None:
        """`folder`: its scratch folder, whose files are counted; None = nobody counts."""
        self.state = State.STARTING
        self.limits = limits
        self.log = StderrLog(limits.stderr_bytes)
        self.isolation = ends.layers
        self.group = ends.group
        self.link = ends.link
        self.stdin, self.stdout, self.stderr = ends.stdin, ends.stdout, ends.stderr
        self.pid = self.root = 0
        """The pids of the bot and of the process above all of its processes.

        Both are its supervisor's if a bot killed that before it reported them.
        """
        self.exit_code: int | None = None
        self.cpu_s: float | None = None
        """CPU time of all its processes, once they have ended."""
        self.meter = Meter(0, 0)  # of nothing, until the bot has started
        self._curve: Curve
        self.cpu_clock: int
        self._folder = folder
        self._keep_group = ends.keep_group
        self._peak_bytes, self._room_bytes = 0, -1  # as the supervisor has reported them
        self._started = time.monotonic()
        self._has_namespace = False  # in which its processes are, and which ends with the first of them
        self._pidfd = -1  # of the bot or its namespace's first process; unlike a pid, it is never reused
        self._reading = trio.Lock()  # one task reads messages; a cancelled one may not have noticed yet
        self._ending = trio.Lock()
        self._watching: trio.CancelScope | None = None  # once `watch` has begun
        self._watched = trio.Event()  # set when `watch` is over
        self._end_known = trio.Event()  # set when the end of the process is known, or is waited for no more

    async def started(self, patience_s: float) -> bool:
        """Waits for the start; False = no supervisor has answered. RunError if the program cannot be started.

        A bot may kill its supervisor at once. It counts as started, and is to blame for the consequences.
        """
        message = None
        with trio.move_on_after(patience_s):
            message = await self._next_message()
        if message is None or message.supervisor is None:
            return False
        self.link.has_started(message.supervisor)
        self.pid = self.root = message.supervisor
        while True:
            with trio.move_on_after(SUPERVISOR_S):
                message = await self._next_message()
                break
            self.link.wake_if_stopped()
        if message is not None and message.error is not None:
            raise RunError(message.error)
        earlier_cpu_s = 0.0
        if message is not None:
            if message.pid is None or message.root is None:
                self.link.kill()
            else:
                self.pid, self.root, earlier_cpu_s = message.pid, message.root, message.earlier_cpu_s
                has_namespace = self.root != self.link.pid
                with suppress(ProcessLookupError):
                    self._pidfd = -1 if PORTABLE else os.pidfd_open(self.root if has_namespace else self.pid)
                self._has_namespace = has_namespace
        limits = self.limits
        self.meter = Meter(self.pid, self.root, limits.memory_bytes, limits.processes, self.group, earlier_cpu_s)
        self._curve = Curve(self.meter, self._started)
        self.cpu_clock = self.meter.clock
        self.cpu_ns = partial(clock_gettime_ns, self.cpu_clock)
        self.happens("started")
        return True

    def lost(self) -> None:
        """Gives everything back: no supervisor has taken the request."""
        self.happens("lost")
        self._give_back()

    def start_match(self, log: Callable[[], Path | None]) -> None:
        self.meter.start_match()
        if self.limits.cpu_s is not None:
            self.meter.set_backstop(self.limits.cpu_s)
        self.log.catch_up(self.stderr)
        self.log.start_match(log)

    def end_match(self) -> None:
        self.meter.end_match()
        self.log.catch_up(self.stderr)

    def call(self) -> None:
        if self.state is PAUSED:
            self._resume()
        self.state = TRANSITIONS[self.state]["call"]

    def answer(self) -> None:
        self.state = TRANSITIONS[self.state]["answer"]
        if self.limits.pause and self.state is State.RUNNING:
            stop_all(self.root)
            self.happens("pause")

    def _resume(self) -> None:
        for pid in descendants(self.root):
            kill(pid, signal.SIGCONT)

    async def why_silent(self, stream: str) -> Fault:
        with trio.move_on_after(END_S):
            await self._end_known.wait()
        passed = self.measure() or self._passed_limit()
        if passed is not None:
            return passed
        code = self.exit_code
        if code is None:
            return UNSUPERVISED if self._end_known.is_set() else Fault(FaultKind.CRASH, f"closed its standard {stream}")
        return _end_fault(code, self._room_bytes, self.limits)

    def measure(self) -> Fault | None:
        if self.state >= State.ENDING or self.exit_code is not None:
            self.meter.take_peak(self._peak_bytes)
        elif time.monotonic() - self.meter.read_at >= 2 * SAMPLE_EVERY_S:
            self.meter.glance()
        elif self.group is None:
            return None  # `_watch_usage` has checked the last reading; only a control group may know more by now
        return self._passed_limit()

    async def watch(self, report: Callable[[Fault], None]) -> None:
        if self.state >= State.ENDING:
            return
        try:
            async with trio.open_nursery() as nursery:
                self._watching = nursery.cancel_scope
                nursery.start_soon(self._watch_end, report)
                nursery.start_soon(self.log.follow, self.stderr)
                await trio.sleep(SAMPLE_EVERY_S)
                if self._folder is not None:  # not started before, because many bots end earlier
                    polled = self.isolation.get("disk") == "poll"
                    limit = self.limits.scratch_bytes if polled else None
                    nursery.start_soon(scratch.watch, self._folder, None if polled else self.pid, limit, report)
                await self._watch_usage(report)
        finally:
            self._watched.set()

    def expect_exit(self) -> None:
        if self.state is PAUSED:
            self._resume()
        super().expect_exit()

    async def leave(self, patience_s: float) -> int | None:
        self.close_stdin()
        with trio.move_on_after(max(0.0, patience_s)):
            await self._end_known.wait()
            await self.exited(inf)  # needed if `watch` was cancelled
        return self.exit_code

    async def exited(self, patience_s: float) -> int | None:
        """Waits for the bot to exit. Returns its exit code; None if it still runs."""
        if self.exit_code is None:
            with trio.move_on_after(patience_s):
                async with self._reading:  # another task may have read the message meanwhile
                    while self.exit_code is None and await self._next_message():
                        pass
        return self.exit_code

    def close_stdin(self) -> None:
        """Closes the bot's standard input."""
        if self.stdin >= 0:
            os.close(self.stdin)
            self.stdin = -1

    def kill(self) -> None:
        """Requests the end of the whole process tree. Never blocks.

        Kills the bot directly too, since it may have stopped its supervisor: in a namespace with everything in it, else
        with everything in its control group.
        """
        self.happens("kill")
        if self.state is State.GONE or self.link.idle:
            return  # nothing of it is left, and its pid may belong to another process by now
        if self.group is not None and not self._has_namespace:
            self.group.kill()
        self.link.request_end()
        if self._pidfd >= 0:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        elif self.pid and self.exit_code is None:
            kill(self.pid, signal.SIGKILL)

    async def end(self) -> None:
        """Kills the process tree, waits for its end, and gives everything back. Does nothing the second time."""
        self.happens("end")
        with trio.CancelScope(shield=True):
            async with self._ending:
                if self.state is State.ENDING:
                    await self._end()

    async def _end(self) -> None:
        self.kill()
        if self._watching is not None:
            self._watching.cancel()
            await self._watched.wait()  # else a task that was about to run would read from closed descriptors
        self.log.catch_up(self.stderr)
        self.log.close()
        self.close_stdin()
        for attempt in count():
            if self.link.idle or await self._tree_ended() or not self.link.pid:  # 0: it has not read the request
                break
            if attempt < MAX_WAKEUPS:
                self.link.wake()
            else:  # another bot of the same account may keep stopping it
                self.link.kill()
        self.happens("gone")
        self._give_back()
        group, self.group = self.group, None  # its numbers may soon be those of another bot
        if group is not None:
            self.cpu_s = max(filter(None, (self.cpu_s, group.cpu_s())), default=None)
            (self._keep_group if self.link.idle and self._has_namespace else Group.remove)(group)
        self.meter.close(self.cpu_s, self._peak_bytes)

    async def _tree_ended(self) -> bool:
        """Waits until the supervisor has ended or is idle, for `SUPERVISOR_S` at most."""
        with trio.move_on_after(SUPERVISOR_S):
            async with self._reading:
                while await self._next_message():
                    pass
            return True
        return False

    def _give_back(self) -> None:
        """Closes every descriptor, and gives an idle supervisor back."""
        self.close_stdin()
        for descriptor in (self.stdout, self.stderr, self._pidfd):
            if descriptor >= 0:
                os.close(descriptor)
        self.stdout = self.stderr = self._pidfd = -1
        self.link.close()

    async def _next_message(self) -> Message | None:
        """Takes in the supervisor's next message; None if no more will come."""
        message = await self.link.read()
        if message is not None:
            self.cpu_s = self.cpu_s if message.cpu_s is None else message.cpu_s
            self._peak_bytes = max(self._peak_bytes, message.peak_bytes)
            if message.exit is not None:
                self.exit_code, self._room_bytes = message.exit, message.room_bytes
                self.happens("exit")
        return message

    def status(self, brief: bool = False) -> ProcessStatus:
        log = self.log
        usage, isolation = self.meter.usage, self.isolation
        if brief:
            return ProcessStatus(usage, (), self.exit_code, self.pid, isolation, log.written)
        self.log.catch_up(self.stderr)
        curve = self._curve.moments()
        return ProcessStatus(usage, curve, self.exit_code, self.pid, isolation, log.written, log.of_call(), log.end())

    async def _watch_usage(self, report: Callable[[Fault], None]) -> None:
        while True:
            if not self.meter.rests():
                await self.meter.read()
                self._curve.note()
                if (passed := self._passed_limit()) is not None:
                    return report(passed)
            await trio.sleep(SAMPLE_EVERY_S)

    async def _watch_end(self, report: Callable[[Fault], None]) -> None:
        """Waits for the process itself, because its children may keep its output open."""
        try:
            code = await self.exited(inf)
        finally:
            self._end_known.set()
        if (passed := self.measure()) is not None:
            report(passed)
        if self.state not in (State.LEAVING, State.LEFT):
            report(UNSUPERVISED if code is None else _end_fault(code, self._room_bytes, self.limits))

    def _passed_limit(self) -> Fault | None:
        """Returns the fault of a bot beyond a limit, by the last reading or by the kernel."""
        group, limit = self.group, self.limits.memory_bytes
        if group is not None and limit is not None and group.out_of_memory():
            return Fault(FaultKind.MEMORY, f"exceeded the memory limit ({mebibytes(limit)}) and was killed")
        return passed_limit(self.meter.usage, self.limits)


def _end_fault(code: int, room_bytes: int, limits: Limits) -> Fault:
    return kernel_fault(code, room_bytes, limits) or crashed(code)
