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


class MatchThread:
    """Plays one match at a time.

    `begin` and `answer` return the next decision of the seat whose `Entrant.settings` are this object, or the verdict.
    They raise what has ended a match otherwise, such as a RunError.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._news: queue.SimpleQueue[Decision | Verdict | BaseException] = queue.SimpleQueue()
        self._pace = PauseControl()
        self._in_match = False
        self._ready = threading.Event()
        self._thread = threading.Thread(target=trio.run, args=(self._main,), daemon=True)
        self._thread.start()
        self._ready.wait()

    def begin(self, match: Match) -> Decision | Verdict:
        """Begins a match. One that is being played is stopped, so that its bots can play this one."""
        if self._in_match:
            self._tell(self._stop)
            self._next()
        self._in_match = True
        self._tell(lambda: self._matches.send_nowait(match))
        return self._next()

    def answer(self, answer: Any) -> Decision | Verdict:
        """Answers the last decision."""
        self._tell(lambda: self._answers.send_nowait(answer))
        return self._next()

    def close(self) -> None:
        """Ends the bots and the thread."""
        with suppress(RunError):
            self._tell(self._scope.cancel)
        self._thread.join()

    def _tell(self, act: Callable[[], object]) -> None:
        """Has the thread do something, and does not wait for it."""
        try:
            self._token.run_sync_soon(act)
        except trio.RunFinishedError as error:
            raise RunError("this environment is closed; make a new one") from error

    def _next(self) -> Decision | Verdict:
        news = self._news.get()
        self._in_match = isinstance(news, Decision)
        if isinstance(news, BaseException):
            raise news
        return news

    # In the thread.

    async def _main(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        self._matches, matches = trio.open_memory_channel[Match](1)
        self._answers, self.given = trio.open_memory_channel[Any](1)
        with trio.CancelScope() as self._scope:
            self._ready.set()
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
    def __init__(self, matches: MatchThread) -> None:
        super().__init__("outside")
        self._thread = matches

    async def greet(self, match: Initialize, context: MatchContext) -> Reply:
        self._dice = Dice(match.seed)
        return await super().greet(match, context)

    async def answer(self, call: Call) -> Any:
        self.context.flush()  # programs get their notices while the answer is awaited
        return await self._thread.ask(Decision(self.context.state, call, self._dice))
