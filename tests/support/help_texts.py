"""What help texts have in them."""

from collections.abc import Iterator

from cyclopts import App

from referee.harness.cli.command_line import app
from referee.harness.cli.help import commands

MOST = 20
"""Options in a short help."""


def paths(command: App = app, *words: str) -> Iterator[tuple[str, ...]]:
    """Yields the words of each command."""
    yield words
    for name, inner in commands(command).items():
        yield from paths(inner, *words, name)


def listed(text: str) -> list[str]:
    """Returns the options that a help text explains."""
    words = [line.split() for line in text.splitlines() if line.startswith("  -")]
    return [next(word for word in line if word.startswith("--")) for line in words]
