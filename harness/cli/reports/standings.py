"""A tournament's table on a terminal, finished or not."""

from rich.console import Group
from rich.text import Text

from referee.harness.cli.reports.rows import Sheet
from referee.harness.tournament.reports.standings import Standings, cells, headers, summary


def standings_table(found: Standings, most: int | None = None) -> Group:
    """With the best rows only, if it is said how many."""
    columns = headers(found)
    sheet = Sheet(columns[:2], columns[2:])
    for row in found.rows[:most]:
        sheet.add(*cells(row, columns))
    return Group(Text(summary(found)), sheet, *(Text(f"note: {note}") for note in found.notes))
