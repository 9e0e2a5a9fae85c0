"""The bots of a run: started when needed, kept for the next match if they allow it, ended with the run."""

import os
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path

import trio
from msgspec import Struct, field

from referee.harness.common.errors import NotIsolated, RunError
from referee.harness.common.nurseries import ungrouped
from referee.harness.common.paths import REPLAYS, TOURNAMENTS
from referee.harness.isolation import plan
from referee.harness.isolation.hidden_files import HiddenFiles
from referee.harness.isolation.layers.namespaces import BASE
from referee.harness.isolation.plan import SandboxPlan, SandboxSpec
from referee.harness.isolation.removal import remove
from referee.harness.isolation.self_protection import need_descriptors
from referee.harness.isolation.spawner import Spawner, open_spawner
from referee.harness.process.limits import Limits, rlimits
from referee.harness.process.pipes import Pipes
from referee.harness.process.stall_clock import stall_clock
from referee.harness.programs import build_cache, kinds
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.process_start import (
    SETTINGS,
    environment,
    scratch_variables,
)
from referee.harness.programs.start_problem import start_hint
from referee.harness.seats.program import Bot
from referee.harness.seats.scratch_folders import ScratchFolders
from referee.harness.seats.seat import Seat
from referee.harness.seats.start import MakePipes, Start

MakeSeat = Callable[[Entrant, Limits], Seat | None]
"""Makes the seat of an entrant, before its kind is asked; None = its kind makes it."""


def in_processes(entrant: Entrant, limits: Limits) -> Seat | None:
    """Gives every bot a process."""
    return None


class Roster(Struct, eq=False):
    """Provides the seats of matches. Made by `open_roster`."""

    limits: Limits
    _spawner: Spawner
    _nursery: trio.Nursery
    _folders: ScratchFolders
    _rlimits: Mapping[str, int]
    _make_pipes: MakePipes
    _make_seat: MakeSeat
    starts: list[float] = []
    """Seconds from the start of a match to the last greeting, for matches that had to start bots. The reader must
    clear it."""
    _idle: dict[Entrant, list[Seat]] = {}
    _expected: tuple[Entrant, ...] = ()
    _shown: dict[Entrant, tuple[str, ...]] = {}
    _plans: dict[Entrant, SandboxPlan] = {}
    _hidden_by_plans: tuple[HiddenFiles, tuple[str, ...]] | None = None
    _environment: dict[str, str] = field(default_factory=environment)
    _scratches: dict[Seat, Path | None] = {}
    """All bots, and the scratch folders that go with them."""
    _not_hidden_yet: list[str] = []
    """Replays in folders that are hidden already. The next start hides them: a series has one for every match."""
    _hidden: HiddenFiles = field(default_factory=lambda: HiddenFiles().extended((), (REPLAYS, TOURNAMENTS)))

    async def hide(self, files: Iterable[Path] = (), folders: Sequence[Path] = ()) -> None:
        """Hides replays, and folders of replays, from bots that start from now on. Ends waiting bots that see more."""
        elsewhere: list[str] = []
        for file in map(os.path.abspath, files):
            known = os.path.dirname(file) in self._hidden.places and not os.path.islink(file)
            (self._not_hidden_yet if known else elsewhere).append(file)
        if elsewhere or folders:
            before, self._hidden = self._hidden, self._hidden.extended(elsewhere, folders)
            if self._hidden.places != before.places:
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

    async def end(self, seats: Iterable[Seat], orderly: bool = True) -> None:
        """Ends seats side by side, and removes their scratch folders."""
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
            for folder in filter(None, folders):
                self._folders.give_back(folder)

    async def close(self, orderly: bool) -> None:
        """Ends all bots that were started, also those in a match."""
        self._expected = ()
        await self.end(list(self._scratches), orderly)
        self._spawner.remove_groups()

    async def start(self, entrant: Entrant) -> Bot:
        """Starts a program. RunError if that fails; NotIsolated if a required guarantee is missing."""
        how = _start_of(entrant)
        sandboxes = self._plan(entrant)
        shared = sandboxes.scratch if plan.shares_scratch(sandboxes.layers) else None
        try:
            scratch = shared or self._folders.take()
        except OSError as error:
            raise RunError(f"no scratch folder can be made for {entrant.name}: {error}") from error
        env = (self._environment if entrant.image is None else SETTINGS) | dict(entrant.variables)
        env |= scratch_variables(scratch)
        try:
            sandbox = sandboxes.make(scratch, self._spawner.kept_group)
            argv = how.command(entrant.argv, self.limits.memory_bytes)
            make = partial(how.process, limits=how.limits(self.limits), scratch=scratch)
            process = await self._spawner.start(argv, entrant.cwd, env, make, self._rlimits, sandbox)
        except BaseException as error:
            if not shared:
                self._folders.give_back(scratch)
            if isinstance(error, (OSError, RunError)):
                raise _not_started(entrant, error) from error
            raise
        bot = how.seat(process, self._make_pipes, self.limits, entrant)
        self._scratches[bot] = None if shared else scratch
        self._nursery.start_soon(bot.watch)
        return bot

    def _plan(self, entrant: Entrant) -> SandboxPlan:
        """Returns the plan for the sandboxes of a program. It is made again only if it may show or hide other files."""
        if self._not_hidden_yet:
            self._hidden, self._not_hidden_yet = self._hidden.extended(self._not_hidden_yet, ()), []
        hidden = self._hidden, self._hidden.existing_places()
        if hidden != self._hidden_by_plans:
            self._hidden_by_plans = hidden
            self._plans.clear()
        if (made := self._plans.get(entrant)) is None:
            try:
                made = self._new_plan(entrant)
                if plan.shares_scratch(made.layers):
                    self._folders.make_shared()
            except NotIsolated as error:
                raise NotIsolated(f"{entrant.name} is not started: {error}") from error
            except (OSError, RunError) as error:
                raise _not_started(entrant, error) from error
            if not made.lists_entries:
                self._plans[entrant] = made
        return made

    def _new_plan(self, entrant: Entrant) -> SandboxPlan:
        how = _start_of(entrant)
        limits = how.limits(self.limits)
        if entrant not in self._shown:  # looked up once, because it searches folders
            self._shown[entrant] = () if entrant.image is not None else _shown(entrant)
        spec = SandboxSpec(
            named=how.command(entrant.named_words, self.limits.memory_bytes),
            cwd=entrant.cwd,
            path=self._environment.get("PATH", ""),
            scratch=self._folders.shared if entrant.image is None else Path(BASE),
            whole=(*self._shown[entrant], *how.folders()),
            memory_bytes=limits.memory_bytes,
            processes=limits.processes,
            scratch_bytes=limits.scratch_bytes,
            hidden=self._hidden,
            submitted=None if entrant.named is None else entrant.argv,
            image=entrant.image,
        )
        return plan.plan_sandbox(limits.isolation, spec)


def _shown(entrant: Entrant) -> tuple[str, ...]:
    """Returns what an entrant may read besides its own folder: the builds that its command names, and its kind's."""
    words = entrant.named_words
    return (*build_cache.builds_in((*words, str(entrant.cwd))), *kinds.shown(words))


def _start_of(entrant: Entrant) -> Start:
    return kinds.called(entrant.kind).start() or Start()


def _not_started(entrant: Entrant, error: Exception) -> RunError:
    hint = start_hint(entrant.argv[0]) if entrant.image is None else ""
    return RunError(f"{entrant.name} cannot be started: {error}{hint}")


@asynccontextmanager
async def open_roster(
    limits: Limits, make_pipes: MakePipes = Pipes, make_seat: MakeSeat = in_processes
) -> AsyncIterator[Roster]:
    """Opens the roster of a run. When the block ends, in whatever way, nothing that it started is alive."""
    need_descriptors()
    with plan.vacate_cgroup(limits.isolation), _scratch_folder() as scratch, ungrouped():
        async with open_spawner(scratch) as spawner, trio.open_nursery() as nursery:
            nursery.start_soon(stall_clock().beat)
            folders = ScratchFolders(scratch)
            roster = Roster(limits, spawner, nursery, folders, rlimits(limits), make_pipes, make_seat)
            done = False
            try:
                yield roster
                done = True
            finally:
                with trio.CancelScope(shield=True):
                    await roster.close(orderly=done)
                nursery.cancel_scope.cancel()


@contextmanager
def _scratch_folder() -> Iterator[Path]:
    """Makes a temporary folder, and removes it with everything that bots have put there."""
    try:
        folder = tempfile.mkdtemp(prefix="referee-")
    except OSError as error:
        raise RunError(f"no temporary folder can be made: {error.strerror or error}; set TMPDIR to one") from error
    try:
        yield Path(folder)
    finally:
        remove(folder)
