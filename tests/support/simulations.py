"""A pytest plugin that leaves simulations with fixed seeds to `make test-all`, until what they simulate changes.

A test marked `simulates` names modules. Its fingerprint is of its own source and of these modules with all that they
import. `make test-all` records the fingerprint of a test that passed. With the same fingerprint, it passes again.
"""

import functools
import hashlib
import importlib.util
import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

import grimp
import pytest

RECORD = Path("tests", "simulations.json")
"""The fingerprint of each simulation when it last passed, in the root folder."""
PROPERTY = "simulation"
"""The property of a report: the name of the test, its fingerprint, and how many cases it has."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option of `make test-all`."""
    parser.addoption("--record-simulations", action="store_true", help=f"write {RECORD} for simulations that pass")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks simulations that cannot fail as `nightly`."""
    marked = [(item, mark.args) for item in items if (mark := item.get_closest_marker("simulates"))]
    cases = Counter(_name(item) for item, _ in marked)
    known = recorded(config.rootpath) if marked else {}
    for item, modules in marked:
        found = fingerprint(item.path, modules)
        item.user_properties.append((PROPERTY, (_name(item), found, cases[_name(item)])))
        if known.get(_name(item)) == found:
            item.add_marker("nightly")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Records the simulations of which every case passed."""
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    if terminal is None or not session.config.getoption("record_simulations"):
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
def fingerprint(test: Path, modules: tuple[str, ...]) -> str:
    """Hashes a test's file, the modules that it simulates, and all that they import of their package."""
    names = {name for module in modules for name in (module, *_imported(module))}
    files = [(name, _source(name)) for name in sorted(names)]
    return _hashed([("test", test.read_bytes()), *files])


def _imported(module: str) -> set[str]:
    """Returns all that a module of a package imports of it, directly or not."""
    package, _, rest = module.partition(".")
    return _graph(package).find_upstream_modules(module) if rest else set()


@functools.cache
def _graph(package: str) -> grimp.ImportGraph:
    return grimp.build_graph(package, exclude_type_checking_imports=True, cache_dir=None)


def _source(module: str) -> bytes:
    spec = importlib.util.find_spec(module)
    assert spec is not None and spec.origin is not None, module
    return Path(spec.origin).read_bytes()


def _hashed(parts: Iterable[tuple[str, bytes]]) -> str:
    found = hashlib.sha256()
    for name, content in parts:
        found.update(f"{name} {len(content)}\n".encode() + content)
    return found.hexdigest()
