"""The bots of a run: started when they are needed, kept for the next match when they allow it, ended with the block."""

import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import trio

from harness.bot import Bot
from harness.errors import RunError
from harness.launch import Entrant, environment
from harness.limits import Limits
from harness.sandbox.spawner import Process, Spawner, open_spawner
from harness.sandbox.supervisor import remove

Make = Callable[[Process, Limits], Bot]
"""Makes the bot of a process that was just started: a `Bot`, or one of its kinds."""
Inside = Callable[[Entrant, Limits], Bot | None]


def in_processes(entrant: Entrant, limits: Limits) -> Bot | None:
    """Every bot has a process of its own."""
    return None


class Roster:
    """Gives out started bots. Made by `open_roster`."""

    def __init__(
        self, spawner: Spawner, nursery: trio.Nursery, limits: Limits, scratch: Path, make: Make, inside: Inside
    ) -> None:
        self.limits = limits
        self._make = make
        self._inside = inside
        self._spawner = spawner
        self._nursery = nursery
        self._scratch = scratch
        self._idle: dict[Entrant, list[Bot]] = {}
        self._watches: dict[Bot, trio.CancelScope] = {}
        self._scratches: dict[Bot, Path] = {}

    async def take(self, entrant: Entrant) -> Bot:
        """A bot for one match, still to be greeted. RunError if its program cannot be started."""
        idle = self._idle.get(entrant)
        if idle:
            return idle.pop()
        return self._inside(entrant, self.limits) or await self._start(entrant)

    def keep(self, entrant: Entrant, bot: Bot, sound: bool) -> bool:
        """Keeps a bot for the next match, if it is sound and said that it may be used again; else it is to be ended."""
        kept = sound and bot.fault is None and bot.hello.reuse and bot.quiet()
        if kept:
            self._idle.setdefault(entrant, []).append(bot)
        return kept

    async def end(self, bots: Iterable[Bot]) -> None:
        """Ends bots, side by side, and removes what they left in their scratch folders."""
        bots = list(bots)
        async with trio.open_nursery() as nursery:
            for bot in bots:
                if bot in self._watches:
                    self._watches.pop(bot).cancel()
                nursery.start_soon(bot.end)
        for bot in bots:
            if bot in self._scratches:
                remove(self._scratches.pop(bot))

    async def close(self) -> None:
        """Ends all bots, those at play too."""
        await self.end(list(self._watches))

    async def _start(self, entrant: Entrant) -> Bot:
        try:
            self._scratch.mkdir(mode=0o700, parents=True, exist_ok=True)  # a bot may have removed it
            scratch = Path(tempfile.mkdtemp(dir=self._scratch))
        except OSError as error:
            raise RunError(f"no scratch folder can be made for {entrant.name}: {error}") from error
        try:
            process = await self._spawner.start(entrant.argv, entrant.cwd, environment(scratch))
        except RunError as error:
            raise RunError(f"{entrant.name} cannot be started: {error}") from error
        bot = self._make(process, self.limits)
        self._scratches[bot] = scratch
        self._watches[bot] = scope = trio.CancelScope()
        self._nursery.start_soon(self._watch, bot, scope)
        return bot

    async def _watch(self, bot: Bot, scope: trio.CancelScope) -> None:
        with scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(bot.watch)
                nursery.start_soon(bot.watch_end)
                nursery.start_soon(bot.stderr.follow, bot.process.stderr)


@asynccontextmanager
async def open_roster(limits: Limits, make: Make = Bot, inside: Inside = in_processes) -> AsyncIterator[Roster]:
    """A roster for a run. When the block ends, however it ends, nothing that it started is alive.

    `inside` may make a bot that has no process (`harness.debug`); None = it gets one, and `make` the bot.
    """
    with _scratch_folder() as scratch:
        async with open_spawner(scratch) as spawner, trio.open_nursery() as nursery:
            roster = Roster(spawner, nursery, limits, scratch, make, inside)
            failure: RunError | None = None
            try:
                yield roster
            except RunError as error:
                failure = error  # raised below, outside of the nursery, which would wrap it in a group
            finally:
                with trio.CancelScope(shield=True):
                    await roster.close()
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
