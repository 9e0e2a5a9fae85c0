"""Files of the original competitions, to be looked at: they hold positions and no answers, so that nothing in them can
be played again.

Here stands what there is: how each kind of file begins, the game that it belongs to, and who reads it.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from referee.games import registry
from referee.games.contract import Game
from referee.harness.errors import UsageError
from referee.harness.replay.formats import aiarena21_reader

Notice = tuple[str, Any]
"""Something that a line tells: its name, its members."""


class Reader(Protocol):
    """The positions of a file, one after the other. It is made of the first line. ValueError, here and there: what is
    wrong with a line."""

    names: tuple[str, ...]
    total: int
    """So many turns the match was to have."""
    turns: int
    """So many were read."""

    @property
    def view(self) -> Any:
        """The position that was read last, in the form of the game's `view(None)`, with the members that the file
        knows."""

    @property
    def drawing(self) -> Sequence[str]:
        """The same for people, line by line."""

    def take(self, line: bytes) -> Sequence[Notice] | None:
        """Reads the next line, and gives what it tells beside the position. None: it ends the file."""


class Form(Struct, frozen=True):
    """A kind of file."""

    game: str
    begins: bytes
    """The first bytes of every such file."""
    holds: str
    """What it tells and what it does not, for whoever looks at it."""
    reader: Callable[[bytes], Reader]
    standing: Callable[[bytes], tuple[int, Sequence[int]] | None]
    """Turns that are left after a line, and the scores then; None: it is not the line of a turn."""


FORMS: Sequence[Form] = (
    Form(
        "aiarena21", aiarena21_reader.BEGINS, aiarena21_reader.HOLDS, aiarena21_reader.Reader, aiarena21_reader.standing
    ),
)


def form_of(line: bytes) -> Form | None:
    """The kind of a file that begins like this; None: it is none of these."""
    return next((form for form in FORMS if line.startswith(form.begins)), None)


class Original:
    """A file of an original competition whose first line has been read."""

    def __init__(self, path: Path, form: Form, lines: Sequence[bytes]) -> None:
        """UsageError if the first line is wrong."""
        self.path = path
        self.form = form
        self.lines = lines
        self.game: Game = registry.game(form.game)
        try:
            self.names = self.reader().names
        except ValueError as error:
            raise UsageError(f"{path} is not a replay of {self.game.title}: line 1: {error}") from error

    def reader(self) -> Reader:
        """Stands at the first position."""
        return self.form.reader(self.lines[0])
