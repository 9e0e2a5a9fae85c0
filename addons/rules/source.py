"""Games from folders with a `game.toml`: named by their path, or installed under their name.

The rules of a game start only from such a folder. A replay or a tournament file holds a name, and that name must be
installed here, or its folder must have been named in this run.
"""

import os
import re
from contextlib import suppress
from os.path import isdir, isfile
from pathlib import Path

from referee.games.game import Game
from referee.harness.common.errors import RunError, UsageError
from referee.harness.common.paths import data_folder

GAME_FILE = "game.toml"
NAME = re.compile(r"[a-z][a-z0-9_]{0,49}")
"""The names of games."""
VARIABLE = "REFEREE_GAMES"
"""The environment variable with the folders that were named in this run, for the processes that play its matches."""


class Source:
    """The games whose rules are programs (`referee.games.registry`)."""

    def __init__(self) -> None:
        self._loaded: dict[Path, Game] = {}
        self._typed: dict[str, str] = {}

    def names(self) -> list[str]:
        """Returns the names of the installed games, and of those that were named in this run; of sound ones only."""
        folder, names, installed = installed_folder(), [], list[str]()
        with suppress(OSError):  # there is none, or this account cannot read it
            installed = [each for each in os.listdir(folder) if NAME.fullmatch(each)]
        for path in (*map(Path, _remembered()), *[folder / each for each in installed]):
            with suppress(UsageError, RunError):
                names.append(self._of_folder(path, str(path)).name)
        return names

    def game(self, name: str) -> Game | None:
        """Returns the game that is named or installed by this name; None = there is none. A path is no name."""
        for named in reversed(_remembered()):
            game = self._of_folder(Path(named), named)
            if game.name == name:
                return game
        folder = installed_folder() / name
        return self._of_folder(folder, name) if NAME.fullmatch(name) and isfile(folder / GAME_FILE) else None

    def in_folder(self, path: str) -> Game:
        """Returns the game of a folder that the user names, and notes its name. UsageError if there is none."""
        game = self.use(Path(os.path.expanduser(path)), path)
        self._typed[game.name] = path
        return game

    def use(self, folder: Path, shown: str) -> Game:
        """Returns the game of a folder, and finds its name there from now on, also in processes that start later."""
        game = self._of_folder(folder, shown)
        _remember(str(folder.resolve()))
        return game

    def by_rules(self, name: str, sha256: str) -> tuple[Game, Path] | None:
        """Returns the named or installed game of a name whose files have this hash, and its folder; None = none."""
        for folder in (*map(Path, reversed(_remembered())), installed_folder() / name):
            if isfile(folder / GAME_FILE):
                game = self._of_folder(folder, str(folder))
                if (game.name, game.sha256) == (name, sha256):
                    return game, folder
        return None

    def spec(self, game: Game) -> str | None:
        """Returns the path by which the user named a game in this process; None = no path."""
        return self._typed.get(game.name)

    def is_typed(self, name: str) -> bool:
        """Whether the user named the folder of the game with this name in this process."""
        return name in self._typed

    def forget(self) -> None:
        """Ends the programs of all games, and forgets the games and the folders that were named."""
        from referee.addons.rules.games import program  # takes a moment, which other games need not spend

        for game in self._loaded.values():
            program(game).close()
        self._loaded.clear()
        self._typed.clear()
        os.environ.pop(VARIABLE, None)

    def _of_folder(self, path: Path, shown: str) -> Game:
        from referee.addons.rules.games import load  # takes a moment, which other games need not spend

        if not isdir(path):
            raise UsageError(f"no game at {shown!r}: there is no such folder, or this account cannot read it")
        folder = path.resolve()
        if folder not in self._loaded:
            self._loaded[folder] = load(folder, shown)
        return self._loaded[folder]


SOURCE = Source()


def installed_folder() -> Path:
    """Returns the folder of the installed games."""
    return data_folder() / "games"


def _remembered() -> list[str]:
    return [each for each in os.environ.get(VARIABLE, "").split(os.pathsep) if each]


def _remember(folder: str) -> None:
    """Notes a folder for this process and those that it starts."""
    if os.pathsep in folder:
        raise UsageError(f"{folder}: the path of a game's folder cannot have a {os.pathsep!r}")
    others = [each for each in _remembered() if each != folder]
    os.environ[VARIABLE] = os.pathsep.join([*others, folder])
