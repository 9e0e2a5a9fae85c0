"""Prints the standings of a tournament."""

from pathlib import Path
from typing import Literal

import msgspec
from rich.console import Group
from rich.text import Text

from referee.addons.tournament.contests import contests
from referee.addons.tournament.intake.layouts import named
from referee.addons.tournament.intake.record import Outcome, read_record
from referee.addons.tournament.plan import read_plan
from referee.addons.tournament.reports import standings_text
from referee.addons.tournament.reports.bracket import as_text
from referee.addons.tournament.reports.class_list import DISQUALIFIED, EARLIER, REFUSED, UNDECIDED, ClassList, HandedIn
from referee.addons.tournament.reports.marks import Clause
from referee.addons.tournament.reports.rows import Standings
from referee.addons.tournament.store.ledger import PLAN
from referee.harness.cli.reports.rows import Sheet
from referee.harness.cli.reports.text import printable
from referee.harness.cli.screen import out

Output = Literal["text", "json", "csv", "csv-excel", "markdown"]
"""`csv-excel` begins with a byte order mark, without which Excel shows wrong letters."""


def print_standings(
    result: Standings,
    output: Output,
    folder: Path,
    people: ClassList | None = None,
    marks: tuple[Clause, ...] = (),
) -> None:
    """Prints the standings; as CSV with everybody who handed in for the tournament in `folder`, and with marks."""
    if output == "text":
        out.print(standings_table(result))
    else:
        handed = everybody(folder) if output.startswith("csv") else None
        out.print(Text(standings_text.as_text_of(output, result, handed, people, marks)))


def everybody(folder: Path) -> dict[str, HandedIn]:
    """Returns what everybody handed in, by name: for an intake, in a hosted contest, or a bot that was disqualified."""
    found = files_handed_in(folder)
    for contest in contests():
        found |= contest.handed_in(folder)
    plan = read_plan(folder / PLAN)
    for entry in plan.bots:
        if entry.ident in plan.void:
            known = found.get(entry.name, HandedIn(entry.name, entry.bot, DISQUALIFIED))
            found[entry.name] = msgspec.structs.replace(known, status=DISQUALIFIED)
    return found


def files_handed_in(folder: Path) -> dict[str, HandedIn]:
    """Returns what everybody handed in, by name; empty if the tournament had no intake."""
    record = read_record(folder)
    return {} if record is None else {name: _status(name, outcome) for name, outcome in record.outcomes.items()}


def _status(name: str, outcome: Outcome) -> HandedIn:
    if outcome.accepted:
        status = "plays"
    elif outcome.entry is not None:
        status = EARLIER
    else:
        status = UNDECIDED if outcome.undecided else REFUSED
    number = named(outcome.file.partition("/")[0], False).id
    return HandedIn(name, outcome.file, status, outcome.reason, (number,) if number else ())


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
