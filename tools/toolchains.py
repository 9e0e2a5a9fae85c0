"""Which starter kits this machine can build, and the step that installs what is missing.

`python tools/toolchains.py` needs nothing but Python: it runs before there is a virtual environment. It installs the
missing packages where it may (as root, with apt-get) and says what is missing where it may not: then that kit is left
out, by name. With CI set in the environment nothing may be left out, and it fails.
"""

import os
import shutil
import subprocess
import sys
from typing import NamedTuple


class Toolchain(NamedTuple):
    """What a kit needs."""

    name: str
    programs: tuple[str, ...]
    headers: tuple[str, ...]
    packages: tuple[str, ...]
    """Debian's packages that bring all of it."""


TOOLCHAINS: dict[str, Toolchain] = {
    "cpp": Toolchain(
        "C++", ("g++", "cmake", "make"), ("nlohmann/json.hpp",), ("g++", "cmake", "make", "nlohmann-json3-dev")
    ),
    "java": Toolchain("Java", ("java", "javac", "mvn"), (), ("default-jdk-headless", "maven")),
}


def missing(kit: str) -> list[str]:
    """The programs and headers that a kit needs and this machine lacks; empty: it can be built."""
    toolchain = TOOLCHAINS[kit]
    programs = [program for program in toolchain.programs if shutil.which(program) is None]
    if "g++" in programs:
        return programs + list(toolchain.headers)
    return programs + [header for header in toolchain.headers if not _has_header(header)]


def _has_header(header: str) -> bool:
    command = ["g++", "-fsyntax-only", "-x", "c++", "-include", header, os.devnull]
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


def main() -> int:
    packages = [package for kit, toolchain in TOOLCHAINS.items() if missing(kit) for package in toolchain.packages]
    if packages:
        install(packages)
    lacking = {toolchain.name: missing(kit) for kit, toolchain in TOOLCHAINS.items() if missing(kit)}
    for name, what in lacking.items():
        print(f"{name} kit: left out, this machine lacks {', '.join(what)}")
    return 1 if lacking and os.environ.get("CI") else 0


if __name__ == "__main__":
    sys.exit(main())
