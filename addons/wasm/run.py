"""Runs a compiled module as a bot: `run.py [OPTION …] CODE [ARGUMENT …]`. `run.c` is faster, and needs a C compiler.

Standard input and output carry the messages of `frames`. One process plays match after match, each in a new instance.
"""

import sys
from pathlib import Path

from wasmtime import Linker, Module, Store, Trap, TrapCode, WasmtimeError

from referee.addons.wasm import wasi
from referee.addons.wasm.engine import MOST_TABLE_ELEMENTS, MOST_TABLES, make_engine, signature
from referee.addons.wasm.frames import CALL, ENDED, FUEL_USED_UP, MATCH, Channel, Message
from referee.addons.wasm.host import Exited, Host, NewMatch, OutOfFuel, write_error
from referee.addons.wasm.options import MEMORY, TARGET


class Runner:
    """Plays the matches of one bot."""

    def __init__(self, code: Path, arguments: tuple[bytes, ...], memory_bytes: int, target: str | None) -> None:
        """`memory_bytes`: -1 = no limit."""
        self.channel = Channel(0, 1)
        self._engine = make_engine(target)
        self._module = Module.deserialize_file(self._engine, str(code))
        self._arguments = arguments
        self._memory_bytes = memory_bytes
        names = [each.name or "" for each in self._module.imports]
        self._signatures = {name: signature(name) for name in names}

    def play(self) -> None:
        """Plays matches until standard input ends."""
        seed = 0
        while True:
            try:
                message = self.channel.receive()
                if message.kind == MATCH:
                    seed = message.number
                elif message.kind == CALL:
                    seed = self._run(seed, message)
            except EOFError:
                return

    def _run(self, seed: int, message: Message) -> int:
        """Runs one instance until its match is over. Returns the next match's seed."""
        store = Store(self._engine)
        store.set_limits(self._memory_bytes, MOST_TABLE_ELEMENTS, instances=1, tables=MOST_TABLES)
        host = Host(store, self.channel, seed, self._arguments)
        host.take(message)
        host.leave()
        try:
            end = self._end_of(store, host)
        except NewMatch as begun:
            return int(begun.args[0])
        self.channel.send(*end)
        while (message := self.channel.receive()).kind != MATCH:
            pass
        return message.number

    def _end_of(self, store: Store, host: Host) -> Message:
        """Runs an instance to its end. Returns the message about it."""
        linker = Linker(self._engine)
        for name, type_ in self._signatures.items():
            linker.define_func(wasi.MODULE, name, type_, host.function(name), access_caller=True)
        try:
            start = linker.instantiate(store, self._module).exports(store)["_start"]
            start(store)  # type: ignore[operator]
        except OutOfFuel:
            return Message(FUEL_USED_UP, host.granted, b"")
        except Exited as exited:
            return Message(ENDED, host.used, str(exited).encode())
        except Trap as trap:
            if trap.trap_code == TrapCode.OUT_OF_FUEL:
                return Message(FUEL_USED_UP, host.granted, b"")
            write_error(f"{trap}\n".encode())
            return Message(ENDED, host.used, f"trapped: {_cause(trap)}".encode())
        except WasmtimeError as error:
            return Message(ENDED, host.used, f"cannot be started: {_cause(error)}".encode())
        return Message(ENDED, host.granted - store.get_fuel(), b"exited with code 0")


def _cause(error: Exception) -> str:
    """Returns what the engine prints last."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1].rpartition("wasm trap: ")[2] if lines else str(error)


def main(words: list[str]) -> None:
    """Plays until standard input ends."""
    memory_bytes, target = -1, None
    while words[0].startswith("--"):
        word = words.pop(0)
        if word.startswith(MEMORY):
            memory_bytes = int(word.removeprefix(MEMORY))
        elif word.startswith(TARGET):
            target = word.removeprefix(TARGET)  # the prices are in the code
    code, *arguments = words
    Runner(Path(code), tuple([b"bot", *(each.encode() for each in arguments)]), memory_bytes, target).play()


if __name__ == "__main__":
    main(sys.argv[1:])
