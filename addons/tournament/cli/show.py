"""`referee tournament show`: prints the standings."""

import time
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from referee.addons.tournament.cli.table import Output, everybody, print_standings
from referee.addons.tournament.plan import read_plan
from referee.addons.tournament.reports.all_stages import all_standings, ranked
from referee.addons.tournament.reports.class_list import names_of, read_class_list
from referee.addons.tournament.reports.marks import read_rule
from referee.addons.tournament.reports.past_tables import past_table
from referee.addons.tournament.stages import is_finished
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.ledger import PLAN
from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.options import one_of
from referee.harness.cli.reports.text import printable
from referee.harness.cli.screen import err, out
from referee.harness.common.errors import UsageError
from referee.protocol.text import counted

FOLLOWED, PRINTED = one_of("follow"), one_of("print")


def show(
    folder: Path,
    *,
    follow: Annotated[bool, Parameter(group=("Options", FOLLOWED))] = False,
    output: Annotated[Output, Parameter(group=("Options", PRINTED))] = "text",
    class_: Annotated[Path | None, Parameter(name="--class")] = None,
    marks: str | None = None,
    at: Annotated[str | None, Parameter(group=("Options", FOLLOWED))] = None,
    sqlite: Annotated[Path | None, Parameter(group=("Options", FOLLOWED, PRINTED))] = None,
) -> int:
    """Prints the standings, also during a tournament.

    Args:
        folder: The tournament's folder.
        follow: Print them again whenever games are added, until all are played or you interrupt it.
        output: How to print them. CSV also has everybody whose submission was refused. csv-excel is CSV that Excel
            reads as UTF-8.
        class_: A class list as CSV, whose first line names its columns. CSV then has everybody on it, with its columns.
        marks: RULE: a column of points in CSV, such as "plays = 1, beats @random 80 % = 4, rank 3 = 2". The points of
            all clauses that hold are added: handed in, plays, no faults, N games, rank N, Elo N, beats NAME N %.
        at: DATE: print the standings as they were at the end of that day (UTC), at a time such as 2026-11-27T18:00, or
            when `referee tournament page --freeze` froze a table of that name.
        sqlite: Write all games to a new SQLite database at this path instead: tables bots, games, seats, faults.
    """
    if class_ is not None and output not in ("csv", "csv-excel"):
        raise UsageError("--class needs --output csv or csv-excel")
    if marks is not None and output not in ("csv", "csv-excel"):
        raise UsageError("--marks needs --output csv or csv-excel")
    rule = () if marks is None else read_rule(marks)
    plan, people = read_plan(folder / PLAN), None
    if class_ is not None:
        names = {entry.name for entry in plan.bots} | names_of(everybody(folder).values())
        people, doubts = read_class_list(class_, names)
        for doubt in doubts:
            err.print(printable(f"{class_}: {doubt}"))
    if sqlite is not None:
        from referee.addons.tournament.store import sqlite as database  # takes 20 ms to load

        out.print(f"{counted(database.write(plan, folder, sqlite), 'game')} in {sqlite}")
        return PLAYED
    ends: dict[Path, int] = {}
    book, shown = None, None
    while True:
        book = reader.read(folder, book, ends)
        plan = read_plan(folder / PLAN)  # bots come and go
        if shown != (book.count, plan):
            shown = book.count, plan
            past = None if at is None else past_table(folder, plan, book, at)
            result = all_standings(plan, book) if past is None else all_standings(past.plan, past.games(book))
            print_standings(result, output, folder, people, rule)
            may_be_over = result.due is None or result.played >= result.due
            if not follow or (may_be_over and is_finished(plan, book, ranked)):
                return PLAYED
        time.sleep(1)
