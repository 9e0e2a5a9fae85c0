"""The table of slow tests."""

from pathlib import Path

import pytest
from slow_tests import dearest, listed, wrong

ROOT = Path(__file__).resolve().parent.parent
TABLE = {"a.py::test_listed": "process", "a.py::test_built": "build"}


def report(case: str, when: str, took: float, used: float) -> pytest.TestReport:
    properties = [("cpu seconds", used)] if when == "teardown" else []
    return pytest.TestReport(
        case, ("a.py", 1, case), {}, "passed", None, when, duration=took, user_properties=properties
    )  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("cases", "said"),
    [
        ({"a.py::test_listed[x]": (0.1, 0.1), "a.py::test_listed[y]": (9, 9), "a.py::test_built": (0.1, 0.1)}, ()),
        ({"a.py::test_listed": (0.9, 0.1), "a.py::test_built": (9, 9)}, ("it is not slow",)),
        ({"a.py::test_listed": (9, 9)}, ("did not run",)),
        ({"a.py::test_listed": (9, 9), "a.py::test_built": (9, 9), "a.py::test_waits": (60, 3.9)}, ()),
        ({"a.py::test_listed": (9, 9), "a.py::test_built": (9, 9), "a.py::test_new": (4.5, 4.1)}, ("or list it",)),
        ({"a.py::test_listed": (9, 9), "a.py::test_built": (9, 9), "a.py::test_short": (0.1, 180)}, ()),
    ],
)
def test_the_table_lists_what_is_slow_and_nothing_else(
    cases: dict[str, tuple[float, float]], said: tuple[str, ...]
) -> None:
    reports = [
        report(case, when, took / 2, used) for case, (took, used) in cases.items() for when in ("setup", "teardown")
    ]
    found = wrong(*dearest(reports), TABLE)
    assert len(found) == len(said) and all(word in line for word, line in zip(said, found, strict=True))


def test_each_slow_test_has_one_of_five_classes_and_stands_in_its_file() -> None:
    for name, kind in listed().items():
        file, _, function = name.partition("::")
        assert kind in ("process", "build", "browser", "sleep", "statistics")
        assert f"def {function}(" in (ROOT / file).read_text("utf-8"), name
