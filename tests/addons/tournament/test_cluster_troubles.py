"""A cluster whose processes are killed, a slow network, full disks and a slow one: no game is lost, and runs end."""

import os
import platform
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest
import trio
from clusters import SLOW, Cluster, courses, folder_bot, running, wait_for_lines, wait_until
from contests import drawing_bot, games, tournament
from needs import for_root

from referee.addons.tournament.store import reader
from referee.benchmarks.slow_network import relay

pytest.importorskip("distributed")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(280)]

GAMES: list[str | Path] = ["--game", "tictactoe", "--seed", "5"]
FEW = ["--games", "40"]


@pytest.fixture(scope="module")
def only_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    yield made
    made.close()


@pytest.fixture
def cluster(only_cluster: Cluster) -> Iterator[Cluster]:
    """The cluster of all tests here, without workers: each starts its own, by names of its own."""
    yield only_cluster
    only_cluster.dismiss()


@pytest.fixture
def own_cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    yield made
    made.close()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[object, ...]]:
    """The course of each game where nothing goes wrong, by key."""
    folder = tmp_path_factory.mktemp("undisturbed")
    tournament(folder, *GAMES, *FEW, *three_bots(folder), "--ledger", folder / "cup", "--jobs", "2")
    return courses(folder / "cup")


def three_bots(folder: Path) -> list[Path]:
    """Makes bots whose games take a tenth of a second. One is never built by a Dask worker with the name `stuck`."""
    bots = [folder_bot(folder / "bots", name, salt, SLOW) for salt, name in enumerate(("ann", "bob", "cid"))]
    file = bots[0] / "bot.toml"
    stuck = "case $PWD in */stuck/cache/*) touch began; sleep 100;; esac; mkdir -p"
    file.write_text(file.read_text().replace("mkdir -p", stuck))
    return bots


def below(process: "subprocess.Popen[bytes]") -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


def test_a_cluster_plays_the_same_games_whichever_of_its_processes_is_killed(
    own_cluster: Cluster, tmp_path: Path, undisturbed: dict[str, tuple[object, ...]]
) -> None:
    """A Dask worker that builds, the worker process of one that plays, that one itself, the scheduler, the driver."""
    cluster, there = own_cluster, tmp_path / "there"
    start = [*GAMES, *FEW, *three_bots(tmp_path), "--ledger", there, "--cluster", cluster.address]
    stuck = cluster.worker("stuck")
    with running(tmp_path, *start) as driver:

        def wait_for(lines: int) -> None:
            wait_for_lines(there, lines, driver)
            assert driver.poll() is None, (tmp_path / "log").read_text()

        wait_until(lambda: [*cluster.folder.glob("stuck/cache/referee/builds/*/work/began")], "nothing is built")
        stuck.kill()
        second = cluster.worker("second")
        wait_for(1)
        children = below(second)
        psutil.Process(second.pid).children()[0].kill()
        wait_for(20)
        children += below(second)
        second.kill()
        cluster.worker("third")
        wait_for(45)
        cluster.scheduler.kill()
        cluster.scheduler.wait()
        cluster.begin()
        cluster.worker("fourth")
        wait_for(75)
        driver.kill()
    tournament(tmp_path, "--ledger", there, "--cluster", cluster.address)
    assert courses(there) == undisturbed
    keys = [line.k for _, line in reader.every_line(there)]
    assert len(keys) == len(set(keys)), "no game is played twice"
    _, alive = psutil.wait_procs(children, timeout=20)
    assert not alive, "a worker and its bots end with their Dask worker"


@pytest.mark.trio
async def test_a_slow_network_that_stops_for_a_while_changes_no_game(
    cluster: Cluster, tmp_path: Path, undisturbed: dict[str, tuple[object, ...]]
) -> None:
    """Every message between the driver and the scheduler takes 0.2 s, and for 4 s nothing passes at all."""
    start = [*GAMES, *FEW, *three_bots(tmp_path), "--ledger", tmp_path / "there"]
    cluster.worker("near")
    async with relay("127.0.0.1", cluster.port, 0.2) as network:
        with running(tmp_path, *start, "--cluster", f"tcp://127.0.0.1:{network.port}") as driver:
            await trio.to_thread.run_sync(wait_for_lines, tmp_path / "there", 20, driver)
            assert driver.poll() is None, "the network stops in the middle"
            network.open = trio.Event()
            await trio.sleep(4)
            network.open.set()
            assert await trio.to_thread.run_sync(driver.wait, 200) == 0, (tmp_path / "log").read_text()
        assert network.carried > 0
    assert courses(tmp_path / "there") == undisturbed


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[None]:
    """Mounts a file system of that size in memory."""
    folder.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip(for_root("this account cannot mount a file system"))
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk_loses_no_game_and_the_run_continues_when_there_is_room(tmp_path: Path) -> None:
    """The ledger is the driver's, wherever its workers are."""
    bots = [drawing_bot(tmp_path / "bots", name, salt) for salt, name in enumerate(("ann", "bob"))]
    start = [*GAMES, *bots, "--games", "200"]
    tournament(tmp_path, *start, "--ledger", "here")
    cup = tmp_path / "disk" / "cup"
    with small_disk(cup.parent, "60k"):
        said = tournament(tmp_path, *start, "--ledger", cup, code=3)
        assert "the disk is full" in said and f"continue with: referee tournament run {cup}" in said
        kept = games(cup)
        assert 0 < len(kept) < 200
        subprocess.run(["mount", "-o", "remount,size=8m", str(cup.parent)], check=True)
        tournament(tmp_path, *start, "--ledger", cup)
        assert kept.items() <= games(cup).items() and courses(cup) == courses(tmp_path / "here")


def test_another_worker_plays_the_games_of_one_that_cannot_unpack_the_bots(cluster: Cluster, tmp_path: Path) -> None:
    archives = cluster.folder / "full" / "cache" / "referee" / "bundles"
    archives.parent.mkdir(parents=True)
    archives.write_text("no folder")
    cluster.worker("full")
    bots = [folder_bot(tmp_path / "bots", name, salt) for salt, name in enumerate(("ann", "bob"))]
    start = [*GAMES, *bots, "--games", "4", "--ledger", tmp_path / "t", "--cluster", cluster.address]
    said = tournament(tmp_path, *start, code=3)
    assert "no worker of the cluster can play" in said and f"{platform.node()}: worker tcp://127.0.0.1:" in said
    assert "3 deliveries of bots failed: " in said and "cannot be unpacked" in said
    before = (cluster.folder / "cluster.log").read_bytes().count(b"Register worker")
    cluster.worker("empty")
    cluster.wait_for_workers(before + 1)
    said = tournament(tmp_path, *start, errors=True)
    assert said.count("this worker gets no more games") <= 1, "it need not be asked before all is played"
    assert len(games(tmp_path / "t")) == 4


def test_an_interrupt_ends_a_run_in_one_line_while_it_reads_a_bot_from_a_slow_disk(
    cluster: Cluster, tmp_path: Path
) -> None:
    bots = [folder_bot(tmp_path / "bots", name, salt) for salt, name in enumerate(("ann", "bob"))]
    tournament(tmp_path, *GAMES, *bots, "--max-minutes", "0.00001", "--ledger", "t", code=4)
    for file in (files := [*(tmp_path / "t" / "bots").iterdir()]):
        file.unlink()
        os.mkfifo(file)  # reading it takes until somebody writes
    cluster.worker("patient")
    opened: list[int] = []

    def is_being_read() -> bool:
        for file in files:
            with suppress(OSError):  # nobody reads it
                opened.append(os.open(file, os.O_WRONLY | os.O_NONBLOCK))
        return bool(opened)

    with running(tmp_path, "--ledger", "t", "--cluster", cluster.address) as driver:
        wait_until(is_being_read, "no bot is sent to the worker")
        driver.send_signal(signal.SIGINT)
        assert driver.wait(60) == 130
    for each in opened:
        os.close(each)
    assert (tmp_path / "log").read_text() == "interrupted; continue with: referee tournament run t\n"
