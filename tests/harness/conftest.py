"""What the tests of the harness share."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from scripted import Arena

from referee.harness.isolation import launcher_build, plan

SITE = Path(__file__).parent / "site"
"""Where a game of the tests' own is installed, to be found by its entry point while these tests run."""


@pytest.fixture
def arena(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Arena]:
    """A place for matches; the scratch folders of their bots lie in it, which marks their processes."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.syspath_prepend(str(SITE))
    others = set(psutil.Process().children())
    yield Arena(tmp_path)
    left = set(psutil.Process().children()) - others
    for child in left:
        child.kill()  # what a failed test left must not fail the next
    psutil.wait_procs(left, timeout=5)


@pytest.fixture
def layers_without(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Isolation as on a machine that lacks some layers; the parameter names them, with commas."""
    monkeypatch.setenv(launcher_build.WITHOUT, request.param)
    plan.found.cache_clear()
    assert not ("namespaces" in request.param and plan.found().namespaces)
    assert not ("landlock" in request.param and plan.found().landlock)
    yield
    plan.found.cache_clear()
