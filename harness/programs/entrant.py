"""A player of a match, as the bot spec says it: its name, its command and its folder."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, count
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from referee.harness.common.errors import UsageError
from referee.harness.isolation.plan import Image
from referee.harness.programs.build_process import BuildContext
from referee.protocol.text import printable

NAME_CHARACTERS = 100
"""Longer names are cut off."""


class Entrant(Struct, frozen=True, cache_hash=True):
    """A player that takes part in a match."""

    name: str
    argv: tuple[str, ...]
    cwd: Path
    """Where it runs: the bot's own folder, so that it finds its files by relative names. Of an image, its root."""
    kind: str = "program"
    """The name of its kind (`referee.harness.programs.kinds`), which knows how it is seated."""
    settings: Any = None
    """A value of its kind's own, such as how a service is asked. Never taken from a replay or a submission: they
    could name a service and a variable of their own to get a secret."""
    image: Image | None = None
    """How its container image runs: then `argv` names a program in the image."""
    named: tuple[str, ...] | None = None
    """The beginning of `argv` that is the user's or ours, and may name files that the bot reads. None = all of it.

    What a submission says in its `bot.toml` is no part of this: there, a path is a plain string.
    """

    variables: tuple[tuple[str, str], ...] = ()
    """Environment variables that the user gives it, by name."""

    @property
    def named_words(self) -> tuple[str, ...]:
        """`named`, or the whole command."""
        return self.argv if self.named is None else self.named


Build = Callable[[BuildContext], Entrant]
"""Builds a bot whose spec has been checked already."""
Parsed = tuple[str, Build]
"""A bot's name, and how it is built."""


def with_unique_names(bots: Iterable[Entrant]) -> Iterator[Entrant]:
    """Numbers bots of the same name, as in `@random 2`."""
    taken: set[str] = set()
    for bot in bots:
        first = shown_name(bot.name)
        numbered = (f"{first} {number}" for number in count(2))
        name = next(name for name in chain([first], numbered) if name not in taken)
        taken.add(name)
        yield msgspec.structs.replace(bot, name=name)


def shown_name(name: str) -> str:
    """Returns a bot's name as terminals, replays and pages can show it: a submission chooses its own name."""
    return printable(name, NAME_CHARACTERS)


def check_utf8(*paths: str) -> None:
    """UsageError for a path that is not UTF-8, which no replay and no JSON can hold."""
    for path in paths:
        if not path.isascii() and path != path.encode("utf-8", "replace").decode():
            raise UsageError(f"{printable(path)}: this path is not UTF-8; rename it")
