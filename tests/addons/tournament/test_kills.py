"""Whatever is killed, at whatever moment: no finished game is lost, none is played twice, and the table is the same."""

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from contests import command, course, drawing_bot, environment, games, table, tournament

from referee.addons.tournament.execution import worker
from referee.addons.tournament.inbox import Enter, Retitle, Withdraw, hand_in, has_changes
from referee.addons.tournament.plan import read_plan
from referee.addons.tournament.store import reader
from referee.games import registry

pytestmark = pytest.mark.slow


def workers_of(driver: int) -> list[psutil.Process]:
    """Returns the workers of a running tournament."""
    try:
        return [
            child
            for child in psutil.Process(driver).children()
            if "referee.addons.tournament.execution.worker" in _line(child)
        ]
    except psutil.NoSuchProcess:
        return []


def _line(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def killed_and_resumed(
    folder: Path,
    start: list[str | Path],
    contest: Path,
    kills: int,
    seed: int,
    before_kill: Callable[[int], None] = lambda done: None,
) -> int:
    """Plays a tournament while driver and workers are killed. Returns the number of kills.

    Before each one, `before_kill` is called with the number so far.
    """
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
                if workers:
                    before_kill(done)
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


def changed_and_killed(tmp_path: Path, games_each: int, kills: int) -> int:
    """Like `check`, while bots enter and withdraw, some for a while, and the title changes before each kill."""
    names = ("ann", "bob", "cid", "dan", "eve", "fay")
    bots = [drawing_bot(tmp_path, name, salt, SLOW) for salt, name in enumerate(names)]
    start: list[str | Path] = ["--game", "tictactoe", *bots[:4], "--games", str(games_each), "--seed", "5"]
    quiet, disturbed = tmp_path / "quiet", tmp_path / "disturbed"
    tournament(tmp_path, *start, "--jobs", "2", "--ledger", quiet)
    for bot in bots[4:]:
        tournament(tmp_path, "add", quiet, bot)
    tournament(tmp_path, "withdraw", quiet, "dan", "--void")
    tournament(tmp_path, quiet, "--jobs", "2")
    entered = {max(1, kills // 4): bots[4], max(2, kills // 2): bots[5]}

    def change(done: int) -> None:
        if bot := entered.pop(done, None):
            tournament(tmp_path, "add", disturbed, bot)
        if done == kills * 3 // 4:
            hand_in(disturbed, Withdraw(("dan",), void=True))
        else:
            hand_in(disturbed, Enter(back=("cid",)) if done % 2 else Withdraw(("cid",)))
        hand_in(disturbed, Retitle(f"After {done} kills"))

    start += ["--jobs", "2", "--ledger", disturbed]
    done = killed_and_resumed(tmp_path, start, disturbed, kills, seed=games_each, before_kill=change)
    hand_in(disturbed, Enter(back=("cid",)))
    tournament(tmp_path, disturbed, "--jobs", "2")
    plan = read_plan(disturbed / "tournament.toml")
    assert [(entry.name, entry.absent, entry.void) for entry in plan.bots] == [
        (name, name == "dan", name == "dan") for name in names
    ]
    assert plan.title == f"After {done - 1} kills" and not has_changes(disturbed, plan)
    dan = plan.bots[3].ident
    expected, found = ({k: course(v) for k, v in games(each).items() if dan not in v.b} for each in (quiet, disturbed))
    assert found == expected and len(found) == 10 * games_each
    keys = [line.k for _, line in reader.every_line(disturbed)]
    assert len(keys) == len(set(keys))
    standings = [table(folder) for folder in (quiet, disturbed)]
    for each in standings:
        del each["fairness"], each["title"]
        each["notes"] = [note for note in each["notes"] if "dan, which was withdrawn" not in note]
    assert standings[0] == standings[1]
    return done


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
        assert record is not None and worker.content(record.splitlines(), registry.game("tictactoe")) == line.a
    return done


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("games_each", "kills"), [(75, 15), pytest.param(300, 60, marks=pytest.mark.nightly)])
def test_a_tournament_with_kills_ends_like_one_without(tmp_path: Path, games_each: int, kills: int) -> None:
    assert check(tmp_path, games_each, kills) == kills


@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("games_each", "kills"), [(20, 8), pytest.param(200, 200, marks=pytest.mark.nightly)])
def test_kills_lose_no_game_and_no_change_of_the_plan(tmp_path: Path, games_each: int, kills: int) -> None:
    assert changed_and_killed(tmp_path, games_each, kills) >= kills // 2
