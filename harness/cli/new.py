"""`referee new GAME`: writes a first bot."""

import shlex
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from referee.addons.rules.source import NAME
from referee.games import registry
from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.reports import games as report
from referee.harness.cli.screen import out
from referee.harness.errors import UsageError
from referee.harness.known_games import typed_game
from referee.harness.languages import packages, toolchains
from referee.harness.languages.registry import LANGUAGES
from referee.harness.new import rules as new_rules
from referee.harness.new import write as new
from referee.harness.programs.targets import NATIVE, target_named, targets_help

ALIASES = {alias: language.kit for language in LANGUAGES for alias in language.aliases}
"""Other names of the kits. The JavaScript kit writes bots in TypeScript."""


def new_bot(
    game: str | None = None,
    folder: Path | None = None,
    *,
    lang: str | None = None,
    rules: str | None = None,
    target: Annotated[str, Parameter(help=targets_help())] = NATIVE,
    referee: str | None = None,
) -> int:
    """Writes a first bot, which builds, plays and has tests. Without a game: lists the languages and games.

    Args:
        game: The game's name.
        folder: The folder for the bot, new or empty. Default: my_GAME_LANG.
        lang: The language.
        rules: Writes a game instead, under this name and into a folder of this name: a small game whose rules are a
            program in that language, with tests and a bot.
        referee: The referee that the bot's workflow installs with pip, such as git+https://… with a commit. Default:
            the source of this installation.
    """
    other = target_named(target)
    if rules is not None:
        return _new_rules(rules, lang, game)
    if game is None:
        out.print(report.kits({lang: new.games(lang, kit) for lang, kit in new.kits().items()}))
        return PLAYED
    played = typed_game(game)
    if lang is None:
        raise UsageError(f"new {game}: choose a language with --lang: {', '.join(new.kits())}")
    lang = ALIASES.get(lang.lower(), lang.lower())
    folder = Path(f"my_{played.name}_{lang}") if folder is None else folder
    has_workflow = new.write(played, lang, folder, referee, other)
    toolchain = packages.toolchain(lang, other is not None)
    missing = toolchains.missing(toolchain) if toolchain else {}
    out.print(report.created(folder, new.first_match(played, shlex.quote(str(folder))), missing))
    if not has_workflow and _on_github(folder.resolve()):
        why = "other machines cannot install this referee, because its source is unknown; --referee names one"
        out.print(f"(There is no workflow for GitHub: {why}.)", style="dim")
    return PLAYED


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
    toolchain = packages.toolchain(lang, False)
    missing = toolchains.missing(toolchain) if toolchain else {}
    out.print(report.created(folder, f"referee --game ./{name} ./{name}/{new_rules.bot(lang)} @random", missing))
    return PLAYED


def _on_github(folder: Path) -> bool:
    """Whether a folder lies in a repository of GitHub, where a workflow would run."""
    top = next((each for each in folder.parents if (each / ".git").exists()), None)
    if top is None:
        return False
    try:
        return (top / ".github").is_dir() or "github.com" in (top / ".git" / "config").read_text("utf-8", "replace")
    except OSError:
        return False
