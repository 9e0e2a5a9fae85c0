"""Pages whose commands tests run as they stand."""

import os
import re
import subprocess
import sys
from pathlib import Path

from contests import environment

DOCS = Path(__file__).parents[2] / "docs"


def commands(page: Path) -> list[str]:
    """Returns a page's blocks of commands, in its order."""
    text = page.read_text("utf-8")
    return re.findall(r"^```\n((?:referee|cutechess-cli) .*?)^```", text, re.MULTILINE | re.DOTALL)


def run(text: str, folder: Path, stdin: str = "", **variables: str) -> str:
    """Runs commands in a folder and returns what they print, of which all must end with exit code 0."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-ec", text],
        cwd=folder,
        env=environment(folder) | {"PATH": path} | variables,
        input=stdin,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{text}\n{done.stdout}{done.stderr}"
    return done.stdout
