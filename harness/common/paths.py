"""The paths of files that are not code: next to the packages, in a checkout or in an installation."""

import os
import stat
import sys
from contextlib import suppress
from io import BufferedReader
from pathlib import Path

from referee.games.game import Game
from referee.harness.common.walk import entries_below

HOME = Path(__file__).resolve().parents[2]
"""The checkout, or the installed package `referee`."""
KITS = HOME / "starter_kits"
MAPS = HOME / "maps"
RULES = HOME / "docs" / "reference" / "rules"
REPLAYS = Path("replays")
"""The default folder of replays."""
TOURNAMENTS = Path("tournaments")
"""The default folder of tournaments."""
TOURNAMENT_FILE = "tournament.toml"
"""The plan, in the folder of a tournament."""
TOURNAMENT_PARTS = ("ledger", "replays", "bots", "rules", "inbox", "finals")
"""The parts of that folder which hold the tournament's own files alone."""


def cache_folder() -> Path:
    """Returns the user's cache: `$XDG_CACHE_HOME/referee`, or `~/.cache/referee`. Relative: there is no home folder."""
    cache_home = os.environ.get("XDG_CACHE_HOME", "")
    return Path(cache_home if os.path.isabs(cache_home) else os.path.expanduser("~/.cache"), "referee")


def forbids_programs(path: str | Path) -> bool:
    """Whether a path lies on a file system from which no program starts."""
    try:
        return bool(os.statvfs(path).f_flag & os.ST_NOEXEC)
    except OSError:
        return False


NOEXEC = "is on a file system mounted noexec, from which no program starts"


def data_folder() -> Path:
    """Returns the folder of what the user has installed: `$XDG_DATA_HOME/referee`, or `~/.local/share/referee`."""
    data_home = os.environ.get("XDG_DATA_HOME", "")
    return Path(data_home if os.path.isabs(data_home) else os.path.expanduser("~/.local/share"), "referee")


def game_file(game: Game, path: str) -> Path:
    """Returns where a file or folder is that the package of a game brings."""
    return Path(sys.modules[game.options.__module__].__file__ or "").parent / path


def open_file(path: Path) -> BufferedReader:
    """Opens a file for reading. OSError for a named pipe. `/dev/fd/63` of a shell is none.

    Never waits for a writer, also if somebody puts a named pipe there meanwhile.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        file = os.fdopen(descriptor, "rb")
    except OSError:  # it is a folder
        os.close(descriptor)
        raise
    if stat.S_ISFIFO(os.fstat(descriptor).st_mode) and os.path.exists(os.path.realpath(path)):
        file.close()
        raise OSError("it is a named pipe; expected a file")
    os.set_blocking(descriptor, True)
    return file


def read_limited(path: Path, most_bytes: int = 16 << 20) -> bytes:
    """Returns the content of a file. OSError for a named pipe, and for a file that is larger, such as /dev/zero."""
    with open_file(path) as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        limit = f"{most_bytes >> 20} MiB" if most_bytes >> 20 else f"{most_bytes:,} bytes"
        raise OSError(f"it has more than {limit}")
    return content


def replace_file(path: Path, content: bytes) -> None:
    """Writes a file at once or not at all. A folder that is closed to other accounts gets a closed file."""
    new = path.with_name(f".{path.name}.new")
    with open(new, "wb", opener=opener) as file:
        file.write(content)
    new.replace(path)


def opener(path: str | Path, flags: int) -> int:
    """Opens a file, as the `opener` of `open`. A folder that is closed to other accounts gets a closed file."""
    return os.open(path, flags | os.O_CLOEXEC, 0o666 & allowed(path))


def make_folder(path: Path) -> None:
    """Makes a folder and those above it, unless they are there. A closed folder gets closed folders."""
    if not path.is_dir():
        make_folder(path.parent)
        path.mkdir(0o777 & allowed(path), exist_ok=True)


def allowed(path: str | Path) -> int:
    """Returns the bits that the mode of a new file or folder may have."""
    return 0o777 if os.stat(os.path.dirname(path) or ".").st_mode & 0o077 else 0o700


def close_to_others(folder: Path) -> None:
    """Closes a folder and everything in it to other accounts. OSError if the folder belongs to another account."""
    folder.chmod(0o700)
    for path, status in entries_below(folder, skip_closed=True):
        with suppress(OSError):  # it is gone meanwhile, or another account has put it there
            if status.st_mode & 0o077 and not stat.S_ISLNK(status.st_mode):
                os.chmod(path, status.st_mode & 0o700)


def expanded(text: str) -> Path:
    """Returns a path with `~` and `~user` replaced, as far as they mean a folder. It may be no path at all."""
    try:
        return Path(os.path.expanduser(text))
    except ValueError:  # a NUL in the user's name
        return Path(text)
