"""OpenSpiel's games: `openspiel:NAME`, through one engine. Needs the extra `openspiel`."""

from referee.games.game import Family, Game, Listed

EXTRA = "openspiel"


def game(name: str) -> Game:
    """Returns OpenSpiel's game of that name. KeyError, with the reason, for one that cannot be played here."""
    from referee.addons.openspiel.family import game_of  # loads OpenSpiel

    return game_of(name)


def environment(name: str) -> Game:
    """As `game`, also for a game for one player."""
    from referee.addons.openspiel.family import environment_of  # loads OpenSpiel

    return environment_of(name)


def listed() -> list[Listed]:
    """Returns all games that can be played here."""
    from referee.addons.openspiel.family import listed_games

    return listed_games()


FAMILY = Family(
    name="openspiel",
    title="The games of OpenSpiel",
    package="pyspiel",
    extra=EXTRA,
    game=game,
    environment=environment,
    listed=listed,
)
