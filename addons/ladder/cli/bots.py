"""Checks a bot for a ladder."""

from pathlib import Path

import msgspec

from referee.addons.ladder.reading import seats_of
from referee.addons.ladder.records import Settings
from referee.harness.check.author_report import for_author
from referee.harness.check.findings import CheckReport, Level
from referee.harness.cli.check import checked
from referee.harness.cli.limit_options import LimitOptions
from referee.harness.cli.options import RuleOptions, SetupOptions, drawn
from referee.harness.cli.reports.check import check_report
from referee.harness.cli.screen import out
from referee.harness.common.known_games import find_game


def check_bot(bot: Path, settings: Settings, original: Path | None = None) -> CheckReport:
    """Checks a bot in the sandbox, with the rules and limits of the ladder. Prints what is wrong with it.

    One that answers otherwise when it plays the same match again does not pass. `original`: what the user knows of the
    bot, if that is a copy; the report names it.
    """
    game = find_game(settings.game)
    rules = RuleOptions(
        set=[f"{name}={msgspec.json.encode(value).decode()}" for name, value in settings.options.items()]
    )
    limits = LimitOptions(memory=f"{settings.memory_mib}MiB", isolation="required:files")
    report = checked(str(bot), game, drawn(None), SetupOptions(rules=rules, limits=limits), seats=seats_of(settings))
    differs = any(
        each.rule == "repeatable" and each.level is not Level.NOTE for rule in report.checks for each in rule.findings
    )
    report = msgspec.structs.replace(report, passed=report.passed and not differs)
    if original is not None:
        report = for_author(report, (bot, bot / original.name), str(original))
    if not report.passed:
        out.print(check_report(report))
    return report
