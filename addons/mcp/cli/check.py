"""Checks a bot for a client of `referee mcp`, under the limits of the command line."""

import shlex
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from time import monotonic
from typing import Any

import msgspec
import trio

from referee.addons.mcp.checks import Checked, FindingLine, RuleLine, Wanted
from referee.addons.mcp.matches import Conditions
from referee.harness.check.checks import check, not_built
from referee.harness.check.findings import RULES, CheckReport, RuleResult
from referee.harness.check.request import Check, Origin
from referee.harness.common.errors import NoRoom, RunError, UsageError
from referee.harness.match import rule_options
from referee.harness.programs.build_process import BuildError
from referee.harness.programs.built_in import check_seats
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.kinds import split_name
from referee.harness.programs.spec import entrant, name_of
from referee.harness.programs.zip_archive import bot_in


async def check_for_client(
    conditions: Conditions,
    wanted: Wanted,
    spec: str,
    options: Mapping[str, Any],
    tried: Callable[[RuleLine], None],
) -> Checked:
    """Builds and checks a bot. UsageError for wrong arguments, RunError if the check itself fails."""
    for rule in wanted.only:
        if rule not in RULES:
            raise UsageError(f"only: no such rule: {rule!r}; the rules are {', '.join(RULES)}")
    game, started = wanted.game, monotonic()
    values = rule_options.options(game, options, game.seats.start)
    settings = [f"{name}={_typed(value)}" for name, value in wanted.options.items()]
    path = Path(split_name(spec)[1])
    command = conditions.command(game, wanted.map, settings)
    origin = Origin(wanted.bot, path if path.is_dir() else path.parent, command)
    with tempfile.TemporaryDirectory(prefix="referee-") as scratch:

        def built() -> Entrant:
            unpacked = bot_in(spec, Path(scratch), game.name)
            check_seats([unpacked], game.name, every_seat=True)
            return entrant(unpacked, game.name, conditions.limits)

        try:
            program = await trio.to_thread.run_sync(built, abandon_on_cancel=True)
        except BuildError as error:
            name, lasted_s = name_of(spec, game.name), monotonic() - started
            return _checked(not_built(game, wanted.seed, name, error, origin, lasted_s))
        request = Check(
            game,
            program,
            wanted.seed,
            values,
            conditions.limits,
            conditions.time(game.time),
            origin=origin,
            only=wanted.only,
            build_s=monotonic() - started,
        )
        try:
            return _checked(await check(request, lambda result: tried(_line(result))))
        except NoRoom as error:
            raise RunError(str(error)) from error


def _typed(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _checked(report: CheckReport) -> Checked:
    return Checked(True, report.passed, report.verdict, [_line(each) for each in report.checks])


def _line(result: RuleResult) -> RuleLine:
    rule = RULES[result.rule]
    findings = [
        FindingLine(each.level, each.text, each.where, [*each.last_words], shlex.join(each.command))
        for each in result.findings
    ]
    return RuleLine(result.rule, rule.title, result.status, result.note, rule.advice, findings)
