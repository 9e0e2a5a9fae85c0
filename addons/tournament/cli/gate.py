"""`referee gate NEW OLD`: decides whether a new version of a bot may replace the old one."""

import os
import shlex
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter
from rich.text import Text

from referee.addons.tournament import gate as gates
from referee.addons.tournament import organise
from referee.addons.tournament.cli import split as splitting
from referee.addons.tournament.cli.request import continued_by, from_options, game_to_play
from referee.addons.tournament.cli.tournament import new_folder
from referee.addons.tournament.cli.worker_options import WorkerOptions
from referee.addons.tournament.contests import refuse_contest
from referee.addons.tournament.execution.gate_games import play_gate
from referee.addons.tournament.execution.tournament_games import TournamentGames, check_prices, contest_of
from referee.addons.tournament.formats.games import Seating
from referee.addons.tournament.gate import Decision, Gate, Report, Terms, Unit
from referee.addons.tournament.plan import Plan, read_plan
from referee.addons.tournament.reports import exported, gate_report
from referee.addons.tournament.reports.counted_games import endings, models_used, of_plan
from referee.addons.tournament.reports.fairness import fairness
from referee.addons.tournament.reports.gate_faults import fault_groups
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.ledger import PLAN, Ledger
from referee.games.game import Game as Rules
from referee.harness.check.output import write
from referee.harness.cli.exit_codes import AT_FAULT, INCONCLUSIVE, PLAYED, SoFar
from referee.harness.cli.options import (
    MORE,
    MORE_TITLE,
    GameName,
    Json,
    OpeningOptions,
    Seats,
    Seed,
    SetupOptions,
    one_of,
)
from referee.harness.cli.reports.text import printable
from referee.harness.cli.running_line import EVERY, Every, RunningLine
from referee.harness.cli.screen import err, out, print_result, progress, warn
from referee.harness.cli.signals import Ended, run
from referee.harness.common.errors import FOR_USERS, RunError, UsageError
from referee.harness.common.known_games import typed_game
from referee.harness.common.measures import in_standings
from referee.harness.common.output import JUNIT

CODES = {Decision.ACCEPTED: PLAYED, Decision.REJECTED: AT_FAULT, Decision.INCONCLUSIVE: INCONCLUSIVE}

UNIT = one_of("unit")


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class TermOptions:
    """When the gate decides."""

    elo: Annotated[tuple[float, float] | None, Parameter(group=("Options", UNIT))] = None
    """LOW HIGH: reject a bot that is better by at most LOW Elo, accept one that is better by at least HIGH. Default:
    0 30."""
    nelo: Annotated[tuple[float, float] | None, Parameter(group=(MORE_TITLE, UNIT))] = None
    """LOW HIGH: the same in normalised Elo, for which the number of games does not depend on the share of draws."""
    alpha: Annotated[float, MORE] = 0.05
    """How often a bot may be accepted that should be rejected."""
    beta: Annotated[float, MORE] = 0.05
    """How often a bot may be rejected that should be accepted."""
    max_games: int = 20_000
    """Inconclusive after this many games."""
    max_minutes: float | None = None
    """Inconclusive after this many minutes; those of a tuning count too. Default: 30 for the gate."""
    max_cost: Annotated[float | None, MORE] = None
    """Inconclusive when language models have cost this many dollars in all games of the command."""

    def terms(self, seats: int) -> Terms:
        """Returns the terms. UsageError if they make no sense for a game with that number of seats."""
        chosen = [(unit, bounds) for unit in Unit if (bounds := getattr(self, unit)) is not None]
        unit, (low, high) = chosen[0] if chosen else (Unit.ELO, (0.0, 30.0))
        max_minutes = Terms().max_minutes if self.max_minutes is None else self.max_minutes
        limits = self.max_games, max_minutes, self.max_cost
        return gates.checked(Terms(unit, low, high, self.alpha, self.beta, *limits), seats)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ReportFiles:
    """Files for other programs."""

    markdown: Path | None = None
    """Write the result as Markdown, for a pull request, to this file."""
    junit: Path | None = None
    """Write the result as JUnit XML to this file."""

    def check(self) -> None:
        """UsageError for a place that another file has."""
        for path, kind in ((self.markdown, gate_report.MARKDOWN), (self.junit, JUNIT)):
            if path is not None:
                kind.check_place(path)

    def write(self, markdown: str, junit: bytes) -> None:
        """Writes the files that are asked for. RunError if that fails."""
        for path, content in ((self.markdown, markdown.encode()), (self.junit, junit)):
            if path is not None:
                write(path, content)


def gate(
    new: str,
    old: str,
    *,
    game: GameName,
    when: TermOptions = TermOptions(),
    seats: Seats = None,
    seed: Seed = None,
    no_vary: Annotated[bool, MORE] = False,
    split: Annotated[bool, MORE] = False,
    setup: SetupOptions = SetupOptions(),
    book: OpeningOptions = OpeningOptions(),
    ledger: Path | None = None,
    resume: bool = False,
    workers: WorkerOptions = WorkerOptions(),
    every: Every = EVERY,
    export: Annotated[tuple[str, Path] | None, MORE] = None,
    files: ReportFiles = ReportFiles(),
    json: Json = False,
) -> int:
    """Tests whether a new bot is better than the old one.

    Plays them against each other until that is clear.

    Every seed is played with the new bot at every seat; in games for more than two the old one has all other seats.
    Exit codes: 0 accepted, 1 rejected, 2 usage, 3 the run itself failed, 4 a limit came first: inconclusive.

    Args:
        new: The new version, as for a match.
        old: The old version.
        no_vary: Play every game from the usual start, also if the rules have no luck: then many games are repeats.
        split: Play two more gates: the new bot's set-up with the old bot's play, and the reverse. Each may play as many
            games and take as many minutes as the first.
        ledger: A folder for the games, which `referee tournament show` reads. Default: a new one in ./tournaments.
        resume: Continue with the games in that folder.
        export: FORMAT FILE: write the games in another format too: pgn or sgf.
        every: Without a terminal, print a line about the run after every N games; 0 = never.
    """
    if ledger is not None:
        refuse_contest(ledger)
    # before the game's name is looked up: the folder may have a copy of its rules
    before = read_plan(ledger / PLAN) if resume and ledger is not None else None
    rules = game_to_play(typed_game(game), seats, before)
    seats = rules.seats.start
    if export is not None:
        exported.check(export[0], rules.name, export[1], book.openings)
    files.check()
    terms = when.terms(seats)
    if split:
        splitting.check(rules)
    if resume and ledger is None:
        raise UsageError("--resume needs --ledger, the folder to continue with")
    names = new, old
    try:
        with ExitStack() as stack:
            folder = new_folder(f"{rules.name}-gate") if ledger is None else ledger
            request = from_options(rules, (new, *[old] * (seats - 1)), setup, before, seed)
            read = book.read(rules, request.options)
            openings = read[0] if read else before.openings if before else None  # the book itself may be large
            del read
            varying = {} if no_vary or openings else varied(rules, setup)
            request = msgspec.structs.replace(
                request,
                format="two-player",
                seating=Seating.SEED_GROUP,
                games=terms.max_games // seats * seats,
                options=varying | dict(request.options),
                openings=openings,
            )
            say_left_out(rules, request.options)
            plan = stack.enter_context(organise.arranged(request, folder, resume, fewer=True))
            names = plan.bots[0].name, plan.bots[1].name
            if plan.programs[1] == 0:
                err.print(f"{printable(names[0])} and {printable(names[1])} are the same program")
            with progress() as show:
                plan, programs = organise.programs(plan, folder, progress=show)
            check_prices(programs, terms.max_cost)
            opened = stack.enter_context(closing(Ledger(folder, msgspec.to_builtins(plan))))
            games = TournamentGames(plan, opened, reader.read(folder), max_cost=terms.max_cost)
            contest = contest_of(plan, programs, "all", folder)
            again = f"the same command with --ledger {shlex.quote(str(folder))} --resume"
            report = decided(games, workers.opened(contest), terms, rules.title, names, every, again)
            if split:
                parts = splitting.played(
                    rules,
                    request,
                    folder,
                    lambda games, opening, part: decided(games, opening, terms, rules.title, (part, names[1]), every),
                    workers.opened,
                )
                report = msgspec.structs.replace(report, split=parts)
            settings = [f"{name}={value}" for name, value in varying.items()]
            command = [*setup.command(rules), *(word for each in settings for word in ("--set", each))]
            report = msgspec.structs.replace(
                report,
                faults=fault_groups(plan, folder, games.book, report.games, (new, old), command),
                varied=_start(plan, settings),
                ledger=str(folder),
            )
            if export is not None:
                exported.export(export[0], plan, folder, games.book, export[1], f"{names[0]} against {names[1]}")
    except (*FOR_USERS, Ended, SoFar) as error:
        with suppress(RunError):  # the error that ended the run matters more
            why = str(error)
            _annotate("error", f"{rules.title}: {printable(' against '.join(names))}: {printable(why.splitlines()[0])}")
            files.write(
                gate_report.markdown_of_failure(rules.title, names, why),
                gate_report.junit_of_failure(rules.title, names, why),
            )
        raise
    try:
        files.write(gate_report.markdown(report), gate_report.junit(report))
    except RunError as error:
        raise SoFar(error, report, _shown(report)) from error
    _annotate("notice" if report.decision is Decision.ACCEPTED else "error", _title(report))
    print_result(report, _shown(report), json)
    if not json:
        if look := next((group.look for group in report.faults if group.look), ()):
            out.print(printable(f"look    {shlex.join(look)}"), style="dim")
        out.print(printable(f"ledger  {folder}"), style="dim")
    for warning in () if json else gate_report.warnings(report):
        warn(warning)
    return CODES[report.decision]


def _start(plan: Plan, settings: Sequence[str]) -> str:
    """Says how games begin; empty = all from the usual position."""
    if plan.openings is not None:
        return f"pairs of games begin with the openings of {Path(plan.openings.file).name}, {plan.openings.order}"
    return f"games begin from varied positions ({', '.join(settings)})" if settings else ""


def varied(game: Rules, setup: SetupOptions) -> dict[str, Any]:
    """Returns options that make games differ if the rules have no luck, except those that the user has set."""
    chosen = {setting.partition("=")[0] for setting in setup.rules.set}
    return {name: value for name, value in game.vary.items() if name not in chosen}


def say_left_out(game: Rules, options: Mapping[str, Any]) -> None:
    """Says what bots are not asked for, because an option takes it away."""
    usual = game.options()
    for name, what in game.leaves_out.items():
        if (value := options.get(name, getattr(usual, name))) != getattr(usual, name):
            err.print(f"{name}={msgspec.json.encode(value).decode()}: {what}")


def decided(
    games: TournamentGames,
    opening: Any,
    terms: Terms,
    title: str,
    names: tuple[str, str],
    every: int = EVERY,
    again: str = "",
) -> Report:
    """Plays until the gate decides or a limit comes first. Raises SoFar if the run breaks off after some games.

    `again`: the command that continues, for the message of an error.
    """
    deciding = Gate(terms, games.plan.seats)
    started = time.monotonic()

    def so_far() -> Report:
        report = deciding.report(title, names, games.plan.seed, games.book.count, time.monotonic() - started)
        book = of_plan(games.plan, games.book)
        used = models_used(games.plan, book)
        new = used.pop(0, None)
        kinds = ((kind, times) for _, kind, times in endings(games.plan, book))
        by_machine = fairness(kinds, book).text
        return msgspec.structs.replace(
            report, model_new=new, model_old=in_standings().total(used.values()), fairness=by_machine
        )

    try:
        with continued_by(again, games.book):
            run(_play, games, opening, deciding, RunningLine(every, games.book.count))
    except (RunError, Ended) as error:
        if deciding.so_far.seed_groups:
            raise SoFar(error, so_far(), _shown(so_far())) from error
        raise
    return so_far()


async def _play(games: TournamentGames, opening: Any, deciding: Gate, line: RunningLine) -> None:
    def counted() -> None:
        line.show(deciding.so_far.games, lambda per_minute: gate_report.running(deciding.so_far, per_minute))

    with progress():
        async with opening as pool:
            max_s = 60 * (deciding.so_far.terms.max_minutes or inf)
            await play_gate(games, pool, deciding, counted, max_s)


def _title(report: Report) -> str:
    return f"{report.game}: {printable(report.new)} against {printable(report.old)}: {report.decision}"


def _shown(report: Report) -> Text:
    lines = f"{_title(report)}   (seed {report.seed})", *map(printable, gate_report.lines(report))
    return Text("\n").join(map(Text, lines))


def _annotate(level: str, text: str) -> None:
    """Shows a text on GitHub's pages, if this is a GitHub action."""
    if os.environ.get("GITHUB_ACTIONS") == "true":
        err.print(f"::{level} title=referee gate::{text.translate(_COMMAND)}")


_COMMAND = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
"""The escapes of GitHub's workflow commands."""
