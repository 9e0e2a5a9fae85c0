"""The table of a ladder: a pure function of a commit, equal byte for byte on every machine.

Nothing here depends on a clock, a locale or the number of cores. Ratings are shown as whole Elo, far above what the
last digits of two machines could differ by.
"""

import math
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from referee.addons.ladder.chain import Result, Stage
from referee.addons.ladder.draw import BotVersion, DrawnGame
from referee.addons.ladder.reading import Ladder, Strike
from referee.addons.ladder.records import StageKind, batch_lines, read_game, same_owner, told
from referee.addons.ladder.rows import CROSS, FORMAT, Row, RunnerRow, Table, Wait, encoded
from referee.addons.ladder.waiting import wait_of
from referee.addons.tournament.arrays import load_numpy
from referee.addons.tournament.statistics.tally import Game, Tally
from referee.harness.common.installed import version
from referee.harness.common.paths import cache_folder, read_limited, replace_file

if TYPE_CHECKING:
    from referee.addons.tournament.statistics.rating import Rating

MOST_TABLE_BYTES = 256 << 20
ZERO, FIRST = b"01"
Said = dict[str, tuple[bytes, ...]]
"""The lines of all games of a claim, by the owner who has played them."""


def table_of(ladder: Ladder, use_cache: bool = True) -> Table:
    """Returns the table of a commit, from the cache if this version has computed it before."""
    path = _cached(ladder.commit)
    if use_cache and (known := cached_table(ladder.commit)) is not None:
        return known
    load_numpy()
    table = _Counting(ladder).table()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, encoded(table))
    except OSError:
        pass  # the next one computes it again
    return table


def cached_table(commit: str) -> Table | None:
    """Returns the table of a commit that this version has computed before; None if there is none."""
    try:
        return msgspec.json.decode(read_limited(_cached(commit), MOST_TABLE_BYTES), type=Table)
    except (OSError, msgspec.MsgspecError):
        return None


def _cached(commit: str) -> Path:
    return cache_folder() / "ladder" / "tables" / f"{commit}-{version()}-{FORMAT}.json"


class _Counting:
    """Counts all games of a ladder."""

    def __init__(self, ladder: Ladder) -> None:
        self.ladder, self.chain = ladder, ladder.chain
        self.current = {(bot.name, bot.version): place for place, bot in enumerate(ladder.bots)}
        self.modules = [bot.is_module for bot in ladder.bots]
        self.counts = [[0] * 6 for _ in ladder.bots]
        """By bot: proved, witnessed, wins, draws, losses, faults."""
        self.groups: dict[tuple[tuple[tuple[int, ...], bytes], ...], array[int]] = {}
        """By the seats and ranks of the games of a seed group, the contents of those games."""
        self.played = Counter[tuple[tuple[int, ...], bytes]]()
        """By the seats and ranks of a game, how often it ended so."""
        self.cross: dict[tuple[int, int], list[int]] = {}
        self.runners: dict[str, Counter[str]] = {name: Counter() for name in ladder.runners}
        self.games = self.waiting = self.disputed = 0
        self.waits: list[Wait] = []

    def table(self) -> Table:
        ladder, chain = self.ladder, self.chain
        ladder.fields.load({claim.bots for claim in chain.claims.values()})
        order = sorted(chain.claims, key=lambda hash: (chain.merged[hash], hash))
        results = {hash: [*chain.results.get(hash, {}).values()] for hash in order}
        contents = ladder.repository.read(each.blob for hash in order for each in results[hash])
        for hash in order:
            stages = chain.stages(hash, chain.now)
            said = {each.head.owner: batch_lines(next(contents)) for each in results[hash]}
            self._count_claim(hash, stages, said, results[hash])
        for (seats, ranks), games in self.played.items():
            self._count_games(seats, ranks, games)
        rows = self._rows(self._ratings())
        return Table(
            FORMAT,
            ladder.settings.title or f"{ladder.game.title} ladder",
            ladder.game.title,
            ladder.commit,
            chain.now,
            tuple(rows),
            tuple(self._runner_rows()),
            self.games,
            self.waiting,
            self.disputed,
            tuple(self.waits),
            self._cross(),
            tuple(self._notes()),
        )

    # Claims.

    def _count_claim(self, hash: str, stages: Sequence[Stage], said: Said, results: Sequence[Result]) -> None:
        chain, claim = self.chain, self.chain.claims[hash]
        for each in results:
            self.runners.setdefault(each.head.runner, Counter())["games"] += len(said[each.head.owner])
        if stages and stages[-1].end is None:
            self.waits.append(wait_of(self.ladder, hash, stages[-1]))
        players = {
            owner for stage in stages if stage.kind in (StageKind.PLAY, StageKind.OPEN) for owner in stage.owners
        }
        if not stages[0].signatures:
            self.waiting += claim.games
            return
        bots, games = self.ladder.games_by(hash, claim, stages[0].signatures[0])
        honest = {
            owner: lines
            for owner, lines in said.items()
            if owner in players and len(lines) == claim.games and not chain.is_struck(owner, chain.now)
        }
        courses = {each.head.courses for each in results if each.head.owner in honest}
        self._compare(honest, {each.head.owner: each.head.runner for each in results}, len(courses) == 1)
        witnesses = self.ladder.rules_of(claim.rules).witnesses if self.ladder.is_sealed(claim) else 1
        samples = [
            (stage, said[owner])
            for stage in stages
            if stage.kind is StageKind.SAMPLE
            for owner in stage.owners
            if owner in said
        ]
        if len(courses) == 1 and len(honest) >= witnesses and not samples:  # as nearly always: all say the same of all
            self._count(bots, games, honest[min(honest)])
        else:
            self._count(bots, games, [*self._agreed(hash, honest, samples, witnesses)])

    def _compare(self, honest: Said, runners: dict[str, str], are_alike: bool) -> None:
        if len(honest) > 1:
            for owner, lines in honest.items():
                others = [each for other, each in honest.items() if other != owner]
                own = self.runners[runners[owner]]
                own["shared"] += len(lines)
                if are_alike:
                    own["agree"] += len(lines)
                else:
                    own["agree"] += sum(
                        all(told(each[at]) == told(line) for each in others) for at, line in enumerate(lines)
                    )

    def _agreed(
        self, hash: str, honest: Said, samples: Sequence[tuple[Stage, tuple[bytes, ...]]], witnesses: int
    ) -> Iterator[bytes | None]:
        """Yields the line of each game that counts; None if it does not, or not yet.

        If not enough owners tell the same, a game counts by its ranks. Otherwise a program would answer at random where
        it loses, so that nobody could see such a game twice.
        """
        disputed = {
            place
            for stage, lines in samples
            for place, line in zip(self.ladder.places(hash, stage), lines, strict=False)
            if any(told(each[place]) != told(line) for each in honest.values())
        }
        for place in range(self.chain.claims[hash].games):
            said = Counter(told(lines[place]) for lines in honest.values())
            best = _most_said(said, witnesses)
            if not best and (ranks := _most_said(Counter(line.split(b" ")[0] for line in said.elements()), witnesses)):
                best = min(line for line in said if line.startswith(ranks))
            if place in disputed or (witnesses == 1 and len(said) > 1):
                self.disputed += 1
                yield None
            elif not best:
                self.disputed += len(said) > 1
                self.waiting += len(said) <= 1
                yield None
            else:
                yield next(honest[owner][place] for owner in sorted(honest) if told(honest[owner][place]) == best)

    # Games.

    def _count(self, bots: tuple[BotVersion, ...], games: Sequence[DrawnGame], lines: Sequence[bytes | None]) -> None:
        places = [self.current.get((bot.name, bot.version), -1) for bot in bots]
        group: list[tuple[tuple[int, ...], bytes]] = []
        contents: list[int] = []
        last = len(games) - 1
        for place, (game, line) in enumerate(zip(games, lines, strict=True)):
            if line is not None:
                seats = tuple([places[bot] for bot in game.bots])
                self.games += 1
                if min(seats) >= 0:
                    ranks, _, course, costs = line.split(b" ", 3)
                    self.played[seats, ranks] += 1
                    if b" " in costs:
                        for fault in read_game(line, "a game").faults:
                            self.counts[seats[fault.seat]][5] += 1
                    group.append((seats, ranks))
                    contents.append(int(course[:16], 16))
            if group and (place == last or games[place + 1].group != game.group):
                self.groups.setdefault(tuple(group), array("Q")).extend(contents)
                group, contents = [], []

    def _count_games(self, seats: tuple[int, ...], ranks: bytes, games: int) -> None:
        """Counts games that ended alike."""
        shared = ranks.count(b"1") > 1
        kind = 0 if all(self.modules[bot] for bot in seats) else 1
        for seat, bot in enumerate(seats):
            counts = self.counts[bot]
            counts[kind] += games
            counts[2 + (2 if ranks[seat] > FIRST else 1 if shared else 0)] += games
        if len(self.counts) <= CROSS:
            for seat, bot in enumerate(seats):
                for other, rival in enumerate(seats):
                    if other != seat:
                        cell = self.cross.setdefault((bot, rival), [0, 0])
                        cell[0] += games * (2 if ranks[seat] < ranks[other] else ranks[seat] == ranks[other])
                        cell[1] += games

    def _ratings(self) -> "tuple[Rating, ...]":
        from referee.addons.tournament.statistics.rating import rate

        bots = len(self.ladder.bots)
        tally = Tally(bots)
        for key in sorted(self.groups):
            contents = self.groups.pop(key)
            games = [Game(seats, tuple([digit - ZERO for digit in ranks])) for seats, ranks in key]
            size = len(key)
            tally.add(games, [tuple(contents[at : at + size]) for at in range(0, len(contents), size)])
        return rate(bots, tally.weights(), draws=0)

    def _rows(self, ratings: "Sequence[Rating]") -> Iterator[Row]:
        rows = []
        for bot, counts, rating in zip(self.ladder.bots, self.counts, ratings, strict=True):
            games, kind = counts[0] + counts[1], "module" if bot.is_module else "native"
            ends = rating.elo.value, rating.elo.low, rating.elo.high
            elo, low, high = (_whole(each) if games else None for each in ends)
            note = rating.note if games else "no games yet"
            results = counts[0], counts[1], counts[2], counts[3], counts[4], counts[5]
            rows.append(Row(0, bot.name, bot.version, kind, elo, low, high, games, *results, note))
        rows.sort(key=lambda row: (row.elo is None, -(row.elo or 0), row.name))
        ranks = dict[int | None, int]()
        for number, row in enumerate(rows, 1):
            yield msgspec.structs.replace(row, rank=ranks.setdefault(row.elo, number))

    def _cross(self) -> dict[str, dict[str, tuple[int, int]]]:
        names = [bot.name for bot in self.ladder.bots]
        cells: dict[str, dict[str, tuple[int, int]]] = {}
        for (bot, rival), (points, games) in sorted(self.cross.items()):
            cells.setdefault(names[bot], {})[names[rival]] = (points, games)
        return cells

    def _runner_rows(self) -> Iterator[RunnerRow]:
        chain = self.chain
        missed = Counter(
            chain.seals[hash][owner].seal.runner
            for hash, seals in chain.seals.items()
            for owner in (seals if hash in chain.claims else ())
            for stage in chain.missed(hash, owner, chain.now)
            if stage.kind is StageKind.OPEN
        )
        for name, runner in sorted(self.ladder.runners.items()):
            own, owner = chain.of_runner.get(name, []), same_owner(runner.owner)
            lapsed = sum(
                stage.kind is not StageKind.OPEN for hash in own for stage in chain.missed(hash, owner, chain.now)
            )
            is_open = sum(chain.closed(hash) > chain.now for hash in own)
            counts, state = self.runners[name], "struck" if chain.is_struck(owner, chain.now) else ""
            games, shared = counts["games"], (counts["shared"], counts["agree"])
            yield RunnerRow(name, runner.owner, games, len(own), is_open, lapsed, missed[name], *shared, state)

    def _notes(self) -> Iterator[str]:
        for owner, strike in sorted(self.ladder.strikes.values(), key=lambda each: each[0]):
            how = f"in game {strike.game + 1} of a batch" if isinstance(strike, Strike) else "about what it had sealed"
            yield f"{owner} has lied {how}: its games count only where others have played them too"


def _most_said(said: Counter[bytes], need: int) -> bytes:
    """Returns what as many as are needed say, and more than say anything else; empty if there is no such thing."""
    (first, count), (_, other) = [*said.most_common(2), (b"", 0), (b"", 0)][:2]
    return first if count >= need and count > other else b""


def _whole(value: float | None) -> int | None:
    """Returns a rating as a whole number; None if it has no end."""
    return None if value is None or not math.isfinite(value) else math.floor(value + 0.5)
