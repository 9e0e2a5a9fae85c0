"""The command of the program that runs an engine: what of it is the engine's, and which files it names."""

from collections.abc import Sequence
from itertools import pairwise

from referee.addons.engines.options import COMMAND, OPTION
from referee.harness.common.paths import HOME
from referee.harness.isolation.visible_paths import installation, named_folders

RUNNER = HOME / "addons" / "engines" / "run.py"
"""The program that runs engines. Replays name it."""


def engine_in(argv: Sequence[str]) -> tuple[str, ...]:
    """Returns the engine's own command; empty for a command of any other program."""
    if str(RUNNER) not in argv or COMMAND not in argv:
        return ()
    return tuple(argv[argv.index(COMMAND) + 1 :])


def shown(argv: Sequence[str]) -> list[str]:
    """Returns what an engine needs to see: its installation, and the folders of the files among its options."""
    if str(RUNNER) not in argv:
        return []
    options = argv[: argv.index(COMMAND)] if COMMAND in argv else argv
    values = [value.partition("=")[2] for name, value in pairwise(options) if name == OPTION]
    paths = [path for program in engine_in(argv)[:1] for path in installation(program)]
    return paths + [folder for value in values for folder in named_folders(value)]
