"""Files in a game's own format, such as PGN: records of matches, and books of openings.

A game names the module of its format in `Game.files`, whose `FILES` is a `GameFiles`. Nothing else knows the format.
"""

import hashlib
import math
import stat
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from msgspec import Struct

from referee.games.contract import Player, Result
from referee.games.dice import Dice
from referee.games.game import Game, TimeControl
from referee.harness.common.errors import RunError, UsageError, reason, writing
from referee.harness.common.installed import extra_command
from referee.harness.common.paths import read_limited, replace_file

MOST_BYTES = 256 << 20
"""The largest book of openings. The largest that testers of chess engines share has 170 MB."""
TRIED = 1000
"""The most openings that are tried before the first game. A wrong one behind them is passed over."""
SHOWN = 5
"""The most wrong openings that a message names."""


class Move(Struct, frozen=True):
    """An answer of a match."""

    player: Player
    answer: Any
    wall_s: float


class Occasion(Struct, frozen=True):
    """Where a match was played, for its record. Empty = not known."""

    event: str = ""
    site: str = ""
    round: str = ""
    date: str = ""
    """As 2026.11.27."""


class Record(Struct, frozen=True):
    """A match, for a record."""

    names: tuple[str, ...]
    options: Any
    time: TimeControl
    start: Any
    """`State.view(None)` before the first call."""
    end: Any
    """The same at the end."""
    moves: tuple[Move, ...]
    """The answers in order, those at fault too."""
    result: Result | None
    """None = it was not played to its end."""
    occasion: Occasion = Occasion()


class Book(Protocol):
    """Openings, by their number."""

    def __len__(self) -> int: ...

    def place(self, number: int) -> str:
        """Returns where an opening is, such as `line 4`."""
        ...

    def options(self, number: int) -> Mapping[str, Any]:
        """Returns the options with which a match begins at an opening. ValueError if the book is wrong there."""
        ...


class GameFiles(Struct, frozen=True):
    """The format of a game's files."""

    format: str
    """As for `--export`."""
    package: str
    """The module that must be installed."""
    extra: str
    """The extra that installs it."""
    kinds: str
    """The files that can be a book, in words."""
    begins: bytes
    """The first bytes of every such file that we write."""
    record: Callable[[Record], str]
    """Returns the record of a match. A file may have several, one after the other."""
    book: Callable[[bytes, int | None, Mapping[str, Any]], Book]
    """Takes the content of a book, how many moves to play of each opening (None = all), and the options of the matches.

    ValueError if it is none.
    """


def files_of(game: Game) -> GameFiles | None:
    """Returns the format of a game's files; None if it has none. RunError if its extra is missing."""
    if not game.files:
        return None
    found: GameFiles = import_module(game.files).FILES
    if find_spec(found.package) is None:
        raise RunError(f"{found.format} needs {found.package}; to install it: {extra_command(found.extra)}")
    return found


BOOK = "openings.book"
"""The copy of the book in the folder of a run."""
SEQUENTIAL, RANDOM = "sequential", "random"
"""The order of openings; the seed decides the second one."""


class Openings(Struct, frozen=True, omit_defaults=True):
    """A book of openings, as a plan names it."""

    file: str
    """The absolute path."""
    hash: str
    """SHA-256 of its content, hexadecimal."""
    order: str = SEQUENTIAL
    plies: int | None = None
    """How many moves of each opening are played; None = all."""

    @property
    def conditions(self) -> tuple[str, str, int | None]:
        """What of it decides how games begin."""
        return self.hash, self.order, self.plies


class OpenedBook:
    """A book that was read, and the order of its openings."""

    def __init__(self, openings: Openings, book: Book, seed: int) -> None:
        self._openings, self._book = openings, book
        self._first, self._step = 0, 1
        if openings.order == RANDOM:  # every opening comes once before the first comes again
            dice, count = Dice(seed).fork("openings"), len(book)
            self._first = dice.below(count, "the first opening")
            while math.gcd(step := 1 + dice.below(count, "the next opening"), count) > 1:
                pass
            self._step = step

    def options(self, number: int) -> dict[str, Any]:
        """Returns the options of the opening with this number in the order; of the next one if the book is wrong there.

        RunError if no opening is right.
        """
        for at in range(number, number + len(self._book)):
            try:
                return dict(self._book.options((self._first + at * self._step) % len(self._book)))
            except ValueError:
                continue
        raise RunError(f"{self._openings.file}: no opening can be played")


def named(
    game: Game, path: Path, order: str, plies: int | None, options: Mapping[str, Any] = MappingProxyType({})
) -> tuple[Openings, Book]:
    """Reads a book of openings that the user names, for matches with these options.

    UsageError if it is none, and for openings that cannot be played. RunError if an extra is missing.
    """
    content = _read(path)
    book = _book(game, path, content, plies, options)
    if wrong := [(book.place(number), why) for number in range(min(len(book), TRIED)) if (why := _fault(book, number))]:
        more = f"; {len(wrong) - SHOWN} more are wrong" if len(wrong) > SHOWN else ""
        raise UsageError(f"--openings {path}: {'; '.join(f'{place}: {why}' for place, why in wrong[:SHOWN])}{more}")
    return Openings(str(path.resolve()), hashlib.sha256(content).hexdigest(), order, plies), book


def opened(game: Game, openings: Openings, seed: int, options: Mapping[str, Any], kept: Path) -> OpenedBook:
    """Reads the book that a plan names, and keeps a copy at `kept`, from which the games go on.

    UsageError if it has changed or is missing, and no copy was kept.
    """
    files = [path for path in (kept, Path(openings.file)) if path.is_file()]
    if not files:
        raise UsageError(f"{openings.file}: the book of openings is missing; put it back there to go on")
    for path in files:
        content = _read(path)
        if hashlib.sha256(content).hexdigest() == openings.hash:
            break
    else:
        raise UsageError(f"{openings.file} has changed since the tournament began; put the earlier file back")
    if path != kept:
        with writing(kept):
            replace_file(kept, content)
    return OpenedBook(openings, _book(game, Path(openings.file), content, openings.plies, options), seed)


def _book(game: Game, path: Path, content: bytes, plies: int | None, options: Mapping[str, Any]) -> Book:
    files = files_of(game)
    if files is None:
        raise UsageError(f"--openings {path}: {game.name} has no books; openspiel:chess and openspiel:go have")
    try:
        book = files.book(content, plies, options)
        if not len(book):
            raise ValueError(f"it has no opening; expected {files.kinds}")
    except ValueError as error:
        raise UsageError(f"--openings {path}: {error}") from error
    return book


def _fault(book: Book, number: int) -> str:
    try:
        book.options(number)
    except ValueError as error:
        return str(error)
    return ""


def _read(path: Path) -> bytes:
    """Returns the content of a file. UsageError for anything else, and for one that is too large."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise OSError("it is no file")
        return read_limited(path, MOST_BYTES)
    except OSError as error:
        raise UsageError(f"--openings {path}: {reason(error)}") from error
    except ValueError as error:  # a NUL in the name
        raise UsageError(f"--openings {path}: {error}") from error


def one_line(text: str, most: int = 60) -> str:
    """Returns the beginning of a stranger's text, in ASCII and in one line."""
    return ascii(text[:most]) + "…" * (len(text) > most)


def tag(text: str) -> str:
    """Returns a name for a record: without line breaks, quotes, brackets and other signs that a format may read."""
    kept = "".join(sign if sign.isprintable() and sign not in '"\\[]{}' else " " for sign in text)
    return " ".join(kept.split())[:200] or "?"
