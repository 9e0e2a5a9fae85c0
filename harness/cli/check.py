"""`referee check BOT`: checks a bot before it is handed in."""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import Annotated

from cyclopts import Parameter
from rich.text import Text

from referee.games.game import Game
from referee.harness.check import output
from referee.harness.check.checks import check, not_built
from referee.harness.check.findings import RULES, CheckReport, Level
from referee.harness.check.request import Check, Origin
from referee.harness.check.unpack import bot_in
from referee.harness.cli.exit_codes import AT_FAULT, PLAYED, SoFar
from referee.harness.cli.options import (
    Flag,
    GameOption,
    LimitOptions,
    RuleOptions,
    TimeOptions,
    check_game_options,
    drawn,
    find_game,
    path_of,
)
from referee.harness.cli.reports.check import check as shown_report
from referee.harness.cli.reports.text import printable
from referee.harness.cli.reproduce_with import match_command
from referee.harness.cli.screen import building, err, out, print_json, progress
from referee.harness.cli.signals import run
from referee.harness.errors import RunError, UsageError
from referee.harness.process.limits import Limits
from referee.harness.programs.build_process import BuildError
from referee.harness.programs.spec import Entrant, check_seats, entrant, split_name


def check_bot(
    bot: str,
    *,
    game: str,
    seed: int | None = None,
    rules: RuleOptions = RuleOptions(),
    times: TimeOptions = TimeOptions(),
    limit_options: LimitOptions = LimitOptions(),
    chaos: Flag = False,
    junit: Path | None = None,
    sarif: Path | None = None,
    json: Flag = False,
    strict: Flag = False,
    only: Annotated[Sequence[str], Parameter(negative=())] = (),
    **game_options: GameOption,
) -> int:
    """Checks a bot before it is handed in: every call, seat and encoding, pipes, limits and whole matches.

    Exit codes: 0 passed, 1 refused (also if the build fails), 2 usage error, 3 the check itself failed (a missing
    compiler, a program that cannot be started).

    Parameters
    ----------
    bot
        As for a match, or a zip file of a bot's folder. NAME= before it names the bot.
    game
        The game's name.
    seed
        The seed of all random numbers. Default: a random one, which is printed.
    chaos
        Also play the whole matches with frames in every form that the protocol allows.
    junit
        Write the check as JUnit XML to this file.
    sarif
        Write the findings as SARIF 2.1.0 to this file.
    json
        Print only one JSON object on standard output.
    strict
        Also refuse the bot for warnings.
    only
        Try only this rule, such as many-games. Can be repeated.
    """
    checked = find_game(game)
    check_game_options(checked, game_options)
    limits, time, options = (
        limit_options.limits(),
        times.time(checked),
        rules.options(checked, checked.seats.start, game_options),
    )
    seed = drawn(seed)
    command = match_command(checked, (rules, times, limit_options), game_options, None, chaos)
    with tempfile.TemporaryDirectory(prefix="referee-") as scratch:
        spec = bot_in(bot, Path(scratch), checked.name)
        check_seats([spec], checked.name, every_seat=True)
        path = path_of(spec)
        origin = Origin(bot, path if path.is_dir() else path.parent, command)
        chosen, started = _rules(only), monotonic()
        try:
            program, build_note = _build(spec, checked, limits)
        except BuildError as error:  # a finding like any other
            report = not_built(checked, seed, _name(spec), error, origin, monotonic() - started)
        else:
            request = Check(
                game=checked,
                bot=program,
                seed=seed,
                options=options,
                limits=limits,
                time=time,
                chaos=chaos,
                origin=origin,
                only=chosen,
                build_note=build_note,
            )
            report = run(_check, request)
    try:
        _write_check(report, bot, junit, sarif, strict)
    except RunError as error:
        raise SoFar(error, report, shown_report(report)) from error
    if json:
        print_json(report)
    else:
        out.print(shown_report(report))
    return PLAYED if _accepted(report, strict) else AT_FAULT


def _build(spec: str, game: Game, limits: Limits) -> tuple[Entrant, str]:
    """Returns the bot, and how long its build took, in words. BuildError if it fails."""
    started, steps = monotonic(), []

    def progress(label: str, duration_s: float) -> None:
        steps.append(label)
        building(label, duration_s)

    program = entrant(spec, game.name, limits, progress)
    return program, f"in {monotonic() - started:.1f} s" if steps else ""


def _name(spec: str) -> str:
    """Returns the name of a bot that could not be built."""
    name, path = split_name(spec)
    return printable(name or Path(path).resolve().stem)


def _rules(names: Sequence[str]) -> frozenset[str]:
    """UsageError for an unknown rule."""
    for name in names:
        if name not in RULES:
            raise UsageError(f"--only {name}: no such rule; the rules are {', '.join(RULES)}")
    return frozenset(names)


def _accepted(report: CheckReport, strict: bool) -> bool:
    return report.passed and not (strict and report.count(Level.WARNING))


async def _check(request: Check) -> CheckReport:
    with progress() as show:
        return await check(request, lambda checked: show(f"{checked.rule} {checked.status}"))


def _write_check(run: CheckReport, bot: str, junit: Path | None, sarif: Path | None, strict: bool) -> None:
    """Writes the requested files. On GitHub also the annotations (to stderr), the job's summary and its outputs."""
    path, prefix = _paths(bot)
    if junit is not None:
        output.write(junit, output.junit(run, strict))
    if sarif is not None:
        output.write(sarif, output.sarif(run, path, prefix))
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for line in output.annotations(run, prefix):
            err.print(Text(line))
        _append("GITHUB_STEP_SUMMARY", output.summary(run))
        _append("GITHUB_OUTPUT", output.outputs(run, _accepted(run, strict)))


def _paths(bot: str) -> tuple[str, str]:
    """Returns the bot's path and the prefix of its files' paths, which is empty for a zip file."""
    path = path_of(bot)
    if not path.exists():
        return bot, ""
    near = Path(os.path.relpath(path))
    prefix = near if near.is_dir() else near.parent
    return near.as_posix(), "" if near.suffix.lower() == ".zip" else prefix.as_posix()


def _append(variable: str, text: str) -> None:
    """Appends to the file that the variable names. RunError if that fails."""
    if path := os.environ.get(variable):
        try:
            with open(path, "a", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise RunError(f"{path} cannot be written: {error.strerror or error}") from error
