"""`referee check BOT`: whether a bot may be handed in."""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import Annotated

from cyclopts import Parameter
from rich.text import Text

from referee.games.contract import Game
from referee.harness.check import output
from referee.harness.check.checks import Check, Origin, check, not_built
from referee.harness.check.findings import RULES, CheckReport, Level
from referee.harness.check.unpack import bot_in
from referee.harness.cli.exit_codes import AT_FAULT, PLAYED, SoFar
from referee.harness.cli.options import (
    Flag,
    LimitOptions,
    RuleOptions,
    TimeOptions,
    check_game_options,
    drawn,
    find_game,
    path_of,
)
from referee.harness.cli.reports.check import check as shown
from referee.harness.cli.reports.text import printable
from referee.harness.cli.reproduce_with import words
from referee.harness.cli.screen import building, err, out, print_json, progress
from referee.harness.cli.signals import run
from referee.harness.errors import RunError, UsageError
from referee.harness.process.limits import Limits
from referee.harness.programs.build import BuildError
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
    **game_options: Annotated[str, Parameter(help="An option of the game's rules; `referee games` lists them.")],
) -> int:
    """Checks a bot before it is handed in: every call, every seat, both encodings, pipes, limits, whole matches.

    Exit codes: 0 passed, 1 refused (also a build that fails), 2 usage, 3 the check itself failed (a compiler that is
    missing, a program that cannot be started).

    Parameters
    ----------
    bot
        As for a match, or a zip file of a bot's folder; NAME= in front names it.
    game
        The game's name.
    seed
        The seed of all luck. Without it one is drawn, and printed.
    chaos
        Play the whole matches too with frames in every form that the protocol allows.
    junit
        Write the check as JUnit's XML to this file.
    sarif
        Write the findings as SARIF 2.1.0 to this file.
    json
        Print one machine-readable object on standard output and nothing else.
    strict
        Refuse the bot for warnings too.
    only
        Try only this rule, such as many-games; may be given more than once.
    """
    checked = find_game(game)
    check_game_options(checked, game_options)
    limits, time, options = (
        limit_options.limits(),
        times.time(checked),
        rules.options(checked, checked.seats.start, game_options),
    )
    seed = drawn(seed)
    again = words(checked, (rules, times, limit_options), game_options, None, chaos)
    with tempfile.TemporaryDirectory(prefix="referee-") as scratch:
        spec = bot_in(bot, Path(scratch), checked.name)
        check_seats([spec], checked.name, every_seat=True)
        path = path_of(spec)
        origin = Origin(bot, path if path.is_dir() else path.parent, again)
        tried, begun = _rules(only), monotonic()
        try:
            program, built = _built(spec, checked, limits)
        except BuildError as error:  # a finding like any other
            report = not_built(checked, seed, _name(spec), error, origin, monotonic() - begun)
        else:
            report = run(_check, Check(checked, program, seed, options, limits, time, chaos, origin, tried, built))
    try:
        _write_check(report, bot, junit, sarif, strict)
    except RunError as error:
        raise SoFar(error, report, shown(report)) from error
    if json:
        print_json(report)
    else:
        out.print(shown(report))
    return PLAYED if _accepted(report, strict) else AT_FAULT


def _built(spec: str, game: Game, limits: Limits) -> tuple[Entrant, str]:
    """The bot, and how it was built, in a few words. BuildError."""
    begun, steps = monotonic(), []

    def tell(what: str, taken_s: float) -> None:
        steps.append(what)
        building(what, taken_s)

    program = entrant(spec, game.name, limits, tell)
    return program, f"in {monotonic() - begun:.1f} s" if steps else ""


def _name(spec: str) -> str:
    """What a bot is called that could not be built."""
    name, path = split_name(spec)
    return printable(name or Path(path).resolve().stem)


def _rules(names: Sequence[str]) -> frozenset[str]:
    """UsageError for a rule that there is not."""
    for name in names:
        if name not in RULES:
            raise UsageError(f"--only {name}: there is no such rule; there are {', '.join(RULES)}")
    return frozenset(names)


def _accepted(report: CheckReport, strict: bool) -> bool:
    return report.passed and not (strict and report.count(Level.WARNING))


async def _check(request: Check) -> CheckReport:
    with progress() as show:
        return await check(request, lambda checked: show(f"{checked.rule} {checked.status}"))


def _write_check(run: CheckReport, bot: str, junit: Path | None, sarif: Path | None, strict: bool) -> None:
    """The files that were asked for; on GitHub the annotations, by standard error, the job's summary and outputs."""
    path, prefix = _place(bot)
    if junit is not None:
        output.write(junit, output.junit(run, strict))
    if sarif is not None:
        output.write(sarif, output.sarif(run, path, prefix))
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for line in output.annotations(run, prefix):
            err.print(Text(line))
        _append("GITHUB_STEP_SUMMARY", output.summary(run))
        _append("GITHUB_OUTPUT", output.outputs(run, _accepted(run, strict)))


def _place(bot: str) -> tuple[str, str]:
    """The path of the bot as it was named, and what leads to its own files from here: nothing for a zip file, whose
    files lie in the repository as they lie in it."""
    path = path_of(bot)
    if not path.exists():
        return bot, ""
    near = Path(os.path.relpath(path))
    prefix = near if near.is_dir() else near.parent
    return near.as_posix(), "" if near.suffix.lower() == ".zip" else prefix.as_posix()


def _append(variable: str, text: str) -> None:
    """Adds to the file that a runner names. RunError if that cannot be."""
    if path := os.environ.get(variable):
        try:
            with open(path, "a", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise RunError(f"{path} cannot be written: {error.strerror or error}") from error
