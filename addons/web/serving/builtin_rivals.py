"""Built-in opponents that play in the server's own process, hundreds of battles at a time."""

from functools import partial
from importlib import import_module
from typing import Any

import msgspec
import trio

from referee.games.contract import Call, Notice
from referee.harness.match.pause import PauseControl
from referee.harness.opponents import OPPONENTS
from referee.harness.opponents._serve import Handler, Start
from referee.harness.seats.seat import MatchContext, Reply, Seat
from referee.protocol.messages import Clock, Hello, Initialize

THINKING = trio.CapacityLimiter(1)
"""Two threads that think would only compete for the interpreter with each other, and with us."""


class BuiltinRival(Seat):
    """The built-in opponent of that name, without the `@`. It has no clock, since its time is our cost."""

    def __init__(self, name: str, pause: PauseControl | None = None) -> None:
        """While `pause` is paused, it does not reply."""
        super().__init__()
        self.handshake = Hello(name=name)
        self.pause = pause
        self._handle: Handler = _not_greeted
        self._thinks = False

    async def greet(self, match: Initialize, context: MatchContext) -> Reply:
        name = self.handshake.name or ""
        self._handle = program(name, match.game)(match)
        self._thinks = match.game in OPPONENTS[name].thinks
        self.greeted, self.totals.calls = True, 0
        return Reply(None)

    async def ask(self, call: Call, clock: Clock, limit_s: float) -> Reply:
        """Answers in a thread if the opponent thinks for long. An exception is a bug of ours."""
        if self.pause is not None and self.pause.paused:
            await self.pause.hold()
        self.totals.calls += 1
        params = call.params if call.method.shared else msgspec.to_builtins(call.params)
        if call.method.name == "inject" or not self._thinks:
            return Reply(self._handle(call.method.name, params))
        think = partial(self._handle, call.method.name, params)
        return Reply(await trio.to_thread.run_sync(think, limiter=THINKING))

    def notify(self, notice: Notice) -> None:
        self._handle(notice.method, msgspec.to_builtins(notice.params))


def program(name: str, game: str) -> Start:
    """Returns what plays the game under the opponent's name."""
    opponent = OPPONENTS[name]
    module = import_module(f"referee.harness.opponents.{opponent.module}")
    start: Start = module.CHEATS[game][name] if opponent.module == "cheat" else module.GAMES[game]
    return start


def _not_greeted(method: str, params: dict[str, Any]) -> Any:
    raise RuntimeError("a seat was asked before it was greeted")
