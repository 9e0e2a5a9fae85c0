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

from referee.harness.languages.items import Item, Toolchain
from referee.harness.languages.registry import LANGUAGES

OTHERS = (
    Item("apt-get", "apt", "apt"),
    Item("pip3", "python3-pip", "python3-pip", "python"),
    Item("openssl", "openssl", "openssl", "openssl", ask="version"),
    Item("bwrap", "bubblewrap", "bubblewrap", "bubblewrap"),
    Item("tmux", "tmux", "tmux", "tmux", ask="-V"),
    Item("chromium", "chromium", "chromium", "chromium"),
    Item("stockfish", "stockfish", "stockfish", "stockfish"),
    Item("gnugo", "gnugo", "gnugo", "gnu-go"),
    Item("fairymax", "fairymax", "fairymax", "fairymax"),
)
"""What no language needs by itself."""
ITEMS: dict[str, Item] = {item.name: item for each in LANGUAGES for item in each.items} | {
    item.name: item for item in OTHERS
}
"""By name. An add-on adds its own. On Fedora and macOS the names have not been tried by a test."""
KITS: dict[str, Toolchain] = {each.kit: each.toolchain for each in LANGUAGES if each.toolchain}
"""By the names of the kits' folders. The Python kit needs only Python."""


def needs(toolchain: Toolchain) -> str:
    """Returns in words what a new bot needs, such as `go (1.23 or newer)`."""
    names = [_with_minimum(ITEMS[name]) for name in toolchain.items]
    tests = f"; for its tests {', '.join(toolchain.bot_test_items)}" if toolchain.bot_test_items else ""
    return f"{', '.join(names[:-1])} and {names[-1]}{tests}" if names[1:] else names[0] + tests


def _with_minimum(item: Item) -> str:
    return f"{item.name} ({'.'.join(map(str, item.minimum))} or newer)" if item.minimum else item.name


def libraries(toolchain: Toolchain) -> list[str]:
    """Returns the Debian packages that a new bot and its tests need, except those of most machines."""
    items = [ITEMS[name] for name in toolchain.items + toolchain.bot_test_items]
    found = [item.debian for item in items if item.is_header or item.platform or item.debian.endswith("-19")]
    return list(dict.fromkeys(found))


def rust_target(toolchain: Toolchain) -> str | None:
    """Returns the target that Rust compiles for; None if that is this machine, or for another language."""
    return next((name for name in toolchain.items if ITEMS[name].is_rust_target), None)


def toolchain(lang: str, more: Toolchain | None = None) -> Toolchain | None:
    """Returns what a new bot of a kit and its tests need; None for Python. `more`: what its builds need besides."""
    native = KITS.get(lang)
    if native is None or more is None:
        return native
    return replace(native, items=tuple(dict.fromkeys(native.items + more.items)))


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
