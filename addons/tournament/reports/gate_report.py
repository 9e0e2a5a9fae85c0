"""Reports on a gate: lines for a terminal, Markdown for a pull request, JUnit XML for other programs."""

import re
import shlex
from xml.etree import ElementTree

from referee.addons.tournament.gate import (
    MACHINE_SHARE,
    Decision,
    FaultGroup,
    Report,
    Split,
    Unit,
    too_much_by_machine,
)
from referee.addons.tournament.reports.figures import REPEATS, los
from referee.addons.tournament.reports.running_line import rate, running_line
from referee.addons.tournament.statistics.score import Strength
from referee.harness.cli.reports.figures import interval, number
from referee.harness.common.markdown import escaped
from referee.harness.common.measures import in_standings
from referee.harness.common.output import FileKind
from referee.harness.match.verdict import machine_share
from referee.protocol.text import counted, printable

FAILED = "the run failed"
"""Stands instead of a decision."""
LIKELY = 0.9
"""The likelihood of superiority from which an undecided bot is called probably better."""


def lines(run: Report) -> list[str]:
    """Returns the figures, in the form that testers of chess engines know."""
    texts = []
    if run.strength is not None:
        texts += [
            f"Elo   | {interval(run.strength.elo)} (95 %) {run.strength.note}".rstrip(),
            f"nElo  | {interval(run.strength.nelo)} (95 %)",
            f"LOS   | {los(run.strength)}",
        ]
    low, high = run.limits
    evidence = f"LLR {run.llr:.2f} ({low:.2f}, {high:.2f})"
    texts.append(f"Gate  | {evidence} [{run.terms.low:g}, {run.terms.high:g}] {run.terms.unit} {run.decision}")
    different = f"{run.different:,} different; faults new {run.faults_new}, old {run.faults_old}"
    results = compared(run)
    for who, use in (("new", run.model_new), ("old", run.model_old)):
        if use is not None:
            texts.append(f"Model | {who}: {in_standings().words(use)}")
    if run.seats == 2:
        texts += [f"Games | {run.games:,}: {results}, {different}", f"Penta | {list(run.counts)}"]
    else:
        texts += [f"Games | {run.games:,}: {different}", f"Rivals| {results}"]
    texts += map(_split, run.split)
    return [*texts, *([f"Start | {run.varied}"] if run.varied else []), *map(_fault, run.faults)]


def _split(part: Split) -> str:
    """Returns, for example, `Split | new set-up with old play: +31.2 [4.0, 58.9] Elo in 240 games`."""
    other = "old play" if part.part == "set-up" else "old set-up"
    elo = "no games" if part.strength is None else f"{interval(part.strength.elo)} Elo in {part.games:,} games"
    return f"Split | new {part.part} with {other}: {elo}" + (f", {part.faults:,} faults" if part.faults else "")


def running(run: Report, per_minute: float) -> str:
    """Returns how a gate stands while it runs, in a line as testers of chess engines know it."""
    low, high = run.limits
    evidence = f"LLR {run.llr:.2f} ({low:.2f}, {high:.2f}) [{run.terms.low:g}, {run.terms.high:g}]"
    if run.seats != 2:
        return "  ".join([counted(run.games, "game"), compared(run), evidence, rate(per_minute)])
    return running_line((run.ahead, run.level, run.behind), run.counts, per_minute, evidence)


def _fault(group: FaultGroup) -> str:
    """Returns, for example, `Faults| new: 45 × illegal 'that wall is …', first in game 3, referee repro …`."""
    detail = group.detail.replace("\n", "; ")
    parts = [f"{group.bot}: {group.count:,} × {group.kind} {detail!r}"]
    if group.slowed:
        parts.append(f"machine load slowed {group.slowed:,} of {group.count:,}")
    parts.append(f"first in game {group.first_game}")
    if group.reproduce:
        parts.append(shlex.join(group.reproduce))
    return f"Faults| {', '.join(parts)}"


def compared(run: Report) -> str:
    """Says how often the new bot finished ahead of, level with and behind a rival.

    With more than one rival in a game, these are not games won, drawn and lost.
    """
    if run.seats == 2:
        return f"W {run.ahead} L {run.behind} D {run.level}"
    met = f"{run.ahead + run.level + run.behind:,} met, {run.seats - 1} a game"
    return f"{met}: ahead of {run.ahead:,}, behind {run.behind:,}, level with {run.level:,}"


def warnings(run: Report) -> list[str]:
    """Returns reasons to distrust the result."""
    texts = []
    if run.games and run.different < 0.9 * run.games:
        texts.append(f"only {run.different} of {run.games} games are different: {REPEATS}")
    if run.faults_new or run.faults_old:
        texts.append(f"faults count as the rules say: {run.faults_new} of {run.new}, {run.faults_old} of {run.old}")
    if run.by_machine:
        texts.append(run.fairness)
    return texts


def sentence(run: Report) -> str:
    """Returns the outcome in a sentence.

    For example `Probably better: +63 Elo, 95 % between +16 and +113; not proven within 100 games`.
    """
    unit, strength = run.terms.unit, run.strength
    if strength is None:
        return "Undecided: no game counts"
    los = 0.5 if strength.los is None else strength.los
    measured, name = (strength.nelo, "normalised Elo") if unit is Unit.NELO else (strength.elo, "Elo")
    value, low, high = (number(each, "+.0f") for each in (measured.value, measured.low, measured.high))
    figure = f"{value} {name}, 95 % between {low} and {high}"
    bounds = f"{run.terms.low:+g} {name}", f"{run.terms.high:+g} {name}"
    if run.decision is Decision.ACCEPTED:
        word = "Better" if run.terms.low >= 0 or _sign(strength, run) > 0 else "Not worse"
        return f"{word}: {figure}; proven to be above {bounds[0]} within {counted(run.games, 'game')}"
    if run.decision is Decision.REJECTED:
        word = "Worse" if run.terms.high <= 0 or _sign(strength, run) < 0 else "Not better"
        return f"{word}: {figure}; proven to be below {bounds[1]} within {counted(run.games, 'game')}"
    if too_much_by_machine(run):
        share = machine_share(run.by_machine, run.games)
        return f"Undecided: {figure}; {share}, more than {MACHINE_SHARE:.0%}: play again with less load or fewer --jobs"
    tendency = "Probably better" if los >= LIKELY else "Probably worse" if los <= 1 - LIKELY else "Undecided"
    why = ", and further games only repeat these" if run.nothing_new else ""
    return f"{tendency}: {figure}; not proven within {counted(run.games, 'game')}{why}"


def _sign(strength: Strength, run: Report) -> int:
    """Returns 1 or -1 if the whole 95 % interval is on one side of zero, else 0."""
    measured = strength.nelo if run.terms.unit is Unit.NELO else strength.elo
    above = measured.low is not None and measured.low > 0
    return int(above) - int(measured.high is not None and measured.high < 0)


MARKDOWN = FileKind("the result of a gate", re.compile(rb"([^\n]+\n\n)?### [^\n]+ against [^\n]+ at [^\n]+: "))


def markdown(run: Report) -> str:
    """Returns Markdown for a pull request: the decision as its heading, the outcome in a sentence, then the figures."""
    notes = [f"> {escaped(warning)}" for warning in warnings(run)]
    minutes, seconds = divmod(round(run.duration_s), 60)
    played = f"Seed {run.seed}, {minutes} min {seconds} s."
    return _page(run.game, (run.new, run.old), run.decision, f"{sentence(run)}.", lines(run), [*notes, played])


def markdown_of_failure(game: str, names: tuple[str, str], why: str) -> str:
    """Returns Markdown for a run that failed. `names` are of the new bot and the old one."""
    return _page(game, names, FAILED, "", why.splitlines(), [])


def _page(game: str, names: tuple[str, str], end: str, sentence: str, summary: list[str], notes: list[str]) -> str:
    new, old = map(escaped, names)
    block = "\n".join(["```", *(printable(line).replace("`", "'") for line in summary), "```"])
    heading = f"### {new} against {old} at {escaped(game)}: {end}"
    return "\n\n".join(filter(None, [sentence, heading, block, *notes])) + "\n"


def junit(run: Report) -> bytes:
    """Returns JUnit XML with one test case: failed if the new bot is rejected, skipped if the gate is inconclusive."""
    outcome = {Decision.REJECTED: "failure", Decision.INCONCLUSIVE: "skipped"}.get(run.decision, "")
    why: str = run.decision
    if run.decision is Decision.INCONCLUSIVE:
        why = "the machine was busy" if too_much_by_machine(run) else "a limit came first"
    summary = [*lines(run), *warnings(run)]
    return _case(run.game, (run.new, run.old), run.duration_s, outcome, why, summary)


def junit_of_failure(game: str, names: tuple[str, str], why: str) -> bytes:
    """Returns JUnit XML with an error, for a run that failed. `names` are of the new bot and the old one."""
    return _case(game, names, 0.0, "error", FAILED, why.splitlines())


def _case(game: str, names: tuple[str, str], duration_s: float, outcome: str, why: str, summary: list[str]) -> bytes:
    duration = f"{duration_s:.3f}"
    failures, errors, skipped = (str(int(outcome == one)) for one in ("failure", "error", "skipped"))
    counts = {"tests": "1", "failures": failures, "errors": errors, "time": duration}
    name = f"referee gate {game}"
    root = ElementTree.Element("testsuites", {"name": name, **counts})
    suite = ElementTree.SubElement(root, "testsuite", {"name": name, **counts, "skipped": skipped})
    title = printable(" against ".join(names))
    case = ElementTree.SubElement(suite, "testcase", {"classname": name, "name": title, "time": duration})
    element = ElementTree.SubElement(case, outcome, {"message": f"{title}: {why}"}) if outcome else case
    if outcome not in ("failure", "error"):
        element = ElementTree.SubElement(case, "system-out")
    element.text = "\n".join(map(printable, summary))
    ElementTree.indent(root)
    content: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"
