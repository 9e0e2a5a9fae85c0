"""Prints the add-ons whose tests are enough for what has changed since a commit; nothing if every test is needed.

python -m referee.tools.changed_addons origin/main
"""

import subprocess
import sys
from collections.abc import Iterable
from importlib import import_module

from referee.tools.generated import ROOT

ADDONS = sorted(file.parent.name for file in ROOT.glob("addons/*/addon.py"))


def needing(addon: str) -> set[str]:
    """Returns the add-on and those that need it, directly or not."""
    found = {addon}
    while more := {each for each in ADDONS if found & set(_needs(each))} - found:
        found |= more
    return found


def _needs(addon: str) -> tuple[str, ...]:
    needs: tuple[str, ...] = import_module(f"referee.addons.{addon}.addon").NEEDS
    return needs


def enough(files: Iterable[str]) -> set[str]:
    """Returns the add-ons whose tests are enough if these files have changed; none if every test is needed."""
    found: set[str] = set()
    for file in files:
        top, *inside = file.removeprefix("tests/").split("/")
        if top != "addons" or inside[0] not in ADDONS:
            return set()
        found |= needing(inside[0])
    return found


def main() -> None:
    """Prints the names in one line."""
    command = ["git", "diff", "--name-only", "-z", f"{sys.argv[1]}...HEAD"]
    changed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    print(*sorted(enough(filter(None, changed.split("\0")))))


if __name__ == "__main__":
    main()
