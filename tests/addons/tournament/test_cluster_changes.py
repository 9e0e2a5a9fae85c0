"""Bots enter and withdraw while a cluster of Dask plays their tournament."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from clusters import SLOW, Cluster, folder_bot, wait_for_lines
from contests import command, course, environment, games, table, tournament

from referee.addons.tournament.inbox import INBOX
from referee.addons.tournament.plan import read_plan
from referee.addons.tournament.store import reader

pytest.importorskip("distributed")
pytestmark = pytest.mark.slow

NOTE = "the run that plays this tournament will take the change in"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One cluster for all tests here, with two workers."""
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        made.worker("first")
        made.worker("second")
        made.wait_for_workers(2)
        yield made
    finally:
        made.close()


@contextmanager
def running(folder: Path, *words: str | Path) -> Iterator["subprocess.Popen[bytes]"]:
    with (folder / "log").open("wb") as log:
        run = subprocess.Popen(command(*words), cwd=folder, env=environment(folder), stdout=log, stderr=log)
    try:
        yield run
    finally:
        run.kill()
        run.wait()


def bots_of(folder: Path, names: str) -> list[Path]:
    return [folder_bot(folder, name, ord(name), SLOW.replace("0.01", "0.05")) for name in names]


@pytest.mark.timeout(280)
@pytest.mark.parametrize("is_killed", [False, True])
def test_a_run_on_a_cluster_takes_in_bots_withdrawals_and_a_title(
    cluster: Cluster, tmp_path: Path, is_killed: bool
) -> None:
    *bots, late = bots_of(tmp_path / "bots", "abcde")
    (handed_in,) = bots_of(tmp_path / "teams", "f")
    cup, here = tmp_path / "cup", tmp_path / "here"
    start = ["--game", "tictactoe", "--games", "12", "--seed", "5"]
    with running(tmp_path, *start, *bots, "--ledger", cup, "--cluster", cluster.address) as run:
        wait_for_lines(cup, 1, run)
        assert NOTE in tournament(tmp_path, "add", cup, late, errors=True)
        assert NOTE in tournament(tmp_path, "withdraw", cup, "d", "--void", errors=True)
        assert "will take the bots in" in tournament(tmp_path, "prepare", "teams", "--into", cup)
        tournament(tmp_path, "page", cup, "--title", "Cup")
        if is_killed:
            run.kill()
        assert (run.wait(200) == 0) == (not is_killed), (tmp_path / "log").read_text()
    if is_killed:
        tournament(tmp_path, cup, "--cluster", cluster.address)
    plan = read_plan(cup / "tournament.toml")
    assert plan.title == "Cup" and not [*(cup / INBOX).glob("*.json")]
    assert sorted(entry.name for entry in plan.bots if not entry.absent) == [*"abcef"]
    found = table(cup)
    assert {row["name"]: row["games"] for row in found["rows"]} == dict.fromkeys("abcef", 48)
    assert found["played"] == found["due"] == 120
    lines = [line.k for _, line in reader.every_line(cup)]
    assert len(lines) == len(set(lines))
    if not is_killed:
        tournament(tmp_path, *start, *bots[:3], late, handed_in, "--ledger", here)
        played, expected = games(cup), games(here)
        assert {key: course(played[key]) for key in expected} == {key: course(line) for key, line in expected.items()}


@pytest.mark.timeout(280)
def test_a_bot_that_no_worker_can_build_ends_the_run_and_can_be_withdrawn(cluster: Cluster, tmp_path: Path) -> None:
    *bots, bad = bots_of(tmp_path / "bots", "abcz")
    file = bad / "bot.toml"
    file.write_text(file.read_text().replace("mkdir -p", "echo no compiler; exit 1; mkdir -p"))
    cup = tmp_path / "cup"
    start = ["--game", "tictactoe", *bots, "--games", "20", "--ledger", cup, "--cluster", cluster.address]
    with running(tmp_path, *start) as run:
        wait_for_lines(cup, 4, run)
        tournament(tmp_path, "add", cup, bad)
        assert run.wait(200) == 3
    said = (tmp_path / "log").read_text()
    assert "no worker of the cluster can play" in said and "z: " in said and "Traceback" not in said
    before = games(cup)
    tournament(tmp_path, "withdraw", cup, "z")
    tournament(tmp_path, cup, "--cluster", cluster.address)
    assert before.items() <= games(cup).items() and len(games(cup)) == 60
