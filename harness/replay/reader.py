"""Reads replays."""

import gzip
import hashlib
import io
import zlib
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from referee.games import registry
from referee.games.contract import State
from referee.games.game import Game
from referee.harness.common.errors import UsageError, reason
from referee.harness.common.known_games import find_game, not_here
from referee.harness.common.measures import Record, measured, member_names
from referee.harness.common.paths import open_file
from referee.harness.replay.lines import REPLAY_VERSION, Ending, Header
from referee.protocol.errors import UNDECODABLE

GZIP = b"\x1f\x8b"
"""The first bytes of a gzip file."""
HEADER = b'{"replay":'
"""The first bytes of a replay."""
ORIGINALS = {b"[Replay]": "aiarena21"}
"""The first bytes of the original competitions' replay files, and their games; `formats.originals` reads them."""
MAX_BYTES, MAX_LINES = 256 << 20, 4_000_000
"""A larger replay is refused. A compressed one of a few bytes could fill the memory."""


def open_replay(path: Path) -> BinaryIO:
    """Opens a replay for reading, compressed by gzip or not. OSError if it cannot be read."""
    file = open_file(path)
    if file.peek(len(GZIP))[: len(GZIP)] != GZIP:
        return file
    with file, gzip.GzipFile(fileobj=file) as unpacked:
        try:
            return io.BytesIO(_limited(unpacked))
        except (EOFError, zlib.error) as error:
            raise gzip.BadGzipFile(f"the gzip file is damaged: {error}") from error


def _limited(file: BinaryIO | gzip.GzipFile) -> bytes:
    """Returns the rest of a file. OSError if it is too large."""
    content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES or content.count(b"\n") + content.count(b"\r") > MAX_LINES:
        raise OSError(f"it has more than {MAX_BYTES >> 20} MiB or {MAX_LINES:,} lines")
    return content


def read_content(path: Path) -> bytes:
    """Returns the content of a replay, decompressed. OSError if it cannot be read."""
    with open_replay(path) as file:
        return _limited(file)


def unpacked(member: bytes) -> bytes:
    """Returns the content of a gzip member. OSError if it is too large, EOFError or zlib.error if it is damaged."""
    unpacking = zlib.decompressobj(wbits=31)  # gzip
    content = unpacking.decompress(member, MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise OSError(f"it has more than {MAX_BYTES >> 20} MiB")
    if not unpacking.eof:
        raise EOFError("it ends too early")
    return content


def refuse_same_file(replay: Path, file: Path) -> None:
    """Raises UsageError if writing to `file` would replace the replay."""
    if file.exists() and file.samefile(replay):
        raise UsageError(f"{file} is the replay itself; choose another file")


def original_game(line: bytes) -> str | None:
    """Returns the game of an original competition's replay file with this first line; None = it is none."""
    return next((game for first, game in ORIGINALS.items() if line.startswith(first)), None)


class Replay:
    """A replay. Only its header is decoded at once."""

    def __init__(self, path: Path, content: bytes | None = None) -> None:
        """Reads the file, unless its `content` is known already. UsageError if it is no replay for these rules."""
        try:
            content = read_content(path) if content is None else content
        except OSError as error:
            raise UsageError(f"the replay {path} cannot be read: {reason(error)}") from error
        self.lines = content.splitlines()
        self._ends_a_line = content.endswith(b"\n")
        if not self.lines:
            raise UsageError(f"{path} is empty, not a replay")
        if (original := original_game(self.lines[0])) is not None:
            raise UsageError(
                f"{path} is a file of the original {registry.game(original).title}: it holds no answers, so nothing "
                "in it can be verified or played again; referee view, replay show and replay html show it"
            )
        try:
            raw = msgspec.json.decode(self.lines[0], type=Header)
            self.game: Game = find_game(raw.game)
            options: Any = msgspec.convert(raw.setup.options, self.game.options)
        except UsageError as error:
            if raw.game_sha256:
                advice = "name its folder with --game, or install it"
                missing = not_here(raw.game, raw.game_version, raw.game_sha256, advice)
                raise UsageError(f"{path}: {missing}") from error
            raise UsageError(f"{path} is not a replay: line 1: {error}") from error
        except UNDECODABLE as error:
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
        if problem := _problem_of_seats(raw):
            raise UsageError(f"{path} is not a replay: line 1: {problem}")
        self.path = path
        self.header = msgspec.structs.replace(raw, setup=msgspec.structs.replace(raw.setup, options=options))
        try:
            self.new()
        except ValueError as error:
            raise UsageError(f"{path} is not a replay: line 1: options of {raw.game}: {error}") from error

    @property
    def sha256(self) -> str:
        """The hash of its content, decompressed."""
        return hashlib.sha256(b"\n".join(self.lines) + b"\n" * self._ends_a_line).hexdigest()

    def new(self) -> State:
        """Returns the first position."""
        return self.game.new(self.header.setup)

    @property
    def other_rules(self) -> bool:
        """Whether the match was played with rules whose files differ from those here."""
        return bool(self.header.game_sha256) and self.header.game_sha256 != self.game.sha256

    @property
    def breaks_off(self) -> bool:
        """Whether its last line is incomplete, for example because the disk was full."""
        try:
            msgspec.json.decode(self.lines[-1])
        except UNDECODABLE:
            return not self._ends_a_line
        return False

    @property
    def ending(self) -> Ending | None:
        """The last line, if that is an ending: a replay that was cut off has none."""
        try:
            return msgspec.json.decode(self.lines[-1], type=Ending)
        except UNDECODABLE:
            return None


def _problem_of_seats(header: Header) -> str:
    """Returns what is wrong with the seats that a header names; empty if nothing is."""
    seats = range(len(header.setup.names))
    by_seat = {name: measured(header, name) for name in member_names(Record.HEADER)}
    for player in (*header.people, *header.functions, *chain.from_iterable(by_seat.values())):
        if player not in seats:
            return f"names seat {player}; the seats are 0 to {seats[-1]}"
    for name, players in by_seat.items():
        if (without := next((player for player in players if player >= len(header.commands)), None)) is not None:
            return f"has no command of seat {without}, which `{name}` names"
    return ""
