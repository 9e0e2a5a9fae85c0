"""A built-in opponent without a process of its own: hundreds of battles at a time are played in this one."""

from functools import partial
from importlib import import_module
from typing import Any

import msgspec
import trio

from referee.games.contract import Call, Fault, Notice
from referee.harness.opponents import OPPONENTS
from referee.harness.opponents._serve import Handler, Start
from referee.harness.seats.seat import Seat, Table
from referee.protocol.messages import Clock, Hello, Initialize

THINKING = trio.CapacityLimiter(1)
"""Two that think at a time only take the interpreter from each other, and from us."""


class Switch:
    """Holds replies back, for tests."""

    def __init__(self) -> None:
        self._on = trio.Event()
        self._on.set()

    @property
    def on(self) -> bool:
        """Nothing is held back."""
        return self._on.is_set()

    async def wait(self) -> None:
        """Until nothing is held back."""
        while not self.on:
            await self._on.wait()

    def hold(self) -> None:
        """From now on."""
        if self.on:
            self._on = trio.Event()

    def release(self) -> None:
        """No longer."""
        self._on.set()


class Hosted(Seat):
    """The opponent of that name, `@` apart. It is on no clock: what it costs is ours."""

    def __init__(self, name: str, switch: Switch | None = None) -> None:
        super().__init__()
        self.hello = Hello(name=name)
        self.switch = switch
        self._handle: Handler = _not_greeted
        self._thinks = False

    async def greet(self, match: Initialize, table: Table) -> Fault | None:
        name = self.hello.name or ""
        self._handle = program(name, match.game)(match)
        self._thinks = match.game in OPPONENTS[name].thinks
        self.greeted, self.calls = True, 0
        return None

    async def ask(self, call: Call, clock: Clock, limit_s: float) -> Any:
        """In a thread if it thinks, so that nobody's request waits meanwhile. An exception is a bug of ours."""
        if self.switch is not None and not self.switch.on:
            await self.switch.wait()
        self.calls += 1
        params = call.params if call.method.shared else msgspec.to_builtins(call.params)
        if call.method.name == "inject" or not self._thinks:
            return self._handle(call.method.name, params)
        think = partial(self._handle, call.method.name, params)
        return await trio.to_thread.run_sync(think, limiter=THINKING)

    def tell(self, notice: Notice) -> None:
        self._handle(notice.method, msgspec.to_builtins(notice.params))


def program(name: str, game: str) -> Start:
    """What plays that game under the opponent's name."""
    opponent = OPPONENTS[name]
    module = import_module(f"referee.harness.opponents.{opponent.module}")
    if opponent.module == "cheat":
        start: Start = module.CHEATS[game][name]
    else:
        start = module.GAMES[game]
    return start


def _not_greeted(method: str, params: dict[str, Any]) -> Any:
    raise RuntimeError("a seat is asked before it was greeted")
