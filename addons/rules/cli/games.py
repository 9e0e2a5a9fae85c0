"""`referee games install` and `remove`."""

from pathlib import Path

from referee.addons.rules.install import install, uninstall
from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.screen import out
from referee.harness.common.paths import expanded


def games_install(folder: Path) -> int:
    """Makes the rules of a folder known by their name.

    Copies a game whose rules are a program to where its name is enough.

    Args:
        folder: The folder or zip file with its `game.toml`.
    """
    game, place = install(expanded(str(folder)))
    bots = " ".join(["@random"] * game.seats.start)
    out.print(f"{game.name} is installed in {place}. Next: referee --game {game.name} {bots}")
    if game.painter:
        out.print(f"Read {game.painter} if you do not trust its author: it draws in your browser, without a sandbox")
    return PLAYED


def games_remove(name: str) -> int:
    """Removes an installed game.

    Args:
        name: The game's name.
    """
    uninstall(name)
    out.print(f"{name} is removed")
    return PLAYED
