"""The tasks that run on a Dask worker. Each gives a job to a worker process on the same machine and reads its reports.

The process lives from task to task, and so do its bots. Bots travel as zip files named after their content and are
built once per machine.
"""

import os
import platform
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import distributed
import msgspec
from msgspec import Struct

from referee.harness.errors import RunError, UsageError
from referee.harness.isolation.plan import unmet
from referee.harness.tournament.execution import worker_messages
from referee.harness.tournament.execution.local import PROGRAM
from referee.harness.tournament.model import Entry
from referee.harness.tournament.store import bot_archives


class JobDone(Struct, frozen=True):
    """The games of a job."""

    games: list[worker_messages.PlayedGame]
    took_s: float
    start_s: float = 0.0


class Needs(Struct, frozen=True):
    """Bots whose archives are not on this machine."""

    bots: tuple[Entry, ...]


class Unable(Struct, frozen=True):
    """Why this machine cannot play, by bot; under "" for reasons that concern every bot."""

    why: dict[str, str]


Answer = JobDone | Needs | Unable


class Reply(Struct, frozen=True):
    """The result of a task."""

    worker: str
    """The Dask worker's address."""
    host: str
    answer: Answer


class WorkerDied(Exception):
    """The worker process has ended in the middle of a job."""


def version() -> str:
    """Returns what must be the same on both sides."""
    return f"referee {metadata.version('referee')}, Python {platform.python_version()}"


class _Process:
    """The worker process of this Dask worker. It serves one contest at a time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.contest = b""
        self.process: subprocess.Popen[bytes] | None = None
        self.frames = worker_messages.Frames()
        self.reports: list[bytes] = []

    def play(self, contest: bytes, entries: Sequence[Entry], job: worker_messages.Job) -> Answer:
        with self.lock:
            if contest != self.contest or self.process is None or self.process.poll() is not None:
                obstacle = self._start(contest, entries)
                if obstacle is not None:
                    return obstacle
            return self._play(job)

    def _start(self, contest: bytes, entries: Sequence[Entry]) -> Needs | Unable | None:
        self.end()
        needed = tuple(e for e in entries if not e.bot.startswith("@") and not bot_archives.home_of(e).is_dir())
        if needed:
            return Needs(needed)
        order = worker_messages.order(contest)
        assert isinstance(order, worker_messages.Contest)
        if lines := unmet(order.limits.isolation):
            return Unable({"": "; ".join(lines)})
        programs, failures = [], {}
        for entry in entries:
            try:
                programs.append(bot_archives.program(entry, None, order.game, order.limits))
            except (RunError, UsageError) as error:
                failures[entry.ident] = str(error)
        if failures:
            return Unable(failures)
        self.process = subprocess.Popen(PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        self.frames, self.reports = worker_messages.Frames(), []
        self._send(msgspec.structs.replace(order, programs=tuple(programs)))
        self.contest = contest
        return None

    def _play(self, job: worker_messages.Job) -> JobDone:
        self._send(job)
        games: list[worker_messages.PlayedGame] = []
        while True:
            report = self._receive()
            if isinstance(report, worker_messages.Played) and report.job == job.number:
                games += report.games
            elif isinstance(report, worker_messages.Done) and report.job == job.number:
                return JobDone(games, report.took_s, report.start_s)
            elif isinstance(report, worker_messages.Failed):
                self.end()
                raise RunError(report.why)

    def _send(self, order: worker_messages.Order) -> None:
        assert self.process is not None and self.process.stdin is not None
        try:
            self.process.stdin.write(worker_messages.frame(order))
            self.process.stdin.flush()
        except OSError as error:
            self.end()
            raise WorkerDied from error

    def _receive(self) -> worker_messages.Report:
        assert self.process is not None and self.process.stdout is not None
        while not self.reports:
            data = os.read(self.process.stdout.fileno(), worker_messages.READ_BYTES)
            if not data:
                self.end()
                raise WorkerDied
            self.reports += self.frames.feed(data)
        return worker_messages.report(self.reports.pop(0))

    def end(self) -> None:
        """Ends the process, which ends its bots."""
        process, self.process, self.contest = self.process, None, b""
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


_process = _Process()


def play(drivers_version: str, contest: bytes, entries: bytes, job: bytes) -> bytes:
    """Plays a job. Arguments and result are MessagePack, so that each side accepts only what it has types for."""
    answer: Answer
    if drivers_version != version():
        answer = Unable({"": f"{version()} here, {drivers_version} at the driver"})
    else:
        order = worker_messages.order(job)
        assert isinstance(order, worker_messages.Job)
        try:
            answer = _process.play(contest, msgspec.msgpack.decode(entries, type=list[Entry]), order)
        except (RunError, WorkerDied):
            raise
        except Exception as error:  # the next attempt here would fail in the same way
            answer = Unable({"": f"{type(error).__name__}: {error}"})
    address = distributed.get_worker().address
    return msgspec.msgpack.encode((address, platform.node(), type(answer).__name__, answer))


def decode_reply(data: bytes) -> Reply:
    """Decodes the result of `play`."""
    worker, host, kind, raw = msgspec.msgpack.decode(data, type=tuple[str, str, str, msgspec.Raw])
    kinds: dict[str, Any] = {each.__name__: each for each in (JobDone, Needs, Unable)}
    return Reply(worker, host, msgspec.msgpack.decode(raw, type=kinds[kind]))


def receive(bot: bytes, data: bytes) -> None:
    """Unpacks a bot's zip file, once. Raises RunError or OSError if that fails."""
    with TemporaryDirectory(prefix="referee-") as folder:
        archive = Path(folder, "bot.zip")
        archive.write_bytes(data)
        bot_archives.installed(msgspec.msgpack.decode(bot, type=Entry), archive)
