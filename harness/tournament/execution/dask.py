"""Workers on other machines, by Dask: `pip install referee[cluster]`. Only this module and `dask_worker` import it.

Nothing on a Dask worker is irreplaceable: whatever dies there, the games that did not come back are played by others.
"""

import ipaddress
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import dask.config
import distributed
import msgspec
import trio
from msgspec import Struct

from referee.harness.errors import RunError, UsageError
from referee.harness.tournament.execution import dask_worker, worker_messages
from referee.harness.tournament.execution.dask_worker import JobDone, Needs, Reply, Unable, WorkerDied
from referee.harness.tournament.execution.worker_pool import DRAIN_S, QUEUED_JOBS, Event, Lost, WorkerPool
from referee.harness.tournament.model import Entry, Plan
from referee.harness.tournament.store import bot_archives

CONNECT_S = 10.0
RECONNECT_S = 60.0
"""How long to wait for a scheduler that is gone."""
FETCH_S = 30.0
"""How long the result of a job may take to arrive. Then its games are played again."""
LOOK_S = 0.5
PATIENCE_S = 10.0
"""After this time without a Dask worker, the run says what it waits for."""
DELIVERIES = 3
"""A Dask worker that lacks bots after this many deliveries in a row gets no more games."""


class Tls(Struct, frozen=True):
    """The certificate files of a cluster that is open to a network."""

    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None


class _GivenJob(NamedTuple):
    """A job that was submitted."""

    job: worker_messages.Job
    future: Any
    able: frozenset[str]
    """The Dask workers that may play it."""


class _Delivery(Struct, eq=False):
    """Bots on their way to a Dask worker, and the jobs that wait for them."""

    attempts: int = 0
    """Deliveries since the Dask worker last played."""
    jobs: list[int] = []
    """Empty if no delivery is on its way."""
    why: str = ""
    """What went wrong with the last one."""


class DaskPool(WorkerPool):
    """The workers of a Dask cluster, which come and go. Made by `open_cluster`."""

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
        super().__init__()
        self._address, self._on_note = address, on_note
        self._connect = connect
        self._client = client
        self._contest = worker_messages.encode(msgspec.structs.replace(contest, programs=()))
        self._entries = {entry.ident: entry for entry in plan.bots if not entry.absent}
        self._encoded_entries = msgspec.msgpack.encode(list(self._entries.values()))
        self._folder = folder
        self._workers: set[str] = set()
        self._had_workers = False
        self._unable: dict[str, str] = {}
        """Dask workers that cannot play, and why."""
        self._jobs: dict[int, _GivenJob] = {}
        self._deliveries: dict[str, _Delivery] = {}
        """By Dask worker."""
        self._sending = threading.Lock()
        """Only one zip file at a time is in the driver's memory."""
        self._stopping = False
        self._gone_since: float | None = None
        self._token = trio.lowlevel.current_trio_token()

    @property
    def _able(self) -> set[str]:
        return self._workers - self._unable.keys()

    def room(self) -> int:
        gone = self._stopping or self._gone_since is not None
        return 0 if gone else QUEUED_JOBS * len(self._able) - len(self._jobs)

    async def give(self, job: worker_messages.Job) -> None:
        self._submit(job, sorted(self._able))

    def _submit(self, job: worker_messages.Job, able: list[str]) -> None:
        future = self._client.submit(
            dask_worker.play,
            dask_worker.version(),
            self._contest,
            self._encoded_entries,
            worker_messages.encode(job),
            pure=False,
            retries=0,
            workers=able,
            allow_other_workers=False,
        )
        self._jobs[job.number] = _GivenJob(job, future, frozenset(able))
        # Dask has one thread for all callbacks, and a fetch from a scheduler that is gone may never return.
        future.add_done_callback(lambda done: _in_thread(self._fetch, job.number, done))

    def _fetch(self, number: int, future: Any) -> None:
        """Gets a job's result, in a thread."""
        result: Any
        try:
            result = dask_worker.decode_reply(future.result(FETCH_S))
        except BaseException as error:  # Dask has some that are no Exception
            result = error
        with suppress(trio.RunFinishedError):
            self._token.run_sync_soon(self._conclude, number, future, result)

    def _conclude(self, number: int, future: Any, result: Any) -> None:
        given = self._jobs.get(number)
        if given is None or given.future is not future:
            return  # the connection or the Dask worker is gone, and the games are with others
        if isinstance(result, Reply) and isinstance(result.answer, Needs):
            self._jobs[number] = given._replace(able=frozenset([result.worker]))
            self._deliver(number, result, result.answer.bots)
            return
        del self._jobs[number]
        if isinstance(result, Reply) and isinstance(result.answer, JobDone):
            if result.worker in self._deliveries:
                self._deliveries[result.worker].attempts = 0
            self._report(worker_messages.Played(number, result.answer.games))
            self._report(worker_messages.Done(number, result.answer.took_s, result.answer.start_s))
        elif isinstance(result, Reply):
            assert isinstance(result.answer, Unable)
            reasons = ((self._entries.get(ident), text) for ident, text in result.answer.why.items())
            self._retire(result, "; ".join(f"{entry.name}: {text}" if entry else text for entry, text in reasons))
            self._report(Lost(result.worker, (number,), False))
        elif isinstance(result, RunError):
            self._report(worker_messages.Failed(str(result)))
        else:
            self._report(Lost("a worker", (number,), isinstance(result, WorkerDied | distributed.KilledWorker)))

    def _report(self, event: Event) -> None:
        with suppress(trio.ClosedResourceError):  # the run is over
            self._send.send_nowait(event)

    def _retire(self, reply: Reply, why: str) -> None:
        """Gives a Dask worker no more games. The run fails if it was the last."""
        self._unable[reply.worker] = f"{reply.host}: {why}"
        if not self._able:
            reasons = "\n".join(sorted(set(self._unable.values())))
            self._report(worker_messages.Failed(f"no worker of the cluster can play\n{reasons}"))

    # Bots for Dask workers that lack them.

    def _deliver(self, number: int, reply: Reply, bots: Sequence[Entry]) -> None:
        """Sends the bots, then the job again. After `DELIVERIES`, others play the games."""
        delivery = self._deliveries.setdefault(reply.worker, _Delivery())
        delivery.jobs.append(number)
        if len(delivery.jobs) > 1:
            return  # the bots are on their way
        if delivery.attempts == DELIVERIES and reply.worker not in self._unable:
            why = delivery.why or f"{', '.join(entry.name for entry in bots)}: sent, but still missing"
            self._retire(reply, f"worker {reply.worker}: {DELIVERIES} deliveries of bots failed: {why}")
            self._on_note(f"{self._unable[reply.worker]}; this worker gets no more games")
        if reply.worker in self._unable:
            jobs, delivery.jobs = delivery.jobs, []
            self._lose([job for job in jobs if job in self._jobs], reply.worker)
            return
        delivery.attempts += 1
        _in_thread(self._send_bots, self._client, self._sending, reply.worker, bots, delivery)

    def _send_bots(
        self, client: Any, sending: threading.Lock, worker: str, bots: Sequence[Entry], delivery: _Delivery
    ) -> None:
        """Runs in a thread: a step may take long, and never ends if the scheduler is gone.

        `scatter` carries large data: of a task's arguments the scheduler would keep a copy.
        """
        why = ""
        for entry in bots:
            try:
                with sending:
                    archive = bot_archives.zip_path(self._folder, entry).read_bytes()
                    data = client.scatter(archive, workers=[worker], hash=False)
                bot = msgspec.msgpack.encode(entry)
                task = client.submit(
                    dask_worker.receive, bot, data, pure=False, retries=0, workers=[worker], priority=10
                )
                task.result()
            except BaseException as error:  # Dask has some that are no Exception
                why = f"{entry.name}: {error}"
        with suppress(trio.RunFinishedError):
            self._token.run_sync_soon(self._delivered, worker, delivery, why)

    def _delivered(self, worker: str, delivery: _Delivery, why: str) -> None:
        if self._deliveries.get(worker) is not delivery:
            return  # the Dask worker or the connection is gone
        delivery.why = why
        jobs, delivery.jobs = delivery.jobs, []
        for number in jobs:
            if number in self._jobs:
                self._submit(self._jobs[number].job, [worker])

    # Dask workers and a scheduler that come and go.

    async def watch(self) -> None:
        """Follows the cluster until it has been gone for too long."""
        alone_since: float | None = trio.current_time()
        """None once it was reported."""
        while True:
            workers = await trio.to_thread.run_sync(self._look)
            now = trio.current_time()
            if workers:
                alone_since = now
            elif workers is not None and alone_since is not None and now - alone_since > PATIENCE_S:
                alone_since = None
                what = "no worker is left at" if self._had_workers else "no worker has come to"
                self._on_note(f"{what} {self._address}; waiting")
            if workers is not None:
                self._gone_since = None
                await self._update(workers)
            elif self._gone_since is None:
                self._gone_since = now
                self._deliveries, self._sending = {}, threading.Lock()  # a thread may never release the old one
                self._lose(list(self._jobs), "the scheduler")
            elif now - self._gone_since > RECONNECT_S:
                self._report(worker_messages.Failed(f"the cluster's scheduler has been gone for {RECONNECT_S:.0f} s"))
                return
            if workers is None:
                await self._reconnect()
            await trio.sleep(LOOK_S)

    async def _update(self, workers: set[str]) -> None:
        self._workers = workers
        self._had_workers = self._had_workers or bool(workers)
        # Dask would never give up on these jobs, although a Dask worker that comes back has another address.
        stranded = [given for given in self._jobs.values() if not given.able & workers]
        self._lose([given.job.number for given in stranded], "a worker")
        if stranded:
            with suppress(Exception):
                await trio.to_thread.run_sync(self._client.cancel, [given.future for given in stranded])
        self._unable = {worker: why for worker, why in self._unable.items() if worker in workers}
        self._deliveries = {worker: each for worker, each in self._deliveries.items() if worker in workers}

    def _lose(self, jobs: list[int], name: str) -> None:
        for number in jobs:
            del self._jobs[number]
            self._report(Lost(name, (number,), False))

    def _look(self) -> set[str] | None:
        """Returns the addresses of the Dask workers, in a thread; None if the scheduler does not answer."""
        if self._client.status != "running":
            return None
        try:
            return set(self._client.run_on_scheduler(_workers))
        except Exception:  # whatever Dask raises for a lost connection
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
        with trio.move_on_after(DRAIN_S):
            while self._jobs:
                await trio.sleep(0.05)
        self._send.close()

    def close(self) -> None:
        """Cancels what still runs and closes the connection."""
        with suppress(Exception):
            self._client.cancel([given.future for given in self._jobs.values()])
        with suppress(Exception):
            self._client.close(2)


def _in_thread(function: Callable[..., None], *arguments: Any) -> None:
    threading.Thread(target=function, args=arguments, daemon=True).start()


def _workers(dask_scheduler: Any) -> list[str]:
    """Runs on the scheduler."""
    return list(dask_scheduler.workers)


def checked_address(address: str, tls: Tls) -> None:
    """Raises UsageError for an address at which anybody on the network could run programs."""
    parts = urlsplit(address if "://" in address else f"tcp://{address}")
    if parts.hostname is None or parts.port is None:
        raise UsageError(f"--cluster {address}: expected an address such as tls://HOST:8786")
    if parts.scheme != "tls" and not _loopback(parts.hostname):
        raise UsageError(
            f"--cluster {address}: a Dask port runs anybody's code; beyond this machine it must be tls://, "
            "with certificates"
        )
    if tls == Tls():
        if parts.scheme == "tls" and not dask.config.get("distributed.comm.tls.client.cert", None):
            raise UsageError(f"--cluster {address}: needs --tls-ca, --tls-cert and --tls-key")
        return
    for option, file in (("--tls-ca", tls.ca), ("--tls-cert", tls.cert), ("--tls-key", tls.key)):
        if file is None:
            raise UsageError(f"--cluster {address}: needs --tls-ca, --tls-cert and --tls-key")
        if not file.is_file():
            raise UsageError(f"{option} {file}: there is no such file")


def knock(address: str) -> None:
    """Waits until something listens at a checked address. Raises RunError after `CONNECT_S`."""
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
) -> AsyncIterator[WorkerPool]:
    """Opens a cluster's workers as a pool. Raises RunError if it cannot be reached.

    `on_note` is called with a line of text when nothing can be played for a while.
    """
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
    pool = DaskPool(connect, client, contest, plan, folder, address, on_note)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(pool.watch)
        try:
            yield pool
        finally:
            nursery.cancel_scope.cancel()
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(pool.close)
