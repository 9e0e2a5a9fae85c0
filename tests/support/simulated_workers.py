"""Workers that play no game: a function says how each one ends and how long it takes, by trio's clock.

Under `trio.testing.MockClock(autojump_threshold=0)`, hours of a tournament pass in seconds.
"""

import random
import time
from collections.abc import Callable, Sequence

import msgspec
import trio

from referee.addons.tournament.execution.worker_messages import Assignment, Contest, Done, Job, Played, PlayedGame
from referee.addons.tournament.execution.worker_pool import DRAIN_S, QUEUED_JOBS, WorkerPool
from referee.addons.tournament.plan import Entry
from referee.addons.tournament.store.ledger import Fault, Line

Ending = tuple[tuple[int, ...], tuple[int, ...]]
"""Of a game: the ranks and the seats with a fault."""


def repeatable(game: Assignment) -> random.Random:
    """Returns luck that is the same whenever the game is played."""
    return random.Random(game.key)


class SimulatedWorkers(WorkerPool):
    """A pool of workers. `run` plays until it is cancelled."""

    def __init__(
        self, workers: int, ending: Callable[[Assignment], Ending], length_s: Callable[[Assignment], float]
    ) -> None:
        super().__init__()
        self.idle_s = 0.0
        """The time for which workers waited for a job, in all."""
        self._ending, self._length_s, self._workers = ending, length_s, workers
        self._jobs_in, self._jobs = trio.open_memory_channel[Job](QUEUED_JOBS * workers)
        self._given, self._stopped = 0, False

    def room(self) -> int:
        return 0 if self._stopped else QUEUED_JOBS * self._workers - self._given

    async def give(self, job: Job) -> None:
        self._given += 1
        await self._jobs_in.send(job)

    async def enter(self, contest: Contest, bots: Sequence[Entry]) -> None:
        pass

    async def stop(self, drain_s: float = DRAIN_S) -> None:
        self._stopped = True
        self._send.close()

    async def run(self) -> None:
        """Plays."""
        async with trio.open_nursery() as nursery:
            for _ in range(self._workers):
                nursery.start_soon(self._play)

    async def _play(self) -> None:
        waits_since = trio.current_time()
        async for job in self._jobs:
            started = trio.current_time()
            self.idle_s += started - waits_since
            for game in job.games:
                length_s = self._length_s(game)
                await trio.sleep(length_s)
                if self._stopped:
                    return
                await self._send.send(Played(job.number, [self._played(game, length_s)]))
            self._given -= 1
            waits_since = trio.current_time()
            await self._send.send(Done(job.number, waits_since - started))

    def _played(self, game: Assignment, length_s: float) -> PlayedGame:
        ranks, at_fault = self._ending(game)
        line = Line(
            game.key,
            game.bots,
            game.seed,
            ranks,
            tuple(float(rank == 1) for rank in ranks),
            ms=round(1000 * length_s),
            a=f"{repeatable(game).getrandbits(64):016x}",
            at=time.time(),
            by="simulated:0",
            f=tuple(Fault(seat, "crash", "exited with code 3") for seat in at_fault),
        )
        return PlayedGame(game.key, msgspec.json.encode(line))
