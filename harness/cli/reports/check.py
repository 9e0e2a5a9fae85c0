"""A check as text for people."""

from rich.console import Group
from rich.text import Text

from referee.harness.check import output
from referee.harness.check.findings import CheckReport, Level, Status, rule_named
from referee.harness.cli.reports.rows import Sheet
from referee.harness.cli.reports.text import counted, cut, printable
from referee.harness.match.verdict import machine_share

STATUS_STYLES = {
    Status.PASSED: "green",
    Status.FAILED: "red",
    Status.SKIPPED: "dim",
    Status.UNDECIDED: "yellow",
}
LEVEL_STYLES = {Level.ERROR: "bold red", Level.WARNING: "bold yellow", Level.NOTE: "bold"}


def check_report(report: CheckReport) -> Group:
    """Returns a check as a table of its rules, with the findings below."""
    title = f"{report.game}: check of {printable(report.name)}, seed {report.seed}"
    sheet = Sheet(("rule", ""), (), ("what",), title)
    findings = []
    tried = [checked for checked in report.checks if output.was_tried(checked)]
    for checked in tried:
        what = rule_named(checked.rule).title + (f": {checked.note}" if checked.note else "")
        sheet.add(checked.rule, Text(checked.status, style=STATUS_STYLES[checked.status]), Text(cut(what)))
        for finding in checked.findings:
            text = Text(f"{finding.level} {finding.rule}: ", style=LEVEL_STYLES[finding.level])
            lines = [printable(line) for line in output.in_full(finding).split("\n")]
            findings.append(text.append("\n  ".join(lines), style="none"))
    counts = [counted(count, level) for level in Level if (count := report.count(level))]
    if rest := len(report.checks) - len(tried):
        counts.append(f"{counted(rest, 'rule')} not checked" + ("" if report.undecided else " until that is fixed"))
    style = "bold green" if report.passed else "bold yellow" if report.undecided else "bold red"
    share = machine_share(report.decided_by_machine, report.games)
    shares = [Text(share, style="yellow")] if share else []
    if report.undecided:
        counts.append("check the bot again when the machine has less to do")
    verdict = Text(f"{report.verdict}: {', '.join(counts) or 'nothing found'}", style=style)
    return Group(sheet, *findings, *shares, verdict)
