"""Several processes that serve at one address: `referee serve arena --workers N`.

The first opens the socket and forks the others, before any of them has a loop; all accept from it. A battle lives in
the worker that took its order, and its id tells which. A connection whose next request is for another worker's battle
goes there as it is: its descriptor, with what was read of the request and the moment when that came.

Each two workers have a pair of sockets. The first tells the others to end; its own end, however it comes, is theirs,
and the end of one of them is that of all.
"""

import gc
import os
import signal
import socket
import sys
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from itertools import combinations
from math import inf
from struct import Struct
from typing import NoReturn
from uuid import UUID, uuid4

import trio

from referee.harness.errors import RunError, UsageError, told_to_end
from referee.harness.isolation.self_protection import allow_descriptors
from referee.harness.isolation.supervisor import kill, prctl
from referee.harness.process.stall_clock import presence

MOST = 32
END_S = 10.0
"""How long a worker may take to end its battles in order."""
DIED_S = 1.0
"""How long after its last socket was closed a process may take to be dead."""
PR_SET_PDEATHSIG = 1
CONNECTION, RUN, END = b"C", b"R", b"E"
HEAD = Struct("=cd")
"""Of a message: what it is about, and a moment by `time.perf_counter`, which is one clock for all processes."""
MESSAGE_BYTES = 96 << 10
"""No message is longer: the longest head, and what is read of a connection at a time; or the id of a run."""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Pairs = dict[tuple[int, int], tuple[socket.socket, socket.socket]]


class Crew:
    """All workers, as one of them knows them."""

    def __init__(self, number: int = 0, of: int = 1, links: dict[int, socket.socket] | None = None) -> None:
        self.number = number
        self.of = of
        self.pids: dict[int, int] = {}
        """The others, as far as they are ours to wait for."""
        self.links = links or {}
        self.words: list[str] = []
        """Why the first has told us to end."""
        self.worker_of: Callable[[bytes], int | None] = lambda target: None
        """Which worker a request for that target is for; None: whichever has it."""
        self.on_run: Callable[[str, float, int], None] = lambda ident, since, number: None
        """Told of a run of another worker's."""
        self._sending = {number: trio.Lock() for number in self.links}
        self._arriving, self._arrived = trio.open_memory_channel[tuple[socket.socket, bytes, float]](inf)
        for link in self.links.values():
            link.setblocking(False)

    def draw(self) -> str:
        """A new UUID that tells whose it is."""
        while self.owner(ident := str(uuid4())) != self.number:
            pass
        return ident

    def owner(self, ident: str) -> int | None:
        """The number of the worker that has drawn it; None: it was not drawn."""
        try:
            return UUID(ident).int % self.of
        except ValueError:
            return None

    async def tell(self, ident: str, since: float) -> None:
        """Has all others know that a run of this id is ours, since that moment."""
        for number in self.links:
            with suppress(OSError):  # that worker is dead, and all others are ended soon
                await self._send(number, HEAD.pack(RUN, since) + ident.encode())

    # For the server (`referee.harness.web.server.Others`).

    def place(self, target: bytes) -> int | None:
        """Which other worker a request for that target is for; None: us."""
        number = self.worker_of(target)
        return None if number == self.number else number

    async def give(self, number: int, connection: trio.socket.SocketType, data: bytes, heard_at: float) -> None:
        """Has a connection go on at that worker's. OSError if it is closed meanwhile."""
        await self._send(number, HEAD.pack(CONNECTION, heard_at + presence().away_s) + data, connection)

    async def take(self) -> tuple[socket.socket, bytes, float]:
        """The next connection that is given to us, what was read of it, and when that came."""
        return await self._arrived.receive()

    async def _send(self, number: int, message: bytes, connection: trio.socket.SocketType | None = None) -> None:
        async with self._sending[number]:
            while True:
                descriptors = [] if connection is None else [connection.fileno()]
                try:
                    socket.send_fds(self.links[number], [message], descriptors)
                    return
                except BlockingIOError:
                    await trio.lowlevel.wait_writable(self.links[number])

    # A worker's life.

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """Hears the others while the block runs. In the first worker a RunError ends it when one of them has ended; in
        the others it is cancelled when the first says so, or has ended."""
        async with trio.open_nursery() as nursery:
            for number, link in self.links.items():
                nursery.start_soon(self._listen, number, link, nursery.cancel_scope)
            try:
                yield
            finally:
                if self.number == 0:
                    for link in self.links.values():
                        with suppress(OSError):
                            link.send(HEAD.pack(END, 0.0) + "".join(told_to_end.get()).encode())
                nursery.cancel_scope.cancel()

    async def _listen(self, number: int, link: socket.socket, scope: trio.CancelScope) -> None:
        while True:
            await trio.lowlevel.wait_readable(link)
            try:
                message, descriptors, _, _ = socket.recv_fds(link, MESSAGE_BYTES, 1, socket.MSG_CMSG_CLOEXEC)
            except BlockingIOError:
                continue
            except OSError:
                message, descriptors = b"", []
            kind, moment = HEAD.unpack_from(message) if message else (END, 0.0)
            body = message[HEAD.size :]
            if kind == CONNECTION:
                for descriptor in descriptors:  # none, if we may have no more of them
                    given = socket.socket(fileno=descriptor)
                    self._arriving.send_nowait((given, body, moment - presence().away_s))
            elif kind == RUN:
                self.on_run(body.decode(), moment, number)
            elif self.number == 0:
                raise RunError(f"worker {number} {await self._how(number)}, so the others end too")
            elif number == 0:
                self.words += filter(None, [body.decode()])
                return scope.cancel()
            else:
                return None  # the first worker notices it as well

    async def _how(self, number: int) -> str:
        """What became of one that has closed its sockets."""
        with trio.move_on_after(DIED_S):
            while (code := self._code(number)) is None:
                await trio.sleep(0.01)
            return f"was ended by {signal.Signals(-code).name}" if code < 0 else "has failed"
        return "has failed"

    def _code(self, number: int) -> int | None:
        """How it has ended, as `subprocess` tells it; None: it has not, or was asked after already."""
        if number not in self.pids:
            return None
        try:
            pid, status = os.waitpid(self.pids[number], os.WNOHANG)
        except ChildProcessError:  # where SIGCHLD is ignored the system does not tell
            pid, status = self.pids[number], 1 << 8
        if not pid:
            return None
        del self.pids[number]
        return os.waitstatus_to_exitcode(status)

    def dismiss(self) -> None:
        """Waits until the others have ended, and ends those that do not."""
        for link in self.links.values():
            link.close()
        until = time.monotonic() + END_S
        for number in list(self.pids):
            while self._code(number) is None and time.monotonic() < until:
                time.sleep(0.01)
        for pid in self.pids.values():
            kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)


@contextmanager
def hired(workers: int, work: Callable[[Crew], Awaitable[None]]) -> Iterator[Crew]:
    """All workers while the block runs, which is the first one's; the others do `work`. No loop may run yet.

    UsageError, RunError.
    """
    if workers > 1 and sys.platform != "linux":
        raise UsageError("several workers need Linux")
    allow_descriptors(2 * MOST * MOST)
    pairs: Pairs = {
        pair: socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for pair in combinations(range(workers), 2)
    }
    parent, pids = os.getpid(), {}
    gc.freeze()  # a search for garbage would write to every object, and so copy what is shared
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        for number in range(1, workers):
            if (pid := os.fork()) == 0:
                _child(parent, number, workers, pairs, work)
            pids[number] = pid
    except OSError as error:
        raise RunError(f"worker {number} of {workers} cannot be started: {error.strerror}") from error
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    crew = Crew(0, workers, _links(0, pairs))
    crew.pids = pids
    try:
        yield crew
    finally:
        crew.dismiss()


def _links(number: int, pairs: Pairs) -> dict[int, socket.socket]:
    """That worker's ends, by whose the other end is; all the rest is closed."""
    links = {}
    for pair, ends in pairs.items():
        for own_number, other, end in zip(pair, reversed(pair), ends, strict=True):
            if own_number == number:
                links[other] = end
            else:
                end.close()
    return links


def _child(parent: int, number: int, of: int, pairs: Pairs, work: Callable[[Crew], Awaitable[None]]) -> NoReturn:
    """A worker from its first instruction to its last. Signals are for the first worker, which then tells it."""
    code = 1

    async def until_told() -> None:
        crew = Crew(number, of, _links(number, pairs))
        told_to_end.set(crew.words)
        await work(crew)

    try:
        for ending in SIGNALS:
            signal.signal(ending, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == parent:
            trio.run(until_told)
        code = 0
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)
