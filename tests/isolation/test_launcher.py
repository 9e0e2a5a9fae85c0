"""The sandbox launcher: its steps are documented, and where there is none, that is said and matches are played."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from referee.harness.cli.exit_codes import NOT_ISOLATED, PLAYED
from referee.harness.isolation import c_programs, launcher_build, plan
from referee.harness.isolation.plan import GUARANTEES, NONE
from referee.harness.isolation.supervisor import PORTABLE

SOURCE = launcher_build.SOURCE.read_text("utf-8")
STEPS = {name: int(count) for name, count in re.findall(r"STEP\((\w+), (\d)\)", SOURCE)}


def test_the_comment_documents_every_step() -> None:
    lines = re.findall(r"^ \*     ([a-z_]+)((?: [A-Z_]+)*)(?:  |\n)", SOURCE, re.MULTILINE)
    assert {name: len(arguments.split()) for name, arguments in lines} == STEPS
    assert len(STEPS) > 25


# A machine without a C compiler, whose cache is empty.

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PORTABLE or launcher_build.SHIPPED.exists(), reason="this installation needs none, or has one"),
]
WHY = "no C compiler"
WARNING = f"nothing keeps these bots apart: the sandbox launcher is missing ({WHY}); see `referee doctor`"


def referee(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "bin").mkdir(exist_ok=True)
    command = [sys.executable, "-m", "referee.harness.cli.main", *words]
    variables = os.environ | {"PATH": str(folder / "bin"), "XDG_CACHE_HOME": str(folder / "cache")}
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=120)


def test_a_match_without_it_is_played_and_says_so(tmp_path: Path) -> None:
    done = referee(tmp_path, "--game", "tictactoe", "@random", "@random")
    assert (done.returncode, done.stderr) == (PLAYED, f"warning: {WARNING}\n")
    assert f"isolation was without launcher: no layer that keeps bots apart works without it ({WHY})" in done.stdout


def test_the_verdict_names_the_layers_that_are_left_and_a_requirement_that_they_meet_is_met(tmp_path: Path) -> None:
    done = referee(tmp_path, "--game", "tictactoe", "@random", "@random", "--json", "--isolation", "required:kill")
    assert done.returncode == PLAYED, done.stdout
    outcome = json.loads(done.stdout)
    (verdict,) = outcome["matches"]
    assert done.stderr == f"warning: {WARNING}\n"
    assert verdict["lost_layers"] == {"launcher": WHY}
    left = {"kill": "subreaper", "memory": "poll+data", "processes": "poll", "cpu": "poll", "disk": "poll"}
    assert verdict["isolation"] == dict.fromkeys(GUARANTEES, NONE) | left
    assert all(seat["peak_memory_bytes"] > 1 << 20 for seat in verdict["seats"])


def test_the_doctor_says_how_to_get_it(tmp_path: Path) -> None:
    done = referee(tmp_path, "doctor", "--json", "--isolation", "required:files")
    diagnosis = json.loads(done.stdout)
    first, *others = diagnosis["layers"]
    assert (first["layer"], first["here"], first["what"].partition(":")[0]) == ("launcher", False, WHY)
    assert "install gcc or clang" in first["remedy"]
    assert not {"namespaces", "landlock", "seccomp"} & {line["layer"] for line in others}
    assert done.returncode == NOT_ISOLATED and len(diagnosis["unmet"]) == 1


def test_without_isolation_nobody_misses_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(c_programs.WITHOUT, "compiler")
    launcher_build._program.cache_clear()
    assert plan.warning(plan.isolation("auto")) is not None
    assert plan.warning(plan.OFF) is None
    assert plan.lost_layers(plan.OFF) == {}
