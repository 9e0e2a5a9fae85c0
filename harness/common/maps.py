"""Maps: bundled ones, found by name, and the user's own, found by path."""

from pathlib import Path

from referee.harness.common.errors import UsageError, reason
from referee.harness.common.paths import MAPS, read_limited

MAX_BYTES = 4 << 20
"""The largest map. The largest of ours has 30 kB."""


def names(game: str) -> list[str]:
    """Returns the names of a game's bundled maps, without suffix, sorted."""
    return sorted({path.stem for path in _bundled(game)})


def read(game: str, name: str) -> str:
    """Returns the content of a map: the file at that path, or else the bundled map of that name (suffix optional).

    UsageError if there is neither, or if the file is empty, too large or cannot be read.
    """
    path = Path(name)
    try:
        if not path.exists() or path.is_dir():
            path = next((bundled for bundled in _bundled(game) if name in (bundled.name, bundled.stem)), path)
        content = read_limited(path, MAX_BYTES).decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except FileNotFoundError as error:
        known = ", ".join(names(game)) or "none"
        raise UsageError(f"--map {name}: there is no such file; bundled maps of {game}: {known}") from error
    except (OSError, ValueError) as error:  # not UTF-8, or a NUL in the name
        raise UsageError(f"--map {name}: {reason(error)}") from error
    if not content:  # to the games this would mean that no map was named
        raise UsageError(f"--map {name}: the file is empty; expected a map of {game}")
    return content


def _bundled(game: str) -> list[Path]:
    folder = MAPS / game
    return sorted(path for path in folder.iterdir() if path.suffix in (".txt", ".json")) if folder.is_dir() else []
