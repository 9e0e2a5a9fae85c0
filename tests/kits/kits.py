"""The starter kits' programs, as the referee starts them."""

import functools
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.harness.paths import KITS
from referee.harness.programs import build, build_cache
from referee.harness.programs.languages import bundled
from referee.harness.programs.spec import Entrant, entrant
from referee.tools.toolchains import TOOLCHAINS, missing

BUILDS = {
    "c": "make -s all build/kit_test",
    "cpp": "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build -j2 --target all kit_test",
    "go": "go build -buildvcs=false -o build/ ./...",
    "java": "./build.sh",
    "javascript": "./build.sh",
    "rust": "cargo build --quiet --release --workspace",
}
"""Makes everything there is in a kit. Each is built once, and what follows finds it built."""
CONFORMANCE = {
    "c": ("{}/build/conformance",),
    "cpp": ("{}/build/conformance",),
    "go": ("{}/build/conformance",),
    "java": ("java", "@{}/java.args", "-cp", "{}/target/referee-kit.jar", "referee.kit.Conformance"),
    "javascript": ("node", "{}/dist/conformance.js"),
    "rust": ("{}/target/release/conformance",),
    "python": (sys.executable, "{}/conformance.py"),
}
SUFFIXES = {
    "c": ".c",
    "cpp": ".cpp",
    "go": ".go",
    "java": ".java",
    "javascript": ".mjs",
    "python": ".py",
    "rust": ".rs",
}

ENUMERATING = ("cpp", "java", "rust")
"""The kits in which a choice among texts is an enumeration: their bots cannot answer with any other text."""

WriteBot = Callable[[str, str, str], Entrant]
"""Takes a kit, the name of a file without its suffix, and the text; gives the program."""


@functools.cache
def example(kit: str, name: str) -> Entrant:
    """An example bot, as its `bot.toml` says."""
    return entrant(str(KITS / kit / "examples" / name))


@functools.cache
def built(kit: str) -> Path:
    """A kit's folder: a copy with everything built in it, the same that its example bots are run in."""
    if kit not in BUILDS:
        return KITS / kit
    return build.folder(bundled(kit), ["/bin/sh", "-c", BUILDS[kit]], ".", kit)


def work(kit: str) -> Path:
    """The folder in which a kit is built, and of which `built` is a copy. Go compiles again in a folder of another
    name."""
    place = build_cache.made_in(built(kit).parent)
    assert place is not None
    return place / build.WORK


def conformance(kit: str) -> Entrant:
    """A kit's conformance program."""
    folder = built(kit)
    return Entrant("conformance", tuple(word.format(folder) for word in CONFORMANCE[kit]), folder)


def readme_bot(kit: str) -> str:
    """The source of the bot in a kit's README."""
    text = (KITS / kit / "README.md").read_text("utf-8")
    return text.split(f"```{kit}\n")[1].split("```")[0]


def need(kit: str) -> None:
    """Skips, by name, what needs a kit that cannot be built here. Where CI is set a skip is a failure."""
    if lacking := missing(kit, tests=True):
        pytest.skip(f"the {TOOLCHAINS[kit].name} kit needs {', '.join(lacking)}")
