"""Records in the forms that other programs read, such as a game's own replay file.

Here stands what there is: the name of each form, the game that it belongs to, and who writes it.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from referee.harness.errors import RunError, UsageError
from referee.harness.replay.formats import aiarena21_writer
from referee.harness.replay.reader import Replay, kept_from
from referee.harness.replay.simulate import verify


class Format(Struct, frozen=True):
    """A form of a record."""

    game: str
    content: Callable[[Replay], bytes]
    """Takes a record that verifies; gives the file."""


FORMATS: Mapping[str, Format] = {
    "aiarena21-replay": Format("aiarena21", aiarena21_writer.content),
}


def find(name: str, game: str) -> Format:
    """The form of that name. UsageError, with the forms there are, for any other, and for one of another game."""
    if name not in FORMATS:
        raise UsageError(f"unknown format {name!r}; there are {', '.join(sorted(FORMATS))}")
    found = FORMATS[name]
    if found.game != game:
        raise UsageError(f"{name} is a form of {found.game} matches; this is {game}")
    return found


def export(name: str, replay: Replay, path: Path) -> None:
    """Writes a record to `path` in another form. Nothing is written unless the record verifies.

    UsageError as in `find` and where it would replace the record, Difference as in `verify`, RunError if the file
    cannot be written.
    """
    found = find(name, replay.game.name)
    kept_from(replay.path, path)
    verify(replay)
    content = found.content(replay)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise RunError(f"{path} cannot be written: {error.strerror or error}") from error
