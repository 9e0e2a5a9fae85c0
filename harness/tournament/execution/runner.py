"""Plays what a plan has left: asks the format for slots, hands them out as jobs, writes down what comes back.

It knows a crew, and not where its lanes are. Everything that it decides follows from the plan and the ledger, so it
can be killed and started again at any moment.
"""

import heapq
import os
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec
import trio
from msgspec import Struct

from referee.harness import threads
from referee.harness.errors import RunError
from referee.harness.tournament.execution import worker_messages
from referee.harness.tournament.execution.local import Crew, Lost
from referee.harness.tournament.formats.schedules import Outcome, Slot
from referee.harness.tournament.model import Keys, Plan
from referee.harness.tournament.store.ledger import Book, Ledger, Line

AHEAD = 10_000
"""So many slots are known ahead, from which those of the same bots are played together."""
JOB_GAMES = 2_000
STARTS_A_JOB = 10
"""A job takes so many times as long as its bots need to start: less than a tenth goes into that."""
SYNC_S = 0.25
DEATHS = 3
"""A game that took so many lanes along is not tried again."""
SHAKY = 8
"""A bot with so many faulty games running plays its other games last."""


class End(StrEnum):
    """How a run ended."""

    FINISHED = "finished"
    CAPPED = "capped"
    """The time that it was given is over."""
    INTERRUPTED = "interrupted"


class Progress(Struct):
    """How far it is."""

    started: float
    before: int
    """Games that earlier runs have played."""
    played: int = 0
    faulty: int = 0
    noisy: int = 0
    """Of these, how many may be the machine's."""
    voids: int = 0
    """How often a game was played again for that reason."""
    lost_lanes: int = 0
    expelled: tuple[str, ...] = ()
    shaky: tuple[str, ...] = ()

    def rate(self) -> float:
        """Games a second, in this run."""
        return self.played / max(time.monotonic() - self.started, 1e-9)


class Results:
    """What formats see of the book."""

    def __init__(self, keys: Keys, book: Book) -> None:
        self.keys, self.book = keys, book

    def get(self, slot: Slot) -> Outcome | None:
        """The game of that slot, if it has been played."""
        table, row = self.keys.table_row(slot)
        game = self.book.find(table, slot.orbit, row)
        return None if game is None else Outcome(game.kind.r, game.kind.p)


class Shard(Struct, frozen=True):
    """The part of a tournament that this run plays: whole orbits."""

    number: int = 1
    """From 1."""
    of: int = 1

    def has(self, slot: Slot) -> bool:
        return (slot.orbit + sum(slot.seats)) % self.of == self.number - 1


class Queue:
    """Slots that are due, those of one table together, the earliest first."""

    def __init__(self, keys: Keys, book: Book, shard: Shard) -> None:
        self.keys, self.book, self.shard = keys, book, shard
        self.results = Results(keys, book)
        self.ended = False
        self.size = 0
        self._source = keys.plan.slots(self.results)
        self._number = 0
        self._tables: dict[str, deque[tuple[int, Slot]]] = {}
        self._heads: list[tuple[int, str]] = []

    def fill(self) -> None:
        """Asks the format, until there is enough, or nothing more can be known."""
        while self.size < AHEAD and not self.ended:
            try:
                slot = next(self._source)
            except StopIteration:
                self.ended = True
                return
            if slot is None:
                return
            self._number += 1
            if self.shard.has(slot) and self.results.get(slot) is None:
                self.add(self._number, slot)

    def add(self, number: int, slot: Slot) -> None:
        """Puts a slot into its place."""
        table, _ = self.keys.table_row(slot)
        queue = self._tables.setdefault(table, deque())
        if not queue or number < queue[0][0]:
            queue.appendleft((number, slot))
            heapq.heappush(self._heads, (number, table))
        else:
            queue.append((number, slot))
        self.size += 1

    def first(self, late: Callable[[str], bool]) -> str | None:
        """The table whose turn it is; those that are `late` only when there is no other."""
        behind: list[tuple[int, str]] = []
        found = None
        while self._heads:
            number, table = self._heads[0]
            queue = self._tables.get(table)
            if not queue or queue[0][0] != number:
                heapq.heappop(self._heads)
                continue
            if not late(table):
                found = table
                break
            behind.append(heapq.heappop(self._heads))
        for head in behind:
            heapq.heappush(self._heads, head)
        return found or (behind[0][1] if behind else None)

    def take(self, table: str, count: int) -> list[tuple[int, Slot]]:
        """The first slots of a table."""
        queue = self._tables[table]
        taken = [queue.popleft() for _ in range(min(count, len(queue)))]
        if queue:
            heapq.heappush(self._heads, (queue[0][0], table))
        else:
            del self._tables[table]
        self.size -= len(taken)
        return taken


class _Given(Struct):
    """A job at a lane."""

    table: str
    slots: dict[str, tuple[int, Slot]]
    """By key, those that have not come back."""
    count: int


class Run:
    """One run of a tournament."""

    def __init__(self, plan: Plan, ledger: Ledger, book: Book, shard: Shard, expel: int | None = None) -> None:
        self.plan = plan
        self.ledger = ledger
        self.book = book
        self.keys = Keys(plan)
        self.queue = Queue(self.keys, book, shard)
        self.progress = Progress(time.monotonic(), book.count)
        self.expel = expel
        self.on_lines: Callable[[list[bytes]], None] = lambda lines: None
        """Hears of every game that was written down."""
        self.on_note: Callable[[str], None] = lambda text: None
        """Hears, in a line, of what changes the order of play."""
        self._given: dict[int, _Given] = {}
        self._next_job = 0
        self._took_s: dict[str, float] = {}
        """Running mean of a game, by table."""
        self._start_s: dict[str, float] = {}
        """How long its bots last took to start."""
        self._faulty = dict.fromkeys(self.keys.idents, 0)
        """How many games running a bot has been at fault in."""
        self._deaths: dict[str, int] = {}
        self._draining = False

    async def play(self, crew: Crew, stop: trio.Event, max_s: float | None = None) -> End:
        """Until nothing is left, or it is told to stop, or the time is over. RunError if it cannot go on."""
        end = End.FINISHED
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._sync)
            nursery.start_soon(self._watch, crew, stop, max_s)
            await self._work(crew)
            nursery.cancel_scope.cancel()
        if self._draining and not (self.queue.ended and not self.queue.size and not self._given):
            end = End.INTERRUPTED if stop.is_set() else End.CAPPED
        return end

    async def _work(self, crew: Crew) -> None:
        while True:
            if not self._draining:
                await self._hand_out(crew)
                if not self._given:
                    if self.queue.size == 0:
                        return  # nothing is due or being played: the format waits for another shard's games
                    if crew.room() > 0:
                        continue
            try:
                with trio.move_on_after(SYNC_S):
                    self._take(await crew.events.receive())
            except trio.EndOfChannel:
                return
            while True:
                try:
                    self._take(crew.events.receive_nowait())
                except (trio.WouldBlock, trio.EndOfChannel):
                    break

    async def _hand_out(self, crew: Crew) -> None:
        self.queue.fill()
        while crew.room() > 0:
            job = self._job(crew.JOB_S)
            if job is None:
                return
            await crew.give(job)

    def _job(self, length_s: float) -> worker_messages.Job | None:
        """Games of the same bots for about so long; None if nothing is due."""
        while (table := self.queue.first(self._is_late)) is not None:
            one_s = self._took_s.get(table)
            wanted_s = max(length_s, STARTS_A_JOB * self._start_s.get(table, 0.0))
            count = 1 if one_s is None else max(1, min(JOB_GAMES, int(wanted_s / max(one_s, 1e-5))))
            taken = [(n, slot) for n, slot in self.queue.take(table, count) if self.queue.results.get(slot) is None]
            taken = self._without_suspects(taken)
            taken = self._forfeited(taken)
            if not taken:
                continue
            self._next_job += 1
            slots = {self.keys.key(slot): (number, slot) for number, slot in taken}
            self._given[self._next_job] = _Given(table, slots, len(slots))
            return worker_messages.Job(self._next_job, tuple(self._due(key, slot) for key, (_, slot) in slots.items()))
        return None

    def _due(self, key: str, slot: Slot) -> worker_messages.Due:
        bots = tuple(self.keys.idents[bot] for bot in slot.seats)
        case, judged = None, -1
        if self.plan.format == "judged":
            guest = next(seat for seat, bot in enumerate(slot.seats) if self.plan.bots[bot].guest)
            case, judged = self.plan.bots[slot.seats[guest]].bot.removeprefix("@"), 1 - guest
        return worker_messages.Due(key, bots, self.keys.seed(slot), slot.stage, self.keys.map(slot), case, judged)

    # What comes back.

    def _take(self, event: worker_messages.Played | worker_messages.Done | worker_messages.Failed | Lost) -> None:
        if isinstance(event, worker_messages.Played):
            self._played(event)
        elif isinstance(event, worker_messages.Done):
            self._done(event)
        elif isinstance(event, Lost):
            self.progress.lost_lanes += 1
            self._lost(event)
        else:
            raise RunError(event.why)

    def _played(self, event: worker_messages.Played) -> None:
        new = []
        given = self._given.get(event.job)
        for line, member in event.games:
            seats = _KEY(line)
            if self.book.add(line):  # otherwise a lane that was thought to be dead has sent the game before
                new.append((line, member))
                self._count(seats)
            elif seats.void:
                new.append((line, member))
                self.progress.voids += 1
            if given is not None and not seats.void:
                given.slots.pop(seats.k, None)
        if new:
            self.ledger.append(new)
            self.on_lines([line for line, _ in new])

    def _count(self, seats: "_Seats") -> None:
        self.progress.played += 1
        self.progress.faulty += bool(seats.f)
        self.progress.noisy += any(fault.noise for fault in seats.f)
        guilty = {seats.b[fault.seat] for fault in seats.f}
        for ident in seats.b:
            if ident in self._faulty:
                self._faulty[ident] = self._faulty[ident] + 1 if ident in guilty else 0
        if guilty:
            self.progress.shaky = tuple(ident for ident, count in self._faulty.items() if count >= SHAKY)
            for ident in guilty:
                self._tell_shaky(ident)

    def _done(self, event: worker_messages.Done) -> None:
        given = self._given.pop(event.job, None)
        if given is None:
            return
        one_s = event.took_s / given.count
        known = self._took_s.get(given.table)
        self._took_s[given.table] = one_s if known is None else (known + one_s) / 2
        if event.start_s:
            self._start_s[given.table] = event.start_s
        self._reopen(given)

    def _lost(self, event: Lost) -> None:
        for place, number in enumerate(event.jobs):
            given = self._given.pop(number, None)
            if given is None:
                continue
            if place == 0 and given.slots and event.began:
                key = next(iter(given.slots))
                self._deaths[key] = self._deaths.get(key, 0) + 1 if given.count == 1 else 1
                if self._deaths[key] >= DEATHS:
                    _, slot = given.slots[key]
                    names = ", ".join(self.plan.bots[bot].name for bot in slot.seats)
                    raise RunError(f"the game {key} ({names}) has taken {DEATHS} lanes along; it is not tried again")
            self._reopen(given)

    def _without_suspects(self, taken: list[tuple[int, Slot]]) -> list[tuple[int, Slot]]:
        """A game at which a lane died is given alone, so that no other is blamed, or lost, for it."""
        if not self._deaths:
            return taken
        suspects = [place for place, (_, slot) in enumerate(taken) if self.keys.key(slot) in self._deaths]
        count = max(suspects[0], 1) if suspects else len(taken)
        for number, slot in reversed(taken[count:]):
            self.queue.add(number, slot)
        return taken[:count]

    def _reopen(self, given: _Given) -> None:
        for number, slot in reversed(given.slots.values()):
            self.queue.add(number, slot)

    # Bots that fail again and again.

    def _tell_shaky(self, ident: str) -> None:
        """Once for each row of faults; not where it has a part in all games, or is out."""
        out = self.expel is not None and self.expel <= SHAKY
        if self._faulty.get(ident) == SHAKY and not out and len(self._faulty) > self.plan.seats:
            name = self.plan.bots[self.keys.idents.index(ident)].name
            self.on_note(f"{name} has been at fault in {SHAKY} games running: its other games come last")

    def _is_late(self, table: str) -> bool:
        return bool(self.progress.shaky) and any(ident in table for ident in self.progress.shaky)

    def _forfeited(self, taken: list[tuple[int, Slot]]) -> list[tuple[int, Slot]]:
        """Writes down without play what an expelled bot has left, and gives the rest."""
        if self.expel is None:
            return taken
        out = {ident for ident, count in self._faulty.items() if count >= self.expel}
        if not out:
            return taken
        self.progress.expelled = tuple(sorted(out))
        rest = []
        lines: list[tuple[bytes, bytes | None]] = []
        for number, slot in taken:
            idents = [self.keys.idents[bot] for bot in slot.seats]
            if out.isdisjoint(idents):
                rest.append((number, slot))
            else:
                line = forfeit(self.keys.key(slot), idents, out, self.keys.seed(slot), self.ledger.host)
                if self.book.add(line):
                    lines.append((line, None))
        if lines:
            self.ledger.append(lines)
            self.on_lines([line for line, _ in lines])
            self.progress.played += len(lines)
        return rest

    # Beside the play.

    async def _sync(self) -> None:
        while True:
            await trio.sleep(SYNC_S)
            await threads.run(self.ledger.sync)

    async def _watch(self, crew: Crew, stop: trio.Event, max_s: float | None) -> None:
        with trio.move_on_after(float("inf") if max_s is None else max_s):
            await stop.wait()
        self._draining = True
        await crew.stop()


class _Seats(Struct):
    k: str
    b: tuple[str, ...] = ()
    f: tuple["_Seat", ...] = ()
    void: bool = False


class _Seat(Struct):
    seat: int
    noise: bool = False


_KEY = msgspec.json.Decoder(_Seats).decode


def forfeit(key: str, idents: Iterable[str], out: set[str], seed: int, host: str) -> bytes:
    """The line of a game that was not played, because some of its bots are out: the others share the first rank."""
    idents = tuple(idents)
    inside = sum(ident not in out for ident in idents)
    ranks = tuple(1 if ident not in out else inside + 1 for ident in idents)
    points = tuple(float(ident not in out) for ident in idents)
    line = Line(key, idents, seed, ranks, points, why="forfeit", at=round(time.time(), 6), by=f"{host}:0", forfeit=True)
    return msgspec.json.encode(line)


Open = Callable[[worker_messages.Contest], AbstractAsyncContextManager[Crew]]


def contest_of(
    plan: Plan, programs: Iterable[worker_messages.Program], records: str, folder: Path
) -> worker_messages.Contest:
    """What lanes are told first."""
    options: dict[str, Any] = dict(plan.options)
    stage = worker_messages.Stage(options, plan.time, plan.limits, plan.encodings)
    return worker_messages.Contest(
        plan.game,
        dict.fromkeys(plan.stages, stage),
        tuple(programs),
        records,
        bots_kept=2 * plan.seats,
        folder=os.path.abspath(folder),
    )
