"""Writes a check for other programs: JUnit XML, and GitHub's annotations, summary and outputs."""

import shlex
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree

from referee.harness.check.findings import (
    NOT_TRIED,
    UNDECIDED,
    CheckReport,
    Finding,
    Level,
    RuleResult,
    Status,
    rule_named,
)
from referee.harness.common.errors import writing
from referee.harness.common.markdown import escaped
from referee.harness.common.output import write_whole
from referee.harness.common.paths import make_folder
from referee.harness.match.verdict import machine_share
from referee.protocol.text import counted, printable


def junit(report: CheckReport, strict: bool = False) -> bytes:
    """Returns JUnit XML with a test case for each rule, as Jenkins, GitLab and others read it."""
    duration = _seconds(sum(check.duration_s for check in report.checks))
    failed = sum(_refused(check, strict) for check in report.checks)
    skipped = sum(_is_skipped(check) and not _refused(check, strict) for check in report.checks)
    counts = {"tests": str(len(report.checks)), "failures": str(failed), "errors": "0", "time": duration}
    name = f"referee check {report.game}"
    root = ElementTree.Element("testsuites", {"name": name, **counts})
    suite = ElementTree.SubElement(root, "testsuite", {"name": name, **counts, "skipped": str(skipped)})
    for check in report.checks:
        _case(suite, check, f"{report.game}.{_text(report.name)}", strict)
    return _xml(root)


def junit_of_failure(game: str, bot: str, why: str) -> bytes:
    """Returns JUnit XML with an error, for a check that failed itself or was interrupted."""
    name, counts = f"referee check {game}", {"tests": "1", "failures": "0", "errors": "1", "time": "0.000"}
    root = ElementTree.Element("testsuites", {"name": name, **counts})
    suite = ElementTree.SubElement(root, "testsuite", {"name": name, **counts, "skipped": "0"})
    case = ElementTree.SubElement(suite, "testcase", {"classname": name, "name": _text(bot), "time": "0.000"})
    ElementTree.SubElement(case, "error", {"message": "the check failed"}).text = _text(why)
    return _xml(root)


def _xml(root: ElementTree.Element) -> bytes:
    ElementTree.indent(root)
    content: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _case(suite: ElementTree.Element, check: RuleResult, classname: str, strict: bool) -> None:
    attributes = {"classname": classname, "name": check.rule, "time": _seconds(check.duration_s)}
    case = ElementTree.SubElement(suite, "testcase", attributes)
    if check.status is Status.UNDECIDED:
        ElementTree.SubElement(case, "skipped", {"message": UNDECIDED})
    elif check.status is Status.SKIPPED and not check.findings:
        ElementTree.SubElement(case, "skipped", {"message": _text(check.note)})
    others = []
    for finding in check.findings:
        if _refuses(finding, strict):
            message = {"message": _text(finding.text), "type": finding.level}
            ElementTree.SubElement(case, "failure", message).text = in_full(finding)
        else:
            others.append(f"{finding.level}: {in_full(finding)}")
    if others:
        ElementTree.SubElement(case, "system-out").text = "\n".join(others)


def annotations(report: CheckReport, prefix: str = "") -> Iterator[str]:
    """Yields GitHub's workflow commands, each for the first line that a finding mentions."""
    commands = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "notice"}
    for check in report.checks:
        for finding in check.findings:
            place = ""
            if finding.places:
                first = finding.places[0]
                place = f"file={PurePosixPath(prefix, first.file)}".translate(_PROPERTY) + f",line={first.line},"
                place += f"col={first.column}," if first.column is not None else ""
            title = f"{finding.rule} ({_text(report.name)})".translate(_PROPERTY)
            yield f"::{commands[finding.level]} {place}title={title}::{in_full(finding).translate(_MESSAGE)}"


def summary(report: CheckReport) -> str:
    """Returns the job's summary in Markdown: the verdict, each rule's outcome, and the findings in full."""
    lines = [f"### {escaped(report.name)} at {escaped(report.game)}: {report.verdict}", ""]
    lines += ["| rule | | what |", "| --- | --- | --- |"]
    tried = [check for check in report.checks if was_tried(check)]
    for check in tried:
        what = rule_named(check.rule).title + (f": {check.note}" if check.note else "")
        lines.append(f"| {check.rule} | {check.status} | {escaped(what)} |")
    if len(tried) < len(report.checks):
        why = "the machine was busy" if report.undecided else "fix the findings above first"
        lines += ["", f"{counted(len(report.checks) - len(tried), 'rule')} not tried: {why}."]
    for check in report.checks:
        for finding in check.findings:
            body = in_full(finding).replace("```", "` ` `")
            lines += ["", f"**{finding.level} {finding.rule}**", "", "```text", body, "```"]
    share = machine_share(report.decided_by_machine, report.games)
    return "\n".join([*lines, "", *([share, ""] if share else []), f"seed {report.seed}", ""])


def outputs(report: CheckReport, passed: bool) -> str:
    """Returns a workflow step's outputs, one per line: `passed`, the counts and the seed."""
    counts = {f"{level}s": report.count(level) for level in Level}
    shown = {"passed": str(passed).lower(), **counts, "seed": report.seed}
    return "".join(f"{name}={value}\n" for name, value in shown.items())


_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = {**_MESSAGE, **str.maketrans({":": "%3A", ",": "%2C"})}


def in_full(finding: Finding) -> str:
    """Returns a finding with its place, advice, and the last lines of output, as lines of printable characters."""
    lines = [f"{finding.where}: {finding.text}" if finding.where else finding.text]
    if finding.level is not Level.NOTE:  # a note needs no advice
        lines.append(f"what to do: {finding.advice}{'' if finding.section is None else f' ({finding.section})'}")
    if finding.command:
        lines.append(f"reproduce with: {shlex.join(finding.command)}")
    if finding.last_words:
        heading = "output of the build:" if finding.rule == "builds" else "last lines of stderr:"
        lines += [heading, *(f"  {line}" for line in finding.last_words)]
    return _text("\n".join(lines))


def was_tried(check: RuleResult) -> bool:
    """Whether a rule was tried, or has a finding of another one."""
    return check.status is not Status.SKIPPED or check.note not in (NOT_TRIED, UNDECIDED)


def write(path: Path, content: bytes) -> None:
    """Writes a file. RunError if that fails."""
    with writing(path):
        make_folder(path.parent)
        write_whole(path, content)


def _refuses(finding: Finding, strict: bool) -> bool:
    return finding.level is Level.ERROR or (strict and finding.level is Level.WARNING)


def _refused(check: RuleResult, strict: bool) -> bool:
    return any(_refuses(finding, strict) for finding in check.findings)


def _is_skipped(check: RuleResult) -> bool:
    return check.status in (Status.SKIPPED, Status.UNDECIDED)


def _seconds(duration_s: float) -> str:
    return f"{duration_s:.3f}"


def _text(text: str) -> str:
    """Escapes the characters of a bot's text that XML cannot hold."""
    return "\n".join(map(printable, text.split("\n")))
