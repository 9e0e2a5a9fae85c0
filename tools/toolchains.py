"""Which starter kits this machine can build, and the step that installs what is missing.

`python tools/toolchains.py [KIT …]` (all, with what their tests need, if none is named) needs nothing but Python: it
runs before there is a virtual environment. It installs the missing packages where it may (as root, with apt-get) and
says what is missing where it may not: then that kit is left out, by name. With CI set in the environment nothing may be
left out, and it fails.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache


@dataclass(frozen=True)
class Toolchain:
    """The needs of a kit: each program or header, with the Debian package that provides it."""

    name: str
    programs: dict[str, str]
    headers: dict[str, str] = field(default_factory=dict)
    test_programs: dict[str, str] = field(default_factory=dict)
    """What only the kit's own tests need, as the next."""
    test_headers: dict[str, str] = field(default_factory=dict)


NODE = {"node": "nodejs", "npm": "npm"}
TOOLCHAINS: dict[str, Toolchain] = {
    "c": Toolchain(
        "C",
        {"gcc": "gcc", "make": "make"},
        {"stdlib.h": "libc6-dev", "json-c/json.h": "libjson-c-dev", "msgpack.h": "libmsgpack-dev"},
        {"valgrind": "valgrind"},
        {"cmocka.h": "libcmocka-dev"},
    ),
    "cpp": Toolchain(
        "C++",
        {"g++": "g++", "cmake": "cmake", "make": "make"},
        {"nlohmann/json.hpp": "nlohmann-json3-dev"},
        test_headers={"gtest/gtest.h": "libgtest-dev"},
    ),
    "go": Toolchain("Go", {"go": "golang-go"}),
    "java": Toolchain("Java", {"java": "default-jre-headless", "javac": "default-jdk-headless", "mvn": "maven"}),
    "rust": Toolchain("Rust", {"cargo": "cargo", "rustc": "rustc"}),
    "javascript": Toolchain("JavaScript", NODE),
    "tmux": Toolchain("Captured terminals of the tests, no", {"tmux": "tmux"}),
    "bwrap": Toolchain("Isolation by bubblewrap in the tests, no", {"bwrap": "bubblewrap"}),
    "ruby": Toolchain("Ruby bots of the tests, no", {"ruby": "ruby"}),
    "viewer": Toolchain("viewer", NODE, test_programs={"chromium": "chromium"}),
}


VERSION = ("--version", "version", "-V")
"""What programs are asked for it: Go's takes the second, tmux the third."""


def find(program: str) -> str | None:
    """The first program of that name on PATH that prints its version: rustup's `cargo` is there without any toolchain.

    Bots are built with it too (`referee.harness.programs.toolchains`, which this file must do without).
    """
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    paths = dict.fromkeys(filter(None, (shutil.which(program, path=folder) for folder in folders)))
    return next((path for path in paths if any(_prints(path, option) for option in VERSION)), None)


@cache
def works(program: str) -> bool:
    """Whether there is such a program."""
    return find(program) is not None


def _prints(path: str, option: str) -> bool:
    try:
        done = subprocess.run([path, option], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and bool(done.stdout.strip())


def missing(kit: str, tests: bool = False) -> dict[str, str]:
    """The programs and headers that a kit needs, with its `tests` or without, and this machine lacks; their packages.

    Empty: it can be built.
    """
    toolchain = TOOLCHAINS[kit]
    needed = toolchain.programs | (toolchain.test_programs if tests else {})
    headers = toolchain.headers | (toolchain.test_headers if tests else {})
    programs = {program: package for program, package in needed.items() if not works(program)}
    compiler = next(iter(toolchain.programs))
    if compiler in programs:
        return programs | headers
    return programs | {header: package for header, package in headers.items() if not _has_header(compiler, header)}


def _has_header(compiler: str, header: str) -> bool:
    language = "c++" if compiler == "g++" else "c"
    command = [find(compiler) or compiler, "-E", "-x", language, "-include", header, "-o", os.devnull, os.devnull]
    return subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0


def install(packages: list[str]) -> None:
    """Installs Debian packages, if we may; what goes wrong is printed and shows in `missing` afterwards."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return
    print("installing " + " ".join(packages), flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "--yes", "--no-install-recommends", *packages]):
        done = subprocess.run(
            ["apt-get", "-qq", *command], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        if done.returncode != 0:
            print(done.stdout.decode(errors="replace"))
    works.cache_clear()


def main(kits: list[str]) -> int:
    """Installs what these kits lack, as far as that may be; returns the exit code."""
    tests = not kits
    kits = kits or list(TOOLCHAINS)
    packages = {package: None for kit in kits for package in missing(kit, tests).values()}
    if packages:
        install(list(packages))
    lacking = {TOOLCHAINS[kit].name: what for kit in kits if (what := missing(kit, tests))}
    for name, what in lacking.items():
        print(f"{name} kit: left out, this machine lacks {', '.join(what)}")
    return 1 if lacking and os.environ.get("CI") else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
