"""A seat whose client joins, posts an action, and reads the next position in the response to that (aibg5.md, 13.3)."""

from math import inf

import msgspec
import trio
from msgspec import Raw, Struct

from referee.addons.web.server.link import WebLink
from referee.games.aibg5 import AIBG5, GameState
from referee.games.contract import Call, Fault, FaultKind, Notice
from referee.harness.common.records import Cost
from referee.harness.seats.seat import MatchContext, Reply, Seat
from referee.protocol.messages import Clock, Initialize

UNSENT_S = 1.0
"""The clock runs from when the response with the turn was sent, or from this long after it was ready."""

_encode = msgspec.json.Encoder().encode


class StateTexts:
    """Encodes a game's positions, each once for all responses."""

    def __init__(self, bots: frozenset[int] = frozenset()) -> None:
        """`bots` are the `playerIdx` of training bots, whose type is shown."""
        self._bots = bots
        self._state: GameState | None = None
        self._text = Raw(b'""')

    def encode(self, state: GameState) -> Raw:
        """Returns JSON within a JSON text, as in every response."""
        if self._state is not state:
            self._state, self._text = state, Raw(_encode(self._plain(state)))
        return self._text

    def _plain(self, state: GameState) -> str:
        text = _encode(state).decode()
        for player in self._bots:
            parts = text.split(f'"playerIdx":{player},')
            text = f'"playerIdx":{player},'.join(
                [_last_replaced(part, '"type":"PLAYER"', '"type":"BOT"') for part in parts[:-1]] + parts[-1:]
            )
        return text


def _last_replaced(text: str, old: str, new: str) -> str:
    head, found, tail = text.rpartition(old)
    return f"{head}{new}{tail}" if found else text


class TurnInfo(Struct, frozen=True):
    """News for a client whose turn begins."""

    state: GameState
    message: str | None
    """The fault of its last action."""


class PendingReply:
    """A response that a request waits for."""

    def __init__(self) -> None:
        self.turn: TurnInfo | None = None
        """None if the game is over."""
        self.ready = trio.Event()
        self.sent_at: float | None = None
        """By the clock of the link to the web process."""
        self.done = trio.Event()
        """Set when the response has been sent, or the client has acted without it."""

    def resolve(self, turn: TurnInfo | None) -> None:
        """Lets the request answer."""
        self.turn = turn
        self.ready.set()

    def mark_sent(self, at: float) -> None:
        """Notes when the response was sent."""
        self.sent_at = at
        self.done.set()


class AibgSeat(Seat):
    """A user's seat. In training, the game starts with the user's first turn.

    All times are by the clock of the link to the web process.
    """

    def __init__(self, link: WebLink, training: bool = False) -> None:
        super().__init__()
        self.link = link
        self.state: AIBG5 | None = None
        """The position; None before the game."""
        self.over = False
        self.until = inf
        """When every wait for an action ends, whatever the time control says."""
        self.first = PendingReply()
        """The response to `joinGame`, or the first turn of a training game."""
        self._training = training
        self._parked: PendingReply | None = None  # the response to the last action
        self._refused: PendingReply | None = None  # the response to an action out of turn
        self._unsent: PendingReply | None = None  # the response with the turn, until it is sent
        self._action: tuple[str, float] | None = None
        self._awaits: trio.Event | None = None

    # Called by the match.

    async def greet(self, match: Initialize, context: MatchContext) -> Reply:
        self.greeted, self.totals.calls = True, 0
        self.state = context.state if isinstance(context.state, AIBG5) else None
        return Reply(None)

    async def ask(self, call: Call, clock: Clock, limit_s: float) -> Reply:
        self.totals.calls += 1
        if call.method.name == "joinGame":
            if not self._training:
                self.first.resolve(TurnInfo(call.params.gameState, None))
            return Reply(None)
        reply = self._parked or self._refused or self.first
        self._parked = self._refused = None
        self._action, self._awaits = None, trio.Event()
        start = self.link.clock.now()
        if not reply.ready.is_set():
            reply.resolve(TurnInfo(call.params.gameState, call.params.message))
        if reply.sent_at is None:
            self._unsent = reply
            if not await self._happens_by(start + UNSENT_S, reply.done):
                start += UNSENT_S
        if reply.sent_at is not None:
            start = max(start, reply.sent_at)
        await self._happens_by(min(start + limit_s, self.until), self._awaits)
        self._awaits = None
        text, arrived = self._action or ("", self.link.clock.now())
        elapsed = max(0.0, arrived - start)
        self.totals.wall_s += elapsed
        in_time = self._action is not None and elapsed <= limit_s
        late = Fault(FaultKind.TIMEOUT, f"no action within {limit_s:g} s")
        return Reply({"action": text} if in_time else late, Cost(elapsed))

    async def _happens_by(self, moment: float, event: trio.Event) -> bool:
        """Waits for an event. False if it has not come although the web process has said what came until `moment`."""
        while not event.is_set():
            with trio.move_on_after(max(0.0, moment - self.link.clock.now())):
                await event.wait()
            if not event.is_set() and await self.link.latest() >= moment:
                break
        return event.is_set()

    def notify(self, notice: Notice) -> None:
        """Does nothing: a client learns of the end from its next response."""

    async def end(self, orderly: bool = True) -> None:
        self.leave()

    def leave(self) -> None:
        """Ends the game for the client, and answers its open requests."""
        self.over = True
        for reply in (self.first, self._parked):
            if reply is not None and not reply.ready.is_set():
                reply.resolve(None)

    # Called by requests.

    @property
    def on_move(self) -> bool:
        """Whether the match waits for the client's action."""
        return self._awaits is not None and not self._awaits.is_set() and not self.over

    def act(self, action: str, arrived: float) -> PendingReply:
        """Makes an action, and returns the response that is ready at the client's next turn."""
        assert self._awaits is not None
        self._action = action, arrived
        self._parked = PendingReply()
        self._awaits.set()
        if self._unsent is not None:
            self._unsent.done.set()
        return self._parked

    def out_of_turn(self) -> PendingReply:
        """Returns a response to an action out of turn. If the turn comes meanwhile, the clock runs once it is sent."""
        self._refused = reply = PendingReply()
        reply.ready.set()
        return reply
