"""Options and arguments of all commands, found by their type."""

from collections.abc import Iterator
from typing import Any, get_args

from cyclopts import App

from referee.harness.cli.command_line import app
from referee.harness.cli.help import commands


def has_type(hint: Any, types: tuple[type, ...]) -> bool:
    return hint in types or any(has_type(part, types) for part in get_args(hint))


def found(types: tuple[type, ...], command: App = app, name: str = "") -> Iterator[tuple[str, str, int | None]]:
    """Yields each option that takes such a value: its command, its name, and its place if it is an argument."""
    for word, inner in commands(command).items():
        yield from found(types, inner, f"{name} {word}".strip())
    if name and command.default_command is not None:
        for each in command.assemble_argument_collection():
            if has_type(each.hint, types):
                yield name, each.name, each.index
