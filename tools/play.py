"""`make play`: the C++ example bot against the Java one at ReAntics; a Python bot for each that cannot be built."""

import sys
from pathlib import Path

from referee.harness.cli.main import main
from referee.tools.toolchains import TOOLCHAINS, missing

KITS = Path("starter_kits")


def bot(kit: str) -> str:
    """The kit's ReAntics bot, or the Python kit's with a word on why."""
    lacking = missing(kit)
    if lacking:
        name = TOOLCHAINS[kit].name
        print(f"no {name} bot: this machine lacks {', '.join(lacking)}; a Python bot plays in its place")
        return f"python-for-{kit}={KITS / 'python' / 'examples' / 'reantics'}"
    return f"{kit}={KITS / kit / 'examples' / 'reantics'}"


if __name__ == "__main__":
    sys.exit(main(["--game", "reantics", bot("cpp"), bot("java"), *sys.argv[1:]]))
