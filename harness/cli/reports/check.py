"""A check as text for people."""

from rich.console import Group
from rich.text import Text

from referee.harness.check import output
from referee.harness.check.findings import NOT_TRIED, RULES, CheckReport, Level, Status
from referee.harness.cli.reports.rows import Sheet
from referee.harness.cli.reports.text import counted, cut, printable

STATUS_STYLES = {Status.PASSED: "green", Status.FAILED: "red", Status.SKIPPED: "dim"}
LEVEL_STYLES = {Level.ERROR: "bold red", Level.WARNING: "bold yellow", Level.NOTE: "bold"}


def check_report(report: CheckReport) -> Group:
    """Returns a check as a table of its rules, with the findings below."""
    title = f"{report.game}: check of {printable(report.name)}, seed {report.seed}"
    sheet = Sheet(("rule", ""), (), ("what",), title)
    findings = []
    tried = [checked for checked in report.checks if checked.note != NOT_TRIED or checked.findings]
    for checked in tried:
        what = RULES[checked.rule].title + (f": {checked.note}" if checked.note else "")
        sheet.add(checked.rule, Text(checked.status, style=STATUS_STYLES[checked.status]), Text(cut(what)))
        for finding in checked.findings:
            text = Text(f"{finding.level} {finding.rule}: ", style=LEVEL_STYLES[finding.level])
            lines = [printable(line) for line in output.in_full(finding).split("\n")]
            findings.append(text.append("\n  ".join(lines), style="none"))
    counts = [counted(count, level) for level in Level if (count := report.count(level))]
    if rest := len(report.checks) - len(tried):
        counts.append(f"{rest} rules not checked until that is fixed")
    word, style = ("passed", "bold green") if report.passed else ("refused", "bold red")
    return Group(sheet, *findings, Text(f"{word}: {', '.join(counts) or 'nothing found'}", style=style))
