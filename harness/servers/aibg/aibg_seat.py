"""A client of AIBG at a seat: it joins, posts an action, and hears of the next position in the reply to that.

Rules and interface: aibg5.md, 13.3.
"""

from math import inf
from typing import Any

import msgspec
import trio
from msgspec import Raw, Struct

from referee.games.aibg5 import AIBG5, GameState
from referee.games.contract import Call, Fault, FaultKind, Notice
from referee.harness.process.stall_clock import now
from referee.harness.seats.seat import Seat, Table
from referee.protocol.messages import Clock, Hello, Initialize

UNSENT_S = 1.0
"""A client's time runs from when the reply was written that tells it of its turn; from so long after, at the latest."""

_encode = msgspec.json.Encoder().encode


class Texts:
    """The position of a game as text, made once for everybody who asks."""

    def __init__(self, bots: frozenset[int] = frozenset()) -> None:
        self.bots = bots
        """The players, by `playerIdx`, who are training bots: their type is told."""
        self._of: GameState | None = None
        self._text = Raw(b'""')

    def of(self, state: GameState) -> Raw:
        """JSON within a JSON text, as it stands in every answer."""
        if self._of is not state:
            self._of, self._text = state, Raw(_encode(self._plain(state)))
        return self._text

    def _plain(self, state: GameState) -> str:
        text = _encode(state).decode()
        for player in self.bots:
            parts = text.split(f'"playerIdx":{player},')
            text = f'"playerIdx":{player},'.join(
                [_last_replaced(part, '"type":"PLAYER"', '"type":"BOT"') for part in parts[:-1]] + parts[-1:]
            )
        return text


def _last_replaced(text: str, old: str, new: str) -> str:
    head, found, tail = text.rpartition(old)
    return f"{head}{new}{tail}" if found else text


class Shown(Struct, frozen=True):
    """What a client is told when its turn has come."""

    state: GameState
    message: str | None
    """What was wrong with its last action."""


class Reply:
    """Something that a request waits for."""

    def __init__(self) -> None:
        self.shown: Shown | None = None
        """None: the game is over."""
        self.ready = trio.Event()
        self.written_at: float | None = None
        """When the reply had gone out."""
        self._written = trio.Event()

    def give(self, shown: Shown | None) -> None:
        self.shown = shown
        self.ready.set()

    def written(self) -> None:
        """It has gone out."""
        self.written_at = now()
        self._written.set()

    async def until_written(self) -> float:
        """When it was; at the latest some time from now."""
        with trio.move_on_after(UNSENT_S):
            await self._written.wait()
        return now() if self.written_at is None else self.written_at


class HexPlayer(Seat):
    """The user of that name."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.hello = Hello()
        self.name = name
        self.state: AIBG5 | None = None
        """The position; None before the game."""
        self.over = False
        """Nothing will be told any more."""
        self.until = inf
        """The moment at which nobody waits for an action any longer, whatever the time control says."""
        self.first = Reply()
        """What it is told first: by `joinGame`, or in training at its first turn."""
        self._training = False
        self._parked: Reply | None = None
        self._hearing: Reply | None = None  # the reply that it got last, unless that was the reply to an action
        self._action: tuple[str, float] | None = None
        self._awaits: trio.Event | None = None

    @classmethod
    def in_training(cls, name: str) -> "HexPlayer":
        """One whose game begins with its first turn."""
        player = cls(name)
        player._training = True
        return player

    # For the match.

    async def greet(self, match: Initialize, table: Table) -> Fault | None:
        self.greeted, self.calls = True, 0
        self.state = table.state if isinstance(table.state, AIBG5) else None
        return None

    async def ask(self, call: Call, clock: Clock, limit_s: float) -> Any:
        self.charge.clear()
        self.calls += 1
        if call.method.name == "joinGame":
            if not self._training:
                self.first.give(Shown(call.params.gameState, None))
            return None
        reply = self._parked or self._hearing or self.first
        self._parked = self._hearing = None
        self._action, self._awaits = None, trio.Event()
        asked = now()
        if not reply.ready.is_set():
            reply.give(Shown(call.params.gameState, call.params.message))
        begun = asked
        if reply.written_at is None:
            with trio.CancelScope() as scope:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._acted, scope)
                    begun = await reply.until_written()
                    nursery.cancel_scope.cancel()
        begun = max(asked, begun)
        seconds = min(begun + limit_s, self.until) - now()
        with trio.move_on_after(max(0.0, seconds)):
            await self._awaits.wait()
        self._awaits = None
        if self._action is None:
            self.charge.wall_s = now() - begun
            self.wall_s += self.charge.wall_s
            return Fault(FaultKind.TIMEOUT, f"no action within {limit_s:g} s")
        text, arrived = self._action
        elapsed = max(0.0, arrived - begun)
        self.charge.wall_s = elapsed
        self.wall_s += elapsed
        if elapsed > limit_s:
            return Fault(FaultKind.TIMEOUT, f"no action within {limit_s:g} s")
        return {"action": text}

    def tell(self, notice: Notice) -> None:
        """A client learns by the next request that the game is over."""

    async def end(self, orderly: bool = True) -> None:
        self.leave()

    def leave(self) -> None:
        """The game is over: whoever waits is told so."""
        self.over = True
        for reply in (self.first, self._parked):
            if reply is not None and not reply.ready.is_set():
                reply.give(None)

    # For the requests.

    @property
    def on_move(self) -> bool:
        """An action of it is waited for."""
        return self._awaits is not None and not self._awaits.is_set() and not self.over

    def act(self, action: str, arrived: float) -> Reply:
        """Takes the action of a player that is on the move; the reply is there when it is again."""
        assert self._awaits is not None
        self._action = action, arrived
        self._parked = Reply()
        self._awaits.set()
        return self._parked

    def out_of_turn(self) -> Reply:
        """A reply that says so is on its way: should the turn come meanwhile, its time runs from when that is out."""
        self._hearing = reply = Reply()
        reply.ready.set()
        return reply

    async def _acted(self, scope: trio.CancelScope) -> None:
        assert self._awaits is not None
        await self._awaits.wait()
        scope.cancel()
