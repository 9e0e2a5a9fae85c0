"""Measures tournaments on a Dask cluster, and shows where the driver becomes the limit.

`python -m referee.benchmarks.cluster [--seconds S]`. The first rows play tic-tac-toe on Dask workers of this machine.
The other rows are a model: 64 Dask workers that report games at the pace of games of some length. Between them and the
driver lies a network with a delay. Scheduler, network and model share the machine with the driver.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import distributed
import msgspec
import psutil
import trio

from referee.addons.tournament.execution import dask_worker, worker_messages
from referee.addons.tournament.execution.dask import Tls, open_cluster
from referee.addons.tournament.execution.tournament_games import contest_of
from referee.addons.tournament.organise import Request, arranged
from referee.addons.tournament.plan import Entry, Plan, identified
from referee.addons.tournament.store.ledger import Line
from referee.benchmarks.slow_network import relay
from referee.benchmarks.tournament import compiled, timed
from referee.games import registry
from referee.harness.process.limits import Limits

REAL = (1, 2, 4)
MODELLED = 64
GAME_MS = (1, 10, 100, 1000)
DELAY_S = 0.02
"""Of a message in the model, in each direction."""
REPLAY = bytes(500)
Figures = dict[str, dict[str, float]]
"""The columns of each row."""


@contextmanager
def scheduler(folder: Path) -> Iterator[tuple[str, psutil.Process]]:
    """Runs a scheduler. Yields its address and process."""
    file = folder / "scheduler.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    process = subprocess.Popen([*command, "--no-dashboard", "--scheduler-file", str(file)], stderr=subprocess.DEVNULL)
    try:
        while not (file.exists() and file.read_text().endswith("}")):
            time.sleep(0.05)
        yield str(json.loads(file.read_text())["address"]), psutil.Process(process.pid)
    finally:
        process.kill()
        process.wait()


@contextmanager
def real_workers(address: str, count: int) -> Iterator[None]:
    """Runs so many Dask workers."""
    command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny"]
    command += ["--no-dashboard", "--memory-limit", "0", "--death-timeout", "5"]
    with TemporaryDirectory(prefix="referee-") as cache:
        environment = os.environ | {"XDG_CACHE_HOME": cache}
        processes = [subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) for _ in range(count)]
        with _ended(processes):
            _wait(address, count)
            yield


@contextmanager
def modelled_workers(address: str, game_ms: float) -> Iterator[None]:
    """Runs the model's Dask workers, in one process."""
    command = [sys.executable, "-m", "referee.benchmarks.cluster", "--model", address, str(game_ms)]
    with _ended([subprocess.Popen(command, stderr=subprocess.DEVNULL)]):
        _wait(address, MODELLED)
        yield


@contextmanager
def _ended(processes: list["subprocess.Popen[bytes]"]) -> Iterator[None]:
    try:
        yield
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()


def _wait(address: str, count: int) -> None:
    library: Any = distributed  # untyped
    with library.Client(address, set_as_default=False) as client:
        client.wait_for_workers(count, timeout=120)


def model(address: str, game_ms: float) -> None:
    """Runs Dask workers whose games last `game_ms` and are played by nobody."""
    library: Any = distributed

    def play(version: str, contest: bytes, entries: bytes, data: bytes) -> bytes:
        job = worker_messages.order(data)
        assert isinstance(job, worker_messages.Job)
        took_s = len(job.games) * game_ms / 1e3
        games = [worker_messages.PlayedGame(game.key, _line(game), REPLAY) for game in job.games]
        time.sleep(took_s)
        ends = worker_messages.Played(job.number, games), worker_messages.Done(job.number, took_s)
        return worker_messages.encode(dask_worker.Reply(library.get_worker().address, "model", [*ends]))

    async def run() -> None:
        workers = [library.Worker(address, nthreads=1, memory_limit=0, dashboard=False) for _ in range(MODELLED)]
        for worker in workers:
            await worker
        for worker in workers:
            await worker.finished()

    dask_worker.play = play  # type: ignore[assignment] # the driver sends the function's name
    asyncio.run(run())


def _line(game: worker_messages.Assignment) -> bytes:
    line = Line(
        game.key, game.bots, game.seed, (1, 2), (1.0, 0.0), "three_in_a_row", 7, 1, (61, 58), (40, 39),
        "0123456789abcdef", 1790000000.123456, "model:0",
    )  # fmt: skip
    return msgspec.json.encode(line)


def measure_real(folder: Path, seconds: float, count: int) -> dict[str, float]:
    """Plays instant C++ bots at tic-tac-toe on so many Dask workers of this machine."""
    program = compiled("tictactoe_instant.cpp", True, folder)
    (folder / "bot").mkdir()
    program.rename(folder / "bot" / "bot")
    (folder / "bot" / "bot.toml").write_text('run = ["./bot"]\n')
    cup = folder / "cup"
    request = Request("tictactoe", (f"a={folder}/bot", f"b={folder}/bot"), games=10_000_000)
    with (
        arranged(request, cup, travel=True) as plan,
        scheduler(folder) as (address, process),
        real_workers(address, count),
    ):
        opening = open_cluster(contest_of(plan, {}, "all", cup), address, plan, cup, Tls(), print)
        return measured(plan, cup, opening, seconds, process)


def measure_model(folder: Path, seconds: float, game_ms: float) -> dict[str, float]:
    """Has the model report games of that length, through a network that delays each message by `DELAY_S`."""
    found = registry.game("tictactoe")
    bots = identified([Entry(f"b{n}", "", f"{n:064x}"[::-1], "@random") for n in range(20)])
    plan = Plan("tictactoe", "round-robin", 1, bots, games=1_000_000, time=found.time, limits=Limits())
    with scheduler(folder) as (address, process), modelled_workers(address, game_ms), delayed(address) as near:
        opening = open_cluster(contest_of(plan, {}, "all", folder), near, plan, folder, Tls(), print)
        return measured(plan, folder, opening, seconds, process)


@contextmanager
def delayed(address: str) -> Iterator[str]:
    """Puts a slow network before an address. Yields the address of its other end."""
    port = int(address.rpartition(":")[2])
    command = [sys.executable, "-m", "referee.benchmarks.cluster", "--network", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    with _ended([process]):
        assert process.stdout is not None
        yield f"tcp://127.0.0.1:{int(process.stdout.readline())}"


async def network(port: int) -> None:
    """Relays connections to a port of this machine until it is killed. Prints its own port."""
    async with relay("127.0.0.1", port, DELAY_S) as made:
        print(made.port, flush=True)
        await trio.sleep_forever()


def measured(plan: Plan, folder: Path, opening: Any, seconds: float, process: psutil.Process) -> dict[str, float]:
    """Plays for that time."""
    before, started = process.cpu_times(), time.monotonic()
    rate, driver, _ = timed(plan, folder, opening, seconds)
    after, spent_s = process.cpu_times(), time.monotonic() - started
    used_s = after.user + after.system - before.user - before.system
    return {"games a second": rate, "driver, of a core": driver, "scheduler, of a core": used_s / spent_s}


def measure(seconds: float, counts: Sequence[int] = REAL, lengths_ms: Sequence[float] = GAME_MS) -> Figures:
    """All rows: one for each number of Dask workers of this machine, and one for each length of the model's games."""
    figures = {}
    with TemporaryDirectory(prefix="referee-") as scratch:
        for count in counts:
            name = f"{count} Dask worker{'s' * (count > 1)} on this machine, tictactoe"
            figures[name] = measure_real(_folder(scratch, name), seconds, count)
        for game_ms in lengths_ms:
            name = f"model of {MODELLED} workers, games of {game_ms:,} ms"
            figures[name] = measure_model(_folder(scratch, name), seconds, game_ms)
            figures[name]["games a second, if nothing limited them"] = MODELLED * 1e3 / game_ms
    return figures


def _folder(scratch: str, name: str) -> Path:
    folder = Path(scratch, name.replace(" ", "-"))
    folder.mkdir()
    return folder


def table(figures: Figures) -> str:
    """As Markdown."""
    lines = [
        "| tournaments on a cluster | games a second | of the possible | driver, of a core | scheduler, of a core |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, row in figures.items():
        possible = row.get("games a second, if nothing limited them")
        share = "" if possible is None else f"{row['games a second'] / possible:.0%}"
        cores = f"{row['driver, of a core']:.2f} | {row['scheduler, of a core']:.2f}"
        lines.append(f"| {name} | {row['games a second']:,.0f} | {share} | {cores} |")
    return "\n".join(lines)


def main() -> None:
    """Prints the figures as a table, or as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--model", nargs=2, metavar=("ADDRESS", "MS"), help=argparse.SUPPRESS)
    parser.add_argument("--network", type=int, metavar="PORT", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.model:
        model(given.model[0], float(given.model[1]))
    elif given.network:
        trio.run(network, given.network)
    else:
        figures = measure(given.seconds)
        print(json.dumps(figures) if given.json else table(figures))


if __name__ == "__main__":
    main()
