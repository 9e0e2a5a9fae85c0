"""The process of a rules program: started once, in the sandbox of a bot, and shared by all positions.

Positions are used everywhere: in matches, in checks, by pages. So a request is an ordinary function call that waits.
The process lives in a thread with an event loop of its own, which starts it, holds it to its limits and ends it.
"""

import atexit
import os
import select
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path

import trio

from referee.addons.rules.messages import MEMORY_BYTES, STARTUP_S
from referee.harness.common.errors import FOR_USERS, RunError, first_of, leaves
from referee.harness.process.bot_process import BotProcess
from referee.harness.process.limits import Limits
from referee.harness.process.pipes import Pipes
from referee.harness.process.stall_clock import stall_clock
from referee.harness.process.stderr import last_lines
from referee.harness.process.transport import Late
from referee.harness.programs.entrant import Entrant
from referee.harness.seats.program import Bot
from referee.harness.seats.roster import open_roster
from referee.protocol import messages
from referee.protocol.errors import RemoteProtocolError
from referee.protocol.framing import FrameSplitter
from referee.protocol.messages import Initialize

LIMITS = Limits(
    startup_s=STARTUP_S,
    memory_bytes=MEMORY_BYTES,
    exit_s=0.5,
)
"""The limits of the process. It has no limit of CPU time: one process serves all matches of a run."""
UNSEEDED = Initialize(1, "", {}, 0, (), (), messages.Limits(round(STARTUP_S * 1000)), 0)
"""Prepares a module of WebAssembly: its random numbers have the same seed in every process."""
READ_BYTES = 1 << 16
START_S = 90.0
"""How long the start of a process may take, the sandbox included, before we give up waiting for our own thread."""
ANSWER_S = 3.0
"""How long to wait for our own thread while the program runs."""
FUEL_PATIENCE = 6
"""How long a module may take in time, as a multiple of its limit, which holds in fuel: the machine may be slow."""
LEFT_OUT_S = 0.001
"""A request that takes longer than this is left out of the clocks of other matches."""


class Ended(Exception):
    """The program has ended, or closed its standard output. The argument says how."""


class Overdue(Exception):
    """The program has not answered in time."""


class Host:
    """A running rules program. Not for two threads at a time."""

    def __init__(self, entrant: Entrant, stderr: str) -> None:
        """Starts the program. RunError if that fails. `stderr`: the file for standard error; empty = none."""
        self._entrant, self._stderr = entrant, stderr
        self._failure = "its process has ended"
        self._ready: Future[None] = Future()
        self._stop: Callable[[], None] = lambda: None
        self._thread = threading.Thread(target=self._run, name=f"rules of {entrant.name}", daemon=True)
        self._bot: Bot
        self._process: BotProcess
        self._token: trio.lowlevel.TrioToken
        self._nursery: trio.Nursery
        self._outbox = memoryview(b"")
        self._thread.start()
        try:
            self._ready.result(START_S)
        except TimeoutError as error:
            self.close()
            raise RunError(f"{entrant.name} was not started within {START_S:g} s") from error
        self._is_direct = isinstance(self._bot.transport, Pipes)
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._reads, self._both = select.poll(), select.poll()
        self._reads.register(self._stdout, select.POLLIN)
        self._both.register(self._stdout, select.POLLIN)
        self._both.register(self._stdin, select.POLLOUT)
        _open.add(self)

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    # Requests, from any thread but the host's own.

    def exchange(self, frame: bytes, until: float, splitter: FrameSplitter) -> bytes | bytearray:
        """Sends a frame and returns the next one that comes, by `splitter`. Ended, or Overdue at `until`.

        `until` is a time of `time.perf_counter`. The program may write before it has read everything.
        RemoteProtocolError for bytes that are no frame.
        """
        started = time.perf_counter()
        try:
            if not self._is_direct:
                return self._through_loop(frame, until - started, splitter)
            rest = self._write(frame)
            while True:
                left_s = until - time.perf_counter()
                if left_s <= 0:
                    raise Overdue
                for descriptor, event in (self._both if rest else self._reads).poll(left_s * 1000 + 1):
                    if descriptor == self._stdin:
                        rest = self._write(rest)
                        continue
                    if event & (select.POLLIN | select.POLLHUP | select.POLLERR):
                        try:
                            data = os.read(descriptor, READ_BYTES)
                        except BlockingIOError:
                            continue
                        if not data:
                            raise Ended(self._why())
                        splitter.feed(data)
                        if (answer := splitter.next()) is not None:
                            return answer
        except OSError as error:  # the process is gone, and its descriptors with it
            raise Ended(self._why()) from error
        finally:
            took_s = time.perf_counter() - started
            if took_s > LEFT_OUT_S and trio.lowlevel.in_trio_run():
                stall_clock().leave_out(took_s)

    def _through_loop(self, frame: bytes, limit_s: float, splitter: FrameSplitter) -> bytes | bytearray:
        """Does the same for a program that runs under another clock, such as a module of WebAssembly: fuel."""
        found: Future[bytes | bytearray] = Future()
        try:
            self._token.run_sync_soon(self._nursery.start_soon, self._converse, frame, limit_s, splitter, found)
            return found.result(FUEL_PATIENCE * limit_s)
        except TimeoutError as error:
            raise Overdue from error
        except trio.RunFinishedError as error:
            raise Ended("its process has ended") from error

    def _write(self, frame: bytes | memoryview) -> bytes | memoryview:
        try:
            written = os.write(self._stdin, frame)
        except BlockingIOError:
            return frame
        except BrokenPipeError as error:
            raise Ended(self._why()) from error
        return memoryview(frame)[written:] if written < len(frame) else b""

    def _why(self) -> str:
        """Returns how the program has ended, with its last line of standard error."""
        found: Future[str] = Future()
        with suppress(trio.RunFinishedError, TimeoutError, RuntimeError):
            self._token.run_sync_soon(self._nursery.start_soon, self._explain, found)
            return found.result(ANSWER_S)
        return self._failure

    def stderr_to(self, file: str) -> None:
        """Keeps standard error in that file from now on; empty = nowhere. Waits for the host's thread."""
        self._stderr = file
        self._in_thread(self._start_log)

    def stderr_file(self) -> str:
        """Returns the file with standard error; empty if nothing was written, or nothing is kept."""
        with suppress(RunError):  # the file cannot be written
            self._in_thread(lambda: self._process.log.catch_up(self._process.stderr))
        return str(self._process.log.written or "")

    def _in_thread(self, work: Callable[[], None]) -> None:
        """Does something in the host's thread, if that still runs."""
        done: Future[None] = Future()

        def run() -> None:
            try:
                work()
                done.set_result(None)
            except RunError as error:
                done.set_exception(error)

        with suppress(trio.RunFinishedError, TimeoutError):
            self._token.run_sync_soon(run)
            done.result(ANSWER_S)

    def close(self, patience_s: float = 5.0) -> None:
        """Ends the program. Does nothing the second time."""
        _open.discard(self)
        with suppress(trio.RunFinishedError, AttributeError):  # it may have ended, or not begun
            self._token.run_sync_soon(self._stop)
        self._thread.join(patience_s)

    # The host's own thread.

    def _run(self) -> None:
        try:
            trio.run(self._live)
        except BaseException as error:
            first = first_of(error, *FOR_USERS) or next(leaves(error))
            if not self._ready.done():
                self._ready.set_exception(first)
            elif isinstance(first, RunError):
                self._failure = str(first)  # the next request says it
            else:
                raise

    async def _live(self) -> None:
        stop = trio.Event()
        self._stop = stop.set
        self._token = trio.lowlevel.current_trio_token()
        async with open_roster(LIMITS) as roster, trio.open_nursery() as nursery:
            self._nursery = nursery
            self._bot = await roster.start(self._entrant)
            assert isinstance(self._bot.program, BotProcess)
            self._process = self._bot.program
            self._start_log()
            self._bot.transport.prepare(UNSEEDED)
            self._ready.set_result(None)
            await stop.wait()
            nursery.cancel_scope.cancel()

    def _start_log(self) -> None:
        path = Path(self._stderr) if self._stderr else None
        self._process.log.catch_up(self._process.stderr)
        self._process.log.start_match(lambda: path)

    async def _converse(
        self, frame: bytes, limit_s: float, splitter: FrameSplitter, found: "Future[bytes | bytearray]"
    ) -> None:
        transport = self._bot.transport
        until = transport.now() + limit_s
        try:
            transport.put(frame)
            await transport.send_rest(until)
            while (answer := splitter.next()) is None:
                data = await transport.wait(until)
                if not data:
                    raise Ended(await self._cause())
                splitter.feed(data)
            found.set_result(answer)
        except Late:
            found.set_exception(Overdue())
        except (Ended, RunError, RemoteProtocolError, BrokenPipeError) as error:
            found.set_exception(Ended(str(error)) if isinstance(error, RunError | BrokenPipeError) else error)

    async def _explain(self, found: "Future[str]") -> None:
        found.set_result(await self._cause())

    async def _cause(self) -> str:
        fault = self._bot.fault or await self._process.why_silent("output")
        lines = last_lines(self._process.log.end())
        return f"{fault.detail}{f'; its last line was: {lines[-1]}' if lines else ''}"


_open: set[Host] = set()


@atexit.register
def close_all() -> None:
    """Ends every rules program of this process."""
    for host in list(_open):
        host.close()
