"""The messages between a driver and its workers: MessagePack in frames, each with its length in four bytes before it.

A local worker gets the frames through a pipe. On a cluster, a Dask task carries a job to the worker and its games back.
"""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import msgspec
import trio
from msgspec import Struct

from referee.games.game import TimeControl
from referee.harness.process.limits import Limits

LENGTH_BYTES = 4
READ_BYTES = 1 << 18


class Program(Struct, frozen=True, tag="program"):
    """A bot that can be started on this machine."""

    ident: str
    name: str
    argv: tuple[str, ...]
    cwd: str
    injects: bool = False
    engine: bool = False


class Stage(Struct, frozen=True):
    """The conditions of the games of one stage."""

    options: dict[str, Any]
    time: TimeControl
    limits: Limits
    encodings: tuple[str, ...]


class Contest(Struct, frozen=True, tag="contest"):
    """What all games have in common: the first message to a worker."""

    game: str
    stages: dict[str, Stage]
    programs: tuple[Program, ...]
    records: str = "all"
    """Which replays to keep: all, faults, none."""
    bots_kept: int = 4
    """How many idle bots stay alive from game to game."""
    folder: str | None = None
    """The tournament's folder, which is hidden from bots because it holds the seed."""

    @property
    def limits(self) -> Limits:
        """The limits, which are the same in all stages."""
        return next(iter(self.stages.values())).limits


class Assignment(Struct, frozen=True):
    """A scheduled game with all that a worker needs to play it."""

    key: str
    bots: tuple[str, ...]
    """Idents, in seat order."""
    seed: int
    stage: str = ""
    map: str | None = None
    case: str | None = None
    """The case of a test run, named after its opponent."""
    judged: int = -1
    """The seat that the case scores."""
    plain: bool = False
    """The game belongs to no tournament: the worker reports the verdict as JSON instead of a ledger line."""
    replay: str | None = None
    """The replay file of a plain game."""
    bundles: bool = False
    """Whether every fault of a plain game gets a fault report."""
    again: tuple[str, ...] = ()
    """The command line that reproduces a plain game."""

    @property
    def line_up(self) -> str:
        """The first part of the key, `conditions/bots`: games of one line-up share a job."""
        return self.key.rsplit("/", 2)[0]


class Job(Struct, frozen=True, tag="job"):
    """Games for one worker, to play in this order."""

    number: int
    games: tuple[Assignment, ...]


class Stop(Struct, frozen=True, tag="stop"):
    """The worker ends after the game that it is playing."""


class Ready(Struct, frozen=True, tag="ready"):
    """The worker has started."""

    worker: str


class PlayedGame(Struct, frozen=True, array_like=True, gc=False):
    """A game that was played."""

    key: str
    line: bytes
    """Its ledger line, without the place of the replay."""
    replay: bytes | None = None
    """Its replay as a gzip member, if it is kept."""
    void: bool = False
    """The game does not count and is played again."""


class Played(Struct, frozen=True, tag="played"):
    """Some games of a job."""

    job: int
    games: list[PlayedGame]


class Done(Struct, frozen=True, tag="done"):
    """A job is finished."""

    job: int
    took_s: float
    start_s: float = 0.0
    """How long the bots of a game took to start, on average; 0 if none had to."""


class Failed(Struct, frozen=True, tag="failed"):
    """The run itself failed, through no fault of a bot. The worker ends."""

    why: str


Order = Contest | Job | Stop
Report = Ready | Played | Done | Failed

encode = msgspec.msgpack.Encoder(enc_hook=lambda value: str(value) if isinstance(value, Path) else value).encode
_order: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(Order)
_report: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(Report)


def order(data: bytes) -> Order:
    """Decodes a message from a driver."""
    message: Order = _order.decode(data)
    return message


def report(data: bytes) -> Report:
    """Decodes a message from a worker."""
    message: Report = _report.decode(data)
    return message


def frame(message: Order | Report) -> bytes:
    """Encodes a message for a pipe."""
    data = encode(message)
    return len(data).to_bytes(LENGTH_BYTES, "big") + data


class Frames:
    """Cuts the bytes from a pipe into messages."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes | bytearray) -> Iterator[bytes]:
        """Yields the messages that are complete now."""
        self._buffer += data
        while len(self._buffer) >= LENGTH_BYTES:
            end = LENGTH_BYTES + int.from_bytes(self._buffer[:LENGTH_BYTES], "big")
            if len(self._buffer) < end:
                return
            yield bytes(self._buffer[LENGTH_BYTES:end])
            del self._buffer[:end]


async def messages(stream: trio.abc.ReceiveStream) -> AsyncIterator[bytes]:
    """Yields all messages of a stream."""
    frames = Frames()
    while data := await stream.receive_some(READ_BYTES):
        for message in frames.feed(data):
            yield message
