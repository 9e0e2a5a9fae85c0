"""Tournaments on paper: plans, and games that nobody played."""

import random
from collections.abc import Callable, Iterable
from itertools import chain

import msgspec

from referee.addons.tournament.formats.games import ScheduledGame
from referee.addons.tournament.keys import Keys
from referee.addons.tournament.plan import Entry, Plan, checked, identified
from referee.addons.tournament.reports import standings
from referee.addons.tournament.reports.all_stages import ranked
from referee.addons.tournament.reports.rows import Standings
from referee.addons.tournament.stage_settings import Stage
from referee.addons.tournament.stages import scheduled_games
from referee.addons.tournament.store import ledger
from referee.addons.tournament.store.reader import Book, LedgerResults

WON, DRAWN, LOST = (1, 2), (1, 1), (2, 1)


def plan(format: str, bots: int, *stages: Stage, **more: object) -> Plan:
    """Returns a plan of bots 0, 1 …"""
    entries = identified([Entry(f"bot {n}", "", f"{n:02}" * 32, "@random") for n in range(bots)])
    values: dict[str, object] = {"game": "tictactoe", "format": format, "seed": 1, "bots": entries, "stages": stages}
    return checked(Plan(**values | more))  # type: ignore[arg-type]


def line(plan: Plan, game: ScheduledGame, ranks: tuple[int, ...], number: int = 1, **more: object) -> bytes:
    """Returns the line of a game in the ledger. `number` makes its time and its course."""
    keys = Keys(plan)
    bots, points = tuple(keys.idents[bot] for bot in game.seats), tuple(2.0 - rank for rank in ranks)
    values = {"at": float(number), "a": f"{number:x}", "p": points} | more
    return msgspec.json.encode(ledger.Line(keys.key(game), bots, keys.seed(game), ranks, **values))  # type: ignore[arg-type]


def add(plan: Plan, book: Book, game: ScheduledGame, ranks: tuple[int, ...]) -> None:
    assert book.add(line(plan, game, ranks, book.count + 1)), "no key is given twice"


def numbers(book: Book) -> dict[str, set[int]]:
    """Returns the games of a book: by line-up, their numbers."""
    return {name: set(each) for name, each in book.line_ups.items()}


def standings_of(plan: Plan, lines: Iterable[bytes], **more: bool) -> Standings:
    book = Book()
    for each in lines:
        assert book.add(each)
    return standings.standings(plan, book, **more)


def favourite(game: ScheduledGame) -> tuple[int, ...]:
    """Returns the ranks of a game that the better bot wins more often."""
    one, two = game.seats
    luck = random.Random(hash((game.seats, game.seed_group, len(game.stage)))).random()
    return DRAWN if 0.4 < luck < 0.5 else WON if luck < 0.5 + 0.04 * (two - one) else LOST


def play(
    plan: Plan,
    book: Book,
    seed: int = 1,
    most: int = 10**6,
    ranks: Callable[[ScheduledGame], tuple[int, ...]] = favourite,
    without: int | None = None,
) -> bool:
    """Plays further games in random order, but none of the bot `without`. Returns whether all were played."""
    dice, running, results = random.Random(seed), list[ScheduledGame](), LedgerResults(Keys(plan), book)
    for game in chain(scheduled_games(plan, results, ranked), [None]):
        if game is not None:
            running += [game] if results.get(game) is None and without not in game.seats else []
            continue
        if not running and without is not None:
            return False
        dice.shuffle(running)
        while running:
            if book.count >= most:
                return False
            each = running.pop()
            add(plan, book, each, ranks(each))
    return True
