"""`referee new --rules`: writes a game."""

from dataclasses import dataclass
from pathlib import Path

from cyclopts import Parameter

from referee.addons.rules import new as new_rules
from referee.addons.rules.source import NAME
from referee.games import registry
from referee.harness.cli.added import NewOptions
from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.reports import games as report
from referee.harness.cli.screen import out
from referee.harness.common.errors import UsageError
from referee.harness.languages import packages, toolchains
from referee.harness.languages.registry import ALIASES


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class RulesOptions(NewOptions):
    """Whether a game is written."""

    rules: str | None = None
    """Writes a game instead, under this name and into a folder of this name: a small game whose rules are a program in
    that language, with tests and a bot."""

    def instead(self, game: str | None, lang: str | None) -> int | None:
        return None if self.rules is None else _new_rules(self.rules, lang, game)


def _new_rules(name: str, lang: str | None, game: str | None) -> int:
    """Writes a game."""
    if game is not None:
        raise UsageError(f"new {game} --rules {name}: --rules writes a game of its own; leave out {game}")
    if not NAME.fullmatch(name):
        raise UsageError(f"--rules {name}: expected a name of lower-case letters, digits and _, a letter first")
    if name in registry.names():
        raise UsageError(f"--rules {name}: there is a game of this name already; choose another")
    if lang is None:
        raise UsageError(f"new --rules {name}: choose a language with --lang: {', '.join(new_rules.languages())}")
    lang, folder = ALIASES.get(lang.lower(), lang.lower()), Path(name)
    new_rules.write(name, lang, folder)
    toolchain = packages.toolchain(lang)
    missing = toolchains.missing(toolchain) if toolchain else {}
    out.print(report.created(folder, f"referee --game ./{name} ./{name}/{new_rules.bot(lang)} @random", missing))
    return PLAYED
