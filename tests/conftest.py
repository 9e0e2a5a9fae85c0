"""Rules for all tests."""

import fcntl
import gc
import os
import signal
import tempfile
import warnings
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from hypothesis import settings
from scripted import Arena

from referee.harness.isolation import launcher_build, plan
from referee.harness.programs import toolchains

# Tests, too, call the first compiler on PATH that works.
os.environ["PATH"] = toolchains.search_path(toolchains.KNOWN)

settings.register_profile("quick", max_examples=10)

SITE = Path(__file__).parent / "support" / "site"
"""Where a game of the tests is installed, so that its entry point is found."""

for number in (signal.SIGHUP, signal.SIGINT):
    if signal.getsignal(number) is signal.SIG_IGN:
        # As under nohup. What tests start would ignore it as well; a handler is not passed on.
        signal.signal(number, lambda *_: None)


def _strict(report: pytest.TestReport | pytest.CollectReport) -> None:
    """With `CI` set nothing may be skipped: a missing toolchain there is a fault of the machine's set-up."""
    if report.skipped and os.environ.get("CI") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, which CI does not allow: {report.longrepr}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """For a test."""
    report = yield
    _strict(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for whole modules."""
    report = yield
    _strict(report)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """A test marked `alone` has the machine to itself, also where workers run tests side by side."""
    if worker := getattr(item.config, "workerinput", None):  # none in a run that a test starts
        run = worker["testrunuid"]
        with _room(Path(tempfile.gettempdir()) / f"referee-tests-{run}", item.get_closest_marker("alone") is not None):
            return (yield)
    return (yield)


@contextmanager
def _room(lock: Path, alone: bool) -> Iterator[None]:
    """A lock that many share or one has; whoever waits to be alone keeps further ones at the door."""
    with lock.with_suffix(".room").open("w") as room, lock.with_suffix(".door").open("w") as door:
        fcntl.flock(door, fcntl.LOCK_EX)
        fcntl.flock(room, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(door, fcntl.LOCK_UN)
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts tests that run alone last: until then no worker waits."""
    items.sort(key=lambda item: item.get_closest_marker("alone") is not None)


def pytest_collection_finish() -> None:
    """No search for garbage goes through what was loaded for seven thousand tests."""
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """Nor the search with which pytest ends, nor Python's own at exit, through seven thousand results: one here is
    enough for tests that left something to a finalizer."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _nothing_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Tells in the summary which test left a process behind, zombies included."""
    us = psutil.Process()
    before = set(us.children())
    yield
    for child in set(us.children()) - before:
        warnings.warn(f"{request.node.nodeid} left {child}", stacklevel=1)


@pytest.fixture
def arena(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Arena]:
    """A place for matches; the scratch folders of their bots lie in it, which marks their processes."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.syspath_prepend(str(SITE))
    others = set(psutil.Process().children())
    yield Arena(tmp_path)
    left = set(psutil.Process().children()) - others
    for child in left:
        child.kill()  # what a failed test left must not fail the next
    psutil.wait_procs(left, timeout=5)


@pytest.fixture
def layers_without(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Isolation as on a machine that lacks some layers; the parameter names them, with commas."""
    monkeypatch.setenv(launcher_build.WITHOUT, request.param)
    plan.found.cache_clear()
    assert not ("namespaces" in request.param and plan.found().namespaces)
    assert not ("landlock" in request.param and plan.found().landlock)
    yield
    plan.found.cache_clear()
