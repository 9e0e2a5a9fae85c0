"""A pytest plugin that holds the table of slow tests, `tests/slow.toml`, to what a whole run has taken.

CPU time says that a test is slow, because other work on the machine makes every test take longer. By the clock, a test
can only be seen to be quick.
"""

import os
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from math import inf
from pathlib import Path
from typing import Any

import pytest
from cpu_times import PROPERTY

TABLE = Path(__file__).resolve().parents[1] / "slow.toml"
SLOW_S = 4.0
"""A test that uses more CPU time than this must be listed. Those above two seconds should be: a machine may be slow."""
QUICK_S = 1.0
"""A test whose every case takes less than this may not be listed, unless it builds: a cache may have held its build."""


def listed() -> dict[str, str]:
    """Returns the class of each slow test: `process`, `build`, `browser`, `sleep` or `statistics`."""
    table: dict[str, list[str]] = tomllib.loads(TABLE.read_text("utf-8"))
    return {name: kind for kind, names in table.items() for name in names}


def dearest(reports: Iterable[Any]) -> tuple[dict[str, float], dict[str, float]]:
    """Returns what the dearest case of each test has used and taken: CPU time and time by the clock, in seconds.

    A test that was skipped has used nothing, and may have taken any time.
    """
    used: dict[str, float] = defaultdict(float)
    took: dict[str, float] = defaultdict(float)
    for report in reports:
        took[report.nodeid] += inf if report.skipped else report.duration
        used[report.nodeid] += sum(value for key, value in report.user_properties if key == PROPERTY)
    # A helper of earlier tests, which ended during a short one, has used more than that test took.
    return _by_test({case: min(seconds, took[case]) for case, seconds in used.items()}), _by_test(took)


def _by_test(by_case: Mapping[str, float]) -> dict[str, float]:
    most: dict[str, float] = defaultdict(float)
    for case, seconds in by_case.items():
        name = case.partition("[")[0]
        most[name] = max(most[name], seconds)
    return most


def wrong(used: Mapping[str, float], took: Mapping[str, float], table: Mapping[str, str]) -> list[str]:
    """Returns what is wrong with the table of a run in which the dearest cases have used and taken so much."""
    missing = [name for name, seconds in sorted(used.items()) if seconds > SLOW_S and name not in table]
    quick = [name for name, kind in table.items() if kind != "build" and took.get(name, QUICK_S) < QUICK_S]
    return [
        *(f"{name} used {used[name]:.1f} s of CPU time: make it quicker, or list it" for name in missing),
        *(f"{name} took {took[name]:.1f} s: it is not slow, and is not to be listed" for name in quick),
        *(f"{name} is listed, and did not run" for name in table if name not in took),
    ]


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fails a whole run in CI that does not fit the table."""
    config = session.config
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS and config.getoption("markexpr") == "not nightly"
    if terminal is None or hasattr(config, "workerinput") or not (whole and os.environ.get("CI")):
        return
    reports = (each for several in terminal.stats.values() for each in several if isinstance(each, pytest.TestReport))
    for line in wrong(*dearest(reports), listed()):
        terminal.write_line(f"ERROR: tests/slow.toml: {line}", red=True)
        if session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
