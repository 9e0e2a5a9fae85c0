"""Workers on this machine: each a process with its bots, pinned to a core, with orders and reports through pipes."""

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from subprocess import PIPE

import trio

from referee.addons.tournament.execution import worker_messages
from referee.addons.tournament.execution.worker_messages import Contest, Done, Failed, Job, Order, Ready, Stop
from referee.addons.tournament.execution.worker_pool import DRAIN_S, Lost, WorkerPool
from referee.addons.tournament.plan import Entry
from referee.harness.common.errors import RunError
from referee.harness.isolation import plan
from referee.harness.process import core_locks

PROGRAM = [sys.executable, "-m", "referee.addons.tournament.execution.worker"]
START_EXITS, START_KILLS = 3, 20
"""How often in a row a worker may exit, or be killed, before it is ready. Then the run fails."""


class LocalPool(WorkerPool):
    """Workers on this machine. Made by `open_local`."""

    def __init__(self, contest: Contest, workers: int, cores_each: int) -> None:
        super().__init__()
        self.contest = contest
        self.command = [*PROGRAM, str(cores_each)]
        self._scope = trio.CancelScope()
        self._workers = [_Worker() for _ in range(workers)]
        self._stopping = False

    def room(self) -> int:
        return 0 if self._stopping else sum(self.queued_jobs - len(each.jobs) for each in self._workers if each.process)

    async def give(self, job: Job) -> None:
        worker = min((each for each in self._workers if each.process), key=lambda each: len(each.jobs))
        worker.jobs.append(job.number)
        await worker.send(job)

    async def enter(self, contest: Contest, bots: Sequence[Entry]) -> None:
        self.contest = contest
        for worker in self._workers:
            await worker.send(contest)

    async def stop(self, drain_s: float = DRAIN_S) -> None:
        self._stopping = True
        self._scope.deadline = trio.current_time() + drain_s
        for worker in self._workers:
            await worker.send(Stop())

    async def run(self) -> None:
        """Starts all workers and restarts those that die, until `stop`."""
        with self._scope:
            async with trio.open_nursery() as nursery:
                for worker in self._workers:
                    nursery.start_soon(self._keep, worker)
        self._send.close()

    async def _keep(self, worker: "_Worker") -> None:
        exits = kills = 0
        while exits < START_EXITS and kills < START_KILLS:
            ready, code = await self._run_once(worker)
            if self._stopping:
                return
            exits = 0 if ready else exits + (code >= 0)
            kills = 0 if ready else kills + (code < 0)
            jobs, worker.jobs = tuple(worker.jobs), []
            await self._send.send(Lost(jobs, ready))
        await self._send.send(Failed("a worker cannot start; its error message is above"))

    async def _run_once(self, worker: "_Worker") -> tuple[bool, int]:
        """Runs the worker's process. Returns whether it got ready to play, and its exit code."""
        try:
            # In a session of its own: Ctrl-C goes to the driver only, which lets games finish.
            process = await trio.lowlevel.open_process(self.command, stdin=PIPE, stdout=PIPE, start_new_session=True)
        except OSError as error:
            raise RunError(f"a worker cannot be started: {error}") from error
        assert process.stdin is not None and process.stdout is not None
        ready = False
        try:
            worker.process = process
            await worker.send(self.contest)
            if self._stopping:  # it was asked to stop before it could hear
                await worker.send(Stop())
            async for message in worker_messages.messages(process.stdout):
                report = worker_messages.report(message)
                if isinstance(report, Ready):
                    ready = True
                    continue
                if isinstance(report, Done):
                    worker.jobs.remove(report.job)
                await self._send.send(report)
        except trio.BrokenResourceError:
            pass  # it died in the middle of a message
        finally:
            worker.process = None
            with trio.CancelScope(shield=True):
                await process.stdin.aclose()  # the worker ends itself and its bots
                with trio.move_on_after(DRAIN_S):
                    await process.wait()
                process.kill()
                await process.wait()
                await process.stdout.aclose()
        return ready, process.returncode or 0


class _Worker:
    """A worker's process and its jobs."""

    def __init__(self) -> None:
        self.process: trio.Process | None = None
        self.jobs: list[int] = []
        self._sending = trio.Lock()  # several tasks send, and frames must not mix

    async def send(self, order: Order) -> None:
        process = self.process
        if process is None or process.stdin is None:
            return
        async with self._sending:
            try:
                await process.stdin.send_all(worker_messages.frame(order))
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                pass  # it has died: the task that reads from it notices


@asynccontextmanager
async def open_local(
    contest: Contest, workers: int | None = None, cores_each: int = 1, pin: bool = True
) -> AsyncIterator[WorkerPool]:
    """Opens a pool of workers, one for every physical core by default. Leaving the block ends them and their bots."""
    count = workers or max(1, len(core_locks.physical()) // cores_each)
    # A worker shares its control group with others and cannot make room for the groups of its bots: the driver does.
    with plan.vacate_cgroup(contest.limits.isolation):
        async with trio.open_nursery() as nursery:
            pool = LocalPool(contest, count, cores_each if pin else 0)
            nursery.start_soon(pool.run)
            try:
                yield pool
            finally:
                nursery.cancel_scope.cancel()
