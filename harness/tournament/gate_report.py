"""What a gate tells: lines for a terminal, Markdown for a pull request, JUnit's XML for other programs."""

import math
from xml.etree import ElementTree

from referee.harness.markdown import escaped
from referee.harness.tournament.gate import Decision, Report, Unit
from referee.harness.tournament.stats import Interval


def lines(run: Report) -> list[str]:
    """What is known, a line a kind of figure, as testers of engines are used to read it."""
    found = []
    if run.strength is not None:
        found.append(f"Elo   | {interval(run.strength.elo)} (95 %){_noted(run.strength.note)}")
        found.append(f"nElo  | {interval(run.strength.nelo)} (95 %)")
    if run.terms.unit is Unit.POINTS:
        found.append(f"Points| {100 * run.share:.2f} % of the points")
    bounds = f"[{run.terms.low:g}, {run.terms.high:g}] {run.terms.unit}"
    if run.terms.bets:
        against = f"{run.wealth[0]:.2f} of {-math.log(run.terms.alpha):.2f}"
        other = f"{run.wealth[1]:.2f} of {-math.log(run.terms.beta):.2f}"
        found.append(f"Gate  | bets {against} against H0, {other} against H1, {bounds} {run.decision}")
    else:
        low, high = run.limits
        found.append(f"Gate  | LLR {run.llr:.2f} ({low:.2f}, {high:.2f}) {bounds} {run.decision}")
    pairs = f"W {run.ahead} L {run.behind} D {run.level}"
    faults = f"faults new {run.faults_new}, old {run.faults_old}"
    found.append(f"Games | {run.games:,}: {pairs}, {run.different:,} different; {faults}")
    if len(run.counts) == 5:
        found.append(f"Penta | {list(run.counts)}")
    return found


def warnings(run: Report) -> list[str]:
    """What whoever relies on it should know."""
    found = []
    if run.games and run.different < 0.9 * run.games:
        found.append(
            f"only {run.different} of {run.games} games are different: the others are copies and show nothing new; "
            "an option of the game that varies the start would help"
        )
    if run.faults_new or run.faults_old:
        found.append(f"faults count as the rules say: {run.faults_new} of {run.new}, {run.faults_old} of {run.old}")
    return found


def interval(found: Interval) -> str:
    """`12.3 [3.1, 21.6]`; an end that nobody knows is a question mark."""
    return f"{_figure(found.value)} [{_figure(found.low)}, {_figure(found.high)}]"


def _figure(value: float | None) -> str:
    if value is None:
        return "?"
    return f"{value:.1f}" if math.isfinite(value) else "∞" if value > 0 else "-∞"


def _noted(note: str) -> str:
    return f" {note}" if note else ""


def markdown(run: Report) -> str:
    """For a pull request: the decision as a heading, the figures as they stand in the terminal."""
    title = f"{escaped(run.new)} against {escaped(run.old)} at {escaped(run.game)}: {run.decision}"
    notes = [f"> {escaped(warning)}" for warning in warnings(run)]
    minutes, seconds = divmod(round(run.duration_s), 60)
    figures = [line.replace("`", "'") for line in lines(run)]  # nothing in there ends the block
    played = f"Seed {run.seed}, {minutes} min {seconds} s."
    return "\n\n".join([f"### {title}", "\n".join(["```", *figures, "```"]), *notes, played]) + "\n"


def junit(run: Report) -> bytes:
    """JUnit's XML: one test case, failed if the new bot is rejected, skipped if nothing became clear."""
    duration = f"{run.duration_s:.3f}"
    rejected, unclear = (run.decision is decision for decision in (Decision.REJECTED, Decision.INCONCLUSIVE))
    counts = {"tests": "1", "failures": str(int(rejected)), "errors": "0", "time": duration}
    name = f"referee gate {run.game}"
    root = ElementTree.Element("testsuites", {"name": name, **counts})
    suite = ElementTree.SubElement(root, "testsuite", {"name": name, **counts, "skipped": str(int(unclear))})
    title = _printable(f"{run.new} against {run.old}")
    case = ElementTree.SubElement(suite, "testcase", {"classname": name, "name": title, "time": duration})
    told = "\n".join([*lines(run), *map(_printable, warnings(run))])
    if rejected:
        ElementTree.SubElement(case, "failure", {"message": f"{title}: {run.decision}"}).text = told
    elif unclear:
        ElementTree.SubElement(case, "skipped", {"message": f"{title}: a cap came first"})
    if not rejected:
        ElementTree.SubElement(case, "system-out").text = told
    ElementTree.indent(root)
    content: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _printable(text: str) -> str:
    """`text` without the characters that XML cannot hold."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
