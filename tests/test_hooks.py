"""Add-ons: each hook, the page about them, what they import, and a stranger's that is broken."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from inspect import signature
from pathlib import Path

import pytest

from referee.harness import addons
from referee.harness.addons import Hooks, hooks, own

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "reference" / "add-ons.md").read_text("utf-8")
ROWS = dict(re.findall(r"^\| `(\w+)` \|([^|]*)\|[^|]+\|[^|]+\|$", PAGE, re.MULTILINE))
NAMES = sorted(name for name in vars(Hooks) if not name.startswith("_"))
FOLDERS = sorted(path.parent.name for path in (ROOT / "addons").glob("*/__init__.py"))


@pytest.mark.parametrize("name", NAMES)
def test_the_page_has_every_hook_with_its_arguments(name: str) -> None:
    arguments = [each for each in signature(getattr(Hooks, name)).parameters if each != "self"]
    assert re.findall(r"`(\w+)`", ROWS[name]) == arguments


def test_the_page_has_no_other_hook() -> None:
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", PAGE, re.MULTILINE)
    assert {name.strip("`") for row in rows for name in row.split(", ")} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_hook_is_used_by_an_add_on_that_comes_along(name: str) -> None:
    """And so is tried by that add-on's tests, through the public way only."""
    assert any(hasattr(import_module(module), name) for module in own())


def imports(folder: str) -> set[str]:
    """Returns the add-ons that an add-on imports while it runs."""
    found = set()
    for file in (ROOT / "addons" / folder).rglob("*.py"):
        tree = ast.parse(file.read_text("utf-8"))
        for block in ast.walk(tree):
            if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
                block.body = []
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("referee.addons."):
                found.add(str(node.module).split(".")[2])
    return found - {folder}


@pytest.mark.parametrize("folder", FOLDERS)
def test_an_add_on_imports_the_add_ons_that_it_needs(folder: str) -> None:
    module = import_module(f"referee.addons.{folder}.addon")
    assert imports(folder) <= set(module.NEEDS) < set(FOLDERS)


@pytest.mark.parametrize("folder", FOLDERS)
def test_an_add_on_says_in_ten_lines_what_it_is(folder: str) -> None:
    text = (ROOT / "addons" / folder / "README.md").read_text("utf-8")
    assert 5 <= len(text.splitlines()) <= 10
    assert "Where to begin" in text and "contract with the harness" in text


def test_the_harness_has_at_most_fourteen_entries() -> None:
    listed = subprocess.run(["git", "ls-files", "harness"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    entries = {name.split("/")[1] for name in listed.splitlines()}  # a folder that git has left may hold caches
    assert len(entries) <= 14, sorted(entries)


def test_the_version_loads_few_modules() -> None:
    code = (
        "import sys\nfrom referee.harness.cli.main import main\nmain(['--version'])\n"
        "print(sum(name.startswith('referee') for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout.split()[-1]) <= 60


BROKEN = {
    "does not import": ("raise RuntimeError('no luck')", "RuntimeError: no luck"),
    "fails at a hook": ("def kinds():\n    raise ValueError('no kind')", "ValueError: no kind"),
    "names no hook": ("from referee.harness.addons import hook\n@hook\ndef nonsense(): ...", "nonsense"),
}


@pytest.fixture
def stranger(tmp_path: Path) -> Iterator[Path]:
    information = tmp_path / "stranger-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[referee]\nstrange = strange\n")
    yield tmp_path


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_add_on_is_named_in_a_line_and_left_out(stranger: Path, name: str) -> None:
    source, why = BROKEN[name]
    (stranger / "strange.py").write_text(source)
    command = [sys.executable, "-m", "referee.harness.cli.main", "--game", "tictactoe", "@random", "@random"]
    path = os.pathsep.join(filter(None, [str(stranger), os.environ.get("PYTHONPATH")]))
    environment = os.environ | {"PYTHONPATH": path}
    done = subprocess.run([*command, "--replay", "none"], capture_output=True, text=True, timeout=60, env=environment)
    assert done.returncode == 0, done.stderr
    (line,) = [each for each in done.stderr.splitlines() if "strange" in each]
    assert line.startswith("referee: the add-on strange is left out: ") and why in line


def test_hooks_are_found_once() -> None:
    assert hooks() is hooks()
    assert addons.own() == [f"referee.addons.{folder}.addon" for folder in FOLDERS]
