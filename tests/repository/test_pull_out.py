"""The tree without one add-on: it installs, passes its checks and tests, and has lost that add-on's commands only."""

import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from pulled_out import pull_out

from referee.harness.addons import Command
from referee.tools.borrowed import environment
from referee.tools.changed_addons import ADDONS

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(1800)]
QUICK = "not slow and not kits and not nightly and not alone"


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout[-8000:]
    return done.stdout


@cache
def listed(python: str) -> frozenset[str]:
    """Returns the commands of the overview."""
    said = run(python, "-m", "referee.harness.cli.main", "--help", cwd=Path("/"))
    return frozenset(re.findall(r"(?m)^  (\w+)  ", said))


def commands(addons: set[str]) -> Iterator[str]:
    for addon in addons:
        made: tuple[Command, ...] = getattr(import_module(f"referee.addons.{addon}.addon"), "commands", tuple)()
        yield from (command.name for command in made if command.group)


@pytest.mark.parametrize("addon", ADDONS)
def test_the_rest_stands_without_an_add_on(addon: str, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    gone = pull_out(addon, tree)
    python = environment(tmp_path / "environment", "--editable", tree)
    assert listed(str(python)) == listed(sys.executable) - set(commands(gone))
    match = ("play", "--game", "tictactoe", "@advanced", "@random", "--seed", "1")
    assert "@advanced wins" in run(python, "-m", "referee.harness.cli.main", *match, cwd=tmp_path)
    bin = Path(sys.executable).parent
    run(bin / "ruff", "check", ".", cwd=tree)
    run(bin / "lint-imports", cwd=tree)
    run(python, "-m", "mypy", cwd=tree)
    left_out = [f"--ignore=tests/{folder}" for folder in ("kits", "repository")]  # the latter is about all add-ons
    run(python, "-m", "pytest", "-q", "-m", QUICK, *left_out, cwd=tree)
