"""The action for GitHub, and the workflow on the page: their `run` steps in bash, as a runner runs them."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import Any

import pytest
import yaml
from defects import bot

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
INSTALLS, *RUNS = [step for step in ACTION["runs"]["steps"] if "run" in step]
REAL = f'exec {sys.executable} -m referee.harness.cli.main "$@"'
NOTED = """
echo "$@" >> asked
if [ "$1" = gate ]; then echo "the gate" > report.md; fi
[ "$1" = "$FAILS" ] && exit "$CODE"
exit 0
"""
"""A referee that writes down what it is asked, and of which one command fails."""


def runner(folder: Path, referee: str) -> dict[str, str]:
    """Returns the variables of a runner on which this script is the installed referee."""
    (folder / "bin").mkdir()
    (folder / "bin" / "referee").write_text(f"#!/bin/sh\n{referee}\n")
    (folder / "bin" / "referee").chmod(0o755)
    return {
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "HOME": str(folder),
        "GITHUB_ACTIONS": "true",
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "GITHUB_OUTPUT": str(folder / "outputs"),
    }


def run_steps(steps: list[Any], given: dict[str, str], work: Path, env: dict[str, str]) -> tuple[list[int], str]:
    """Runs steps up to the first that fails. Returns their exit codes and their output."""
    assert ACTION["runs"]["using"] == "composite" and given.keys() <= ACTION["inputs"].keys()
    inputs = {name: str(value.get("default", "")) for name, value in ACTION["inputs"].items()} | given
    codes, output = [], ""
    for step in steps:
        if step.get("if") == "inputs.against != ''" and not inputs["against"]:
            continue
        assert step["shell"] == "bash"
        assert "${{" not in step["run"]  # an input in a script could be a command
        own = {key: filled(value, inputs) for key, value in step.get("env", {}).items()}
        command = ["bash", "-e", "-o", "pipefail", "-c", step["run"]]
        done = subprocess.run(command, cwd=work, env=env | own, capture_output=True, text=True)
        codes.append(done.returncode)
        output += done.stdout + done.stderr
        if done.returncode:
            break
    return codes, output


def filled(value: str, inputs: dict[str, str]) -> str:
    """Fills the inputs into a value of `env`."""
    for name, given in inputs.items():
        value = value.replace(f"${{{{ inputs.{name} }}}}", given)
    assert "${{" not in value
    return value


CHECK = "check my bot --game tictactoe"
GATE = "gate my bot Old=@random --game tictactoe --elo 0 30 --max-minutes 9 --markdown report.md"
PLAYED = {"against": "Old=@random", "max-minutes": "9", "gate-markdown": "report.md"}


@pytest.mark.parametrize(
    ("given", "fails", "code", "codes", "asked", "result"),
    [
        ({}, "check", 1, [1], [CHECK], None),
        ({"strict": "true", "seed": "4", "junit": "j"}, "", 0, [0], [f"{CHECK} --seed 4 --strict --junit j"], None),
        (PLAYED, "", 0, [0, 0], [CHECK, GATE], "accepted"),
        (PLAYED, "gate", 1, [0, 1], [CHECK, GATE], "rejected"),
        (PLAYED, "gate", 4, [0, 4], [CHECK, GATE], "inconclusive"),
        (PLAYED | {"allow-inconclusive": "true"}, "gate", 4, [0, 0], [CHECK, GATE], "inconclusive"),
        (PLAYED, "gate", 3, [0, 3], [CHECK, GATE], None),
        (PLAYED | {"gate-junit": "g", "seed": "4"}, "check", 1, [1], [f"{CHECK} --seed 4"], None),
        (
            PLAYED | {"gate-junit": "g", "seed": "4", "bounds": "nelo -5 0"},
            *("", 0, [0, 0]),
            [f"{CHECK} --seed 4", GATE.replace("--elo 0 30", "--nelo -5 0") + " --seed 4 --junit g"],
            "accepted",
        ),
    ],
)
def test_the_github_action_hands_on_its_inputs_and_the_exit_codes(
    tmp_path: Path,
    given: dict[str, str],
    fails: str,
    code: int,
    codes: list[int],
    asked: list[str],
    result: str | None,
) -> None:
    env = runner(tmp_path, NOTED) | {"FAILS": fails, "CODE": str(code)}
    found, output = run_steps(RUNS, {"bot": "my bot", "game": "tictactoe"} | given, tmp_path, env)
    assert found == codes, output
    assert (tmp_path / "asked").read_text().splitlines() == asked
    outputs = tmp_path / "outputs"
    assert (f"result={result}\n" in outputs.read_text() if outputs.exists() else False) is (result is not None)
    if len(codes) == 2:
        assert (tmp_path / "summary.md").read_text() == "the gate\n" and "markdown=report.md\n" in outputs.read_text()


def test_the_action_asks_pip_for_the_extras(tmp_path: Path) -> None:
    """Pip warns of an extra that does not exist. The package is a small one; that ours can be installed is shown
    in test_installation.py."""
    (tmp_path / "action").mkdir()
    (tmp_path / "action" / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
        '[project]\nname = "small"\nversion = "1"\n[project.optional-dependencies]\nweb = []\n'
        "[tool.setuptools]\npy-modules = []\n"
    )
    venv.create(tmp_path / "python", symlinks=True)
    (site,) = (tmp_path / "python").glob("lib/*/site-packages")
    (site / "ours.pth").write_text(sysconfig.get_path("purelib"))
    env = {
        "PATH": f"{tmp_path / 'python/bin'}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "GITHUB_ACTION_PATH": str(tmp_path / "action"),
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip reads it as true
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    for extras, warned in (("", False), ("web,none", True)):
        codes, output = run_steps([INSTALLS], {"extras": extras}, tmp_path, env)
        assert codes == [0], output
        assert ("does not provide the extra 'none'" in output) == warned, output
        assert "extra 'web'" not in output


TEMP, BASE = "${{ runner.temp }}", "${{ github.base_ref }}"
WINNING = """
LINES = ["NW N NE", "W C E", "SW S SE", "NW W SW", "N C S", "NE E SE", "NW C SE", "NE C SW"]
mine = []
start, follow = begin, hear

def begin(params):
    mine.clear()
    start(params)

def hear(event):
    if event.get("player") == "OX"[seat] and event.get("position") in free:
        mine.append(event["position"])
    follow(event)

def choose():
    winning = (each for each in free for line in LINES if {each} == set(line.split()) - set(mine))
    return cell(next(winning, free[0]))
"""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [("", "# tidied", [0, 0]), (WINNING, "", [0, 1])],
    ids=["an equal bot passes", "a worse bot fails"],
)
def test_the_workflow_on_the_page_fails_only_what_is_worse(
    tmp_path: Path, old: str, new: str, expected: list[int]
) -> None:
    """Its steps run in order: the checkouts are copies of two folders, and the action is this one."""
    page = (ROOT / "docs" / "how-to" / "check-a-bot.md").read_text("utf-8")
    (source,) = re.findall(r"```yaml\n(.*?)```", page, flags=re.DOTALL)
    job = yaml.safe_load(source)["jobs"]["referee"]
    refs = {BASE: tmp_path / "old", None: tmp_path / "new"}
    for folder, body in zip(refs.values(), (old, new), strict=True):
        folder.mkdir()
        (folder / "bot.py").write_text(bot(body))
        (folder / "bot.toml").write_text('run = ["python3", "bot.py"]\n')
    work, temporary = tmp_path / "work", tmp_path / "temporary"
    temporary.mkdir()
    env = runner(tmp_path, REAL) | {"RUNNER_TEMP": str(temporary)}
    codes: list[int] = []
    for step in job["steps"]:
        given = {key: value.replace(TEMP, str(temporary)) for key, value in step.get("with", {}).items()}
        if step.get("uses", "").startswith("actions/checkout@"):
            shutil.copytree(refs[given.get("ref")], work / given.get("path", ""), dirs_exist_ok=True)
        elif step.get("uses", "").startswith("OWNER/referee@"):
            codes, output = run_steps(RUNS, given | {"game": "tictactoe"}, work, env)
            assert codes == expected, output
        elif "if" not in step:
            subprocess.run(["bash", "-e", "-c", step["run"]], cwd=work, env=env, check=True)
    assert codes and not (work / "base").exists()
    summary = (tmp_path / "summary.md").read_text()
    assert summary.startswith("### work at tictactoe: passed\n") and summary.endswith((work / "gate.md").read_text())
    if expected == [0, 1]:
        assert "::error title=referee gate::" in output
