"""Plays one match: asks whoever is awaited, has the engine judge, delivers what happened, keeps the record."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import trio
from msgspec import Struct

from games import registry
from games.api import Call, Event, Game, Notice, Player, Result, Ruling, Setup, State, TimeControl
from games.dice import derive_seed
from harness.bot import Bot
from harness.clock import Clock, milliseconds
from harness.errors import RunError
from harness.faults import report
from harness.launch import Entrant
from harness.limits import Limits
from harness.replay import REPLAY_VERSION, Ending, Header, Injection, Opening, Recorder, Stop, state_hash
from harness.roster import Roster
from harness.shared import SharedMembers
from harness.verdict import FaultReport, Seat, Verdict
from protocol import messages
from protocol.connection import AnswerDecoder, answer_decoder
from protocol.messages import PROTOCOL_VERSION, Encoding, Initialize

INJECT_S = 10.0
"""How long a cheat may think before it acts out of turn; it is on no clock."""
PROGRAM_CHARACTERS = 100
"""What is kept of a bot's own name and version."""


class Match(Struct, frozen=True):
    """What is to be played."""

    game: Game
    entrants: tuple[Entrant, ...]
    """In seat order."""
    seed: int
    options: Any
    """A value of the game's `options` type."""
    time: TimeControl
    encodings: tuple[Encoding, ...] = (Encoding.JSON, Encoding.MSGPACK)
    replay: Path | None = None

    @property
    def setup(self) -> Setup:
        return Setup(self.seed, tuple(entrant.name for entrant in self.entrants), self.options)


Watcher = Callable[[State, Sequence[Call], Mapping[Player, Any], Sequence[Event]], None]
"""Is told of every turn when it has been played: the position after it, the calls, the answers and what they led to."""


async def play(match: Match, roster: Roster, watcher: Watcher | None = None) -> Verdict:
    """Plays a match from the greeting to the end. RunError if a program cannot be started or the record be written."""
    started = time.perf_counter()
    bots: list[Bot] = []
    with Recorder(match.replay) as record:
        table = _Table(match, bots, record, watcher)
        try:
            for entrant in match.entrants:
                bots.append(await roster.take(entrant))
            await table.greet(roster.limits)
            result = await table.play()
        finally:
            await table.clear(roster)
        seats = tuple(table.seat(player, result) for player in range(len(bots)))
        record.write(Ending(result, seats, tuple(table.faults)))
    return Verdict(
        game=match.game.name,
        seed=match.seed,
        result=result,
        seats=seats,
        faults=tuple(table.faults),
        turns=record.turns,
        duration_s=time.perf_counter() - started,
        replay=None if match.replay is None else str(match.replay),
    )


_INJECTED = answer_decoder(list[dict[str, Any]])


class _Table:
    """A match at play."""

    def __init__(self, match: Match, bots: list[Bot], record: Recorder, watcher: Watcher | None) -> None:
        self.match = match
        self.bots = bots
        self.record = record
        self.watcher = watcher
        self.state = match.game.new(match.setup)
        self.clocks = [Clock(match.time) for _ in match.entrants]
        self.call_ms = _call_ms(match.game.name, match.time.per_call_s)
        self.opening_ms = _call_ms(match.game.name, self.clocks[0].per_call_s(in_opening=True))
        self.shared = SharedMembers()
        self.decoders = _decoders(match.game.name)
        self.cheats = [player for player, entrant in enumerate(match.entrants) if entrant.injects]
        self.faults: list[FaultReport] = []
        self._reported: set[Player] = set()

    async def greet(self, limits: Limits) -> None:
        """Opens the match with every bot. Those that start up now do so side by side: none waits for another."""
        self.record.write(self._header(limits))
        fresh = [player for player, bot in enumerate(self.bots) if not bot.greeted]
        for player, bot in enumerate(self.bots):
            if bot.greeted:
                await bot.greet(self._initialize(player, limits), partial(self._log, player))
        if fresh:
            async with trio.open_nursery() as nursery:
                for player in fresh:
                    log = partial(self._log, player)
                    nursery.start_soon(self.bots[player].greet, self._initialize(player, limits), log)

    async def play(self) -> Result:
        """The loop: whoever is awaited is asked, all at once; the engine is given all answers together."""
        state, record, match_s = self.state, self.record, self.match.time.match_s
        started = time.perf_counter()
        for bot in self.bots:
            bot.before_wait = self._flush
        opening = state.opening()
        record.write(Opening(list(opening), state_hash(state)))
        self._deliver(opening)
        while state.awaited:
            if match_s is not None and state.result is None and time.perf_counter() - started > match_s:
                self._stop("the time of the match is up")
                continue
            if self.cheats and await self._cheat():
                continue
            calls = state.calls()
            answers = await self._answers(calls)
            events = state.apply(answers)
            wall_us = {call.player: round(self.bots[call.player].charge.wall_s * 1e6) for call in calls}
            cpu_us = {call.player: round(self.bots[call.player].charge.cpu_s * 1e6) for call in calls}
            record.turn(answers, events, wall_us, cpu_us, state)
            if self.watcher is not None:
                self.watcher(state, calls, answers, events)
            if events:
                self._report(events, calls)
                self._deliver(events)
        if state.result is None:
            raise RuntimeError(f"{self.match.game.name} awaits nobody and has no result")
        return state.result

    def _stop(self, reason: str) -> None:
        """Ends an undecided match; closing calls may still follow."""
        events = self.state.stop(reason)
        self.record.write(Stop(reason, list(events), state_hash(self.state)))
        self._deliver(events)

    async def _cheat(self) -> bool:
        """Asks a built-in cheat, before every turn until it has done so, what it does out of turn; True = it did.

        A call of its own, `inject`, rather than a form of answer: so it can also act before anybody has moved, and
        nothing that an ordinary bot answers can ever be taken for it. The result is a list of answers; [] = not yet.
        RunError if the cheat fails: it is ours.
        """
        player = self.cheats[0]
        bot, name, state = self.bots[player], self.match.entrants[player].name, self.state
        shown = messages.Clock(milliseconds(INJECT_S), None, None)
        answers = await bot.ask("inject", {}, shown, _INJECTED, INJECT_S)
        if not isinstance(answers, list):
            raise RunError(f"{name} cannot act out of turn in {self.match.game.name}: {answers}")
        if not answers:
            return False
        self.cheats.clear()  # a battle has room for one
        events = state.inject(player, answers)
        self.record.write(Injection(player, answers, list(events), state_hash(state)))
        self._report(events, (), unasked="inject")
        self._deliver(events)
        return True

    async def clear(self, roster: Roster) -> None:
        """Gives the bots back. One with a fault may still be busy with what it could not do in time: it is ended."""
        guilty = {fault.player for fault in self.faults}
        ended = []
        for player, (entrant, bot) in enumerate(zip(self.match.entrants, self.bots, strict=False)):
            bot.end_match()
            sound = self.state.result is not None and player not in guilty
            if self.match.game.fresh or not roster.keep(entrant, bot, sound):
                ended.append(bot)
        if ended:
            await roster.end(ended)

    def seat(self, player: Player, result: Result) -> Seat:
        """A bot's part in the match, when it is over."""
        bot, entrant = self.bots[player], self.match.entrants[player]
        program = " ".join(filter(None, (bot.hello.name, bot.hello.version)))[:PROGRAM_CHARACTERS]
        return Seat(
            name=entrant.name,
            program=program or None,
            command=entrant.argv,
            encoding=bot.wire.encoding,
            rank=result.ranks[player],
            score=result.scores[player],
            calls=bot.calls,
            wall_s=bot.wall_s,
            cpu_s=bot.usage.cpu_s,
            peak_memory_bytes=bot.usage.peak_memory_bytes,
            late_answers=bot.wire.late,
            stderr=None if bot.stderr.written is None else str(bot.stderr.written),
        )

    # One turn.

    async def _answers(self, calls: Sequence[Call]) -> dict[Player, Any]:
        if len(calls) == 1:
            return {calls[0].player: await self._ask(calls[0])}
        answers: dict[Player, Any] = {}

        async def ask(call: Call) -> None:
            answers[call.player] = await self._ask(call)

        async with trio.open_nursery() as nursery:
            for call in calls:
                nursery.start_soon(ask, call)
        return {call.player: answers[call.player] for call in calls}

    async def _ask(self, call: Call) -> Any:
        player, method, params = call.player, call.method, call.params
        bot, clock, in_opening = self.bots[player], self.clocks[player], self.state.in_opening
        limit_s = clock.limit_s(method.time_s, in_opening)
        call_ms = self.opening_ms if in_opening else self.call_ms
        shown = messages.Clock(call_ms[method.name], milliseconds(clock.remaining_s), milliseconds(clock.last_s))
        if method.shared and bot.fault is None:
            params = self.shared.params(method, params, bot.wire)
        answer = await bot.ask(method.name, params, shown, self.decoders[method.name], limit_s)
        clock.charge(bot.charge.wall_s, method.time_s, in_opening)
        return answer

    def _deliver(self, events: Sequence[Event]) -> None:
        """Notices wait for the next call to their seat, or for the moment when we have to wait ourselves: the rival
        whose turn it is is asked first, and a seat that is not asked for long hears of everything meanwhile."""
        for event in events:
            if isinstance(event, Notice):
                frames: dict[Encoding, bytes] = {}
                for player in event.to:
                    bot = self.bots[player]
                    if bot.fault is not None:
                        continue  # nobody hears it; one that never greeted has no encoding either
                    encoding = bot.wire.encoding
                    if encoding not in frames:
                        frames[encoding] = bot.wire.notify(event.method, bot.wire.encode(event.params))
                    bot.tell(frames[encoding])

    def _flush(self) -> None:
        for bot in self.bots:
            bot.flush()

    def _report(self, events: Sequence[Event], calls: Sequence[Call], unasked: str = "") -> None:
        """Keeps the faults; of a bot that is past answering only the first, since the rest follow from it.

        `unasked`: what stands in the place of the method for a seat that was not called.
        """
        for event in events:
            if isinstance(event, Ruling) and event.player not in self._reported:
                player = event.player
                bot, name = self.bots[player], self.match.entrants[player].name
                method = next((call.method.name for call in calls if call.player == player), unasked)
                self.faults.append(report(event, bot, name, method, self.record.turns))
                if bot.fault is not None:
                    self._reported.add(player)

    # What is said at the start.

    def _header(self, limits: Limits) -> Header:
        match = self.match
        commands = tuple(entrant.argv for entrant in match.entrants)
        return Header(REPLAY_VERSION, match.game.name, match.game.version, match.setup, match.time, limits, commands)

    def _initialize(self, player: Player, limits: Limits) -> Initialize:
        match = self.match
        return Initialize(
            protocol=PROTOCOL_VERSION,
            game=match.game.name,
            options=match.options,
            seat=player,
            names=match.setup.names,
            encodings=match.encodings,
            limits=shown_limits(limits, match.time),
            seed=derive_seed(match.seed, "seat", player),
        )

    def _log(self, player: Player) -> Path | None:
        """The file for a seat's standard error, beside the replay."""
        replay = self.match.replay
        return None if replay is None else replay.with_name(f"{replay.stem}.seat{player}.stderr")


@cache
def _decoders(game_name: str) -> dict[str, AnswerDecoder]:
    """A decoder for the answers of each function; made once, they are dear to make."""
    methods = registry.game(game_name).methods.values()
    return {method.name: answer_decoder(method.answer_type) for method in methods if method.result is not None}


@cache
def _call_ms(game_name: str, per_call_s: float | None) -> dict[str, int | None]:
    """The limit of a call, by function, as it is shown to bots."""
    methods = registry.game(game_name).methods.values()
    return {method.name: milliseconds(per_call_s if method.time_s is None else method.time_s) for method in methods}


@cache
def shown_limits(limits: Limits, time: TimeControl) -> messages.Limits:
    """The limits of a match, as they are shown to bots."""
    return messages.Limits(
        startup_ms=milliseconds(limits.startup_s) or 0,
        call_ms=milliseconds(time.per_call_s),
        initial_ms=milliseconds(time.initial_s),
        increment_ms=milliseconds(time.increment_s) or 0,
        cpu_ms=milliseconds(limits.cpu_s),
        memory_bytes=limits.memory_bytes,
    )
