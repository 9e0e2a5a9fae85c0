"""What a driver and its lanes say to each other: MessagePack in frames of four bytes of length and the rest.

The same messages go through pipes to lanes on this machine and through a cluster's tasks to others.
"""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import msgspec
import trio
from msgspec import Struct

from referee.games.contract import TimeControl
from referee.harness.process.limits import Limits

LENGTH_BYTES = 4
READ_BYTES = 1 << 18


class Program(Struct, frozen=True, tag="program"):
    """A bot that can be started here."""

    ident: str
    name: str
    argv: tuple[str, ...]
    cwd: str
    injects: bool = False
    engine: bool = False


class Stage(Struct, frozen=True):
    """Conditions that games are played under."""

    options: dict[str, Any]
    time: TimeControl
    limits: Limits
    encodings: tuple[str, ...]


class Contest(Struct, frozen=True, tag="contest"):
    """The first message to a lane: what all games have in common."""

    game: str
    stages: dict[str, Stage]
    programs: tuple[Program, ...]
    records: str = "all"
    """Which games' records are kept: all, faults, none."""
    bots_kept: int = 4
    """So many idle bots stay alive from game to game."""
    folder: str | None = None
    """The tournament's folder, which tells the seed: no bot sees it."""


class Due(Struct, frozen=True):
    """A game to be played."""

    key: str
    bots: tuple[str, ...]
    """Idents, in seat order."""
    seed: int
    stage: str = ""
    map: str | None = None
    case: str | None = None
    """Of a judged run: the case that it is, by its opponent's name."""
    judged: int = -1
    """The seat that the case pays."""
    plain: bool = False
    """It is of no tournament: its verdict is given as JSON in the place of a line of the ledger."""
    replay: str | None = None
    """Of a plain game: the file for its record, if one is kept."""
    bundles: bool = False
    """Of a plain game: whether every fault has a folder beside the record."""
    again: tuple[str, ...] = ()
    """Of a plain game: the command line that plays it again."""


class Job(Struct, frozen=True, tag="job"):
    """Games for one lane, to be played in this order."""

    number: int
    games: tuple[Due, ...]


class Stop(Struct, frozen=True, tag="stop"):
    """A lane ends after the game that it plays."""


class Ready(Struct, frozen=True, tag="ready"):
    """A lane has begun."""

    lane: str
    pid: int
    core: int | None
    version: str


class Played(Struct, frozen=True, tag="played"):
    """Some of a job's games have been played."""

    job: int
    games: list[tuple[bytes, bytes | None]]
    """Each as a line of the ledger without the record's place, and the record as a gzip member."""


class Done(Struct, frozen=True, tag="done"):
    """A job is finished."""

    job: int
    took_s: float
    start_s: float = 0.0
    """How long the bots of a game took to start and to greet, if some had to."""


class Failed(Struct, frozen=True, tag="failed"):
    """The lane ends: the run itself failed, which is no bot's fault."""

    why: str


Order = Contest | Job | Stop
Report = Ready | Played | Done | Failed

encode = msgspec.msgpack.Encoder(enc_hook=lambda value: str(value) if isinstance(value, Path) else value).encode
_order: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(Order)
_report: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(Report)


def order(data: bytes) -> Order:
    """What a driver says."""
    found: Order = _order.decode(data)
    return found


def report(data: bytes) -> Report:
    """What a lane says."""
    found: Report = _report.decode(data)
    return found


def frame(message: Order | Report) -> bytes:
    """A message as it goes through a pipe."""
    data = encode(message)
    return len(data).to_bytes(LENGTH_BYTES, "big") + data


class Frames:
    """Cuts what comes through a pipe into messages."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes | bytearray) -> Iterator[bytes]:
        """The messages that are complete now."""
        self._buffer += data
        while len(self._buffer) >= LENGTH_BYTES:
            end = LENGTH_BYTES + int.from_bytes(self._buffer[:LENGTH_BYTES], "big")
            if len(self._buffer) < end:
                return
            yield bytes(self._buffer[LENGTH_BYTES:end])
            del self._buffer[:end]


async def messages(stream: trio.abc.ReceiveStream) -> AsyncIterator[bytes]:
    """What comes, to the end."""
    frames = Frames()
    while data := await stream.receive_some(READ_BYTES):
        for message in frames.feed(data):
            yield message
