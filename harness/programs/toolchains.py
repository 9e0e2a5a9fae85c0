"""The programs that build and run bots: whether they are here and work, and which ones they are."""

import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

TOOLS: dict[str, tuple[str, ...]] = {
    ".c": ("gcc", "cc", "make"),
    ".cpp": ("g++", "c++", "cmake", "make"),
    ".cc": ("g++", "c++", "cmake", "make"),
    ".go": ("go",),
    ".java": ("java", "javac", "mvn"),
    ".js": ("node", "npm"),
    ".mjs": ("node", "npm"),
    ".ts": ("node", "npm"),
    ".rs": ("cargo", "rustc"),
}
"""What builds sources of each suffix: another one of these builds them again."""
KNOWN = tuple(sorted({program for programs in TOOLS.values() for program in programs}))
"""All of them."""

LANGUAGES = {".c": "C", ".cpp": "C++", ".cc": "C++", ".go": "Go", ".java": "Java", ".rs": "Rust", ".py": "Python"} | {
    ".js": "JavaScript",
    ".mjs": "JavaScript",
    ".ts": "TypeScript",
}
"""The language of a source file, by its suffix."""

SETTINGS = ("CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "GOFLAGS", "RUSTFLAGS", "RUSTUP_TOOLCHAIN")
"""Environment variables that compilers and build tools take for options."""

VERSION_TIMEOUT_S = 60


def version(path: str) -> str | None:
    """What a program prints of its version; None for one that does not work, such as rustup's `cargo` without a
    toolchain. Each language has its own manner of asking."""
    for option in ("--version", "version"):
        try:
            done = subprocess.run(
                [path, option], stdin=subprocess.DEVNULL, capture_output=True, timeout=VERSION_TIMEOUT_S
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        if done.returncode == 0 and done.stdout.strip():
            return done.stdout.decode("utf-8", "replace").strip()
    return None


def find(program: str) -> str | None:
    """The first program of that name on PATH that works. The first one at all if none works, or if there is only one:
    only a choice is worth the time that it takes to ask for versions."""
    return _find(program, os.environ.get("PATH", os.defpath))


@cache
def _find(program: str, path: str) -> str | None:
    found: dict[str, str] = {}
    for folder in path.split(os.pathsep):
        if (candidate := shutil.which(program, path=folder)) is not None:
            found.setdefault(os.path.realpath(candidate), candidate)
    first = next(iter(found.values()), None)
    if len(found) < 2:
        return first
    return next((candidate for candidate in found.values() if version(candidate) is not None), first)


def search_path(programs: Iterable[str]) -> str:
    """PATH, on which each of these programs that works comes before those of its name that do not: the folders of
    such go to the end."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    for program in programs:
        found = find(program)
        if found is None:
            continue
        broken = []
        for folder in folders:
            candidate = shutil.which(program, path=folder)
            if candidate is not None and os.path.realpath(candidate) == os.path.realpath(found):
                break
            if candidate is not None:
                broken.append(folder)
        folders = [folder for folder in folders if folder not in broken] + broken
    return os.pathsep.join(folders)


def identity(program: str) -> str:
    """Tells a program from every other of its name, and from other versions of it; empty if it is not on PATH.

    Its file says so without being run, except where it stands for one of several toolchains.
    """
    path = find(program)
    if path is None:
        return ""
    real = Path(path).resolve()
    try:
        status = real.stat()
    except OSError:
        return ""
    file = f"{real} {status.st_size} {status.st_mtime_ns}"
    return f"{file} {version(path)}" if real.name == "rustup" else file


@cache
def _identities(programs: tuple[str, ...], path: str | None, settings: tuple[str, ...]) -> tuple[str, ...]:
    return (*(f"{program} {identity(program)}" for program in programs), *settings)


def identities(programs: Iterable[str]) -> tuple[str, ...]:
    """What a build with these programs depends on, beside its source."""
    settings = tuple(f"{name}={os.environ.get(name, '')}" for name in SETTINGS)
    return _identities(tuple(programs), os.environ.get("PATH"), settings)


def builders(files: Iterable[str]) -> tuple[str, ...]:
    """The programs that build these files, by their suffixes."""
    suffixes = {os.path.splitext(file)[1] for file in files}
    return tuple(sorted({tool for suffix in suffixes for tool in TOOLS.get(suffix, ())}))


def language(files: Iterable[str]) -> str:
    """The language that most of these files are written in; empty if none is known."""
    counts = Counter(LANGUAGES.get(os.path.splitext(file)[1], "") for file in files)
    del counts[""]
    return counts.most_common(1)[0][0] if counts else ""
