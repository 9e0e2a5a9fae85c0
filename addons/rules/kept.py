"""Copies of rules that are a program, in the folders of what was played by them: zip files named after their content.

With its copy, such a folder needs nothing else, and may move to another machine. A stranger may have made it: opening a
copy starts nothing, and the rules run in the sandbox like those of any other folder.
"""

import re
import shutil
from pathlib import Path

from referee.addons.rules.game_file import read_game_file
from referee.addons.rules.games import files_of, is_copy, load
from referee.addons.rules.source import GAME_FILE, SOURCE, installed_folder
from referee.games.game import Game
from referee.harness.common.errors import UsageError, writing
from referee.harness.common.kept_rules import RULES
from referee.harness.common.known_games import not_here
from referee.harness.common.paths import make_folder, opener
from referee.harness.programs import build_cache, zip_archive
from referee.harness.programs.archive import BotArchive
from referee.harness.programs.packing import pack
from referee.harness.programs.zip_archive import USER_BYTES, USER_FILES

_HASH = re.compile("[0-9a-f]{64}")


def copy_path(folder: Path, sha256: str) -> Path:
    """Returns the place of a copy in the folder of a tournament. UsageError for what is no hash."""
    if not _HASH.fullmatch(sha256):
        raise UsageError(f"{folder}: {sha256[:80]!a} is no hash of rules; expected 64 hexadecimal digits")
    return folder / RULES / f"{sha256}.zip"


def keep(game: str, version: int, sha256: str, folder: Path) -> None:
    """Copies the rules with this hash into a folder, once. UsageError if they are not here, or cannot be copied."""
    path = copy_path(folder, sha256)
    if path.exists():
        return
    files = files_here(game, sha256)
    if files is None:
        raise not_here(game, version, sha256, f"copy {path} back, or install it")
    with writing(path):
        make_folder(path.parent)
        new = path.with_suffix(".new")
        with open(new, "wb", opener=opener) as packed:
            pack(game, files, ".", packed)
        new.replace(path)


def files_here(game: str, sha256: str) -> BotArchive | None:
    """Returns the files of the rules with this hash; None if they are not here. UsageError if they cannot be copied."""
    found = SOURCE.by_rules(game, sha256)
    if found is None:
        return None
    shown = SOURCE.spec(found[0]) or game
    files = portable_files(found[1].resolve(), shown)
    if files.identity != sha256:
        raise UsageError(f"{shown}: its files changed while they were read; repeat the command")
    return files


def open_kept(game: str, version: int, sha256: str, folder: Path, over_typed: bool = False) -> None:
    """Finds the name of a game by the copy in a folder from now on; without a copy, by the same rules elsewhere.

    A folder that the user has named keeps the name, except with `over_typed`. UsageError if the rules are missing, and
    for a copy with other files than its name says.
    """
    path = copy_path(folder, sha256)
    if not over_typed and SOURCE.is_typed(game):
        return
    if path.is_file():
        found = opened(path, sha256)
        if found.name != game:
            raise UsageError(f"{path} has the rules of {found.name}; expected those of {game}")
    elif (here := SOURCE.by_rules(game, sha256)) is not None:
        SOURCE.use(here[1], game)
    else:
        raise not_here(game, version, sha256, f"copy {path} back, or install it")


def is_installed(game: str, sha256: str) -> bool:
    """Whether the user has installed the rules with this hash as the game of this name."""
    folder = installed_folder() / game
    return (folder / GAME_FILE).is_file() and load(folder.resolve(), game).sha256 == sha256


def is_here(sha256: str) -> bool:
    """Whether the rules with this hash are unpacked on this machine."""
    return build_cache.use(build_cache.folder_for(_parts(sha256)) / "tree")


def opened(path: Path, sha256: str) -> Game:
    """Unpacks a copy, once per machine, and finds its game's name there from now on. Returns the game.

    UsageError for files that have another hash. `path` need not exist if `is_here`.
    """

    def unpack(draft: Path) -> None:
        (draft / RULES).mkdir(parents=True)
        folder = draft / RULES
        zip_archive.extract(path, folder, USER_BYTES, USER_FILES)
        if (found := portable_files(folder, str(path)).identity) != sha256:
            raise UsageError(
                f"{path} is damaged: its files have the hash {found[:10]}…; copy it from where it was made"
            )

    return SOURCE.use(build_cache.unpacked(_parts(sha256), path, unpack) / RULES, str(path))


def _parts(sha256: str) -> list[str]:
    return ["rules", sha256]


def copy_files(files: BotArchive, to: Path) -> None:
    """Copies the files of a game into a folder."""
    for each in files.files:
        place = to / each.path
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(files.folder / each.path, place, follow_symlinks=True)


def left_out(game: str, sha256: str) -> list[str]:
    """Returns the secrets and caches that no copy of the rules with this hash has; none if they are not here.

    UsageError if a copy would have them, because the installed game has them.
    """
    private = list[str]()
    if (found := SOURCE.by_rules(game, sha256)) is not None:
        folder = found[1].resolve()
        files_of(read_game_file(folder, game), folder, game, private)
        if private and is_copy(folder):
            raise UsageError(f"{folder} has {private[0]}, which may be secret; install the game again from its folder")
    return private


def portable_files(folder: Path, shown: str) -> BotArchive:
    """Returns the files of a rules program that can be copied. UsageError for one that needs others than its own."""
    file = read_game_file(folder, shown)
    if file.bundle != ".":
        raise UsageError(f"{shown}: bundle is {file.bundle!r}; a copied game has no files outside of its folder")
    files = files_of(file, folder, shown)
    for each in files.files:
        if (folder / each.path).is_dir():
            raise UsageError(f"{shown}: {each.path} is a link to a folder; include the folder itself")
    return files
