"""Replay files of the original competitions: what there is, to look at, and to export a replay to.

Such a file holds positions and no answers, so it cannot be verified or played again.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from referee.games import registry
from referee.games.contract import State
from referee.games.game import Game
from referee.harness.common.errors import UsageError
from referee.harness.replay.formats import replay_txt
from referee.harness.replay.lines import Step
from referee.harness.replay.reader import Replay, original_game, read_content
from referee.harness.replay.simulate import positions, verify


class Format(Struct, frozen=True):
    """A game's original replay file."""

    name: str
    """As for `replay export`."""
    game: str
    begins: bytes
    """The first bytes of such a file."""
    contents: str
    """What such a file holds and what it does not."""
    reader: type[replay_txt.Reader]
    """Reads the positions of a file in order."""
    standing: Callable[[bytes], tuple[int, Sequence[int]] | None]
    """Returns the turns that remain after a line, and the scores then; None = the line is not a turn."""
    content: Callable[[Iterable[tuple[int, State, Step]]], bytes]
    """Returns the file for the positions of a replay that verifies."""


FORMATS: Sequence[Format] = (
    Format(
        name="aiarena21-replay",
        game="aiarena21",
        begins=replay_txt.FIRST_BYTES,
        contents=replay_txt.CONTENTS,
        reader=replay_txt.Reader,
        standing=replay_txt.standing,
        content=replay_txt.content,
    ),
)


def format_of(line: bytes) -> Format | None:
    """Returns the format of a file with this first line; None = it is no original replay file."""
    game = original_game(line)
    return next((form for form in FORMATS if form.game == game), None)


class Original:
    """An original replay file, of which the first line has been read."""

    def __init__(self, path: Path, form: Format, lines: Sequence[bytes]) -> None:
        """Raises UsageError if the first line is wrong."""
        self.path = path
        self.form = form
        self.lines = lines
        self.game: Game = registry.game(form.game)
        try:
            self.names = self.reader().names
        except ValueError as error:
            raise UsageError(f"{path} is not a replay of {self.game.title}: line 1: {error}") from error

    def reader(self) -> replay_txt.Reader:
        """Returns a reader at the first position."""
        return self.form.reader(self.lines[0])


def read_record(path: Path, content: bytes | None = None) -> Replay | Original:
    """Reads a replay, or an original replay file. UsageError if it is neither.

    `content`: the file's content, or its beginning, if that is known already.
    """
    try:
        lines = (read_content(path) if content is None else content).splitlines()
    except OSError:
        lines = []  # Replay says why
    form = format_of(lines[0]) if lines else None
    return Replay(path, content) if form is None else Original(path, form, lines)


def find(name: str, game: str, others: Iterable[str] = ()) -> Format:
    """Returns the format of that name. UsageError if there is none, or if it is another game's.

    `others`: formats that are not original ones, for the message.
    """
    form = next((form for form in FORMATS if form.name == name), None)
    if form is None:
        known = ", ".join(sorted([*(form.name for form in FORMATS), *others]))
        raise UsageError(f"unknown format {name!r}; there are {known}")
    if form.game != game:
        raise UsageError(f"{name} is a format for {form.game} matches; this is {game}")
    return form


def content(name: str, replay: Replay) -> bytes:
    """Returns a replay in an original format. UsageError as in `find`, Difference as in `verify`."""
    form = find(name, replay.game.name)
    verify(replay)
    return form.content(positions(replay))
