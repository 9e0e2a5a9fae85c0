"""What a gate tells: lines for a terminal, Markdown for a pull request, JUnit's XML for other programs."""

import math
from collections.abc import Sequence
from xml.etree import ElementTree

from referee.harness.markdown import escaped
from referee.harness.tournament.gate import Decision, Report, Unit
from referee.harness.tournament.statistics.score import Interval, Strength

FAILED = "the run failed"
"""In place of a decision."""


def lines(run: Report) -> list[str]:
    """What is known, a line a kind of figure, as testers of engines are used to read it."""
    found = []
    if run.strength is not None:
        found.append(f"Elo   | {interval(run.strength.elo)} (95 %){_noted(run.strength.note)}")
        found.append(f"nElo  | {interval(run.strength.nelo)} (95 %)")
        found.append(f"LOS   | {los(run.strength)}")
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
    faults = f"faults new {run.faults_new}, old {run.faults_old}"
    results = compared((run.ahead, run.level, run.behind), run.seats)
    if run.seats == 2:
        found.append(f"Games | {run.games:,}: {results}, {run.different:,} different; {faults}")
        found.append(f"Penta | {list(run.counts)}")
    else:
        found.append(f"Games | {run.games:,}: {run.different:,} different; {faults}")
        found.append(f"Rivals| {results}")
    return found


def compared(pairs: Sequence[int], seats: int) -> str:
    """What the new bot has made of its rivals: of so many it finished ahead, level, behind. With more than one rival in
    a game these are no games won, drawn and lost."""
    ahead, level, behind = pairs
    if seats == 2:
        return f"W {ahead} L {behind} D {level}"
    return f"{sum(pairs):,} met, {seats - 1} a game: ahead of {ahead:,}, behind {behind:,}, level with {level:,}"


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


def los(found: Strength) -> str:
    """How surely the one is better than the other: `97.52 %`, or a question mark without information."""
    return "?" if found.los is None else f"{100 * found.los:.2f} %"


def _figure(value: float | None) -> str:
    if value is None:
        return "?"
    return f"{value:.1f}" if math.isfinite(value) else "∞" if value > 0 else "-∞"


def _noted(note: str) -> str:
    return f" {note}" if note else ""


def markdown(run: Report) -> str:
    """For a pull request: the decision as a heading, the figures as they stand in the terminal."""
    notes = [f"> {escaped(warning)}" for warning in warnings(run)]
    minutes, seconds = divmod(round(run.duration_s), 60)
    played = f"Seed {run.seed}, {minutes} min {seconds} s."
    return _page(run.game, (run.new, run.old), run.decision, lines(run), [*notes, played])


def markdown_of_failure(game: str, names: tuple[str, str], why: str) -> str:
    """The same of a run that came to no decision; `names` of the new bot and of the old one."""
    return _page(game, names, FAILED, why.splitlines(), [])


def _page(game: str, names: tuple[str, str], end: str, summary: list[str], notes: list[str]) -> str:
    new, old = map(escaped, names)
    block = [_printable(line).replace("`", "'") for line in summary]  # nothing in there ends the block
    return (
        "\n\n".join([f"### {new} against {old} at {escaped(game)}: {end}", "\n".join(["```", *block, "```"]), *notes])
        + "\n"
    )


def junit(run: Report) -> bytes:
    """JUnit's XML: one test case, failed if the new bot is rejected, skipped if nothing became clear."""
    outcome = {Decision.REJECTED: "failure", Decision.INCONCLUSIVE: "skipped"}.get(run.decision, "")
    why = "a cap came first" if run.decision is Decision.INCONCLUSIVE else run.decision
    summary = [*lines(run), *warnings(run)]
    return _case(run.game, (run.new, run.old), run.duration_s, outcome, why, summary)


def junit_of_failure(game: str, names: tuple[str, str], why: str) -> bytes:
    """The same of a run that came to no decision: an error. `names` of the new bot and of the old one."""
    return _case(game, names, 0.0, "error", FAILED, why.splitlines())


def _case(game: str, names: tuple[str, str], duration_s: float, outcome: str, why: str, summary: list[str]) -> bytes:
    duration = f"{duration_s:.3f}"
    failures, errors, skipped = (str(int(outcome == one)) for one in ("failure", "error", "skipped"))
    counts = {"tests": "1", "failures": failures, "errors": errors, "time": duration}
    name = f"referee gate {game}"
    root = ElementTree.Element("testsuites", {"name": name, **counts})
    suite = ElementTree.SubElement(root, "testsuite", {"name": name, **counts, "skipped": skipped})
    title, text = _printable(" against ".join(names)), "\n".join(map(_printable, summary))
    case = ElementTree.SubElement(suite, "testcase", {"classname": name, "name": title, "time": duration})
    found = ElementTree.SubElement(case, outcome, {"message": f"{title}: {why}"}) if outcome else case
    told_in = found if outcome in ("failure", "error") else ElementTree.SubElement(case, "system-out")
    told_in.text = text
    ElementTree.indent(root)
    content: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _printable(text: str) -> str:
    """`text` without the characters that XML cannot hold."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
