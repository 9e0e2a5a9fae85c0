"""`referee gate NEW OLD`: decides whether a new version of a bot may replace the old one."""

import os
import time
from collections.abc import Mapping
from contextlib import ExitStack, closing, suppress
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter
from rich.text import Text

from referee.games.game import Game as Rules
from referee.harness.check.output import write
from referee.harness.cli.exit_codes import AT_FAULT, INCONCLUSIVE, PLAYED, SoFar
from referee.harness.cli.options import Flag, LimitOptions, RuleOptions, TimeOptions, find_game
from referee.harness.cli.reports.text import printable
from referee.harness.cli.screen import err, out, print_json, progress
from referee.harness.cli.signals import Ended, run
from referee.harness.cli.tournament_request import from_options
from referee.harness.cli.worker_options import WorkerOptions
from referee.harness.errors import NoRoom, RunError, UsageError
from referee.harness.tournament import gate as gates
from referee.harness.tournament import organise
from referee.harness.tournament.execution.gate_games import play_gate
from referee.harness.tournament.execution.tournament_games import TournamentGames, contest_of
from referee.harness.tournament.formats.games import Seating
from referee.harness.tournament.gate import Decision, Gate, Report, Terms, Unit
from referee.harness.tournament.model import read_plan
from referee.harness.tournament.reports import gate_report
from referee.harness.tournament.store import reader
from referee.harness.tournament.store.ledger import PLAN, Ledger

Pair = Annotated[tuple[float, float] | None, Parameter(negative=())]
CODES = {Decision.ACCEPTED: PLAYED, Decision.REJECTED: AT_FAULT, Decision.INCONCLUSIVE: INCONCLUSIVE}


def gate(
    new: str,
    old: str,
    *,
    game: str,
    elo: Pair = None,
    nelo: Pair = None,
    points: Pair = None,
    alpha: float = 0.05,
    beta: float = 0.05,
    anytime: Flag = False,
    max_games: int = 20_000,
    max_minutes: float = 30.0,
    seed: int | None = None,
    no_vary: Flag = False,
    rules: RuleOptions = RuleOptions(),
    times: TimeOptions = TimeOptions(),
    limit_options: LimitOptions = LimitOptions(),
    ledger: Path | None = None,
    resume: Flag = False,
    workers: WorkerOptions = WorkerOptions(),
    markdown: Path | None = None,
    junit: Path | None = None,
    json: Flag = False,
    **game_options: Annotated[str, Parameter(help="An option of the game's rules; `referee games` lists them.")],
) -> int:
    """Plays a new bot against the old one until it is clear whether it is better.

    Every seed is played with the new bot at every seat; in games for more than two the old one has all other seats.
    Exit codes: 0 accepted, 1 rejected, 2 usage, 3 the run itself failed, 4 a limit came first: inconclusive.

    Parameters
    ----------
    new
        The new version, as for a match.
    old
        The old version.
    game
        The game's name.
    elo
        LOW HIGH: reject a bot that is better by at most LOW Elo, accept one that is better by at least HIGH. Default:
        0 30.
    nelo
        The same in normalised Elo, for which the number of games does not depend on the share of draws.
    points
        The same in the share of the points above one half, in hundredths: 0 3 = at most 50 %, at least 53 %.
    alpha
        How often a bot may be accepted that should be rejected.
    beta
        How often a bot may be rejected that should be accepted.
    anytime
        Decide by betting, which keeps alpha and beta at every look; always so with --points.
    max_games
        Inconclusive after this many games.
    max_minutes
        Inconclusive after this time.
    seed
        The seed of all luck. By default one is drawn and printed.
    no_vary
        Play every game from the usual start, also if the rules have no luck: then many games are repeats.
    ledger
        A folder for the games, which `referee tournament show` reads. By default they are thrown away.
    resume
        Continue with the games in that folder.
    markdown
        Write the result as Markdown, for a pull request, to this file.
    junit
        Write the result as JUnit XML to this file.
    json
        Print one machine-readable object on standard output and nothing else.
    """
    rules_of = find_game(game)
    seats = rules_of.seats.start
    terms = gates.checked(_terms(elo, nelo, points, alpha, beta, anytime, max_games, max_minutes), seats)
    workers.check()
    if resume and ledger is None:
        raise UsageError("--resume needs --ledger, the folder to continue with")
    names = new, old
    try:
        with ExitStack() as stack:
            folder = ledger or Path(stack.enter_context(TemporaryDirectory(prefix="referee-gate-")))
            before = read_plan(folder / PLAN) if resume else None
            request = from_options(
                rules_of, (new, *[old] * (seats - 1)), rules, times, limit_options, game_options, before, seed
            )
            request = msgspec.structs.replace(
                request,
                format="two-player",
                seating=Seating.ORBIT,
                games=terms.max_games // seats * seats,
                options=({} if no_vary else _varied(rules_of, rules, game_options)) | dict(request.options),
            )
            plan = stack.enter_context(organise.arranged(request, folder, resume, fewer=True))
            names = plan.bots[0].name, plan.bots[1].name
            if plan.programs[1] == 0:
                err.print(Text(f"{printable(names[0])} and {printable(names[1])} are the same program"))
            with progress() as report:
                plan, programs = organise.programs(plan, folder, progress=report)
            with closing(Ledger(folder, msgspec.to_builtins(plan))) as opened:
                games = TournamentGames(plan, opened, reader.read(folder))
                contest = contest_of(plan, programs, "none" if ledger is None else "all", folder)
                outcome = _decided(games, workers.opened(contest), terms, rules_of.title, names)
    except (RunError, UsageError, NoRoom, Ended, SoFar) as error:
        with suppress(RunError):  # the error that ended the run matters more
            _report_failure(rules_of.title, names, str(error), markdown, junit)
        raise
    _report(outcome, markdown, junit, json)
    return CODES[outcome.decision]


def _varied(game: Rules, rules: RuleOptions, game_options: Mapping[str, str]) -> dict[str, Any]:
    """Returns options that make games differ if the rules have no luck, except those that the user has set."""
    chosen = {name.replace("-", "_") for name in game_options} | {setting.partition("=")[0] for setting in rules.set}
    return {name: value for name, value in game.vary.items() if name not in chosen}


def _terms(
    elo: tuple[float, float] | None,
    nelo: tuple[float, float] | None,
    points: tuple[float, float] | None,
    alpha: float,
    beta: float,
    anytime: bool,
    max_games: int,
    max_minutes: float,
) -> Terms:
    options = {Unit.ELO: elo, Unit.NELO: nelo, Unit.POINTS: points}
    chosen = [(unit, bounds) for unit, bounds in options.items() if bounds is not None]
    if len(chosen) > 1:
        raise UsageError(f"{' and '.join(f'--{unit}' for unit, _ in chosen)} cannot be combined")
    unit, (low, high) = chosen[0] if chosen else (Unit.ELO, (0.0, 30.0))
    return Terms(unit, low, high, alpha, beta, anytime, max_games, max_minutes)


def _decided(games: TournamentGames, opening: Any, terms: Terms, title: str, names: tuple[str, str]) -> Report:
    """Plays until the gate decides or a limit comes first. Raises SoFar if the run breaks off after some games."""
    deciding = Gate(terms, games.plan.seats)
    started = time.monotonic()

    def so_far() -> Report:
        return deciding.report(title, names, games.plan.seed, games.book.count, time.monotonic() - started)

    try:
        run(_play, games, opening, deciding)
    except (RunError, Ended) as error:
        if deciding.so_far.seed_groups:
            raise SoFar(error, so_far(), _shown(so_far())) from error
        raise
    return so_far()


async def _play(games: TournamentGames, opening: Any, deciding: Gate) -> None:
    with progress() as show:
        async with opening as pool:
            max_s = 60 * (deciding.so_far.terms.max_minutes or inf)
            await play_gate(games, pool, deciding, lambda: show(_so_far(deciding.so_far)), max_s)


def _so_far(gate: Report) -> str:
    results = gate_report.compared(gate)
    low, high = gate.limits
    evidence = f"LLR {gate.llr:.2f} ({low:.2f}, {high:.2f})"
    if gate.terms.bets:
        evidence = f"bets {gate.wealth[0]:.2f} against H0, {gate.wealth[1]:.2f} against H1"
    return f"{gate.games:,} games  {results}  {evidence}"


def _report(report: Report, to_markdown: Path | None, to_junit: Path | None, json: bool) -> None:
    shown = _shown(report)
    try:
        if to_markdown is not None:
            write(to_markdown, gate_report.markdown(report).encode())
        if to_junit is not None:
            write(to_junit, gate_report.junit(report))
    except RunError as error:
        raise SoFar(error, report, shown) from error
    _annotate("notice" if report.decision is Decision.ACCEPTED else "error", _title(report))
    if json:
        print_json(report)
        return
    out.print(shown)
    for warning in gate_report.warnings(report):
        err.print(Text.assemble(("warning: ", "bold yellow"), printable(warning)))


def _title(report: Report) -> str:
    return f"{report.game}: {printable(report.new)} against {printable(report.old)}: {report.decision}"


def _shown(report: Report) -> Text:
    lines = f"{_title(report)}   (seed {report.seed})", *map(printable, gate_report.lines(report))
    return Text("\n").join(map(Text, lines))


def _report_failure(
    game: str, names: tuple[str, str], why: str, to_markdown: Path | None, to_junit: Path | None
) -> None:
    """Writes the reports of a run that failed. `main` prints the error."""
    _annotate("error", f"{game}: {printable(' against '.join(names))}: {printable(why.splitlines()[0])}")
    if to_markdown is not None:
        write(to_markdown, gate_report.markdown_of_failure(game, names, why).encode())
    if to_junit is not None:
        write(to_junit, gate_report.junit_of_failure(game, names, why))


def _annotate(level: str, text: str) -> None:
    """Shows a text on GitHub's pages, if this is a GitHub action."""
    if os.environ.get("GITHUB_ACTIONS") == "true":
        err.print(Text(f"::{level} title=referee gate::{text.translate(_COMMAND)}"))


_COMMAND = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
"""The escapes of GitHub's workflow commands."""
