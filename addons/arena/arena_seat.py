"""A seat whose client reads a stream of events and answers by POST (tictactoe.md, C2-C5)."""

import json
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from math import inf
from typing import Any, Literal

import msgspec
import trio
from msgspec import Struct

from referee.games.arena import FLIP_ALIAS, OUT_OF_TIME, UNKNOWN_ACTION, Battle
from referee.games.contract import NOT_YOUR_TURN, Call, Fault, FaultKind, Notice, Player
from referee.harness.common.records import Cost
from referee.harness.match.bell import Bell
from referee.harness.match.pause import PauseControl
from referee.harness.process import stall_clock
from referee.harness.seats.seat import MatchContext, OutOfTurn, OutOfTurnSeat, Reply, Withdrawn, no_answer
from referee.protocol.messages import Clock, Initialize

Compat = Literal["seed", "original"]

LAST_EVENT_S = 1.0
"""How long a stream may take to send the last events."""
UNSENT_S = 1.0
"""The clock runs from when an event was sent, or from this long after it was ready if the client does not read."""
Send = Callable[[bytes], Awaitable[float | None]]
"""Sends a line to a client. Returns when it was written to the client's socket, by `Terms.now`; None = it was not."""
TOO_SOON = "send move before arena replies"
RESTARTED = "game already started"


class Terms(Struct):
    """Settings of all battles of a server. Not frozen: a test changes the time of day."""

    compat: Compat = "seed"
    start_within_s: float = 300.0
    """How long after its creation a battle must have started."""
    reply_delay_s: float = 0.05
    """How long the rival waits after a legal move. A second move in that time has come too soon."""
    now: Callable[[], float] = stall_clock.now
    """In seconds."""
    latest: Callable[[], Awaitable[float]] = stall_clock.latest
    """Returns `now` once every move that has arrived before is known. No seat is out of time before that."""
    real: bool = True
    """Whether `now` runs by itself. If not, time limits take effect in `sweep` alone."""

    @property
    def not_started(self) -> str:
        """The reason of a battle that has not started in time."""
        return f"didnt start game with {self.start_within_s * 1000:.0f}"


class Move(Struct, eq=False):
    """The move of one POST."""

    action: dict[str, Any]
    arrived: float
    """When its last byte arrived, by `Terms.now`."""
    done: trio.Event
    clock_ms: int | None = None
    """The clock after it. None if the battle ended first."""

    def acknowledge(self, clock_ms: float) -> None:
        """Lets the request return the clock."""
        self.clock_ms = round(clock_ms)
        self.done.set()


class EventStream:
    """The events of a battle for one client, and when it was sent them."""

    def __init__(self, terms: Terms) -> None:
        self.lines: list[bytes] = []
        """The events so far as JSON, without the greeting."""
        self.listeners = 0
        """The number of open streams."""
        self.started = False
        """A stream was opened."""
        self.over = False
        """No more events will follow."""
        self.was_cut = False
        """We have lost the client's stream. It may open another one, which goes on where the last one ended."""
        self.changed = Bell()
        self.sent_at = terms.now()
        """When the last event was sent."""
        self._ready_at = self.sent_at
        self._sent = 0
        self._terms = terms  # a test changes its clock

    def add(self, event: dict[str, Any]) -> None:
        """Appends an event."""
        self.lines.append(_json(event))
        self._ready_at = self._terms.now()
        self.changed.ring()

    def clock_start(self, asked_at: float) -> float:
        """When the client's clock starts, for a call that was made at `asked_at`."""
        if self._sent >= len(self.lines):
            return self.sent_at
        return max(self._ready_at, asked_at) + UNSENT_S

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Counts a stream as open while the block runs."""
        self.listeners += 1
        try:
            yield
        finally:
            self.listeners -= 1
            self.changed.ring()

    def resume(self) -> int | None:
        """Returns the first event that a client was not sent, if it was cut off by us; otherwise None."""
        was_cut, self.was_cut = self.was_cut, False
        return self._sent if was_cut else None

    async def write(self, send: Send, greeting: dict[str, Any], line: int) -> None:
        """Sends the greeting, then each event from `line` on when it happens, until the battle is over."""
        before = self._terms.now()
        at = await send(_json(greeting))
        if not self.started:
            self.started, self.sent_at = True, self._stamp(at, before)
            self.changed.ring()
        while True:
            if line < len(self.lines):
                before = self._terms.now()
                at = await send(self.lines[line])
                line += 1
                if at is not None and line > self._sent:
                    self._sent, self.sent_at = line, self._stamp(at, before)
                    self.changed.ring()
            elif self.over:
                return
            else:
                await self.changed.wait()

    def _stamp(self, at: float | None, before: float) -> float:
        """Returns when an event was sent. A request may have set the time of a test since it was due."""
        if not self._terms.real:
            return before
        return self._terms.now() if at is None else at


class ArenaSeat(OutOfTurnSeat):
    """The client that knows the battle's id. Nothing else identifies it."""

    def __init__(self, ident: str, terms: Terms, pause: PauseControl | None = None) -> None:
        super().__init__()
        self.ident = ident
        self.terms = terms
        self.created = terms.now()
        self.player: Player = 0
        self.side = ""
        self.clock_ms: float = 0
        """The clock as the client last heard it. Below 0 if it was too late."""
        self.events = EventStream(terms)
        self.closed = trio.Event()
        """Set when the match no longer needs the seat."""
        self.announced = trio.Event()
        """Set when the team's service has replied to the announcement of the battle."""
        self.pause = pause or PauseControl()
        """While it is paused, the rival does not reply."""
        self._moves = 0  # of both sides
        self._last_by_client = False
        self._greeted = trio.Event()
        self._context: MatchContext | None = None
        self._increment_ms = 0
        self._asked_at = self.created
        self._restarted = False
        self._swept: str | None = None
        self._posted: deque[Move] = deque()
        self._changed = self.events.changed

    # Called by the match.

    async def greet(self, match: Initialize, context: MatchContext) -> Reply:
        self._context, self.player = context, match.seat
        self._increment_ms = match.limits.increment_ms if match.limits.initial_ms is not None else 0
        self.clock_ms = match.limits.initial_ms or match.limits.call_ms or 0
        self.greeted, self.totals.calls = True, 0
        return Reply(None)

    async def ask(self, call: Call, clock: Clock, limit_s: float) -> Reply:
        self.totals.calls += 1
        early = await self._wait_for_move(limit_s)
        if early is not None:
            return early
        move = self._posted.popleft()
        elapsed = 0.0 if self._is_free() else max(0.0, round(move.arrived - self.events.clock_start(self._asked_at), 6))
        in_time = elapsed <= round(limit_s, 6)
        if in_time:
            elapsed = min(elapsed, limit_s)  # the referee's own clock is not rounded, and must see it in time too
        if limit_s != inf and clock.remaining_ms is not None:
            self.clock_ms = (limit_s - elapsed) * 1000 + (self._increment_ms if in_time else 0)
        self.totals.wall_s += elapsed
        move.acknowledge(self.clock_ms)
        value = self._checked(move.action) if in_time else self._overdue(move.action, limit_s)
        return Reply(value, Cost(elapsed))

    def _checked(self, action: dict[str, Any]) -> dict[str, Any] | Fault:
        """Returns the move, or the fault of a flip without a cause."""
        if action.get("action") == FLIP_ALIAS and (why := self._battle.refusal(self.player, action, False)):
            return Fault(FaultKind.ILLEGAL, why, action)
        return action

    async def out_of_turn(self) -> OutOfTurn | Fault | None:
        """Returns what the client posts while the rival may not reply yet."""
        battle, may_answer = self._battle, self.player in self._battle.awaited
        if battle.pending is not None or (may_answer and (self._moves or self.events.started)):
            return None
        while not (self.events.started or self._posted or self._restarted):  # nobody moves before
            if not await self._change_before(self.created + self.terms.start_within_s):
                return Fault(FaultKind.TIMEOUT, self.terms.not_started)
        if may_answer and not self._posted:
            return None
        if self._last_by_client:
            with trio.move_on_after(self.terms.reply_delay_s):
                await self._speaks()
        if self.pause.paused:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._until_resumed, nursery.cancel_scope)
                await self._speaks()
                nursery.cancel_scope.cancel()
        if self._restarted:
            return Fault(FaultKind.ERROR, RESTARTED)
        if not self._posted:
            return None
        move = self._posted.popleft()
        if may_answer:  # before the first turn it costs nothing, and earns the increment as in the referee's clock
            self.clock_ms += self._increment_ms
        move.acknowledge(self.clock_ms)
        return OutOfTurn([move.action], TOO_SOON if self._last_by_client else NOT_YOUR_TURN)

    def notify(self, notice: Notice) -> None:
        event = msgspec.to_builtins(notice.params)
        if "youAre" in event and "player" not in event:  # the event of a move has whatever members its sender added
            self.side = event["youAre"]
            self._greeted.set()
            return
        result = self._battle.result
        if "winner" in event and "player" not in event:
            if result is not None and not result.reason.startswith("FLIPPED"):
                self.events.add(
                    {"winner": event["winner"].upper() if self.terms.compat == "original" else event["winner"]}
                )
            self.events.over = True
            self._changed.ring()
            return
        self._moves += 1
        self._last_by_client = event["player"] == self.side
        self.events.add(event)

    async def end(self, orderly: bool = True) -> None:
        self._finish()
        with trio.move_on_after(LAST_EVENT_S):
            while self.events.listeners:
                await self._changed.wait()

    def close(self) -> None:
        """Releases everything but the events, after a match that ended or was broken off."""
        self._context = None
        self._finish()

    def _finish(self) -> None:
        """Answers open requests: the battle ended first."""
        self.events.over = True
        self.closed.set()
        self._greeted.set()
        while self._posted:
            self._posted.popleft().done.set()
        self._changed.ring()

    @property
    def spoke(self) -> bool:
        return bool(self._posted) and self._battle.pending is None and self.player not in self._battle.awaited

    # Called by requests.

    @property
    def battle(self) -> Battle | None:
        """The position; None before and after the match."""
        return None if self._context is None else self._battle

    async def post(self, action: dict[str, Any], arrived: float) -> int | None:
        """Makes a move and returns what remains on the clock in milliseconds; None if the battle is over."""
        if not self._greeted.is_set():
            await self._greeted.wait()
        if self.closed.is_set() or self._battle.result is not None:
            return None
        move = Move(action, arrived if self.terms.real else self.terms.now(), trio.Event())
        self._posted.append(move)
        self._changed.ring()
        for rival in self._rivals():
            rival._changed.ring()
        await move.done.wait()
        return move.clock_ms

    async def stream(self, send: Send) -> None:
        """Sends the events to a new stream. A second one after the first move ends the battle."""
        if not self._greeted.is_set():
            await self._greeted.wait()
        events = self.events
        line = events.resume()
        if line is None:
            line = len(events.lines) if events.started and (self._moves or events.over) else 0
            if events.started and self._moves and not self.closed.is_set():
                self._restarted = True
                self._changed.ring()
        await events.write(send, {"youAre": self.side, "id": self.ident}, line)

    def sweep(self) -> str | None:
        """Ends the battle if its time is up by the clock of the terms, and returns why."""
        if self.events.over or self._battle.result is not None:
            return None
        clock_runs = self.events.started and self.player in self._battle.awaited and not self._is_free()
        if not self._moves and self._since(self.created) >= self.terms.start_within_s:
            self._swept = self.terms.not_started
        elif clock_runs and self._since(self.events.sent_at) > round(self.clock_ms / 1000, 6):
            self._swept = "You ran out of time"
        self._changed.ring()
        return self._swept

    # Internal.

    @property
    def _battle(self) -> Battle:
        if self._context is None or not isinstance(self._context.state, Battle):
            raise RuntimeError("this seat only plays the Arena's games")
        return self._context.state

    def _rivals(self) -> list["ArenaSeat"]:
        """The battle's other clients."""
        seats = self._context.seats if self._context is not None else []
        return [seat for seat in seats if isinstance(seat, ArenaSeat) and seat is not self]

    def _since(self, moment: float) -> float:
        """Seconds, to the microsecond."""
        return round(self.terms.now() - moment, 6)

    async def _wait_for_move(self, limit_s: float) -> Reply | None:
        """Returns None once a move is posted, or the reply that ends the call without one."""
        self._asked_at = self.terms.now()
        while True:
            if self._restarted:
                return Reply(Fault(FaultKind.ERROR, RESTARTED))
            if self._posted:
                return None
            if any(rival.spoke for rival in self._rivals()):
                return Reply(Withdrawn())
            if not await self._change_before(self._due(limit_s)):
                return self._no_move(limit_s)

    async def _speaks(self) -> None:
        while not (self._posted or self._restarted or self._swept):
            await self._changed.wait()

    async def _until_resumed(self, scope: trio.CancelScope) -> None:
        await self.pause.hold()
        scope.cancel()

    async def _change_before(self, moment: float) -> bool:
        """Waits for a change; False if the moment or a sweep came first."""
        while self._swept is None:
            changed = self._changed.next
            seconds = moment - self.terms.now() if self.terms.real else inf
            with trio.move_on_after(max(0.0, seconds)):
                await changed.wait()
            late = not changed.is_set() and await self.terms.latest() >= moment
            if changed.is_set():
                break
            if late:
                return False
        return self._swept is None

    def _is_free(self) -> bool:
        """Whether the next move costs no time, as the first of a battle did in the original."""
        return self.terms.compat == "original" and not self._moves

    def _due(self, limit_s: float) -> float:
        """When the time is up, unless something changes."""
        if not self.events.started or self._is_free():
            return self.created + self.terms.start_within_s
        return self.events.clock_start(self._asked_at) + limit_s

    def _no_move(self, limit_s: float) -> Reply:
        if self._swept == self.terms.not_started or (not self._moves and (self._is_free() or not self.events.started)):
            return Reply(Fault(FaultKind.TIMEOUT, self.terms.not_started))
        return Reply(no_answer(limit_s), Cost(limit_s))

    def _overdue(self, action: dict[str, Any], limit_s: float) -> Fault:
        """Shows a move that came too late, and returns the fault."""
        self.events.add({"player": self.side, **action, **{"player": self.side}})  # noqa: PIE800 - it stays first
        malformed = self._battle.malformed(action)
        if malformed not in (None, UNKNOWN_ACTION):
            return Fault(FaultKind.TIMEOUT, f"{malformed}\n{OUT_OF_TIME}")
        return no_answer(limit_s)


_encode = json.JSONEncoder(separators=(",", ":")).encode


def _json(event: dict[str, Any]) -> bytes:
    """Encodes in ASCII: some client libraries read a stream without a declared encoding as Latin-1."""
    return _encode(event).encode()
