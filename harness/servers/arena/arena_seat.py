"""A client of the Arena at a seat: it hears by a stream of events and answers by POSTs (tictactoe.md, C2-C5)."""

import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from math import inf
from typing import Any, Literal

import msgspec
import trio
from msgspec import Struct

from referee.games.arena import FLIP_ALIAS, OUT_OF_TIME, UNKNOWN_ACTION, Battle
from referee.games.contract import NOT_YOUR_TURN, Call, Fault, FaultKind, Notice, Player
from referee.harness.bell import Bell
from referee.harness.process import stall_clock
from referee.harness.seats.seat import OutOfTurn, Seat, Table, Withdrawn, no_answer
from referee.harness.servers.builtin_rivals import Switch
from referee.protocol.messages import Clock, Hello, Initialize

Compat = Literal["seed", "original"]

LAST_S = 1.0
"""How long a stream may take to be told the end."""
UNSENT_S = 1.0
"""The clock runs from when an event was sent; from so long after it was there, if the client does not listen."""
TOO_SOON = "send move before arena replies"
RESTARTED = "game already started"


class Terms(Struct):
    """What is alike for all battles of a front. Not frozen: a test changes the time of day."""

    compat: Compat = "seed"
    start_within_s: float = 300.0
    """How long after its making a battle must have begun."""
    reply_delay_s: float = 0.05
    """How long a legal move stands alone, so that a second one can be seen to have come too soon."""
    now: Callable[[], float] = stall_clock.now
    """Seconds. Of a clock that is not real nobody can wait for a moment: `swept` ends what is over."""
    real: bool = True


class Move(Struct, eq=False):
    """A POST."""

    action: dict[str, Any]
    arrived: float
    """When its last byte came, by `Terms.now`."""
    done: trio.Event
    clock_ms: int | None = None
    """What is left after it; None = the battle was over before anybody looked at it."""


class RemotePlayer(Seat):
    """Whoever knows the battle's id. Nothing else tells who a client is."""

    def __init__(self, ident: str, terms: Terms, switch: Switch | None = None) -> None:
        super().__init__()
        self.hello = Hello()
        self.ident = ident
        self.terms = terms
        self.created = terms.now()
        self.player: Player = 0
        self.side = ""
        self.clock_ms: float = 0
        """As the client was told last; less than 0: it came too late."""
        self.over = False
        """Nothing will be told any more."""
        self.closed = trio.Event()
        """Set when the match has let the seat go."""
        self.announced = trio.Event()
        """Set when whoever plays has answered to the news of it."""
        self.switch = switch or Switch()
        """While it is off nobody replies to the client's moves."""
        self.listeners = 0
        """How many streams are open."""
        self.lines: list[bytes] = []
        """The events so far, without the greeting, each as JSON."""
        self._moves = 0  # how many of these lines are answers, of either side
        self._last_by_client = False
        self._greeted = trio.Event()
        self._table: Table | None = None
        self._increment_ms = 0
        self._told_at = self._sent_at = self.created
        self._sent = 0
        self._started = self._restarted = False
        self._swept: str | None = None
        self._posted: deque[Move] = deque()
        self._changed = Bell()

    # For the match.

    async def greet(self, match: Initialize, table: Table) -> Fault | None:
        self._table, self.player = table, match.seat
        self._increment_ms = match.limits.increment_ms if match.limits.initial_ms is not None else 0
        self.clock_ms = match.limits.initial_ms or match.limits.call_ms or 0
        self.greeted, self.calls = True, 0
        return None

    async def ask(self, call: Call, clock: Clock, limit_s: float) -> Any:
        if call.method.name == "inject":
            return await self._spoken()
        self.calls += 1
        self.charge.clear()
        asked = self.terms.now()
        while True:
            if self._restarted:
                return Fault(FaultKind.ERROR, RESTARTED)
            if self._posted:
                break
            if self._rival_spoke():
                return Withdrawn()
            until = self._due(asked, limit_s)

            def changed(until: float = until) -> bool:
                return self._rival_spoke() or self._due(asked, limit_s) != until

            if self._swept or not await self._until(changed, until):
                return self._late(limit_s)
        move = self._posted.popleft()
        elapsed = 0.0 if self._is_free() else max(0.0, round(move.arrived - self._begun(asked), 6))
        in_time = elapsed <= round(limit_s, 6)
        if in_time:
            elapsed = min(elapsed, limit_s)  # the referee's own clock is not rounded, and must see it in time too
        banked = limit_s != inf and clock.remaining_ms is not None
        if banked:
            self.clock_ms = (limit_s - elapsed) * 1000 + (self._increment_ms if in_time else 0)
        self.charge.wall_s = elapsed
        self.wall_s += elapsed
        self._hear(move)
        if not in_time:
            self._line({"player": self.side, **move.action, **{"player": self.side}})  # noqa: PIE800 - it stays first
            malformed = self._battle.malformed(move.action)
            if malformed not in (None, UNKNOWN_ACTION):
                return Fault(FaultKind.TIMEOUT, f"{malformed}\n{OUT_OF_TIME}")
            return no_answer(limit_s)
        if move.action.get("action") == FLIP_ALIAS and (why := self._battle.refusal(self.player, move.action, False)):
            return Fault(FaultKind.ILLEGAL, why, move.action)
        return move.action

    def tell(self, notice: Notice) -> None:
        event = msgspec.to_builtins(notice.params)
        if "youAre" in event and "player" not in event:  # an answer is shown with whatever members it was sent with
            self.side = event["youAre"]
            self._greeted.set()
            return
        result = self._battle.result
        if "winner" in event and "player" not in event:
            if result is not None and not result.reason.startswith("FLIPPED"):
                self._line({"winner": event["winner"].upper() if self.terms.compat == "original" else event["winner"]})
            self.over = True
            self._changed.ring()
            return
        self._moves += 1
        self._last_by_client = event["player"] == self.side
        self._line(event)

    async def end(self, orderly: bool = True) -> None:
        self.over = True
        self._greeted.set()
        while self._posted:
            self._posted.popleft().done.set()  # the battle is over
        self.closed.set()
        self._changed.ring()
        with trio.move_on_after(LAST_S):
            while self.listeners:
                await self._changed.wait()

    def close(self) -> None:
        """The match is over, also when it was broken off: nothing is kept but what streams were told."""
        self.over, self._table = True, None
        self.closed.set()
        self._greeted.set()
        self._changed.ring()

    @property
    def spoke(self) -> bool:
        return bool(self._posted) and self._battle.pending is None and self.player not in self._battle.awaited

    # For the requests.

    @property
    def battle(self) -> Battle | None:
        """The position; None before the match has begun."""
        return None if self._table is None else self._battle

    def now(self, arrived: float) -> float:
        """A moment of the real clock by that of the terms."""
        return arrived if self.terms.real else self.terms.now()

    async def post(self, action: dict[str, Any], arrived: float) -> int | None:
        """A move; what is left of the clock after it. None: the battle is over, and it was none."""
        if not self._greeted.is_set():
            await self._greeted.wait()
        if self.closed.is_set() or self._battle.result is not None:
            return None
        move = Move(action, self.now(arrived), trio.Event())
        self._posted.append(move)
        self._changed.ring()
        for rival in self._rivals():
            rival._changed.ring()
        await move.done.wait()
        return move.clock_ms

    async def stream(self) -> AsyncIterator[bytes]:
        """The events as JSON: the greeting, then each when it is there, until the battle is over.

        When the next is asked for, the one before was sent.
        """
        if not self._greeted.is_set():
            await self._greeted.wait()
        line, again = 0, self._started
        if self._moves and again and not self.closed.is_set():
            self._restarted = True
            self._changed.ring()
        if again and (self._moves or self.over):
            line = len(self.lines)
        yield _json({"youAre": self.side, "id": self.ident})
        if not again:
            self._started, self._sent_at = True, self.terms.now()
            self._changed.ring()
        while True:
            if line < len(self.lines):
                yield self.lines[line]
                line += 1
                if line > self._sent:
                    self._sent, self._sent_at = line, self.terms.now()
                    self._changed.ring()
            elif self.over:
                return
            else:
                await self._changed.wait()

    @contextmanager
    def listening(self) -> Iterator[None]:
        """A stream is open while the block runs."""
        self.listeners += 1
        try:
            yield
        finally:
            self.listeners -= 1
            self._changed.ring()

    def sweep(self) -> str | None:
        """Ends the battle if its time is up by the clock of the terms; why."""
        if self.over or self._battle.result is not None:
            return None
        runs = self._started and self.player in self._battle.awaited and not self._is_free()
        if not self._moves and self._since(self.created) >= self.terms.start_within_s:
            self._swept = self._unstarted()
        elif runs and self._since(self._sent_at) > round(self.clock_ms / 1000, 6):
            self._swept = "You ran out of time"
        self._changed.ring()
        return self._swept

    # Inside.

    @property
    def _battle(self) -> Battle:
        if self._table is None or not isinstance(self._table.state, Battle):
            raise RuntimeError("a client is at a seat that is none of the Arena's")
        return self._table.state

    def _rivals(self) -> list["RemotePlayer"]:
        """The other clients of the battle."""
        seats = self._table.seats if self._table is not None else []
        return [seat for seat in seats if isinstance(seat, RemotePlayer) and seat is not self]

    def _rival_spoke(self) -> bool:
        return any(rival.spoke for rival in self._rivals())

    def _since(self, moment: float) -> float:
        """Seconds, as closely as times of day can be told apart."""
        return round(self.terms.now() - moment, 6)

    async def _spoken(self) -> OutOfTurn | Fault | list[Any]:
        """What it posts while its rival is to move: waits for that as long as the rival may not reply yet."""
        battle, may_answer = self._battle, self.player in self._battle.awaited
        if battle.pending is not None or (may_answer and (self._moves or self._started)):
            return []
        if not self._started and not self._posted:  # nobody moves before
            until = self.created + self.terms.start_within_s
            if not await self._until(lambda: self._started, until):
                return Fault(FaultKind.TIMEOUT, self._unstarted())
        if may_answer and not self._posted:
            return []
        wait_s = self.terms.reply_delay_s if self._last_by_client else 0.0
        if not self._posted and not self._restarted:
            if wait_s:
                with trio.move_on_after(wait_s):
                    await self._speaks()
            if not self.switch.on:
                with trio.CancelScope() as paused:
                    async with trio.open_nursery() as nursery:
                        nursery.start_soon(self._resumed, paused)
                        await self._speaks()
                        nursery.cancel_scope.cancel()
        if self._restarted:
            return Fault(FaultKind.ERROR, RESTARTED)
        if not self._posted:
            return []
        move = self._posted.popleft()
        if may_answer:  # before the first turn it costs nothing, and earns the increment as in the referee's book
            self.clock_ms += self._increment_ms
        self._hear(move)
        return OutOfTurn([move.action], TOO_SOON if self._last_by_client else NOT_YOUR_TURN)

    async def _speaks(self) -> None:
        while not (self._posted or self._restarted or self._swept):
            await self._changed.wait()

    async def _resumed(self, scope: trio.CancelScope) -> None:
        await self.switch.wait()
        scope.cancel()

    def _hear(self, move: Move) -> None:
        move.clock_ms = round(self.clock_ms)
        move.done.set()

    def _is_free(self) -> bool:
        """The first move of all costs nothing, as it did in the original."""
        return self.terms.compat == "original" and not self._moves

    def _begun(self, asked: float) -> float:
        """Since when its clock runs."""
        if self._sent >= len(self.lines):
            return self._sent_at
        return max(self._told_at, asked) + UNSENT_S

    def _due(self, asked: float, limit_s: float) -> float:
        """When its time is up, as things stand."""
        if not self._started or self._is_free():
            return self.created + self.terms.start_within_s
        return self._begun(asked) + limit_s

    def _late(self, limit_s: float) -> Fault:
        if self._swept == self._unstarted() or (not self._moves and (self._is_free() or not self._started)):
            return Fault(FaultKind.TIMEOUT, self._unstarted())
        self.charge.wall_s = limit_s
        return no_answer(limit_s)

    def _unstarted(self) -> str:
        return f"didnt start game with {self.terms.start_within_s * 1000:.0f}"

    async def _until(self, ready: Callable[[], bool], until: float) -> bool:
        """Waits for `ready`, or a move, another stream or a sweep; False = the time came first."""
        seconds = until - self.terms.now() if self.terms.real else inf
        with trio.move_on_after(max(0.0, seconds)):
            while not (ready() or self._posted or self._restarted or self._swept):
                await self._changed.wait()
            return self._swept is None
        return False

    def _line(self, event: dict[str, Any]) -> None:
        self.lines.append(_json(event))
        self._told_at = self.terms.now()
        self._changed.ring()


_encode = json.JSONEncoder(separators=(",", ":")).encode


def _json(event: dict[str, Any]) -> bytes:
    """In ASCII: some libraries take a stream that names no encoding for Latin-1, and there are tables to be flipped."""
    return _encode(event).encode()
