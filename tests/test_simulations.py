"""Simulations of statistics run again after a change of what they simulate, and only then."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
import simulations

ROOT = Path(__file__).parents[1]
TEST = """
import pytest
from rules.die import SIDES

@pytest.mark.simulates("rules.die", "helper")
@pytest.mark.parametrize("times", [1, 2])
def test_sides(times):
    assert SIDES * times in (6, 12)

def test_other():
    pass
"""
FILES = {
    "pytest.ini": "[pytest]\nmarkers =\n    simulates\n    nightly\n",
    "helper.py": "",
    "rules/__init__.py": "",
    "rules/die.py": "from rules import sides\nSIDES = sides.SIDES\n",
    "rules/sides.py": "def later():\n    import rules.late\nSIDES = 6\n",
    "rules/late.py": "",
    "rules/other.py": "",
    "tests/test_die.py": TEST,
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a simulation of two cases."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def run(project: Path, *words: str) -> str:
    """Runs the tests of a project. Returns what pytest prints."""
    command = [sys.executable, "-m", "pytest", "-p", "simulations", "-p", "xdist", "-p", "no:cacheprovider", *words]
    path = os.pathsep.join([str(project), str(Path(simulations.__file__).parent)])
    environment = {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment |= {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHON"))}
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True).stdout


WITHOUT = ("-m", "not nightly")
"""As `make test` runs the tests."""


@pytest.mark.slow
def test_a_simulation_that_passed_is_left_out_until_it_changes(project: Path) -> None:
    assert "3 passed" in run(project, *WITHOUT)
    assert not (project / simulations.RECORD).exists(), "only `make test-all` records"
    assert "3 passed" in run(project, "--record-simulations", "-n", "1")
    assert "1 passed, 2 deselected" in run(project, *WITHOUT)
    (project / "rules/sides.py").write_text("SIDES = 6.0\n")
    assert "2 passed, 1 deselected" in run(project, "--record-simulations", "-k", "1 or other"), "not whole"
    assert "3 passed" in run(project, *WITHOUT)
    (project / "rules/sides.py").write_text("SIDES = 12\n")
    assert "1 failed, 2 passed" in run(project, "--record-simulations")
    assert "1 failed, 2 passed" in run(project, *WITHOUT)


def test_a_fingerprint_is_of_the_test_and_all_that_it_simulates(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(project)

    def found() -> str:
        simulations.fingerprint.cache_clear()
        simulations._graph.cache_clear()
        importlib.invalidate_caches()
        return simulations.fingerprint(project / "tests" / "test_die.py", ("rules.die", "helper"))

    seen = {found()}
    (project / "rules/other.py").write_text("# not imported")
    assert {found()} == seen
    for name in ("helper.py", "rules/die.py", "rules/sides.py", "rules/late.py", "tests/test_die.py"):
        with (project / name).open("a") as file:
            file.write("# changed\n")
        new = found()
        assert new not in seen, name
        seen.add(new)


@pytest.mark.parametrize("name", simulations.recorded(ROOT))
def test_a_recorded_simulation_exists(name: str) -> None:
    file, test = name.split("::")
    assert f"\ndef {test}(" in (ROOT / file).read_text("utf-8")
