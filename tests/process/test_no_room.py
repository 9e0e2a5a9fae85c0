"""Too few descriptors are one line and an exit code. Too few processes and threads harm no verdict."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from needs import for_root
from scripted import PREAMBLE

from referee.harness.cli.exit_codes import NO_ROOM, PLAYED
from referee.harness.isolation.probe import probe
from referee.harness.isolation.removal import remove_group

pytestmark = pytest.mark.slow

MATCH = ("-m", "referee.harness.cli.main", "--game", "tictactoe", "@random", "@random", "--replay", "none")


@pytest.mark.slow
@pytest.mark.parametrize("allowed", [7, 8, 9, 10, 12, 15, 20, 26, 64])
def test_a_match_has_enough_descriptors_or_ends_with_one_line(tmp_path: Path, allowed: int) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, allowed))

    command = [sys.executable, *MATCH, "--isolation", "off"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, preexec_fn=limit, timeout=60)
    lines = done.stderr.splitlines()
    if allowed >= 64:
        assert (done.returncode, lines) == (PLAYED, [])
    else:
        assert done.returncode == NO_ROOM, done.stderr
        assert len(lines) == 1
        assert lines[0].startswith("referee: too few file descriptors: the limit is ")


@pytest.mark.slow
@pytest.mark.parametrize("allowed", [0, 1024, 4096, 16384])
def test_under_a_small_limit_of_file_sizes_a_match_is_played_or_ends_with_one_line(
    tmp_path: Path, allowed: int
) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (allowed, allowed))

    for command in ((*MATCH, "--seed", "7"), (*MATCH[:2], "check", "@random", "--game", "tictactoe")):
        line = [sys.executable, *command]
        done = subprocess.run(line, capture_output=True, text=True, cwd=tmp_path, preexec_fn=limit, timeout=60)
        if allowed >= 16384:
            assert done.returncode == PLAYED, done.stderr
        elif done.returncode != PLAYED or allowed < 4096:  # an ordinary account writes a page at most
            assert done.returncode == NO_ROOM, done.stderr
            assert done.stderr.splitlines() == [
                f"referee: files may not be longer than {allowed} bytes here, which is too short for a match; "
                "raise the limit with `ulimit -f unlimited`"
            ]


def test_a_low_soft_limit_of_descriptors_is_raised(tmp_path: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (16, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))

    done = subprocess.run([sys.executable, *MATCH], capture_output=True, cwd=tmp_path, preexec_fn=limit, timeout=60)
    assert done.returncode == PLAYED, done.stderr


FEW_TASKS = 40
"""More than `--limit processes=16`, but fewer than the 64 tasks that the control group of such a bot allows."""
FORKS = """
import _thread
greet(); call()
for number in range(2000): open(f"{os.environ['HOME']}/{number}", 'w').close()
for _ in range(20):
    if os.fork() == 0: signal.pause()
while True:
    try:
        _thread.start_new_thread(time.sleep, (100,))
    except RuntimeError:
        time.sleep(0.001)
"""
READS = """
import os, subprocess, sys, threading
from pathlib import Path
import trio
from referee.harness.process import scratch
from referee.harness.process.usage import Meter
from referee.harness.isolation.spawner import open_spawner
from referee.harness.process.bot_process import BotProcess

group, folder = Path(sys.argv[1]), Path(sys.argv[2])
(group / "cgroup.procs").write_text("0")
command = "for i in $(seq 60); do sleep 100 & done; echo; wait"
tree = subprocess.Popen(["sh", "-c", command], stdout=subprocess.PIPE, start_new_session=True)
tree.stdout.readline()
for number in range(3000):
    (folder / str(number)).write_text("x")

async def main():
    async with open_spawner() as spawner:
        process = await spawner.start(["sleep", "100"], folder, dict(os.environ), BotProcess)
        (group / "pids.max").write_text("1")
        try:
            threading.Thread(target=print).start()
        except RuntimeError as error:
            print(error)
        print((await Meter(tree.pid, tree.pid).read()).processes)
        with trio.fail_after(20):
            await scratch.watch(folder, None, 0, lambda fault: print(fault.kind))
        await process.end()

try:
    trio.run(main)
finally:
    os.killpg(tree.pid, 9)
"""


@pytest.fixture
def few_tasks() -> Iterator[Path]:
    """Makes a control group with a limit of `FEW_TASKS`."""
    for hierarchy in probe().groups.hierarchies:
        if "pids" in hierarchy.controllers:
            folder = hierarchy.base / f"few-tasks-{os.getpid()}"
            folder.mkdir()
            (folder / "pids.max").write_text(str(FEW_TASKS))
            try:
                yield folder
            finally:
                remove_group(folder)
            return
    pytest.skip(for_root("no control group here limits tasks"))


@pytest.mark.parametrize("isolation", ["auto", "off"])
def test_a_bot_that_starts_all_tasks_of_the_machine_exceeds_its_limit_of_processes(
    tmp_path: Path, few_tasks: Path, isolation: str
) -> None:
    bot = tmp_path / "bomb.py"
    bot.write_text(PREAMBLE + FORKS)
    command = [sys.executable, *MATCH[:4], str(bot), "@random", "--replay", "none", "--json"]
    command += ["--limit", "processes=16", "--isolation", isolation]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        preexec_fn=lambda: (few_tasks / "cgroup.procs").write_text("0"),
        timeout=60,
    )
    assert done.stderr == ""
    (match,) = json.loads(done.stdout)["matches"]
    assert [(fault["player"], fault["kind"]) for fault in match["faults"]] == [(0, "processes")]
    assert done.returncode == PLAYED


def test_usage_and_files_are_read_when_no_thread_can_be_started(tmp_path: Path, few_tasks: Path) -> None:
    (few_tasks / "pids.max").write_text("max")
    command = [sys.executable, "-c", READS, str(few_tasks), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.stdout.splitlines(), done.stderr) == (["can't start new thread", "60", "files"], "")


def test_the_doctor_compares_the_limit_of_tasks_with_the_needs_of_a_match(tmp_path: Path, few_tasks: Path) -> None:
    (few_tasks / "pids.max").write_text("2111")
    command = [sys.executable, *MATCH[:2], "doctor", "--json"]
    enter = 'echo 0 > $1; shift; exec "$@"'

    def line() -> dict[str, object]:
        words = ["sh", "-c", enter, "sh", str(few_tasks / "cgroup.procs"), *command]
        done = subprocess.run(words, capture_output=True, cwd=tmp_path, timeout=60)
        assert done.returncode == PLAYED, done.stderr
        return next(line for line in json.loads(done.stdout)["layers"] if line["layer"] == "tasks")

    tasks = line()
    assert tasks["here"] is False
    assert str(tasks["what"]).endswith(f"({few_tasks}/pids.max is 2111); a match may use 2112")
    (few_tasks / "pids.max").write_text("4000")
    assert line()["here"] is True
