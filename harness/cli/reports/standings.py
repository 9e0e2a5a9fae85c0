"""Standings on a terminal, finished or not."""

from rich.console import Group
from rich.text import Text

from referee.harness.cli.reports.rows import Sheet
from referee.harness.tournament.reports.standings import Standings
from referee.harness.tournament.reports.standings_text import cells, headers, summary


def standings_table(standings: Standings, most: int | None = None) -> Group:
    """Returns a table with all rows, or only the best `most`."""
    columns = headers(standings)
    sheet = Sheet(columns[:2], columns[2:])
    for row in standings.rows[:most]:
        sheet.add(*cells(row, columns))
    return Group(Text(summary(standings)), sheet, *(Text(f"note: {note}") for note in standings.notes))
