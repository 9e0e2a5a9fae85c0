"""Standings of the past: at a date, or of the moment at which the organiser froze a table.

A frozen table is a copy of the plan and a time. Its standings are made from these and the ledger like any other, so
they stay what they were whatever is handed in, withdrawn or played later.
"""

import re
import time
from collections.abc import Set
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
from msgspec import Struct

from referee.addons.tournament.plan import Entry, Plan, read_plan, write_plan
from referee.addons.tournament.reports.counted_games import bots_of
from referee.addons.tournament.store.ledger import PLAN
from referee.addons.tournament.store.reader import Book
from referee.harness.common.errors import RunError, UsageError, writing
from referee.harness.common.paths import replace_file

FROZEN = "frozen"
"""The folder of frozen tables in a tournament's folder."""
AT = "at.json"
NAME = re.compile(r"[\w+-][\w .+-]{0,59}")


class PastTable(Struct, frozen=True):
    """What standings of the past are made from."""

    name: str
    at: float
    """Games that ended later do not count. Seconds since 1970."""
    plan: Plan

    @property
    def date(self) -> str:
        return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(self.at))

    def games(self, book: Book) -> Book:
        """Returns the games that had ended by then."""
        line_ups = {
            line_up: early
            for line_up, games in book.line_ups.items()
            if (early := {number: game for number, game in games.items() if game.at <= self.at})
        }
        return book.of(line_ups)


def freeze(folder: Path, plan: Plan, name: str) -> None:
    """Freezes the table of this moment. UsageError for a name that is taken or cannot be that of a file."""
    if not NAME.fullmatch(name):
        raise UsageError(f"--freeze {name}: expected up to 60 letters, digits, blanks, dots, + and -, such as WEEK-3")
    if any(name.casefold() == table.name.casefold() for table in frozen(folder)):
        raise UsageError(f"--freeze {name}: there is a frozen table of that name; choose another name")
    where = folder / FROZEN / name
    with writing(where):
        where.mkdir(parents=True, exist_ok=True)
        write_plan(plan, where / PLAN)
        replace_file(where / AT, msgspec.json.encode(time.time()))  # the last file: without it, there is no table


def frozen(folder: Path) -> list[PastTable]:
    """Returns the frozen tables, oldest first. RunError for a damaged one."""
    found = []
    for file in sorted((folder / FROZEN).glob(f"*/{AT}")):
        try:
            at = msgspec.json.decode(file.read_bytes(), type=float)
        except (OSError, msgspec.MsgspecError) as error:
            raise RunError(f"{file} is damaged: {error}") from error
        found.append(PastTable(file.parent.name, at, read_plan(file.parent / PLAN)))
    return sorted(found, key=lambda table: table.at)


def past_table(folder: Path, plan: Plan, book: Book, text: str) -> PastTable:
    """Returns the frozen table of that name, or the table at the end of a day or at a time (UTC unless it says)."""
    tables = frozen(folder)
    if (named := next((table for table in tables if table.name == text), None)) is not None:
        return named
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        names = f", or a frozen table: {', '.join(table.name for table in tables)}" if tables else ""
        raise UsageError(f"--at {text}: expected a date such as 2026-11-27 or 2026-11-27T18:00{names}") from error
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    if len(text) <= len("2026-11-27"):
        moment += timedelta(days=1, microseconds=-1)
    found = PastTable(text, moment.timestamp(), plan)
    played = {ident for line_up in found.games(book).line_ups for ident in bots_of(line_up)}
    return PastTable(text, found.at, plan.replaced(bots=_of_then(plan.bots, played)))


def _of_then(bots: tuple[Entry, ...], played: Set[str]) -> tuple[Entry, ...]:
    """Leaves out versions that came later: those behind the last version of a name that had played by then."""
    last: dict[str, int] = {}
    for place, entry in enumerate(bots):
        if entry.ident in played or entry.name not in last:
            last[entry.name] = place
    return tuple(
        msgspec.structs.replace(entry, absent=entry.absent and (entry.withdrawn or entry.ident not in played))
        if place == last[entry.name]
        else entry
        for place, entry in enumerate(bots)
        if place <= last[entry.name]
    )
