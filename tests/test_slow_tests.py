"""The list of slow tests, and the rule that holds it true."""

import ast
from pathlib import Path

import slow_tests
from slow_tests import KINDS, Spent, listed, wrong

ROOT = Path(__file__).parents[1]


def functions(module: str) -> set[str]:
    tree = ast.parse((ROOT / module).read_text("utf-8"))
    return {each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_listed_test_exists_and_has_a_known_kind() -> None:
    kinds = listed(slow_tests.LIST.read_text("utf-8"))
    assert set(kinds.values()) <= {*KINDS}
    tests = {tuple(test.split("::")) for test in kinds}
    known = {module: functions(module) for module, _ in tests if (ROOT / module).exists()}
    assert [test for test in sorted(tests) if test[1] not in known.get(test[0], ())] == []


def test_a_slow_test_that_is_not_listed_and_a_quick_one_that_is_are_named() -> None:
    kinds = listed('[process]\n"tests/a.py" = ["slow", "quick"]\n[build]\n"tests/b.py" = ["cached"]\n')
    times = {"slow": Spent(9, 5), "quick": Spent(0.4, 0.4), "unlisted": Spent(5, 4.1), "waits": Spent(9, 3.9)}
    times["after another"] = Spent(0.1, 130)
    named = wrong(
        kinds,
        {**{f"tests/a.py::{test}": spent for test, spent in times.items()}, "tests/b.py::cached": Spent(0.1, 0.1)},
    )
    assert named == [
        "tests/a.py::quick took only 0.4 s: remove it from tests/slow.toml",
        "tests/a.py::unlisted used 4.1 s of CPU time: make it quicker, or list it in tests/slow.toml",
    ]
