"""The pages of finals: the commitment to the next one's seed, the tables, and the form that makes one."""

from functools import lru_cache
from pathlib import Path

from msgspec import Struct
from starlette.responses import Response

from referee.harness.errors import RunError, UsageError
from referee.harness.host import finals, switches
from referee.harness.host.access import Asked, see
from referee.harness.host.finals import FINALS, Final
from referee.harness.tournament.formats.schedules import BRACKETS
from referee.harness.tournament.plan import Plan, read_plan
from referee.harness.tournament.reports.all_stages import all_standings
from referee.harness.tournament.reports.standings_text import cells, headers
from referee.harness.tournament.stage_settings import TWO_SEATS
from referee.harness.tournament.store import ledger, reader
from referee.harness.tournament.store.ledger import PLAN

FORMATS = ("double-elimination", "knockout", "swiss", "round-robin", "series", "groups")
"""The formats of a final, in the order of the form."""


class Table(Struct, frozen=True):
    """The table of a final."""

    description: str
    headers: list[str]
    rows: list[list[str]]
    games: int


def finals_page(asked: Asked) -> Response:
    """Answers with the finals and their seeds. While the public table is frozen, only organisers see tables."""
    store = asked.contest.store
    is_organiser = asked.person is not None and asked.person.is_organiser
    hidden = switches.frozen_at(store) is not None and not is_organiser
    found = [(final, None if hidden else _table(store.folder, final)) for final in finals.finals(store.folder)]
    return asked.contest.render(
        "finals.html",
        title="Finals",
        next=finals.commitment(store),
        finals=list(reversed(found)),
        hidden=hidden,
        closed=switches.value_of(store, "uploads") == "closed",
    )


def formats_of(plan: Plan) -> list[str]:
    """Returns the formats that a final of this game may have."""
    two = plan.seats == 2
    return [each for each in FORMATS if (two or each not in TWO_SEATS | BRACKETS) and (each != "groups" or not two)]


def _table(cup: Path, final: Final) -> Table | None:
    folder = cup / FINALS / final.name
    try:
        sizes = tuple((file.name, file.stat().st_size) for file in ledger.files(folder))
        return _read_table(folder, sizes, (folder / PLAN).stat().st_mtime_ns)
    except (RunError, UsageError, OSError):
        return None  # the play process says why in its log


@lru_cache(maxsize=8)
def _read_table(folder: Path, sizes: object, written: int) -> Table:
    """Returns the table of a final's folder. `sizes`, `written`: of its files, which change it."""
    plan = read_plan(folder / PLAN)
    book = reader.read(folder, plan=plan)
    result = all_standings(plan, book, chances=False)
    columns = headers(result)
    return Table(plan.formats, list(columns), [list(cells(row, columns)) for row in result.rows], book.count)


def make_final(asked: Asked) -> Response:
    """Makes a final of the versions that play now. It is played at once, before the ladder goes on."""
    finals.make(
        asked.contest.store,
        asked.text("name"),
        asked.text("format"),
        asked.who.actor,
        _number(asked.text("games"), "games"),
        _number(asked.text("rounds"), "rounds"),
        _number(asked.text("first"), "bots"),
        address=asked.address,
    )
    return see("/finals")


def _number(text: str, what: str) -> int | None:
    """Returns a number that was typed; None for nothing. UsageError if it is none."""
    if not text:
        return None
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:9]) <= 1_000_000:
        raise UsageError(f"{what} {text[:40]!r}: expected a number from 1 to 1,000,000")
    return int(text)
