"""The table of a ladder: a pure function of a commit, equal byte for byte on every machine.

Nothing here depends on a clock, a locale or the number of cores. Ratings are shown as whole Elo, far above what the
last digits of two machines could differ by.
"""

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from referee.addons.ladder.draw import BotVersion, DrawnGame, is_of_modules
from referee.addons.ladder.reading import Ladder
from referee.addons.ladder.records import GameLine, Part, batch_lines, read_game
from referee.addons.ladder.rows import CROSS, FORMAT, Row, RunnerRow, Table, encoded
from referee.addons.ladder.trust import ERROR_RATE, Differences, Times, lateness, suspects
from referee.addons.tournament.arrays import load_numpy
from referee.addons.tournament.statistics.proportion import upper_bound
from referee.addons.tournament.statistics.tally import Game, Tally
from referee.harness.common.installed import version
from referee.harness.common.paths import cache_folder, read_limited, replace_file

if TYPE_CHECKING:
    from referee.addons.tournament.statistics.rating import Rating

TIMEOUT = "timeout"
MOST_TABLE_BYTES = 256 << 20


class _Entry(Struct):
    """A claim's games, as they were handed in."""

    hash: str
    runner: str
    owner: str
    part: Part
    lines: dict[int, bytes]
    """By place among the new games."""
    courses: str
    """The hash of what it says of all its games."""


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
        self.counts = [[0] * 6 for _ in ladder.bots]
        """By bot: proved, witnessed, wins, draws, losses, faults."""
        self.groups: dict[tuple[tuple[tuple[int, ...], tuple[int, ...]], ...], array[int]] = {}
        """By the seats and ranks of the games of a seed group, the contents of those games."""
        self.cross: dict[tuple[int, int], list[int]] = {}
        self.runners: dict[str, dict[str, int]] = {}
        self.games = self.waiting = self.disputed = 0
        self.differences = Differences()
        self.suspects: Mapping[str, float] = {}
        self.times, self.late = Times(), set[str]()
        self.witnesses = ladder.settings.witnesses

    def table(self) -> Table:
        ladder = self.ladder
        ladder.fields.load({claim.bots for claim in self.chain.claims.values()})
        exact = all(bot.deterministic for bots in self._all_bots() for bot in bots)
        for entries, bots, games in self._origins():
            self._compare(entries, bots, games)
            self._count_runners(entries, bots, games)
            if exact:
                self._count(entries, bots, games)
        self.suspects = suspects(self.differences)
        self.late = {name for name in self.runners if self._lateness(name)[3] >= 1 / ERROR_RATE}
        if not exact:  # only now it is known whose games count
            for entries, bots, games in self._origins():
                self._count(entries, bots, games)
        rows = self._rows(self._ratings())
        return Table(
            FORMAT,
            ladder.settings.title or f"{ladder.game.title} ladder",
            ladder.game.title,
            ladder.commit,
            self.chain.now,
            tuple(rows),
            tuple(self._runner_rows()),
            self.games,
            self.waiting,
            self.disputed,
            self._cross(),
            tuple(self._notes()),
        )

    def _all_bots(self) -> Iterator[tuple[BotVersion, ...]]:
        for id in {claim.bots for claim in self.chain.claims.values() if claim.part is Part.NEW}:
            yield self.ladder.fields.bots(id)

    def _origins(self) -> Iterator[tuple[list[_Entry], tuple[BotVersion, ...], list[DrawnGame]]]:
        """Yields all new games, with everybody who has played them in the order of their claims."""
        chain, results = self.chain, self.chain.results
        order = sorted((claim.at, hash) for hash, claim in chain.claims.items() if claim.part is Part.NEW)
        tasks = {
            origin: [hash for hash in (origin, *sorted(chain.tasks.get(origin, ()), key=self._time)) if hash in results]
            for _, origin in order
        }
        contents = self.ladder.repository.read(results[hash].blob for each in tasks.values() for hash in each)
        for origin, played in tasks.items():
            if not played:
                continue
            bots, _, games = self.ladder.games_of(chain.claims[origin])
            entries = []
            for hash in played:
                claim = chain.claims[hash]
                lines = batch_lines(next(contents))
                places = range(len(games)) if claim.part is not Part.SAMPLE else self.ladder.games_of(claim)[1]
                said = dict(zip(places, lines, strict=False))
                entries.append(_Entry(hash, claim.runner, claim.owner, claim.part, said, results[hash].head.courses))
            yield entries, bots, games

    def _time(self, hash: str) -> tuple[int, str]:
        return self.chain.claims[hash].at, hash

    # Runners.

    def _compare(self, entries: Sequence[_Entry], bots: tuple[BotVersion, ...], games: Sequence[DrawnGame]) -> None:
        """Collects where several owners have played: games that are not deterministic, and time-outs."""
        played = [each for each in entries if each.part is not Part.SAMPLE]
        for number, later in enumerate(played):
            others = [each for each in played[:number] if each.owner != later.owner]
            for place, game in enumerate(games):
                if others and not all(bots[bot].deterministic for bot in game.bots):
                    one, two = (read_game(each.lines[place], each.runner) for each in (others[0], later))
                    names, runners = [bots[bot].name for bot in game.bots], (others[0].runner, later.runner)
                    self.differences.add_game(runners, names, (one.ranks, two.ranks), (_late(one), _late(two)))
        for entry in played:
            witness = next((each for each in played if each.owner != entry.owner), None)
            if witness is not None:
                alone = missed = 0
                for place, line in entry.lines.items() if entry.courses != witness.courses else ():
                    here, there = (TIMEOUT.encode() in each for each in (line, witness.lines.get(place, b"")))
                    alone, missed = alone + (here and not there), missed + (there and not here)
                self.times.add(entry.runner, witness.runner, len(entry.lines), alone, missed)

    def _lateness(self, runner: str) -> tuple[int, int, int, int]:
        """Returns what a certificate admits in games of a million, and how many games a runner saw late, as `Times`."""
        own = self._of(runner)
        bound = upper_bound(own["late_by_machine"], own["games"]) if own["games"] else 1.0
        certified_ppm = math.ceil(1e6 * bound)
        games, alone, missed = self.times.of(runner, self.suspects.keys())
        return certified_ppm, alone, missed, lateness(games, alone, missed, certified_ppm / 1e6)

    def _count_runners(
        self, entries: Sequence[_Entry], bots: tuple[BotVersion, ...], games: Sequence[DrawnGame]
    ) -> None:
        for entry in entries:
            own = self._of(entry.runner)
            own["games"] += len(entry.lines)
            for line in entry.lines.values():
                if line.count(b" ") > 3:
                    late = [each for each in read_game(line, entry.runner).faults if each.kind == TIMEOUT]
                    own["calls_late"] += len(late)
                    own["late_by_machine"] += sum(each.is_noise for each in late)
        players, samples = _parted(entries)
        distinct = self._owners(entries) == len(entries)
        if len(players) > 1 and len(samples) < 2 and distinct and _are_alike(players, bots):
            for entry in players:
                self._add(entry, shared=len(entry.lines), agree=len(entry.lines))
            for sample in samples:
                wrong = len(_differing(sample, players[0]))
                self._add(sample, shared=len(sample.lines), agree=len(sample.lines) - wrong)
                for entry in players:
                    self._add(entry, agree=-wrong, samples=len(sample.lines), sample_differs=wrong)
        else:
            self._compare_lines(entries, bots, games)

    def _add(self, entry: _Entry, **counts: int) -> None:
        own = self._of(entry.runner)
        for name, count in counts.items():
            own[name] += count

    def _compare_lines(
        self, entries: Sequence[_Entry], bots: tuple[BotVersion, ...], games: Sequence[DrawnGame]
    ) -> None:
        for entry in entries if len(entries) > 1 else ():
            for place, line in entry.lines.items():
                theirs = [each for each in entries if each.owner != entry.owner and place in each.lines]
                if not theirs or not all(bots[bot].deterministic for bot in games[place].bots):
                    continue
                own, equal = self._of(entry.runner), all(_told(each.lines[place]) == _told(line) for each in theirs)
                own["shared"] += 1
                own["agree"] += equal
                if any(each.part is Part.SAMPLE for each in theirs):
                    own["samples"] += 1
                    own["sample_differs"] += not equal

    def _of(self, runner: str) -> dict[str, int]:
        if runner not in self.runners:
            names = ("games", "samples", "sample_differs", "shared", "agree", "calls_late", "late_by_machine")
            self.runners[runner] = dict.fromkeys(names, 0)
        return self.runners[runner]

    def _runner_rows(self) -> Iterator[RunnerRow]:
        chain, liars = self.chain, {self.chain.claims[hash].runner for hash in self.ladder.struck}
        states = (("struck", liars), ("suspect", self.suspects), ("late", self.late))
        for name, runner in sorted(self.ladder.runners.items()):
            own = chain.of_runner.get(name, [])
            rules = [self.ladder.rules_of(chain.claims[hash].rules) for hash in own]
            certified_ppm, alone, missed, late = self._lateness(name)
            yield RunnerRow(
                name,
                runner.owner,
                claims=len(own),
                open=sum(chain.is_open(hash, each) for hash, each in zip(own, rules, strict=True)),
                lapsed=sum(chain.is_lapsed(hash, each) for hash, each in zip(own, rules, strict=True)),
                certified_ppm=certified_ppm,
                alone=alone,
                missed=missed,
                lateness=late,
                evidence=math.floor(min(1e12, self.suspects.get(name, 1.0))),
                state=next((state for state, names in states if name in names), ""),
                **self._of(name),
            )

    # Games.

    def _count(self, entries: Sequence[_Entry], bots: tuple[BotVersion, ...], games: Sequence[DrawnGame]) -> None:
        places = [self.current.get((bot.name, bot.version), -1) for bot in bots]
        modules = [bot.is_module for bot in bots]
        honest = [each for each in entries if each.hash not in self.ladder.struck]
        players, samples = _parted(honest)
        alike = bool(players) and _are_alike(players, bots)
        alone = players[0].lines if players and (alike or len(players) == 1) else None
        enough = alike and self._owners(players) >= self.witnesses
        disputed = {place for each in samples if alone is not None for place in _differing(each, players[0])}
        group: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
        contents: list[int] = []
        last = len(games) - 1
        for place, game in enumerate(games):
            proved = all([modules[bot] for bot in game.bots])
            if alone is not None and (proved or enough) and place not in disputed:
                line: bytes | None = alone[place]
            else:
                line = self._agreed(honest, place, game, bots)
            if line is not None:
                seats = tuple([places[bot] for bot in game.bots])
                self.games += 1
                if min(seats) >= 0:
                    words = line.split(b" ", 3)
                    ranks = tuple([digit - 48 for digit in words[0]])
                    self._count_game(seats, ranks, 0 if proved else 1, words[3])
                    group.append((seats, ranks))
                    contents.append(int(words[2][:16], 16))
            if group and (place == last or games[place + 1].group != game.group):
                self.groups.setdefault(tuple(group), array("Q")).extend(contents)
                group, contents = [], []

    def _owners(self, entries: Sequence[_Entry]) -> int:
        return len({each.owner for each in entries})

    def _agreed(
        self, honest: Sequence[_Entry], place: int, game: DrawnGame, bots: tuple[BotVersion, ...]
    ) -> bytes | None:
        """Returns the line of a game that counts; None if it does not, or not yet."""
        of_modules = is_of_modules(game, bots)
        exact = all(bots[bot].deterministic for bot in game.bots)
        said = [
            each
            for each in honest
            if place in each.lines and (exact or each.runner not in self.suspects.keys() | self.late)
        ]
        if not said:
            self.waiting += 1
            return None
        owners: dict[tuple[bytes, ...], set[str]] = {}
        for each in said:
            owners.setdefault(_told(each.lines[place]) if exact else (), set()).add(each.owner)
        if of_modules:
            if len(owners) > 1:
                self.disputed += 1
                return None
            return said[0].lines[place]
        best = max(owners.values(), key=len)
        if len(best) < self.witnesses:
            self.disputed += len(owners) > 1
            self.waiting += len(owners) == 1
            return None
        told = next(key for key, each in owners.items() if each is best)
        return next(each.lines[place] for each in said if not exact or _told(each.lines[place]) == told)

    def _count_game(self, seats: tuple[int, ...], ranks: tuple[int, ...], kind: int, rest: bytes) -> None:
        shared = ranks.count(1) > 1
        faults = read_game(b"1 1 " + b"0" * 24 + b" " + rest, "a game").faults if b" " in rest else ()
        for seat, bot in enumerate(seats):
            counts = self.counts[bot]
            counts[kind] += 1
            counts[2 + (2 if ranks[seat] > 1 else 1 if shared else 0)] += 1
            counts[5] += sum(fault.seat == seat for fault in faults)
        if len(self.counts) <= CROSS:
            for seat, bot in enumerate(seats):
                for other, rival in enumerate(seats):
                    if other != seat:
                        cell = self.cross.setdefault((bot, rival), [0, 0])
                        cell[0] += 2 if ranks[seat] < ranks[other] else ranks[seat] == ranks[other]
                        cell[1] += 1

    def _ratings(self) -> "tuple[Rating, ...]":
        from referee.addons.tournament.statistics.rating import rate

        bots = len(self.ladder.bots)
        tally = Tally(bots)
        for key in sorted(self.groups):
            contents = self.groups.pop(key)
            games = [Game(seats, ranks) for seats, ranks in key]
            size = len(key)
            tally.add(games, [tuple(contents[at : at + size]) for at in range(0, len(contents), size)])
        return rate(bots, tally.weights(), draws=0)

    def _rows(self, ratings: "Sequence[Rating]") -> Iterator[Row]:
        rated = []
        for bot, counts, rating in zip(self.ladder.bots, self.counts, ratings, strict=True):
            games = counts[0] + counts[1]
            elo = _whole(rating.elo.value) if games else None
            rated.append((elo is None, -(elo or 0), bot.name, bot, counts, rating, elo))
        before: tuple[bool, int] | None = None
        rank = 0
        for number, (unrated, value, _, bot, counts, rating, elo) in enumerate(
            sorted(rated, key=lambda each: each[:3])
        ):
            if (unrated, value) != before:
                before, rank = (unrated, value), number + 1
            proved, witnessed, wins, draws, losses, faults = counts
            yield Row(
                rank,
                bot.name,
                bot.version,
                "module" if bot.is_module else "native",
                elo,
                _whole(rating.elo.low) if elo is not None else None,
                _whole(rating.elo.high) if elo is not None else None,
                proved + witnessed,
                proved,
                witnessed,
                wins,
                draws,
                losses,
                faults,
                rating.note if elo is not None else "no games yet",
            )

    def _cross(self) -> dict[str, dict[str, tuple[int, int]]]:
        names = [bot.name for bot in self.ladder.bots]
        cells: dict[str, dict[str, tuple[int, int]]] = {}
        for (bot, rival), (points, games) in sorted(self.cross.items()):
            cells.setdefault(names[bot], {})[names[rival]] = (points, games)
        return cells

    def _notes(self) -> Iterator[str]:
        claims = self.chain.claims
        for hash, strike in sorted(self.ladder.strikes.items()):
            if (claim := claims.get(hash)) is None:
                continue
            yield (
                f"{claim.runner} has lied in game {strike.game + 1} of its claim {claim.number}: its games count only "
                "where others have played them too"
            )
        for runner in sorted(self.suspects):
            yield (
                f"the results of {runner} differ from those of its witnesses, more than chance allows: its games of "
                "programs that are not deterministic do not count"
            )
        for runner in sorted(self.late - self.suspects.keys()):
            yield (
                f"{runner} sees more time-outs than its witnesses, and more than its certificate admits: its games of "
                "programs that are not deterministic do not count"
            )
        if any(True for _ in self.chain.missing()):
            yield "entries of the chain are missing: `referee ladder verify` names them"


def _are_alike(entries: Sequence[_Entry], bots: tuple[BotVersion, ...]) -> bool:
    """Whether all say the same of all games, which all bots play alike again."""
    return all(each.courses == entries[0].courses for each in entries) and all(bot.deterministic for bot in bots)


def _parted(entries: Sequence[_Entry]) -> tuple[list[_Entry], list[_Entry]]:
    """Returns those that hold all games, and those that hold a sample of them."""
    samples = [each for each in entries if each.part is Part.SAMPLE]
    return [each for each in entries if each.part is not Part.SAMPLE], samples


def _differing(sample: _Entry, player: _Entry) -> list[int]:
    """Returns the places of the games about which a sample says something else."""
    return [place for place, line in sample.lines.items() if _told(line) != _told(player.lines.get(place, b""))]


def _told(line: bytes) -> tuple[bytes, ...]:
    words = line.split(b" ", 3)
    return words[0], words[1], words[2][:16]


def _late(line: GameLine) -> set[int]:
    """Returns the seats that ran out of time."""
    return {fault.seat for fault in line.faults if fault.kind == TIMEOUT}


def _whole(value: float | None) -> int | None:
    """Returns a rating as a whole number; None if it has no end."""
    return None if value is None or not math.isfinite(value) else math.floor(value + 0.5)
