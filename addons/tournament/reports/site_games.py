"""The games that a site lists: found in the book by their time, so that only their lines are read in full."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from heapq import nlargest
from itertools import combinations
from pathlib import Path

import msgspec
from msgspec import Struct, field

from referee.addons.tournament.plan import Plan
from referee.addons.tournament.reports.counted_games import bots_of, endings, of_plan
from referee.addons.tournament.store.ledger import Fault, Line, files, lines
from referee.addons.tournament.store.reader import Book, Game

GAMES = 200
"""How many of each bot's last games are listed."""
FAULTS = 50
PAIR_GAMES = 10_000
"""How many games the head-to-head pages list in all: with fewer games, every one."""
PAIR_PAGES = 5_000
"""The most head-to-head pages: those of a hundred bots. If more pairs have met, there are none."""
LEAST = 20
"""How many games each head-to-head page lists at least, if there are as many."""

Pair = tuple[str, str]
"""Two names, sorted."""


class BotGames(Struct):
    """The ledger's content about one bot."""

    games: list[str] = []
    """The keys of the last ones, newest first."""
    count: int = 0
    faults: list[tuple[str, Fault]] = []
    """With the games' keys."""
    fault_count: int = 0
    by_seat: dict[int, list[float]] = field(default_factory=dict)
    """By seat, the number of games and the sum of their shares."""


class PairGames(Struct):
    """The games between two bots, in all their versions."""

    games: list[str] = []
    """Keys, newest first."""
    count: int = 0


class SiteGames(Struct):
    """All games that a site lists."""

    bots: dict[str, BotGames]
    """By ident."""
    pairs: dict[Pair, PairGames]
    lines: dict[str, tuple[Path, Line]]
    """By key, with the ledger's file."""


_Timed = tuple[float, str, int]
"""A game's end, its line-up and its number."""


def site_games(plan: Plan, folder: Path, book: Book) -> SiteGames:
    """Reads the games. Those of older versions of a bot are among them."""
    book = of_plan(plan, book, play_off=True)
    found = SiteGames({entry.ident: BotGames() for entry in plan.bots}, {}, {})
    _find_last(plan, book, found)
    _count_seats(plan, book, found)
    wanted = {key for bot in found.bots.values() for key in bot.games}
    wanted.update(key for pair in found.pairs.values() for key in pair.games)
    for file, line in _lines(folder, book, wanted):
        if line.k in wanted:
            found.lines[line.k] = file, line
        for seat, ident in enumerate(line.b):
            bot = found.bots[ident]
            faults = [(line.k, fault) for fault in line.f if fault.seat == seat]
            bot.fault_count += len(faults) + (line.m[seat] if line.m else 0)
            for key, fault in faults[: FAULTS - len(bot.faults)]:
                bot.faults.append((key, fault))
                found.lines.setdefault(key, (file, line))
    return found


def pairs_met(plan: Plan, book: Book) -> SiteGames:
    """Returns which pairs have met, and no game: all that a table's links need, in a fraction of the time."""
    book = of_plan(plan, book, play_off=True)
    names = {entry.ident: entry.name for entry in plan.bots}
    met = {pair for line_up in book.line_ups for pair in _pairs(names, line_up)}
    return SiteGames({}, {pair: PairGames() for pair in met if len(met) <= PAIR_PAGES}, {})


def _find_last(plan: Plan, book: Book, found: SiteGames) -> None:
    """Finds the last games of each bot and of each pair by the time of their end."""
    names = {entry.ident: entry.name for entry in plan.bots}
    by_bot: dict[str, list[_Timed]] = defaultdict(list)
    by_pair: dict[Pair, list[_Timed]] = defaultdict(list)
    counts: Counter[Pair] = Counter()
    line_ups = [(line_up, games, _pairs(names, line_up)) for line_up, games in book.line_ups.items()]
    for _, games, pairs in line_ups:
        counts.update(dict.fromkeys(pairs, len(games)))
    if len(counts) > PAIR_PAGES:
        counts.clear()
    most = max(LEAST, PAIR_GAMES // max(1, len(counts)))
    for line_up, games, pairs in line_ups:
        last = _last(line_up, games, max(most, GAMES))
        for ident in set(bots_of(line_up)):
            by_bot[ident] += last[:GAMES]
            found.bots[ident].count += len(games)
        for pair in pairs & counts.keys():
            by_pair[pair] += last[:most]
    for ident, timed in by_bot.items():
        found.bots[ident].games = _keys(timed, GAMES)
    for pair, timed in by_pair.items():
        found.pairs[pair] = PairGames(_keys(timed, most), counts[pair])


def _pairs(names: dict[str, str], line_up: str) -> set[Pair]:
    seated = sorted({names[ident] for ident in bots_of(line_up)})
    return set(combinations(seated, 2))


def _last(line_up: str, games: dict[int, Game], most: int) -> list[_Timed]:
    """Returns the last games of a line-up, newest first. Most are sorted out by their times alone, which is faster."""
    first = sorted([game.at for game in games.values()])[-most:][0]
    return nlargest(most, [(game.at, line_up, number) for number, game in games.items() if game.at >= first])


def _keys(timed: list[_Timed], most: int) -> list[str]:
    last = nlargest(most, timed)
    return [f"{line_up}/{number // Book.ROWS}/{number % Book.ROWS}" for _, line_up, number in last]


def _count_seats(plan: Plan, book: Book, found: SiteGames) -> None:
    for seats, kind, times in endings(plan, book):
        for seat, (place, share) in enumerate(zip(seats, kind.outcome.shares, strict=True)):
            counted = found.bots[plan.bots[place].ident].by_seat.setdefault(seat, [0, 0.0])
            counted[0] += times
            counted[1] += times * share


def _lines(folder: Path, book: Book, wanted: set[str]) -> Iterator[tuple[Path, Line]]:
    """Yields the lines of wanted games and of games with a fault. A line begins with its key."""
    decode = msgspec.json.Decoder(Line).decode
    keys = {key.encode() for key in wanted}
    yielded: set[str] = set()
    for file in files(folder):
        for _, text in lines(file):
            if text[:6] == b'{"k":"' and (text[6 : text.find(b'"', 6)] in keys or b'"f":[' in text):
                line = decode(text)
                game = None if line.void or line.k in yielded else book.game(line.k)
                if game is not None and game.at == line.at:
                    yielded.add(line.k)
                    yield file, line
