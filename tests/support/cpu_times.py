"""A pytest plugin that says where a run's CPU time goes, which a busy machine changes less than wall time.

The time of a test is that of its worker and of processes that ended and were waited for, fixtures included.
"""

import resource
from collections import Counter
from collections.abc import Generator

import pytest

PROPERTY = "cpu seconds"
"""The property of a report: CPU time since the test before, in seconds."""

MANY = 1000
"""How many reports make the run of a suite, which always says where its time goes."""

_counted = 0.0


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option."""
    parser.addoption("--cpu-times", type=int, metavar="N", help="print CPU seconds: folders, then N modules and tests")


def pytest_collection_finish() -> None:
    """Leaves out the collection, which each worker repeats."""
    global _counted
    _counted = used()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Notes in the report what a test used."""
    global _counted
    report = yield
    if call.when == "teardown":
        now = used()
        report.user_properties.append((PROPERTY, now - _counted))
        _counted = now
    return report


def used() -> float:
    """Returns the CPU time of this process and of its children that ended, in seconds."""
    parts = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(part.ru_utime + part.ru_stime for part in parts)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints how busy the workers were, and the tables."""
    reports = [each for several in terminalreporter.stats.values() for each in several if hasattr(each, "duration")]
    asked = terminalreporter.config.getoption("cpu_times")
    count = asked or 10
    if not (reports and asked) and len(reports) < MANY:
        return
    folders: Counter[str] = Counter()
    modules: Counter[str] = Counter()
    tests: Counter[str] = Counter()
    for report in reports:
        for key, seconds in getattr(report, "user_properties", ()):
            if key == PROPERTY:
                module = report.nodeid.split("::")[0]
                folders[module.rpartition("/")[0]] += seconds
                modules[module] += seconds
                tests[report.nodeid] += seconds
    for table, shown in ((folders, None), (modules, count), (tests, count)) if asked else ((tests, count),):
        terminalreporter.write_line(f"CPU seconds of {sum(table.values()):.1f}:")
        for name, seconds in table.most_common(shown):
            terminalreporter.write_line(f"{seconds:8.1f}  {name}")
    workers = len({getattr(report, "worker_id", "") for report in reports})
    spent_s = sum(report.duration for report in reports)
    passed_s = max(report.stop for report in reports) - min(report.start for report in reports)
    terminalreporter.write_line(
        f"{workers} workers were busy for {spent_s / workers / passed_s:.0%} of {passed_s:.0f} s"
    )
