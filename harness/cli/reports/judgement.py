"""The report of `referee judge`."""

from rich.console import RenderableType
from rich.text import Text

from referee.harness.cli.reports.rows import Sheet
from referee.harness.cli.reports.text import cut, printable
from referee.harness.servers.arena.judge import JudgeReport


def judgement(run: JudgeReport, title: str) -> RenderableType:
    """Returns the cases of a test run, each with its points and the reason, and their sum."""
    name = printable(run.name)
    sheet = Sheet(("case",), ("seat", "points"), ("why",), f"{title}: test run of {name}, seed {run.seed}")
    for case in run.cases:
        style = "green" if case.points == case.out_of else "red" if case.points == 0 else "yellow"
        points = Text(f"{case.points} of {case.out_of}", style=style)
        sheet.add(case.case, str(case.seat), points, Text(cut(case.why)))
    sheet.add("sum", "", f"{run.points} of {sum(case.out_of for case in run.cases)}", "", style="bold")
    return sheet
