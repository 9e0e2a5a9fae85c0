"""The games that are installed, ours and others', found by the entry-point group `referee.games`."""

from importlib.metadata import entry_points

from games.api import Game


def names() -> list[str]:
    """The names of all installed games, sorted."""
    return sorted({entry.name for entry in entry_points(group="referee.games")})


def game(name: str) -> Game:
    """The game of that name. KeyError, with the names there are, for any other."""
    for entry in entry_points(group="referee.games", name=name):
        found = entry.load()
        if not isinstance(found, Game):
            raise TypeError(f"the entry point {entry.value} gives {type(found).__name__}, not a games.api.Game")
        return found
    raise KeyError(f"unknown game {name!r}; there are {', '.join(names())}")
