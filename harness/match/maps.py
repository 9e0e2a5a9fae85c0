"""Maps: the user's own, found by their path, and those that come along, found by their name."""

from pathlib import Path

from referee.harness.errors import UsageError
from referee.harness.paths import MAPS


def names(game: str) -> list[str]:
    """The maps that come along for a game, without their suffix, sorted; none for a game without maps."""
    return sorted({path.stem for path in _bundled(game)})


def read(game: str, name: str) -> str:
    """The content of a map: of the file at that path, or else of the map that comes along under that name, which may
    be given with its suffix or without. UsageError if there is neither, if it cannot be read or if it is empty."""
    path = Path(name)
    try:
        if not path.exists() or path.is_dir():
            path = next((bundled for bundled in _bundled(game) if name in (bundled.name, bundled.stem)), path)
        content = path.read_text("utf-8")
    except FileNotFoundError as error:
        known = ", ".join(names(game)) or "none"
        raise UsageError(f"--map {name}: there is no such file; maps that come along for {game}: {known}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--map {name}: {error}") from error
    if not content:  # to the games this would mean that no map was named
        raise UsageError(f"--map {name}: the file is empty")
    return content


def _bundled(game: str) -> list[Path]:
    folder = MAPS / game
    return sorted(path for path in folder.iterdir() if path.suffix in (".txt", ".json")) if folder.is_dir() else []
