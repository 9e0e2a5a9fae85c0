"""`referee gate NEW OLD`: whether a new version of a bot may take the place of the old one."""

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter
from rich.text import Text

from referee.games.contract import Game as Rules
from referee.harness.check.output import write
from referee.harness.cli.exit_codes import AT_FAULT, INCONCLUSIVE, PLAYED, SoFar
from referee.harness.cli.options import Flag, LimitOptions, RuleOptions, TimeOptions, find_game
from referee.harness.cli.reports.text import printable
from referee.harness.cli.screen import err, out, print_json, progress
from referee.harness.cli.signals import Ended, run
from referee.harness.cli.tournament_request import asked_for
from referee.harness.cli.worker_options import LaneOptions
from referee.harness.errors import NoRoom, RunError, UsageError
from referee.harness.tournament import gate as gates
from referee.harness.tournament import organise
from referee.harness.tournament.execution.gate_games import play_orbits
from referee.harness.tournament.execution.runner import Run, Shard, contest_of
from referee.harness.tournament.formats.schedules import Seating
from referee.harness.tournament.gate import Decision, Game, Gate, Report, Terms, Unit
from referee.harness.tournament.model import read_plan
from referee.harness.tournament.reports import gate_report
from referee.harness.tournament.store import ledger as ledgers
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
    lanes: LaneOptions = LaneOptions(),
    markdown: Path | None = None,
    junit: Path | None = None,
    json: Flag = False,
    **game_options: Annotated[str, Parameter(help="An option of the game's rules; `referee games` lists them.")],
) -> int:
    """Plays a new bot against the old one until it is clear whether it is better.

    Every seed is played with the new bot at every seat; in games for more than two the old one has all others.
    Exit codes: 0 accepted, 1 rejected, 2 usage, 3 the run itself failed, 4 a cap came first: inconclusive.

    Parameters
    ----------
    new
        The bot that is to be accepted, as for a match.
    old
        The bot that it is compared with.
    game
        The game's name.
    elo
        LOW HIGH: rejected is a bot that is better by LOW Elo or less, accepted one that is better by HIGH or more.
        Default: 0 30.
    nelo
        The same in normalised Elo, whose number of games does not depend on how many are drawn.
    points
        The same in the share of the points above one half, in hundredths: 0 3 = 50 % or less, 53 % or more.
    alpha
        How often a bot may be accepted that should be rejected.
    beta
        How often a bot may be rejected that should be accepted.
    anytime
        Decide by betting, which keeps alpha and beta at whatever moment one looks; with --points always.
    max_games
        Inconclusive after so many.
    max_minutes
        Inconclusive after so long.
    seed
        The seed of all luck. Without it one is drawn, and printed.
    no_vary
        Play every game from the usual start, also where the rules leave nothing to luck: then many games are copies.
    ledger
        A folder for what is played: `referee tournament show` reads it. Default: it is thrown away.
    resume
        Go on with what that folder has.
    markdown
        Write the result as Markdown, for a pull request, to this file.
    junit
        Write the result as JUnit's XML to this file.
    json
        Print one machine-readable object on standard output and nothing else.
    """
    rules_of = find_game(game)
    seats = rules_of.seats.start
    terms = gates.checked(_terms(elo, nelo, points, alpha, beta, anytime, max_games, max_minutes), seats)
    lanes.checked()
    if resume and ledger is None:
        raise UsageError("--resume: needs --ledger, the folder to go on with")
    names = new, old
    try:
        with ExitStack() as stack:
            folder = ledger or Path(stack.enter_context(TemporaryDirectory(prefix="referee-gate-")))
            before = read_plan(folder / PLAN) if resume else None
            request = asked_for(
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
                games = Run(plan, opened, ledgers.read(folder), Shard())
                contest = contest_of(plan, programs, "none" if ledger is None else "all", folder)
                outcome = _decided(games, lanes.opened(contest), terms, rules_of.title, names)
    except (RunError, UsageError, NoRoom, Ended, SoFar) as error:
        with suppress(RunError):  # the error that ended the run is the one to report
            _tell_failure(rules_of.title, names, str(error), markdown, junit)
        raise
    _tell(outcome, markdown, junit, json)
    return CODES[outcome.decision]


def _varied(game: Rules, rules: RuleOptions, game_options: Mapping[str, str]) -> dict[str, Any]:
    """The options that make games differ where the rules leave nothing to luck, as far as they were not given."""
    given = {name.replace("-", "_") for name in game_options} | {setting.partition("=")[0] for setting in rules.set}
    return {name: value for name, value in game.vary.items() if name not in given}


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
    given = {Unit.ELO: elo, Unit.NELO: nelo, Unit.POINTS: points}
    chosen = [(unit, bounds) for unit, bounds in given.items() if bounds is not None]
    if len(chosen) > 1:
        raise UsageError(f"{' '.join(f'--{unit}' for unit, _ in chosen)}: one of them")
    unit, (low, high) = chosen[0] if chosen else (Unit.ELO, (0.0, 30.0))
    return Terms(unit, low, high, alpha, beta, anytime, max_games, max_minutes)


def _decided(games: Run, opening: Any, terms: Terms, title: str, names: tuple[str, str]) -> Report:
    """Plays until it is clear, or a cap comes first. SoFar if that is broken off after some games."""
    deciding = Gate(terms, games.plan.seats)
    started = time.monotonic()

    def reached() -> Report:
        return gates.report(deciding, title, names, games.plan.seed, games.book.count, time.monotonic() - started)

    try:
        run(_play, games, opening, deciding)
    except (RunError, Ended) as error:
        if deciding.orbits:
            raise SoFar(error, reached(), _shown(reached())) from error
        raise
    return reached()


async def _play(games: Run, opening: Any, deciding: Gate) -> None:
    with progress() as show:

        def taken(number: int, orbit: Sequence[Game]) -> bool:
            over = deciding.add(number, orbit) is not None
            show(_so_far(deciding))
            return over

        async with opening as crew:
            await play_orbits(games, crew, taken, 60 * (deciding.terms.max_minutes or float("inf")))
    deciding.give_up()


def _so_far(gate: Gate) -> str:
    results = gate_report.compared(gate.pairs, gate.seats)
    low, high = gate.terms.limits
    evidence = f"LLR {gate.llr:.2f} ({low:.2f}, {high:.2f})"
    if gate.terms.bets:
        evidence = f"bets {gate.wealth[0]:.2f} against H0, {gate.wealth[1]:.2f} against H1"
    return f"{gate.games:,} games  {results}  {evidence}"


def _tell(report: Report, to_markdown: Path | None, to_junit: Path | None, json: bool) -> None:
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


def _tell_failure(game: str, names: tuple[str, str], why: str, to_markdown: Path | None, to_junit: Path | None) -> None:
    """The reports of a run that came to no decision; what it says on a terminal is said by `main`."""
    _annotate("error", f"{game}: {printable(' against '.join(names))}: {printable(why.splitlines()[0])}")
    if to_markdown is not None:
        write(to_markdown, gate_report.markdown_of_failure(game, names, why).encode())
    if to_junit is not None:
        write(to_junit, gate_report.junit_of_failure(game, names, why))


def _annotate(level: str, text: str) -> None:
    """Shows it on the pages of GitHub's, where this is one of its jobs."""
    if os.environ.get("GITHUB_ACTIONS") == "true":
        err.print(Text(f"::{level} title=referee gate::{text.translate(_COMMAND)}"))


_COMMAND = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
"""What GitHub's workflow commands escape."""
