"""The programs that build and run bots: which ones are installed, whether they work, and their identities."""

import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

LANGUAGES: dict[str, tuple[str, tuple[str, ...]]] = {
    ".c": ("C", ("gcc", "cc", "make")),
    ".cpp": ("C++", ("g++", "c++", "cmake", "make")),
    ".cc": ("C++", ("g++", "c++", "cmake", "make")),
    ".go": ("Go", ("go",)),
    ".java": ("Java", ("java", "javac", "mvn")),
    ".js": ("JavaScript", ("node", "npm")),
    ".mjs": ("JavaScript", ("node", "npm")),
    ".py": ("Python", ()),
    ".rs": ("Rust", ("cargo", "rustc")),
    ".ts": ("TypeScript", ("node", "npm")),
}
"""The language of a source file by its suffix, and the programs that build it: if one changes, so does the build."""
KNOWN = frozenset(program for _, programs in LANGUAGES.values() for program in programs)

SETTINGS = ("CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "GOFLAGS", "RUSTFLAGS", "RUSTUP_TOOLCHAIN")
"""Environment variables that change what compilers and build tools do."""

VERSION_TIMEOUT_S = 60


@cache
def version(path: str) -> str | None:
    """Returns a program's version; None if the program does not work, such as rustup's `cargo` without a toolchain."""
    for option in ("--version", "version"):  # Go knows only the second
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
    """Returns the first program of that name on PATH that works; if none works, the first one.

    A program without an alternative is not asked for its version, because that takes time.
    """
    return _find(program, os.environ.get("PATH", os.defpath))


@cache
def _find(program: str, path: str) -> str | None:
    candidates: dict[str, str] = {}
    for folder in path.split(os.pathsep):
        if (candidate := shutil.which(program, path=folder)) is not None:
            candidates.setdefault(os.path.realpath(candidate), candidate)
    first = next(iter(candidates.values()), None)
    if len(candidates) < 2:
        return first
    return next((candidate for candidate in candidates.values() if version(candidate) is not None), first)


def search_path(programs: Iterable[str]) -> str:
    """Returns PATH, with the folders of programs that do not work moved to the end."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    for program in programs:
        working, broken = find(program) or "", []
        for folder in folders:
            candidate = shutil.which(program, path=folder)
            if candidate is not None and os.path.realpath(candidate) == os.path.realpath(working):
                break
            if candidate is not None:
                broken.append(folder)
        folders = [folder for folder in folders if folder not in broken] + broken
    return os.pathsep.join(folders)


def identity(program: str) -> str:
    """Returns a text that changes with the program or its version; empty if it is not on PATH.

    The program's file is enough, unless it is rustup, which stands for several toolchains.
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
    """Returns everything that a build with these programs depends on, except its source."""
    settings = tuple(f"{name}={os.environ.get(name, '')}" for name in SETTINGS)
    return _identities(tuple(programs), os.environ.get("PATH"), settings)


def builders(files: Iterable[str]) -> tuple[str, ...]:
    """Returns the programs that build these files, by their suffixes."""
    suffixes = {os.path.splitext(file)[1] for file in files} & LANGUAGES.keys()
    return tuple(sorted({tool for suffix in suffixes for tool in LANGUAGES[suffix][1]}))


def language(files: Iterable[str]) -> str:
    """Returns the language of most of these files; empty if none is known."""
    suffixes = (os.path.splitext(file)[1] for file in files)
    counts = Counter(LANGUAGES[suffix][0] for suffix in suffixes if suffix in LANGUAGES)
    return counts.most_common(1)[0][0] if counts else ""
