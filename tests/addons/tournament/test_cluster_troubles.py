"""A cluster behind a slow network, and full disks at its driver and its workers."""

import os
import random
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trio
from clusters import Cluster, folder_bot, wait_for_lines
from contests import command, course, environment, games, tournament
from needs import for_root

from referee.benchmarks.slow_network import relay

pytest.importorskip("distributed")
pytestmark = pytest.mark.slow

GAMES: list[str | Path] = ["--game", "tictactoe", "--games", "150", "--seed", "5"]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    yield made
    made.close()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[object, ...]]:
    """The course of each game where nothing goes wrong, by key."""
    folder = tmp_path_factory.mktemp("undisturbed")
    tournament(folder, *GAMES, *three_bots(folder), "--ledger", folder / "cup")
    return courses(folder / "cup")


def courses(contest: Path) -> dict[str, tuple[object, ...]]:
    return {key: course(line) for key, line in games(contest).items()}


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


def three_bots(folder: Path) -> list[Path]:
    return [folder_bot(folder / "bots", name, salt) for salt, name in enumerate(("ann", "bob", "cid"))]


@pytest.mark.trio
async def test_a_slow_network_that_stops_for_a_while_changes_no_game(
    cluster: Cluster, tmp_path: Path, undisturbed: dict[str, tuple[object, ...]]
) -> None:
    """Every message between the driver and the scheduler takes 0.2 s, and for 4 s nothing passes at all."""
    start = [*GAMES, *three_bots(tmp_path)]
    cluster.worker("first")
    cluster.worker("second")
    there = tmp_path / "there"
    async with relay("127.0.0.1", cluster.port, 0.2) as network:
        driver = subprocess.Popen(
            command(*start, "--ledger", there, "--cluster", f"tcp://127.0.0.1:{network.port}"),
            cwd=tmp_path, env=environment(tmp_path), stdout=cluster.log, stderr=cluster.log,
        )  # fmt: skip
        cluster.processes.append(driver)
        await trio.to_thread.run_sync(wait_for_lines, there, 20, driver)
        assert driver.poll() is None, "the network stops in the middle"
        network.open = trio.Event()
        await trio.sleep(4)
        network.open.set()
        assert await trio.to_thread.run_sync(driver.wait, 200) == 0, (tmp_path / "cluster.log").read_text()
        assert network.carried > 0
    assert courses(there) == undisturbed


@pytest.mark.parametrize("where", ["on this machine", "on a cluster"])
def test_a_driver_with_a_full_disk_loses_no_game_and_continues_when_there_is_room(
    cluster: Cluster, tmp_path: Path, where: str, undisturbed: dict[str, tuple[object, ...]]
) -> None:
    start = [*GAMES, *three_bots(tmp_path)]
    if where == "on a cluster":
        cluster.worker("first")
        start += ["--cluster", cluster.address]
    disk = tmp_path / "disk"
    with small_disk(disk, "80k"):
        said = tournament(tmp_path, *start, "--ledger", disk / "cup", code=3)
        assert "the disk is full" in said and "the same command" in said
        kept = games(disk / "cup")
        assert 0 < len(kept) < 450
        subprocess.run(["mount", "-o", "remount,size=8m", str(disk)], check=True)
        tournament(tmp_path, *start, "--ledger", disk / "cup")
        assert kept.items() <= games(disk / "cup").items()
        assert courses(disk / "cup") == undisturbed


def test_another_worker_plays_the_games_of_one_whose_disk_is_full(cluster: Cluster, tmp_path: Path) -> None:
    bots = three_bots(tmp_path)
    (bots[0] / "weights").write_bytes(random.Random(1).randbytes(2_000_000))
    with small_disk(tmp_path / "full" / "cache", "400k"):
        cluster.worker("full")
        start = [*GAMES, *bots, "--cluster", cluster.address]
        said = tournament(tmp_path, *start, "--ledger", tmp_path / "cup", code=3)
        assert "no worker of the cluster can play" in said and "No space left on device" in said
        cluster.worker("empty")
        cluster.wait_for_workers(2)
        tournament(tmp_path, *start, "--ledger", tmp_path / "cup")
    assert len(games(tmp_path / "cup")) == 450
