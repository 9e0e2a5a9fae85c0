"""Tournaments for tests: short bots whose games follow from the seed, and the command line."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager, suppress
from pathlib import Path
from typing import IO, Any
from unittest import mock

from defects import bot
from scripted import PYTHON

from referee.addons.tournament.store import reader
from referee.addons.tournament.store.ledger import Line
from referee.harness.cli.main import main
from referee.harness.isolation import launcher_build

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
    """Returns an environment with its own locks and data, and a cache that holds the sandbox launcher alone."""
    (folder / "run").mkdir(parents=True, exist_ok=True)
    (folder / "cache" / "referee").mkdir(parents=True, exist_ok=True)
    _copy_launcher(folder / "cache" / "referee")
    data = os.environ.get("XDG_DATA_HOME", str(folder / "data"))
    own = {"XDG_CACHE_HOME": str(folder / "cache"), "XDG_RUNTIME_DIR": str(folder / "run"), "XDG_DATA_HOME": data}
    return os.environ | own


def _copy_launcher(cache: Path) -> None:
    """Copies the sandbox launcher of this run to a cache, if there is one and the disk has room."""
    with suppress(OSError):
        program = launcher_build.compiled()
        if not (cache / program.name).exists():
            try:
                shutil.copy2(program, cache)
            except OSError:
                (cache / program.name).unlink(missing_ok=True)


PLAYER = [sys.executable, "-m", "referee.harness.cli.main"]
OTHERS = ("add", "merge", "page", "prepare", "replay", "show", "similar", "verify", "withdraw")


def command(*arguments: str | Path) -> list[str]:
    """Returns the command line of `referee tournament run`, or of another command of `referee tournament`."""
    verb = [] if arguments[0] in OTHERS else ["run"]
    return [*PLAYER, "tournament", *verb, *map(str, arguments)]


def referee(folder: Path, *arguments: str | Path, code: int = 0, errors: bool | None = None) -> str:
    """Runs a command line in this process. Returns what it and its workers wrote to standard output.

    Standard error follows if the command failed, or if `errors` is true.
    """
    with tempfile.TemporaryFile("w+b") as out, tempfile.TemporaryFile("w+b") as err:
        with _output(out, err), chdir(folder), mock.patch.dict(os.environ, environment(folder)):
            exited = main([*map(str, arguments)])
        printed, complained = (os.pread(file.fileno(), MOST_OUTPUT, 0).decode() for file in (out, err))
    assert exited == code and "Traceback" not in complained, printed + complained
    return printed + complained if (code != 0 if errors is None else errors) else printed


def tournament(folder: Path, *arguments: str | Path, code: int = 0, errors: bool | None = None) -> str:
    """Runs `referee tournament` like `referee`, with one worker unless the arguments say more."""
    words = command(*arguments)[len(PLAYER) :]
    alone = words[1] == "run" and not WORKERS & {word.split("=")[0] for word in words}
    return referee(folder, *words, *(["--jobs", "1"] if alone else []), code=code, errors=errors)


WORKERS = {"--jobs", "--cluster", "--cores-per-worker", "--help"}
"""Options that decide about workers."""
MOST_OUTPUT = 1 << 28


@contextmanager
def _output(*files: IO[bytes]) -> Iterator[None]:
    """Sends standard output and standard error to files, also those of the processes that are started meanwhile."""
    kept, streams = [os.dup(number) for number in (1, 2)], (sys.stdout, sys.stderr)
    try:
        for number, file in enumerate(files, 1):
            os.dup2(file.fileno(), number)
        sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))
        try:
            yield
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
    finally:
        sys.stdout, sys.stderr = streams
        for number, stream in enumerate(kept, 1):
            os.dup2(stream, number)
            os.close(stream)


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
