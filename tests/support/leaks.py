"""A pytest plugin that fails a test which leaves a process or an open file behind, and a run that leaves folders."""

import gc
import os
import re
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from glob import glob
from pathlib import Path

import psutil
import pytest
from children import children
from cpu_times import MANY

PATIENCE_S = 5.0
"""How long what a test has ended may take to go."""
KEPT = re.compile(r"/builds/\w+/used$|/pym-\d+-\w+$")
"""Files that a process keeps open until it ends: the marks of builds that it uses, and multiprocessing's memory."""


def _open_files() -> Counter[str]:
    """Returns the files, pipes and sockets that this process has open."""
    found: Counter[str] = Counter()
    for number in os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else ():
        with suppress(FileNotFoundError):  # the descriptor of this listing
            name = os.readlink(f"/proc/self/fd/{number}").removesuffix(" (deleted)")
            found[name] += not KEPT.search(name)
    return found


@pytest.fixture(autouse=True)
def _nothing_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fails a test that left a process behind, or an open file, pipe or socket."""
    processes, files = children(), _open_files()
    yield
    until = time.monotonic() + PATIENCE_S
    while left := [command for pid in children() - processes if (command := _command(pid))]:
        if time.monotonic() > until:
            pytest.fail(f"the test has left behind: {', '.join(left)}")
        time.sleep(0.02)
    if _open_files() - files and not _has_lasting_fixtures(request):
        request.node.funcargs.clear()
        while left := [*_open_files() - files]:
            if time.monotonic() > until:
                pytest.fail(f"the test has left open: {', '.join(left)}")
            time.sleep(0.02)
            gc.collect()  # what only garbage holds open will be closed, and that of threads when they have ended


def _has_lasting_fixtures(request: pytest.FixtureRequest) -> bool:
    """Whether the test uses something that outlives it, such as a server of its module, which may hold files open."""
    known = [each for several in request.node._fixtureinfo.name2fixturedefs.values() for each in several]
    own = [each for each in known if not each.func.__module__.startswith(("_pytest.", "pytest", "anyio", "xdist"))]
    return any(each.scope != "function" for each in own)


def _command(pid: int) -> str:
    """Returns the command line of a process; empty if it has ended: the kernel may have given us others' children."""
    with suppress(psutil.Error):
        return " ".join(psutil.Process(pid).cmdline())[:200]
    return ""


place = pytest.StashKey[str]()


def pytest_configure(config: pytest.Config) -> None:
    """Gives a run and all its processes a folder for temporary files. pytest's own folders stay where they were."""
    if not hasattr(config, "workerinput"):
        usual = tempfile.gettempdir()
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", usual)
        config.stash[place] = tempfile.mkdtemp(prefix="t-")  # short, since names of sockets are
        os.chmod(config.stash[place], 0o1777)
        os.environ["TMPDIR"] = tempfile.tempdir = config.stash[place]


def pytest_unconfigure(config: pytest.Config) -> None:
    """Removes that folder."""
    if folder := config.stash.get(place, ""):
        shutil.rmtree(folder, ignore_errors=True)


def _left(folder: str) -> list[str]:
    """Returns the referee's temporary folders, and control groups whose referee has ended."""
    groups = (Path(path) for path in glob("/sys/fs/cgroup/**/referee-*", recursive=True))
    ended = [str(each) for each in groups if not psutil.pid_exists(int(each.name.split("-")[1]))]
    locks = f"{folder}/referee-{os.getuid()}/"  # of cores, which all processes of an account share
    return [*(each for each in glob(f"{folder}/referee-*/") if each != locks), *ended]


def problems(config: pytest.Config, reports: Iterable[object]) -> list[str]:
    """Returns a line for each folder and control group that is left, with the tests during which it changed.

    None unless a whole suite has run: the processes of a game's rules, with their folders, last as long as a run.
    """
    tests = [each for each in reports if isinstance(each, pytest.TestReport)]
    if len(tests) < MANY:
        return []
    lines = []
    for path in _left(config.stash[place]):
        with suppress(OSError):
            changed = os.stat(path).st_ctime
            during = sorted({each.nodeid for each in tests if each.start - 0.1 <= changed <= each.stop})
            lines.append(f"{path} is left, changed during {', '.join(during)}")
    return lines
