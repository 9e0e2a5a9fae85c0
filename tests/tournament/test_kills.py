"""Whatever is killed, at whatever moment: no finished game is lost, none is played twice, and the table is the same."""

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest
from contests import command, course, drawing_bot, environment, games, table, tournament

from referee.harness.tournament.execution import worker
from referee.harness.tournament.store import reader

pytestmark = pytest.mark.slow


def workers_of(driver: int) -> list[psutil.Process]:
    """Returns the workers of a running tournament."""
    try:
        return [
            child
            for child in psutil.Process(driver).children()
            if "referee.harness.tournament.execution.worker" in _line(child)
        ]
    except psutil.NoSuchProcess:
        return []


def _line(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def killed_and_resumed(folder: Path, start: list[str | Path], contest: Path, kills: int, seed: int) -> int:
    """Plays a tournament while driver and workers are killed. Returns the number of kills."""
    dice = random.Random(seed)
    done = 0
    arguments = start
    deadline = time.monotonic() + 240 + kills
    while True:
        with (folder / "log").open("ab") as log:
            driver = subprocess.Popen(command(*arguments), cwd=folder, env=environment(folder), stdout=log, stderr=log)
        if (contest / "tournament.toml").exists():
            arguments = ["--ledger", contest]
        try:
            while driver.poll() is None and done < kills and time.monotonic() < deadline:
                _wait(driver, dice.uniform(0.0, 0.4))
                workers = workers_of(driver.pid)
                if workers and dice.random() < 0.7:
                    dice.choice(workers).kill()
                    done += 1
                elif (contest / "tournament.toml").exists() and workers:
                    os.kill(driver.pid, signal.SIGKILL)
                    done += 1
                    break
            code = driver.wait(240)
        finally:
            driver.kill()
            driver.wait()
        if (contest / "tournament.toml").exists():
            arguments = ["--ledger", contest]
        if code == 0:
            return done
        said = (folder / "log").read_text()
        # After three kills of workers during one game, the game looks like the cause, and the run ends.
        assert code == -signal.SIGKILL or (code == 3 and "is not tried again" in said), said
        _all_gone(folder)


def _wait(driver: "subprocess.Popen[bytes]", seconds: float) -> None:
    try:
        driver.wait(seconds)
    except subprocess.TimeoutExpired:
        pass


def _all_gone(folder: Path) -> None:
    """Waits until the workers of a killed driver and their bots have ended."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        left = [process for process in psutil.process_iter() if str(folder) in _line(process)]
        if not left:
            return
        time.sleep(0.02)
    raise AssertionError(f"still there: {[_line(process) for process in left]}")


SLOW = """
import time
plain = choose
def choose():
    time.sleep(0.004)
    return plain()
"""
"""Makes games long enough to be killed in."""


def check(tmp_path: Path, games_each: int, kills: int) -> int:
    bots = [drawing_bot(tmp_path, name, salt, SLOW) for salt, name in enumerate(("ann", "bob", "cid"))]
    start: list[str | Path] = ["--game", "tictactoe", *bots, "--games", str(games_each), "--seed", "5", "--jobs", "2"]
    quiet, disturbed = tmp_path / "quiet", tmp_path / "disturbed"
    tournament(tmp_path, *start, "--ledger", quiet)
    done = killed_and_resumed(tmp_path, [*start, "--ledger", disturbed], disturbed, kills, seed=games_each)
    expected, found = games(quiet), games(disturbed)
    assert {key: course(line) for key, line in found.items()} == {key: course(line) for key, line in expected.items()}
    assert len(found) == 3 * games_each
    keys = [line.k for _, line in reader.every_line(disturbed)]
    assert len(keys) == len(set(keys))
    standings = [table(folder) for folder in (quiet, disturbed)]
    for each in standings:
        del each["fairness"]  # how much the machine slowed a game is never the same
    assert standings[0] == standings[1]
    for file, line in reader.counted_lines(disturbed):
        record = reader.replay(disturbed, file, line)
        assert record is not None and worker.content(record.splitlines()) == line.a
    return done


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("games_each", "kills"), [(75, 15), pytest.param(300, 60, marks=pytest.mark.nightly)])
def test_a_tournament_with_kills_ends_like_one_without(tmp_path: Path, games_each: int, kills: int) -> None:
    assert check(tmp_path, games_each, kills) == kills
