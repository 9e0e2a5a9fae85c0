"""A match from the greeting to the end: it takes the seats, has the game driven, and keeps the replay."""

import os
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import msgspec
import trio
from msgspec import Struct

from referee.games.contract import Call, Event, FaultKind, Player, Result, Ruling, Setup, State
from referee.games.game import Game, TimeControl
from referee.harness.common.measures import Record, member_names
from referee.harness.common.nurseries import ungrouped
from referee.harness.isolation.plan import common_layers, lost_layers
from referee.harness.isolation.process_tree import READ_BY as TREE_READ_BY
from referee.harness.match.clock import Clock
from referee.harness.match.fault_reports import FaultReports
from referee.harness.match.interventions import MatchInterventions
from referee.harness.match.listener import Listener
from referee.harness.match.pause import PauseControl
from referee.harness.match.replay_prefix import ReplayPrefix, prefix_calls
from referee.harness.match.turn import Driver
from referee.harness.match.verdict import Verdict
from referee.harness.process.limits import Limits
from referee.harness.process.stall_clock import stall_clock
from referee.harness.programs.built_in import entrant_in_game
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.kinds import called, kept_suffixes
from referee.harness.replay.fault_report import Evidence, remove_fault_reports, write_fault_reports
from referee.harness.replay.lines import (
    GAME_OVER,
    REPLAY_VERSION,
    Ending,
    Forfeit,
    Header,
    Injection,
    Opening,
    SeatSummary,
    Step,
    Stop,
    Turn,
)
from referee.harness.replay.writer import FOLLOWED_S, ReplayWriter
from referee.harness.seats.kinds import FUNCTION, PERSON
from referee.harness.seats.program import Bot, settle
from referee.harness.seats.roster import Roster
from referee.harness.seats.seat import Seat
from referee.protocol.messages import Encoding

PREFIX_CALL_S = 60.0
"""Shortest limit of a call of a replay prefix, for which no clock runs."""


class Match(Struct, frozen=True):
    """A match to be played."""

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
    """The command line that plays the match again."""
    fault_reports: bool = False
    """Write a folder for every fault, next to the replay, with all that is known of it."""
    transcripts: bool = False
    """Keep the replay in full, with what players were asked and have said."""
    prefix: ReplayPrefix | None = None
    """The turns of another match, from which this one goes on."""

    @property
    def setup(self) -> Setup:
        return Setup(self.seed, tuple([entrant.name for entrant in self.entrants]), self.options)


Watcher = Callable[[State, Sequence[Call], Mapping[Player, Any], Sequence[Event]], None]
"""Called after every turn, with the new position, the calls, the answers and the events."""


async def play(
    match: Match,
    roster: Roster,
    watcher: Watcher | None = None,
    pace: PauseControl | None = None,
    recorder: ReplayWriter | None = None,
) -> Verdict:
    """Plays a match. RunError if a program cannot be started, or the replay cannot be written.

    With a `pace`, somebody watches: each turn is on disk a moment later, and the match may be paused between turns.
    `recorder` keeps the replay instead of a file.
    """
    clock = stall_clock()
    started, away_s = time.perf_counter(), clock.stalled_s - clock.left_out_s
    evidence: list[Evidence] = []
    try:
        with clock.match_open(), recorder or ReplayWriter(match.replay, followed=pace is not None) as record:
            if match.replay is not None:
                _remove_files_of_seats(match.replay, len(match.entrants))
                remove_fault_reports(match.replay, len(match.entrants))
            if match.game.stderr_to is not None:
                match.game.stderr_to("" if match.replay is None else str(_rules_log(match.replay)))
            referee = _Referee(match, record, watcher, pace, evidence)
            async with nullcontext() if pace is None else _kept_up(record):
                try:
                    replays = (match.replay, match.prefix and match.prefix.replay)
                    if files := [file for file in replays if file]:
                        await roster.hide(files)
                    referee.seats += await roster.take_all(referee.entrants)
                    starts = not all([seat.greeted for seat in referee.seats])
                    await referee.greet(roster.limits)
                    if starts:
                        roster.starts.append(time.perf_counter() - started)
                    result = await referee.result()
                finally:
                    await referee.clear(roster)
            seats = tuple([referee.seat_result(player, result) for player in range(len(match.entrants))])
            faults = tuple(referee.faults.reports)
            record.write(Ending(result, seats, faults))
    except BaseException:
        with suppress(Exception):  # what ended the match is what the caller must see
            write_fault_reports(evidence, match.replay)
        raise
    write_fault_reports(evidence, match.replay)
    return Verdict(
        game=match.game.name,
        seed=match.seed,
        result=result,
        seats=seats,
        faults=faults,
        turns=record.turns,
        duration_s=time.perf_counter() - started,
        replay=None if match.replay is None else str(match.replay),
        isolation=referee.faults.header.isolation,
        lost_layers=lost_layers(roster.limits.isolation) if referee.faults.header.isolation else {},
        again=match.again,
        tree_read_by=TREE_READ_BY,
        away_s=clock.stalled_s - clock.left_out_s - away_s,
    )


@asynccontextmanager
async def _kept_up(record: ReplayWriter) -> AsyncIterator[None]:
    """Writes what the recorder has kept every `FOLLOWED_S` while the block runs."""

    async def keep_up() -> None:
        while True:
            await trio.sleep(FOLLOWED_S)
            record.catch_up()

    with ungrouped():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(keep_up)
            yield
            nursery.cancel_scope.cancel()


class _Referee(Listener):
    """One match, from its seats to what became of each. As a listener it writes the replay, and shows every turn."""

    def __init__(
        self,
        match: Match,
        record: ReplayWriter,
        watcher: Watcher | None,
        pace: PauseControl | None,
        evidence: list[Evidence],
    ) -> None:
        """Fault reports are added to `evidence`."""
        self.match = match
        self.record = record
        self.watcher = watcher
        self.pace = pace
        self.entrants = [entrant_in_game(entrant, match.game.name) for entrant in match.entrants]
        self.driver = driver = Driver(match.game, match.setup, match.time, partial(_log, match.replay))
        self.seats = driver.seats
        driver.context.idle = record.idle
        self.limits = Limits()
        self.people = tuple(player for player, entrant in enumerate(match.entrants) if PERSON.plays(entrant))
        self.functions = tuple(player for player, entrant in enumerate(match.entrants) if FUNCTION.plays(entrant))
        for player, entrant in enumerate(match.entrants):
            if not called(entrant.kind).has_clock:
                driver.clocks[player] = Clock(TimeControl())
        replay = match.replay if match.fault_reports else None
        self.faults = FaultReports(driver, record, match.encodings, evidence, replay, self.people)
        driver.listeners += [self, self.faults]

    def opened(self, opening: Opening) -> None:
        self.record.write(opening)

    def turn(self, calls: Sequence[Call], answers: dict[Player, Any], events: Sequence[Event]) -> None:
        paused_ms, interventions = 0, self.interventions
        if interventions.paused_s:
            paused_ms, interventions.paused_s = round(interventions.paused_s * 1e3), 0.0
        driver = self.driver
        self.record.turn(answers, events, driver.costs, driver.state, paused_ms, self.match.transcripts)
        if self.watcher is not None:
            self.watcher(self.driver.state, calls, answers, events)

    def interrupted(self, step: Injection | Forfeit | Stop) -> None:
        self.record.write(step)

    def replayed(self, step: Step) -> None:
        if isinstance(step, Turn):
            self.record.turns += 1
            seats = ((player, self.driver.costs[player].stderr_bytes) for player in step.answers | step.faults)
            step = msgspec.structs.replace(step, stderr={player: at for player, at in seats if at})
        elif isinstance(step, Injection):
            self.interventions.cheats.clear()
        self.record.write(step)

    async def greet(self, limits: Limits) -> None:
        """Greets every seat; those that start up now, side by side."""
        self.limits = limits
        self.faults.header = header = self._header(limits)
        self.record.write(header)
        match, driver = self.match, self.driver
        greet = partial(driver.greet, limits=limits, encodings=match.encodings, luck=match.seed)
        fresh = [player for player, seat in enumerate(self.seats) if not seat.greeted]
        for player, seat in enumerate(self.seats):
            if seat.greeted:
                await greet(player)
        if fresh:
            await driver.context.side_by_side(greet, fresh)

    async def result(self) -> Result:
        """Plays the game."""
        driver = self.driver
        entrants = enumerate(self.match.entrants)
        cheats = [player for player, entrant in entrants if called(entrant.kind).out_of_turn]
        match_s = None if self.people else self.match.time.match_s
        self.interventions = MatchInterventions(driver, cheats, self.pace, match_s)
        if self.match.prefix is None:
            await driver.play()
        else:
            for call, _ in prefix_calls(driver, self.match.prefix.steps):
                await self._feed(call)
            await driver.play_on()
        if driver.state.result is None:
            raise RuntimeError(f"{driver.game.name} awaits nobody and has no result")
        return driver.state.result

    async def _feed(self, call: Call) -> None:
        """Makes a call of the prefix, whose answer does not count. People and scripts play only what comes after it."""
        driver, player = self.driver, call.player
        seat, entrant = self.seats[player], self.match.entrants[player]
        if seat.fault is None and player not in driver.lost and called(entrant.kind).hears_prefix:
            limit_s = driver.clocks[player].limit_s(driver.time.own_s(call.method), driver.state.in_opening)
            reply = await seat.ask(call, driver.shown_clock(call), max(PREFIX_CALL_S, limit_s))
            driver.costs[player] = reply.cost

    async def clear(self, roster: Roster) -> None:
        """Keeps seats for the next match, and ends the others: those with a fault may still be busy.

        Limits hold until a bot is gone. A fault after the last answer is reported but changes no result; to exit is no
        fault any more.
        """
        driver, faults = self.driver, self.faults
        faults.position = ""
        driver.context.flush()
        finished = driver.state.result is not None
        kept: list[Seat] = []
        if finished and not driver.game.fresh:
            seats = enumerate(self.seats)
            kept = [seat for player, seat in seats if seat.handshake.reuse and not faults.counts[player]]
            await settle([seat for seat in kept if isinstance(seat, Bot)])
        ended = []
        for entrant, seat in zip(self.entrants, self.seats, strict=False):
            if seat in kept and seat.fault is None:
                roster.keep(entrant, seat)
            else:
                ended.append(seat)
        if ended:
            await roster.end(ended, orderly=finished)
        for player, seat in enumerate(self.seats):
            if isinstance(seat, Bot):
                seat.end_match()
            if seat.fault is not None and seat.fault.kind is not FaultKind.CRASH and player not in faults.closed:
                faults.penalty(Ruling(player, seat.fault, GAME_OVER), "exit")

    def seat_result(self, player: Player, result: Result) -> SeatSummary:
        """Returns a seat's part in the match, when it is over."""
        seat, entrant, faults = self.seats[player], self.entrants[player], self.faults
        status = seat.status(brief=True)
        totals, process = seat.totals, status.process
        return SeatSummary(
            name=entrant.name,
            program=seat.program_name,
            command=entrant.argv,
            encoding=status.encoding,
            rank=result.ranks[player],
            score=result.scores[player],
            calls=totals.calls,
            wall_s=totals.wall_s,
            cpu_s=process.usage.cpu_s,
            peak_memory_bytes=process.usage.peak_memory_bytes,
            late_answers=status.late_answers,
            stderr=None if process.stderr is None else str(process.stderr),
            waited_s=totals.waited_s,
            noisy_calls=totals.slowed,
            off_turn_cpu_s=max(0.0, process.usage.cpu_s - totals.cpu_s),
            human=player in self.people,
            function=player in self.functions,
            faults=faults.counts[player],
            noisy_faults=faults.slowed[player],
            **totals.measured,
        )

    def _header(self, limits: Limits) -> Header:
        match = self.match
        bots = [(player, seat) for player, seat in enumerate(self.seats) if isinstance(seat, Bot)]
        layers = [bot.program.isolation for _, bot in bots]
        records = [(player, bot.record(match.game, match.seed, player)) for player, bot in bots]
        measured = {
            name: {p: each[name] for p, each in records if name in each} for name in member_names(Record.HEADER)
        }
        return Header(
            replay=REPLAY_VERSION,
            game=match.game.name,
            game_version=match.game.version,
            setup=self.driver.setup,
            time=match.time,
            limits=_plain_limits(limits),
            commands=tuple([entrant.argv for entrant in self.entrants]),
            isolation=common_layers(filter(None, layers)),
            people=self.people,
            functions=self.functions,
            folders=tuple([str(entrant.cwd) for entrant in self.entrants]),
            origin=None if match.prefix is None else match.prefix.origin,
            tree_read_by=TREE_READ_BY,
            again=match.again,
            encodings=match.encodings,
            game_sha256=match.game.sha256 or msgspec.UNSET,
            **measured,
        )


@lru_cache(maxsize=4)  # all matches of a run share it
def _plain_limits(limits: Limits) -> Mapping[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(limits)
    return plain


def _remove_files_of_seats(replay: Path, seats: int) -> None:
    """Removes what an earlier match whose replay had this name has left for its seats. This one may write none."""
    names, kept = [_rules_log(replay).name], kept_suffixes()
    for player in range(seats):
        names.append(f"{replay.stem}.seat{player}.stderr")
        names += [f"{replay.name.split('.jsonl')[0]}.seat{player}{suffix}" for suffix in kept]
    for name in names:
        with suppress(OSError):  # there is none
            os.unlink(f"{replay.parent}/{name}")


def _rules_log(replay: Path) -> Path:
    """Returns the file for the standard error of rules that are a program, next to the replay."""
    return replay.with_name(f"{replay.stem}.rules.stderr")


def _log(replay: Path | None, player: Player) -> Path | None:
    """Returns the file for a seat's standard error, next to the replay."""
    return None if replay is None else replay.with_name(f"{replay.stem}.seat{player}.stderr")
