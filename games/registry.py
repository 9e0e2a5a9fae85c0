"""The games that are installed, ours and others', found by the entry-point group `referee.games`."""

from functools import cache
from importlib.metadata import entry_points

from referee.games.contract import Game


def names() -> list[str]:
    """The names of all installed games, sorted."""
    return sorted({entry.name for entry in entry_points(group="referee.games")})


def own_names() -> list[str]:
    """The names of the games that come along with the referee, sorted."""
    return sorted({entry.name for entry in entry_points(group="referee.games") if entry.value.startswith(__package__)})


@cache
def game(name: str) -> Game:
    """The game of that name. KeyError, with the names there are, for any other."""
    for entry in entry_points(group="referee.games", name=name):
        found = entry.load()
        if not isinstance(found, Game):
            raise TypeError(
                f"the entry point {entry.value} gives {type(found).__name__}, not a referee.games.contract.Game"
            )
        return found
    raise KeyError(f"unknown game {name!r}; there are {', '.join(names())}")
