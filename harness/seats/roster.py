"""The bots of a run: started when they are needed, kept for the next match when they allow it, ended with the block."""

import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import trio

from referee.harness.errors import NotIsolated, RunError
from referee.harness.isolation import plan
from referee.harness.isolation.hidden_files import Hidden
from referee.harness.isolation.plan import Home, Start
from referee.harness.isolation.self_protection import need_descriptors
from referee.harness.isolation.spawner import Process, Spawner, open_spawner
from referee.harness.isolation.supervisor import remove
from referee.harness.paths import REPLAYS, TOURNAMENTS
from referee.harness.process.limits import Limits, rlimits
from referee.harness.process.pipes import Pipes, Transport
from referee.harness.process.stall_clock import presence
from referee.harness.programs import build_cache
from referee.harness.programs.spec import Entrant, environment, obstacle
from referee.harness.seats.program import Bot
from referee.harness.seats.script import PREFIX, ScriptSeat
from referee.harness.seats.seat import EngineSeat, Seat

Carrier = Callable[[Process, Limits], Transport]
"""Makes what carries the frames of a process that was just started: `Pipes`, or one of their kinds."""
Inside = Callable[[Entrant, Limits], Seat | None]


def in_processes(entrant: Entrant, limits: Limits) -> Seat | None:
    """Every bot has a process of its own."""
    return None


class Roster:
    """Gives out started bots. Made by `open_roster`."""

    def __init__(
        self, spawner: Spawner, nursery: trio.Nursery, limits: Limits, scratch: Path, carrier: Carrier, inside: Inside
    ) -> None:
        self.limits = limits
        self._carrier = carrier
        self._inside = inside
        self._spawner = spawner
        self._nursery = nursery
        self._scratch = scratch
        self.starts: list[float] = []
        """How long it took, in seconds, until the bots of a match had started and greeted; for matches that began with
        a start. Who reads it empties it."""
        self._idle: dict[Entrant, list[Seat]] = {}
        self._expected: tuple[Entrant, ...] = ()
        self._builds: dict[Entrant, tuple[str, ...]] = {}
        self._scratches: dict[Seat, Path] = {}
        self._hidden = Hidden().extended((), (REPLAYS, TOURNAMENTS))

    async def hide(self, files: Iterable[Path] = (), folders: Iterable[Path] = ()) -> None:
        """Hides replays, and folders that hold nothing else, from every bot that starts from now on. Ends the bots that
        wait for a next match if they started when such a folder was not hidden yet."""
        before, self._hidden = self._hidden, self._hidden.extended(files, folders)
        if self._hidden.places != before.places:
            await self.shrink(0)

    async def take(self, entrant: Entrant) -> Seat:
        """A seat for one match, still to be greeted. RunError if its program cannot be started."""
        idle = self._idle.get(entrant)
        if idle:
            return idle.pop()
        if entrant.engine:
            return EngineSeat()
        if entrant.script:
            return ScriptSeat(Path(entrant.argv[0].removeprefix(PREFIX)))
        seat = self._inside(entrant, self.limits)
        if entrant.human and seat is None:
            raise RunError(f"{entrant.name}: nobody is there to ask a person")
        if seat is None and entrant.remote:
            raise RunError(f"{entrant.name}: a web service plays at a seat of `referee --game`, and nowhere else")
        return seat or await self.start(entrant)

    async def take_all(self, entrants: Sequence[Entrant]) -> list[Seat]:
        """A seat for each; what has to be started is started side by side. RunError likewise."""
        seats: dict[int, Seat] = {}
        failures: dict[int, RunError] = {}
        for place, entrant in enumerate(entrants):
            if idle := self._idle.get(entrant):
                seats[place] = idle.pop()

        async def take(place: int) -> None:
            try:
                seats[place] = await self.take(entrants[place])
            except RunError as error:
                failures[place] = error

        if len(seats) < len(entrants):
            async with trio.open_nursery() as nursery:
                for place in range(len(entrants)):
                    if place not in seats:
                        nursery.start_soon(take, place)
        if failures:
            raise failures[min(failures)]
        return [seats[place] for place in range(len(entrants))]

    def expect(self, entrants: Sequence[Entrant]) -> None:
        """Who plays the next match: those that are not kept for it are started while those of this one end."""
        self._expected = tuple(entrants)

    async def _prepare(self, entrant: Entrant) -> None:
        try:
            self.keep(entrant, await self.start(entrant))
        except RunError:
            pass  # it is tried again when it is needed, and told then

    def _to_be_started(self) -> list[Entrant]:
        """Of those that are expected. Asked once."""
        expected, self._expected = self._expected, ()
        kept = {entrant: len(idle) for entrant, idle in self._idle.items()}
        missing = []
        for entrant in expected:
            kept[entrant] = kept.get(entrant, 0) - 1
            if kept[entrant] < 0 and not (entrant.engine or entrant.human or entrant.remote or entrant.script):
                missing.append(entrant)
        return missing

    def keep(self, entrant: Entrant, seat: Seat) -> None:
        """Keeps a seat for the next match of its entrant."""
        self._idle[entrant] = [*self._idle.pop(entrant, ()), seat]  # behind those that have waited longer

    async def shrink(self, idle: int) -> None:
        """Ends seats that wait for a next match, those that have waited longest, until so many are left."""
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

    async def end(self, seats: Iterable[Seat], orderly: bool = True) -> None:
        """Ends seats, side by side, and removes what they left in their scratch folders."""
        seats = list(seats)
        folders = [self._scratches.pop(seat) for seat in seats if seat in self._scratches]
        try:
            async with trio.open_nursery() as nursery:
                for seat in seats:
                    nursery.start_soon(seat.end, orderly)
                for entrant in self._to_be_started():
                    nursery.start_soon(self._prepare, entrant)
        finally:
            self._spawner.end_strays()
            for folder in folders:
                remove(folder)

    async def close(self, orderly: bool) -> None:
        """Ends all that were started, those at play too."""
        self._expected = ()
        await self.end(list(self._scratches), orderly)

    def _builds_of(self, entrant: Entrant) -> tuple[str, ...]:
        """Looked up once a run: it searches folders."""
        if entrant not in self._builds:
            self._builds[entrant] = build_cache.builds_in((*entrant.argv, str(entrant.cwd)))
        return self._builds[entrant]

    async def start(self, entrant: Entrant) -> Bot:
        """A program in a new process. RunError if it cannot be started; NotIsolated if what was required is lacking."""
        try:
            self._scratch.mkdir(mode=0o700, parents=True, exist_ok=True)  # a bot may have removed it
            scratch = Path(tempfile.mkdtemp(dir=self._scratch))
        except OSError as error:
            raise RunError(f"no scratch folder can be made for {entrant.name}: {error}") from error
        env = environment(scratch)
        limits = self.limits
        home = Home(
            argv=entrant.argv,
            cwd=entrant.cwd,
            path=env.get("PATH", ""),
            scratch=scratch,
            whole=self._builds_of(entrant),
            memory_bytes=limits.memory_bytes,
            processes=limits.processes,
            scratch_bytes=limits.scratch_bytes,
            hidden=self._hidden,
        )
        start = Start()
        try:
            start = plan.start(limits.isolation, home)
            folders = start.group.paths() if start.group is not None else ()
            process = await self._spawner.start(
                entrant.argv,
                entrant.cwd,
                env,
                rlimits(limits),
                launcher=start.launcher,
                groups=folders,
            )
        except BaseException as error:
            if start.group is not None:
                start.group.remove()
            if isinstance(error, NotIsolated):
                raise NotIsolated(f"{entrant.name} is not started: {error}") from error
            if isinstance(error, OSError | RunError):
                raise RunError(f"{entrant.name} cannot be started: {error}{obstacle(entrant.argv[0])}") from error
            raise
        process.isolation, process.group, process.scratch = start.kept, start.group, scratch
        bot = Bot(self._carrier(process, self.limits), self.limits)
        self._scratches[bot] = scratch
        self._nursery.start_soon(bot.watch)
        return bot


@asynccontextmanager
async def open_roster(limits: Limits, carrier: Carrier = Pipes, inside: Inside = in_processes) -> AsyncIterator[Roster]:
    """A roster for a run. When the block ends, however it ends, nothing that it started is alive.

    `inside` may make a seat that has no process (`referee.harness.seats.inside`); None = it gets one, and a `carrier`.
    """
    need_descriptors()
    with plan.room(limits.isolation), _scratch_folder() as scratch:
        async with open_spawner(scratch) as spawner, trio.open_nursery() as nursery:
            nursery.start_soon(presence().beat)
            roster = Roster(spawner, nursery, limits, scratch, carrier, inside)
            failure: RunError | None = None
            done = False
            try:
                yield roster
                done = True
            except RunError as error:
                failure = error  # raised below, outside of the nursery, which would wrap it in a group
            finally:
                with trio.CancelScope(shield=True):
                    await roster.close(orderly=done)
                nursery.cancel_scope.cancel()
        if failure is not None:
            raise failure


@contextmanager
def _scratch_folder() -> Iterator[Path]:
    """A folder of our own, removed with whatever bots have made of it."""
    folder = tempfile.mkdtemp(prefix="referee-")
    try:
        yield Path(folder)
    finally:
        remove(folder)
