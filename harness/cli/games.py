"""`referee games` and `referee rules`: lists the games, and prints the rules of one."""

from rich.markdown import Markdown
from rich.text import Text

from referee.games import registry
from referee.harness import rules
from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.options import GameName
from referee.harness.cli.reports import games as reports
from referee.harness.cli.screen import out, paged
from referee.harness.known_games import find_family, find_game


def games(name: str | None = None) -> int:
    """Lists the games with their functions and options.

    Args:
        name: Only this game, in full: types and ranges, time limits, options, rules, maps. Or a family of games, such
            as openspiel: its list.
    """
    if name in registry.families():
        with paged():
            out.print(reports.family(find_family(name)))
    elif name is None:
        out.print(reports.games([*map(find_game, registry.names())]))
        out.print(Text(f"and families of games: {', '.join(registry.families())} (referee games NAME)", style="dim"))
    else:
        game = find_game(name)
        with paged():
            out.print(reports.detailed(game))
    return PLAYED


def print_rules(game: GameName, section: str | None = None) -> int:
    """Prints the rules of a game.

    Args:
        section: Only this section: its number, such as 5.2, or words of its title.
    """
    text = rules.section(find_game(game).name, section).text
    out.print(Markdown(text) if out.is_terminal else text)
    return PLAYED
