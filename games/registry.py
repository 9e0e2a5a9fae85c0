"""Finds the installed games by the entry-point groups `referee.games`, `.game_families` and `.game_sources`."""

import sys
from contextlib import suppress
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Protocol

from referee.games.game import Family, Game


class Source(Protocol):
    """A place where games are found that no package brings."""

    def names(self) -> list[str]:
        """Returns the names of its games."""

    def game(self, name: str) -> Game | None:
        """Returns the game of a name; None = it has none."""

    def in_folder(self, path: str) -> Game:
        """Returns the game of a folder, which has a name from then on."""

    def spec(self, game: Game) -> str | None:
        """Returns the path by which the user named a game in this process; None = no path."""


class NotInstalled(Exception):
    """A family's games need a package that is not installed."""

    def __init__(self, name: str, family: Family) -> None:
        super().__init__(f"{name} needs {family.package}, which is not installed")
        self.name, self.family = name, family


class BrokenGame(Exception):
    """The game of a package cannot be loaded, because of a mistake in the package."""


def names() -> list[str]:
    """Returns the names of all installed games, sorted."""
    return sorted({*packaged_names(), *(name for source in _sources() for name in source.names())})


def loaded() -> list[Game]:
    """Loads all installed games, in the order of their names, without those that are broken."""
    found = []
    for name in names():
        with suppress(BrokenGame):
            found.append(game(name))
    return found


def packaged_names() -> list[str]:
    """Returns the names of the games that packages bring, sorted."""
    return sorted({entry.name for entry in entry_points(group="referee.games")})


@cache
def _sources() -> tuple[Source, ...]:
    return tuple([entry.load() for entry in _of_addons("referee.game_sources")])


def own_names() -> list[str]:
    """Returns the names of the games that are part of the referee, sorted."""
    return sorted({entry.name for entry in entry_points(group="referee.games") if entry.value.startswith(__package__)})


def families() -> list[str]:
    """Returns the names of all families of games, sorted."""
    return sorted({entry.name for entry in _of_addons("referee.game_families")})


def _of_addons(group: str) -> list[EntryPoint]:
    """Returns the entry points of a group, without those of add-ons of ours that were taken out."""
    ours = f"{__package__.rpartition('.')[0]}.addons."
    found = entry_points(group=group)
    return [each for each in found if not each.module.startswith(ours) or _is_there(each.module)]


def _is_there(module: str) -> bool:
    """Returns whether a module can be imported. `find_spec` raises where its package is gone too."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


@cache
def family(name: str) -> Family:
    """Loads a family of games. KeyError if there is none of that name, NotInstalled without its package."""
    for entry in [each for each in _of_addons("referee.game_families") if each.name == name]:
        found = entry.load()
        if not isinstance(found, Family):
            raise TypeError(
                f"the entry point {entry.value} gives {type(found).__name__}, not a referee.games.game.Family"
            )
        if find_spec(found.package) is None:
            raise NotInstalled(name, found)
        return found
    raise KeyError(f"unknown family of games {name!r}; there are {', '.join(families()) or 'none'}")


def game(name: str) -> Game:
    """Loads a game. KeyError, with the known names, if there is none of that name; BrokenGame.

    `FAMILY:GAME` is a game of a family; NotInstalled without the family's package. A file may have the name wrong, or a
    stranger may have written it: a path is no name.
    """
    if (found := _packaged(name)) is not None:
        return found
    for source in _sources():
        if (found := source.game(name)) is not None:
            return found
    more = "".join(f" and {family}:NAME (`referee games {family}`)" for family in families())
    raise KeyError(f"unknown game {name!r}; there are {', '.join(names())}{more}")


def spec(game: Game) -> str:
    """Returns what a user types for a game: the path of its folder as it was given, or its name."""
    return next((typed for source in _sources() if (typed := source.spec(game)) is not None), game.name)


def in_folder(path: str) -> Game:
    """Loads the game of a folder that the user names, which has a name from then on."""
    (source,) = _sources()
    return source.in_folder(path)


def environment(name: str) -> Game:
    """As `game`, also for a game for one player, which only environments for training play."""
    prefix, colon, rest = name.partition(":")
    if colon and prefix in families() and (of_family := family(prefix).environment) is not None:
        return of_family(rest)
    return game(name)


@cache
def _packaged(name: str) -> Game | None:
    """Loads the game that a package brings; None = no package brings one of that name."""
    prefix, colon, rest = name.partition(":")
    if colon and prefix in families():
        return family(prefix).game(rest)
    for entry in entry_points(group="referee.games", name=name):
        try:
            found = entry.load()
        except Exception as error:  # a package of a stranger may raise anything
            why = " ".join(f"{type(error).__name__}: {error}".split())
            see = f"`{sys.executable} -c 'import {entry.module}'` shows where"
            raise BrokenGame(f"the game {name} cannot be loaded from its package: {why}; {see}") from error
        if not isinstance(found, Game):
            raise TypeError(
                f"the entry point {entry.value} gives {type(found).__name__}, not a referee.games.game.Game"
            )
        return found
    return None
