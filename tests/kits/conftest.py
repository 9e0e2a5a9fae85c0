"""What the tests of the kits share: the kits, built, and programs of one source file."""

import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from kits import CONFORMANCE, SUFFIXES, WriteBot, built, need

from referee.harness.programs.spec import Entrant, entrant
from referee.protocol.messages import Encoding

QUICK = {"test_generated.py", "test_python_kit.py"}
"""The modules that build nothing."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what needs whole kits."""
    for item in items:
        if item.path.parent == Path(__file__).parent and item.path.name not in QUICK:
            item.add_marker(pytest.mark.kits)


@pytest.fixture(scope="session", autouse=True)
def our_python() -> Iterator[None]:
    """`python3` is the interpreter of these tests, as in an activated environment: so it has msgpack."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        yield


@pytest.fixture(scope="session")
def c_kit() -> None:
    """The C kit is built."""
    need("c")
    built("c")


@pytest.fixture(scope="session")
def cpp_kit() -> None:
    """The C++ kit is built."""
    need("cpp")
    built("cpp")


@pytest.fixture(scope="session")
def java_kit() -> None:
    """The Java kit is built."""
    need("java")
    built("java")


@pytest.fixture(scope="session")
def go_kit() -> None:
    """The Go kit is built."""
    need("go")
    built("go")


@pytest.fixture(scope="session")
def javascript_kit() -> None:
    """The JavaScript kit is built."""
    need("javascript")
    built("javascript")


@pytest.fixture(scope="session")
def rust_kit() -> None:
    """The Rust kit is built."""
    need("rust")
    built("rust")


@pytest.fixture(scope="session")
def python_kit() -> None:
    """The Python kit needs no building."""


@pytest.fixture(params=sorted(CONFORMANCE))
def kit(request: pytest.FixtureRequest) -> str:
    """Every kit in turn, built."""
    request.getfixturevalue(f"{request.param}_kit")
    return str(request.param)


@pytest.fixture(params=list(Encoding))
def encoding(request: pytest.FixtureRequest) -> Encoding:
    """Every encoding in turn."""
    return Encoding(request.param)


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> WriteBot:
    """Makes bots of a single source file, run as the referee runs such a file."""

    @cache
    def write(kit: str, name: str, text: str) -> Entrant:
        file = tmp_path_factory.mktemp(name) / f"{name}{SUFFIXES[kit]}"
        file.write_text(text, "utf-8")
        return entrant(str(file))

    return write
