"""Installs games: copies a folder or zip file with a `game.toml` to where games are found by their names."""

import os
import tempfile
from pathlib import Path

from referee.addons.rules.games import load
from referee.addons.rules.kept import copy_files, portable_files
from referee.addons.rules.source import GAME_FILE, installed_folder
from referee.games.game import Game
from referee.harness.common.errors import UsageError, writing
from referee.harness.isolation.removal import remove
from referee.harness.programs import zip_archive
from referee.harness.programs.zip_archive import USER_BYTES, USER_FILES


def install(path: Path) -> tuple[Game, Path]:
    """Installs the game of a folder or a zip file, and replaces one of the same name. Returns it and its new folder.

    Only the files that belong to the game are copied. UsageError for a folder without a game, for one that needs files
    outside of it, and for a zip file with more than files and folders.
    """
    if zip_archive.is_zip(path):
        with writing(parent := installed_folder()):
            parent.mkdir(parents=True, exist_ok=True)
            scratch = Path(tempfile.mkdtemp(prefix=".", dir=parent))  # as a copy, it keeps its hash: see `is_copy`
        try:
            folder = zip_archive.named_folder(path, scratch)
            return _install(zip_archive.unpack(path, folder, USER_BYTES, USER_FILES), str(path))
        finally:
            remove(scratch)
    if not path.is_dir():
        raise UsageError(f"no game at {str(path)!r}: there is no such folder or zip file")
    return _install(path.resolve(), str(path))


def _install(folder: Path, shown: str) -> tuple[Game, Path]:
    game, files = load(folder, shown), portable_files(folder, shown)
    target = installed_folder() / game.name
    if target.exists() and not (target / GAME_FILE).is_file():
        raise UsageError(f"{target} holds no game, and stays; move it away")
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=".", dir=target.parent))
        try:
            copy_files(files, draft)
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
    if name in ("", ".", "..") or os.sep in name or not (folder / GAME_FILE).is_file():
        raise UsageError(f"no game {name!r} is installed; `referee games` lists them")
    with writing(folder):
        remove(folder)
