"""Who plays: lanes on this machine, each a process with its bots on a core. `cluster` has the same interface."""

import sys
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from subprocess import PIPE

import trio
from msgspec import Struct

from referee.harness.errors import RunError
from referee.harness.isolation import plan
from referee.harness.tournament.execution import core_locks, worker_messages

QUEUED = 2
"""Jobs that a lane has at once, so that it never waits for the next."""
STARTS, KILLS = 3, 20
"""A lane that ends so often by itself, or is killed so often, before it has begun will not begin."""
DRAIN_S = 5.0
"""So long games may still take when a run is broken off."""


class Lost(Struct, frozen=True):
    """A lane died. What it had not given is open again."""

    lane: str
    jobs: tuple[int, ...]
    """The first is the one that it was at."""
    began: bool
    """It had started; else none of them can be the cause."""


Event = worker_messages.Played | worker_messages.Done | worker_messages.Failed | Lost


class Crew(ABC):
    """Takes jobs and gives what has been played."""

    JOB_S = 0.25
    """How long a job should take: long enough that handing it out costs nothing beside it."""
    lanes: int

    def __init__(self) -> None:
        self.tell, self.events = trio.open_memory_channel[Event](1000)

    @abstractmethod
    def room(self) -> int:
        """How many jobs can be given now."""

    @abstractmethod
    async def give(self, job: worker_messages.Job) -> None:
        """Hands a job to the lane that has the least to do."""

    @abstractmethod
    async def stop(self) -> None:
        """Lets the games that are being played finish, if they do within some seconds, and ends all lanes."""


class LocalCrew(Crew):
    """Lanes on this machine. Made by `open_local`."""

    def __init__(self, contest: worker_messages.Contest, lanes: int, arguments: tuple[str, ...]) -> None:
        super().__init__()
        self.contest = contest
        self.lanes = lanes
        self.arguments = arguments
        self._ended = trio.Event()
        self._scope = trio.CancelScope()
        self._all = [_Lane() for _ in range(lanes)]
        self._stopping = False

    def room(self) -> int:
        return 0 if self._stopping else sum(QUEUED - len(lane.jobs) for lane in self._all if lane.process is not None)

    async def give(self, job: worker_messages.Job) -> None:
        lane = min((lane for lane in self._all if lane.process is not None), key=lambda lane: len(lane.jobs))
        lane.jobs.append(job.number)
        await lane.send(job)

    async def stop(self) -> None:
        self._stopping = True
        for lane in self._all:
            await lane.send(worker_messages.Stop())
        with trio.move_on_after(DRAIN_S):
            await self._ended.wait()
        self._scope.cancel()

    async def run(self) -> None:
        """Starts all lanes, side by side, and keeps them alive until it is told to stop."""
        with self._scope:
            async with trio.open_nursery() as nursery:
                for lane in self._all:
                    nursery.start_soon(self._keep, lane)
        self._ended.set()
        self.tell.close()

    async def _keep(self, lane: "_Lane") -> None:
        ended = killed = 0
        while not self._stopping:
            ready, code = await self._live(lane)
            jobs, lane.jobs = tuple(lane.jobs), []
            if self._stopping:
                return
            ended = 0 if ready else ended + (code >= 0)
            killed = 0 if ready else killed + (code < 0)
            if ended == STARTS or killed == KILLS:
                await self.tell.send(
                    worker_messages.Failed("a lane ends before it has begun; what it said stands above")
                )
                return
            await self.tell.send(Lost(lane.name, jobs, ready))

    async def _live(self, lane: "_Lane") -> tuple[bool, int]:
        """Starts its process and hears it to its end; whether it was ready to play, and how it ended."""
        command = [sys.executable, "-m", "referee.harness.tournament.execution.worker", *self.arguments]
        try:
            # A session of its own: Ctrl-C is for the driver, which lets games finish.
            process = await trio.lowlevel.open_process(command, stdin=PIPE, stdout=PIPE, start_new_session=True)
        except OSError as error:
            raise RunError(f"a lane cannot be started: {error}") from error
        assert process.stdin is not None and process.stdout is not None
        ready = False
        try:
            lane.process = process
            await lane.send(self.contest)
            async for message in worker_messages.messages(process.stdout):
                report = worker_messages.report(message)
                if isinstance(report, worker_messages.Ready):
                    ready, lane.name = True, report.lane
                    continue
                if isinstance(report, worker_messages.Done):
                    lane.jobs.remove(report.job)
                await self.tell.send(report)
        except trio.BrokenResourceError:
            pass  # it died in the middle of a message
        finally:
            lane.process = None
            with trio.CancelScope(shield=True):
                await process.stdin.aclose()  # by which it ends, with its bots
                with trio.move_on_after(DRAIN_S):
                    await process.wait()
                if process.returncode is None:
                    process.kill()
                    await process.wait()
                await process.stdout.aclose()
        return ready, process.returncode or 0


class _Lane:
    """A lane's process, and what it has to do."""

    def __init__(self) -> None:
        self.process: trio.Process | None = None
        self.name = ""
        self.jobs: list[int] = []
        self._sending = trio.Lock()  # a pipe takes one order at a time, and several tasks give some

    async def send(self, order: worker_messages.Order) -> None:
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
    contest: worker_messages.Contest, lanes: int | None = None, cores_per_lane: int = 1, pin: bool = True
) -> AsyncIterator[Crew]:
    """Lanes for a run; default: one for every physical core. When the block ends, they and their bots have ended."""
    count = lanes or max(1, len(core_locks.physical()) // cores_per_lane)
    arguments = ("--cores", str(cores_per_lane)) if pin else ("--no-pin",)
    isolation = next(iter(contest.stages.values())).limits.isolation
    # No worker is alone in its control group, so we make room for the groups of all bots.
    with plan.room(isolation):
        async with trio.open_nursery() as nursery:
            crew = LocalCrew(contest, count, arguments)
            nursery.start_soon(crew.run)
            try:
                yield crew
            finally:
                nursery.cancel_scope.cancel()
