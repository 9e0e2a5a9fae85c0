"""The portable sandbox, which supervises bots where there is no Linux."""

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


def test_matches_are_played_and_report_their_layers(tmp_path: Path) -> None:
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
from referee.harness.process.bot_process import BotProcess

async def main():
    async with open_spawner() as spawner:
        env = {"PATH": os.environ["PATH"]}
        bots = [await spawner.start(["sleep", "100"], Path("."), env, BotProcess) for _ in range(4)]
        async with trio.open_nursery() as nursery:
            for bot in bots:
                nursery.start_soon(bot.end)

trio.run(main)
"""


def test_a_spawner_forgets_supervisors_that_end_at_the_same_time(tmp_path: Path) -> None:
    """It used to wait a second for those that ended while it handled another one, and then failed."""
    environment = {**os.environ, "REFEREE_WITHOUT": "linux"}
    done = subprocess.run(
        [sys.executable, "-c", FOUR_BOTS], env=environment, cwd=tmp_path, capture_output=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_doctor_reports_it_and_the_unmet_requirements(tmp_path: Path) -> None:
    done = referee("doctor", "--isolation", "required", "--json", cwd=tmp_path)
    assert done.returncode == NOT_ISOLATED
    diagnosis = json.loads(done.stdout)
    assert [(line["layer"], line["here"]) for line in diagnosis["layers"]][:1] == [("linux", False)]
    assert any(line.startswith("files ") for line in diagnosis["unmet"])


LEFTOVERS = (
    "isolation/test_supervisor.py::test_a_killed_referee_leaves_no_process_and_no_scratch_folder",
    "isolation/test_supervisor.py::test_the_spawner_ends_the_processes_of_a_killed_supervisor",
    "programs/test_build.py::test_a_daemon_started_by_a_build_is_killed",
    "programs/test_build.py::test_a_build_that_kills_its_supervisor_leaves_no_process",
    "seats/test_bot_faults.py::test_a_bot_that_kills_its_supervisor_goes_with_it",
    "isolation/test_files_written.py::test_too_many_files_are_a_fault_with_every_layer[auto-67108864]",
)


def test_no_process_of_bots_and_builds_survives() -> None:
    """Runs the same tests again with the portable sandbox."""
    tests = [str(TESTS / test) for test in LEFTOVERS]
    environment = {**os.environ, "REFEREE_WITHOUT": "linux"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests]
    done = subprocess.run(command, env=environment, cwd=TESTS.parent, capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, done.stdout[-4000:]
