"""The programs and libraries that bots need, and the packages that contain them.

Standard library only: `tools/toolchains.py` reads this table before anything is installed.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache


@dataclass(frozen=True)
class Item:
    """A program, a header of a library, or a target of the Rust compiler."""

    name: str
    """The program's name on PATH, the header as `#include` names it, or the target as `rustc` names it."""
    debian: str
    fedora: str
    macos: str = ""
    """Homebrew's name for it. Empty: `xcode-select --install` brings it."""
    minimum: tuple[int, ...] = ()
    """The oldest version that the starter kits support; empty for any."""
    ask: str = "--version"
    """A program's option that prints its version, or a header's macros that make up its version."""
    other_names: tuple[str, ...] = ()
    """What compilers and build tools call it when they do not find it."""
    download: str = ""
    """The address of newer versions than a system's packages have."""
    wasi: bool = False
    """Whether a compiler must find it for WebAssembly, not for this machine."""

    @property
    def is_header(self) -> bool:
        """Whether a compiler looks for it."""
        return self.name.endswith((".h", ".hpp"))

    @property
    def is_rust_target(self) -> bool:
        """Whether it is a part of Rust, which rustup installs."""
        return self.name.startswith("wasm32-")


JDK = "https://adoptium.net"
RUSTUP = "https://rustup.rs"
NLOHMANN = "NLOHMANN_JSON_VERSION_MAJOR . NLOHMANN_JSON_VERSION_MINOR . NLOHMANN_JSON_VERSION_PATCH"

ITEMS: dict[str, Item] = {
    item.name: item
    for item in (
        Item("gcc", "gcc", "gcc", other_names=("cc", "CMAKE_C_COMPILER")),
        Item("g++", "g++", "gcc-c++", minimum=(8,), other_names=("c++", "CMAKE_CXX_COMPILER")),
        Item("make", "make", "make"),
        Item("cmake", "cmake", "cmake", "cmake", (3, 20), download="https://cmake.org/download"),
        Item("stdlib.h", "libc6-dev", "glibc-devel", ask=""),
        Item(
            *("json-c/json.h", "libjson-c-dev", "json-c-devel", "json-c"),
            ask="JSON_C_VERSION",
            other_names=("json-c", "-ljson-c"),
        ),
        Item(
            *("msgpack.h", "libmsgpack-dev", "msgpack-devel", "msgpack"),
            ask="MSGPACK_VERSION_MAJOR . MSGPACK_VERSION_MINOR . MSGPACK_VERSION_REVISION",
            other_names=("msgpack", "-lmsgpackc"),
        ),
        Item(
            *("nlohmann/json.hpp", "nlohmann-json3-dev", "json-devel", "nlohmann-json", (3, 10)),
            ask=NLOHMANN,
            other_names=("nlohmann_json",),
        ),
        Item("cmocka.h", "libcmocka-dev", "libcmocka-devel", "cmocka", ask="", other_names=("cmocka", "-lcmocka")),
        Item("gtest/gtest.h", "libgtest-dev", "gtest-devel", "googletest", ask="", other_names=("GTest", "-lgtest")),
        Item("valgrind", "valgrind", "valgrind", "valgrind"),
        Item("go", "golang-go", "golang", "go", (1, 23), "version", download="https://go.dev/dl"),
        Item("java", "default-jdk-headless", "java-latest-openjdk-devel", "openjdk", (17,), "-version", download=JDK),
        Item("javac", "default-jdk-headless", "java-latest-openjdk-devel", "openjdk", (17,), "-version", download=JDK),
        Item("mvn", "maven", "maven", "maven", (3, 8), download="https://maven.apache.org"),
        Item("cargo", "cargo", "cargo", "rust", (1, 63), download=RUSTUP),
        Item("rustc", "rustc", "rust", "rust", (1, 63), download=RUSTUP),
        Item("clang-19", "clang-19", "clang"),
        Item("clang++-19", "clang-19", "clang"),
        Item("wasm-ld-19", "lld-19", "lld"),
        Item("wasi/api.h", "wasi-libc", "wasi-libc-devel", ask="", wasi=True),
        Item("libclang_rt", "libclang-rt-19-dev-wasm32", "compiler-rt", wasi=True),
        Item("libc++", "libc++-19-dev-wasm32", "wasi-libc-devel", wasi=True),
        Item("libc++abi", "libc++abi-19-dev-wasm32", "wasi-libc-devel", wasi=True),
        Item("curl", "curl", "curl", "curl"),
        Item("wasm32-wasip1", "libstd-rust-dev-wasm32", "rust-std-static-wasm32-wasip1", "rust", ask=""),
        Item("node", "nodejs", "nodejs", "node", (18, 19), download="https://nodejs.org"),
        Item("npm", "npm", "nodejs-npm", "node"),
        Item("openssl", "openssl", "openssl", "openssl", ask="version"),
        Item("ruby", "ruby", "ruby", "ruby"),
        Item("perl", "perl", "perl-interpreter", "perl"),
        Item("bwrap", "bubblewrap", "bubblewrap", "bubblewrap"),
        Item("tmux", "tmux", "tmux", "tmux", ask="-V"),
        Item("chromium", "chromium", "chromium", "chromium"),
        Item("stockfish", "stockfish", "stockfish", "stockfish"),
        Item("gnugo", "gnugo", "gnugo", "gnu-go"),
        Item("fairymax", "fairymax", "fairymax", "fairymax"),
    )
}
"""By name. On Fedora and macOS the names have not been tried by a test."""


@dataclass(frozen=True)
class Toolchain:
    """The items that a starter kit or a part of this project needs. The first one is the compiler of its headers."""

    name: str
    items: tuple[str, ...]
    test_items: tuple[str, ...] = ()
    """Needed only by tests."""
    bot_test_items: tuple[str, ...] = ()
    """The items of `test_items` that the tests of a new bot need too."""

    def needs(self) -> str:
        """Returns in words what a new bot needs, such as `go (1.23 or newer)`."""
        names = [_with_minimum(ITEMS[name]) for name in self.items]
        tests = f"; for its tests {', '.join(self.bot_test_items)}" if self.bot_test_items else ""
        return f"{', '.join(names[:-1])} and {names[-1]}{tests}" if names[1:] else names[0] + tests

    def libraries(self) -> list[str]:
        """Returns the Debian packages that a new bot and its tests need, except those of most machines."""
        items = [ITEMS[name] for name in self.items + self.bot_test_items]
        libraries = [item.debian for item in items if item.is_header or item.wasi or item.debian.endswith("-19")]
        return list(dict.fromkeys(libraries))


def _with_minimum(item: Item) -> str:
    return f"{item.name} ({'.'.join(map(str, item.minimum))} or newer)" if item.minimum else item.name


KITS: dict[str, Toolchain] = {
    "c": Toolchain(
        "C", ("gcc", "make", "stdlib.h", "json-c/json.h", "msgpack.h"), ("valgrind", "cmocka.h"), ("cmocka.h",)
    ),
    "cpp": Toolchain("C++", ("g++", "cmake", "make", "nlohmann/json.hpp"), ("gtest/gtest.h",)),
    "go": Toolchain("Go", ("go",)),
    "java": Toolchain("Java", ("java", "javac", "mvn")),
    "rust": Toolchain("Rust", ("cargo", "rustc")),
    "javascript": Toolchain("JavaScript", ("node", "npm")),
}
"""By the names of the kits' folders. The Python kit needs only Python."""

_CLANG = ("wasm-ld-19", "wasi/api.h", "libclang_rt")
WASM: dict[str, Toolchain] = {
    "c": Toolchain("C to wasm", ("clang-19", *_CLANG, "msgpack.h", "curl")),
    "cpp": Toolchain("C++ to wasm", ("clang++-19", *_CLANG, "libc++", "libc++abi", "nlohmann/json.hpp")),
    "go": Toolchain("Go to wasm", ("go",)),
    "javascript": Toolchain("JavaScript to wasm", ("clang-19", *_CLANG, "node", "npm", "curl")),
    "rust": Toolchain("Rust to wasm", ("cargo", "rustc", "wasm32-wasip1")),
}
"""What the kits need to build modules of WebAssembly."""


def toolchain(lang: str, wasm: bool) -> Toolchain | None:
    """Returns what a new bot of a kit and its tests need; None for Python. `wasm`: the bot is a module."""
    native = KITS.get(lang)
    if native is None or not wasm:
        return native
    return replace(native, items=tuple(dict.fromkeys(native.items + WASM[lang].items)))


@dataclass(frozen=True)
class System:
    """A system and its package manager."""

    name: str
    manager: str
    """The program that installs packages."""
    needs_root: bool = True

    def package(self, item: Item) -> str:
        """Returns the name of the package with this item; empty on macOS if Xcode's tools have it."""
        return {"apt-get": item.debian, "dnf": item.fedora, "brew": item.macos}[self.manager]

    def install_line(self, items: Iterable[Item], *options: str) -> str:
        """Returns the command line that installs these items. `options`: for the package manager."""
        items = list(items)
        targets = [item.name for item in items if item.is_rust_target and _rustup_has_rust()]
        packages = [self.package(item) for item in items if item.name not in targets]
        named = list(dict.fromkeys(filter(None, packages)))
        sudo = ["sudo"] if self.needs_root and os.geteuid() != 0 else []
        lines = [] if all(packages) else ["xcode-select --install"]
        if named:
            lines.append(" ".join([*sudo, self.manager, "install", *options, *named]))
        if targets:
            lines.append(" ".join(["rustup", "target", "add", *targets]))
        return "; ".join(lines)


@cache
def _rustup_has_rust() -> bool:
    """Whether rustup is on PATH and has a toolchain, to which it can add a target."""
    if shutil.which("rustup") is None:
        return False
    try:
        done = subprocess.run(["rustup", "show", "active-toolchain"], capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and bool(done.stdout.strip())


SYSTEMS = (System("Debian, Ubuntu", "apt-get"), System("Fedora", "dnf"), System("macOS", "brew", needs_root=False))


def this_system() -> System | None:
    """Returns the system whose package manager is on PATH; None if there is none that we know."""
    return next((system for system in SYSTEMS if shutil.which(system.manager)), None)


def install_lines(items: Iterable[Item]) -> list[str]:
    """Returns the command line that installs these items here; on an unknown system one for each known one."""
    items = list(items)
    system = this_system()
    if system is not None:
        return [system.install_line(items)]
    return [f"{system.name}: {system.install_line(items)}" for system in SYSTEMS]


def how_to_install(names: Iterable[str]) -> str:
    """Returns the end of an error message about missing programs or headers; empty if none is in the table."""
    known = [item for name in names if (item := find(name)) is not None]
    return f"; to install it: {', or '.join(install_lines(known))}" if known else ""


def find(name: str) -> Item | None:
    """Returns the item of that name, or with that other name; None if there is none."""
    return ITEMS.get(name) or next((item for item in ITEMS.values() if name in item.other_names), None)


SHELL_MISSES = r"(?:^|: )([^\s:/]+): (?:command )?not found$"
"""A shell's message for a missing program. A name with a slash is one of the bot's own files."""
MISSING = re.compile(
    "|".join(
        (
            r"fatal error: '?([\w./+-]+)'?(?:: No such file or directory| file not found)",  # gcc, clang
            SHELL_MISSES,
            r"^make(?:\[\d+\])?: ([\w.+-]+): No such file or directory$",
            r"cannot find (-l[\w.+-]+)",  # ld
            r"library '?(-l[\w.+-]+|[\w.+-]+)'? not found",  # ld of macOS
            r"linker `([\w.+-]+)` not found",  # rustc
            r"No (CMAKE_\w+_COMPILER) could be found",
            r'Could not find a package configuration file provided by "(\w+)"',  # CMake
            r"Could NOT find (\w+)",  # CMake
            r"[Pp]ackage '?([\w.+-]+?)'?,? (?:was not found|required by|found in the pkg-config)",  # pkg-config
            r"No package '([\w.+-]+)' found",  # pkg-config
        )
    ),
    re.MULTILINE,
)
"""What compilers, linkers and build tools print about a program or a library that they do not find."""


def missing_in(output: str) -> list[Item]:
    """Returns the items that a failed build did not find, according to its output."""
    names = (next(filter(None, found.groups())) for found in MISSING.finditer(output))
    return list(dict.fromkeys(item for name in names if (item := find(name)) is not None))
