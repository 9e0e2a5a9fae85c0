"""`--debug`: bots of the Python kit inside the referee's process, where a debugger reaches them.

The frames are the same, so the same seed gives the same replay. But nothing is isolated, limited or measured: a bot may
wait at a breakpoint, and one that never answers blocks everything.
"""

import os
import random
import re
import runpy
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any

from referee.games.contract import Fault
from referee.harness.common.errors import RunError
from referee.harness.common.paths import HOME, KITS
from referee.harness.process.bot_process import Program
from referee.harness.process.core_wait import CoreWaitMeter
from referee.harness.process.limits import Limits, crashed
from referee.harness.process.stderr import StderrLog
from referee.harness.process.transport import ProcessStatus, Transport
from referee.harness.programs.entrant import Entrant
from referee.harness.seats.program import Bot
from referee.harness.seats.seat import Seat
from referee.protocol.codec import codec
from referee.protocol.messages import Encoding

KIT = KITS / "python"
ADDONS = HOME / "addons"
IMPORT = re.compile(rb"^\s*(from|import)\s+referee_kit\b", re.MULTILINE)
HOST = "referee_kit_host"
"""If there is a module of this name, the kit's `run` hands its bot over instead of serving it."""
MAX_BYTES = 1 << 26
"""The longest frame to the bot."""


def script_of(entrant: Entrant) -> Path | None:
    """Returns the Python file of a bot that uses the kit; None = the bot needs a process."""
    program, *rest = entrant.argv
    if (
        entrant.image is not None
        or not Path(program).name.startswith("python")
        or not rest
        or not rest[0].endswith(".py")
    ):
        return None
    script = entrant.cwd / rest[0]
    is_ours = script.is_relative_to(ADDONS)  # runs a bot of another kind, and may speak of the kit itself
    return script if not is_ours and script.is_file() and IMPORT.search(script.read_bytes()) else None


def debug_seat(entrant: Entrant, limits: Limits) -> Seat | None:
    """Returns a seat with the bot inside this process; None if the bot needs a process."""
    if (script := script_of(entrant)) is None:
        return None
    inside = InsideBot(entrant, script)
    return Bot(inside, inside, limits)


class InsideBot(Transport, Program):
    """A bot of the Python kit in this process. It runs when it is sent something."""

    now = staticmethod(lambda: 0.0)  # no time passes for a bot at a breakpoint

    def __init__(self, entrant: Entrant, script: Path) -> None:
        self.core_wait = CoreWaitMeter(0, -1)  # never used: no call takes any time
        self.log = StderrLog(0)
        self._environment = _Environment(entrant, script)
        self._outbox = bytearray()
        self._inbox = bytearray()
        self._codec = codec(Encoding.JSON)
        self._splitter = self._codec.splitter(MAX_BYTES, b"")
        self._exit_code: int | None = None
        self._server: Any = None  # the kit's, once the script has reached `run(…)`

    def put(self, frame: bytes) -> bytes:
        self._outbox += frame
        return frame

    def send(self) -> bool:
        if self._exit_code is None and self._outbox:
            self._splitter.feed(bytes(self._outbox))
            self._outbox.clear()
            self._answer()
        return True

    def _answer(self) -> None:
        try:
            if self._server is None:
                self._server = self._environment.server()
            while (frame := self._splitter.next()) is not None:
                message = self._codec.decode(frame)
                if message["method"] == "exit":
                    continue
                with self._environment.active():
                    outcome = self._server.outcome(message)
                if "id" in message:
                    self._inbox += self._codec.frame({"jsonrpc": "2.0", "id": message["id"], **outcome})
                encoding = Encoding(self._server.frames.encoding)
                if encoding is not self._codec.encoding:  # `initialize` has chosen it
                    self._codec = codec(encoding)
                    self._splitter = self._codec.splitter(MAX_BYTES, self._splitter.rest)
        except SystemExit as error:
            self._exit_code = error.code if isinstance(error.code, int) else int(error.code is not None)

    async def send_rest(self, until: float) -> None:
        """Sends `exit`, the only frame that is not sent at once, unless the bot was never started."""
        if self._server is not None:
            self.send()

    def drop(self) -> None:
        self._outbox.clear()

    def receive(self, at: float) -> bytes | None:
        return self.pending()

    def pending(self) -> bytes:
        data = bytes(self._inbox)
        self._inbox.clear()
        return data

    async def wait(self, until: float, others: Sequence[int] | None = None) -> bytes:
        return b""

    async def why_silent(self, stream: str) -> Fault:
        return await super().why_silent(stream) if self._exit_code is None else crashed(self._exit_code)

    async def leave(self, patience_s: float) -> int | None:
        return self._exit_code

    def status(self, brief: bool = False) -> ProcessStatus:
        return ProcessStatus(exit_code=self._exit_code)


class _Frames:
    """Takes the place of the kit's frame reader."""

    encoding = Encoding.JSON.value


class _Environment:
    """The bot's own modules, working folder, arguments and state of `random`."""

    def __init__(self, entrant: Entrant, script: Path) -> None:
        self.entrant, self.script = entrant, script
        self.path = [str(script.parent), str(KIT)]
        self.argv = list(entrant.argv[1:])
        self.modules: dict[str, ModuleType] = {}
        self.random_state = random.Random().getstate()

    def server(self) -> Any:
        """Runs the script up to `run`. Returns the kit's server for its bot."""
        taken: list[tuple[Any, str, str]] = []
        host = ModuleType(HOST)
        host.take = lambda *handed: taken.append(handed)  # type: ignore[attr-defined]
        self.modules[HOST] = host
        with self.active():
            try:
                runpy.run_path(str(self.script), run_name="__main__")
            except SystemExit:
                if not taken:
                    raise
            except Exception:
                traceback.print_exc()
                raise SystemExit(1) from None
            if not taken:
                raise RunError(
                    f"{self.entrant.name}: {self.script.name} ended without calling `run(…)`, so it cannot be debugged"
                )
            return sys.modules["referee_kit.wire"].Server(*taken[0], _Frames(), -1)

    @contextmanager
    def active(self) -> Iterator[None]:
        """Gives the interpreter the bot's state while the block runs. Prints go to standard error."""
        known, path, argv, folder, random_state = set(sys.modules), sys.path, sys.argv, Path.cwd(), random.getstate()
        sys.modules.update(self.modules)
        sys.path, sys.argv = [*self.path, *path], self.argv
        os.chdir(self.entrant.cwd)
        random.setstate(self.random_state)
        try:
            with redirect_stdout(sys.stderr):
                yield
        finally:
            self.random_state = random.getstate()
            random.setstate(random_state)
            os.chdir(folder)
            self.path, self.argv = sys.path[: len(sys.path) - len(path)], sys.argv
            sys.path, sys.argv = path, argv
            for name in set(sys.modules) - known:
                module = sys.modules[name]
                if name in self.modules or _lies_in(module, (self.script.parent, KIT)):
                    self.modules[name] = sys.modules.pop(name)


def _lies_in(module: ModuleType, folders: tuple[Path, ...]) -> bool:
    """Returns whether a module came from one of the folders."""
    file = getattr(module, "__file__", None)
    return file is not None and any(Path(file).is_relative_to(folder) for folder in folders)
