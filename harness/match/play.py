"""Plays one match: asks whoever is awaited, has the engine judge, delivers what happened, keeps the record."""

import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import trio
from msgspec import Struct

from referee.games.contract import (
    Call,
    Event,
    Fault,
    FaultKind,
    Game,
    Method,
    Player,
    Result,
    Ruling,
    Setup,
    State,
    TimeControl,
)
from referee.harness.errors import RunError, ungrouped
from referee.harness.isolation.plan import weakest
from referee.harness.isolation.process_tree import READ_BY as TREE_READ_BY
from referee.harness.match.clock import Clock, milliseconds
from referee.harness.match.fault_text import report, rules_of
from referee.harness.match.match import Loop
from referee.harness.match.pause import Pace
from referee.harness.match.replay_prefix import Past, relive
from referee.harness.match.verdict import FULL_REPORTS, GAME_OVER, FaultReport, Verdict
from referee.harness.match.verdict import Seat as SeatAccount
from referee.harness.process.limits import Limits
from referee.harness.process.stall_clock import presence
from referee.harness.programs.spec import Entrant, player_of
from referee.harness.replay.fault_report import Evidence, bundle_of, gathered, remove_bundles, write_bundles
from referee.harness.replay.lines import (
    REPLAY_VERSION,
    Ending,
    Forfeit,
    Header,
    Injection,
    Opening,
    Step,
    Stop,
    Turn,
    state_hash,
)
from referee.harness.replay.writer import FOLLOWED_S, Recorder
from referee.harness.seats.program import PROGRAM_CHARACTERS
from referee.harness.seats.roster import Roster
from referee.harness.seats.seat import OutOfTurn, Seat, Withdrawn, settle
from referee.protocol import messages
from referee.protocol.messages import Encoding

PAST_CALL_S = 60.0
"""How long a bot may take over a call of the past, which is on no clock, if its own limit is less."""
INJECT_S = 10.0
"""How long a cheat may think before it acts out of turn; it is on no clock."""


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
    again: tuple[str, ...] = ()
    """The command line that plays it again."""
    bundles: bool = False
    """Every fault has a folder beside the record, with all that is known of it."""
    past: Past | None = None
    """What was played before, in another match: this one goes on from there."""

    @property
    def setup(self) -> Setup:
        return Setup(self.seed, tuple(entrant.name for entrant in self.entrants), self.options)


Watcher = Callable[[State, Sequence[Call], Mapping[Player, Any], Sequence[Event]], None]
"""Is told of every turn when it has been played: the position after it, the calls, the answers and what they led to."""


async def play(
    match: Match,
    roster: Roster,
    watcher: Watcher | None = None,
    pace: Pace | None = None,
    recorder: Recorder | None = None,
) -> Verdict:
    """Plays a match from the greeting to the end. RunError if a program cannot be started or the record be written.

    With a `pace` somebody watches: a turn is on disk a moment later, and the match may be held between two of them.
    `recorder`: what keeps the record in the place of a file.
    """
    clock = presence()
    started, away_s = time.perf_counter(), clock.away_s
    evidence: list[Evidence] = []
    try:
        with clock.match_open(), recorder or Recorder(match.replay, followed=pace is not None) as record:
            if match.bundles and match.replay is not None:
                remove_bundles(match.replay, len(match.entrants))
            referee = _Referee(match, record, watcher, pace, evidence)
            async with nullcontext() if pace is None else _kept_up(record):
                try:
                    await roster.hide(files=[file for file in (match.replay, match.past and match.past.replay) if file])
                    await referee.take_seats(roster)
                    starts = not all(seat.greeted for seat in referee.seats)
                    await referee.open(roster.limits)
                    if starts:
                        roster.starts.append(time.perf_counter() - started)
                    result = await referee.result()
                finally:
                    await referee.clear(roster)
            seats = tuple(referee.account(player, result) for player in range(len(match.entrants)))
            record.write(Ending(result, seats, tuple(referee.faults)))
    except BaseException:
        with suppress(Exception):  # what ended the match is what the caller must see
            write_bundles(evidence, match.replay)
        raise
    write_bundles(evidence, match.replay)
    return Verdict(
        game=match.game.name,
        seed=match.seed,
        result=result,
        seats=seats,
        faults=tuple(referee.faults),
        turns=record.turns,
        duration_s=time.perf_counter() - started,
        replay=None if match.replay is None else str(match.replay),
        isolation=referee.isolation,
        again=match.again,
        tree_read_by=TREE_READ_BY,
        away_s=clock.away_s - away_s,
    )


@asynccontextmanager
async def _kept_up(record: Recorder) -> AsyncIterator[None]:
    """For the length of the block the record on disk is never long behind, whoever is waited for."""

    async def keep_up() -> None:
        while True:
            await trio.sleep(FOLLOWED_S)
            record.catch_up()

    with ungrouped():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(keep_up)
            yield
            nursery.cancel_scope.cancel()


NO_CLOCK = messages.Clock(None, None, None)
"""What is shown to whoever is on no clock."""
INJECT = Method("inject", dict, list[dict[str, Any]], "What a cheat does out of turn.", time_s=INJECT_S)


class _Referee(Loop):
    """A match: the loop, its record, and what became of each seat."""

    def __init__(
        self,
        match: Match,
        record: Recorder,
        watcher: Watcher | None,
        pace: Pace | None,
        evidence: list[Evidence],
    ) -> None:
        super().__init__(match.game, match.setup, match.time, partial(_log, match.replay))
        self.evidence = evidence
        """What is known of each fault, for its bundle."""
        self.table.idle = record.idle
        self.pace = pace
        self.paused_s = 0.0
        """How long the match was held before the turn that comes."""
        self.people = tuple(player for player, entrant in enumerate(match.entrants) if entrant.human)
        for player in self.people:
            self.clocks[player] = Clock(TimeControl())
        self.match_s = None if self.people else match.time.match_s
        self.match = match
        self.entrants = [player_of(entrant, match.game.name) for entrant in match.entrants]
        self.record = record
        self.watcher = watcher
        self.cheats = [
            player for player, entrant in enumerate(match.entrants) if entrant.injects and not entrant.remote
        ]
        """Seats of ours that act out of turn once."""
        self.remote = [player for player, entrant in enumerate(match.entrants) if entrant.remote]
        """Seats that may speak at any time, as clients over HTTP do."""
        self.faults: list[FaultReport] = []
        """The first `FULL_REPORTS` of each seat."""
        self.fault_counts = [0] * len(match.entrants)
        """By seat, the number of all its faults."""
        self.noisy_faults = [0] * len(match.entrants)
        """By seat, the number of those whose call was late because no core was free."""
        self.isolation: Mapping[str, str] = {}
        """What was kept of every seat; known when they are taken."""
        self._reported: set[Player] = set()
        self._position = ""
        """The position that a fault was given for, while it is ruled on."""
        self._started = 0.0
        if self.cheats or self.remote or pace is not None or self.match_s is not None:
            self.interrupted = True

    async def take_seats(self, roster: Roster) -> None:
        """RunError if a program cannot be started."""
        self.seats += await roster.take_all(self.entrants)

    async def open(self, limits: Limits) -> None:
        """Greets every seat. Those that start up now do so side by side: none waits for another."""
        match = self.match
        self.record.write(self._header(limits))
        fresh = [player for player, seat in enumerate(self.seats) if not seat.greeted]
        for player, seat in enumerate(self.seats):
            if seat.greeted:
                await self.greet(player, limits, match.encodings, match.seed)
        if fresh:
            self.table.ask_several(len(fresh))

            async def greet(player: Player) -> None:
                await self.greet(player, limits, match.encodings, match.seed)
                self.table.seat_done()

            with ungrouped():
                async with trio.open_nursery() as nursery:
                    for player in fresh:
                        nursery.start_soon(greet, player)

    async def result(self) -> Result:
        """Plays the game."""
        self._started = time.perf_counter()
        if self.match.past is None:
            await self.play()
        else:
            await relive(self, self.match.past.steps, self._feed)
            await self.go_on()
        if self.state.result is None:
            raise RuntimeError(f"{self.game.name} awaits nobody and has no result")
        return self.state.result

    async def _feed(self, call: Call, step: Turn) -> None:
        """Has a seat hear a call of the past; what it answers counts for nothing. People and scripts need not hear it:
        theirs is what comes from here on."""
        seat, entrant = self.seats[call.player], self.match.entrants[call.player]
        if seat.fault is None and call.player not in self.lost and not (entrant.human or entrant.script):
            limit_s = self.clocks[call.player].limit_s(self.time.own_s(call.method), self.state.in_opening)
            await seat.ask(call, self.shown_clock(call), max(PAST_CALL_S, limit_s))

    def relived(self, step: Step) -> None:
        if isinstance(step, Turn):
            self.record.turns += 1
            seats = ((player, self.seats[player].charge.stderr_bytes) for player in step.answers | step.faults)
            step = msgspec.structs.replace(step, stderr={player: at for player, at in seats if at})
        elif isinstance(step, Injection):
            self.cheats.clear()
        self.record.write(step)

    def at_fault(self, player: Player) -> None:
        if self.fault_counts[player] < FULL_REPORTS:
            self._position = str(self.state)

    def opened(self, events: Sequence[Event]) -> None:
        self.record.write(Opening(list(events), state_hash(self.state)))

    def played(self, calls: Sequence[Call], answers: dict[Player, Any], events: Sequence[Event]) -> None:
        seats = self.seats
        if len(calls) == 1:
            player = calls[0].player
            charge = seats[player].charge
            wall_us, cpu_us = {player: round(charge.wall_s * 1e6)}, {player: round(charge.cpu_s * 1e6)}
            waited_us = {player: round(charge.waited_s * 1e6)} if charge.waited_s else None
            stderr = {player: charge.stderr_bytes} if charge.stderr_bytes else None
        else:
            charges = {call.player: seats[call.player].charge for call in calls}
            wall_us = {player: round(charge.wall_s * 1e6) for player, charge in charges.items()}
            cpu_us = {player: round(charge.cpu_s * 1e6) for player, charge in charges.items()}
            waited_us = {player: round(each.waited_s * 1e6) for player, each in charges.items() if each.waited_s}
            stderr = {player: each.stderr_bytes for player, each in charges.items() if each.stderr_bytes}
        paused_ms, self.paused_s = round(self.paused_s * 1e3), 0.0
        self.record.turn(answers, events, wall_us, cpu_us, self.state, waited_us, paused_ms, stderr)
        if self.watcher is not None:
            self.watcher(self.state, calls, answers, events)
        for event in events:
            if type(event) is Ruling:
                method = next((call.method.name for call in calls if call.player == event.player), "")
                self._report(event, method)

    def forfeited(self, faults: Mapping[Player, Fault], events: Sequence[Event]) -> None:
        self.record.write(Forfeit(dict(faults), list(events), state_hash(self.state)))
        for event in events:
            if type(event) is Ruling:
                self._report(event, "initialize" if event.player in self.lost else "")

    async def between(self) -> bool:
        if self.pace is not None and self.pace.held and self.state.result is None and await self._held(self.pace):
            return True
        match_s = self.match_s
        if match_s is not None and self.state.result is None and time.perf_counter() - self._started > match_s:
            self._stop("the time of the match is up")
            return True
        for player in self.remote:
            if await self._spoke(player):
                return True
        return bool(self.cheats) and await self._cheat()

    def is_withdrawn(self, answers: Mapping[Player, Any]) -> bool:
        if any(type(answer) is Withdrawn for answer in answers.values()):
            return True
        if any(player in self.remote or type(answer) is Fault for player, answer in answers.items()):
            return False
        return any(self.seats[player].spoke for player in self.remote)  # judged before its rival's move, and shown so

    async def _held(self, pace: Pace) -> bool:
        """Waits for whoever watches; the time of the match waits with us. Whether they have ended it."""
        waited_s = await pace.hold()
        self.paused_s += waited_s
        self._started += waited_s
        if pace.stopping() and self.state.result is None:
            self._stop("stopped by somebody who watched")
            return True
        return False

    def _stop(self, reason: str) -> None:
        """Ends an undecided match; closing calls may still follow."""
        events = self.state.stop(reason)
        self.record.write(Stop(reason, list(events), state_hash(self.state)))
        self.tell(events)

    async def _cheat(self) -> bool:
        """Asks a built-in cheat, before every turn until it has done so, what it does out of turn; True = it did.

        A call of its own, `inject`, rather than a form of answer: so it can also act before anybody has moved, and
        nothing that an ordinary bot answers can ever be taken for it. The result is a list of answers; [] = not yet.
        RunError if the cheat fails: it is ours.
        """
        player = self.cheats[0]
        shown = messages.Clock(milliseconds(INJECT_S), None, None)
        answers = await self.seats[player].ask(Call(player, INJECT, {}), shown, INJECT_S)
        if not isinstance(answers, list):
            raise RunError(f"{self.setup.names[player]} cannot act out of turn in {self.game.name}: {answers}")
        if not answers:
            return False
        self.cheats.clear()  # a cheat acts out of turn once
        self._inject(player, OutOfTurn(answers))
        return True

    async def _spoke(self, player: Player) -> bool:
        """Hears what a remote client has sent although it is not asked: an offence against the rules, or the reason
        why it cannot go on."""
        unasked = await self.seats[player].ask(Call(player, INJECT, {}), NO_CLOCK, INJECT_S)
        if isinstance(unasked, Fault):
            self.forfeit({player: unasked})
        elif isinstance(unasked, OutOfTurn):
            if player in self.state.awaited:  # it was this seat's turn: it answered before it was asked, so in time
                self.clocks[player].charge(0.0)
            self._inject(player, unasked)
        return bool(unasked)

    def _inject(self, player: Player, unasked: OutOfTurn) -> None:
        events = self.state.inject(player, unasked.answers, unasked.offence)
        self.record.write(Injection(player, unasked.answers, list(events), state_hash(self.state), unasked.offence))
        for event in events:
            if type(event) is Ruling:
                self._report(event, INJECT.name)
        self.tell(events)

    async def clear(self, roster: Roster) -> None:
        """Gives the seats back, when they have heard the match out. One with a fault may still be busy with what it
        could not do in time: it is ended.

        Limits hold until a bot is gone. What it does wrong after its last answer changes no result, but is told; to end
        by itself is no fault any more.
        """
        self._position = ""
        self.table.flush()
        kept: list[Seat] = []
        if self.state.result is not None and not self.game.fresh:
            kept = [
                seat for player, seat in enumerate(self.seats) if seat.hello.reuse and not self.fault_counts[player]
            ]
            await settle(kept)
        ended = []
        for entrant, seat in zip(self.entrants, self.seats, strict=False):
            if seat in kept and seat.fault is None:
                roster.keep(entrant, seat)
            else:
                ended.append(seat)
        if ended:
            await roster.end(ended, orderly=self.state.result is not None)
        for player, seat in enumerate(self.seats):
            seat.end_match()
            if seat.fault is not None and seat.fault.kind is not FaultKind.CRASH and player not in self._reported:
                self._report(Ruling(player, seat.fault, GAME_OVER), "exit")

    def account(self, player: Player, result: Result) -> SeatAccount:
        """A seat's part in the match, when it is over."""
        seat, entrant = self.seats[player], self.entrants[player]
        program = " ".join(filter(None, (seat.hello.name, seat.hello.version)))[:PROGRAM_CHARACTERS]
        return SeatAccount(
            name=entrant.name,
            program=program or None,
            command=entrant.argv,
            encoding=seat.encoding,
            rank=result.ranks[player],
            score=result.scores[player],
            calls=seat.calls,
            wall_s=seat.wall_s,
            cpu_s=seat.usage.cpu_s,
            peak_memory_bytes=seat.usage.peak_memory_bytes,
            late_answers=seat.late_answers,
            stderr=None if seat.stderr is None else str(seat.stderr),
            waited_s=seat.waited_s,
            noisy_calls=seat.noisy_calls,
            off_turn_cpu_s=max(0.0, seat.usage.cpu_s - seat.calls_cpu_s),
            human=player in self.people,
            faults=self.fault_counts[player],
            noisy_faults=self.noisy_faults[player],
        )

    def _report(self, ruling: Ruling, method: str) -> None:
        """Counts a fault, and keeps the first ones in full. Of a seat that answers no more only the first fault counts:
        the others follow from it."""
        player = ruling.player
        if player in self._reported:
            return
        seat = self.seats[player]
        self.fault_counts[player] += 1
        self.noisy_faults[player] += seat.charge.host_noise
        if seat.fault is not None:
            self._reported.add(player)
        number = self.fault_counts[player]
        if number > FULL_REPORTS:
            return
        rules = rules_of(ruling.fault.kind, self.game, method)
        fault = report(ruling, seat, self.setup.names[player], method, self.record.turns, rules, self._position)
        bundles = self.match.bundles and player not in self.people  # a person's fault cannot be reproduced
        if bundles and self.match.replay is not None:
            fault = msgspec.structs.replace(fault, bundle=str(bundle_of(self.match.replay, player, number)))
            self.evidence.append(gathered(fault, seat, self.entrants[player], self.match.encodings))
        self.faults.append(fault)

    def _header(self, limits: Limits) -> Header:
        match = self.match
        commands = tuple(entrant.argv for entrant in self.entrants)
        self.isolation = weakest(seat.isolation for seat in self.seats if seat.isolation)
        return Header(
            REPLAY_VERSION,
            match.game.name,
            match.game.version,
            self.setup,
            match.time,
            limits,
            commands,
            self.isolation,
            self.people,
            tuple(str(entrant.cwd) for entrant in self.entrants),
            None if match.past is None else match.past.origin,
            TREE_READ_BY,
            match.again,
        )


def _log(replay: Path | None, player: Player) -> Path | None:
    """The file for a seat's standard error, beside the replay."""
    return None if replay is None else replay.with_name(f"{replay.stem}.seat{player}.stderr")
