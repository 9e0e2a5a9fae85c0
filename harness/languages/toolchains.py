"""The programs and libraries that build and run bots: which are installed, whether they work, and their versions.

Standard library only: `tools/toolchains.py` uses this before anything is installed.
"""

import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from referee.harness.languages.items import Item, Toolchain
from referee.harness.languages.packages import ITEMS
from referee.harness.languages.registry import BY_SUFFIX, LANGUAGES

KNOWN = frozenset(program for each in LANGUAGES for program in each.builders)
"""The programs that build the sources of bots."""

PLACES = frozenset(
    [
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "XDG_CACHE_HOME"),
        *("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "VIRTUAL_ENV"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
    ]
)
"""Environment variables that a build gets too, although its result does not depend on them; and those with `LC_`."""
SETTINGS = frozenset(
    [
        *("CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "MAKEFLAGS", "PYTHONPATH", "SOURCE_DATE_EPOCH"),
        *("LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH"),
    ]
)
"""Environment variables that change what compilers and build tools do."""
SETTING_PREFIXES = (
    *("CARGO_", "RUST", "GO", "CGO_", "JAVA_", "JDK_", "MAVEN_", "GRADLE_", "NODE_", "npm_", "NPM_", "PIP_"),
    *("CMAKE_", "PKG_CONFIG", "C_INCLUDE", "CPLUS_", "CCACHE_", "PYENV_", "NVM_", "ASDF_", "MISE_"),
)
"""Variables with these prefixes do so too: settings of compilers, build tools and version managers."""
SECRET = re.compile("TOKEN|SECRET|PASSW|CREDENTIAL|API_?KEY|PRIVATE_KEY|SSH_|AUTH", re.IGNORECASE)
"""A build never gets a variable with such a name: it runs code of the bot's author."""

CLANG = "clang-19"
"""Finds the headers and libraries of other platforms."""

VERSION_TIMEOUT_S = 60
GAMES = ("/usr/games", "/usr/local/games")
"""Where systems keep engines; root has these folders not on PATH."""


@cache
def version(path: str) -> str | None:
    """Returns what a program prints as its version.

    None if the program does not work, such as rustup's `cargo` without a toolchain.
    """
    item = ITEMS.get(Path(path).name)
    command = [path, item.ask if item else "--version"]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=VERSION_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired):
        return None
    printed = done.stdout.strip() or done.stderr.strip()  # java prints it on stderr
    return printed.decode("utf-8", "replace") if done.returncode == 0 and printed else None


def find(program: str) -> str | None:
    """Returns the first program of that name on PATH, or among the system's games, that works; else the first one.

    A program without an alternative is not asked for its version, because that takes time.
    """
    if "/" in program:  # not to be kept: it depends on the working folder
        return shutil.which(program)
    return _find(program, os.pathsep.join((os.environ.get("PATH", os.defpath), *GAMES)))


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


@dataclass(frozen=True)
class Found:
    """What this machine has of an item."""

    version: str
    """Such as `12.2.0`; empty if unknown or missing."""
    lack: str = ""
    """Why the item cannot be used, such as `is not installed`; empty if it can."""


def look_up(item: Item, compiler: str) -> Found:
    """Returns the version of a program or header, and whether it can be used. `compiler`: looks for the header."""
    return _look_up(item, compiler, os.environ.get("PATH", os.defpath))


def missing(toolchain: Toolchain, tests: bool = False) -> dict[str, str]:
    """Returns the items that cannot be used, each with the reason. `tests`: include those that only tests need."""
    items = toolchain.items + (toolchain.test_items if tests else ())
    found = {name: look_up(ITEMS[name], toolchain.items[0]) for name in items}
    return {name: each.lack for name, each in found.items() if each.lack}


def forget() -> None:
    """Forgets what was found, after something has been installed."""
    for function in (version, _find, _look_up):
        function.cache_clear()


@cache
def _look_up(item: Item, compiler: str, path_variable: str) -> Found:
    if item.is_header:
        version_here = _header_version(item, compiler)
        if version_here is None:
            return Found("", "is not installed")
    elif item.platform:
        return Found("") if _has_library(item) else Found("", "is not installed")
    elif item.is_rust_target:
        return Found("") if _has_rust_target(item.name) else Found("", "is not installed")
    else:
        path = find(item.name)
        if path is None:
            return Found("", "is not installed")
        printed = version(path)
        if printed is None:
            return Found("", f"does not work: {path} does not print its version")
        version_here = _numbers(printed)
    if version_here and tuple(map(int, version_here.split("."))) < item.minimum:
        newer = f", from {item.download}" if item.download else ""
        return Found(version_here, f"is {version_here}; expected {'.'.join(map(str, item.minimum))} or newer{newer}")
    return Found(version_here)


def _has_library(item: Item) -> bool:
    """Whether clang finds a library of another platform: its own, or `NAME.a`."""
    ask = "-print-libgcc-file-name" if item.name == "libclang_rt" else f"-print-file-name={item.name}.a"
    command = [find(CLANG) or CLANG, f"--target={item.platform}", ask]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=VERSION_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and os.path.isfile(done.stdout.strip())


def _has_rust_target(name: str) -> bool:
    """Whether the Rust compiler on PATH has the libraries of a target."""
    rustc = find("rustc")
    if rustc is None:
        return False
    command = [rustc, "--print", "target-libdir", "--target", name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=VERSION_TIMEOUT_S)
    return done.returncode == 0 and os.path.isdir(done.stdout.strip())


def _numbers(text: str) -> str:
    """Returns the first version number of a text; empty if there is none."""
    found = re.search(r"\d+(?:\.\d+)*", re.sub(r"\x1b\[[0-9;]*m", "", text))
    return found[0] if found else ""


def _header_version(item: Item, compiler: str) -> str | None:
    """Returns a library's version according to its header; None if the compiler does not find the header."""
    language = "c++" if "++" in compiler else "c"
    target: list[str] = []
    if item.platform:
        compiler, target = CLANG, [f"--target={item.platform}"]
    command = [find(compiler) or compiler, *target, "-E", "-P", "-x", language, "-include", item.name, "-"]
    try:
        done = subprocess.run(command, input=item.ask.encode(), capture_output=True, timeout=VERSION_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode != 0:
        return None
    last = done.stdout.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return _numbers(last.replace(" ", "")) if item.ask else ""


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
    return _identities(tuple(programs), os.environ.get("PATH"), _settings())


def build_variables() -> dict[str, str]:
    """Returns the environment variables that a build gets."""
    return {
        name: value
        for name, value in os.environ.items()
        if (name in PLACES or name.startswith("LC_") or is_setting(name)) and not SECRET.search(name)
    }


def _settings() -> tuple[str, ...]:
    """Returns the variables of a build that change its result, as `NAME=VALUE`."""
    found = {name: value for name, value in build_variables().items() if is_setting(name)}
    if "MAKEFLAGS" in found:  # what else is in it, such as the number of jobs, depends on how this process was started
        words = found["MAKEFLAGS"].split()
        found["MAKEFLAGS"] = " ".join(word for word in words if "=" in word and not word.startswith("-"))
    return tuple(f"{name}={value}" for name, value in sorted(found.items()) if value)


def is_setting(name: str) -> bool:
    """Whether a variable changes what compilers and build tools do."""
    return name in SETTINGS or name.startswith(SETTING_PREFIXES)


def builders(files: Iterable[str]) -> tuple[str, ...]:
    """Returns the programs that build these files, by their suffixes."""
    suffixes = {os.path.splitext(file)[1] for file in files} & BY_SUFFIX.keys()
    return tuple(sorted({tool for suffix in suffixes for tool in BY_SUFFIX[suffix].builders}))


def language(files: Iterable[str]) -> str:
    """Returns the language of most of these files, of those with a kit; empty if there is none."""
    known = (BY_SUFFIX.get(os.path.splitext(file)[1]) for file in files)
    counts = Counter(each.name for each in known if each is not None and each.kit)
    return counts.most_common(1)[0][0] if counts else ""
