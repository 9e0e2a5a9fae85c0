"""`make play`: the C++ example bot against the Java one at ReAntics; a Python bot for each that cannot be built."""

import sys
from pathlib import Path

from referee.harness.cli.main import main
from referee.tools.toolchains import TOOLCHAINS, missing

KITS = Path("starter_kits")


def bot(kit: str) -> str:
    """Returns the kit's ReAntics bot; the Python kit's if it cannot be built here, after saying so."""
    lacking = missing(kit)
    if lacking:
        name = TOOLCHAINS[kit].name
        print(f"The {name} bot cannot be built without {', '.join(lacking)}. A Python bot takes its place.")
        return f"python-for-{kit}={KITS / 'python' / 'examples' / 'reantics'}"
    return f"{kit}={KITS / kit / 'examples' / 'reantics'}"


if __name__ == "__main__":
    sys.exit(main(["--game", "reantics", bot("cpp"), bot("java"), *sys.argv[1:]]))
