"""WASI preview 1 for metered bots: standard input, output and error, a clock and random numbers, and nothing else.

Everything that a bot sees follows from its input and the match's seed. Its clock is the fuel that it has used, and a
sleep uses fuel instead of waiting. A path answers as a bad descriptor, a socket as not supported.

`run.c` does the same in C. Change both together; the tests compare what they do.
"""

import ctypes
import os
import struct
from collections.abc import Callable, Iterator
from random import Random

from wasmtime import Caller, Memory, Store

from referee.addons.wasm import wasi
from referee.addons.wasm.frames import CALL, GO_ON, NO_LIMIT, READS, WROTE, Channel, Message
from referee.addons.wasm.prices import GROWN_BYTE, HOST_BYTE, HOST_CALL, UNITS_PER_NS

PAGE = 1 << 16
PIECE = 1 << 20
"""The most bytes that are copied at a time, so that the runner itself needs little memory."""
INPUT, OUTPUT, ERROR = range(3)
"""The streams, by the number that each descriptor has at the start."""
REAL_TIME_NS = 1_577_836_800 * 10**9
"""The real time at the start of each match: the beginning of 2020."""
MOST_NS = (1 << 64) - 1
"""Where a clock begins again, after 585 years."""


class EndOfInstance(Exception):
    """Ends an instance from a WASI function."""


class OutOfFuel(EndOfInstance):
    """A WASI function costs more than is left."""


class Exited(EndOfInstance):
    """The bot has ended itself, or has made a call that cannot be answered. The argument says what it did."""


class NewMatch(EndOfInstance):
    """The referee has begun another match."""


class FuelMeter:
    """The fuel and the memory of one instance of a module. Between `enter` and `leave` it keeps both itself."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.memory: Memory | None = None
        """None until the first WASI function is called, perhaps by the module's start section."""
        self.granted = 0
        """Units of fuel that the current call began with."""
        self.left = 0
        """Units that were left when a WASI function was last called, or paid for. After a trap, an engine may not know
        what was used since."""
        self._earlier = 0  # units used in earlier calls
        self._base, self._size = 0, 0  # the memory's address and length
        self._paid = 0  # bytes of memory that are paid

    @property
    def used(self) -> int:
        """Units of fuel that were used since the current call began, up to `left`."""
        return self.granted - self.left

    @property
    def time_ns(self) -> int:
        """The bot's clock: the fuel that was used since the match began."""
        return (self._earlier + self.used) // UNITS_PER_NS & MOST_NS

    def enter(self, caller: Caller) -> None:
        """Begins a call of a WASI function, which pays for itself and for what the memory has grown by."""
        store, memory = self.store, self.memory
        self.left = store.get_fuel()
        if memory is None:
            found = caller.get("memory")
            assert isinstance(found, Memory)  # the compiler has looked
            self.memory = memory = found
        self._base = ctypes.addressof(memory.data_ptr(store).contents)
        self._size = memory.data_len(store)
        grown, self._paid = self._size - self._paid, self._size
        self.charge(HOST_CALL + grown * GROWN_BYTE)

    def leave(self) -> None:
        """Ends a call of a WASI function."""
        self.store.set_fuel(self.left)

    def grant(self, units: int) -> None:
        """Begins a call of the bot with that much fuel."""
        self._earlier += self.used
        self.granted = self.left = units

    def charge(self, units: int) -> None:
        """Takes that much fuel. OutOfFuel if there is less."""
        if units > self.left:
            self.left = 0
            raise OutOfFuel
        self.left -= units

    def at(self, pointer: int, size: int) -> int:
        """Returns the address of a part of the memory, and charges its bytes. Exited if it lies outside.

        The engine passes numbers from 2^31 on as negative ones.
        """
        pointer, size = pointer + (1 << 32 if pointer < 0 else 0), size & 0xFFFFFFFF
        if pointer + size > self._size:
            raise Exited("passed a pointer that lies outside of its memory to a WASI function")
        self.charge(size * HOST_BYTE)
        return self._base + pointer

    def read(self, pointer: int, size: int) -> bytes:
        """Returns a part of the memory."""
        return ctypes.string_at(self.at(pointer, size), size & 0xFFFFFFFF)

    def write(self, pointer: int, data: bytes | bytearray) -> None:
        """Writes a part of the memory."""
        ctypes.memmove(self.at(pointer, len(data)), bytes(data), len(data))

    def buffers(self, vectors: int, count: int) -> list[tuple[int, int]]:
        """Returns an array of buffers: their pointers and sizes."""
        if (count & 0xFFFFFFFF) > PAGE:
            raise Exited("passed more than 65,536 buffers to a WASI function")
        return list(struct.iter_unpack("<II", self.read(vectors, 8 * count)))

    def pieces(self, buffers: list[tuple[int, int]]) -> Iterator[bytes]:
        """Reads buffers. Several short ones are one piece, and a long one is several."""
        held = b""
        for pointer, size in buffers:
            for at in range(pointer, pointer + size, PIECE):
                held += self.read(at, min(PIECE, pointer + size - at))
                if len(held) >= PIECE:
                    yield held
                    held = b""
        if held:
            yield held


class Host(FuelMeter):
    """What one instance of a module sees. It charges each call, and stops the bot when it writes or waits for input."""

    def __init__(self, store: Store, channel: Channel, seed: int, arguments: tuple[bytes, ...]) -> None:
        super().__init__(store)
        self._channel = channel
        self._random = Random(seed)
        self._strings = tuple([argument + b"\0" for argument in arguments])
        self._streams = {0: INPUT, 1: OUTPUT, 2: ERROR}
        self._input = bytearray()

    def take(self, message: Message) -> None:
        """Takes what the referee has sent while the bot waited. NewMatch if its match is over."""
        if message.kind == CALL:
            self.grant(min(message.number, NO_LIMIT))
            self._input += message.data
        elif message.kind != GO_ON:
            raise NewMatch(message.number)

    def function(self, name: str) -> Callable[..., int]:
        """Returns the function of that name. Each call pays for itself before anything else happens."""
        answer: Callable[..., int] = getattr(self, f"_{name}", None) or self._absent(name)

        def call(caller: Caller, *arguments: int) -> int:
            self.enter(caller)
            error = answer(*arguments)
            self.leave()
            return error

        return call

    def _absent(self, name: str) -> Callable[..., int]:
        """Returns a function that a bot cannot use here: there is no file system and no network."""
        if name.startswith("sock_"):
            return lambda *arguments: wasi.NOTSUP
        if name.startswith(("path_", "fd_prestat")):
            return lambda *arguments: wasi.BADF
        return lambda fd, *arguments: wasi.SPIPE if fd in self._streams else wasi.BADF

    def _args_sizes_get(self, count: int, size: int) -> int:
        self.write(count, struct.pack("<I", len(self._strings)))
        self.write(size, struct.pack("<I", sum(map(len, self._strings))))
        return wasi.SUCCESS

    def _args_get(self, pointers: int, strings: int) -> int:
        for place, string in enumerate(self._strings):
            self.write(pointers + 4 * place, struct.pack("<I", strings & 0xFFFFFFFF))
            self.write(strings, string)
            strings += len(string)
        return wasi.SUCCESS

    def _environ_sizes_get(self, count: int, size: int) -> int:
        self.write(count, bytes(4))
        self.write(size, bytes(4))
        return wasi.SUCCESS

    def _environ_get(self, pointers: int, strings: int) -> int:
        return wasi.SUCCESS

    def _clock_res_get(self, clock: int, to: int) -> int:
        if clock not in wasi.CLOCK_IDS:
            return wasi.INVAL
        self.write(to, struct.pack("<Q", 1))
        return wasi.SUCCESS

    def _clock_time_get(self, clock: int, precision: int, to: int) -> int:
        if clock not in wasi.CLOCK_IDS:
            return wasi.INVAL
        self.write(to, struct.pack("<Q", self._clock_ns(clock)))
        return wasi.SUCCESS

    def _clock_ns(self, clock: int) -> int:
        return self.time_ns + (REAL_TIME_NS if clock == wasi.CLOCK_IDS[0] else 0) & MOST_NS

    def _random_get(self, to: int, size: int) -> int:
        address = self.at(to, size)  # it is paid, and lies in the memory, before it is drawn
        end = address + (size & 0xFFFFFFFF)
        for start in range(address, end, PIECE):
            length = min(PIECE, end - start)
            ctypes.memmove(start, self._random.randbytes(length), length)
        return wasi.SUCCESS

    def _sched_yield(self) -> int:
        return wasi.SUCCESS

    def _proc_exit(self, code: int) -> int:
        raise Exited(f"exited with code {code & 0xFFFFFFFF}")

    def _proc_raise(self, signal: int) -> int:
        raise Exited(f"raised the signal {signal} (WASI's number)")

    # Streams.

    def _fd_close(self, fd: int) -> int:
        if self._streams.pop(fd, None) is None:
            return wasi.BADF
        return wasi.SUCCESS

    def _fd_renumber(self, fd: int, to: int) -> int:
        """Moves a stream. Standard output, once moved, leaves standard error in its place: prints go there."""
        if fd not in self._streams or not 0 <= to < PAGE:
            return wasi.BADF
        if fd != to:
            self._streams[to] = self._streams.pop(fd)
            if fd == 1:
                self._streams[1] = ERROR
        return wasi.SUCCESS

    def _fd_fdstat_get(self, fd: int, to: int) -> int:
        stream = self._streams.get(fd)
        if stream is None:
            return wasi.BADF
        rights = wasi.RIGHT_POLL | (wasi.RIGHT_READ if stream == INPUT else wasi.RIGHT_WRITE)
        self.write(to, struct.pack("<BxHxxxxQQ", wasi.CHARACTER_DEVICE, 0, rights, 0))
        return wasi.SUCCESS

    def _fd_fdstat_set_flags(self, fd: int, flags: int) -> int:
        return wasi.SUCCESS if fd in self._streams else wasi.BADF

    def _fd_filestat_get(self, fd: int, to: int) -> int:
        if fd not in self._streams:
            return wasi.BADF
        self.write(to, struct.pack("<QQBxxxxxxxQQQQQ", 0, fd, wasi.CHARACTER_DEVICE, 1, 0, 0, 0, 0))
        return wasi.SUCCESS

    def _fd_read(self, fd: int, vectors: int, count: int, to: int) -> int:
        if self._streams.get(fd) != INPUT:
            return wasi.BADF
        parts = self.buffers(vectors, count)
        while not self._input and any(size for _, size in parts):
            self._stop(READS)
        done = 0
        for pointer, size in parts:
            piece = self._input[:size]
            self.write(pointer, piece)
            del self._input[:size]
            done += len(piece)
            if not self._input:
                break
        self.write(to, struct.pack("<I", done))
        return wasi.SUCCESS

    def _fd_write(self, fd: int, vectors: int, count: int, to: int) -> int:
        stream = self._streams.get(fd)
        if stream not in (OUTPUT, ERROR):
            return wasi.BADF
        parts = self.buffers(vectors, count)
        self.write(to, struct.pack("<I", sum(size for _, size in parts) & 0xFFFFFFFF))
        for data in self.pieces(parts):
            if stream == ERROR:
                write_error(data)
            else:
                self._stop(WROTE, data)
        return wasi.SUCCESS

    def _stop(self, kind: bytes, data: bytes = b"") -> None:
        """Waits until the referee says how it goes on."""
        self._channel.send(kind, self.used, data)
        self.take(self._channel.receive())

    def _poll_oneoff(self, subscriptions: int, events: int, count: int, to: int) -> int:
        """Streams are ready at once. Without one, the bot sleeps until its first clock: that uses fuel."""
        count &= 0xFFFFFFFF
        if not 0 < count <= PAGE:
            return wasi.INVAL
        data = self.read(subscriptions, wasi.SUBSCRIPTION_BYTES * count)
        ready, sleeps = [], []
        for at in range(0, len(data), wasi.SUBSCRIPTION_BYTES):
            user, kind, clock, time_ns, flags = struct.unpack_from("<QBxxxxxxxIxxxxQxxxxxxxxH", data, at)
            if kind != wasi.CLOCK:
                bad = clock not in self._streams  # here the field is a descriptor
                ready.append(struct.pack("<QHBxxxxxQHxxxxxx", user, wasi.BADF if bad else 0, kind, int(not bad), 0))
            elif clock not in wasi.CLOCK_IDS:
                ready.append(struct.pack("<QHBxxxxxQHxxxxxx", user, wasi.INVAL, kind, 0, 0))
            else:
                now_ns = self._clock_ns(clock)
                sleeps.append((max(0, time_ns - now_ns) if flags & wasi.ABSOLUTE else time_ns, user))
        if not ready:
            shortest_ns = min(sleep_ns for sleep_ns, _ in sleeps)
            self.charge(shortest_ns * UNITS_PER_NS)
            over = [user for sleep_ns, user in sleeps if sleep_ns == shortest_ns]
            ready = [struct.pack("<QHBxxxxxQHxxxxxx", user, 0, wasi.CLOCK, 0, 0) for user in over]
        self.write(events, b"".join(ready))
        self.write(to, struct.pack("<I", len(ready)))
        return wasi.SUCCESS


def write_error(data: bytes) -> None:
    """Writes to our own standard error, which the referee keeps."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(2, rest) :]
