"""Tournaments for tests: short bots whose games follow from the seed, and the command line in a process."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from defects import bot
from scripted import PYTHON

from referee.harness.tournament.store import reader
from referee.harness.tournament.store.ledger import Line

DRAWS = """
def choose():
    global seed
    seed = (seed * 6364136223846793005 + 1442695040888963407 + SALT) % 2**64
    return cell(free[(seed >> 33) % len(free)])
"""
"""Chooses a free cell by the seed of the match."""


def drawing_bot(folder: Path, name: str, salt: int, more: str = "") -> str:
    """Writes a bot that starts within 10 ms and plays the same in the same match. Returns its command-line name."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.py"
    file.write_text(bot(f"SALT = {salt}\n{DRAWS}\n{more}"))
    return f"{name}=cmd:{shlex.join([*PYTHON, str(file)])}"


def environment(folder: Path) -> dict[str, str]:
    """Returns an environment with its own cache and locks."""
    (folder / "run").mkdir(parents=True, exist_ok=True)
    return os.environ | {"XDG_CACHE_HOME": str(folder / "cache"), "XDG_RUNTIME_DIR": str(folder / "run")}


PLAYER = [sys.executable, "-m", "referee.harness.cli.main"]
OTHERS = ("add", "merge", "page", "prepare", "replay", "show")


def command(*arguments: str | Path) -> list[str]:
    """Returns the command line of `referee tournament run`, or of another command of `referee tournament`."""
    verb = [] if arguments[0] in OTHERS else ["run"]
    return [*PLAYER, "tournament", *verb, *map(str, arguments)]


def tournament(folder: Path, *arguments: str | Path, code: int = 0) -> str:
    """Runs `referee tournament`. Returns what it printed."""
    done = subprocess.run(
        command(*arguments), cwd=folder, env=environment(folder), capture_output=True, text=True, timeout=240
    )
    assert done.returncode == code and "Traceback" not in done.stderr, done.stdout + done.stderr
    return done.stdout if code == 0 else done.stdout + done.stderr


def table(folder: Path) -> Any:
    """Returns the standings."""
    return json.loads(tournament(folder.parent, "show", folder, "--output", "json"))


def games(folder: Path) -> dict[str, Line]:
    """Returns every game that counts, by key."""
    return {line.k: line for _, line in reader.counted_lines(folder)}


def course(line: Line) -> tuple[object, ...]:
    """Returns the course of a game, without time and place."""
    return line.b, line.s, line.r, line.p, line.why, line.t, line.a, line.f


@contextmanager
def burners(core: int, count: int) -> Iterator[None]:
    """Runs programs that use all of a core, each in its own session, because the kernel may share time by sessions."""
    code = f"import os\nos.sched_setaffinity(0, [{core}])\nwhile True: pass"
    running = [subprocess.Popen([sys.executable, "-c", code], start_new_session=True) for _ in range(count)]
    try:
        yield
    finally:
        for each in running:
            each.kill()
            each.wait()
