"""Plays games on a worker pool: of tournaments, gates and `--games N --jobs J` alike.

The runner forms jobs, hands them out, and gives games of lost workers to others. It does not know where the workers
are. Its subclasses say which games to play, and keep what was played.
"""

import heapq
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from enum import StrEnum
from math import inf

import msgspec
import trio
from msgspec import Struct

from referee.addons.tournament.execution.worker_messages import Assignment, Done, Failed, Job, Played, PlayedGame
from referee.addons.tournament.execution.worker_pool import Event, Lost, Unbuilt, WorkerPool
from referee.harness.common.errors import RunError

AHEAD = 10_000
"""How many games to take from most schedules in advance, to find those of the same line-up."""
JOB_GAMES = 2_000
"""The most games of a job."""
STARTS_A_JOB = 10
"""A job takes at least this many times as long as its bots need to start."""
WAIT_S = 0.25
"""How long to wait for an event before looking for room again: a worker that starts sends none."""
DEATHS = 3
"""A game that has killed this many workers is not tried again."""


class End(StrEnum):
    """How a run ended."""

    FINISHED = "finished"
    CAPPED = "capped"
    """The time limit came first."""
    COSTLY = "stopped by --max-cost"
    """Language models have cost as much as they may."""
    INTERRUPTED = "interrupted"


class _GivenJob(Struct):
    """A job that a worker has."""

    line_up: str
    games: dict[str, Assignment]
    """By key, those that have not come back."""
    count: int


class Runner(ABC):
    """Plays games until none is left."""

    def __init__(self) -> None:
        self.lost_workers = 0
        self.ahead = AHEAD
        """How many games to take from the schedule in advance."""
        self.one_by_one = False
        """Whether a worker gets its next game only after the one before, so that a run that stops begins no other."""
        self.goes_on = False
        """Whether the run waits for further games when none is left."""
        self._queue = GameQueue(self.assignments())
        self._jobs: dict[int, _GivenJob] = {}
        self._last_job = 0
        self._game_s: dict[str, float] = {}
        """Running mean of the length of a game, by line-up."""
        self._start_s: dict[str, float] = {}
        """How long the bots of a line-up last took to start."""
        self._held: set[str] = set()
        """Keys of games that workers had when the schedule began anew."""
        self._deaths: dict[str, int] = {}
        """How many workers each game has killed, by key."""
        self._draining = False
        self._resting = False

    @abstractmethod
    def assignments(self) -> Iterator[Assignment | None]:
        """Yields the games to play, and None while the next one depends on games that are not played yet."""

    @abstractmethod
    def take(self, games: Sequence[PlayedGame]) -> None:
        """Keeps games that were played. A game may come twice if its worker was thought to be dead."""

    def still_open(self, games: list[Assignment]) -> list[Assignment]:
        """Returns those of the games that a worker still has to play."""
        return games

    @asynccontextmanager
    async def resting(self) -> AsyncIterator[None]:
        """Gives out no game meanwhile, and begins when workers have none."""
        self._resting = True
        try:
            while self._jobs:
                await trio.sleep(WAIT_S)
            yield
        finally:
            self._resting = False

    async def take_in_changes(self, pool: WorkerPool) -> None:
        """Changes the games to play, if that was asked for; see `begin_anew`."""

    def given(self) -> Iterator[Assignment]:
        """Yields the games that workers have."""
        for job in self._jobs.values():
            yield from job.games.values()

    def begin_anew(self) -> None:
        """Asks `assignments` for all games again. Those that workers have are not given out twice."""
        self._queue = GameQueue(self.assignments())
        self._held = {game.key for game in self.given()}

    def is_deferred(self, line_up: str) -> bool:
        """Returns whether games of other line-ups come first."""
        return False

    def describe(self, game: Assignment) -> str:
        """Names a game in messages."""
        return f"the game {game.key}"

    def give_up(self, game: Assignment) -> None:
        """Handles a game that has killed `DEATHS` workers."""
        raise RunError(f"{self.describe(game)} has killed {DEATHS} workers; it is not tried again")

    def unbuilt(self, ident: str, why: str, games: list[Assignment]) -> None:
        """Handles a bot that no worker can build. The games with it are dropped unless this raises."""
        raise RunError(f"no worker of the cluster can play\n{why}")

    async def play(self, pool: WorkerPool, stop: trio.Event | None = None, max_s: float = inf) -> End:
        """Plays until nothing is left, `stop` is set, or the time is over. Raises RunError if it cannot go on."""
        stop = trio.Event() if stop is None else stop
        if self.one_by_one:
            pool.queued_jobs = 1
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._drain, pool, stop, max_s)
            nursery.start_soon(self._watch, pool)
            try:
                await self._work(pool)
            finally:
                self._take_waiting(pool)
            nursery.cancel_scope.cancel()
        if not self._draining or self._is_finished():
            return End.FINISHED
        return End.INTERRUPTED if stop.is_set() else End.CAPPED

    def _is_finished(self) -> bool:
        """Whether the run has ended with its last game."""
        is_idle = not any(self.given())
        if is_idle:
            self._queue.fill(self.ahead)  # the schedule may not have known yet that it ends
        return is_idle and self._queue.ended and not self._queue.size

    async def _drain(self, pool: WorkerPool, stop: trio.Event, max_s: float) -> None:
        with trio.move_on_after(max_s):
            await stop.wait()
        self._draining = True
        async with trio.open_nursery() as nursery:
            if not stop.is_set():  # games that take longer than the time limit would never end
                nursery.start_soon(pool.stop, inf)
            await stop.wait()
            nursery.cancel_scope.cancel()
        await pool.stop()

    async def _watch(self, pool: WorkerPool) -> None:
        while not self._draining:
            await self.take_in_changes(pool)
            await trio.sleep(WAIT_S)

    async def _work(self, pool: WorkerPool) -> None:
        while True:
            if not self._draining and not self._resting:
                await self._hand_out(pool)
                if not self._jobs:
                    if (queue := self._queue).size == 0:
                        await self.take_in_changes(pool)
                        if queue is not self._queue:
                            continue
                        if not self.goes_on:
                            return  # nothing is left, or the format waits for games of another shard
                    elif pool.room() > 0:
                        continue  # all games of the line-ups so far were decided without play
            try:
                with trio.move_on_after(WAIT_S):
                    self._handle(await pool.events.receive())
            except trio.EndOfChannel:
                return

    def _take_waiting(self, pool: WorkerPool) -> None:
        """However a run ends, it keeps every game that has come in."""
        with suppress(trio.WouldBlock, trio.EndOfChannel):
            while True:
                if isinstance(event := pool.events.receive_nowait(), Played):
                    self.take(event.games)

    # Jobs for workers.

    async def _hand_out(self, pool: WorkerPool) -> None:
        self._queue.fill(self.ahead)
        while pool.room() > 0 and (job := self._next_job(pool.JOB_S)):
            await pool.give(job)
            self._queue.fill(self.ahead)
        known_s = self._game_s.values()
        pool.waiting_s = self._queue.size * sum(known_s) / len(known_s) if known_s else 0.0

    def _next_job(self, length_s: float) -> Job | None:
        """Returns a job of about that length with games of one line-up; None if no game waits."""

        def count(line_up: str) -> int:
            game_s = self._game_s.get(line_up)
            job_s = max(length_s, STARTS_A_JOB * self._start_s.get(line_up, 0.0))
            return 1 if game_s is None or self.one_by_one else max(1, min(JOB_GAMES, int(job_s / max(game_s, 1e-5))))

        while taken := self._queue.take(self.is_deferred, count):
            if games := [game for game in self.still_open(self._without_suspects(taken)) if game.key not in self._held]:
                self._last_job += 1
                by_key = {game.key: game for game in games}
                self._jobs[self._last_job] = _GivenJob(games[0].line_up, by_key, len(games))
                return Job(self._last_job, tuple(games))
        return None

    def _without_suspects(self, taken: list[Assignment]) -> list[Assignment]:
        """Gives a game at which a worker died alone, so that no other game is blamed or lost for it."""
        suspects = [place for place, game in enumerate(taken) if game.key in self._deaths]
        count = max(suspects[0], 1) if suspects else len(taken)
        self._put_back(taken[count:])
        return taken[:count]

    def _put_back(self, games: Sequence[Assignment]) -> None:
        for game in reversed(games):
            self._held.discard(game.key)
            self._queue.add(game)

    # Events from workers.

    def _handle(self, event: Event) -> None:
        match event:
            case Played(number, games):
                if job := self._jobs.get(number):
                    for game in games:
                        if not game.void:
                            job.games.pop(game.key, None)
                self.take(games)
            case Done(number, took_s, start_s):
                if job := self._jobs.pop(number, None):
                    game_s = took_s / job.count
                    self._game_s[job.line_up] = (self._game_s.get(job.line_up, game_s) + game_s) / 2
                    if start_s:
                        self._start_s[job.line_up] = start_s
                    self._put_back(list(job.games.values()))
            case Lost(numbers, started):
                self.lost_workers += 1
                for number in numbers:
                    if job := self._jobs.pop(number, None):
                        if started and number == numbers[0]:
                            self._blame(job)
                        self._put_back(list(job.games.values()))
            case Unbuilt(number, ident, why):
                if job := self._jobs.get(number):
                    dropped = [game for game in job.games.values() if ident in game.bots]
                    self.unbuilt(ident, why, dropped)
                    for each in dropped:
                        del job.games[each.key]
            case Failed(why):
                raise RunError(why)

    def _blame(self, job: _GivenJob) -> None:
        """Counts the death of a worker against the game that it was playing."""
        for key, game in list(job.games.items())[:1]:
            self._deaths[key] = self._deaths.get(key, 0) + 1 if job.count == 1 else 1
            if self._deaths[key] >= DEATHS:
                del job.games[key]
                self.give_up(game)


class GameQueue:
    """Games that wait for a worker: in the order of their schedule, those of one line-up together."""

    def __init__(self, source: Iterator[Assignment | None]) -> None:
        self.ended = False
        """The schedule has no further games."""
        self.size = 0
        self._source = source
        self._number = 0
        self._by_line_up: dict[str, deque[Assignment]] = {}
        self._heads: list[tuple[int, str]] = []
        """A heap of the first game of every line-up. Outdated entries stay until `take` meets them."""

    def fill(self, ahead: int) -> None:
        """Takes games from the schedule until there are enough, or the next one depends on results."""
        while self.size < ahead:
            try:
                game = next(self._source)
            except StopIteration:
                self.ended = True
                return
            if game is None:
                return
            self._number += 1
            self.add(msgspec.structs.replace(game, number=self._number))

    def add(self, game: Assignment) -> None:
        """Inserts a game before or behind the other games of its line-up."""
        queue = self._by_line_up.setdefault(game.line_up, deque())
        if not queue or game.number < queue[0].number:
            queue.appendleft(game)
            heapq.heappush(self._heads, (game.number, game.line_up))
        else:
            queue.append(game)
        self.size += 1

    def take(self, is_deferred: Callable[[str], bool], count: Callable[[str], int]) -> list[Assignment]:
        """Removes and returns the first `count` games of the line-up with the earliest game; nothing if none waits.

        Deferred line-ups come after all others.
        """
        line_up, deferred = "", []
        while self._heads and not line_up:
            head = heapq.heappop(self._heads)
            queue = self._by_line_up.get(head[1])
            if not queue or queue[0].number != head[0]:
                continue
            if is_deferred(head[1]):
                deferred.append(head)
            else:
                line_up = head[1]
        if deferred and not line_up:
            line_up = deferred.pop(0)[1]
        for head in deferred:
            heapq.heappush(self._heads, head)
        if not line_up:
            return []
        queue = self._by_line_up[line_up]
        taken = [queue.popleft() for _ in range(min(count(line_up), len(queue)))]
        if queue:
            heapq.heappush(self._heads, (queue[0].number, line_up))
        else:
            del self._by_line_up[line_up]
        self.size -= len(taken)
        return taken
