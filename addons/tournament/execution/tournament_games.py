"""The games that a tournament's plan has left, and the ledger that keeps them.

Everything that is decided here follows from the plan and the ledger: a run can be killed and started again at any time.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from math import inf
from pathlib import Path

import msgspec
import trio
from msgspec import Struct

from referee.addons.tournament.execution.expulsion import Expulsions
from referee.addons.tournament.execution.runner import AHEAD, End, Runner
from referee.addons.tournament.execution.worker_messages import Assignment, Contest, PlayedGame
from referee.addons.tournament.execution.worker_pool import WorkerPool
from referee.addons.tournament.formats.games import ScheduledGame
from referee.addons.tournament.formats.play_off import PLAY_OFF
from referee.addons.tournament.formats.schedules import CHOSEN_LATE
from referee.addons.tournament.inbox import has_changes, settle
from referee.addons.tournament.keys import Keys
from referee.addons.tournament.plan import Entry, Plan, open_rules
from referee.addons.tournament.stages import Ranked, scheduled_games
from referee.addons.tournament.store.ledger import Ledger, Line
from referee.addons.tournament.store.reader import Book, LedgerResults
from referee.harness.common import threads
from referee.harness.common.errors import RunError, UsageError
from referee.harness.common.game_files import BOOK, opened
from referee.harness.common.known_games import find_game
from referee.harness.programs.entrant import Entrant
from referee.protocol.messages import Encoding

SYNC_S = 0.25
FORFEITS = 256
"""The most games without play that are kept until the ledger gets them."""
SHAKY = 8
"""A bot that was at fault in this many games in a row plays its other games last."""
Changed = Callable[[Plan], tuple[Plan, Contest]]
"""Builds the bots of a plan, and says what workers have to know. The plan comes back without bots that fail."""
_decode_line = msgspec.json.Decoder(Line).decode


class Shard(Struct, frozen=True):
    """The part of a tournament that a run plays, as whole seed groups. Numbers start at 1."""

    number: int = 1
    of: int = 1

    def has(self, game: ScheduledGame) -> bool:
        return (game.seed_group + sum(game.seats)) % self.of == self.number - 1


class RunResults(LedgerResults):
    """The results of a run, and the games that its workers have."""

    def __init__(self, keys: Keys, book: Book, given: Callable[[], Iterable[Assignment]]) -> None:
        super().__init__(keys, book)
        self._given = given

    def begun(self, stage: str) -> Iterator[ScheduledGame]:
        """Yields the games of a stage that were played, or that a worker has."""
        yield from super().begun(stage)
        for each in self._given():
            given = self.scheduled(each.key)
            if given is not None and given.stage == stage and self.get(given) is None:
                yield given


class TournamentGames(Runner):
    """The games of one run of a tournament."""

    def __init__(
        self,
        plan: Plan,
        ledger: Ledger,
        book: Book,
        shard: Shard | None = None,
        max_cost: float | None = None,
        ranked: Ranked | None = None,
    ) -> None:
        """`max_cost`: the dollars that language models may cost in all, games of earlier runs included.

        `ranked` says who goes on to the next stage of a plan with `stages`.
        """
        super().__init__()
        self.ahead = plan.seats if plan.format in CHOSEN_LATE else AHEAD
        self.cost, self.max_cost = book.cost, inf if max_cost is None else max_cost
        self.one_by_one = max_cost is not None
        self._stop = trio.Event()
        self.ledger, self.book, self.ranked = ledger, book, ranked
        self.shard = shard or Shard()
        self.changed: Changed | None = None
        """Builds the bots of a changed plan. None = the plan does not change."""
        self._changing = trio.Lock()
        self._faults_in_a_row: dict[str, int] = {}
        self._forfeits: list[bytes] = []
        """Lines of games without play that are not in the ledger yet."""
        self._follow(plan)
        self.started, self.before = time.monotonic(), book.count
        """The start of this run, and the number of games of earlier runs."""
        self.faulty = self.noisy = 0
        """Games with a fault, and with one that machine load may have caused."""
        self.voids = 0
        """How often a game was played again for that reason."""
        self.shaky: tuple[str, ...] = ()
        self.on_lines: Callable[[list[bytes]], None] = lambda lines: None
        """Called with the new ledger lines."""
        self.on_note: Callable[[str], None] = lambda text: None
        """Called with a line of text when the order of play changes."""

    def _follow(self, plan: Plan) -> None:
        self.openings = None
        if plan.openings is not None:
            self.openings = opened(
                find_game(plan.game), plan.openings, plan.seed, plan.options, self.ledger.folder / BOOK
            )
        self.plan = plan
        self.keys = Keys(plan)
        self.results = RunResults(self.keys, self.book, self.given)
        self._faults_in_a_row = dict.fromkeys(self.keys.idents, 0) | self._faults_in_a_row
        self._places = {ident: place for place, ident in enumerate(self.keys.idents)}
        self._gone = {entry.ident for entry in plan.bots if entry.walkover}
        """Bots whose opponents have walk-overs: a game that is still being played changes nothing."""
        self._has_walkovers = bool(self._gone or plan.play_off or plan.format == "swiss")
        self._present = {entry.ident for entry in plan.bots if not entry.absent}
        self._expulsions = Expulsions(plan.expel, len(plan.bots), self.results.played) if plan.expel else None
        if self._expulsions and plan.format in CHOSEN_LATE:
            for game in self.results.in_order():
                self._count_chosen(game)

    async def take_in_changes(self, pool: WorkerPool) -> None:
        """Applies what is in the inbox. Games go on while new bots are built, except in a Swiss.

        There, games that are played meanwhile may be of a round that is paired anew.
        """
        folder = self.ledger.folder
        async with self._changing:
            if self.changed is None or not has_changes(folder, self.plan):
                return
            async with self.resting() if self.plan.format == "swiss" else nullcontext():
                await self._take_in(pool, folder, self.changed)

    async def _take_in(self, pool: WorkerPool, folder: Path, changed: Changed) -> None:
        new = settle(folder, lambda: self.book, self.on_note)
        try:
            plan, contest = await self.with_programs(changed, new)
        except (RunError, UsageError) as error:
            self.on_note(f"the tournament goes on without its last change: {error}")
            return
        await pool.enter(contest, self.bots_for_workers(plan))
        self._follow(plan)
        self.begin_anew()

    async def with_programs(self, changed: Changed, plan: Plan) -> tuple[Plan, Contest]:
        """Builds the bots of a changed plan while others play."""
        return await threads.run(lambda: changed(plan))

    def bots_for_workers(self, plan: Plan) -> Sequence[Entry]:
        """Returns the bots that workers have to know."""
        return plan.bots

    async def play(self, pool: WorkerPool, stop: trio.Event | None = None, max_s: float = inf) -> End:
        """Plays the games and syncs the ledger to disk meanwhile."""
        self._stop = self._stop if stop is None else stop
        self._stop_if_costly()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._sync)
            end = await super().play(pool, self._stop, max_s)
            nursery.cancel_scope.cancel()
        return End.COSTLY if end is End.INTERRUPTED and self.is_costly else end

    @property
    def is_costly(self) -> bool:
        """Whether the language models have cost as much as they may."""
        return self.cost >= self.max_cost

    def _stop_if_costly(self) -> None:
        """Stops the run. Games that are being played end first."""
        if self.is_costly:
            self._draining = True
            self._stop.set()

    async def _sync(self) -> None:
        while True:
            await trio.sleep(SYNC_S)
            await threads.run(self.ledger.sync)

    def assignments(self) -> Iterator[Assignment | None]:
        for game in scheduled_games(self._playing(), self.results, self.ranked):
            if game is None:
                self._write_forfeits()
                yield None
            elif self.shard.has(game):
                if self._expulsions and self.plan.format not in CHOSEN_LATE:
                    self._expulsions.schedule(game)
                    self._forfeit_lost(game.seats)
                if self.results.get(game) is None:
                    self._write_forfeits()
                    yield self._assignment(game)
        self._write_forfeits()

    def _playing(self) -> Plan:
        """Returns the plan of what is left. A ladder chooses no games of expelled bots."""
        expelled = self.expelled if self.plan.format in CHOSEN_LATE else ()
        if not expelled:
            return self.plan
        bots = self.plan.bots
        return self.plan.replaced(
            bots=tuple(msgspec.structs.replace(each, absent=each.absent or each.ident in expelled) for each in bots)
        )

    def _count_chosen(self, game: ScheduledGame) -> bool:
        """Counts the faults of a game whose schedule is the order in which games end. Returns whether a bot is out."""
        if self._expulsions is None:
            return False
        before = len(self._expulsions.expelled)
        self._expulsions.schedule(game)
        for _ in self._expulsions.lost(game.seats):
            pass  # it was begun before the bot was expelled, and counts
        return len(self._expulsions.expelled) > before

    def _assignment(self, game: ScheduledGame) -> Assignment:
        bots = tuple(self.keys.idents[bot] for bot in game.seats)
        case, judged = None, -1
        if self.plan.format == "judged":
            guest = next(seat for seat, bot in enumerate(game.seats) if self.plan.bots[bot].guest)
            case, judged = self.plan.bots[game.seats[guest]].bot.removeprefix("@"), 1 - guest
        options = None
        if self.openings is not None:
            options = {**self.plan.options, **self.openings.options(game.seed_group)}
        key, seed, map = self.keys.key(game), self.keys.seed(game), self.keys.map(game)
        return Assignment(key, bots, seed, map, case, judged, options=options)

    def take(self, games: Sequence[PlayedGame]) -> None:
        new, bots, chosen = [], set[int](), list[Line]()
        for game in games:
            if self._has_walkovers and self._is_too_late(_decode_line(game.line)):
                continue
            if self.book.add(game.line):
                line = _decode_line(game.line)
                self._count(line)
                if self.plan.format in CHOSEN_LATE:
                    chosen.append(line)
                bots.update(self._places[ident] for ident in line.b if ident in self._places)
            elif game.void:
                self.voids += 1
            else:
                continue
            new.append((game.line, game.replay))
        self._write(new)
        if not chosen:
            self._forfeit_lost(bots)
            self._write_forfeits()
        elif any([self._count_chosen(ended) for line in chosen if (ended := self.results.scheduled(line.k))]):
            self.begin_anew()

    def _is_too_late(self, line: Line) -> bool:
        """Whether a game was begun before one of its bots became absent and lost it without play."""
        conditions = self.keys.conditions
        stages = [""] if self.plan.format == "swiss" else []
        stages += [PLAY_OFF] if PLAY_OFF in conditions else []
        if line.k.partition("/")[0] in [conditions[stage] for stage in stages]:
            return not self._present.issuperset(line.b)
        return not self._gone.isdisjoint(line.b)

    def _write(self, new: list[tuple[bytes, bytes | None]]) -> None:
        if new:
            self.ledger.append(new)
            self.on_lines([line for line, _ in new])

    def _count(self, line: Line) -> None:
        if line.u:
            self.cost += sum(use.cost or 0.0 for use in line.u if use is not None)
            self._stop_if_costly()
        self.faulty += bool(line.f)
        self.noisy += any(fault.noise for fault in line.f)
        at_fault = {line.b[fault.seat] for fault in line.f}
        counts = self._faults_in_a_row
        for ident in counts.keys() & set(line.b):
            counts[ident] = counts[ident] + 1 if ident in at_fault else 0
        if at_fault:
            self.shaky = tuple(ident for ident, count in counts.items() if count >= SHAKY)
            for ident in at_fault:
                self._note_shaky(ident)

    def describe(self, game: Assignment) -> str:
        names = {entry.ident: entry.name for entry in self.plan.bots}
        return f"the game {game.key} ({', '.join(names[ident] for ident in game.bots)})"

    # Bots that fail again and again.

    def _note_shaky(self, ident: str) -> None:
        """Says so once per row of faults, unless the bot plays in all games or is about to be expelled."""
        expelled = self.plan.expel is not None and self.plan.expel <= SHAKY
        counts = self._faults_in_a_row
        if counts.get(ident) == SHAKY and not expelled and len(counts) > self.plan.seats:
            name = self.plan.bots[self.keys.idents.index(ident)].name
            self.on_note(f"{name} was at fault in {SHAKY} games in a row: its other games come last")

    def is_deferred(self, line_up: str) -> bool:
        return any(ident in line_up for ident in self.shaky)

    def still_open(self, games: list[Assignment]) -> list[Assignment]:
        """Leaves out games that have been played or lost meanwhile, and those of bots that are absent now."""
        return [game for game in games if self._present.issuperset(game.bots) and self.book.game(game.key) is None]

    # Bots that are expelled.

    @property
    def expelled(self) -> tuple[str, ...]:
        """The idents of the bots that lose their other games without play."""
        return () if self._expulsions is None else tuple(self.keys.idents[bot] for bot in self._expulsions.expelled)

    def _forfeit_lost(self, bots: Iterable[int]) -> None:
        """Decides the games that these bots and their rivals now lose without play."""
        if self._expulsions is None:
            return
        for game, out in self._expulsions.lost(bots):
            played = self.results.played(game)
            if played is None or not played.kind.forfeit:
                line = forfeit(self._assignment(game), {self.keys.idents[bot] for bot in out}, self.ledger.host)
                self.book.add(line)
                self._forfeits.append(line)
                if len(self._forfeits) >= FORFEITS:
                    self._write_forfeits()

    def _write_forfeits(self) -> None:
        lines, self._forfeits = self._forfeits, []
        self._write([(line, None) for line in lines])


def forfeit(game: Assignment, expelled: set[str], host: str) -> bytes:
    """Returns the ledger line of a game that was not played: all bots that are not expelled share the first rank."""
    present = [ident not in expelled for ident in game.bots]
    ranks = tuple(1 if bot_plays else sum(present) + 1 for bot_plays in present)
    points = tuple(map(float, present))
    at, by = round(time.time(), 6), f"{host}:0"
    return msgspec.json.encode(
        Line(game.key, game.bots, game.seed, ranks, points, why="forfeit", at=at, by=by, forfeit=True)
    )


def check_prices(bots: dict[str, Entrant], max_cost: float | None) -> None:
    """Raises UsageError if `--max-cost` is given and a model's price is not known."""
    unknown = [bot.name for bot in bots.values() if getattr(bot.settings, "price", 0) is None]
    if max_cost is not None and unknown:
        raise UsageError(f"--max-cost {max_cost:g} needs the price of {', '.join(unknown)}: llm:--price IN/OUT …")


def contest_of(plan: Plan, bots: dict[str, Entrant], records: str, folder: Path, transcripts: bool = False) -> Contest:
    """Returns the first message to the workers of a tournament. They use the copy of the rules in its folder."""
    open_rules(plan, folder, over_typed=True)
    return Contest(
        plan.game,
        dict(plan.options),
        plan.time,
        plan.limits,
        tuple(map(Encoding, plan.encodings)),
        bots,
        records,
        transcripts,
        bots_kept=2 * plan.seats,
        folder=folder.absolute(),
        rules=plan.rules,
    )
