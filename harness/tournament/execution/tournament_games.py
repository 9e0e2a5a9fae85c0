"""The games that a tournament's plan has left, and the ledger that keeps them.

Everything that is decided here follows from the plan and the ledger: a run can be killed and started again at any time.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf
from pathlib import Path
from typing import Any

import msgspec
import trio
from msgspec import Struct

from referee.harness import threads
from referee.harness.tournament.execution.game_queue import Numbered
from referee.harness.tournament.execution.runner import End, Runner, Schedule
from referee.harness.tournament.execution.worker_messages import Assignment, Contest, PlayedGame, Program, Stage
from referee.harness.tournament.execution.worker_pool import WorkerPool
from referee.harness.tournament.formats.games import ScheduledGame
from referee.harness.tournament.model import Keys, Plan
from referee.harness.tournament.store.ledger import Ledger, Line
from referee.harness.tournament.store.reader import Book, LedgerResults

SYNC_S = 0.25
SHAKY = 8
"""A bot that was at fault in this many games in a row plays its other games last."""


class Progress(Struct):
    """How far a run is."""

    started: float
    before: int
    """Games of earlier runs."""
    played: int = 0
    faulty: int = 0
    noisy: int = 0
    """Games with a fault that machine load may have caused."""
    voids: int = 0
    """How often a game was played again for that reason."""
    expelled: tuple[str, ...] = ()
    shaky: tuple[str, ...] = ()

    def rate(self) -> float:
        """Returns the games per second of this run."""
        return self.played / max(time.monotonic() - self.started, 1e-9)


class Shard(Struct, frozen=True):
    """The part of a tournament that a run plays, as whole seed groups. Numbers start at 1."""

    number: int = 1
    of: int = 1

    def has(self, game: ScheduledGame) -> bool:
        return (game.seed_group + sum(game.seats)) % self.of == self.number - 1


WHOLE = Shard()


class _LedgerFault(Struct):
    seat: int
    noise: bool = False


class _LedgerLine(Struct):
    """The fields of a ledger line that count for progress."""

    b: tuple[str, ...] = ()
    f: tuple[_LedgerFault, ...] = ()


_decode_line = msgspec.json.Decoder(_LedgerLine).decode


class TournamentGames(Schedule):
    """The games of one run of a tournament."""

    def __init__(self, plan: Plan, ledger: Ledger, book: Book, shard: Shard = WHOLE, expel: int | None = None) -> None:
        self.plan, self.ledger, self.book, self.shard, self.expel = plan, ledger, book, shard, expel
        self.keys = Keys(plan)
        self.results = LedgerResults(self.keys, book)
        self.progress = Progress(time.monotonic(), book.count)
        self.runner = Runner(self)
        self.on_lines: Callable[[list[bytes]], None] = lambda lines: None
        """Called with the new ledger lines."""
        self.on_note: Callable[[str], None] = lambda text: None
        """Called with a line of text when the order of play changes."""
        self._faults_in_a_row = dict.fromkeys(self.keys.idents, 0)

    async def play(self, pool: WorkerPool, stop: trio.Event, max_s: float = inf) -> End:
        """Plays the games and syncs the ledger to disk meanwhile. See `Runner.play`."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._sync)
            end = await self.runner.play(pool, stop, max_s)
            nursery.cancel_scope.cancel()
        return end

    async def _sync(self) -> None:
        while True:
            await trio.sleep(SYNC_S)
            await threads.run(self.ledger.sync)

    def assignments(self) -> Iterator[Assignment | None]:
        for game in self.plan.scheduled_games(self.results):
            if game is None:
                yield None
            elif self.shard.has(game) and self.results.get(game) is None:
                yield self._assignment(game)

    def _assignment(self, game: ScheduledGame) -> Assignment:
        key, seed, map = self.keys.key(game), self.keys.seed(game), self.keys.map(game)
        bots = tuple(self.keys.idents[bot] for bot in game.seats)
        if self.plan.format != "judged":
            return Assignment(key, bots, seed, game.stage, map)
        guest = next(seat for seat, bot in enumerate(game.seats) if self.plan.bots[bot].guest)
        case = self.plan.bots[game.seats[guest]].bot.removeprefix("@")
        return Assignment(key, bots, seed, game.stage, map, case, 1 - guest)

    def take(self, games: Sequence[PlayedGame]) -> None:
        new = []
        for game in games:
            if self.book.add(game.line):
                new.append((game.line, game.replay))
                self._count(_decode_line(game.line))
            elif game.void:
                new.append((game.line, game.replay))
                self.progress.voids += 1
        self._write(new)

    def _write(self, new: list[tuple[bytes, bytes | None]]) -> None:
        if new:
            self.ledger.append(new)
            self.on_lines([line for line, _ in new])

    def _count(self, line: _LedgerLine) -> None:
        self.progress.played += 1
        self.progress.faulty += bool(line.f)
        self.progress.noisy += any(fault.noise for fault in line.f)
        at_fault = {line.b[fault.seat] for fault in line.f}
        counts = self._faults_in_a_row
        for ident in counts.keys() & set(line.b):
            counts[ident] = counts[ident] + 1 if ident in at_fault else 0
        if at_fault:
            self.progress.shaky = tuple(ident for ident, count in counts.items() if count >= SHAKY)
            for ident in at_fault:
                self._note_shaky(ident)

    def describe(self, game: Assignment) -> str:
        names = {entry.ident: entry.name for entry in self.plan.bots}
        return f"the game {game.key} ({', '.join(names[ident] for ident in game.bots)})"

    # Bots that fail again and again.

    def _note_shaky(self, ident: str) -> None:
        """Says so once per row of faults, unless the bot plays in all games or is about to be expelled."""
        expelled = self.expel is not None and self.expel <= SHAKY
        counts = self._faults_in_a_row
        if counts.get(ident) == SHAKY and not expelled and len(counts) > self.plan.seats:
            name = self.plan.bots[self.keys.idents.index(ident)].name
            self.on_note(f"{name} was at fault in {SHAKY} games in a row: its other games come last")

    def is_deferred(self, line_up: str) -> bool:
        return any(ident in line_up for ident in self.progress.shaky)

    def still_open(self, games: list[Numbered]) -> list[Numbered]:
        """Leaves out games that have been played meanwhile, and decides those of expelled bots without play."""
        games = [(number, game) for number, game in games if self.book.game(game.key) is None]
        expelled = {bot for bot, count in self._faults_in_a_row.items() if count >= (self.expel or inf)}
        if not expelled:
            return games
        self.progress.expelled = tuple(sorted(expelled))
        lines = [forfeit(game, expelled, self.ledger.host) for _, game in games if not expelled.isdisjoint(game.bots)]
        new: list[tuple[bytes, bytes | None]] = [(line, None) for line in lines if self.book.add(line)]
        self._write(new)
        self.progress.played += len(new)
        return [(number, game) for number, game in games if expelled.isdisjoint(game.bots)]


def forfeit(game: Assignment, expelled: set[str], host: str) -> bytes:
    """Returns the ledger line of a game that was not played: all bots that are not expelled share the first rank."""
    present = [ident not in expelled for ident in game.bots]
    ranks = tuple(1 if bot_plays else sum(present) + 1 for bot_plays in present)
    points = tuple(map(float, present))
    at, by = round(time.time(), 6), f"{host}:0"
    return msgspec.json.encode(
        Line(game.key, game.bots, game.seed, ranks, points, why="forfeit", at=at, by=by, forfeit=True)
    )


def contest_of(plan: Plan, programs: Iterable[Program], records: str, folder: Path) -> Contest:
    """Returns the first message to the workers of a tournament."""
    options: dict[str, Any] = dict(plan.options)
    stage = Stage(options, plan.time, plan.limits, plan.encodings)
    return Contest(
        plan.game,
        dict.fromkeys(plan.stages, stage),
        tuple(programs),
        records,
        bots_kept=2 * plan.seats,
        folder=os.path.abspath(folder),
    )
