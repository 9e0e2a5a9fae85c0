"""A cluster of Dask without processes: its client, scheduler and workers, by trio's clock."""

import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest import mock

import trio

from referee.addons.tournament.execution import dask, dask_worker, worker_messages
from referee.addons.tournament.execution.dask_worker import Reply
from referee.addons.tournament.execution.worker_messages import Done, Job, Played, PlayedGame
from referee.harness.common.errors import RunError

Worker = Callable[[str, Job], Reply | BaseException]
"""From its address and a job to what the task returns or raises."""
GAME_S = 0.3


def plays(address: str, job: Job) -> Reply:
    """Plays a job, as a sound worker does."""
    games = [PlayedGame(game.key, game.key.encode()) for game in job.games]
    return Reply(address, "host", [Played(job.number, games), Done(job.number, GAME_S * len(games))])


class Future:
    """The result of a task, which may come later."""

    def __init__(self) -> None:
        self.ended = trio.Event()
        self.outcome: bytes | BaseException = b""

    def end(self, outcome: bytes | BaseException) -> None:
        """Has the result; the first one counts."""
        if not self.ended.is_set():
            self.outcome = outcome
            self.ended.set()

    def result(self) -> bytes:
        """Returns the result, or raises it."""
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome


class Scattered(bytes):
    """Data that travels on its own, not in a task."""


class SimulatedDask:
    """Does what `DaskPool` asks of Dask's client."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self.workers: dict[str, Worker] = {}
        self.is_up = True
        """Whether the scheduler answers."""
        self.calls = 0
        """Tasks that no worker can do and that wait."""
        self.received: list[tuple[str, Callable[..., object], bytes, bytes]] = []
        """The calls that were sent to workers: the address, the function, and its arguments."""
        self.refusal: Exception | None = None
        """The error that a worker raises when it gets a bot."""
        self._nursery, self._futures, self._turn = nursery, list[Future](), itertools.count()

    @property
    def status(self) -> str:
        """As Dask's client has it."""
        return "running" if self.is_up else "connecting"

    def nthreads(self) -> Mapping[str, int]:
        """Returns the workers that the scheduler sees."""
        return dict.fromkeys(self.workers, 1)

    def scatter(self, data: bytes, **_: object) -> Scattered:
        """Sends data."""
        return Scattered(data)

    def submit(self, function: Callable[..., Any], *arguments: Any, workers: Any = (), **options: object) -> Any:
        """Has a task done by one of these workers."""
        assert not [
            each for each in arguments if isinstance(each, bytes) and len(each) > 100_000 and type(each) is bytes
        ]
        if "resources" in options:
            assert function is dask_worker.version
            return _Call(self)
        future = Future()
        if function is dask_worker.play:
            self._futures.append(future)
            job = worker_messages.order(arguments[-1])
            assert isinstance(job, Job)
            self._nursery.start_soon(self._do, future, job, workers)
        else:
            assert isinstance(arguments[1], Scattered)
            self.received.append((*workers, function, *arguments))
            future.end(self.refusal or b"")
        return future

    async def _do(self, future: Future, job: Job, workers: list[str]) -> None:
        """Dask gives the task of a worker that has gone to another, and waits if there is none."""
        while not future.ended.is_set():
            there = [address for address in workers if address in self.workers]
            if there and self.is_up:
                address = there[next(self._turn) % len(there)]
                worker = self.workers[address]
                await trio.sleep(GAME_S * len(job.games))
                if self.workers.get(address) is worker and self.is_up:
                    outcome = worker(address, job)
                    future.end(worker_messages.encode(outcome) if isinstance(outcome, Reply) else outcome)
            else:
                await trio.sleep(0.1)

    def cancel(self, futures: list[Future]) -> None:
        """Ends tasks."""
        for future in futures:
            future.end(KeyError("cancelled"))

    def close(self, _timeout: float) -> None:
        """Ends all tasks, as a client does that has lost its scheduler."""
        self.cancel(self._futures)

    def connect(self) -> "SimulatedDask":
        """Returns a client, if the scheduler answers."""
        if not self.is_up:
            raise RunError("the cluster cannot be reached")
        return self


class _Call:
    """Waits until it is forgotten."""

    def __init__(self, of: SimulatedDask) -> None:
        self._of = of
        of.calls += 1

    def __del__(self) -> None:
        self._of.calls -= 1


@contextmanager
def without_threads() -> Iterator[None]:
    """Has `DaskPool` call this client without threads, which trio's jumping clock does not wait for."""

    async def call(function: Callable[..., Any], *arguments: Any) -> Any:
        if function is dask._fetched:
            await arguments[0].ended.wait()
        return function(*arguments)

    with mock.patch.object(dask, "_in_thread", call):
        yield
