"""The programs of the starter kits, as the referee starts them."""

import functools
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from needs import skip_without

from referee.harness.common.paths import KITS
from referee.harness.programs import build, build_cache
from referee.harness.programs.build_process import BuildContext
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.source_file import kit_archive
from referee.harness.programs.spec import entrant

BUILDS = {
    "c": "make -s all build/kit_test",
    "cpp": "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build -j2 --target all kit_test",
    "go": "go build -buildvcs=false -o build/ ./...",
    "java": "./build.sh",
    "javascript": "./build.sh",
    "rust": "cargo build --quiet --release --workspace --lib --bins --examples",
}
"""The command that builds everything in a kit. Each kit is built once."""
CONFORMANCE = {
    "c": ("{}/build/conformance",),
    "cpp": ("{}/build/conformance",),
    "go": ("{}/build/conformance",),
    "java": ("java", "@{}/java.args", "-cp", "{}/target/referee-kit.jar", "Conformance"),
    "javascript": ("node", "{}/dist/conformance.js"),
    "rust": ("{}/target/release/examples/conformance",),
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

SENSIBLE = pytest.mark.parametrize("kit", ["cpp", "python"], indirect=True)
"""Marks a test of strategies. Only these kits have a sensible bot for every game; the others have one for ReAntics."""

ENUMERATING = ("c", "cpp", "java", "rust")
"""Kits with enumerations for choices: their bots cannot answer with other texts."""

WriteBot = Callable[[str, str, str], Entrant]
"""Takes a kit, a file name without suffix, and its text; returns the program."""


@functools.cache
def example(kit: str, name: str) -> Entrant:
    """Returns an example bot."""
    return entrant(str(KITS / kit / "examples" / name))


@functools.cache
def built(kit: str) -> Path:
    """Returns the built copy of a kit, in which its example bots run."""
    if kit not in BUILDS:
        return KITS / kit
    return build.build_folder(kit_archive(kit), BUILDS[kit], ".", kit, kit, BuildContext())


def work(kit: str) -> Path:
    """Returns the folder in which a kit is built. Go compiles again in a folder with another name."""
    place = build_cache.made_in(built(kit).parent)
    assert place is not None
    return place


def conformance(kit: str) -> Entrant:
    """Returns a kit's conformance program."""
    folder = built(kit)
    return Entrant("conformance", tuple(word.format(folder) for word in CONFORMANCE[kit]), folder)


def readme_bot(kit: str) -> str:
    """Returns the source of the bot in a kit's README."""
    text = (KITS / kit / "README.md").read_text("utf-8")
    return text.split(f"```{kit}\n")[1].split("```")[0]


def need(kit: str) -> None:
    """Skips a test if its kit cannot be built here."""
    skip_without(kit)
