"""A pytest plugin that leaves out dear tests that passed, until something changes on which they depend.

A test marked `depends_on` names modules, files and folders. Its fingerprint is of its own source, of these modules with
all that they import, and of these files. `--record-passed` records the fingerprint of a test that passed. `make test`
leaves out a test with the recorded fingerprint, which would pass again. A case that is marked `nightly` itself does not
count: `make test` leaves it out in any case, and `make test-all` does not.
"""

import functools
import hashlib
import importlib.util
import json
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

import grimp
import pytest

RECORD = Path("tests", "unchanged.json")
"""The fingerprint of each such test when it last passed, in the root folder."""
CORE = (
    *("games", "protocol", "harness/isolation", "harness/match", "harness/process", "harness/programs"),
    *("harness/replay", "harness/seats", "harness/common", "harness/addons.py", "tests/support/scripted.py"),
)
"""The code that plays a match: inputs of tests whose bots play."""
MATCH_CODE = (*CORE, "referee.harness.match.series")
"""The same, and the modules of other folders that it imports."""
PROPERTY = "depends_on"
"""The property of a report: the name of the test, its fingerprint, and how many cases it has."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option that records."""
    parser.addoption("--record-passed", action="store_true", help=f"write {RECORD} for tests marked `depends_on`")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks tests that would pass again as `nightly`."""
    daily = [item for item in items if item.get_closest_marker("nightly") is None]
    marked = [(item, mark.args) for item in daily if (mark := item.get_closest_marker("depends_on"))]
    cases = Counter(_name(item) for item, _ in marked)
    known = recorded(config.rootpath) if marked else {}
    for item, inputs in marked:
        for lost in (each for each in inputs if "/" in each and not (config.rootpath / each).exists()):
            item.warn(pytest.PytestWarning(f"depends_on names {lost}, which does not exist"))
        found = fingerprint(config.rootpath, item.path, inputs)
        item.user_properties.append((PROPERTY, (_name(item), found, cases[_name(item)])))
        if known.get(_name(item)) == found:
            item.add_marker("nightly")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Records the tests of which every case passed."""
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    if terminal is None or not session.config.getoption("record_passed"):
        return  # an xdist worker has no terminal
    passed: defaultdict[tuple[str, str, int], set[str]] = defaultdict(set)
    for report in terminal.stats.get("passed", ()):
        for found in (value for key, value in report.user_properties if key == PROPERTY):
            passed[tuple(found)].add(report.nodeid)
    new = {name: found for (name, found, cases), ids in passed.items() if len(ids) == cases}
    if new:
        known = dict(sorted({**recorded(session.config.rootpath), **new}.items()))
        (session.config.rootpath / RECORD).write_text(json.dumps(known, indent=2) + "\n", "utf-8")


def recorded(root: Path) -> dict[str, str]:
    """Returns the recorded fingerprints by name of the test."""
    return dict(json.loads((root / RECORD).read_text("utf-8"))) if (root / RECORD).exists() else {}


def _name(item: pytest.Item) -> str:
    return item.nodeid.split("[")[0]


@functools.cache
def fingerprint(root: Path, test: Path, inputs: tuple[str, ...]) -> str:
    """Hashes a test's file and its inputs: modules with all that they import of their package, and paths in `root`."""
    modules = [each for each in inputs if "/" not in each and not (root / each).exists()]
    names = {name for module in modules for name in (module, *_imported(module))}
    paths = [path for each in inputs for path in _files(root, each)]
    parts = [(name, _source(name)) for name in sorted(names)] + [(path, _content(root / path)) for path in paths]
    return _hashed([("test", test.read_bytes()), *parts])


def _files(root: Path, path: str) -> list[str]:
    """Returns the files at a path that git does not ignore, from the root folder; empty for a module's name."""
    below = f"{path.rstrip('/')}/"
    return [name for name in _all_files(root) if name == path or name.startswith(below)]


@functools.cache
def _all_files(root: Path) -> list[str]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    return sorted(name for name in set(listed.split("\0")) if (root / name).is_file())


@functools.cache
def _content(path: Path) -> bytes:
    return path.read_bytes()


def _imported(module: str) -> set[str]:
    """Returns all that a module of a package imports of it, directly or not."""
    package, _, rest = module.partition(".")
    return _graph(package).find_upstream_modules(module) if rest else set()


@functools.cache
def _graph(package: str) -> grimp.ImportGraph:
    return grimp.build_graph(package, exclude_type_checking_imports=True, cache_dir=None)


@functools.cache
def _source(module: str) -> bytes:
    spec = importlib.util.find_spec(module)
    assert spec is not None and spec.origin is not None, module
    return _content(Path(spec.origin))


def _hashed(parts: Iterable[tuple[str, bytes]]) -> str:
    found = hashlib.sha256()
    for name, content in parts:
        found.update(f"{name} {len(content)}\n".encode() + content)
    return found.hexdigest()
