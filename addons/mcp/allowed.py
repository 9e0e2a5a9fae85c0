"""The names that a client may use: built-in bots and maps, files in the server's folder, and the bots of `--bot`."""

import shlex
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from referee.harness.common import maps
from referee.harness.common.errors import UsageError
from referee.harness.common.paths import expanded
from referee.harness.programs.kinds import is_path, kind_of, split_name
from referee.harness.programs.spec import refuse_people
from referee.harness.seats.kinds import PERSON
from referee.protocol.text import printable

MAX_BOT_BYTES = 256 << 20
"""The largest file that a client may name as a bot: modules and sources are read whole."""


class Allowed(Struct, frozen=True):
    """The folder and the bots that the user gave to the server."""

    folder: Path
    """The client may name bots and maps in this folder. Links are followed first."""
    bots: Mapping[str, str] = {}
    """Bots of any kind, by the name that the client uses."""

    def bot(self, name: str) -> str:
        """Returns the bot spec that a client means. UsageError if it may not name that."""
        if name in self.bots:
            return self.bots[name]
        rest = split_name(name)[1]
        if rest == PERSON.word:
            raise UsageError(f"{PERSON.word}: the other seats are for programs; name a built-in bot or a file")
        if not kind_of(rest).for_clients:
            raise self._refused(name, "expected @NAME or a path")
        if not is_path(rest):
            return name
        path = self._check(rest, name) if rest else Path()
        if path.is_file() and path.stat().st_size > MAX_BOT_BYTES:
            raise self._refused(name, f"has more than {MAX_BOT_BYTES >> 20} MiB")
        return name

    def check(self, name: str) -> str:
        """Returns the bot spec that a client may have checked. UsageError for any other.

        A check plays many games, so a bot that the user pays for is none.
        """
        spec = self.bot(name)
        rest = split_name(spec)[1]
        if name in self.bots and not kind_of(rest).for_clients:
            raise UsageError(f"{_shown(name)}: expected a program; the server's user checks other kinds of bots")
        return spec

    def map(self, game: str, name: str) -> str:
        """Returns the content of a bundled map, or of a file in the folder. UsageError for any other path."""
        path = self._check(name, f"map {name}")
        if path.is_dir() and name not in maps.names(game):
            raise UsageError(f"map {_shown(name)}: is a folder; expected a file or the name of a map")
        return maps.read(game, name)

    def _check(self, text: str, name: str) -> Path:
        """Returns the path. UsageError if it lies outside the folder, or is neither a file nor a folder."""
        try:
            path = expanded(text).resolve()
            is_special = path.exists() and not (path.is_file() or path.is_dir())
        except (ValueError, OSError, RuntimeError) as error:  # a NUL, a name that is too long, a circle of links
            raise UsageError(f"{_shown(name)}: is no path: {error}") from error
        if not path.is_relative_to(self.folder):
            raise self._refused(name, f"is outside {self.folder}, the folder of this server")
        if is_special:
            raise UsageError(f"{_shown(name)}: is neither a file nor a folder")
        return path

    def _refused(self, name: str, why: str) -> UsageError:
        known = f"; this server also has {', '.join(self.bots)}" if self.bots else ""
        advice = "" if name.startswith("map ") else "; to allow it, the user starts the server with `--bot`"
        return UsageError(f"{_shown(name)}: {why}{known}{advice}")


def _shown(text: str) -> str:
    return printable(text, 200)


def named(specs: tuple[str, ...]) -> dict[str, str]:
    """Returns the bots of `--bot` by name: `NAME` of `NAME=BOT`, or all of it.

    UsageError for people, and for two of one name.
    """
    found: dict[str, str] = {}
    for spec in specs:
        name, rest = split_name(spec)
        refuse_people(rest)
        if (name or spec) in found:
            raise UsageError(f"--bot {shlex.quote(spec)}: there are two bots of that name; write NAME= before one")
        found[name or spec] = spec
    return found
