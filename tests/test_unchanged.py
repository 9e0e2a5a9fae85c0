"""Dear tests run again after a change of what they depend on, and only then."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import unchanged

ROOT = Path(__file__).parents[1]
TEST = """
import pytest
from rules.die import SIDES

@pytest.mark.depends_on("rules.die", "helper", "data", "notes.txt")
@pytest.mark.parametrize("times", [1, 2])
def test_sides(times):
    assert SIDES * times in (6, 12)

def test_other():
    pass
"""
FILES = {
    "pytest.ini": "[pytest]\nmarkers =\n    depends_on\n    nightly\n",
    "helper.py": "",
    "rules/__init__.py": "",
    "rules/die.py": "from rules import sides\nSIDES = sides.SIDES\n",
    "rules/sides.py": "def later():\n    import rules.late\nSIDES = 6\n",
    "rules/late.py": "",
    "rules/other.py": "",
    "data/names": "",
    "data/deep/numbers": "",
    "notes.txt": "",
    ".gitignore": "*.built",
    "tests/test_die.py": TEST,
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a test of two cases that depends on modules, a folder and a file."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    return tmp_path


def run(project: Path, *words: str) -> str:
    """Runs the tests of a project. Returns what pytest prints."""
    command = [sys.executable, "-m", "pytest", "-p", "unchanged", "-p", "xdist", "-p", "no:cacheprovider", *words]
    path = os.pathsep.join([str(project), str(Path(unchanged.__file__).parent)])
    environment = {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment |= {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHON"))}
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True).stdout


INPUTS = ("rules.die", "helper", "data", "notes.txt")
WITHOUT = ("-m", "not nightly")
"""As `make test` runs the tests."""


@pytest.mark.slow
@pytest.mark.depends_on("tests/support/unchanged.py")
def test_a_test_that_passed_is_left_out_until_something_changes(project: Path) -> None:
    assert "3 passed" in run(project, *WITHOUT)
    assert not (project / unchanged.RECORD).exists(), "not asked to record"
    assert "3 passed" in run(project, "--record-passed", "-n", "1")
    assert "1 passed, 2 deselected" in run(project, *WITHOUT)
    (project / "rules/sides.py").write_text("SIDES = 6.0\n")
    assert "2 passed, 1 deselected" in run(project, "--record-passed", "-k", "1 or other"), "not whole"
    assert "3 passed" in run(project, *WITHOUT)
    (project / "rules/sides.py").write_text("SIDES = 12\n")
    assert "1 failed, 2 passed" in run(project, "--record-passed")
    assert "1 failed, 2 passed" in run(project, *WITHOUT)


@pytest.mark.slow
@pytest.mark.depends_on("tests/support/unchanged.py")
def test_a_test_with_a_nightly_case_is_left_out_when_its_other_cases_passed(project: Path) -> None:
    nightly = TEST.replace("[1, 2]", "[1, pytest.param(2, marks=pytest.mark.nightly)]")
    (project / "tests/test_die.py").write_text(nightly)
    assert "2 passed, 1 deselected" in run(project, "--record-passed", *WITHOUT)
    assert list(unchanged.recorded(project)) == ["tests/test_die.py::test_sides"]


def test_a_fingerprint_is_of_the_test_and_all_that_it_depends_on(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(project)

    def found() -> str:
        for each in ("fingerprint", "_graph", "_all_files", "_content", "_source"):
            getattr(unchanged, each).cache_clear()
        importlib.invalidate_caches()
        return unchanged.fingerprint(project, project / "tests" / "test_die.py", INPUTS)

    seen = {found()}
    (project / "rules/other.py").write_text("# not imported")
    (project / "data" / "made.built").write_text("ignored by git")
    assert {found()} == seen
    for name in (
        "data/names",
        "data/deep/numbers",
        "data/new",
        "notes.txt",
        "helper.py",
        "rules/die.py",
        "rules/sides.py",
        "rules/late.py",
        "tests/test_die.py",
    ):
        with (project / name).open("a") as file:
            file.write("# changed\n")
        new = found()
        assert new not in seen, name
        seen.add(new)


@pytest.mark.parametrize("name", unchanged.recorded(ROOT))
def test_a_recorded_test_exists(name: str) -> None:
    file, test = name.split("::")
    assert re.search(rf"^ *(async )?def {test}\(", (ROOT / file).read_text("utf-8"), re.MULTILINE)
