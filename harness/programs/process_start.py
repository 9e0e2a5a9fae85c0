"""The environment variables and the command with which a bot's process starts."""

import os
from pathlib import Path

from referee.harness.common.paths import KITS
from referee.harness.languages.registry import BY_RUNTIME

VARIABLES = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "JAVA_HOME", "SYSTEMROOT", "LD_LIBRARY_PATH")
SETTINGS = {
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",  # a set of strings has the same order in every process, so that a seed fixes the answers
    "REFEREE_BOT": "1",  # makes a kit keep prints off the wire from the start, and not only after run()
}
"""Environment variables of all bots. Those of an image come on top, inside the sandbox."""


def environment() -> dict[str, str]:
    """Returns a bot's environment variables, except those of `scratch_variables`. Not for an image."""
    variables = {name: os.environ[name] for name in VARIABLES if name in os.environ}
    return variables | {"PYTHONPATH": str(KITS / "python")} | SETTINGS


def scratch_variables(scratch: Path) -> dict[str, str]:
    """Returns the environment variables of a bot's home and of its temporary folder."""
    return {"HOME": str(scratch), "TMPDIR": str(scratch)}


def sized_command(argv: tuple[str, ...], memory_bytes: int | None) -> tuple[str, ...]:
    """Returns the command with the memory limit of a runtime. An option of the bot's own wins."""
    language = BY_RUNTIME.get(Path(argv[0]).name) if argv else None
    if memory_bytes is None or language is None or language.memory_options is None:
        return argv
    return (argv[0], *language.memory_options(memory_bytes), *argv[1:])
