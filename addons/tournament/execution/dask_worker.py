"""The tasks that run on a Dask worker. Each gives a job to a worker process on the same machine and reads its reports.

The process lives from task to task, and so do its bots. Bots travel as archives named after their content and are
built once per machine.
"""

import platform
import subprocess
import threading
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import distributed
import msgspec
from msgspec import Struct

from referee.addons.tournament.execution import worker_messages
from referee.addons.tournament.execution.local import PROGRAM
from referee.addons.tournament.execution.worker_messages import Contest, Done, Failed, Job, Order, Played, Report
from referee.addons.tournament.plan import Entry
from referee.addons.tournament.store import bot_archives
from referee.harness.common import installed
from referee.harness.common.errors import NotIsolated, RunError, UsageError
from referee.harness.common.kept_rules import RULES, kept_rules
from referee.harness.isolation.plan import unmet
from referee.harness.programs.build_process import BuildError
from referee.harness.programs.entrant import Entrant


class Reply(Struct, frozen=True):
    """The result of a task: `reports`, or what keeps this machine from playing."""

    worker: str
    """The Dask worker's address."""
    host: str
    reports: list[Played | Done] = []
    needs: list[Entry] = []
    """Bots whose archives are not on this machine."""
    rules: str = ""
    """The hash of the contest's rules, if they are a program that is not on this machine."""
    unable: str = ""
    """Why this machine cannot play."""
    broken: dict[str, str] = {}
    """The bots of the job that this machine cannot start, by ident, and why."""

    @property
    def lacks(self) -> bool:
        """Whether bots or rules have to be sent."""
        return bool(self.needs or self.rules)


class WorkerDied(Exception):
    """The worker process has ended in the middle of a job."""


@cache
def version() -> str:
    """Returns what must be the same on both sides. Reading the version takes a millisecond."""
    return f"{installed.NAME} {installed.version()}, Python {platform.python_version()}"


class _Process:
    """The worker process of this Dask worker. It serves one contest at a time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.contest = b""
        self.known: set[str] = set()
        """The idents of the bots that the process has."""
        self.broken: dict[str, str] = {}
        """The bots of the contest that this machine cannot start, by ident, and why."""
        self.process: subprocess.Popen[bytes] | None = None

    def play(self, contest: bytes, entries: list[Entry], job: Job) -> Reply:
        with self.lock:
            if contest != self.contest:
                self.end()
                self.contest, self.broken = contest, {}
            if self.process is None or self.process.poll() is not None:
                self.end()
            new = [entry for entry in entries if entry.ident not in self.known | self.broken.keys()]
            if new and (obstacle := self._enter(contest, new)):  # also bots that came later
                return obstacle
            broken = {ident: self.broken[ident] for game in job.games for ident in game.bots if ident in self.broken}
            return _reply(broken=broken) if broken else self._play(job)

    def _enter(self, contest: bytes, entries: list[Entry]) -> Reply | None:
        """Builds bots, and tells the process of them, which is started if it does not run."""
        order = worker_messages.order(contest)
        assert isinstance(order, Contest)
        needs = [e for e in entries if not bot_archives.is_installed(e)]
        lacks_rules = order.rules and not kept_rules().is_here(order.rules)
        if needs or lacks_rules:
            return _reply(needs=needs, rules=order.rules if lacks_rules else "")
        if order.rules:
            kept_rules().opened(Path(RULES), order.rules)
        if failures := unmet(order.limits.isolation):
            return _reply(unable="; ".join(failures))
        for entry in entries:
            try:
                order.bots[entry.ident] = _program(entry, order)
            except (RunError, UsageError) as error:
                self.broken[entry.ident] = f"{entry.name}: {error}"
        if self.process is None:
            pipe = subprocess.PIPE
            self.process = subprocess.Popen(PROGRAM, stdin=pipe, stdout=pipe, start_new_session=True)
        self._send(order)
        self.known |= order.bots.keys()
        return None

    def _play(self, job: Job) -> Reply:
        self._send(job)
        reports: list[Played | Done] = []
        while True:
            report = self._receive()
            if isinstance(report, Failed):
                self.end()
                raise RunError(report.why)
            if isinstance(report, Played | Done) and report.job == job.number:
                reports.append(report)
                if isinstance(report, Done):
                    return _reply(reports=reports)

    def _send(self, order: Order) -> None:
        assert self.process is not None and self.process.stdin is not None
        try:
            self.process.stdin.write(worker_messages.frame(order))
            self.process.stdin.flush()
        except OSError as error:
            self.end()
            raise WorkerDied from error

    def _receive(self) -> Report:
        assert self.process is not None and self.process.stdout is not None
        size = int.from_bytes(self.process.stdout.read(worker_messages.LENGTH_BYTES), "big")
        message = self.process.stdout.read(size)
        if not size or len(message) < size:
            self.end()
            raise WorkerDied
        return worker_messages.report(message)

    def end(self) -> None:
        """Ends the process, which ends its bots."""
        process, self.process, self.known = self.process, None, set()
        if process is not None:
            try:
                process.communicate(timeout=5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()


_process = _Process()


def _program(entry: Entry, order: Contest) -> Entrant:
    """Builds a bot. If that fails through no fault of the bot, such as a kill, it is built once more."""
    made = partial(bot_archives.program, entry, None, order.game, order.limits)
    try:
        return made()
    except (BuildError, NotIsolated):
        raise
    except RunError:
        return made()


def _reply(**fields: Any) -> Reply:
    return Reply(distributed.get_worker().address, platform.node(), **fields)


def play(drivers_version: str, contest: bytes, entries: bytes, job: bytes) -> bytes:
    """Plays a job. Arguments and result are MessagePack, so that each side accepts only what it has types for."""
    if drivers_version != version():
        return worker_messages.encode(_reply(unable=f"{version()} here, {drivers_version} at the driver"))
    order = worker_messages.order(job)
    assert isinstance(order, Job)
    try:
        reply = _process.play(contest, msgspec.msgpack.decode(entries, type=list[Entry]), order)
    except (RunError, WorkerDied):
        raise
    except Exception as error:  # the next attempt here would fail in the same way
        reply = _reply(unable=f"{type(error).__name__}: {error}")
    return worker_messages.encode(reply)


def receive_rules(sha256: bytes, data: bytes) -> None:
    """Unpacks the copy of rules, once. UsageError for files with another hash; RunError or OSError if it fails."""
    with TemporaryDirectory(prefix="referee-") as folder:
        archive = Path(folder, "archive")
        archive.write_bytes(data)
        kept_rules().opened(archive, sha256.decode())


def receive(bot: bytes, data: bytes) -> None:
    """Unpacks a bot's archive, once. Raises RunError or OSError if that fails."""
    with TemporaryDirectory(prefix="referee-") as folder:
        archive = Path(folder, "archive")
        archive.write_bytes(data)
        bot_archives.install(msgspec.msgpack.decode(bot, type=Entry), archive)
