"""Clusters for tests: a scheduler and Dask workers on this machine, and bots that are built where they play."""

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil
from contests import DRAWS, command, course, environment, games
from defects import bot

SLOW = "plain = choose\ndef choose():\n    time.sleep(0.01)\n    return plain()\n"


def folder_bot(folder: Path, name: str, salt: int, more: str = "") -> Path:
    """Makes a bot whose build makes its program."""
    (folder / name).mkdir(parents=True)
    (folder / name / "source.py").write_text(bot(f"SALT = {salt}\n{DRAWS}\n{more}"))
    (folder / name / "bot.toml").write_text(
        f'name = "{name}"\nbuild = "mkdir -p build && cp source.py build/bot.py"\n'
        f'run = ["{sys.executable}", "-I", "-S", "-B", "build/bot.py"]\n'
    )
    return folder / name


class Cluster:
    """A scheduler and Dask workers: processes on this machine, each with its own cache.

    `options` go to all of them, such as those of certificates.
    """

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self.options = options
        self.processes: list[subprocess.Popen[bytes]] = []
        self.workers: list[subprocess.Popen[bytes]] = []
        self.log = (folder / "cluster.log").open("wb")
        self.port = 0
        self.begin()

    def begin(self) -> None:
        """Starts a scheduler, at the port of the one before."""
        file = self.folder / "scheduler.json"
        file.unlink(missing_ok=True)
        self.scheduler = self._start(
            "scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            str(self.port),
            "--no-dashboard",
            "--scheduler-file",
            str(file),
        )
        self.address = self._address(file)
        self.port = int(self.address.rpartition(":")[2])

    def worker(self, name: str, *options: str, without: str = "") -> "subprocess.Popen[bytes]":
        """Starts a Dask worker as on another machine, perhaps without some layers of isolation."""
        own = self.folder / name
        own.mkdir(exist_ok=True)
        worker = self._start(
            "worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0",
            "--death-timeout", "20", "--local-directory", str(own), *options, name=name, without=without,
        )  # fmt: skip
        self.workers.append(worker)
        return worker

    def wait_for_workers(self, count: int) -> None:
        """Waits until the scheduler has seen this many workers since the beginning."""
        deadline = time.monotonic() + 60
        while (self.folder / "cluster.log").read_bytes().count(b"Register worker") < count:
            assert time.monotonic() < deadline, (self.folder / "cluster.log").read_text()
            time.sleep(0.05)

    def dismiss(self) -> None:
        """Kills the Dask workers and waits until their children have ended."""
        _kill(self.workers)
        self.workers.clear()

    def close(self) -> None:
        """Kills all processes and waits until their children have ended."""
        _kill(self.processes)
        self.log.close()

    def _start(self, *arguments: str, name: str = "scheduler", without: str = "") -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_" + arguments[0], *arguments[1:], *self.options],
            env=environment(self.folder / name)
            | {"XDG_RUNTIME_DIR": environment(self.folder)["XDG_RUNTIME_DIR"], "REFEREE_WITHOUT": without},
            stdout=self.log,
            stderr=self.log,
        )
        self.processes.append(process)
        return process

    def _address(self, file: Path) -> str:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if file.exists() and file.read_text().endswith("}"):
                return str(json.loads(file.read_text())["address"])
            time.sleep(0.05)
        raise AssertionError((self.folder / "cluster.log").read_text())


def _kill(processes: "Sequence[subprocess.Popen[bytes]]") -> None:
    running = [psutil.Process(process.pid) for process in processes if process.poll() is None]
    below = [child for process in running for child in process.children(recursive=True)]
    for process in reversed(processes):
        process.kill()
        process.wait()
    _, alive = psutil.wait_procs(below, timeout=20)
    assert not alive


@contextmanager
def running(folder: Path, *words: str | Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Starts `referee tournament` in its own process, whose standard error goes to the file `log`."""
    with (folder / "log").open("ab") as log:
        run = subprocess.Popen(
            command(*words), cwd=folder, env=environment(folder), stdout=subprocess.DEVNULL, stderr=log
        )
    try:
        yield run
    finally:
        run.kill()
        run.wait()


def courses(contest: Path) -> dict[str, tuple[object, ...]]:
    """Returns the course of each game that counts, by key."""
    return {key: course(line) for key, line in games(contest).items()}


def wait_until(is_so: Callable[[], object], what: str) -> None:
    """Waits for an event, at most a minute."""
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def wait_for_lines(folder: Path, count: int, driver: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and driver.poll() is None:
        if sum(file.read_bytes().count(b"\n") for file in folder.glob("ledger/*.jsonl")) > count:
            return
        time.sleep(random.uniform(0.02, 0.05))
