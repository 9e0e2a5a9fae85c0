"""`referee games` and `referee rules`: lists games, and prints the rules of one."""

from cyclopts import App
from rich.markdown import Markdown
from rich.text import Text

from referee.games import registry
from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.nested import add_commands
from referee.harness.cli.options import GameName
from referee.harness.cli.reports import games as reports
from referee.harness.cli.reports.text import printable
from referee.harness.cli.screen import err, out, paged
from referee.harness.common import rules
from referee.harness.common.known_games import find_family, typed_game

games_app = App(name="games")


@games_app.default
def games(name: str | None = None) -> int:
    """Lists games, functions and options.

    Args:
        name: Only this game, in full: types and ranges, time limits, options, rules, maps. Or a family of games, such
            as openspiel: its list. Or the folder of a game whose rules are a program.
    """
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


add_commands(games_app, "games")


def print_rules(game: GameName, section: str | None = None) -> int:
    """Prints the rules of a game.

    Args:
        section: Only this section: its number, such as 5.2, or words of its title.
    """
    text = rules.section(typed_game(game).name, section).text
    out.print(Markdown(text) if out.is_terminal else text)
    return PLAYED
