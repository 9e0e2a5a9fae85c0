"""Rules for all tests."""

import fcntl
import gc
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import consoles  # noqa: F401  # before other modules of ours are loaded
import psutil
import pytest
from children import children
from hypothesis import settings
from needs import named_in, skip_without
from scripted import Arena

from referee.harness.isolation import c_programs
from referee.harness.isolation.probe import probe, probed
from referee.harness.languages import toolchains

# Without bytecode on disk, each of the thousands of interpreters that tests start would compile the referee again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Users have no such variable: what a program has printed may wait in a buffer until it ends.
os.environ.pop("PYTHONUNBUFFERED", None)

# Tests use the same compilers as the referee: the first ones on PATH that work. `python3` is the machine's, also where
# somebody has activated the virtual environment, so that a program for it has the standard library alone.
own = str(Path(sys.executable).parent)
os.environ["PATH"] = os.pathsep.join(each for each in os.environ["PATH"].split(os.pathsep) if each != own)
os.environ["PATH"] = toolchains.search_path(toolchains.KNOWN)

pytest_plugins = ["browsers", "cpu_times", "leaks", "screens", "slow_tests"]

# An example has no deadline: how long it takes depends on what else the machine does.
settings.register_profile("usual", settings(), deadline=None)
settings.register_profile("quick", max_examples=5, deadline=None)
settings.load_profile("usual")

SITE = Path(__file__).parent / "support" / "site"
"""The site-packages folder in which the tests' own game is installed."""
MODULE_MARKS = re.compile(r"^pytestmark = (\[$.*?^\]|.*?$)", re.MULTILINE | re.DOTALL)
MAX_RERUNS = 3
"""How many reruns by pytest-rerunfailures a run may need."""

for number in (signal.SIGHUP, signal.SIGINT):
    if signal.getsignal(number) is signal.SIG_IGN:
        # Under nohup, child processes would inherit the ignored signal. They do not inherit a handler.
        signal.signal(number, lambda *_: None)


def _fail_skipped(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Fails a skipped test if `CI` is set, unless it names an optional toolchain that this machine indeed lacks."""
    if report.skipped and os.environ.get("CI") and not hasattr(report, "wasxfail") and not _lacking(report):
        report.outcome = "failed"
        report.longrepr = f"skipped, which CI does not allow: {report.longrepr}"


def _reason(skipped: BaseException) -> str:
    """Returns why a test was skipped. pytest-trio drops the reason that an async test gives, but keeps its group."""
    group = skipped.__context__
    leaf = group if isinstance(group, BaseExceptionGroup) and not str(skipped) else skipped
    while isinstance(leaf, BaseExceptionGroup):
        leaf = leaf.exceptions[0]
    return f"Skipped: {leaf}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fails a test that is skipped in CI."""
    report = yield
    if report.skipped and call.excinfo is not None and isinstance(report.longrepr, tuple):
        report.longrepr = (*report.longrepr[:2], _reason(call.excinfo.value))
    _fail_skipped(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Fails a module that is skipped in CI."""
    report = yield
    _fail_skipped(report)
    return report


def _lacking(report: pytest.TestReport | pytest.CollectReport) -> list[str]:
    """Returns the toolchains and programs without which a test was skipped."""
    return named_in(report.longrepr[2]) if isinstance(report.longrepr, tuple | list) else []


def _reruns(config: pytest.Config) -> list[tuple[str, str]]:
    """Returns the name of the test and its failure for each rerun so far; empty in an xdist worker."""
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    reports = terminal.stats.get("rerun", ()) if terminal else ()
    return [(report.nodeid, _failure(report)) for report in reports]


def _failure(report: pytest.TestReport) -> str:
    """Returns the first line of what failed."""
    crash = getattr(report.longrepr, "reprcrash", None)
    return "" if crash is None else f"{crash.path}:{crash.lineno}: {crash.message.partition(chr(10))[0]}"


def _problems(config: pytest.Config) -> list[str]:
    """Returns what is wrong with a run whose tests passed; empty in an xdist worker, which does not know."""
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal is None:
        return []
    reports = [report for several in terminal.stats.values() for report in several]
    plugins = [config.pluginmanager.get_plugin(name) for name in ("slow_tests", "leaks")]
    problems = [line for plugin in plugins for line in plugin.problems(config, reports)]
    if (reruns := len(_reruns(config))) > MAX_RERUNS:
        problems.append(f"{reruns} reruns, at most {MAX_RERUNS} are allowed: make these tests reliable")
    return problems


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Counts the tests that were skipped by what is missing, names those that ran again, and says what is wrong."""
    lacking = Counter(name for report in terminalreporter.stats.get("skipped", ()) for name in _lacking(report))
    for name, count in lacking.items():
        terminalreporter.write_line(f"MISSING {name}: {count} skipped")
    for name, failure in _reruns(terminalreporter.config):
        terminalreporter.write_line(f"RERUN {name}: {failure}")
    for line in terminalreporter.config.stash.get(problems_found, ()):
        terminalreporter.write_line(f"ERROR: {line}", red=True)


problems_found = pytest.StashKey[list[str]]()


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fails a run with too many reruns, a wrong list of slow tests, or leaks."""
    session.config.stash[problems_found] = _problems(session.config)
    if session.config.stash[problems_found] and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Lets a test marked `alone` wait until no other xdist worker runs a test."""
    if hasattr(item.config, "workerinput"):  # not in a pytest that a test starts
        lock = Path(os.environ["TMPDIR"], "tests")
        with _room(lock, item.get_closest_marker("alone") is not None):
            return (yield)
    return (yield)


@contextmanager
def _room(lock: Path, alone: bool) -> Iterator[None]:
    """Holds a lock that many tests share or one has; while one waits to be alone, no other test enters."""
    with lock.with_suffix(".room").open("w") as room, lock.with_suffix(".door").open("w") as door:
        fcntl.flock(door, fcntl.LOCK_EX)
        fcntl.flock(room, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(door, fcntl.LOCK_UN)
        yield


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves a module out whose every test `make quick` leaves out: to import these takes seconds."""
    if "not slow" not in config.getoption("markexpr") or not collection_path.name.startswith("test_"):
        return None
    marks = MODULE_MARKS.search(collection_path.read_text("utf-8"))
    return True if marks and re.search(r"pytest\.mark\.(slow|kits)\b", marks[0]) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts tests that run alone last, so that no worker waits before that."""
    items.sort(key=lambda item: item.get_closest_marker("alone") is not None)


def pytest_collection_finish() -> None:
    """Keeps the garbage collector from searching thousands of collected tests again and again."""
    gc.freeze()


def pytest_unconfigure() -> None:
    """Collects garbage once, then keeps Python from searching thousands of results again at exit."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def viewer() -> None:
    """Builds the viewer, or skips the test."""
    skip_without("viewer")
    root = Path(__file__).parents[1]
    with (root / "viewer" / "package.json").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several pytest processes would install over each other
        subprocess.run(["make", "--silent", "viewer"], cwd=root, check=True, timeout=250)


@pytest.fixture
def arena(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Arena]:
    """A folder for matches. The scratch folders of their bots are inside, which identifies their processes."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.syspath_prepend(str(SITE))
    others = children()
    yield Arena(tmp_path)
    for pid in children() - others:
        with suppress(psutil.Error):
            child = psutil.Process(pid)
            child.kill()  # processes of a failed test must not fail the next test
            child.wait(5)


@pytest.fixture
def layers_without(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Isolation as on a machine without some layers; the parameter names them, separated by commas."""
    monkeypatch.setenv(c_programs.WITHOUT, request.param)
    probed.cache_clear()
    assert not ("namespaces" in request.param and probe().namespaces in ("own", "user"))
    assert not ("bwrap" in request.param and probe().namespaces == "bwrap")
    assert not ("landlock" in request.param and probe().landlock)
    yield
    probed.cache_clear()
