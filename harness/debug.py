"""`--debug`: bots of the Python kit inside the referee's own process, where a debugger reaches them.

The same frames are said in the same order, so the same seed gives the same record; but nothing is isolated, limited or
measured: a bot may stand at a breakpoint for as long as it likes, and one that never answers stops everything.
"""

import os
import random
import runpy
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any

from games.api import Fault, FaultKind
from harness.bot import Bot, Charge, gone
from harness.errors import RunError
from harness.launch import KITS, Entrant
from harness.limits import Limits, Usage
from harness.stderr import StderrLog
from protocol.connection import NEED_DATA, BotConnection, Connection, Request
from protocol.errors import RemoteProtocolError
from protocol.messages import Encoding, Hello

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


def debugged(entrant: Entrant, limits: Limits) -> Bot | None:
    """The bot inside this process; None if it needs one of its own."""
    script = script_of(entrant)
    return None if script is None else DebugBot(entrant, script, limits)


class DebugBot(Bot):
    """A bot without a process."""

    def __init__(self, entrant: Entrant, script: Path, limits: Limits) -> None:
        self.hello, self.greeted, self.limits = Hello(), False, limits
        self.wire = Connection(limits.frame_bytes)
        self.fault = None
        self.charge = Charge()
        self.calls, self.wall_s = 0, 0.0
        self.before_wait = lambda: None
        self.frame = b""
        self.stderr = StderrLog(limits.stderr_bytes)  # stays empty: what is printed goes where the referee's own goes
        self._outbox = bytearray()
        self._exit_code: int | None = None
        self._inside = _Inside(entrant, script)
        self._connection = BotConnection()
        self._server: Any = None  # the kit's, once the script has got as far as its `run(…)`

    @property
    def usage(self) -> Usage:
        """Nothing: it cannot be told from the referee's own."""
        return Usage()

    @property
    def exit_code(self) -> int | None:
        """What it gave to `sys.exit`."""
        return self._exit_code

    def last_words(self) -> tuple[str, ...]:
        return ()

    def start_match(self, log: Callable[[], Path | None]) -> None:
        self.stderr.start_match(log)

    def end_match(self) -> None: ...

    def measure(self) -> None: ...

    def kill(self) -> None: ...

    def flush(self) -> None: ...

    async def end(self) -> None: ...

    def _hear_unasked(self) -> None: ...

    async def _exchange(self, frame: bytes, limit_s: float, take: Callable[[], Any]) -> Any:
        self.frame = frame
        self._connection.receive(bytes(self._outbox) + frame)
        self._outbox.clear()
        self.charge = Charge()
        self.calls += 1
        try:
            if self._server is None:
                self._server = self._inside.server()
            while (message := self._connection.next_message()) is not NEED_DATA:
                outcome = self._inside.outcome(self._server, message)
                if isinstance(message, Request):
                    self.wire.receive(self._response(message, outcome))
            return take()
        except RemoteProtocolError as error:
            return Fault(FaultKind.PROTOCOL, str(error))
        except SystemExit as error:
            self._exit_code = error.code if isinstance(error.code, int) else int(error.code is not None)
            return gone(self._exit_code)

    def _response(self, request: Request, outcome: dict[str, Any]) -> bytes:
        if "error" in outcome:
            return self._connection.fail(request.id, **outcome["error"])
        if request.method == "initialize":
            self._connection.choose_encoding([self._server.frames.encoding])
        return self._connection.respond(request.id, outcome["result"])


class _Frames:
    """Stands where the kit reads its frames."""

    encoding = Encoding.JSON.value


class _Inside:
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
