"""A pytest plugin that holds `tests/slow.toml` true: the tests that take more than two seconds, by what takes them.

`process`: processes of bots, referees and services; `build`: compilers and packages, quick where a cache has them;
`browser`: a browser; `sleep`: the wait is the subject; `statistics`: computing in the test's own process. Times are
those of a test's call, without its fixtures. A busy machine prolongs the time that passes and hardly the CPU time, so
that CPU time shows which tests are slow, and the time that passes shows which are quick. Machines differ, so that a
test is compared with the median of the listed tests in the same run.
"""

import time
import tomllib
from collections import defaultdict
from collections.abc import Generator, Iterable
from pathlib import Path
from statistics import median
from typing import NamedTuple

import pytest
from cpu_times import MANY, used

LIST = Path(__file__).parents[1] / "slow.toml"
KINDS = ("process", "build", "browser", "sleep", "statistics")
UNLISTED = 4.0
"""How much CPU time a test that is not listed may use, as a multiple of the listed tests' median."""
QUICK_S, QUICK = 0.3, 0.1
"""A listed test is not slow if it took less, in seconds and as a share of the listed tests' median time."""
PROPERTY = "call"
"""The property of a report: the seconds that passed during the call, and its CPU seconds."""


class Spent(NamedTuple):
    """The times of a test, in seconds: the longest of its parameters."""

    passed_s: float
    cpu_s: float


def listed(text: str) -> dict[str, str]:
    """Returns the kind of each listed test, a test function without its parameters."""
    return {
        f"{module}::{test}": kind
        for kind, modules in tomllib.loads(text).items()
        for module, tests in modules.items()
        for test in tests
    }


def wrong(kinds: dict[str, str], spent: dict[str, Spent]) -> list[str]:
    """Returns a line for each test whose place in the list is wrong."""
    lines = []
    slow = [each for test, each in spent.items() if test in kinds]
    usual = Spent(median(each.passed_s for each in slow), median(each.cpu_s for each in slow))
    for test, (passed_s, cpu_s) in sorted(spent.items()):
        kind = kinds.get(test)
        if kind is None and min(passed_s, cpu_s) > UNLISTED * usual.cpu_s:  # an earlier one may have ended in it
            lines.append(f"{test} used {cpu_s:.1f} s of CPU time: make it quicker, or list it in tests/slow.toml")
        elif kind not in (None, "build") and passed_s < min(QUICK_S, QUICK * usual.passed_s):
            lines.append(f"{test} took only {passed_s:.1f} s: remove it from tests/slow.toml")
    return lines


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Notes what a test's call used."""
    began, before = time.perf_counter(), used()
    try:
        return (yield)
    finally:
        item.user_properties.append((PROPERTY, (time.perf_counter() - began, used() - before)))


def problems(_config: pytest.Config, reports: Iterable[object]) -> list[str]:
    """Returns a line for each test whose place in the list is wrong; empty unless a whole suite has run."""
    tests = [each for each in reports if isinstance(each, pytest.TestReport) and each.when == "teardown"]
    if len(tests) < MANY:
        return []
    spent: defaultdict[str, Spent] = defaultdict(lambda: Spent(0.0, 0.0))
    for report in tests:
        test = report.nodeid.partition("[")[0]
        for value in [value for key, value in report.user_properties if key == PROPERTY]:
            spent[test] = Spent(*map(max, spent[test], value))
    return wrong(listed(LIST.read_text("utf-8")), spent)
