"""Reads the record of a match."""

import gzip
import io
import zlib
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from referee.games import registry
from referee.games.contract import Game, State
from referee.harness.errors import UsageError
from referee.harness.replay.formats.imports import form_of
from referee.harness.replay.lines import REPLAY_VERSION, Ending, Header

GZIP = b"\x1f\x8b"
"""How a file begins that gzip has packed."""

HEADER = b'{"replay":'
"""How a record begins."""


def opened(path: Path) -> BinaryIO:
    """A record for reading, also one that gzip has packed, as tournaments' pages hold them. OSError if it cannot be."""
    file = path.open("rb")
    if file.peek(len(GZIP))[: len(GZIP)] != GZIP:
        return file
    with file:
        try:
            return io.BytesIO(gzip.decompress(file.read()))
        except (EOFError, zlib.error) as error:
            raise gzip.BadGzipFile(f"what gzip has packed is damaged: {error}") from error


def contents(path: Path) -> bytes:
    """All of a record. OSError likewise."""
    with opened(path) as file:
        return file.read()


def kept_from(record: Path, file: Path) -> None:
    """UsageError if what is about to be written to `file` would replace the record."""
    if file.exists() and file.samefile(record):
        raise UsageError(f"{file} is the record itself; what is made of it goes to another file")


class Replay:
    """A replay that has been read. The lines themselves are decoded as they are asked for."""

    def __init__(self, path: Path, content: bytes | None = None) -> None:
        """`content`: what the file holds, if that is known already."""
        try:
            content = contents(path) if content is None else content
        except OSError as error:
            raise UsageError(f"the replay {path} cannot be read: {error.strerror or error}") from error
        self.lines = content.splitlines()
        self._ends_a_line = content.endswith(b"\n")
        if not self.lines:
            raise UsageError(f"{path} is empty, not a replay")
        if (form := form_of(self.lines[0])) is not None:
            raise UsageError(
                f"{path} is a file of the original {registry.game(form.game).title}: it holds no answers, so nothing "
                "in it can be verified or played again; referee view, replay show and replay html show it"
            )
        try:
            raw = msgspec.json.decode(self.lines[0], type=Header)
            self.game: Game = registry.game(raw.game)
            options: Any = msgspec.convert(raw.setup.options, self.game.options)
        except KeyError as error:
            raise UsageError(f"{path} is not a replay: line 1: {error.args[0]}") from error
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            if content.startswith(HEADER) and len(self.lines) == 1 and self.breaks_off:
                raise UsageError(f"{path} breaks off in line 1: a disk was full, or the run was killed") from error
            raise UsageError(f"{path} is not a replay: line 1: {error}") from error
        if raw.replay != REPLAY_VERSION or raw.game_version != self.game.version:
            raise UsageError(
                f"{path} is a version {raw.replay} replay of {raw.game} rules {raw.game_version}; "
                f"this is version {REPLAY_VERSION}, rules {self.game.version}"
            )
        if len(raw.setup.names) not in self.game.seats:
            raise UsageError(f"{path} is not a replay: line 1: {raw.game} is not played by {len(raw.setup.names)} bots")
        self.path = path
        self.header = msgspec.structs.replace(raw, setup=msgspec.structs.replace(raw.setup, options=options))
        try:
            self.new()
        except ValueError as error:
            raise UsageError(f"{path} is not a replay: line 1: options of {raw.game}: {error}") from error

    def new(self) -> State:
        """The first position."""
        return self.game.new(self.header.setup)

    @property
    def breaks_off(self) -> bool:
        """Whether its last line is a part of one, as where the disk was full."""
        try:
            msgspec.json.decode(self.lines[-1])
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return not self._ends_a_line
        return False

    @property
    def ending(self) -> Ending | None:
        """The last line, if that is an ending: a record that was cut off has none."""
        try:
            return msgspec.json.decode(self.lines[-1], type=Ending)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None
