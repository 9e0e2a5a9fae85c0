"""Prints the standings of a tournament."""

from typing import Literal

from rich.console import Group
from rich.text import Text

from referee.harness.cli.reports.rows import Sheet
from referee.harness.cli.reports.text import printable
from referee.harness.cli.screen import out
from referee.harness.tournament.reports import standings_text
from referee.harness.tournament.reports.bracket import as_text
from referee.harness.tournament.reports.rows import Standings

Output = Literal["text", "json", "csv", "markdown"]


def print_standings(result: Standings, output: Output) -> None:
    """Prints the standings."""
    out.print(standings_table(result) if output == "text" else Text(standings_text.FORMS[output](result)))


def standings_table(result: Standings, most: int | None = None) -> Group:
    """Returns the standings with all rows, or only the best `most`."""
    columns = standings_text.headers(result)
    sheet = Sheet(columns[:2], columns[2:], dropped=standings_text.DROPPED)
    for row in result.rows[:most]:
        sheet.add(*standings_text.cells(row, columns))
    heading = [Text(printable(result.title), style="bold")] if result.title else []
    below = [result.ranking, *(f"note: {note}" for note in result.notes), result.fairness.text]
    brackets = [Text(as_text(bracket), no_wrap=True, overflow="crop") for bracket in result.brackets]
    return Group(*heading, Text(standings_text.summary(result)), sheet, *map(Text, filter(None, below)), *brackets)
