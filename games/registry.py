"""Finds the installed games by the entry-point group `referee.games`."""

from functools import cache
from importlib.metadata import entry_points

from referee.games.game import Game


def names() -> list[str]:
    """Returns the names of all installed games, sorted."""
    return sorted({entry.name for entry in entry_points(group="referee.games")})


def own_names() -> list[str]:
    """Returns the names of the games that are part of the referee, sorted."""
    return sorted({entry.name for entry in entry_points(group="referee.games") if entry.value.startswith(__package__)})


@cache
def game(name: str) -> Game:
    """Loads a game. KeyError, with the known names, if there is none of that name."""
    for entry in entry_points(group="referee.games", name=name):
        found = entry.load()
        if not isinstance(found, Game):
            raise TypeError(
                f"the entry point {entry.value} gives {type(found).__name__}, not a referee.games.game.Game"
            )
        return found
    raise KeyError(f"unknown game {name!r}; there are {', '.join(names())}")
