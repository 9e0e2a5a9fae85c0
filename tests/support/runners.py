"""The programs that run a module, in C and in Python, which must say the same."""

import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from referee.addons.wasm import runner
from referee.addons.wasm.engine import compile_module
from referee.addons.wasm.frames import CALL, MATCH, USES, Channel, Message
from referee.addons.wasm.options import MEMORY, TARGET

T = TypeVar("T")
MUCH = 10**9


class Runner:
    """The processes of both runners, in C and in Python, and our ends of their pipes. Both must say the same."""

    def __init__(self, folder: Path, content: bytes, memory_bytes: int = 256 << 20, target: str = "") -> None:
        code = folder / f"bot.{target}"
        targets = [target] if target else []
        code.write_bytes(compile_module(content, *targets))
        options = [TARGET + each for each in targets]
        usual = (*runner.PYTHON, runner.RUNNER, *options, str(code), "first", "second")
        commands = {(*usual[:3], f"{MEMORY}{memory_bytes}", *usual[3:]), runner.started(usual, memory_bytes)}
        assert len(commands) == (1 if runner.runner_in_c() is None else 2)
        self.errors = [folder / f"stderr.{place}" for place, _ in enumerate(commands)]
        self.processes = [_started(each, errors) for each, errors in zip(commands, self.errors, strict=True)]
        ends = [(each.stdout, each.stdin) for each in self.processes]
        self.channels = [Channel(out.fileno(), into.fileno()) for out, into in ends if out and into]

    def say(self, kind: bytes, number: int = 0, data: bytes = b"") -> Message:
        """Sends a message and returns the answer."""
        for channel in self.channels:
            channel.send(kind, number, data)
        return same(_answer(channel) for channel in self.channels)

    def begin(self, fuel: int = MUCH, data: bytes = b"", seed: int = 1) -> Message:
        """Begins a match with a call."""
        for channel in self.channels:
            channel.send(MATCH, seed)
        return self.say(CALL, fuel, data)

    def end(self) -> str:
        """Ends the runners. Returns their standard error."""
        for process in self.processes:
            process.communicate(timeout=10)
        return same(errors.read_bytes().decode(errors="replace") for errors in self.errors)


def _answer(channel: Channel) -> Message:
    while (message := channel.receive()).kind == USES:
        pass
    return message


def _started(command: tuple[str, ...], errors: Path) -> subprocess.Popen[bytes]:
    with errors.open("wb") as file:
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=file)


def same(answers: Iterable[T]) -> T:
    """Returns the answer of both runners."""
    answer, *others = answers
    assert all(each == answer for each in others), (answer, others)
    return answer


@contextmanager
def running(folder: Path, content: bytes, memory_bytes: int = 256 << 20, target: str = "") -> Iterator[Runner]:
    """Runs a module."""
    runner = Runner(folder, content, memory_bytes, target)
    try:
        yield runner
    finally:
        for process in runner.processes:
            process.kill()
            process.communicate()
