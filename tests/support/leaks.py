"""A pytest plugin that fails a test which leaves a process behind, and names what leaves files open, or folders."""

import os
import re
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from glob import glob
from pathlib import Path

import psutil
import pytest
from children import children

PATIENCE_S = 5.0
"""How long what a test has ended may take to go."""
OPEN = "left open"
"""The property of a report: the files that a test left open."""
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
    """Fails a test that left a process behind, and notes the files that it left open."""
    processes, files = children(), _open_files()
    yield
    until = time.monotonic() + PATIENCE_S
    while left := [command for pid in children() - processes if (command := _command(pid))]:
        if time.monotonic() > until:
            pytest.fail(f"the test has left behind: {', '.join(left)}")
        time.sleep(0.02)
    if files_left := [*_open_files() - files]:
        request.node.user_properties.append((OPEN, ", ".join(files_left)))


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


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Names the tests that left files open, and the folders that are left, with the tests during which they changed."""
    stats = terminalreporter.stats.values()
    reports = [each for several in stats for each in several if isinstance(each, pytest.TestReport)]
    for report in reports:
        for files in [value for key, value in report.user_properties if key == OPEN and report.when == "teardown"]:
            terminalreporter.write_line(f"LEFT OPEN by {report.nodeid}: {files}")
    for path in _left(terminalreporter.config.stash[place]):
        with suppress(OSError):
            changed = os.stat(path).st_ctime
            tests = sorted({each.nodeid for each in reports if each.start - 0.1 <= changed <= each.stop})
            terminalreporter.write_line(f"LEFT {path}, changed during {', '.join(tests)}")
