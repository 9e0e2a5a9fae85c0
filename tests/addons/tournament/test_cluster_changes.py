"""Bots enter and withdraw while a cluster of Dask plays their tournament."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from clusters import SLOW, Cluster, courses, folder_bot, running, wait_for_lines
from contests import games, table, tournament

from referee.addons.tournament.inbox import INBOX, Retitle, hand_in
from referee.addons.tournament.plan import read_plan
from referee.addons.tournament.store import reader

pytest.importorskip("distributed")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(280)]

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


def bots_of(folder: Path, names: str) -> list[Path]:
    return [folder_bot(folder, name, ord(name), SLOW.replace("0.01", "0.05")) for name in names]


def test_a_run_on_a_cluster_takes_in_bots_withdrawals_and_a_title(cluster: Cluster, tmp_path: Path) -> None:
    *bots, late = bots_of(tmp_path / "bots", "abcde")
    cup, here = tmp_path / "cup", tmp_path / "here"
    start = ["--game", "tictactoe", "--games", "4", "--seed", "5"]
    with running(tmp_path, *start, *bots, "--ledger", cup, "--cluster", cluster.address) as run:
        wait_for_lines(cup, 1, run)
        run.send_signal(signal.SIGSTOP)  # it plays, however long the commands take
        assert NOTE in tournament(tmp_path, "add", cup, late, errors=True)
        assert NOTE in tournament(tmp_path, "withdraw", cup, "d", "--void", errors=True)
        hand_in(cup, Retitle("Cup"))
        run.send_signal(signal.SIGCONT)
        assert run.wait(200) == 0, (tmp_path / "log").read_text()
    plan = read_plan(cup / "tournament.toml")
    assert plan.title == "Cup" and not [*(cup / INBOX).glob("*.json")]
    assert sorted(entry.name for entry in plan.bots if not entry.absent) == [*"abce"]
    found = table(cup)
    assert {row["name"]: row["games"] for row in found["rows"]} == dict.fromkeys("abce", 12)
    assert found["played"] == found["due"] == 24
    lines = [line.k for _, line in reader.every_line(cup)]
    assert len(lines) == len(set(lines))
    tournament(tmp_path, *start, *bots[:3], late, "--ledger", here, "--jobs", "2")
    assert courses(here).items() <= courses(cup).items()


def test_a_bot_that_no_worker_can_build_ends_the_run_and_can_be_withdrawn(cluster: Cluster, tmp_path: Path) -> None:
    *bots, bad = bots_of(tmp_path / "bots", "abz")
    file = bad / "bot.toml"
    file.write_text(file.read_text().replace("mkdir -p", "echo no compiler; exit 1; mkdir -p"))
    cup = tmp_path / "cup"
    start = ["--game", "tictactoe", *bots, "--games", "16", "--ledger", cup, "--cluster", cluster.address]
    with running(tmp_path, *start) as run:
        wait_for_lines(cup, 1, run)
        run.send_signal(signal.SIGSTOP)
        tournament(tmp_path, "add", cup, bad)
        run.send_signal(signal.SIGCONT)
        assert run.wait(200) == 3
    said = (tmp_path / "log").read_text()
    assert "no worker of the cluster can play" in said and "z: " in said and "Traceback" not in said
    before = games(cup)
    tournament(tmp_path, "withdraw", cup, "z")
    tournament(tmp_path, cup, "--cluster", cluster.address)
    assert before.items() <= games(cup).items() and len(games(cup)) == 16
