"""`python -m referee.tools schema|page|bindings GAME`: what is made from the types of any game.

schema GAME                         the JSON Schema of what crosses the wire, to standard output
page GAME                           the reference page in Markdown, to standard output
bindings GAME --lang LANG FOLDER    the typed binding of a starter kit, into FOLDER: a kit, a bot, or a game's starters

Exit codes: 0 = made, 1 = a game whose shapes or names the kit cannot have, 2 = wrong usage.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path, PurePath

from referee.games.game import Game
from referee.games.schemas import game_schema
from referee.harness.common.errors import RunError, UsageError
from referee.harness.common.known_games import typed_game
from referee.harness.new.write import KIT_FILE, kits
from referee.tools.kits.files import LANGUAGES, binding_files
from referee.tools.kits.shapes import Binding
from referee.tools.pages import page
from referee.tools.schemas import dump


def main(argv: Sequence[str]) -> int:
    """Does what the arguments say; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m referee.tools", description="Files made from a game's types.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, words in (("schema", "the JSON Schema"), ("page", "the reference page in Markdown")):
        commands.add_parser(name, help=f"{words} of a game").add_argument("game")
    bindings = commands.add_parser("bindings", help="the typed binding of a game for a starter kit")
    bindings.add_argument("game")
    bindings.add_argument("--lang", required=True, choices=LANGUAGES)
    bindings.add_argument("folder", type=Path, help="a starter kit, a bot of `referee new`, or starters/LANG of a game")
    given = parser.parse_args(argv)
    try:
        game = typed_game(given.game)
    except (UsageError, RunError) as error:
        parser.error(str(error))
    if given.command == "schema":
        sys.stdout.write(dump(game_schema(game)))
    elif given.command == "page":
        sys.stdout.write("\n".join(page(game)) + "\n")
    else:
        return _write_binding(game, given.lang, given.folder)
    return 0


def _write_binding(game: Game, language: str, folder: Path) -> int:
    source = f"the game.toml of {game.name}" if game.sha256 else f"the types of {game.options.__module__}"
    try:
        binding = Binding.read(dump(game_schema(game)), source)
        files = binding_files(binding, language)
    except ValueError as error:
        print(f"{game.name}: {error}", file=sys.stderr)
        return 1
    for kit_path, text in files.items():
        path = kit_path if (folder / KIT_FILE).is_file() else _place(kit_path, binding.module, language)
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8", newline="\n")
        print(f"wrote {folder / path}")
    return 0


def _place(path: str, game: str, language: str) -> str:
    """Returns where `referee new` puts this file of a kit in a bot."""
    for target, patterns in kits()[language].kit.items():
        if any(PurePath(path).match(pattern.replace("@game@", game)) for pattern in patterns):
            return f"{target.replace('@game@', game)}/{PurePath(path).name}"
    return path


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
