"""A check for other programs: JUnit's XML, SARIF 2.1.0 and GitHub's annotations."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

import msgspec

from harness.check.findings import RULES, Checked, CheckReport, Finding, Level, Status
from harness.errors import RunError

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def junit(report: CheckReport, strict: bool = False) -> bytes:
    """JUnit's XML: a test case for each rule, in the form that Jenkins, GitLab and others read."""
    duration = _seconds(sum(check.duration_s for check in report.checks))
    failed = sum(_refused(check, strict) for check in report.checks)
    skipped = sum(check.status is Status.SKIPPED and not _refused(check, strict) for check in report.checks)
    counts = {"tests": str(len(report.checks)), "failures": str(failed), "errors": "0", "time": duration}
    name = f"referee check {report.game}"
    root = ElementTree.Element("testsuites", {"name": name, **counts})
    suite = ElementTree.SubElement(root, "testsuite", {"name": name, **counts, "skipped": str(skipped)})
    for check in report.checks:
        _case(suite, check, f"{report.game}.{_text(report.name)}", strict)
    ElementTree.indent(root)
    content: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _case(suite: ElementTree.Element, check: Checked, classname: str, strict: bool) -> None:
    attributes = {"classname": classname, "name": check.rule, "time": _seconds(check.duration_s)}
    case = ElementTree.SubElement(suite, "testcase", attributes)
    if check.status is Status.SKIPPED and not check.findings:
        ElementTree.SubElement(case, "skipped", {"message": _text(check.told)})
    others = []
    for finding in check.findings:
        if _refuses(finding, strict):
            message = {"message": _text(finding.text), "type": finding.level}
            ElementTree.SubElement(case, "failure", message).text = in_full(finding)
        else:
            others.append(f"{finding.level}: {in_full(finding)}")
    if others:
        ElementTree.SubElement(case, "system-out").text = "\n".join(others)


def sarif(report: CheckReport, bot: str) -> bytes:
    """SARIF 2.1.0: a result for each finding. `bot`: the file or folder that was checked, as a relative path."""
    rules = [
        {
            "id": name,
            "shortDescription": {"text": rule.title},
            "help": {"text": f"{rule.advice}{'' if rule.section is None else f' ({rule.section})'}"},
        }
        for name, rule in RULES.items()
    ]
    results = [_result(finding, bot) for check in report.checks for finding in check.findings]
    driver = {"name": "referee check", "informationUri": "https://www.jsonrpc.org/specification", "rules": rules}
    properties = {"game": report.game, "seed": report.seed, "bot": _text(report.name), "passed": report.passed}
    run = {"tool": {"driver": driver}, "results": results, "properties": properties}
    log = {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}
    return msgspec.json.format(msgspec.json.encode(log), indent=2) + b"\n"


def _result(finding: Finding, bot: str) -> dict[str, Any]:
    return {
        "ruleId": finding.rule,
        "ruleIndex": list(RULES).index(finding.rule),
        "level": finding.level,
        "message": {"text": in_full(finding)},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": quote(Path(bot).as_posix())}}}],
        "properties": {"seat": finding.seat, "call": finding.call, "method": finding.method},
    }


def annotations(report: CheckReport) -> Iterator[str]:
    """GitHub's workflow commands, a line each."""
    commands = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "notice"}
    for check in report.checks:
        for finding in check.findings:
            title = f"{finding.rule} ({_text(report.name)})".translate(_PROPERTY)
            yield f"::{commands[finding.level]} title={title}::{in_full(finding).translate(_MESSAGE)}"


_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = {**_MESSAGE, **str.maketrans({":": "%3A", ",": "%2C"})}


def in_full(finding: Finding) -> str:
    """A finding with its place, what to do, and the bot's last words, on several lines of printable characters."""
    rule = RULES[finding.rule]
    lines = [f"{finding.where}: {finding.text}" if finding.where else finding.text]
    if finding.level is not Level.NOTE:  # that asks for nothing
        lines.append(f"what to do: {rule.advice}{'' if finding.section is None else f' ({finding.section})'}")
    if finding.last_words:
        lines += ["its last words on standard error:", *(f"  {line}" for line in finding.last_words)]
    return _text("\n".join(lines))


def write(path: Path, content: bytes) -> None:
    """RunError if that cannot be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise RunError(f"{path} cannot be written: {error}") from error


def _refuses(finding: Finding, strict: bool) -> bool:
    return finding.level is Level.ERROR or (strict and finding.level is Level.WARNING)


def _refused(check: Checked, strict: bool) -> bool:
    return any(_refuses(finding, strict) for finding in check.findings)


def _seconds(duration_s: float) -> str:
    return f"{duration_s:.3f}"


def _text(text: str) -> str:
    """`text` without the characters that XML cannot hold; a bot prints what it likes."""
    return "".join(c if c in "\n\t" or c.isprintable() else c.encode("unicode_escape").decode() for c in text)
