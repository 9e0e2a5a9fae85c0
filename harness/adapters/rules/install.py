"""Installs games: copies a folder with a `game.toml` to where games are found by their names."""

import os
import shutil
import tempfile
from pathlib import Path

from referee.games.game import Game
from referee.harness.adapters.rules.game_file import read_game_file
from referee.harness.adapters.rules.games import load
from referee.harness.adapters.rules.source import installed_folder
from referee.harness.errors import UsageError, writing
from referee.harness.isolation.removal import remove
from referee.harness.programs import archive


def install(folder: Path) -> tuple[Game, Path]:
    """Installs the game of a folder, in place of one of its name. Returns it and its new folder.

    Only the files that belong to the game are copied. UsageError for a folder without a game, and for one that needs
    files outside of it.
    """
    if not folder.is_dir():
        raise UsageError(f"no game at {str(folder)!r}: there is no such folder")
    shown, real = str(folder), folder.resolve()
    file, game = read_game_file(real, shown), load(real, shown)
    if file.bundle != ".":
        raise UsageError(f"{shown}: bundle is {file.bundle!r}; an installed game has no files outside of its folder")
    target = installed_folder() / file.name
    try:
        files = archive.read(real, file.exclude)
    except UsageError as error:
        raise UsageError(f"{shown}: {error}") from error
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=".", dir=target.parent))
        try:
            for each in files.files:
                place = draft / each.path
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(real / each.path, place, follow_symlinks=True)
            os.chmod(draft, 0o755)
            if target.exists():
                target.rename(draft.with_name(f"{draft.name}.old"))
            draft.rename(target)
        finally:
            remove(draft)
            remove(draft.with_name(f"{draft.name}.old"))
    return game, target


def uninstall(name: str) -> None:
    """Removes an installed game. UsageError if none has this name."""
    folder = installed_folder() / name
    if name in ("", ".", "..") or os.sep in name or not folder.is_dir():
        raise UsageError(f"no game {name!r} is installed; `referee games` lists them")
    with writing(folder):
        remove(folder)
