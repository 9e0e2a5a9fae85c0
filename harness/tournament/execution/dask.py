"""Lanes on other machines, by Dask: the only module that knows it. `pip install referee[cluster]`.

A task is "ask your lane": it gives a job to a lane process beside the Dask worker and reads the lines. So there is one
lane program, and bots live from task to task. Nothing on a worker is irreplaceable: whatever dies there, the games
that were not given back are open again. Bots travel as zip files named by their content, when a worker lacks them, and
are built once a machine.
"""

import ipaddress
import os
import platform
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import dask.config
import distributed
import msgspec
import trio
from msgspec import Struct

from referee.harness.errors import RunError, UsageError
from referee.harness.isolation.plan import unmet
from referee.harness.tournament.execution import worker_messages
from referee.harness.tournament.execution.local import Crew, Lost
from referee.harness.tournament.model import Entry, Plan
from referee.harness.tournament.store import bot_archives

CONNECT_S = 10.0
RECONNECT_S = 60.0
"""So long a scheduler that is gone is waited for."""
FETCH_S = 30.0
"""So long what came of a job may be on its way here, before its games are open again."""
LOOK_S = 0.5
PATIENCE_S = 10.0
"""After so long without a worker a run says what it waits for."""
QUEUED = 2
ATTEMPTS = 3
"""After this many deliveries in a row, a worker that still lacks bots gets no more games."""


class Tls(Struct, frozen=True):
    """Files with the certificates of a cluster that is open to a network."""

    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None


# On a worker.


class Played(Struct, frozen=True):
    """A job's games."""

    games: list[tuple[bytes, bytes | None]]
    took_s: float
    start_s: float = 0.0


class Needs(Struct, frozen=True):
    """Bots whose bundles are not on this machine."""

    bots: tuple[Entry, ...]


class Unable(Struct, frozen=True):
    """Bots that cannot be had on this machine, and why; a version that does not fit, and a layer of isolation that is
    not there, are every bot's."""

    why: dict[str, str]


class Answer(Struct, frozen=True):
    """What a worker says to a job."""

    worker: str
    """Its address."""
    host: str
    what: Played | Needs | Unable


class LaneDied(Exception):
    """The lane beside a worker has ended in the middle of a job."""


def version() -> str:
    """What must be the same on both sides."""
    return f"referee {metadata.version('referee')}, Python {platform.python_version()}"


class _Beside:
    """The lane beside this worker, for one contest at a time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.contest = b""
        self.process: subprocess.Popen[bytes] | None = None
        self.frames = worker_messages.Frames()
        self.waiting: list[bytes] = []

    def ask(self, contest: bytes, entries: Sequence[Entry], job: worker_messages.Job) -> Played | Needs | Unable:
        with self.lock:
            if contest != self.contest or self.process is None or self.process.poll() is not None:
                refused = self._start(contest, entries)
                if refused is not None:
                    return refused
            return self._play(job)

    def _start(self, contest: bytes, entries: Sequence[Entry]) -> Needs | Unable | None:
        self.end()
        packed = [entry for entry in entries if not entry.bot.startswith("@")]
        needed = tuple(entry for entry in packed if not bot_archives.home_of(entry).is_dir())
        if needed:
            return Needs(needed)
        order = worker_messages.order(contest)
        assert isinstance(order, worker_messages.Contest)
        limits = next(iter(order.stages.values())).limits
        if lines := unmet(limits.isolation):
            return Unable({"": "; ".join(lines)})
        ready, failed = [], {}
        for entry in entries:
            try:
                ready.append(bot_archives.program(entry, None, order.game, limits))
            except (RunError, UsageError) as error:
                failed[entry.ident] = str(error)
        if failed:
            return Unable(failed)
        command = [sys.executable, "-m", "referee.harness.tournament.execution.worker"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        self.frames, self.waiting = worker_messages.Frames(), []
        self._say(msgspec.structs.replace(order, programs=tuple(ready)))
        self.contest = contest
        return None

    def _play(self, job: worker_messages.Job) -> Played:
        self._say(job)
        games: list[tuple[bytes, bytes | None]] = []
        while True:
            report = self._hear()
            if isinstance(report, worker_messages.Played) and report.job == job.number:
                games += report.games
            elif isinstance(report, worker_messages.Done) and report.job == job.number:
                return Played(games, report.took_s, report.start_s)
            elif isinstance(report, worker_messages.Failed):
                self.end()
                raise RunError(report.why)

    def _say(self, order: worker_messages.Order) -> None:
        assert self.process is not None and self.process.stdin is not None
        try:
            self.process.stdin.write(worker_messages.frame(order))
            self.process.stdin.flush()
        except OSError as error:
            self.end()
            raise LaneDied("the lane beside the worker has ended") from error

    def _hear(self) -> worker_messages.Report:
        assert self.process is not None and self.process.stdout is not None
        while not self.waiting:
            data = os.read(self.process.stdout.fileno(), worker_messages.READ_BYTES)
            if not data:
                self.end()
                raise LaneDied("the lane beside the worker has ended")
            self.waiting += self.frames.feed(data)
        return worker_messages.report(self.waiting.pop(0))

    def end(self) -> None:
        """Ends the lane, which ends its bots."""
        process, self.process, self.contest = self.process, None, b""
        if process is not None:
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


_beside = _Beside()


def ask(drivers_version: str, contest: bytes, entries: bytes, job: bytes) -> bytes:
    """The task. Everything goes as MessagePack, so that what is understood is what this side has types for."""
    worker = distributed.get_worker()
    what: Played | Needs | Unable
    if drivers_version != version():
        what = Unable({"": f"{version()} here, {drivers_version} at the driver"})
    else:
        order = worker_messages.order(job)
        assert isinstance(order, worker_messages.Job)
        try:
            what = _beside.ask(contest, msgspec.msgpack.decode(entries, type=list[Entry]), order)
        except (RunError, LaneDied):
            raise
        except Exception as error:  # the next attempt here would fail in the same way
            what = Unable({"": f"{type(error).__name__}: {error}"})
    kind = type(what).__name__
    return msgspec.msgpack.encode((worker.address, platform.node(), kind, what))


def receive(bot: bytes, data: bytes) -> None:
    """Unpacks a bot's zip file, unless it lies unpacked already. RunError or OSError where that cannot be."""
    with TemporaryDirectory(prefix="referee-") as folder:
        archive = Path(folder, "bot.zip")
        archive.write_bytes(data)
        bot_archives.installed(msgspec.msgpack.decode(bot, type=Entry), archive)


def _answer(data: bytes) -> Answer:
    worker, host, kind, raw = msgspec.msgpack.decode(data, type=tuple[str, str, str, msgspec.Raw])
    kinds: dict[str, Any] = {"Played": Played, "Needs": Needs, "Unable": Unable}
    return Answer(worker, host, msgspec.msgpack.decode(raw, type=kinds[kind]))


# At the driver.


class _Given(NamedTuple):
    """A job that is out."""

    job: worker_messages.Job
    future: Any
    able: frozenset[str]
    """The workers that may play it."""


class _Delivery(Struct, eq=False):
    """Bots on their way to a worker, and the jobs that wait for them."""

    attempts: int = 0
    """Deliveries since the worker last played."""
    jobs: list[int] = []
    """Empty: no delivery is on its way."""
    why: str = ""
    """What went wrong with the last one."""


class ClusterCrew(Crew):
    """Workers of a Dask cluster, as many as there are at the moment."""

    JOB_S = 1.5

    def __init__(
        self,
        connect: Callable[[], Any],
        client: Any,
        contest: worker_messages.Contest,
        plan: Plan,
        folder: Path,
        address: str,
        on_note: Callable[[str], None],
    ) -> None:
        """`on_note` hears, in a line, that there have been no workers at `address` for a while."""
        super().__init__()
        self._address, self._on_note = address, on_note
        self.lanes = 0
        self._connect = connect
        self._client = client
        self._contest = worker_messages.encode(msgspec.structs.replace(contest, programs=()))
        self._entries = {entry.ident: entry for entry in plan.bots if not entry.absent}
        self._list = msgspec.msgpack.encode(list(self._entries.values()))
        self._folder = folder
        self._workers: set[str] = set()
        self._came_once = False
        self._unable: dict[str, str] = {}
        """Workers that cannot play, and why."""
        self._jobs: dict[int, _Given] = {}
        self._deliveries: dict[str, _Delivery] = {}
        """By worker."""
        self._sending = threading.Lock()
        """Only one zip file at a time is in the driver's memory."""
        self._stopping = False
        self._gone_since: float | None = None
        self._token = trio.lowlevel.current_trio_token()

    def room(self) -> int:
        return 0 if self._stopping or self._gone_since is not None else QUEUED * self.lanes - len(self._jobs)

    async def give(self, job: worker_messages.Job) -> None:
        self._submit(job)

    def _submit(self, job: worker_messages.Job, worker: str | None = None) -> None:
        able = [worker] if worker is not None else sorted(self._workers - self._unable.keys())
        future = self._client.submit(
            ask,
            version(),
            self._contest,
            self._list,
            worker_messages.encode(job),
            pure=False,
            retries=0,
            workers=able,
            allow_other_workers=False,
        )
        self._jobs[job.number] = _Given(job, future, frozenset(able))
        future.add_done_callback(lambda done: self._fetch_aside(job.number, done))

    def _fetch_aside(self, number: int, future: Any) -> None:
        """In the one thread that Dask has for all who want to hear: what came is fetched in another. With a scheduler
        that is gone a fetch may last for ever, its own limit of time included."""
        threading.Thread(target=self._fetch, args=(number, future), daemon=True).start()

    def _fetch(self, number: int, future: Any) -> None:
        """Takes what came over into our thread."""
        result: Any
        try:
            result = _answer(future.result(FETCH_S))
        except BaseException as error:
            result = error
        with suppress(trio.RunFinishedError):
            self._token.run_sync_soon(self._conclude, number, future, result)

    def _conclude(self, number: int, future: Any, result: Any) -> None:
        given = self._jobs.get(number)
        if given is None or given.future is not future:
            return  # of a connection or a worker that is gone; its games are open again
        if isinstance(result, Answer) and isinstance(result.what, Needs):
            self._jobs[number] = given._replace(able=frozenset([result.worker]))
            self._deliver(number, result)
            return
        del self._jobs[number]
        if isinstance(result, Answer) and isinstance(result.what, Played):
            if result.worker in self._deliveries:
                self._deliveries[result.worker].attempts = 0
            self._put(worker_messages.Played(number, result.what.games))
            self._put(worker_messages.Done(number, result.what.took_s, result.what.start_s))
        elif isinstance(result, Answer):
            self._refused(result)
            self._put(Lost(result.worker, (number,), False))
        elif isinstance(result, RunError):
            self._put(worker_messages.Failed(str(result)))
        else:
            self._put(Lost("a worker", (number,), isinstance(result, LaneDied | distributed.KilledWorker)))

    def _put(self, event: Any) -> None:
        with suppress(trio.ClosedResourceError):  # the run is over, and what it called back says so
            self.tell.send_nowait(event)

    def _deliver(self, number: int, answer: Answer) -> None:
        """Sends a worker the bots that it lacks, then the job again. After `ATTEMPTS`, others play its games."""
        assert isinstance(answer.what, Needs)
        delivery = self._deliveries.setdefault(answer.worker, _Delivery())
        delivery.jobs.append(number)
        if len(delivery.jobs) > 1:
            return  # on their way already
        if delivery.attempts == ATTEMPTS and answer.worker not in self._unable:
            why = delivery.why or f"{', '.join(entry.name for entry in answer.what.bots)}: sent, and not there"
            self._retire(answer, f"worker {answer.worker}: {ATTEMPTS} deliveries of bots failed: {why}")
            self._on_note(f"{self._unable[answer.worker]}; this worker gets no more games")
        if answer.worker in self._unable:
            jobs, delivery.jobs = delivery.jobs, []
            for each in jobs:
                if self._jobs.pop(each, None) is not None:
                    self._put(Lost(answer.worker, (each,), False))
            return
        delivery.attempts += 1
        arguments = (self._client, self._sending, answer.worker, answer.what.bots, delivery)
        threading.Thread(target=self._send, args=arguments, daemon=True).start()

    def _send(
        self, client: Any, sending: threading.Lock, worker: str, bots: Sequence[Entry], delivery: _Delivery
    ) -> None:
        """In a thread of its own, because each step may take long, and never ends if the scheduler is gone.

        Dask carries large data by `scatter`: in a task's arguments, the scheduler would keep a copy of it.
        """
        why = ""
        for entry in bots:
            try:
                with sending:
                    data = client.scatter(
                        bot_archives.zip_path(self._folder, entry).read_bytes(), workers=[worker], hash=False
                    )
                bot = msgspec.msgpack.encode(entry)
                client.submit(receive, bot, data, pure=False, retries=0, workers=[worker], priority=10).result()
            except BaseException as error:  # Dask has some that are no Exception
                why = f"{entry.name}: {error}"
        with suppress(trio.RunFinishedError):
            self._token.run_sync_soon(self._delivered, worker, delivery, why)

    def _delivered(self, worker: str, delivery: _Delivery, why: str) -> None:
        if self._deliveries.get(worker) is not delivery:
            return  # to a worker that is gone, or by a connection that is
        delivery.why = why
        jobs, delivery.jobs = delivery.jobs, []
        for number in jobs:
            if number in self._jobs:
                self._submit(self._jobs[number].job, worker)

    def _refused(self, answer: Answer) -> None:
        assert isinstance(answer.what, Unable)
        names = {ident: entry.name for ident, entry in self._entries.items()}
        why = "; ".join(": ".join(filter(None, (names.get(ident), text))) for ident, text in answer.what.why.items())
        self._retire(answer, why)

    def _retire(self, answer: Answer, why: str) -> None:
        """Gives a worker no more games. The run fails if it was the last."""
        self._unable[answer.worker] = f"{answer.host}: {why}"
        self.lanes = len(self._workers - self._unable.keys())
        if self._workers <= self._unable.keys():
            reasons = "\n".join(sorted(set(self._unable.values())))
            self._put(worker_messages.Failed(f"no worker of the cluster can play\n{reasons}"))

    async def watch(self) -> None:
        """Follows workers that come and go, and a scheduler that is gone for a while."""
        alone_since: float | None = trio.current_time()
        """None once it has been told."""
        while True:
            found = await trio.to_thread.run_sync(self._look)
            if found:
                alone_since = trio.current_time()
            elif found is not None and alone_since is not None and trio.current_time() - alone_since > PATIENCE_S:
                alone_since = None
                self._on_note(
                    f"no worker {'is left at' if self._came_once else 'has come to'} {self._address}; waiting"
                )
            if found is None:
                if self._gone_since is None:
                    self._gone_since = trio.current_time()
                    self._deliveries, self._sending = {}, threading.Lock()  # a thread may never release the old one
                    for number in list(self._jobs):
                        del self._jobs[number]
                        self._put(Lost("the scheduler", (number,), False))
                elif trio.current_time() - self._gone_since > RECONNECT_S:
                    self._put(worker_messages.Failed(f"the cluster's scheduler has been gone for {RECONNECT_S:.0f} s"))
                    return
                await self._reconnect()
            else:
                self._gone_since = None
                self._workers = found
                await self._forsake(found)
                self._came_once = self._came_once or bool(found)
                self._unable = {worker: why for worker, why in self._unable.items() if worker in found}
                self._deliveries = {worker: one for worker, one in self._deliveries.items() if worker in found}
                self.lanes = len(found - self._unable.keys())
            await trio.sleep(LOOK_S)

    async def _forsake(self, found: set[str]) -> None:
        """The games of jobs that only workers could play which have gone are open again: Dask would wait for those for
        ever, and whoever comes back has another address."""
        alone = [given for given in self._jobs.values() if not given.able & found]
        for given in alone:
            del self._jobs[given.job.number]
            self._put(Lost("a worker", (given.job.number,), False))
        if alone:
            with suppress(Exception):
                await trio.to_thread.run_sync(self._client.cancel, [given.future for given in alone])

    def _look(self) -> set[str] | None:
        """The workers' addresses; None if the scheduler does not answer."""
        if self._client.status != "running":
            return None
        try:
            return set(self._client.run_on_scheduler(_workers))
        except Exception:  # whatever Dask raises for a connection that is gone
            return None

    async def _reconnect(self) -> None:
        old = self._client
        try:
            self._client = await trio.to_thread.run_sync(self._connect)
        except RunError:
            return
        with suppress(Exception):
            await trio.to_thread.run_sync(lambda: old.close(1))

    async def stop(self) -> None:
        self._stopping = True
        with trio.move_on_after(5):
            while self._jobs:
                await trio.sleep(0.05)
        self.tell.close()

    def close(self) -> None:
        """Gives the connection back; what still runs on workers is of no interest."""
        with suppress(Exception):
            self._client.cancel([given.future for given in self._jobs.values()])
        with suppress(Exception):
            self._client.close(2)


def _workers(dask_scheduler: Any) -> list[str]:
    """On the scheduler."""
    return list(dask_scheduler.workers)


def checked_address(address: str, tls: Tls) -> None:
    """UsageError for an address at which anybody of the network could run programs."""
    parts = urlsplit(address if "://" in address else f"tcp://{address}")
    if parts.hostname is None or parts.port is None:
        raise UsageError(f"--cluster {address}: wanted is an address such as tls://HOST:8786")
    if parts.scheme != "tls" and not _loopback(parts.hostname):
        raise UsageError(
            f"--cluster {address}: a Dask port runs anybody's code; beyond this machine it must be tls://, "
            "with certificates"
        )
    if parts.scheme == "tls" and tls == Tls() and not dask.config.get("distributed.comm.tls.client.cert", None):
        raise UsageError(f"--cluster {address}: needs --tls-ca, --tls-cert and --tls-key")
    if tls != Tls():
        for option, file in (("--tls-ca", tls.ca), ("--tls-cert", tls.cert), ("--tls-key", tls.key)):
            if file is None:
                raise UsageError(f"--cluster {address}: needs --tls-ca, --tls-cert and --tls-key")
            if not file.is_file():
                raise UsageError(f"{option} {file}: there is no such file")


def knock(address: str) -> None:
    """Waits until somebody listens at an address that was checked. RunError if nobody does within `CONNECT_S`."""
    parts = urlsplit(address if "://" in address else f"tcp://{address}")
    until = time.monotonic() + CONNECT_S
    while True:
        try:
            return socket.create_connection((parts.hostname, parts.port), CONNECT_S).close()
        except OSError as error:
            if time.monotonic() > until:
                raise _unreachable(address, error) from error
        time.sleep(0.1)  # it may be starting


def _unreachable(address: str, error: Exception) -> RunError:
    return RunError(f"the cluster at {address} cannot be reached: {error}")


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@asynccontextmanager
async def open_cluster(
    contest: worker_messages.Contest, address: str, plan: Plan, folder: Path, tls: Tls, on_note: Callable[[str], None]
) -> AsyncIterator[Crew]:
    """The workers of a cluster, for a run; `on_note` hears, in a line, why nothing is played. RunError if it cannot
    be reached."""
    checked_address(address, tls)
    bot_archives.check_travel(plan.bots)
    make_security: Any = distributed.Security  # untyped
    make_client: Any = distributed.Client
    security: Any = None
    if tls != Tls():
        security = make_security(
            tls_ca_file=str(tls.ca),
            tls_client_cert=str(tls.cert),
            tls_client_key=str(tls.key),
            require_encryption=True,
        )

    def connect() -> Any:
        try:
            return make_client(address, security=security, timeout=CONNECT_S, set_as_default=False)
        except Exception as error:  # OSError, TimeoutError, and what else Dask has for it
            raise _unreachable(address, error) from error

    client = await trio.to_thread.run_sync(connect)
    crew = ClusterCrew(connect, client, contest, plan, folder, address, on_note)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(crew.watch)
        try:
            yield crew
        finally:
            nursery.cancel_scope.cancel()
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(crew.close)
