"""Plays a hosted contest without end: rated games by the ladder's rules, and practice games.

It runs in a process of its own. Orders come through the tournament's inbox and the contest's database. It can be killed
at any time: what is in the ledger was played, and everything else is decided anew.
"""

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, closing
from functools import partial
from math import inf
from pathlib import Path
from typing import TypeVar

import msgspec
import trio
from msgspec import Struct

from referee.addons.host import finals
from referee.addons.host.failures import FAILURES, Failures
from referee.addons.host.finals import FINALS, Final
from referee.addons.host.orders import Orders, Request, State
from referee.addons.host.practice_games import PracticeGames
from referee.addons.tournament import organise
from referee.addons.tournament.execution.local import open_local
from referee.addons.tournament.execution.runner import DEATHS, WAIT_S, End
from referee.addons.tournament.execution.stop_signals import stop_on_signals
from referee.addons.tournament.execution.tournament_games import (
    Changed,
    RunResults,
    TournamentGames,
    contest_of,
    forfeit,
)
from referee.addons.tournament.execution.worker_messages import Assignment, Contest, PlayedGame
from referee.addons.tournament.execution.worker_pool import WorkerPool
from referee.addons.tournament.inbox import SetAside, Submit, hand_in, settle, settle_if_free
from referee.addons.tournament.plan import IDENT_DIGITS, Entry, Plan, read_plan
from referee.addons.tournament.reports.all_stages import ranked
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.bot_archives import check_travel, program
from referee.addons.tournament.store.ledger import PLAN, Ledger, Line, claimed
from referee.addons.tournament.store.reader import Book
from referee.harness.common import threads
from referee.harness.common.errors import NotIsolated, RunError, UsageError
from referee.harness.common.nurseries import ungrouped
from referee.harness.process import core_locks
from referee.harness.programs.build_process import BuildError
from referee.harness.programs.entrant import Entrant

TOP = 10
"""The number of first bots that play twice as much while somebody watches. They are at most half of all."""
ENOUGH_GAMES = 100
"""When all versions have so many games, further ones come `PACE_S` apart: quick games would fill the disk."""
PACE_S = 0.2
ENTER_S = 0.5
"""How long bots that were built may wait for others. Workers get news of many at once."""
TRIES = 3
"""How often a build is tried that the machine ends, or may have ended."""
AGAIN_S = 5.0
"""How long to wait after such a build."""
T = TypeVar("T")


class PlaySettings(Struct, frozen=True):
    """Where a contest plays."""

    jobs: int | None = None
    """Games at a time on this machine; None = one for every physical core."""
    cores_each: int = 1
    pin: bool = True
    cluster: str | None = None
    """The address of a Dask cluster, which plays instead of this machine."""
    tls: tuple[Path | None, Path | None, Path | None] = (None, None, None)
    """The files of the cluster's authority, and of a certificate and its key."""
    failures: int = FAILURES
    """A version is set aside after so many games with a fault in a row."""

    @property
    def spare_cores(self) -> int:
        """How many physical cores of this machine play no game."""
        cores = len(core_locks.physical())
        return cores if self.cluster else max(0, cores - (self.jobs or cores) * self.cores_each)

    def opened(
        self, contest: Contest, plan: Plan, folder: Path, on_note: Callable[[str], None]
    ) -> AbstractAsyncContextManager[WorkerPool]:
        """Opens the workers."""
        if self.cluster is None:
            return open_local(contest, self.jobs, self.cores_each, self.pin)
        from referee.addons.tournament.execution.dask import Tls, open_cluster

        return open_cluster(contest, self.cluster, plan, folder, Tls(*self.tls), on_note)


class HostResults(RunResults):
    """The results of a hosted contest, and how many of the first bots play more."""

    def __init__(self, games: "HostGames") -> None:
        super().__init__(games.keys, games.book, games.given)
        self._games = games

    def watched(self) -> int:
        """Returns how many of the first bots play twice as much as others."""
        return min(TOP, len(self._games.plan.field.present) // 2) if self._games.state.watched else 0


class HostGames(TournamentGames):
    """The games of a hosted contest."""

    def __init__(
        self,
        plan: Plan,
        ledger: Ledger,
        book: Book,
        orders: Orders,
        builds: bool = True,
        failures: int = FAILURES,
        spare: int = 0,
    ) -> None:
        """`builds`: bots are built on this machine before they play. Otherwise the workers of a cluster do that.

        `spare`: cores that games leave to builds.
        """
        self.state = State()
        self.orders, self.failures, self._builds, self._spare = orders, Failures(failures), builds, spare
        self._ready: dict[str, Entrant] = {}
        """The programs of the bots that can play, by ident."""
        self._entered: set[str] = set()
        """The idents of the bots that workers know."""
        self.practice = PracticeGames(ledger.folder, plan.game)
        self._aside: set[str] = set()
        """The idents of versions that are set aside with the next change of the plan."""
        self._last_given = -inf
        self._reporting = trio.Lock()
        super().__init__(plan, ledger, book)
        self.goes_on = True
        self.changed = lambda plan: (plan, self.contest(plan))
        for game in self.results.in_order():
            if (played := self.results.played(game)) is not None:
                self.failures.count([self.keys.idents[bot] for bot in game.seats], played.kind)
        self.failures.failing.clear()  # a version may have been taken back since: its next game decides

    def _follow(self, plan: Plan) -> None:
        super()._follow(plan)
        self._aside &= self._present
        self.failures.set_aside -= self._present - self._aside
        self.results = HostResults(self)

    def _playing(self) -> Plan:
        """Returns the plan without the bots that are not built yet."""
        plan = super()._playing()
        if not self._builds:
            return plan
        ready = self._ready.keys() & self._entered
        bots = (msgspec.structs.replace(each, absent=each.absent or each.ident not in ready) for each in plan.bots)
        return plan.replaced(bots=tuple(bots))

    def assignments(self) -> Iterator[Assignment | None]:
        self.practice.take_back({game.key for game in self.given()})  # an earlier queue may have had some
        rated = super().assignments()
        while True:
            game = self.practice.next_if_due(sum(1 for _ in self.given()))
            if game is None and self.state.rated and not self._rests():
                game = next(rated, None)
                self._last_given = trio.current_time() if game else self._last_given
            yield game or self.practice.next()

    def _rests(self) -> bool:
        """Whether quick games come too fast."""
        if trio.current_time() > self._last_given + PACE_S:
            return False
        return min((self.failures.games.get(ident, 0) for ident in self._present), default=0) >= ENOUGH_GAMES

    def still_open(self, games: list[Assignment]) -> list[Assignment]:
        """Leaves out rated games that need not be played any more."""
        return [game for game in games if self.practice.is_open(game.key)] or super().still_open(games)

    # Games that were played.

    def take(self, games: Sequence[PlayedGame]) -> None:
        rated = []
        for game in games:
            if not self.practice.is_practice(game.key):
                rated.append(game)
            elif not game.void:
                self.practice.end(game)
        super().take(rated)

    def _count(self, line: Line) -> None:
        super()._count(line)
        self.practice.rated_s(line.ms / 1000)
        if (game := self.book.game(line.k)) is not None:
            self.failures.count(line.b, game.kind)

    def give_up(self, game: Assignment) -> None:
        """A game has killed several workers: nobody gets points for it."""
        why = f"{self.describe(game)} has killed {DEATHS} workers; it is not tried again"
        self.on_note(why)
        if self.practice.is_practice(game.key):
            self.practice.refuse(game.key, f"the game has ended {DEATHS} workers of the referee")
        else:
            line = forfeit(game, set(game.bots), self.ledger.host)
            self.take([PlayedGame(game.key, line)])

    def unbuilt(self, ident: str, why: str, games: list[Assignment]) -> None:
        """No machine of the cluster can start a bot: it is set aside, and the others play on."""
        line = f"no machine of the cluster can start it ({'; '.join(why.splitlines())})"
        self.failures.failing[ident] = f"{line}; it was accepted here, so ask the organiser what they lack"
        for game in games:
            if self.practice.is_practice(game.key):
                self.practice.refuse(game.key, line)

    def describe(self, game: Assignment) -> str:
        return f"the game {game.key}" if self.practice.is_practice(game.key) else super().describe(game)

    # Orders.

    async def play(self, pool: WorkerPool, stop: trio.Event | None = None, max_s: float = inf) -> End:
        """Plays until `stop` is set."""
        async with trio.open_nursery() as nursery:
            if self._builds:
                nursery.start_soon(self._keep_ready, pool)
            nursery.start_soon(self._keep_practising, pool)
            end = await super().play(pool, stop, max_s)
            nursery.cancel_scope.cancel()
        await self._report()
        return end

    async def take_in_changes(self, pool: WorkerPool) -> None:
        self.state = await self._ask(self.orders.look)
        if finals.waiting(self.ledger.folder):
            self._stop.set()
        await self._report()
        await super().take_in_changes(pool)

    async def _ask(self, question: Callable[[], T]) -> T:
        """Returns an answer, in a thread if orders come from a disk."""
        try:
            return await threads.run(question) if self.orders.blocks else question()
        except sqlite3.Error as error:
            raise RunError(f"the contest's database cannot be used: {error}") from error

    async def _report(self) -> None:
        """Tells the database what happened: practice games that ended, versions that are set aside."""
        async with self._reporting:
            for tell in self.practice.reports():
                await self._ask(partial(tell, self.orders))
            while self.failures.failing:
                await self._set_aside(*self.failures.failing.popitem())

    async def _set_aside(self, ident: str, why: str) -> None:
        entry = next((entry for entry in self.plan.bots if entry.ident == ident and not entry.absent), None)
        if entry is None or ident in self._aside:
            return
        self._aside.add(ident)
        self.failures.set_aside.add(ident)
        bots = _versions(self.plan, entry.name, await self._ask(partial(self.orders.accepted, entry.name)))
        other = self.failures.other(entry, bots)
        which = "another version" if other and bots.index(other) > bots.index(entry) else "the version before it"
        follows = f"{which} ({other.ident[:6]}) plays on" if other else "no version plays now"
        self.on_note(f"{entry.name}: version {ident[:6]} is set aside: {why}; {follows}")
        await self._ask(partial(self.orders.set_aside, entry, f"{why}; {follows}", other))
        is_known = other in self.plan.bots
        try:
            hand_in(self.ledger.folder, SetAside(ident, other.ident if other and is_known else ""))
            if other and not is_known:
                hand_in(self.ledger.folder, Submit((other,)))
        except UsageError as error:  # it has left the plan meanwhile
            self.on_note(str(error))

    # Programs.

    async def with_programs(self, changed: Changed, plan: Plan) -> tuple[Plan, Contest]:
        return changed(plan)  # bots are built later, one after another

    def contest(self, plan: Plan) -> Contest:
        """Returns what workers have to know."""
        if not self._builds:
            check_travel(plan.bots)
        self._entered |= self._ready.keys()
        return contest_of(plan, dict(self._ready), "all", self.ledger.folder)

    def bots_for_workers(self, plan: Plan) -> Sequence[Entry]:
        """Returns the bots of the plan, and those of practice games."""
        known = {entry.ident: entry for entry in plan.bots if not entry.absent}
        return [*(known | self.practice.bots()).values()]

    async def _enter(self, pool: WorkerPool) -> None:
        is_new = bool(self._ready.keys() - self._entered)  # also of a practice game that came first
        await pool.enter(self.contest(self.plan), self.bots_for_workers(self.plan))
        if is_new:
            self.begin_anew()

    async def _keep_ready(self, pool: WorkerPool) -> None:
        """Builds bots one after another, the newest first, while others play."""
        while True:
            until = time.monotonic() + ENTER_S
            while (entry := self._next_to_build()) and time.monotonic() < until:
                await self._build(entry)
            if self._ready.keys() - self._entered:
                async with self._changing:
                    await self._enter(pool)
            else:
                await trio.sleep(WAIT_S)

    def _next_to_build(self) -> Entry | None:
        done = self._ready.keys() | self.failures.failing.keys() | self._aside
        waiting = (entry for entry in reversed(self.plan.bots) if not entry.absent and entry.ident not in done)
        return next(waiting, None)

    async def _build(self, entry: Entry) -> None:
        folder, plan = self.ledger.folder, self.plan
        made = partial(program, entry, folder, plan.game, plan.limits)
        for tries in range(1, TRIES + 1):
            try:
                found = await threads.run(lambda: core_locks.done_aside(made, self._spare), abandon=True)
            except NotIsolated:
                raise  # the machine lacks something, and no bot
            except (RunError, UsageError) as error:
                if tries == TRIES or isinstance(error, BuildError | UsageError):
                    self.failures.failing[entry.ident] = f"it cannot be started here: {error}"
                    return
                self.on_note(f"{error}; that may be no fault of the bot, so it is built again")
                await trio.sleep(AGAIN_S)
            else:
                self._ready[entry.ident] = found
                return

    # Practice.

    async def _keep_practising(self, pool: WorkerPool) -> None:
        """Keeps some practice games ready for workers."""
        while True:
            request = None
            if self.state.practice != "off" and self.practice.wants_more:
                request = await self._ask(self.orders.next_practice)
            if request is None:
                await trio.sleep(WAIT_S)
            else:
                await self._make_ready(request, pool)

    async def _make_ready(self, request: Request, pool: WorkerPool) -> None:
        try:
            game = await self._ask(partial(self.practice.prepared, request, self.plan, self.state))
            for entry in {entry.ident: entry for entry in game.bots}.values():
                if self._builds and entry.ident not in self._ready:
                    await self._build(entry)
                    if problem := self.failures.failing.pop(entry.ident, None):
                        raise UsageError(f"{entry.name}: {problem}")
        except UsageError as error:
            why = str(error)
            await self._ask(partial(self.orders.practice_failed, request.id, why))
        else:
            is_new = not self.practice.knows(game)
            self.practice.add(game)
            if is_new:
                async with self._changing:
                    await self._enter(pool)


def _versions(plan: Plan, name: str, accepted: Sequence[Entry]) -> list[Entry]:
    """Returns the versions of a bot, oldest first. The plan lacks those that played no game."""
    planned = {each.hash: each for each in plan.bots if each.name == name}
    new = {each.hash: msgspec.structs.replace(each, ident=each.hash[:IDENT_DIGITS]) for each in accepted}
    return [*(new | planned).values()]


def run(folder: Path, orders: Orders, settings: PlaySettings, on_note: Callable[[str], None]) -> None:
    """Plays the contest in a folder until it is stopped. Raises UsageError for a folder with another tournament."""
    plan = read_plan(folder / PLAN)
    if plan.format != "ladder" or plan.games:
        raise UsageError(f"{folder} holds {plan.formats}; a hosted contest is a ladder without end")
    with claimed(folder):
        signalled = False
        while not signalled:
            if final := finals.waiting(folder):
                signalled = _play_final(folder, final, settings, on_note)
            else:
                signalled = _play_ladder(folder, orders, settings, on_note)
    settle_if_free(folder)


def _play_ladder(folder: Path, orders: Orders, settings: PlaySettings, on_note: Callable[[str], None]) -> bool:
    """Plays until a signal, or until a final waits. Returns whether there was a signal."""
    plan = settle(folder, lambda: reader.read(folder), on_note)
    with closing(Ledger(folder, msgspec.to_builtins(plan))) as ledger:
        builds = settings.cluster is None
        games = HostGames(plan, ledger, reader.read(folder), orders, builds, settings.failures, settings.spare_cores)
        games.on_note = on_note
        orders.begin(games.practice.ended)
        for entry in orders.aside(entry for entry in plan.bots if not entry.absent):  # a kill kept it from the plan
            games.failures.failing[entry.ident] = "it was set aside before the contest was started again"
        _, signalled = trio.run(_run, games, settings, games.contest(plan))
    return signalled


def _play_final(cup: Path, final: Final, settings: PlaySettings, on_note: Callable[[str], None]) -> bool:
    """Plays a final, or what is left of it. Returns whether there was a signal."""
    folder = cup / FINALS / final.name
    on_note(f"the final {final.name} is played; the ladder goes on after it")
    signalled = False
    try:
        with organise.resumed(folder, {}, on_note=on_note) as plan:
            programs: dict[str, Entrant] = {}
            if settings.cluster is None:
                plan, programs = organise.programs(plan, folder, True, on_absent=on_note)
            with closing(Ledger(folder, msgspec.to_builtins(plan))) as ledger:
                games = TournamentGames(plan, ledger, reader.read(folder), ranked=ranked)
                games.on_note = on_note
                end, signalled = trio.run(_run, games, settings, contest_of(plan, programs, "all", cup))
    except NotIsolated:
        raise
    except (RunError, UsageError) as error:
        on_note(f"the final {final.name} ends: {error}")
        finals.end(cup, final, str(error))
    else:
        if end is End.FINISHED:
            finals.end(cup, final)
    return signalled


async def _run(games: TournamentGames, settings: PlaySettings, contest: Contest) -> tuple[End, bool]:
    """Plays until nothing is left, or until a signal. Returns how it ended, and whether there was a signal."""
    signalled, stop, end = trio.Event(), trio.Event(), End.INTERRUPTED

    async def stop_then() -> None:
        await signalled.wait()
        stop.set()

    with ungrouped():
        async with trio.open_nursery() as nursery:
            await nursery.start(stop_on_signals, signalled, nursery.cancel_scope)
            nursery.start_soon(stop_then)
            async with settings.opened(contest, games.plan, games.ledger.folder, games.on_note) as pool:
                end = await games.play(pool, stop)
            nursery.cancel_scope.cancel()
    return end, signalled.is_set()
