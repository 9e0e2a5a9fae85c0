"""Workers on other machines, by Dask, the extra `cluster`. Only this module and `dask_worker` import it.

A Dask worker may die at any time. Other workers then play the games that it did not return.
"""

import math
import socket
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import dask.config
import distributed
import msgspec
import trio
from msgspec import Struct

from referee.addons.tournament.execution import dask_worker, worker_messages
from referee.addons.tournament.execution.dask_worker import Reply, WorkerDied
from referee.addons.tournament.execution.worker_messages import Contest, Failed, Job
from referee.addons.tournament.execution.worker_pool import DRAIN_S, Event, Lost, Unbuilt, WorkerPool
from referee.addons.tournament.plan import Entry, Plan
from referee.addons.tournament.store import bot_archives
from referee.harness.common.addresses import is_local, typed_address
from referee.harness.common.errors import RunError, UsageError
from referee.harness.common.kept_rules import kept_rules

CONNECT_S = 10.0
RECONNECT_S = 60.0
"""How long to wait for a scheduler that is gone."""
LOOK_S = 0.5
PATIENCE_S = 10.0
"""After this time without a Dask worker, the run says what it waits for."""
CALL_S = 0.5
"""How long Dask expects a task to take that it has never seen end (`unknown-task-duration`)."""
MOST_CALLS = 500
"""Tasks that call for workers. By default, Dask starts a worker for ten of them."""
NOWHERE = {"referee-call": 1.0}
"""A resource that no Dask worker has."""
DELIVERIES = 3
"""A Dask worker that lacks bots after this many deliveries in a row gets no more games."""


class Tls(Struct, frozen=True):
    """The certificate files of a cluster that is open to a network."""

    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None


class _GivenJob(Struct, eq=False):
    """A job on its way to the cluster and back."""

    able: set[str]
    """The Dask workers that may play it."""
    scope: trio.CancelScope
    """Ends the wait for a job that will not come back."""
    future: Any = None


class DaskPool(WorkerPool):
    """The workers of a Dask cluster, which come and go. Made by `open_cluster`."""

    JOB_S = 1.5

    def __init__(
        self,
        nursery: trio.Nursery,
        connect: Callable[[], Any],
        client: Any,
        contest: Contest,
        plan: Plan,
        folder: Path,
        on_note: Callable[[str], None],
    ) -> None:
        super().__init__()
        self._nursery, self._connect, self._client = nursery, connect, client
        self._folder, self._on_note = folder, on_note
        self._set_contest(contest, plan.bots)
        self._workers: set[str] = set()
        self._unable: dict[str, str] = {}
        """Dask workers that cannot play, and why."""
        self._broken: defaultdict[str, dict[str, str]] = defaultdict(dict)
        """By bot, the Dask workers that cannot start it, and why."""
        self._jobs: dict[int, _GivenJob] = {}
        self._deliveries: defaultdict[str, list[str]] = defaultdict(list)
        """By Dask worker, the deliveries of bots since it last played: what went wrong with each."""
        self._sending = trio.Lock()
        """Only one zip file at a time is in the driver's memory."""
        self._stopping = False
        self._calls: list[Any] = []
        """Tasks that no Dask worker can do. An adaptive cluster starts workers for tasks that wait."""

    @property
    def _able(self) -> set[str]:
        return self._workers - self._unable.keys()

    def room(self) -> int:
        return 0 if self._stopping else self.queued_jobs * len(self._able) - len(self._jobs)

    async def give(self, job: Job) -> None:
        self._jobs[job.number] = given = _GivenJob(self._able_to_play(job), trio.CancelScope())
        self._nursery.start_soon(self._play, job, given)

    def _able_to_play(self, job: Job) -> set[str]:
        """Returns the Dask workers that can start all bots of a job, as far as is known."""
        broken = [self._broken[ident].keys() for game in job.games for ident in game.bots if ident in self._broken]
        return self._able.difference(*broken)

    async def _play(self, job: Job, given: _GivenJob) -> None:
        events: Sequence[Event] = [Lost((job.number,), started=False)]
        with given.scope:
            if given.able:
                events = await self._played(job, given)
            else:
                await trio.sleep(LOOK_S)  # the same job comes again at once
                events = self._unbuilt(job)
        del self._jobs[job.number]
        await self._report(*events)

    async def _played(self, job: Job, given: _GivenJob) -> Sequence[Event]:
        """Has a job played, and sends bots to a Dask worker that lacks them. Returns how that ended."""
        reply = await self._reply(job, given)
        while isinstance(reply, Reply) and reply.lacks and len(self._deliveries[reply.worker]) < DELIVERIES:
            given.able = {reply.worker}
            await self._deliver(reply)
            reply = await self._reply(job, given)
        if isinstance(reply, RunError):
            return [Failed(str(reply))]
        if not isinstance(reply, Reply):
            return [Lost((job.number,), isinstance(reply, WorkerDied | distributed.KilledWorker))]
        for ident, why in reply.broken.items():
            if reply.worker not in self._broken[ident]:
                self._broken[ident][reply.worker] = f"{reply.host}: {why}"
                self._on_note(f"{reply.host}: {why}; this worker plays no games with it")
        if reply.broken:
            return self._unbuilt(job)
        if reply.reports:
            self._deliveries.pop(reply.worker, None)
            return reply.reports
        await self._retire(reply)
        return [Lost((job.number,), started=False)]

    def _unbuilt(self, job: Job) -> Sequence[Event]:
        """Returns the events for a job that a Dask worker could not begin: others may be able to."""
        lost = Lost((job.number,), started=False)
        if not self._able or self._able_to_play(job):
            return [lost]
        idents = {ident for game in job.games for ident in game.bots}
        worst = max(sorted(idents), key=lambda ident: len(self._broken.get(ident, {})))
        why = "\n".join(sorted(set(self._broken[worst].values())))
        return [Unbuilt(job.number, worst, why), lost]

    async def _reply(self, job: Job, given: _GivenJob) -> Any:
        """Submits a job. Returns the `Reply`, or the exception instead of it."""
        given.future = self._submit(
            given.able,
            dask_worker.play,
            dask_worker.version(),
            self._contest,
            self._entries,
            worker_messages.encode(job),
        )
        return await _in_thread(_fetched, given.future)

    def _submit(self, workers: set[str], function: Callable[..., Any], *arguments: Any, priority: int = 0) -> Any:
        return self._client.submit(
            function, *arguments, pure=False, retries=0, workers=sorted(workers), priority=priority
        )

    async def _report(self, *events: Event) -> None:
        with suppress(trio.ClosedResourceError):  # the run is over
            for event in events:
                await self._send.send(event)

    async def _retire(self, reply: Reply) -> None:
        """Gives a Dask worker no more games. The run fails if it was the last."""
        if reply.worker in self._unable:
            return
        why = f"{reply.host}: {reply.unable}"
        if reply.lacks:
            wrong = self._deliveries[reply.worker][-1]
            why = f"{reply.host}: worker {reply.worker}: {DELIVERIES} deliveries of bots failed: {wrong}"
            self._on_note(f"{why}; this worker gets no more games")
        self._unable[reply.worker] = why
        if not self._able:
            reasons = "\n".join(sorted(set(self._unable.values())))
            await self._report(Failed(f"no worker of the cluster can play\n{reasons}"))

    # Bots for Dask workers that lack them.

    async def _deliver(self, reply: Reply) -> None:
        """Sends a Dask worker the bots and rules that it lacks, unless another job has had them sent meanwhile."""
        deliveries = self._deliveries[reply.worker]
        before = len(deliveries)
        async with self._sending:
            if len(deliveries) == before:
                deliveries.append(await _in_thread(self._send_bots, reply))

    def _send_bots(self, reply: Reply) -> str:
        """Returns what went wrong. Runs in a thread: a step may take long, and never ends if the scheduler is gone.

        `scatter` carries large data: of a task's arguments the scheduler would keep a copy.
        """
        parts: list[tuple[str, Path, Callable[[bytes, bytes], None], bytes]] = [
            (
                entry.name,
                bot_archives.archive_path(self._folder, entry),
                dask_worker.receive,
                msgspec.msgpack.encode(entry),
            )
            for entry in reply.needs
        ]
        if reply.rules:
            copy = kept_rules().copy_path(self._folder, reply.rules)
            parts.append(("the rules", copy, dask_worker.receive_rules, reply.rules.encode()))
        why = f"{', '.join(name for name, *_ in parts)}: sent, but still missing"
        for name, path, receive, content in parts:
            try:
                data = self._client.scatter(path.read_bytes(), workers=[reply.worker], hash=False)
                self._submit({reply.worker}, receive, content, data, priority=10).result()
            except BaseException as error:  # Dask has some that are no Exception
                why = f"{name}: {error}"
        return why

    # Dask workers and a scheduler that come and go.

    async def watch(self, address: str) -> None:
        """Follows the cluster until it has been gone for too long."""
        answered = busy = trio.current_time()
        missing = "no worker has come to"
        while True:
            workers = await _in_thread(self._look)
            await self._update(workers or set())
            if workers is not None:
                await self._call_for_workers()
            now = trio.current_time()
            if self._able:
                busy, missing = now, "no worker that can play is left at"
            elif workers is not None and now - busy > PATIENCE_S:
                busy = math.inf  # says so once
                self._on_note(f"{missing} {address}; waiting")
            if workers is not None:
                answered = now
            elif now - answered > RECONNECT_S:
                return await self._report(Failed(f"the cluster's scheduler has been gone for {RECONNECT_S:.0f} s"))
            else:
                self._deliveries.clear()
                await self._reconnect()
            await trio.sleep(LOOK_S)

    async def _update(self, workers: set[str]) -> None:
        self._workers = workers
        self._unable = {worker: why for worker, why in self._unable.items() if worker in workers}
        for broken in self._broken.values():
            for worker in broken.keys() - workers:
                del broken[worker]
        # Dask would never give up on these jobs, although a Dask worker that comes back has another address.
        stranded = [given for given in self._jobs.values() if not given.able & workers]
        for given in stranded:
            given.scope.cancel()
        if stranded:
            with suppress(Exception):
                await _in_thread(self._client.cancel, [given.future for given in stranded if given.future])

    async def _call_for_workers(self) -> None:
        """Keeps as many tasks waiting at the scheduler as the waiting games are worth, and one if nobody can play."""
        count = max(math.ceil(self.waiting_s / CALL_S), not self._able)
        count = 0 if self._stopping else min(count, MOST_CALLS)
        del self._calls[count:]  # which cancels them
        with suppress(Exception):  # the scheduler may be gone since
            while len(self._calls) < count:
                call = partial(self._client.submit, dask_worker.version, pure=False, resources=NOWHERE)
                self._calls.append(await _in_thread(call))

    def _look(self) -> set[str] | None:
        """Returns the addresses of the Dask workers, in a thread; None if the scheduler does not answer."""
        if self._client.status != "running":
            return None
        try:
            return set(self._client.nthreads())
        except Exception:  # whatever Dask raises for a lost connection
            return None

    async def _reconnect(self) -> None:
        old = self._client
        try:
            self._client = await _in_thread(self._connect)
        except RunError:
            return
        self._calls.clear()
        with suppress(Exception):
            await _in_thread(old.close, 1)

    async def enter(self, contest: Contest, bots: Sequence[Entry]) -> None:
        self._set_contest(contest, bots)  # a Dask worker starts its worker process anew for another contest

    def _set_contest(self, contest: Contest, bots: Sequence[Entry]) -> None:
        self._contest = worker_messages.encode(contest)
        self._entries = msgspec.msgpack.encode([entry for entry in bots if not entry.absent])

    async def stop(self, drain_s: float = DRAIN_S) -> None:
        self._stopping = True
        with trio.move_on_after(min(drain_s, DRAIN_S)):  # a cluster may never answer
            while self._jobs:
                await trio.sleep(0.05)
        self._send.close()

    def close(self) -> None:
        """Cancels what still runs and closes the connection."""
        with suppress(Exception):
            self._client.cancel([given.future for given in self._jobs.values() if given.future])
        with suppress(Exception):
            self._client.close(2)


async def _in_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """Runs a call of Dask, which may never return if the scheduler is gone."""
    limiter = trio.CapacityLimiter(1)  # of its own: as many threads as needed
    return await trio.to_thread.run_sync(function, *arguments, abandon_on_cancel=True, limiter=limiter)


def _fetched(future: Any) -> Any:
    """Waits for the result of `play`. Returns the `Reply`, or the exception instead of it."""
    try:
        return msgspec.msgpack.decode(future.result(), type=Reply)
    except BaseException as error:  # Dask has some that are no Exception
        return error


def check_address(address: str, tls: Tls) -> None:
    """Raises UsageError for an address at which anybody on the network could run programs.

    Then waits until something listens there. Raises RunError after `CONNECT_S`.
    """
    expected = "expected an address such as tls://HOST:8786"
    parts = typed_address(address if "://" in address else f"tcp://{address}", f"--cluster {address}", expected)
    if parts.hostname is None or parts.port is None:
        raise UsageError(f"--cluster {address}: {expected}")
    if parts.scheme != "tls" and not is_local(parts.hostname):
        raise UsageError(
            f"--cluster {address}: a Dask port runs anybody's code; beyond this machine it must be tls://, "
            "with certificates"
        )
    files = {"--tls-ca": tls.ca, "--tls-cert": tls.cert, "--tls-key": tls.key}
    configured = parts.scheme != "tls" or dask.config.get("distributed.comm.tls.client.cert", None)
    if None in files.values() and (any(files.values()) or not configured):
        raise UsageError(f"--cluster {address}: needs --tls-ca, --tls-cert and --tls-key")
    for option, file in files.items():
        if file is not None and not file.is_file():
            raise UsageError(f"{option} {file}: there is no such file")
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


@asynccontextmanager
async def open_cluster(
    contest: Contest, address: str, plan: Plan, folder: Path, tls: Tls, on_note: Callable[[str], None]
) -> AsyncIterator[WorkerPool]:
    """Opens the workers of a cluster at an address that `check_address` has accepted. Raises RunError on failure.

    `on_note` is called with a line of text when nothing can be played for a while.
    """
    bot_archives.check_travel(plan.bots)
    library: Any = distributed  # untyped
    files = {"tls_ca_file": tls.ca, "tls_client_cert": tls.cert, "tls_client_key": tls.key}
    security = None
    if tls != Tls():
        security = library.Security(require_encryption=True, **{name: str(file) for name, file in files.items()})

    def connect() -> Any:
        try:
            return library.Client(address, security=security, timeout=CONNECT_S, set_as_default=False)
        except Exception as error:  # OSError, TimeoutError, and what else Dask has for it
            raise _unreachable(address, error) from error

    client = await _in_thread(connect)
    async with trio.open_nursery() as nursery:
        pool = DaskPool(nursery, connect, client, contest, plan, folder, on_note)
        nursery.start_soon(pool.watch, address)
        try:
            yield pool
        finally:
            nursery.cancel_scope.cancel()
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(pool.close)
