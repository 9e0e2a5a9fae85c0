"""The size of files and classes, and the names of packages. `make lint` checks style, types and imports."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = {".c", ".css", ".py", ".ts", ".tsx"}


def test_no_file_is_longer_than_500_lines() -> None:
    folders = ("addons", "benchmarks", "games", "harness", "protocol", "referee", "tools", "viewer/src")
    sources = [file for folder in folders for file in (ROOT / folder).rglob("*.[pct]*") if file.suffix in SOURCES]
    assert len(sources) > 200
    assert [str(file.relative_to(ROOT)) for file in sources if len(file.read_text("utf-8").splitlines()) > 500] == []


def test_no_class_has_more_than_25_methods() -> None:
    files = [file for folder in ("addons", "games", "harness", "protocol") for file in (ROOT / folder).rglob("*.py")]
    texts = [text for file in files if (text := file.read_text("utf-8")).count("    def ") > 10]  # to parse takes long
    methods = {
        node.name: sum(isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef) for member in node.body)
        for text in texts
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ClassDef)
    }
    assert methods["Bot"] > 10
    assert [name for name, count in methods.items() if count > 25] == []


def imported(file: str) -> set[str]:
    """Returns the files of ours that a file imports."""
    found = set()
    for node in ast.walk(ast.parse((ROOT / file).read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("referee."):
            path = node.module.removeprefix("referee.").replace(".", "/")
            found |= {f"{path}.py", *(f"{path}/{each.name}.py" for each in node.names)}
    return found


READING = (ROOT / "docs" / "explanation" / "how-it-works.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("number", "first", "last"),
    [
        (0, "harness/cli/match.py", "harness/match/verdict.py"),
        (1, "addons/tournament/cli/tournament.py", "addons/tournament/reports/standings.py"),
    ],
    ids=["a match", "a tournament"],
)
def test_the_reading_order_follows_imports(number: int, first: str, last: str) -> None:
    table = READING.split("| | file | begin with | what happens there |")[number + 1].partition("\n\n")[0]
    rows = re.findall(r"^\| \d+ \| `(\S+)` \| `([\w.]+)` \|", table, re.MULTILINE)
    files = [file for file, _ in rows]
    assert files[0] == first and files[-1] == last and len(files) <= 12
    for place, (file, begin) in enumerate(rows):
        assert place == 0 or any(file in imported(above) for above in files[:place]), f"{file}: imported by none above"
        names = re.findall(r"^ *(?:async )?(?:def|class) (\w+)|^(\w+)\b.* = ", (ROOT / file).read_text("utf-8"), re.M)
        assert set(begin.split(".")) <= {name for pair in names for name in pair}, f"{file} has no {begin}"


def test_packages_are_imported_from_referee_only(tmp_path: Path) -> None:
    """Another package named `games` may be on the path: ours is `referee.games`, here as in an installation."""
    program = """
from importlib import import_module
for name in ("addons", "games", "harness", "protocol", "tools", "benchmarks"):
    import_module(f"referee.{name}")
    try:
        import_module(name)
    except ModuleNotFoundError as error:
        assert error.name == name
    else:
        raise AssertionError(name)
"""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
