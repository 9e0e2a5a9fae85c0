"""The messages between a driver and its workers: MessagePack in frames, each with its length in four bytes before it.

A local worker gets the frames through a pipe. On a cluster, a Dask task carries a job to the worker and its games back.
"""

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import trio
from msgspec import Struct

from referee.games.game import TimeControl
from referee.harness.process.limits import Limits
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.kinds import received
from referee.protocol.messages import Encoding

LENGTH_BYTES = 4


class Contest(Struct, frozen=True, tag="contest"):
    """What all games have in common: the first message to a worker."""

    game: str
    options: dict[str, Any]
    time: TimeControl
    limits: Limits
    encodings: tuple[Encoding, ...]
    bots: dict[str, Entrant]
    """By ident."""
    records: str = "all"
    """Which replays to keep: all, faults, none."""
    transcripts: bool = False
    """Whether replays keep the prompts and completions of language models."""
    bots_kept: int = 4
    """How many idle bots stay alive from game to game."""
    folder: Path | None = None
    """The tournament's folder, which is hidden from bots because it holds the seed."""
    rules: str = ""
    """The hash of rules that are a program."""


class Assignment(Struct, frozen=True):
    """A scheduled game with all that a worker needs to play it."""

    key: str
    bots: tuple[str, ...]
    """Idents, in seat order."""
    seed: int
    map: str | None = None
    case: str | None = None
    """The case of a test run, named after its opponent."""
    judged: int = -1
    """The seat that the case scores."""
    plain: bool = False
    """The game belongs to no tournament: the worker reports the verdict as JSON instead of a ledger line."""
    replay: Path | None = None
    """The replay file of a plain game."""
    fault_reports: bool = False
    """Whether every fault of a plain game gets a fault report."""
    again: tuple[str, ...] = ()
    """The command line that reproduces a plain game."""
    number: int = 0
    """Its place in the schedule."""
    options: dict[str, Any] | None = None
    """The options of the rules, if they are not the contest's: of a practice game, and with an opening."""

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

_orders: msgspec.msgpack.Decoder[Order] = msgspec.msgpack.Decoder(Order, dec_hook=lambda _, path: Path(path))
_reports: msgspec.msgpack.Decoder[Report] = msgspec.msgpack.Decoder(Report)
encode = msgspec.msgpack.Encoder(enc_hook=os.fspath).encode
"""Encodes a message."""
report = _reports.decode
"""Decodes a message from a worker."""


def frame(message: Order | Report) -> bytes:
    """Encodes a message for a pipe."""
    data = encode(message)
    return len(data).to_bytes(LENGTH_BYTES, "big") + data


async def messages(stream: trio.abc.ReceiveStream) -> AsyncIterator[bytes]:
    """Yields all messages of a stream."""
    buffer = bytearray()
    async for data in stream:
        buffer += data
        while len(buffer) >= (end := LENGTH_BYTES + int.from_bytes(buffer[:LENGTH_BYTES], "big")):
            yield bytes(buffer[LENGTH_BYTES:end])
            del buffer[:end]


def order(message: bytes) -> Order:
    """Decodes a message from a driver. The kinds of its bots know the types of their settings."""
    decoded = _orders.decode(message)
    if not isinstance(decoded, Contest):
        return decoded
    return msgspec.structs.replace(decoded, bots={ident: received(bot) for ident, bot in decoded.bots.items()})
