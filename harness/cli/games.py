"""`referee games`: lists the games."""

from referee.games import registry
from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.options import find_game
from referee.harness.cli.reports.games import detailed
from referee.harness.cli.reports.games import games as report
from referee.harness.cli.screen import out, paged


def games(name: str | None = None) -> int:
    """Lists the games with their functions and options.

    Parameters
    ----------
    name
        Only this game, in full: types and ranges, time limits, options, rules, maps.
    """
    if name is not None:
        game = find_game(name)
        with paged():
            out.print(detailed(game))
    else:
        out.print(report([find_game(name) for name in registry.names()]))
    return PLAYED
