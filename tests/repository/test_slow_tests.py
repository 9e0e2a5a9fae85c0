"""The list of slow tests, and the rule that holds it true."""

import re
from pathlib import Path

import slow_tests
from slow_tests import KINDS, Spent, listed, wrong

ROOT = Path(__file__).parents[2]


def functions(module: str) -> set[str]:
    return {*re.findall(r"^ *(?:async )?def (test_\w+)\(", (ROOT / module).read_text("utf-8"), re.MULTILINE)}


def test_every_listed_test_exists_and_has_a_known_kind() -> None:
    kinds = listed(slow_tests.LIST.read_text("utf-8"))
    assert set(kinds.values()) <= {*KINDS}
    tests = {tuple(test.split("::")) for test in kinds}
    known = {module: functions(module) for module, _ in tests if (ROOT / module).exists()}
    assert [test for test in sorted(tests) if test[1] not in known.get(test[0], ())] == []


def test_a_slow_test_that_is_not_listed_and_a_quick_one_that_is_are_named() -> None:
    kinds = listed('[process]\n"tests/a.py" = ["slow", "usual", "quick"]\n[build]\n"tests/b.py" = ["cached"]\n')
    times = {"slow": Spent(9, 5), "usual": Spent(3, 2), "quick": Spent(0.15, 0.1)}
    times |= {"unlisted": Spent(9, 4.3), "waits": Spent(9, 3.9), "after another": Spent(0.1, 130)}
    spent = {f"tests/a.py::{test}": spent for test, spent in times.items()}
    assert wrong(kinds, {**spent, "tests/b.py::cached": Spent(0.1, 0.1)}) == [
        "tests/a.py::quick took only 0.1 s: remove it from tests/slow.toml",
        "tests/a.py::unlisted used 4.3 s of CPU time: make it quicker, or list it in tests/slow.toml",
    ]
