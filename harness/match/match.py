"""The loop that drives every game: it asks whoever is awaited, has the engine judge, and tells what happened.

A match, a game of the check and the first call of a new bot are this loop with other seats and with what they add.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import trio

from referee.games.contract import Call, Event, Fault, Game, Notice, Player, Setup, TimeControl
from referee.games.dice import derive_seed
from referee.harness.errors import ungrouped
from referee.harness.match.clock import Clock, milliseconds
from referee.harness.match.rule_options import begun
from referee.harness.process.limits import Limits
from referee.harness.replay.lines import Step
from referee.harness.seats.seat import Seat, Table
from referee.protocol import messages
from referee.protocol.messages import PROTOCOL_VERSION, Encoding, Initialize


class Loop:
    """One game at its seats. Put seats into `seats`, open the game with each by `greet`, then `play`.

    UsageError for a setup that makes no match.
    """

    def __init__(
        self, game: Game, setup: Setup, time: TimeControl, log: Callable[[Player], Path | None] | None = None
    ) -> None:
        self.game = game
        self.setup = setup
        self.time = time
        self.state = begun(game, setup)
        self.table = Table(self.state, log)
        self.seats: list[Seat] = self.table.seats
        self.clocks = [Clock(time) for _ in setup.names]
        self.over = False
        """Set to leave the game as it stands."""
        self.lost: dict[Player, Fault] = {}
        """Seats that could not be greeted, and why: they have lost before the first call."""
        self.interrupted = False
        """Something may happen `between` two turns. A flag beside the method: nearly always there is nothing."""
        self._failed = False  # a call of this turn was not answered
        self._limits: messages.Limits | None = None  # as bots are shown them
        self._call_ms = _call_ms(game, time, time.per_call_s)
        self._opening_ms = _call_ms(game, time, self.clocks[0].per_call_s(in_opening=True))

    async def greet(self, player: Player, limits: Limits, encodings: Sequence[Encoding], luck: int) -> None:
        """Opens the game with one seat. `luck`: what the seed of its own is derived from."""
        if self._limits is None:
            self._limits = shown_limits(limits, self.game, self.time)
        message = Initialize(
            protocol=PROTOCOL_VERSION,
            game=self.game.name,
            options=self.setup.options,
            seat=player,
            names=self.setup.names,
            encodings=tuple(encodings),
            limits=self._limits,
            seed=derive_seed(luck, "seat", player),
        )
        fault = await self.seats[player].greet(message, self.table)
        if fault is not None:
            self.lost[player] = fault

    async def play(self) -> None:
        """From the first position to the end."""
        events = self.state.opening()
        self.opened(events)
        self.tell(events)
        await self.go_on()

    async def go_on(self) -> None:
        """From the position as it is to the end: the engine is given all answers of a turn together."""
        state, ask = self.state, self._ask
        if lost := {player: fault for player, fault in sorted(self.lost.items()) if player not in state.out}:
            self.forfeit(lost)
        while state.awaited and not self.over:
            if self.interrupted and await self.between():
                continue
            calls = state.calls()
            if len(calls) == 1:
                call = calls[0]
                answers = {call.player: await ask(call)}
            else:
                answers = await self._ask_all(calls)
            if self.interrupted and self.is_withdrawn(answers):
                continue
            judged = state.judged(answers)
            for player, answer in judged.items():
                if type(answer) is Fault:
                    self.at_fault(player)
            events = state.step(judged)
            self.played(calls, answers, events)
            if events:
                self.tell(events)
            if self._failed:
                self._failed = False
                self._leave_nobody()

    def forfeit(self, faults: Mapping[Player, Fault]) -> None:
        """Takes seats out of the game that cannot play."""
        for player in faults:
            self.at_fault(player)
        events = self.state.forfeit(faults)
        self.forfeited(faults, events)
        self.tell(events)

    async def between(self) -> bool:
        """Before every turn of a game that may be interrupted: may change the position, and says whether it did."""
        return False

    def is_withdrawn(self, answers: Mapping[Player, Any]) -> bool:
        """Whether a turn does not count, since a question of it was taken back: what did that comes `between`."""
        return False

    def at_fault(self, player: Player) -> None:
        """A seat's fault is about to be ruled on: the position is still the one that it was given for."""

    def opened(self, events: Sequence[Event]) -> None:
        """What was told before the first call. For those that keep a record."""

    def relived(self, step: Step) -> None:
        """A step of the past was played again. For those that keep a record."""

    def played(self, calls: Sequence[Call], answers: dict[Player, Any], events: Sequence[Event]) -> None:
        """One turn, and what came of it. For those that keep a record."""

    def forfeited(self, faults: Mapping[Player, Fault], events: Sequence[Event]) -> None:
        """Seats were taken out, and what came of it. For those that keep a record."""

    def tell(self, events: Iterable[Event]) -> None:
        """Has the seats hear the notices."""
        seats = self.seats
        for event in events:
            if type(event) is Notice:
                for player in event.to:
                    seats[player].tell(event)

    def _leave_nobody(self) -> None:
        """Ends an undecided game in which no seat can answer any more, whatever its rules would go on with."""
        state = self.state
        if state.result is None and all(seat.fault is not None for seat in self.seats):
            self.forfeit({p: seat.fault for p, seat in enumerate(self.seats) if p not in state.out and seat.fault})

    async def _ask_all(self, calls: Sequence[Call]) -> dict[Player, Any]:
        """All at once; none learns another's answer first."""
        answers: dict[Player, Any] = {}

        async def ask(call: Call) -> None:
            answers[call.player] = await self._ask(call)
            self.table.seat_done()

        self.table.ask_several(len(calls))
        with ungrouped():
            async with trio.open_nursery() as nursery:
                for call in calls:
                    nursery.start_soon(ask, call)
        return {call.player: answers[call.player] for call in calls}

    async def _ask(self, call: Call) -> Any:
        seat, clock, in_opening = self.seats[call.player], self.clocks[call.player], self.state.in_opening
        own_s = None if call.method.time_s is None else self.time.own_s(call.method)
        answer = await seat.ask(call, self.shown_clock(call), clock.limit_s(own_s, in_opening))
        if type(answer) is Fault:
            self._failed = True
        clock.charge(seat.charge.wall_s, own_s, in_opening)
        return answer

    def shown_clock(self, call: Call) -> messages.Clock:
        """What a seat is shown of its time with a call."""
        clock = self.clocks[call.player]
        call_ms = (self._opening_ms if self.state.in_opening else self._call_ms)[call.method.name]
        return messages.Clock(call_ms, milliseconds(clock.remaining_s), milliseconds(clock.last_s))


def _call_ms(game: Game, time: TimeControl, per_call_s: float | None) -> Mapping[str, int | None]:
    """The limit of a call, by function, as it is shown to bots."""
    key = game.name, game.version, time, per_call_s
    if key not in _CALL_MS:
        limits_s = {each.name: time.own_s(each) for each in game.methods.values()}
        _CALL_MS[key] = {name: milliseconds(per_call_s if own_s is None else own_s) for name, own_s in limits_s.items()}
    return _CALL_MS[key]


_CALL_MS: dict[tuple[str, int, TimeControl, float | None], Mapping[str, int | None]] = {}


def shown_limits(limits: Limits, game: Game, time: TimeControl) -> messages.Limits:
    """The limits of a match, as they are shown to bots."""
    closing_s = [own_s for method in game.methods.values() if (own_s := time.own_s(method)) is not None]
    return messages.Limits(
        startup_ms=milliseconds(limits.startup_s) or 0,
        call_ms=milliseconds(time.per_call_s),
        opening_ms=milliseconds(time.opening_call_s),
        closing_ms=milliseconds(max(closing_s, default=None)),
        exit_ms=milliseconds(limits.exit_s),
        initial_ms=milliseconds(time.initial_s),
        increment_ms=milliseconds(time.increment_s) or 0,
        cpu_ms=milliseconds(limits.cpu_s),
        memory_bytes=limits.memory_bytes,
        processes=limits.processes,
        frame_bytes=limits.frame_bytes,
        call_output_bytes=limits.call_output_bytes,
        stderr_bytes=limits.stderr_bytes,
        file_bytes=limits.file_bytes,
        scratch_bytes=limits.scratch_bytes,
    )
