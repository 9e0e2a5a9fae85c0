"""`referee check BOT`: checks a bot before it is handed in."""

import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Annotated

from cyclopts import Parameter

from referee.games.game import Game
from referee.harness.check import output
from referee.harness.check.checks import check, not_built, slowed
from referee.harness.check.findings import CheckReport, GameCheck, Level, RuleResult, bot_rules, game_checks
from referee.harness.check.log import LOG, CheckLog
from referee.harness.check.request import Check, Origin
from referee.harness.cli.exit_codes import AT_FAULT, INCONCLUSIVE, PLAYED, SoFar
from referee.harness.cli.options import GameName, Json, Seed, SetupOptions, drawn, path_of, seats_option
from referee.harness.cli.reports.check import check_report
from referee.harness.cli.reports.text import printable
from referee.harness.cli.screen import building, err, print_result, progress
from referee.harness.cli.signals import Ended, run
from referee.harness.common.errors import FOR_USERS, RunError, UsageError, writing
from referee.harness.common.known_games import typed_game
from referee.harness.common.output import JUNIT
from referee.harness.match.rule_options import with_seats
from referee.harness.process.limits import Limits
from referee.harness.programs.build_process import BuildError, NoCore
from referee.harness.programs.built_in import check_seats
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.kinds import split_name
from referee.harness.programs.spec import entrant, name_of, refuse_people
from referee.harness.programs.submitted import missing_in
from referee.harness.programs.zip_archive import bot_in
from referee.harness.seats.trial_start import check_start


def check_bot(
    bot: str | None = None,
    *,
    game: GameName,
    seats: int | None = None,
    seed: Seed = None,
    setup: SetupOptions = SetupOptions(),
    chaos: bool = False,
    junit: Path | None = None,
    json: Json = False,
    strict: bool = False,
    only: Sequence[str] = (),
    log: Annotated[Path | None, Parameter(show=False)] = None,
) -> int:
    """Checks a bot before it is handed in: every call, seat and encoding, pipes, limits and whole matches.

    Without a bot, it checks the rules of a game that are a program: whether they are a pure function of position,
    answers and luck, accept what they list, rule every fault, hide what may not be seen, and end.

    Exit codes: 0 passed, 1 refused (also if the bot is missing or does not build), 2 usage error, 3 the check itself
    failed, for example because of a missing compiler, 4 not decided: the machine was busy.

    Args:
        bot: As for a match, and a zip file of a bot's folder as it is handed in. NAME= before it names the bot. None:
            the rules of the game are checked.
        seats: Check for games with this number of seats, where the rules leave a choice. Default: every number.
        chaos: Also play the whole matches with frames in every form that the protocol allows.
        junit: Write the check as JUnit XML to this file.
        strict: Also refuse the bot for warnings.
        only: Try only this rule, such as many-games. Can be repeated.
        log: Write what the build prints, and what comes of each rule, to this file as it happens.
    """
    if junit is not None:
        JUNIT.check_place(junit)
    if log is not None:
        LOG.check_place(log)
    if bot is None and chaos:
        raise UsageError("--chaos needs a bot, which plays the matches; name one, or leave the option out")
    known = bot_rules() if bot is not None else check_of(typed_game(game)).rules
    for name in only:
        if name not in known:
            raise UsageError(f"--only {name}: no such rule; the rules are {', '.join(known)}")
    try:
        if bot is None:
            bot, report = game, checked_game(game, drawn(seed), setup, only, seats)
        else:
            report = checked(bot, typed_game(game), drawn(seed), setup, only, chaos, CheckLog(log), seats)
    except (*FOR_USERS, Ended) as error:
        if junit is not None:
            with suppress(RunError):  # the error that ended the check matters more
                output.write(junit, output.junit_of_failure(game, bot or game, str(error)))
        raise
    accepted = report.passed and not (strict and report.count(Level.WARNING))
    shown = check_report(report)
    try:
        _write(report, bot, junit, strict, accepted)
    except RunError as error:
        raise SoFar(error, report, shown) from error
    print_result(report, shown, json)
    if report.undecided:
        return INCONCLUSIVE
    return PLAYED if accepted else AT_FAULT


def checked_game(
    spec: str, seed: int, setup: SetupOptions, only: Sequence[str], seats: int | None = None
) -> CheckReport:
    """Checks the rules of a game. UsageError unless they are a program."""
    game = with_seats(typed_game(spec), seats)
    of = check_of(game)
    try:
        options = setup.rules.options(game, game.seats.start)
    except RunError as error:
        return of.not_started(game, spec, seed, error)
    return of.check(game, spec, seed, options, frozenset(only), lambda result: None)


def check_of(game: Game) -> GameCheck:
    """Returns how the rules of a game are checked. UsageError if nobody can."""
    for each in game_checks():
        if each.takes(game):
            return each
    raise UsageError(f"no bot is named; the rules of {game.name} are part of a package, so only bots are checked")


def checked(
    bot: str,
    game: Game,
    seed: int,
    setup: SetupOptions,
    only: Sequence[str] = (),
    chaos: bool = False,
    log: CheckLog = CheckLog(None),  # noqa: B008
    seats: int | None = None,
) -> CheckReport:
    """Builds and checks a bot. Returns what is wrong with it, also if it is missing or cannot be built.

    UsageError for wrong options, RunError if the check itself fails.
    """
    refuse_people(split_name(bot)[1])  # there is no submission that could be wrong
    command, words = setup.command(game, chaos=chaos), seats_option(game, seats)
    started, spec = monotonic(), bot
    game = with_seats(game, seats)
    limits, time, options = setup.resolved(game, game.seats.start)
    with tempfile.TemporaryDirectory(prefix="referee-") as scratch:
        try:
            spec = bot_in(bot, Path(scratch), game.name)
            check_seats([spec], game.name, every_seat=True)
            origin = _origin(bot, spec, command, words)
            program, build_s = _build(spec, game, limits, log)
        except (BuildError, UsageError) as error:  # the submission is missing or broken: a finding like any other
            if str(path_of(bot)).startswith("@"):
                raise  # a built-in opponent, which nobody has submitted
            failed = error if isinstance(error, BuildError) else BuildError(bot, str(error))
            place, shown = str(path_of(spec)), path_of(bot).name  # nobody knows the folder of an unpacked zip file
            if Path(scratch) in path_of(spec).parents:
                failed = BuildError(bot, failed.reason.replace(place, shown), failed.output.replace(place, shown))
            origin = _origin(bot, spec, command, words)
            return not_built(game, seed, _name(spec, game), failed, origin, monotonic() - started)
        except NoCore as error:
            return slowed(game, seed, _name(spec, game), str(error), origin, monotonic() - started)
        missing = missing_in(path_of(bot)) if spec == bot else ""  # a zip file is refused for it
        request = Check(game, program, seed, options, limits, time, chaos, origin, frozenset(only), build_s, missing)
        return run(_check, request, log)


def _origin(bot: str, spec: str, command: tuple[str, ...], words: tuple[str, ...]) -> Origin:
    path = path_of(spec)
    return Origin(bot, path if os.path.isdir(path) else path.parent, command, words)


def _build(spec: str, game: Game, limits: Limits, log: CheckLog) -> tuple[Entrant, float]:
    """Returns the bot, and the seconds of its build; 0 if there was nothing to build. BuildError if it fails."""
    started, steps = monotonic(), []

    def progress(label: str, duration_s: float) -> None:
        steps.append(label)
        log.building(label)
        building(label, duration_s)

    program = entrant(spec, game.name, limits, progress, log.printed)
    check_start(program, limits)
    return program, monotonic() - started if steps else 0.0


def _name(spec: str, game: Game) -> str:
    try:
        return printable(name_of(spec, game.name))
    except (UsageError, RunError):  # nobody can tell what it is
        name, path = split_name(spec)
        return printable(name or Path(path).resolve().stem)


async def _check(request: Check, log: CheckLog) -> CheckReport:
    with progress() as show:

        def tried(result: RuleResult) -> None:
            log.tried(result)
            show(f"{result.rule} {result.status}")

        return await check(request, tried)


def _write(report: CheckReport, bot: str, junit: Path | None, strict: bool, accepted: bool) -> None:
    """Writes the requested files. On GitHub also the annotations (to stderr), the job's summary and its outputs."""
    prefix = _prefix(bot)
    if junit is not None:
        output.write(junit, output.junit(report, strict))
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for line in output.annotations(report, prefix):
            err.print(line)
        _append("GITHUB_STEP_SUMMARY", output.summary(report))
        _append("GITHUB_OUTPUT", output.outputs(report, accepted))


def _prefix(bot: str) -> str:
    """Returns the path that leads to a bot's files; empty for a zip file."""
    path = path_of(bot)
    if not os.path.exists(path) or path.suffix.lower() == ".zip":
        return ""
    near = _near(path)
    return (near if path.is_dir() else near.parent).as_posix()


def _near(path: Path) -> Path:
    """Returns a path as reports name it: on GitHub from the folder of the repository, else from the working folder."""
    workspace = os.environ.get("GITHUB_WORKSPACE")
    if os.environ.get("GITHUB_ACTIONS") == "true" and workspace:
        root, real = Path(workspace).resolve(), path.resolve()
        if real.is_relative_to(root):
            return real.relative_to(root)
    return Path(os.path.relpath(path))


def _append(variable: str, text: str) -> None:
    """Appends to the file that the variable names. RunError if that fails."""
    if path := os.environ.get(variable):
        with writing(path), open(path, "a", encoding="utf-8") as file:
            file.write(text)
