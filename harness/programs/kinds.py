"""The kinds of players that a bot spec can name: how each is written, and where it may play.

`KINDS` is the registry. A kind is one `Kind` in it; help, the docs' table and all refusals read it.
"""

import os
from collections.abc import Callable, Iterator

from msgspec import Struct

from referee.harness.programs.entrant import Parsed


class Kind(Struct, frozen=True, eq=False, kw_only=True):
    """A kind of player."""

    name: str
    """In the plural, for refusals."""
    parse: Callable[[str, str | None], Parsed]
    """Takes a bot spec without `NAME=` and the game; UsageError for a wrong spec."""
    help: str
    """How it is named, in the help of BOTS."""
    rows: tuple[tuple[str, str], ...]
    """Its rows in the docs' table: what it is, in Markdown, and an example."""
    prefixes: tuple[str, ...] = ()
    """The beginnings of its bot specs. The kind without any is a path."""
    word: str = ""
    """Its whole bot spec, if it has no prefix."""
    travels: bool = False
    """It can be copied to another machine and into a package."""
    in_series: bool = True
    """It plays wherever a bot is named; otherwise single matches only."""
    for_clients: bool = False
    """A client may name it over MCP."""
    names_file: bool = False
    """A file follows the prefix, which a team can hand in."""

    def matches(self, spec: str) -> bool:
        """Returns whether a bot spec without `NAME=` is of this kind."""
        return spec == self.word != "" or spec.startswith(self.prefixes)


KINDS: list[Kind] = []
"""In the order of the help. `spec` adds the first ones."""


def kind_of(spec: str) -> Kind:
    """Returns the kind of a bot spec without `NAME=`: that of a path if it has no prefix."""
    return next((kind for kind in KINDS if kind.matches(spec)), KINDS[0])


def is_path(spec: str) -> bool:
    """Returns whether a bot spec without `NAME=` is a path, without a prefix."""
    return kind_of(spec) is KINDS[0]


def prefixes(of: Callable[[Kind], bool] = lambda kind: True) -> tuple[str, ...]:
    """Returns the prefixes of some kinds, or of all."""
    return tuple([prefix for kind in KINDS if of(kind) for prefix in kind.prefixes])


def split_name(spec: str) -> tuple[str | None, str]:
    """Splits `NAME=` from a bot spec, unless all of it is an existing path or has another meaning."""
    name, equals, rest = spec.partition("=")
    if not equals or not name or "/" in name or name.startswith(prefixes()) or os.path.exists(spec):
        return None, spec
    return name, rest


def split_file(spec: str) -> tuple[str, str]:
    """Splits the prefix from a bot spec whose rest is a file; the prefix of a path is empty."""
    kind = kind_of(spec)
    prefix = next((prefix for prefix in kind.prefixes if kind.names_file and spec.startswith(prefix)), "")
    return prefix, spec.removeprefix(prefix)


def bots_help() -> str:
    """Returns the help of BOTS."""
    forms = ", ".join(kind.help for kind in KINDS)
    return f"One for each seat: {forms}. NAME= before it names the bot."


def table() -> Iterator[str]:
    """Yields the lines of the table in `docs/reference/bots-and-limits.md`."""
    yield "| a bot is | for example |"
    yield "| --- | --- |"
    for kind in KINDS:
        yield from (f"| {what} | {example} |" for what, example in kind.rows)
    yield "| any of these, with a name | `old=./mybot-1.0` |"
