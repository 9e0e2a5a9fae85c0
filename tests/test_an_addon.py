"""Installs and uses the package in docs/tutorials/an-add-on-of-your-own.md exactly as the page says."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "tutorials" / "an-add-on-of-your-own.md").read_text("utf-8")
FILES = dict(re.findall(r"^`echo/([\w./]+)`:\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
(COMMANDS,) = [block.splitlines() for block in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)]


def test_the_package_has_less_than_a_hundred_lines() -> None:
    assert sum(len(text.splitlines()) for text in FILES.values()) < 100


def test_the_page_is_followed_to_the_letter(tmp_path: Path) -> None:
    for path, text in FILES.items():
        (tmp_path / "echo" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "echo" / path).write_text(text, "utf-8")
    install, *others = map(shlex.split, COMMANDS)
    assert install[:2] == ["pip", "install"]
    site = tmp_path / "site"
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--target",
        str(site),
    ]
    subprocess.run([*pip, install[2]], cwd=tmp_path, check=True, timeout=120)
    said = []
    for command in others:
        assert command[0] == "referee"
        done = subprocess.run(
            [sys.executable, "-m", "referee.harness.cli.main", *command[1:]],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH")]))},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        said.append(done.stdout)
    answers, match, help = said
    assert answers.count("putToken") == 7
    assert "Column A is full" in match or "four in a line" in match
    assert "echo:ANSWER (gives one answer)" in " ".join(help.split())
