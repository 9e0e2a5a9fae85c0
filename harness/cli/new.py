"""`referee new GAME`: a bot to begin with."""

import shlex
from pathlib import Path

from rich.text import Text

from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.options import find_game
from referee.harness.cli.reports import games as report
from referee.harness.cli.screen import out
from referee.harness.errors import UsageError
from referee.harness.new import write as new

ALIASES = {"typescript": "javascript", "ts": "javascript", "js": "javascript", "c++": "cpp", "py": "python"} | {
    "golang": "go",
    "rs": "rust",
}
"""Other names of the kits; that for JavaScript writes its bots in TypeScript."""


def new_bot(
    game: str | None = None, folder: Path | None = None, *, lang: str | None = None, referee: str | None = None
) -> int:
    """Writes a bot to begin with: it builds, plays and is tested as it is. Without a game: lists what there is.

    Parameters
    ----------
    game
        The game's name.
    folder
        Where the bot goes, a new or an empty folder. Default: my_GAME_LANG.
    lang
        The language.
    referee
        What pip installs as the referee in the bot's workflow, such as git+https://… with a commit. Default: where this
        one came from.
    """
    if game is None:
        out.print(report.kits({lang: new.games(lang, kit) for lang, kit in new.kits().items()}))
        return PLAYED
    if lang is None:
        raise UsageError(f"new {game}: needs --lang; there are {', '.join(new.kits())}")
    lang = ALIASES.get(lang.lower(), lang.lower())
    written = find_game(game)
    folder = Path(f"my_{written.name}_{lang}") if folder is None else folder
    checked = new.write(written, lang, folder, referee)
    if not checked:
        out.print(
            Text("no workflow for GitHub: this referee has no address that another machine could install it from; "),
            Text("--referee names one"),
            style="dim",
            sep="",
        )
    out.print(report.written(folder, new.first_match(written, shlex.quote(str(folder)))))
    return PLAYED
