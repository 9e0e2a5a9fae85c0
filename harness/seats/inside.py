"""`--debug`: bots of the Python kit inside the referee's own process, where a debugger reaches them.

The same frames are said in the same order, so the same seed gives the same record; but nothing is isolated, limited or
measured: a bot may stand at a breakpoint for as long as it likes, and one that never answers stops everything.
"""

import os
import random
import runpy
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any

from referee.games.contract import Fault, FaultKind
from referee.harness.errors import RunError
from referee.harness.paths import KITS
from referee.harness.process.limits import Limits
from referee.harness.process.pipes import Transport, gone
from referee.harness.programs.spec import Entrant
from referee.harness.seats.program import Bot
from referee.harness.seats.seat import Seat
from referee.protocol.connection import NEED_DATA, BotConnection, Request
from referee.protocol.messages import Encoding

KIT = KITS / "python"
HOST = "referee_kit_host"
"""The module that the kit's `run` looks for: where it is, `run` hands its bot over instead of serving it."""


def script_of(entrant: Entrant) -> Path | None:
    """The Python file that can be run inside: one that uses the kit. None = the bot needs a process of its own."""
    program, *rest = entrant.argv
    if not Path(program).name.startswith("python") or not rest or not rest[0].endswith(".py"):
        return None
    script = entrant.cwd / rest[0]
    return script if script.is_file() and b"referee_kit" in script.read_bytes() else None


def debugged(entrant: Entrant, limits: Limits) -> Seat | None:
    """The bot inside this process; None if it needs one of its own."""
    script = script_of(entrant)
    return None if script is None else Bot(Inside(entrant, script), limits)


class Inside(Transport):
    """A bot of the Python kit in this process, at the moment when it is sent something."""

    now = staticmethod(lambda: 0.0)  # no time passes for a bot at a breakpoint

    def __init__(self, entrant: Entrant, script: Path) -> None:
        self._surroundings = _Surroundings(entrant, script)
        self._outbox = bytearray()
        self._inbox = bytearray()
        self._connection = BotConnection()
        self._exit_code: int | None = None
        self._server: Any = None  # the kit's, once the script has got as far as its `run(…)`

    def put(self, frame: bytes) -> bytes:
        self._outbox += frame
        return frame

    def send(self) -> bool:
        if self._exit_code is None and self._outbox:
            self._connection.receive(bytes(self._outbox))
            self._outbox.clear()
            self._hear()
        return True

    def _hear(self) -> None:
        try:
            if self._server is None:
                self._server = self._surroundings.server()
            while (message := self._connection.next_message()) is not NEED_DATA:
                if message.method == "exit":
                    continue
                outcome = self._surroundings.outcome(self._server, message)
                if isinstance(message, Request):
                    self._inbox += self._response(message, outcome)
        except SystemExit as error:
            self._exit_code = error.code if isinstance(error.code, int) else int(error.code is not None)

    async def send_rest(self, until: float) -> None:
        """Nothing is ever left."""

    def drop(self) -> None:
        self._outbox.clear()

    def receive(self, at: float) -> bytes | None:
        """What was answered by now; there will be no more."""
        return self.pending()

    def pending(self) -> bytes:
        data = bytes(self._inbox)
        self._inbox.clear()
        return data

    async def wait(self, until: float, others: Sequence[int] | None = None) -> bytes:
        return b""

    async def why_silent(self, stream: str) -> Fault:
        return Fault(FaultKind.CRASH, "gave no answer") if self.exit_code is None else gone(self.exit_code)

    async def leave(self, patience_s: float) -> int | None:
        if self._server is not None:
            self.send()
        return self._exit_code

    @property
    def exit_code(self) -> int | None:
        """What it gave to `sys.exit`."""
        return self._exit_code

    def _response(self, request: Request, outcome: dict[str, Any]) -> bytes:
        if "error" in outcome:
            return self._connection.fail(request.id, **outcome["error"])
        if request.method == "initialize":
            self._connection.choose_encoding([self._server.frames.encoding])
        return self._connection.respond(request.id, outcome["result"])


class _Frames:
    """Stands where the kit reads its frames."""

    encoding = Encoding.JSON.value


class _Surroundings:
    """What a bot of its own process would have for itself: modules, working folder, arguments, the module `random`."""

    def __init__(self, entrant: Entrant, script: Path) -> None:
        self.entrant, self.script = entrant, script
        self.path = [str(script.parent), str(KIT)]
        self.argv = list(entrant.argv[1:])
        self.modules: dict[str, ModuleType] = {}
        self.luck = random.Random().getstate()

    def server(self) -> Any:
        """The kit's server for the bot that the script hands to `run`."""
        taken: list[tuple[Any, str, str]] = []
        host = ModuleType(HOST)
        host.take = lambda *handed: taken.append(handed)  # type: ignore[attr-defined]
        self.modules[HOST] = host
        with self._entered():
            try:
                runpy.run_path(str(self.script), run_name="__main__")
            except SystemExit:
                if not taken:
                    raise
            except Exception:
                traceback.print_exc()
                raise SystemExit(1) from None
            if not taken:
                raise RunError(f"{self.entrant.name}: {self.script.name} ended without `run(…)`; it cannot be debugged")
            return sys.modules["referee_kit.wire"].Server(*taken[0], _Frames(), -1)

    def outcome(self, server: Any, message: Any) -> dict[str, Any]:
        """What the kit makes of a message, in the bot's surroundings."""
        members = {"method": message.method, "params": message.params}
        with self._entered():
            if isinstance(message, Request):
                members["id"] = message.id
            found: dict[str, Any] = server.outcome(members)
            return found

    @contextmanager
    def _entered(self) -> Iterator[None]:
        """The interpreter as the bot left it; afterwards as it was. What it prints goes to standard error."""
        known, path, argv, folder, luck = set(sys.modules), sys.path, sys.argv, Path.cwd(), random.getstate()
        sys.modules.update(self.modules)
        sys.path, sys.argv = [*self.path, *path], self.argv
        os.chdir(self.entrant.cwd)
        random.setstate(self.luck)
        try:
            with redirect_stdout(sys.stderr):
                yield
        finally:
            self.luck = random.getstate()
            random.setstate(luck)
            os.chdir(folder)
            self.path, self.argv = sys.path[: len(sys.path) - len(path)], sys.argv
            sys.path, sys.argv = path, argv
            for name in set(sys.modules) - known:
                module = sys.modules[name]
                if name in self.modules or _lies_in(module, (self.script.parent, KIT)):
                    self.modules[name] = sys.modules.pop(name)


def _lies_in(module: ModuleType, folders: tuple[Path, ...]) -> bool:
    """Whether a module came from one of the folders: then it is the bot's own."""
    file = getattr(module, "__file__", None)
    return file is not None and any(Path(file).is_relative_to(folder) for folder in folders)
