"""Fixtures for the kits' tests: built kits."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kits import BUILDS, CONFORMANCE, built, need

from referee.protocol.messages import Encoding

QUICK = {"test_generated.py", "test_python_kit.py"}
"""Modules that build nothing."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests that need built kits."""
    for item in items:
        if item.path.parent == Path(__file__).parent and item.path.name not in QUICK:
            item.add_marker(pytest.mark.kits)


@pytest.fixture(scope="session", autouse=True)
def our_python() -> Iterator[None]:
    """Makes `python3` the interpreter of these tests, as an activated environment does. It has msgpack."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        yield


def _kit_fixture(kit: str) -> Any:
    @pytest.fixture(scope="session", name=f"{kit}_kit")
    def build() -> None:
        if kit in BUILDS:
            need(kit)
            built(kit)

    return build


c_kit, cpp_kit, go_kit, java_kit, javascript_kit, python_kit, rust_kit = map(_kit_fixture, sorted(CONFORMANCE))


@pytest.fixture(params=sorted(CONFORMANCE))
def kit(request: pytest.FixtureRequest) -> str:
    """Each kit, built."""
    request.getfixturevalue(f"{request.param}_kit")
    return str(request.param)


@pytest.fixture(params=list(Encoding))
def encoding(request: pytest.FixtureRequest) -> Encoding:
    """Each encoding."""
    return Encoding(request.param)


@pytest.fixture
def kit_encoding(kit: str) -> Encoding:
    """One encoding for each kit: half of the kits have the other. The dialogues test every kit in both."""
    return list(Encoding)[sorted(CONFORMANCE).index(kit) % 2]
