"""The matches that the README of a kit starts, in a copy of the kit, as a user has it who took it from somewhere."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
from kits import need

from referee.harness.cli.main import main
from referee.harness.common.paths import KITS

COMMAND = re.compile(r"^(?:.*`)?(referee --game \w+ examples/\w+ @random)", re.MULTILINE)
COMMANDS = {file.parent.name: COMMAND.findall(file.read_text("utf-8")) for file in sorted(KITS.glob("*/README.md"))}
BUILT = shutil.ignore_patterns("build", "dist", "target", "node_modules", "__pycache__")


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("kit", [kit for kit, commands in COMMANDS.items() if commands])
def test_the_examples_of_a_readme_play_in_a_copy_of_the_kit(
    kit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    need(kit)
    monkeypatch.chdir(shutil.copytree(KITS / kit, tmp_path / kit, ignore=BUILT))
    for command in COMMANDS[kit]:
        words = [*shlex.split(command)[1:], "--replay", "none", "--strict", "--set", "draw_after=4"]
        assert main(words) == 0, capsys.readouterr()


def test_most_kits_name_an_example() -> None:
    assert {kit for kit, commands in COMMANDS.items() if commands} >= {"c", "cpp", "go", "java", "python", "rust"}
