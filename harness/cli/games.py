"""`referee games` and `referee rules`: lists and installs games, and prints the rules of one."""

from pathlib import Path

from rich.markdown import Markdown
from rich.text import Text

from referee.games import registry
from referee.harness import rules
from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.options import GameName
from referee.harness.cli.reports import games as reports
from referee.harness.cli.reports.text import printable
from referee.harness.cli.screen import err, out, paged
from referee.harness.errors import UsageError
from referee.harness.known_games import find_family, typed_game
from referee.harness.paths import expanded


def games(name: str | None = None, subject: str | None = None) -> int:
    """Lists games, functions and options, or installs a game.

    `referee games install FOLDER` copies a game whose rules are a program, from its folder or a zip file of it, to
    where its name is enough. `referee games remove NAME` removes it.

    Args:
        name: Only this game, in full: types and ranges, time limits, options, rules, maps. Or a family of games, such
            as openspiel: its list. Or the folder of a game whose rules are a program. Or install, or remove.
        subject: The folder or zip file with the `game.toml` to install, or the name of the installed game to remove.
    """
    if name in ("install", "remove") and subject is not None:
        return _install(expanded(subject)) if name == "install" else _remove(subject)
    if subject is not None or name in ("install", "remove"):
        raise UsageError("expected `referee games install FOLDER`, `referee games remove NAME` or one game")
    if name in registry.families():
        with paged():
            out.print(reports.family(find_family(name)))
    elif name is None:
        games = registry.loaded()
        out.print(reports.games(games))
        for name in sorted({*registry.names()} - {game.name for game in games}):
            try:
                registry.game(name)
            except registry.BrokenGame as error:
                err.print(Text(printable(str(error)), style="yellow"))
        out.print(Text(f"and families of games: {', '.join(registry.families())} (referee games NAME)", style="dim"))
    else:
        game = typed_game(name)
        with paged():
            out.print(reports.detailed(game))
    return PLAYED


def _install(folder: Path) -> int:
    from referee.addons.rules.install import install  # takes a moment, which other commands need not spend

    game, place = install(folder)
    bots = " ".join(["@random"] * game.seats.start)
    out.print(f"{game.name} is installed in {place}. Next: referee --game {game.name} {bots}")
    if game.painter:
        out.print(f"Read {game.painter} if you do not trust its author: it draws in your browser, without a sandbox")
    return PLAYED


def _remove(name: str) -> int:
    from referee.addons.rules.install import uninstall  # takes a moment, which other commands need not spend

    uninstall(name)
    out.print(f"{name} is removed")
    return PLAYED


def print_rules(game: GameName, section: str | None = None) -> int:
    """Prints the rules of a game.

    Args:
        section: Only this section: its number, such as 5.2, or words of its title.
    """
    text = rules.section(typed_game(game).name, section).text
    out.print(Markdown(text) if out.is_terminal else text)
    return PLAYED
