"""The verdict of a match or a series: who won and why, faults, and what the bots used."""

import shlex
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from referee.games.contract import Player
from referee.games.ending import reason_in_words, winners
from referee.games.game import Game, Stakes
from referee.harness.cli.reports.advice import advice
from referee.harness.cli.reports.figures import interval
from referee.harness.cli.reports.losers import losers
from referee.harness.cli.reports.rows import Sheet
from referee.harness.cli.reports.text import LINE_CHARACTERS, counted, cut, printable
from referee.harness.common.measures import Record, in_standings, measured, measures
from referee.harness.isolation.plan import why_lost
from referee.harness.match.interval import mean_interval
from referee.harness.match.series import Outcome, drawn_order
from referee.harness.match.verdict import (
    Verdict,
    core_wait_words,
    decided_by_machine,
    machine_share,
    noise_report,
)
from referee.harness.replay.lines import FaultReport, SeatSummary, more_faults
from referee.protocol.text import mebibytes

NOTABLE_AWAY_S = 1.0
"""In many matches the referee itself does not run for some hundredths of a second. Nobody is charged for them."""


def verdict(match: Verdict, game: Game) -> RenderableType:
    """Returns who won and why, why the others lost, what each bot used, the faults, and the paths of files."""
    parts: list[RenderableType] = [headline(match, game), *losers(match, game), _seats(match.seats)]
    remarks = [measure.remark(seat) for seat in match.seats for measure in measures()]
    parts += [Text(remark) for remark in remarks if remark]
    for fault in match.faults:
        parts += [_fault(fault, game), *_leads(fault, match)]
    for player, more in enumerate(more_faults(match.seats, match.faults)):
        if more:
            who = f"seat {player} ({printable(match.seats[player].name)})"
            parts.append(Text(f"{counted(more, 'more fault')} by {who}, not shown"))
    if match.faults and match.again:
        parts.append(Text(f"reproduce with: {shlex.join(match.again)}", style="dim"))
    parts += noise([match])
    if match.replay is not None:
        parts.append(
            Text(f"replay  {match.replay}  ({counted(match.turns, 'turn')} in {match.duration_s:.2f} s)", style="dim")
        )
    for seat in match.seats:
        if seat.stderr is not None:
            parts.append(Text(f"stderr  {seat.stderr}  ({printable(seat.name)})", style="dim"))
    return Group(*parts)


def noise(matches: Sequence[Verdict]) -> list[Text]:
    """Returns what the machine did: isolation lost, games that it may have decided, slowed calls, a stopped referee."""
    report = noise_report(matches)
    lost = {layer: why for match in matches for layer, why in match.lost_layers.items()}
    lines = [
        Text(f"isolation was without {layer}: {why_lost(layer)} ({why})", style="yellow") for layer, why in lost.items()
    ]
    if report.noisy_calls:
        were = "was" if report.noisy_calls == 1 else "were"
        text = f"{report.noisy_calls:,} of {counted(report.calls, 'call')} {were} slowed by machine load"
        faults = f", {report.noisy_faults:,} of {counted(report.faults, 'fault')}" if report.faults else ""
        lines.append(Text(text + faults, style="yellow"))
    if share := machine_share(sum(map(decided_by_machine, matches)), len(matches)):
        lines.append(Text(share, style="yellow"))
    if report.away_s >= NOTABLE_AWAY_S:
        lines.append(Text(f"the referee itself did not run for {report.away_s:.2f} s", style="dim"))
    return lines


def headline(match: Verdict, game: Game, seated: bool = False) -> Text:
    """Returns who won and why, in a line. `seated` adds the bots in the order of their seats."""
    names, result = [seat.name for seat in match.seats], match.result
    style = "bold yellow" if set(result.ranks) == {1} else "bold green"
    line = Text(printable(winners(result, names)), style=style)
    line.append(f": {printable(reason_in_words(game.presentation.endings, result, names))}", style="none")
    seats = f"seats {printable(', '.join(names))}; " if seated else ""
    return line.append(f"   ({game.title}, {seats}seed {match.seed})", style="dim")


def _seats(seats: Sequence[SeatSummary]) -> Sheet:
    shown = [each for each in measures() if any(measured(seat, each.name) is not None for seat in seats)]
    columns = [column for measure in shown for column in measure.columns(Record.SEAT)]
    sheet = Sheet(("seat", "bot", "program"), ("rank", "score", "calls", "time", *columns, "CPU", "memory"))
    for player, seat in enumerate(seats):
        sheet.add(
            str(player),
            Text(printable(seat.name)),
            Text(" ".join(filter(None, (printable(seat.program or ""), seat.encoding and f"({seat.encoding})")))),
            str(seat.rank),
            f"{seat.score:g}",
            str(seat.calls),
            f"{seat.wall_s:.3f} s",
            *[cell for each in shown if each.columns(Record.SEAT) for cell in each.cells(measured(seat, each.name))],
            f"{seat.cpu_s:.2f} s",
            mebibytes(seat.peak_memory_bytes),
        )
    return sheet


def _leads(fault: FaultReport, match: Verdict) -> list[Text]:
    leads = []
    if match.replay is not None and fault.turn > 0:
        show = ["referee", "replay", "show", match.replay, "--from", str(fault.turn - 1), "--to", str(fault.turn)]
        leads.append(f"show the turn: {shlex.join(show)}")
    if what := advice(fault, match.seats[fault.player].command):
        leads.append(f"advice: {printable(what)}")
    if fault.bundle is not None:
        repro = shlex.join(["referee", "repro", fault.bundle, *_typed_bot(match, fault.player)])
        leads.append(f"fault report: {fault.bundle} ({repro})")
    if fault.rules:
        page, _, section = fault.rules.partition(", ")
        how = "" if page == "SPEC.md" else f" (referee rules {match.game} {section or page})"
        leads.append(f"rule: {fault.rules}{how}")
    return [Text(f"  {lead}", style="dim") for lead in leads]


def _typed_bot(match: Verdict, player: Player) -> list[str]:
    """Returns the bot at a seat as the command line named it; empty if it did not."""
    if not match.again:
        return []
    count = len(match.seats)
    place = drawn_order(match.seed, count)[player] if "--chaos" in match.again else player
    return [match.again[place - count]]


def _fault(fault: FaultReport, game: Game) -> Text:
    text = Text().append(f"fault: {fault.kind}", style="bold red")
    call = f"{fault.call} {fault.method}".rstrip()
    text.append(f" by seat {fault.player} ({printable(fault.name)}), call {call}: ")
    text.append(f"{printable(fault.detail)}; {fault.penalty}")
    if fault.host_noise:
        text.append(f"\n  {core_wait_words(fault.waited_s, fault.wall_s)}", style="yellow")
    if fault.exit is not None:
        text.append(f"\n  the process had exited: {fault.exit}")
    if fault.answer:
        text.append("\n  answer: ", style="dim").append(cut(fault.answer))
    heading, lines = "standard error during this call", fault.said
    if not lines:
        heading, lines = "last lines of standard error before this call", fault.last_words
    if fault.position:
        drawing = [*fault.position.split("\n"), *filter(None, [game.presentation.legend_line()])]
        text.append("\n  position:", style="dim").append("".join(f"\n    {printable(line)}" for line in drawing))

    if lines:
        text.append(f"\n  {heading}:", style="dim")
    for line in lines:
        text.append(f"\n    {printable(line)[:LINE_CHARACTERS]}")
    return text


def outcome(series: Outcome, title: str, of: int | None = None, stakes: Stakes | None = None) -> RenderableType:
    """Returns the standings of several matches, or the score of a best-of match.

    Args:
        series: The matches.
        title: The game's title.
        of: How many games were planned, if the series ended early.
        stakes: What a match was played for, where scores are amounts: the mean of a game is shown, with its interval.
    """
    played = counted(len(series.matches), "game") + ("" if of is None else f" of {of}")
    if series.best_of is not None:
        played = f"{_larger_match(series)} after {played}, best of {series.best_of}"
    paid = {} if stakes is None else _scores(series, stakes)
    counts = ("played", "wins", "draws", "losses", "points", *(["score a game"] if paid else []), "faults")
    measure = in_standings()
    costs = measure.columns(Record.STANDING) if any(measured(line, measure.name) for line in series.standings) else ()
    sheet = Sheet(("bot",), (*counts, *costs), title=f"{title}: {played}, seed {series.seed}")
    for line in sorted(series.standings, key=lambda line: -line.points):
        row: tuple[object, ...] = (line.played, line.wins, line.draws, line.losses, f"{line.points:g}")
        row += (*([interval(mean_interval(paid[line.name]), ".3f")] if paid else []), line.faults)
        row += measure.cells(measured(line, measure.name)) if costs else ()
        sheet.add(Text(printable(line.name)), *map(str, row))
    return Group(sheet, *noise(series.matches))


def _scores(series: Outcome, stakes: Stakes) -> dict[str, list[tuple[float, int]]]:
    """Returns by bot what each game was worth to it. A fault that decided one costs the most that can be lost."""
    paid: dict[str, list[tuple[float, int]]] = {line.name: [] for line in series.standings}
    for match in series.matches:
        lost = [bool(seat.faults) for seat in match.seats]
        scores = stakes.after_faults(lost) if any(lost) else match.result.scores
        for seat, score in zip(match.seats, scores, strict=True):
            paid[seat.name].append((score, 1))
    return paid


def _larger_match(series: Outcome) -> str:
    """Returns, for example, `one beats two 51–37`."""
    first, second = sorted(series.standings, key=lambda line: -line.wins)
    score = f"{first.wins}–{second.wins}"
    if first.wins == second.wins:
        return f"a draw {score} between {printable(first.name)} and {printable(second.name)}"
    return f"{printable(first.name)} beats {printable(second.name)} {score}"
