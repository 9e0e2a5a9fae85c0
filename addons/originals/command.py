"""The command of the program that runs an agent of an original competition, and the files that it names."""

from collections.abc import Sequence

from referee.harness.common.paths import HOME

RUNNER = HOME / "addons" / "originals" / "run.py"
"""The program that runs agents. Replays name it."""
ROOT, MODULE = "--root=", "--module="
"""Its options: the bot's folder; a module of the folder above the agent's."""


def shown(argv: Sequence[str]) -> list[str]:
    """Returns the paths outside of its folder that an agent may read."""
    if str(RUNNER) not in argv:
        return []
    return [word.partition("=")[2] for word in argv if word.startswith((ROOT, MODULE))]


def working_in_a_copy(argv: tuple[str, ...]) -> tuple[str, ...]:
    """Makes the command of an original bot work in a copy of its folder. Returns any other command unchanged."""
    return (*argv[:-1], "--copy", argv[-1]) if argv[1:2] == (str(RUNNER),) else argv
