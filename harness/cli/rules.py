"""`referee rules`: prints the rules of a game."""

from rich.markdown import Markdown

from referee.harness import rules
from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.options import find_game
from referee.harness.cli.screen import out


def print_rules(game: str, section: str | None = None) -> int:
    """Prints the rules of a game.

    Parameters
    ----------
    game
        The game's name.
    section
        Only this section: its number, such as 5.2, or words of its title.
    """
    text = rules.section(find_game(game).name, section).text
    out.print(Markdown(text) if out.is_terminal else text, markup=False)
    return PLAYED
