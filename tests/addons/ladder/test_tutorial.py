"""The tutorial on ladders works as it is written, and so do the steps of the workflows."""

import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
PATHS = {"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else {}
ROOT = Path(__file__).resolve().parents[3]


def clean(folder: Path) -> dict[str, str]:
    """Returns the environment of a fresh machine: no name for git, no keys, no cache."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "GIT_CONFIG_NOSYSTEM": "1", "COLUMNS": "200", **PATHS}


def sh(text: str, folder: Path) -> str:
    done = subprocess.run(["bash", "-euc", text], cwd=folder, env=clean(folder), capture_output=True, text=True)
    assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def free_port() -> str:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return str(found.getsockname()[1])


def stop_beacon(folder: Path) -> None:
    """Stops the beacon of a page that was not followed to its end."""
    with suppress(OSError, ValueError, ProcessLookupError):
        os.kill(int((folder / "beacon.pid").read_text()), signal.SIGTERM)


@pytest.mark.timeout(1200)
def test_the_tutorial_works_to_the_letter(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "tutorials" / "a-ladder-in-git.md").read_text("utf-8").replace("8017", free_port())
    printed, shown = "", 0
    try:
        for kind, text in re.findall(r"^```(\w*)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
            if kind == "sh":
                printed = " ".join(sh(text, tmp_path).split())
            else:
                for line in text.splitlines():
                    assert " ".join(line.split()) in printed, printed
                    shown += 1
    finally:
        stop_beacon(tmp_path)
    assert shown == 22
    table = sh("referee ladder show --json", tmp_path / "anybody")
    assert '"state":"struck"' in table and (tmp_path / "site" / "bots" / "green.html").is_file()
