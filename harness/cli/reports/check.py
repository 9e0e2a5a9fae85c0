"""The report of `referee check`."""

from rich.console import Group, RenderableType
from rich.text import Text

from referee.harness.check.findings import NOT_TRIED, RULES, CheckReport, Level, Status
from referee.harness.check.output import in_full
from referee.harness.cli.reports.rows import Sheet
from referee.harness.cli.reports.text import cut, printable

_STATUS_STYLES = {Status.PASSED: "green", Status.FAILED: "red", Status.SKIPPED: "dim"}
_LEVEL_STYLES = {Level.ERROR: "bold red", Level.WARNING: "bold yellow", Level.NOTE: "bold"}


def check(run: CheckReport) -> RenderableType:
    """Returns the result of each rule, all findings, and the verdict."""
    title = f"{run.game}: check of {printable(run.name)}, seed {run.seed}"
    sheet = Sheet(("rule", ""), (), ("what",), title)
    findings = []
    tried = [checked for checked in run.checks if checked.note != NOT_TRIED or checked.findings]
    for checked in tried:
        style = _STATUS_STYLES[checked.status]
        what = RULES[checked.rule].title + (f": {checked.note}" if checked.note else "")
        sheet.add(checked.rule, Text(checked.status, style=style), Text(cut(what)))
        for finding in checked.findings:
            text = Text(f"{finding.level} {finding.rule}: ", style=_LEVEL_STYLES[finding.level])
            lines = [printable(line) for line in in_full(finding).split("\n")]
            findings.append(text.append("\n  ".join(lines), style="none"))
    counts = [f"{count} {level}{'' if count == 1 else 's'}" for level in Level if (count := run.count(level))]
    rest = len(run.checks) - len(tried)
    counts += [f"{rest} rules not checked until that is fixed"] if rest else []
    word, style = ("passed", "bold green") if run.passed else ("refused", "bold red")
    return Group(sheet, *findings, Text(f"{word}: {', '.join(counts) or 'nothing found'}", style=style))
