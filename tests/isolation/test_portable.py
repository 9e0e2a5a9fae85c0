"""The portable floor, by psutil and POSIX alone: what keeps bots together where there is no Linux, tried here."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from referee.harness.cli.exit_codes import NOT_ISOLATED, PLAYED

pytestmark = [pytest.mark.slow, pytest.mark.alone]

REFEREE = (sys.executable, "-m", "referee.harness.cli.main")
TESTS = Path(__file__).parent.parent


def referee(*words: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "REFEREE_WITHOUT": "linux"}
    return subprocess.run([*REFEREE, *words], env=environment, cwd=cwd, capture_output=True, timeout=120)


def test_matches_are_played_and_say_what_kept_them(tmp_path: Path) -> None:
    done = referee("--game", "tictactoe", "@random", "@advanced", "--games", "2", "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (PLAYED, b"")
    for match in json.loads(done.stdout)["matches"]:
        assert match["faults"] == []
        assert match["isolation"]["kill"] == "psutil"
        assert match["isolation"]["files"] == "none"
        assert all(seat["peak_memory_bytes"] > 1 << 20 for seat in match["seats"])


FOUR_BOTS = """
import os, trio
from pathlib import Path
from referee.harness.isolation.spawner import open_spawner

async def main():
    async with open_spawner() as spawner:
        env = {"PATH": os.environ["PATH"]}
        bots = [await spawner.start(["sleep", "100"], Path("."), env) for _ in range(4)]
        async with trio.open_nursery() as nursery:
            for bot in bots:
                nursery.start_soon(bot.end)

trio.run(main)
"""


def test_a_spawner_forgets_supervisors_that_end_side_by_side(tmp_path: Path) -> None:
    """It waited a second for those that had ended while it looked after another, and ended with a traceback."""
    environment = {**os.environ, "REFEREE_WITHOUT": "linux"}
    done = subprocess.run(
        [sys.executable, "-c", FOUR_BOTS], env=environment, cwd=tmp_path, capture_output=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_doctor_says_so_and_what_is_required_is_not_there(tmp_path: Path) -> None:
    done = referee("doctor", "--isolation", "required", "--json", cwd=tmp_path)
    assert done.returncode == NOT_ISOLATED
    found = json.loads(done.stdout)
    assert [(line["layer"], line["here"]) for line in found["layers"]][:1] == [("linux", False)]
    assert any(line.startswith("files ") for line in found["unmet"])


LEFTOVERS = (
    "isolation/test_supervisor.py::test_a_referee_that_is_ended_leaves_no_process_and_no_scratch_folder",
    "isolation/test_supervisor.py::test_what_a_killed_supervisor_leaves_is_ended_while_the_run_goes_on",
    "programs/test_build.py::test_a_daemon_that_a_build_starts_ends_with_it",
    "programs/test_build.py::test_a_build_that_kills_whoever_supervises_it_leaves_nothing_either",
    "seats/test_bot_faults.py::test_a_bot_that_kills_its_supervisor_goes_with_it",
    "isolation/test_files_written.py::test_more_files_are_a_fault_in_every_layer[auto-67108864]",
)


def test_what_bots_and_builds_leave_behind_is_ended() -> None:
    """The same tests again, on the floor."""
    tests = [str(TESTS / test) for test in LEFTOVERS]
    environment = {**os.environ, "REFEREE_WITHOUT": "linux"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests]
    done = subprocess.run(command, env=environment, cwd=TESTS.parent, capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, done.stdout[-4000:]
