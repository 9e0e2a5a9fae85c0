"""The matches that the README of a kit starts, in a copy of the kit, as a user has it who took it from somewhere."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from needs import skip_without

from referee.harness.common.paths import KITS

COMMAND = re.compile(r"^(?:.*`)?(referee --game \w+ examples/\w+ @random)", re.MULTILINE)
COMMANDS = {file.parent.name: COMMAND.findall(file.read_text("utf-8")) for file in sorted(KITS.glob("*/README.md"))}
BUILT = shutil.ignore_patterns("build", "dist", "target", "node_modules", "__pycache__")


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("kit", [kit for kit, commands in COMMANDS.items() if commands])
def test_the_examples_of_a_readme_play_in_a_copy_of_the_kit(tmp_path: Path, kit: str) -> None:
    skip_without(*[kit] * (kit != "python"))
    copy = shutil.copytree(KITS / kit, tmp_path / kit, ignore=BUILT)
    for command in COMMANDS[kit]:
        words = [sys.executable, "-m", "referee.harness.cli.main", *shlex.split(command)[1:], "--replay", "none"]
        done = subprocess.run([*words, "--set", "draw_after=4"], cwd=copy, capture_output=True, text=True)
        assert (done.returncode, "fault" in done.stdout) == (0, False), done.stdout + done.stderr


def test_most_kits_name_an_example() -> None:
    assert {kit for kit, commands in COMMANDS.items() if commands} >= {"c", "cpp", "go", "java", "python", "rust"}
