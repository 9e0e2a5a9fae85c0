"""A tournament's table on a terminal, finished or not."""

from rich.console import Group
from rich.text import Text

from referee.harness.cli.reports.sheet import Sheet
from referee.harness.tournament.table import HEADERS, Standings, cells, summary


def standings(found: Standings, most: int | None = None) -> Group:
    """With the best rows only, if it is said how many."""
    sheet = Sheet(HEADERS[:2], HEADERS[2:])
    for row in found.rows[:most]:
        sheet.add(*cells(row))
    return Group(Text(summary(found)), sheet, *(Text(f"note: {note}") for note in found.notes))
