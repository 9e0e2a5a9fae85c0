"""`referee new GAME`: writes a first bot."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from referee.harness.cli.added import Added, added
from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.reports import games as report
from referee.harness.cli.screen import out
from referee.harness.common.errors import UsageError
from referee.harness.common.known_games import typed_game
from referee.harness.languages import packages, toolchains
from referee.harness.languages.registry import ALIASES
from referee.harness.new import write as new
from referee.harness.programs.targets import NATIVE, target_named, targets_help

if TYPE_CHECKING:
    NewAdded = Added
else:
    NewAdded = added("new")


def kit_of(lang: str) -> str:
    """Returns the kit of a language, as the user names it."""
    return ALIASES.get(lang.lower(), lang.lower())


def new_bot(
    game: str | None = None,
    folder: Path | None = None,
    *,
    lang: str | None = None,
    target: Annotated[str, Parameter(help=targets_help())] = NATIVE,
    referee: str | None = None,
    more: NewAdded = NewAdded(),  # noqa: B008
) -> int:
    """Writes a first bot, which builds, plays and has tests. Without a game: lists the languages and games.

    Args:
        game: The game's name.
        folder: The folder for the bot, new or empty. Default: my_GAME_LANG.
        lang: The language.
        referee: The referee that the bot's workflow installs with pip, such as git+https://… with a commit. Default:
            the source of this installation.
    """
    other = target_named(target)
    for each in more.each():
        code: int | None = each.instead(game, lang)
        if code is not None:
            return code
    if game is None:
        out.print(report.kits({lang: new.games(lang, kit) for lang, kit in new.kits().items()}))
        return PLAYED
    played = typed_game(game)
    if lang is None:
        raise UsageError(f"new {game}: choose a language with --lang: {', '.join(new.kits())}")
    lang = kit_of(lang)
    folder = Path(f"my_{played.name}_{lang}") if folder is None else folder
    has_workflow = new.write(played, lang, folder, referee, other)
    if not has_workflow:
        why = "other machines cannot install this referee, because its source is unknown; --referee names one"
        out.print(f"(There is no workflow for GitHub: {why}.)", style="dim")
    toolchain = packages.toolchain(lang, other.toolchain(lang) if other else None)
    missing = toolchains.missing(toolchain) if toolchain else {}
    out.print(report.created(folder, new.first_match(played, shlex.quote(str(folder))), missing))
    return PLAYED
