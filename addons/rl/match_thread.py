"""Matches in a thread of their own, with one seat that is played from outside. Bots live on between matches."""

import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import trio

from referee.games.contract import Call
from referee.games.dice import Dice
from referee.harness.common.errors import RunError
from referee.harness.match.match import Match, play
from referee.harness.match.pause import PauseControl
from referee.harness.match.series import missing
from referee.harness.match.verdict import Verdict
from referee.harness.process.limits import Limits
from referee.harness.process.pipes import Pipes
from referee.harness.programs.entrant import Entrant
from referee.harness.seats.decision import Decision
from referee.harness.seats.roster import open_roster
from referee.harness.seats.seat import LocalSeat, MatchContext, Reply, Seat, Withdrawn
from referee.protocol.messages import Initialize

News = Decision | Verdict
"""The next decision of the seat that is played from outside, or the end of the match."""


class MatchThread:
    """Plays matches side by side, one at a time in each worker. So bots of all workers think at the same time."""

    def __init__(self, limits: Limits, workers: int = 1) -> None:
        self.workers = [Worker(self, limits) for _ in range(workers)]
        self._ready = threading.Event()
        self._thread = threading.Thread(target=trio.run, args=(self._main,), daemon=True)
        self._thread.start()
        self._ready.wait()

    def close(self) -> None:
        """Ends the bots and the thread."""
        with suppress(RunError):
            self.tell(self._scope.cancel)
        self._thread.join()

    def tell(self, act: Callable[[], object]) -> None:
        """Has the thread do something, and does not wait for it."""
        try:
            self._token.run_sync_soon(act)
        except trio.RunFinishedError as error:
            raise RunError("this environment is closed; make a new one") from error

    async def _main(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        with trio.CancelScope() as self._scope:
            async with trio.open_nursery() as nursery:
                for worker in self.workers:
                    await nursery.start(worker.run)
                self._ready.set()


class Worker:
    """Plays one match at a time. Its bots are not those of other workers.

    `begin` and `answer` do not wait. After each of them, `next` waits for the next decision of the seat whose
    `Entrant.settings` are this object, or for the verdict. It raises what has ended a match otherwise, such as a
    RunError.
    """

    def __init__(self, thread: MatchThread, limits: Limits) -> None:
        self._thread, self._limits = thread, limits
        self._news: queue.SimpleQueue[News | BaseException] = queue.SimpleQueue()
        self._pace = PauseControl()
        self._in_match = self._awaits_news = False

    def begin(self, match: Match) -> None:
        """Begins a match. One that is being played is stopped, so that its bots can play this one."""
        if self._awaits_news:
            with suppress(Exception):  # of a match that nobody follows any more
                self.next()
        if self._in_match:
            self._tell(self._stop)
            self.next()
        self._tell(lambda: self._matches.send_nowait(match))

    def answer(self, answer: Any) -> None:
        """Answers the last decision."""
        self._tell(lambda: self._answers.send_nowait(answer))

    def next(self) -> News:
        """Waits for what comes after `begin` or `answer`."""
        news = self._news.get()
        self._awaits_news, self._in_match = False, isinstance(news, Decision)
        if isinstance(news, BaseException):
            raise news
        return news

    def _tell(self, act: Callable[[], object]) -> None:
        self._thread.tell(act)
        self._awaits_news = True

    # In the thread.

    async def run(self, *, task_status: trio.TaskStatus[None]) -> None:
        """Plays the matches that `begin` names, until it is cancelled."""
        self._matches, matches = trio.open_memory_channel[Match](1)
        self._answers, self.given = trio.open_memory_channel[Any](1)
        task_status.started()
        while True:
            match = await matches.receive()
            try:
                async with open_roster(self._limits, Pipes, self._seat) as roster:
                    while True:
                        if gone := missing(match.entrants):
                            raise RunError(gone)
                        self._pace.begin()
                        self._news.put(await play(match, roster, pace=self._pace))
                        match = await matches.receive()
            except Exception as error:
                self._news.put(error)

    def _stop(self) -> None:
        self._pace.stop()
        self._answers.send_nowait(Withdrawn())

    def _seat(self, entrant: Entrant, limits: Limits) -> Seat | None:
        return _OutsideSeat(self) if entrant.settings is self else None

    async def ask(self, decision: Decision) -> Any:
        """Hands a decision out of the thread, and waits for the answer."""
        self._news.put(decision)
        return await self.given.receive()


class _OutsideSeat(LocalSeat):
    def __init__(self, worker: Worker) -> None:
        super().__init__("outside")
        self._worker = worker

    async def greet(self, match: Initialize, context: MatchContext) -> Reply:
        self._dice = Dice(match.seed)
        return await super().greet(match, context)

    async def answer(self, call: Call) -> Any:
        self.context.flush()  # programs get their notices while the answer is awaited
        return await self._worker.ask(Decision(self.context.state, call, self._dice))
