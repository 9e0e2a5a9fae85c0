"""Lists the compilers and libraries that this machine lacks, and installs them if that is allowed.

`python tools/toolchains.py [KIT …]` needs only Python: it runs before there is a virtual environment. Without a kit it
looks for everything that the tests need. It prints the command that installs the missing packages. It runs that command
only if the variable YES or CI is set. With CI set, it fails if a toolchain of `CORE` is still missing; tests that need
another one are skipped.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from referee.harness.languages import packages, toolchains
from referee.harness.languages.items import Item, Toolchain
from referee.harness.languages.packages import ITEMS
from referee.tools.generated import ROOT


def _of_addons() -> Iterator[tuple[str, Toolchain]]:
    """Yields the toolchains of add-ons that build the kits' programs in their own way."""
    for file in sorted(ROOT.glob("addons/*/languages.py")):
        module = import_module(f"referee.addons.{file.parent.name}.languages")
        for kit, recipe in module.BY_KIT.items():
            yield f"{kit}-{file.parent.name}", recipe.toolchain


TOOLCHAINS: dict[str, Toolchain] = packages.KITS | {
    **dict(_of_addons()),
    "tmux": Toolchain("terminal tests", ("tmux",)),
    "bwrap": Toolchain("bubblewrap tests", ("bwrap",)),
    "openssl": Toolchain("tests of clusters", ("openssl",)),
    "ruby": Toolchain("Ruby tests", ("ruby",)),
    "engines": Toolchain("tests of engines", ("stockfish", "gnugo", "fairymax")),
    "viewer": Toolchain("viewer", ("node", "npm"), ("chromium",)),
}

CORE = ("c",)
"""Toolchains that CI cannot do without: the sandbox and most bots of the tests are compiled by them."""


def works(program: str) -> bool:
    """Whether this machine has a program of that name that prints its version."""
    path = toolchains.find(program)
    return path is not None and toolchains.version(path) is not None


def missing(kit: str, tests: bool = False) -> dict[str, str]:
    """Returns the items that a kit needs and this machine lacks, each with the reason. Empty: the kit can be built.

    `tests`: include what only the kit's own tests need.
    """
    return toolchains.missing(TOOLCHAINS[kit], tests)


def install(items: list[Item]) -> None:
    """Installs packages. Prints the command first, and its output if it fails."""
    system = packages.this_system()
    if system is None:
        return
    options = {"apt-get": ("--yes", "--no-install-recommends"), "dnf": ("--assumeyes",)}.get(system.manager, ())
    line = system.install_line(items, *options)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    lines = line.split("; ")
    if system.manager == "apt-get" and " install " in lines[0]:
        lines.insert(0, lines[0].partition(" install ")[0] + " update")
    for each in lines:
        print(f"running {each}", flush=True)
        done = subprocess.run(
            ["/bin/sh", "-c", each], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        if done.returncode != 0:
            print(done.stdout.decode(errors="replace"))
    toolchains.forget()


def main(kits: list[str]) -> int:
    """Lists what these kits lack, and installs it if allowed. Returns the exit code."""
    tests = not kits
    kits = kits or list(TOOLCHAINS)
    lacking = {kit: reasons for kit in kits if (reasons := missing(kit, tests))}
    if not lacking:
        return 0
    items = [ITEMS[name] for name in dict.fromkeys(name for reasons in lacking.values() for name in reasons)]
    _print(lacking)
    allowed = bool(os.environ.get("YES") or os.environ.get("CI"))
    if not allowed:
        print("To install it:", *packages.install_lines(items), sep="\n  ")
        print("With YES=1 before make, this command installs it.")
        return 0
    install(items)
    lacking = {kit: reasons for kit in kits if (reasons := missing(kit, tests))}
    if lacking:
        _print(lacking)
        print("Tests that need them are skipped.")
    return 1 if lacking.keys() & CORE and os.environ.get("CI") else 0


def _print(lacking: dict[str, dict[str, str]]) -> None:
    print("Missing on this machine:")
    for kit, reasons in lacking.items():
        words = (f"{name} {reason}" for name, reason in reasons.items())
        print(f"  {TOOLCHAINS[kit].name}: {', '.join(words)}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
