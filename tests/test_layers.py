"""Who may import whom, and the style of the code: what the tools find is a failed test."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = {".c", ".css", ".py", ".ts", ".tsx"}
IMPORT_LINTER = "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"


def run(*command: str) -> None:
    """Fails with the tool's own words."""
    done = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.fail(f"{' '.join(command)}\n{done.stdout}{done.stderr}", pytrace=False)


def test_imports_go_in_the_directions_of_pyproject_toml() -> None:
    run("-c", IMPORT_LINTER)


def test_nothing_but_the_command_line_prints() -> None:
    """Standard output belongs to the match: of a bot's frames or of `--json`."""
    run("-m", "ruff", "check", "--select", "T20", "protocol", "games", "harness")


def test_ruff_finds_nothing() -> None:
    run("-m", "ruff", "check", ".")


def test_ruff_would_format_nothing_anew() -> None:
    run("-m", "ruff", "format", "--check", ".")


def test_types_are_strict() -> None:
    run("-m", "mypy")


def test_no_file_is_longer_than_600_lines() -> None:
    folders = ("benchmarks", "games", "harness", "protocol", "referee", "tools", "viewer/src")
    sources = [file for folder in folders for file in (ROOT / folder).rglob("*.[pct]*") if file.suffix in SOURCES]
    assert len(sources) > 200
    assert [str(file.relative_to(ROOT)) for file in sources if len(file.read_text("utf-8").splitlines()) > 600] == []


@pytest.mark.parametrize("name", ["games", "harness", "protocol", "tools", "benchmarks"])
def test_one_import_name_is_ours_and_no_bare_one(name: str, tmp_path: Path) -> None:
    """Somebody else's `games` may stand on the path: ours is `referee.games`, here as in an installation."""
    for imported, found in ((f"referee.{name}", True), (name, False)):
        done = subprocess.run(
            [sys.executable, "-c", f"import {imported}"], cwd=tmp_path, capture_output=True, text=True
        )
        assert (done.returncode == 0) is found, done.stderr
        assert found or f"No module named {name!r}" in done.stderr
