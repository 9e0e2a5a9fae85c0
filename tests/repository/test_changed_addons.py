"""Which tests a change needs."""

import subprocess
from pathlib import Path

import pytest

from referee.tools.changed_addons import enough

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("files", "addons"),
    [
        (["addons/kaggle/run.py", "tests/addons/kaggle/test_kaggle.py"], {"kaggle"}),
        (["addons/originals/recognise.py"], {"kaggle", "originals"}),
        (["addons/tournament/plan.py", "addons/mcp/server.py"], {"host", "ladder", "llm", "mcp", "tournament"}),
        (["addons/kaggle/run.py", "harness/match/series.py"], set()),
        (["addons/kaggle/run.py", "README.md"], set()),
        (["addons/__init__.py"], set()),
        (["addons/gone/addon.py"], set()),
        ([], set()),
    ],
)
def test_an_add_on_is_tested_with_those_that_need_it_and_anything_else_with_every_test(
    files: list[str], addons: set[str]
) -> None:
    assert enough(files) == addons


@pytest.mark.parametrize(
    ("words", "chosen"),
    [
        (["ADDON=ladder host"], ["tests/addons/ladder", "tests/addons/host"]),
        (["WHAT=protocol"], ["tests/protocol"]),
        (["ADDON="], []),
    ],
)
def test_make_test_takes_an_add_on_or_a_folder(words: list[str], chosen: list[str]) -> None:
    command = ["make", "--dry-run", "--assume-old=.venv/ready", "test", *words]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    (line,) = (line for line in said.splitlines() if "/pytest " in line)
    assert [word for word in line.split() if word.startswith("tests/")] == chosen
