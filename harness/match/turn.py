"""The driver of every game, turn by turn: ask the seats, let the engine judge and apply, record, notify.

Each match, each game of `referee check` and each call of `referee repro` runs through here.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from referee.games.contract import Call, Event, Fault, Notice, Player, Ruling, Setup
from referee.games.dice import derive_seed
from referee.games.game import Game, TimeControl
from referee.harness.common.records import NO_COST
from referee.harness.match.clock import Clock, milliseconds
from referee.harness.match.listener import Intervention, Listener
from referee.harness.match.rule_options import first_position
from referee.harness.process.limits import Limits
from referee.harness.replay.lines import Forfeit, Injection, Opening, Stop, state_hash
from referee.harness.seats.seat import MatchContext, OutOfTurn
from referee.protocol import messages
from referee.protocol.messages import PROTOCOL_VERSION, Encoding, Initialize


class Driver:
    """Plays one game at its seats: fill `seats`, `greet` each, then `play`. UsageError for a setup without a game."""

    def __init__(
        self, game: Game, setup: Setup, time: TimeControl, log: Callable[[Player], Path | None] | None = None
    ) -> None:
        self.game = game
        self.setup = setup
        self.time = time
        self.state = first_position(game, setup)
        self.context = MatchContext(self.state) if log is None else MatchContext(self.state, log)
        self.seats = self.context.seats
        self.clocks = [Clock(time) for _ in setup.names]
        self.costs = [NO_COST for _ in setup.names]
        """What each seat's last call cost."""
        self.listeners: list[Listener] = []
        self.intervention: Intervention | None = None
        self.over = False
        """Set to leave the game as it stands."""
        self.lost: dict[Player, Fault] = {}
        """Seats that could not be greeted, and why: they have lost before the first call."""
        self._failed = False  # a call of this turn was not answered
        self._call_ms, self._opening_ms = _shown_call_limits(game, time)

    async def greet(self, player: Player, limits: Limits, encodings: Sequence[Encoding], luck: int) -> None:
        """Opens the game with one seat. The seat's own seed is derived from `luck`."""
        message = Initialize(
            protocol=PROTOCOL_VERSION,
            game=self.game.name,
            options=self.setup.options,
            seat=player,
            names=self.setup.names,
            encodings=tuple(encodings),
            limits=shown_limits(limits, self.game, self.time),
            seed=derive_seed(luck, "seat", player),
        )
        reply = await self.seats[player].greet(message, self.context)
        self.costs[player] = reply.cost
        if reply.value is not None:
            self.lost[player] = reply.value

    async def play(self) -> None:
        """Plays from the first position to the end."""
        events = self.state.opening()
        opening = Opening(list(events), state_hash(self.state))
        for listener in self.listeners:
            listener.opened(opening)
        self.notify(events)
        await self.play_on()

    async def play_on(self) -> None:
        """Plays from the current position to the end. The engine gets all answers of a turn together."""
        state, ask, intervention = self.state, self._ask, self.intervention
        on_turn = [each.turn for each in self.listeners if type(each).turn is not Listener.turn]
        if lost := {player: fault for player, fault in sorted(self.lost.items()) if player not in state.out}:
            self.forfeit(lost)
        while state.awaited and not self.over:
            if intervention is not None and await intervention.before_turn():
                continue
            calls = state.calls()
            if len(calls) == 1:
                call = calls[0]
                answers = {call.player: await ask(call)}
            else:
                answers = await self._ask_all(calls)
            if intervention is not None and intervention.withdraws(answers):
                continue
            judged = state.judged(answers)
            for player, answer in judged.items():
                if type(answer) is Fault:
                    self._at_fault(player)
            events = state.step(judged)
            for played in on_turn:
                played(calls, answers, events)
            if events:
                for event in events:
                    if type(event) is Ruling:
                        self._judged(event, _method_of(event.player, calls))
                self.notify(events)
            if self._failed:
                self._failed = False
                self._end_if_nobody_answers()

    def notify(self, events: Iterable[Event]) -> None:
        """Queues the notices for the seats."""
        seats = self.seats
        for event in events:
            if type(event) is Notice:
                for player in event.to:
                    seats[player].notify(event)

    def forfeit(self, faults: Mapping[Player, Fault]) -> None:
        """Takes seats out of the game that cannot play."""
        for player in faults:
            self._at_fault(player)
        events = self.state.forfeit(faults)
        step = Forfeit(dict(faults), list(events), state_hash(self.state))
        self._interrupted(step, events, lambda player: "initialize" if player in self.lost else "")

    def inject(self, player: Player, act: OutOfTurn, method: str) -> None:
        """Judges what a seat did although it was not asked."""
        events = self.state.inject(player, act.answers, act.reason)
        step = Injection(player, act.answers, list(events), state_hash(self.state), act.reason)
        self._interrupted(step, events, lambda player: method)

    def stop(self, reason: str) -> None:
        """Ends an undecided game, ranked by its rules. Closing calls may still follow."""
        events = self.state.stop(reason)
        self._interrupted(Stop(reason, list(events), state_hash(self.state)), events)

    def shown_clock(self, call: Call) -> messages.Clock:
        """Returns what the seat is shown of its time with a call."""
        limits_ms = self._opening_ms if self.state.in_opening else self._call_ms
        return self.clocks[call.player].shown(limits_ms[call.method.name])

    async def _ask(self, call: Call) -> Any:
        player, method, in_opening = call.player, call.method, self.state.in_opening
        clock = self.clocks[player]
        own_s = None if method.time_s is None else self.time.own_s(method)
        limit_s = clock.limit_s(own_s, in_opening)
        shown = clock.shown((self._opening_ms if in_opening else self._call_ms)[method.name])
        reply = await self.seats[player].ask(call, shown, limit_s)
        self.costs[player] = reply.cost
        if type(reply.value) is Fault:
            self._failed = True
        clock.charge_within(reply.cost.wall_s, limit_s, own_s is None)
        return reply.value

    async def _ask_all(self, calls: Sequence[Call]) -> dict[Player, Any]:
        """Asks all seats at once; none learns another's answer first."""
        answers: dict[Player, Any] = {}

        async def ask(call: Call) -> None:
            answers[call.player] = await self._ask(call)

        await self.context.side_by_side(ask, calls)
        return {call.player: answers[call.player] for call in calls}

    def _end_if_nobody_answers(self) -> None:
        """Ends an undecided game in which no seat can answer any more, even if its rules would go on."""
        state = self.state
        if state.result is None and all(seat.fault is not None for seat in self.seats):
            self.forfeit({p: seat.fault for p, seat in enumerate(self.seats) if p not in state.out and seat.fault})

    def _at_fault(self, player: Player) -> None:
        for listener in self.listeners:
            listener.fault(player)

    def _judged(self, ruling: Ruling, method: str) -> None:
        for listener in self.listeners:
            listener.penalty(ruling, method)

    def _interrupted(
        self,
        step: Forfeit | Injection | Stop,
        events: Sequence[Event],
        method_of: Callable[[Player], str] = lambda player: "",
    ) -> None:
        for listener in self.listeners:
            listener.interrupted(step)
        for event in events:
            if type(event) is Ruling:
                self._judged(event, method_of(event.player))
        self.notify(events)


def _method_of(player: Player, calls: Sequence[Call]) -> str:
    return next((call.method.name for call in calls if call.player == player), "")


CallLimits = Mapping[str, int | None]
"""By function, the limit of a call in milliseconds; None = no limit."""


@lru_cache(maxsize=16)  # all matches of a run share it
def _shown_call_limits(game: Game, time: TimeControl) -> tuple[CallLimits, CallLimits]:
    """Returns the limits of calls as bots are shown them: usually, and in the opening."""
    own_s = {each.name: time.own_s(each) for each in game.methods.values()}
    usual, opening = (
        {name: milliseconds(per_call_s if own is None else own) for name, own in own_s.items()}
        for per_call_s in (time.per_call_s, Clock(time).per_call_s(in_opening=True))
    )
    return usual, opening


@lru_cache(maxsize=16)  # all matches of a run share it
def shown_limits(limits: Limits, game: Game, time: TimeControl) -> messages.Limits:
    """Returns the limits of a match, as bots are shown them."""
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
