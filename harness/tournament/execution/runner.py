"""Plays the games of a schedule on a worker pool: tournaments, gates and `--games N --jobs J` alike.

A schedule says which games to play and keeps what was played. The runner forms jobs, hands them out, and gives games
of lost workers to others. It does not know where the workers are.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import suppress
from enum import StrEnum
from math import inf

import trio
from msgspec import Struct

from referee.harness.errors import RunError
from referee.harness.tournament.execution.game_queue import GameQueue, Numbered
from referee.harness.tournament.execution.worker_messages import Assignment, Done, Job, Played, PlayedGame
from referee.harness.tournament.execution.worker_pool import Event, Lost, WorkerPool

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
    INTERRUPTED = "interrupted"


class Schedule(ABC):
    """Says which games to play, in which order, and keeps what was played."""

    JOB_GAMES = 2_000
    """The most games of a job."""

    @abstractmethod
    def assignments(self) -> Iterator[Assignment | None]:
        """Yields the games to play, and None while the next one depends on games that are not played yet."""

    @abstractmethod
    def take(self, games: Sequence[PlayedGame]) -> None:
        """Keeps games that were played. A game may come twice if its worker was thought to be dead."""

    def still_open(self, games: list[Numbered]) -> list[Numbered]:
        """Returns those of the games that a worker still has to play."""
        return games

    def is_deferred(self, line_up: str) -> bool:
        """Returns whether games of other line-ups come first."""
        return False

    def describe(self, game: Assignment) -> str:
        """Names a game in messages."""
        return f"the game {game.key}"


class _GivenJob(Struct):
    """A job that a worker has."""

    line_up: str
    games: dict[str, Numbered]
    """By key, those that have not come back."""
    count: int


class Runner:
    """Plays a schedule."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.lost_workers = 0
        self._queue = GameQueue(schedule.assignments())
        self._jobs: dict[int, _GivenJob] = {}
        self._last_job = 0
        self._game_s: dict[str, float] = {}
        """Running mean of the length of a game, by line-up."""
        self._start_s: dict[str, float] = {}
        """How long the bots of a line-up last took to start."""
        self._deaths: dict[str, int] = {}
        """How many workers each game has killed, by key."""
        self._draining = False

    async def play(self, pool: WorkerPool, stop: trio.Event | None = None, max_s: float = inf) -> End:
        """Plays until nothing is left, `stop` is set, or the time is over. Raises RunError if it cannot go on."""
        stop = trio.Event() if stop is None else stop
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._drain, pool, stop, max_s)
            try:
                await self._work(pool)
            finally:
                self._take_waiting(pool)
            nursery.cancel_scope.cancel()
        if not self._draining or (self._queue.ended and not self._queue.size and not self._jobs):
            return End.FINISHED
        return End.INTERRUPTED if stop.is_set() else End.CAPPED

    async def _drain(self, pool: WorkerPool, stop: trio.Event, max_s: float) -> None:
        with trio.move_on_after(max_s):
            await stop.wait()
        self._draining = True
        await pool.stop()

    async def _work(self, pool: WorkerPool) -> None:
        while True:
            if not self._draining:
                await self._hand_out(pool)
                if not self._jobs:
                    if self._queue.size == 0:
                        return  # nothing is left, or the format waits for games of another shard
                    if pool.room() > 0:
                        continue  # all games of the line-ups so far were decided without play
            try:
                with trio.move_on_after(WAIT_S):
                    self._handle(await pool.events.receive())
                with suppress(trio.WouldBlock):
                    while True:
                        self._handle(pool.events.receive_nowait())
            except trio.EndOfChannel:
                return

    def _take_waiting(self, pool: WorkerPool) -> None:
        """However a run ends, it keeps every game that has come in."""
        with suppress(trio.WouldBlock, trio.EndOfChannel):
            while True:
                if isinstance(event := pool.events.receive_nowait(), Played):
                    self.schedule.take(event.games)

    # Jobs for workers.

    async def _hand_out(self, pool: WorkerPool) -> None:
        self._queue.fill()
        while pool.room() > 0:
            job = self._next_job(pool.JOB_S)
            if job is None:
                return
            await pool.give(job)

    def _next_job(self, length_s: float) -> Job | None:
        """Returns a job of about that length with games of one line-up; None if no game waits."""
        while (line_up := self._queue.first(self.schedule.is_deferred)) is not None:
            taken = self._queue.take(line_up, self._job_games(line_up, length_s))
            games = self.schedule.still_open(self._without_suspects(taken))
            if games:
                self._last_job += 1
                self._jobs[self._last_job] = _GivenJob(line_up, {game.key: (n, game) for n, game in games}, len(games))
                return Job(self._last_job, tuple(game for _, game in games))
        return None

    def _job_games(self, line_up: str, length_s: float) -> int:
        game_s = self._game_s.get(line_up)
        if game_s is None:
            return 1
        job_s = max(length_s, STARTS_A_JOB * self._start_s.get(line_up, 0.0))
        return max(1, min(self.schedule.JOB_GAMES, int(job_s / max(game_s, 1e-5))))

    def _without_suspects(self, taken: list[Numbered]) -> list[Numbered]:
        """Gives a game at which a worker died alone, so that no other game is blamed or lost for it."""
        suspects = [place for place, (_, game) in enumerate(taken) if game.key in self._deaths]
        count = max(suspects[0], 1) if suspects else len(taken)
        self._put_back(taken[count:])
        return taken[:count]

    def _put_back(self, games: Sequence[Numbered]) -> None:
        for number, game in reversed(games):
            self._queue.add(number, game)

    # Events from workers.

    def _handle(self, event: Event) -> None:
        if isinstance(event, Played):
            self._played(event)
        elif isinstance(event, Done):
            self._done(event)
        elif isinstance(event, Lost):
            self._lost(event)
        else:
            raise RunError(event.why)

    def _played(self, event: Played) -> None:
        if job := self._jobs.get(event.job):
            for game in event.games:
                if not game.void:
                    job.games.pop(game.key, None)
        self.schedule.take(event.games)

    def _done(self, event: Done) -> None:
        job = self._jobs.pop(event.job, None)
        if job is None:
            return
        game_s = event.took_s / job.count
        self._game_s[job.line_up] = (self._game_s.get(job.line_up, game_s) + game_s) / 2
        if event.start_s:
            self._start_s[job.line_up] = event.start_s
        self._put_back(list(job.games.values()))

    def _lost(self, event: Lost) -> None:
        self.lost_workers += 1
        for place, number in enumerate(event.jobs):
            job = self._jobs.pop(number, None)
            if job is None:
                continue
            if place == 0 and event.started:
                self._blame(job)
            self._put_back(list(job.games.values()))

    def _blame(self, job: _GivenJob) -> None:
        """Counts the death of a worker against the game that it was playing."""
        for key, (_, game) in list(job.games.items())[:1]:
            self._deaths[key] = self._deaths.get(key, 0) + 1 if job.count == 1 else 1
            if self._deaths[key] >= DEATHS:
                raise RunError(f"{self.schedule.describe(game)} has killed {DEATHS} workers; it is not tried again")
