"""The bots of a run: started when needed, kept for the next match if they allow it, ended with the run."""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import trio
from msgspec import Struct

from referee.harness.common.errors import RunError
from referee.harness.common.nurseries import ungrouped
from referee.harness.isolation import plan
from referee.harness.isolation.self_protection import need_descriptors
from referee.harness.isolation.spawner import open_spawner
from referee.harness.process.limits import Limits
from referee.harness.process.pipes import Pipes
from referee.harness.process.stall_clock import stall_clock
from referee.harness.programs import kinds
from referee.harness.programs.entrant import Entrant
from referee.harness.seats.program import Bot
from referee.harness.seats.scratch_folders import scratch_folder
from referee.harness.seats.seat import Seat
from referee.harness.seats.start import MakePipes
from referee.harness.seats.starter import Starter

MakeSeat = Callable[[Entrant, Limits], Seat | None]
"""Makes the seat of an entrant, before its kind is asked; None = its kind makes it."""


def in_processes(entrant: Entrant, limits: Limits) -> Seat | None:
    """Gives every bot a process."""
    return None


class Roster(Struct, eq=False):
    """Provides the seats of matches. Made by `open_roster`."""

    limits: Limits
    _starter: Starter
    _nursery: trio.Nursery
    _make_seat: MakeSeat
    starts: list[float] = []
    """Seconds from the start of a match to the last greeting, for matches that had to start bots. The reader must
    clear it."""
    _idle: dict[Entrant, list[Seat]] = {}
    _expected: tuple[Entrant, ...] = ()

    async def hide(self, files: Iterable[Path] = (), folders: Sequence[Path] = ()) -> None:
        """Hides replays, and folders of replays, from bots that start from now on. Ends waiting bots that see more."""
        if self._starter.hide(files, folders):
            await self.shrink(0)

    async def take(self, entrant: Entrant) -> Seat:
        """Returns a seat for one match. RunError if its program cannot be started."""
        return (await self.take_all([entrant]))[0]

    async def take_all(self, entrants: Sequence[Entrant]) -> list[Seat]:
        """Returns a seat for each, and starts programs side by side. RunError if one cannot be started."""
        seats = {place: waiting.pop() for place, each in enumerate(entrants) if (waiting := self._idle.get(each))}
        failures: dict[int, RunError] = {}

        async def fill(place: int) -> None:
            try:
                seats[place] = await self._new_seat(entrants[place])
            except RunError as error:
                failures[place] = error

        if len(seats) < len(entrants):
            async with trio.open_nursery() as nursery:
                for place in set(range(len(entrants))) - seats.keys():
                    nursery.start_soon(fill, place)
        if failures:
            await self.end(seats.values(), orderly=False)
            raise failures[min(failures)]
        return [seats[place] for place in range(len(entrants))]

    async def _new_seat(self, entrant: Entrant) -> Seat:
        seat = self._make_seat(entrant, self.limits)
        if seat is not None:
            return seat
        kind = kinds.called(entrant.kind)
        if kind.absent:
            raise RunError(f"{entrant.name}: {kind.absent}")
        return await self.start(entrant) if kind.has_process else kind.seat(entrant)

    def expect(self, entrants: Sequence[Entrant]) -> None:
        """Announces the next match: its missing programs are started while those of this match end."""
        self._expected = tuple(entrants)

    async def _prepare(self, entrant: Entrant) -> None:
        try:
            self.keep(entrant, await self.start(entrant))
        except RunError:
            pass  # `take` tries again, and reports it

    def _to_be_started(self) -> list[Entrant]:
        """Returns the expected entrants that no waiting seat can serve, once."""
        expected, self._expected = self._expected, ()
        kept = {entrant: len(idle) for entrant, idle in self._idle.items()}
        missing = []
        for entrant in expected:
            kept[entrant] = kept.get(entrant, 0) - 1
            if kept[entrant] < 0 and kinds.called(entrant.kind).has_process:
                missing.append(entrant)
        return missing

    def keep(self, entrant: Entrant, seat: Seat) -> None:
        """Keeps a seat for its entrant's next match."""
        self._idle[entrant] = [*self._idle.pop(entrant, ()), seat]  # behind those that have waited longer

    async def shrink(self, idle: int) -> None:
        """Ends the seats that have waited longest, until `idle` are left."""
        over = sum(map(len, self._idle.values())) - idle
        if over <= 0:
            return
        ended: list[Seat] = []
        for entrant, waiting in list(self._idle.items()):
            while waiting and len(ended) < over:
                ended.append(waiting.pop(0))
            if not waiting:
                del self._idle[entrant]
        await self.end(ended)

    async def start(self, entrant: Entrant) -> Bot:
        """Starts a program. RunError if that fails; NotIsolated if a required guarantee is missing."""
        bot = await self._starter.start(entrant)
        self._nursery.start_soon(bot.watch)
        return bot

    async def end(self, seats: Iterable[Seat], orderly: bool = True) -> None:
        """Ends seats side by side, and removes their scratch folders."""
        seats = list(seats)
        folders = self._starter.forget(seats)
        try:
            async with trio.open_nursery() as nursery:
                for seat in seats:
                    nursery.start_soon(seat.end, orderly)
                for entrant in self._to_be_started():
                    nursery.start_soon(self._prepare, entrant)
        finally:
            self._starter.clear(folders)

    async def close(self, orderly: bool) -> None:
        """Ends all bots that were started, also those in a match."""
        self._expected = ()
        await self.end(self._starter.started, orderly)


@asynccontextmanager
async def open_roster(
    limits: Limits, make_pipes: MakePipes = Pipes, make_seat: MakeSeat = in_processes
) -> AsyncIterator[Roster]:
    """Opens the roster of a run. When the block ends, in whatever way, nothing that it started is alive."""
    need_descriptors()
    with plan.vacate_cgroup(limits.isolation), scratch_folder() as scratch, ungrouped():
        async with open_spawner(scratch) as spawner, trio.open_nursery() as nursery:
            nursery.start_soon(stall_clock().beat)
            roster = Roster(limits, Starter(limits, spawner, scratch, make_pipes), nursery, make_seat)
            done = False
            try:
                yield roster
                done = True
            finally:
                with trio.CancelScope(shield=True):
                    await roster.close(orderly=done)
                nursery.cancel_scope.cancel()
