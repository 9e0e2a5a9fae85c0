"""Further processes that play the Arena's battles, behind the same web process, for machines with more cores."""

import logging
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import trio
from msgspec import Struct

from referee.addons.arena.arena_seat import Compat
from referee.addons.arena.callbacks import Coordinator
from referee.addons.arena.runs import Settings
from referee.addons.web.server.shards import Shard
from referee.games.dice import derive_seed

END_S = 5.0

log = logging.getLogger("referee.servers.arena")


class Job(Struct, frozen=True):
    """The settings of a further process."""

    shard: Shard
    compat: Compat
    names: frozenset[str]
    allow: frozenset[str]
    coordinator: str | None
    callback_token: str | None
    replays: str | None
    seed: int | None

    def settings(self) -> Settings:
        """Returns the settings as the server has them."""
        coordinator = None if self.coordinator is None else Coordinator(self.coordinator)
        replays = None if self.replays is None else Path(self.replays)
        return Settings(self.allow, coordinator, self.callback_token, replays, self.seed)


def jobs(settings: Settings, compat: Compat, names: Iterable[str], count: int) -> Iterator[Job]:
    """Yields the further processes of `count`, whose first is this one."""
    for index in range(1, count):
        yield Job(
            Shard(index, count),
            compat,
            frozenset(names),
            settings.allow,
            None if settings.coordinator is None else settings.coordinator.url,
            settings.callback_token,
            None if settings.replays is None else str(settings.replays),
            None if settings.seed is None else derive_seed(settings.seed, "job", index),
        )


class JobProcess:
    """A further process, and the socket for its links."""

    def __init__(self, job: Job) -> None:
        self.shard = job.shard
        self.control, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "referee.addons.arena.job_process", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for us, and we end the others
            )
        assert self._process.stdin is not None
        with self._process.stdin as order:
            order.write(msgspec.json.encode(job))

    async def report_end(self) -> None:
        """Reports that the process has ended too early. The others play on."""
        code = await trio.to_thread.run_sync(self._process.wait, abandon_on_cancel=True)
        log.warning(
            "process %d of %d ended with exit code %s, and its battles with it; the others play on",
            self.shard.index + 1,
            self.shard.count,
            code,
        )

    def end(self) -> None:
        """Ends the process."""
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@contextmanager
def running(further: Iterable[Job]) -> Iterator[list[JobProcess]]:
    """Runs these processes while the block runs."""
    processes: list[JobProcess] = []
    try:
        for job in further:
            processes.append(JobProcess(job))
        yield processes
    finally:
        for process in processes:
            process.control.close()
        for process in processes:
            process.end()
