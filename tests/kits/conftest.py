"""What the tests of the kits share: the kits, built, and programs of one source file."""

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from kits import CONFORMANCE, SUFFIXES, WriteBot

from harness.launch import KITS, Entrant, entrant
from protocol.messages import Encoding
from tools.toolchains import TOOLCHAINS, missing


@pytest.fixture(scope="session", autouse=True)
def our_python() -> Iterator[None]:
    """`python3` is the interpreter of these tests, as in an activated environment: so it has msgpack."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        yield


def need(kit: str) -> None:
    """Skips, by name, what needs a kit that cannot be built here. Where CI is set a skip is a failure."""
    if lacking := missing(kit, tests=True):
        pytest.skip(f"the {TOOLCHAINS[kit].name} kit needs {', '.join(lacking)}")


@pytest.fixture(scope="session")
def c_kit() -> None:
    """The C kit is built."""
    need("c")
    subprocess.run(["make", "-s", "-C", KITS / "c", "all", "build/kit_test"], check=True, timeout=120)


@pytest.fixture(scope="session")
def cpp_kit() -> None:
    """The C++ kit is built."""
    need("cpp")
    source, build = KITS / "cpp", KITS / "cpp" / "build"
    subprocess.run(["cmake", "-S", source, "-B", build, "-DCMAKE_BUILD_TYPE=Release"], check=True, timeout=60)
    for target in ("all", "kit_test"):
        subprocess.run(["cmake", "--build", build, "--target", target, "-j2"], check=True, timeout=280)


@pytest.fixture(scope="session")
def java_kit() -> None:
    """The Java kit is built."""
    need("java")
    subprocess.run([KITS / "java" / "build.sh"], check=True, timeout=250)


@pytest.fixture(scope="session")
def go_kit() -> None:
    """The Go kit is built."""
    need("go")
    subprocess.run(
        ["go", "build", "-buildvcs=false", "-o", "build/", "./..."], cwd=KITS / "go", check=True, timeout=250
    )


@pytest.fixture(scope="session")
def javascript_kit() -> None:
    """The JavaScript kit is built."""
    need("javascript")
    subprocess.run([KITS / "javascript" / "build.sh"], check=True, timeout=250)


@pytest.fixture(scope="session")
def rust_kit() -> None:
    """The Rust kit is built."""
    need("rust")
    subprocess.run(
        ["cargo", "build", "--quiet", "--release", "--workspace"], cwd=KITS / "rust", check=True, timeout=280
    )


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
