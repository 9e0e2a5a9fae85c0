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

from referee.harness.programs import toolchains

# Tests, too, call the first compiler on PATH that works.
os.environ["PATH"] = toolchains.search_path(toolchains.KNOWN)

settings.register_profile("quick", max_examples=10)

for number in (signal.SIGHUP, signal.SIGINT):
    if signal.getsignal(number) is signal.SIG_IGN:
        # As under nohup. What tests start would ignore it as well; a handler is not passed on.
        signal.signal(number, lambda *_: None)

LONG = {
    *("fronts", "web", "test_adding_a_game", "test_api", "test_installation", "test_site"),
    *(
        "test_build",
        "test_check",
        "test_error_paths",
        "test_isolation",
        "test_judge",
        "test_misbehaving",
        "test_new",
        "test_rebuild",
        "test_sandbox",
    ),
    *("test_chaos", "test_floor", "test_noise", "test_opponents", "test_originals", "test_streams"),
    "test_captured_terminals",
    *(
        "test_generated",
        "test_python_kit",
        "test_aiarena21_opponents",
        "test_aibg5_opponents",
        "test_cardgame_opponents",
    ),
    *("test_tournament_cluster", "test_tournament_guide", "test_tournament_kills", "test_tournament_lanes"),
    *("test_tournament_noise", "test_tournament_page", "test_tournament_run", "test_gate_cli", "test_rating"),
}
"""Modules, and folders of them, that play whole tournaments, install, attack, or need a browser: `slow` as a whole."""
ALONE = {"test_endurance", "test_floor", "test_meter", "test_noise", "test_tournament_noise"}
"""Modules that hold figures to bounds, or keep all cores busy: `alone` as a whole."""


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
    """Marks what is slow as a whole. Those that run alone come last: until then nobody waits."""
    for item in items:
        if LONG & {item.path.stem, item.path.parent.name}:
            item.add_marker(pytest.mark.slow)
        if item.path.stem in ALONE:
            item.add_marker(pytest.mark.alone)
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
