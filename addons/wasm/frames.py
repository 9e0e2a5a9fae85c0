"""The messages between the referee and the program that runs a metered bot, over the latter's standard streams.

A message has a kind (one byte), a number (64 bits), the length of its data (32 bits) and the data, little-endian.
"""

import os
import struct
from typing import NamedTuple

HEADER = struct.Struct("<cQI")
READ_BYTES = 1 << 16

# From the referee.

MATCH = b"M"
"""A match begins, in a new instance of the module. Number: the seed of its random numbers."""
CALL = b"C"
"""Run on. Number: the units of fuel that the bot has from here on. Data: input for the bot."""
GO_ON = b"G"
"""Run on with the fuel that is left."""

# From the runner, which then waits. Number: the units of fuel that were used since `CALL`.

USES = b"U"
"""The bot has used `USES_EVERY` units more, and runs on: the runner does not wait. `run.py` never sends it."""
WROTE = b"W"
"""The bot wrote to standard output. Data: what it wrote."""
READS = b"R"
"""The bot reads, and there is no input left."""
FUEL_USED_UP = b"F"
"""All fuel is used up; this instance runs no more."""
ENDED = b"E"
"""The bot has ended. Data: how, in words that follow its name."""

USES_EVERY = 2_000_000_000
"""Units of fuel after which the runner says how much was used."""
NO_LIMIT = (1 << 63) - 1
"""The fuel of a call without a limit."""


class Message(NamedTuple):
    """One message."""

    kind: bytes
    number: int
    data: bytes


def encode(kind: bytes, number: int, data: bytes = b"") -> bytes:
    """Returns the bytes of a message."""
    return HEADER.pack(kind, number, len(data)) + data


class Buffer:
    """Puts messages together from bytes that come in any pieces."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def add(self, data: bytes) -> None:
        """Takes the next bytes."""
        self._bytes += data

    def next(self) -> Message | None:
        """Returns the next message; None if it is not whole yet."""
        held = self._bytes
        if len(held) < HEADER.size:
            return None
        kind, number, length = HEADER.unpack_from(held)
        end = HEADER.size + length
        if len(held) < end:
            return None
        data = bytes(held[HEADER.size : end])
        del held[:end]
        return Message(kind, number, data)


class Channel:
    """The runner's end: blocking descriptors."""

    def __init__(self, source: int, target: int) -> None:
        self._source, self._target = source, target
        self._buffer = Buffer()

    def send(self, kind: bytes, number: int, data: bytes = b"") -> None:
        """Sends a message. BrokenPipeError if nobody reads."""
        rest = memoryview(encode(kind, number, data))
        while rest:
            rest = rest[os.write(self._target, rest) :]

    def receive(self) -> Message:
        """Waits for the next message. EOFError if there will be none."""
        while (message := self._buffer.next()) is None:
            data = os.read(self._source, READ_BYTES)
            if not data:
                raise EOFError
            self._buffer.add(data)
        return message
