"""The kinds of players: how each is named, where it may play, and how its seat is made.

An add-on adds kinds by the hook `kinds`. An `Entrant` holds the name of its kind; the roster, the match and the screens
ask the kind. Help, the docs' table and all refusals read the registry. Only the table has to be written again, and a
test compares it.

A kind's methods import what they need: the registry is read at every start.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import msgspec

from referee.games.contract import Player
from referee.harness import addons
from referee.harness.common.errors import UsageError
from referee.harness.isolation.plan import Isolation
from referee.harness.programs.entrant import Entrant, Parsed

if TYPE_CHECKING:
    from referee.harness.programs.build_process import BuildContext
    from referee.harness.replay.reader import Replay
    from referee.harness.seats.seat import Seat
    from referee.harness.seats.start import Start


class Kind:
    """A kind of player. Each is a subclass, of which the registry holds one instance."""

    name: ClassVar[str]
    """In the singular. It stands for the kind in an `Entrant`."""
    plural: ClassVar[str]
    """For refusals."""
    place = 1000
    """Its place in the help, and among the kinds that recognise a path: the lowest comes first."""

    # How it is named.
    prefixes: tuple[str, ...] = ()
    """The beginnings of its bot specs."""
    word = ""
    """Its whole bot spec, if it has no prefix."""
    names_file = False
    """A file follows the prefix, which somebody can hand in."""
    help = ""
    """How it is named, in the help of BOTS. Empty: the user cannot name it."""
    rows: tuple[tuple[str, str], ...] = ()
    """Its rows in the docs' table: what it is, in Markdown, and an example."""
    suffix = ""
    """Files with this suffix are of this kind, also those that `run` of a `bot.toml` names."""
    kept_suffix = ""
    """Of what `keep` puts next to a replay for a seat, as in `match.seat0.SUFFIX`."""
    archives: tuple[str, ...] = ()
    """Suffixes of archives that somebody can hand in."""

    # How it plays.
    absent = ""
    """Why it cannot play where the caller makes no seat for it. Then it has no process either."""
    has_process = True
    """A program of this machine plays."""
    settings: type | None = None
    """The type of `Entrant.settings`, if a message can hold them."""
    has_clock = True
    """Its time is limited."""
    out_of_turn = False
    """It is asked whether it acts out of turn."""
    hears_prefix = True
    """It gets the calls of the turns that a match goes on from."""
    late = ""
    """Advice about a late answer, if the CPU time of its process says nothing about the bot; see `late_advice`."""
    takes_variables = True
    """Its program may read environment variables, by which `referee tune` sets parameters."""

    # Where it may play.
    travels = False
    """It can be copied to another machine and into a package."""
    in_series = True
    """It plays wherever a bot is named; otherwise single matches only."""
    for_clients = False
    """A program that plays for its user may name it."""

    def parse(self, spec: str, game: str | None) -> Parsed:
        """Returns the player that a bot spec without `NAME=` is. UsageError for a wrong spec."""
        raise UsageError(f"{spec}: {self.plural} cannot be named here")

    def options(self) -> dict[str, str]:
        """Returns the options in its bot specs, each as it is typed, with what it does, for `--help --all`."""
        return {}

    def recognise(self, path: Path, game: str | None) -> Parsed | None:
        """Returns the player that a path without a prefix is; None if it is none of this kind."""
        return None

    def original(self, text: str, folder: Path, place: str, game: str | None) -> Parsed | None:
        """Returns the player that `original` of a folder's `bot.toml` names, which messages call `place`."""
        return None

    def command(self, file: Path, context: "BuildContext") -> tuple[str, ...]:
        """Returns the command that plays a file with its suffix."""
        raise NotImplementedError

    def modules(self, path: Path, game: str) -> Iterable[Path]:
        """Returns the files that a path without a prefix imports; none for another kind's."""
        return ()

    def paths(self, spec: str, game: str | None) -> Sequence[Path] | None:
        """Returns the files and folders that a bot spec names; None for a kind whose specs name none."""
        return None

    # Its archive, if that is kept and travels as it is. Its identity stands for a hash of the content.

    travels_whole = False
    """Whether a player of this kind is one archive, with the first suffix of `archives`."""

    def identified(self, spec: str) -> tuple[Path, str]:
        """Returns the archive that a bot spec names, and its identity. UsageError for a wrong one, RunError."""
        raise NotImplementedError

    def unpacked(self, name: str, ident: str) -> Entrant | None:
        """Returns the player of this identity; None if it is not unpacked on this machine."""
        return None

    def unpack(self, archive: Path, isolation: Isolation) -> None:
        """Unpacks an archive, once per machine. UsageError for a wrong one, RunError."""
        raise NotImplementedError

    # What a command says, perhaps one from a replay.

    def shown(self, command: Sequence[str]) -> Iterable[str]:
        """Returns the paths outside of its folder that a command may read. None for another kind's."""
        return ()

    def inner(self, command: Sequence[str]) -> tuple[str, ...]:
        """Returns the command of the program that a command runs, as an engine's. Empty for another kind's."""
        return ()

    def in_a_copy(self, command: tuple[str, ...]) -> tuple[str, ...]:
        """Returns a command so that it works in a copy of its folder. Unchanged for another kind's."""
        return command

    def only_names(self, command: Sequence[str]) -> bool:
        """Returns whether a command in a replay, which may lie, stands for such a player, which no command starts."""
        first = "" if self.has_process or not command else command[0]
        return bool(first) and (tuple(command) == (self.word,) or first.startswith(self.prefixes))

    def made(self, command: Sequence[str], folder: str) -> bool:
        """Returns whether a command in a replay, with its folder, is one that this kind makes."""
        return False

    # What a replay holds of it.

    def recorded(
        self, replay: "Replay", player: Player, command: Sequence[str], folder: str, context: "BuildContext"
    ) -> Entrant | None:
        """Returns a player of a replay whose command this kind has `made`, without starting it; None if it is gone."""
        return None

    def from_transcript(self, replay: "Replay", player: Player) -> Entrant | None:
        """Returns a player that answers what a replay has kept; None for another kind's. UsageError if nothing is."""
        return None

    def keep(self, replay: "Replay") -> None:
        """Puts what played at this kind's seats next to the replay. RunError if that fails."""

    # How it plays.

    def start(self) -> "Start | None":
        """Returns how its program starts; None = as any program."""
        return None

    def seat(self, entrant: Entrant) -> "Seat":
        """Returns the seat of one that has no process."""
        raise NotImplementedError

    @property
    def is_named(self) -> bool:
        """Whether the user can name it."""
        return type(self).parse is not Kind.parse

    def matches(self, spec: str) -> bool:
        """Returns whether a bot spec without `NAME=` is of this kind."""
        return self.is_named and (spec == self.word != "" or spec.startswith(self.prefixes))

    def plays(self, entrant: Entrant) -> bool:
        """Returns whether an entrant is of this kind."""
        return entrant.kind == self.name


class Program(Kind):
    """An executable, a folder, a zip file or a source file."""

    name, plural, place = "program", "programs", 0
    help = "PATH (an executable, a folder with bot.toml, a zip file or a source file)"
    rows = (
        ("an executable", "`./mybot`"),
        ("a source file with a known suffix: `{suffixes}`", "`./mybot.cpp`"),
        ("a folder with a `bot.toml`, or a zip file of one", "`starter_kits/java/examples/reantics`, `team.zip`"),
        ("a version that a tournament keeps", "`tournaments/cup/bots/HASH.zip`"),
    )
    travels = for_clients = True

    def parse(self, spec: str, game: str | None) -> Parsed:
        from referee.harness.programs.files import parse

        return parse(spec, game)


class BuiltIn(Kind):
    """`@NAME`."""

    name, plural, place = "built-in bot", "built-in bots", 20
    prefixes = ("@",)
    help = "@random (built in)"
    rows = (("a built-in bot", "`@random`, `@baseline`, `@advanced`, `@C_AI_TELEPORT`"),)
    takes_variables = False
    travels = for_clients = True

    def parse(self, spec: str, game: str | None) -> Parsed:
        from referee.harness.programs.built_in import parse

        return parse(spec, game)


class Cheat(Kind):
    """A built-in bot that acts out of turn."""

    name, plural, place = "built-in cheat", "built-in cheats", 920
    out_of_turn, takes_variables = True, False


class CommandLine(Kind):
    """`cmd:COMMAND LINE`."""

    name, plural, place = "command line", "command lines", 30
    prefixes = ("cmd:",)
    help = "cmd:'COMMAND LINE'"
    rows = (("a command line", "`cmd:'python3 -u mybot.py --depth 4'`"),)

    def parse(self, spec: str, game: str | None) -> Parsed:
        from referee.harness.programs.spec import command

        return command(spec)

    def paths(self, spec: str, game: str | None) -> Sequence[Path]:
        from referee.harness.programs.adapter_options import named_paths

        return named_paths(spec)


PATH, CHEAT = Program(), Cheat()
KINDS = (PATH, BuiltIn(), CommandLine(), CHEAT)


@cache
def all_kinds() -> tuple[Kind, ...]:
    """Returns all kinds, in the order of the help."""
    return tuple(sorted(chain.from_iterable(addons.hooks().kinds()), key=lambda kind: kind.place))


def kind_of(spec: str) -> Kind:
    """Returns the kind of a bot spec without `NAME=`: that of a path if it has no prefix."""
    return next((kind for kind in all_kinds() if kind.matches(spec)), PATH)


@cache
def called(name: str) -> Kind:
    """Returns the kind of this name. KeyError if there is none."""
    return {kind.name: kind for kind in all_kinds()}[name]


def received(entrant: Entrant) -> Entrant:
    """Returns an entrant as it was before it was sent in a message. msgspec.ValidationError for wrong settings."""
    if entrant.settings is None:
        return entrant
    return msgspec.structs.replace(entrant, settings=msgspec.convert(entrant.settings, called(entrant.kind).settings))


def kind_in_replay(command: Sequence[str]) -> Kind | None:
    """Returns the kind that a command in a replay stands for, if no command can start such a player; else None."""
    return next((kind for kind in all_kinds() if kind.only_names(command)), None)


def kind_that_made(command: Sequence[str], folder: str) -> Kind | None:
    """Returns the kind that makes such commands; None if they start a program."""
    return next((kind for kind in all_kinds() if kind.made(command, folder)), None)


def from_transcript(replay: "Replay", player: Player) -> Entrant | None:
    """Returns a player that answers what a replay has kept of it; None if no kind keeps such a thing."""
    found = (kind.from_transcript(replay, player) for kind in all_kinds())
    return next((each for each in found if each is not None), None)


def keep(replay: "Replay") -> None:
    """Puts what played in a match next to its replay, as far as its kinds can. RunError if that fails."""
    for kind in all_kinds():
        kind.keep(replay)


def kept_suffixes() -> tuple[str, ...]:
    """Returns the suffixes of what `keep` puts next to a replay for each seat."""
    return tuple([kind.kept_suffix for kind in all_kinds() if kind.kept_suffix])


def kind_of_suffix(suffix: str) -> Kind | None:
    """Returns the kind of the files with this suffix; None if they are source files or programs."""
    return next((kind for kind in all_kinds() if kind.suffix == suffix != ""), None)


def suffixes() -> tuple[str, ...]:
    """Returns the suffixes of files that are players of a kind of their own."""
    return tuple([kind.suffix for kind in all_kinds() if kind.suffix])


def recognised(path: Path, game: str | None) -> Parsed | None:
    """Returns the player of another kind that a path without a prefix is; None for a program.

    UsageError for a folder with several players.
    """
    found = (kind.recognise(path, game) for kind in all_kinds())
    return next((parsed for parsed in found if parsed is not None), None)


def original(text: str, folder: Path, place: str, game: str | None) -> Parsed:
    """Returns the player that `original` of a folder's `bot.toml` names. UsageError if no kind knows such players."""
    found = (kind.original(text, folder, place, game) for kind in all_kinds())
    parsed = next((parsed for parsed in found if parsed is not None), None)
    if parsed is None:
        raise UsageError(f"{place}: original = {text!r}: no add-on of this installation plays such bots")
    return parsed


def archives(named: bool) -> tuple[str, ...]:
    """Returns the suffixes of archives that are players: `named`, those that need a prefix, or all others."""
    return tuple([suffix for kind in all_kinds() for suffix in kind.archives if kind.names_file is named])


def named_archive(suffix: str) -> Kind | None:
    """Returns the kind whose prefix names archives with this suffix; None if there is none."""
    return next((kind for kind in all_kinds() if kind.names_file and suffix in kind.archives), None)


def modules(path: Path, game: str) -> tuple[Path, ...]:
    """Returns the files that a path without a prefix imports, if it is a player whose kind knows them."""
    return tuple([file for kind in all_kinds() for file in kind.modules(path, game)])


def in_a_copy(command: tuple[str, ...]) -> tuple[str, ...]:
    """Makes a command work in a copy of its folder, if its kind can. Returns any other command unchanged."""
    for kind in all_kinds():
        command = kind.in_a_copy(command)
    return command


def shown(command: Sequence[str]) -> tuple[str, ...]:
    """Returns the paths outside of its folder that a command of a kind may read."""
    return tuple([path for kind in all_kinds() for path in kind.shown(command)])


def inner(command: Sequence[str]) -> tuple[str, ...]:
    """Returns the command of the program that a command of a kind runs; empty if it runs none, as any other command."""
    return next((found for kind in all_kinds() if (found := kind.inner(command))), ())


def late_advice(command: Sequence[str]) -> str | None:
    """Returns the advice about a late answer of a player that the user's own program does not compute; it may be empty.

    None for a program, whose CPU time says more.
    """
    for kind in all_kinds():
        if kind.only_names(command) or kind.made(command, "") or kind.inner(command):
            return kind.late
    return None


def is_path(spec: str) -> bool:
    """Returns whether a bot spec without `NAME=` is a path, without a prefix."""
    return kind_of(spec) is PATH


def prefixes(of: Callable[[Kind], bool] = lambda kind: True) -> tuple[str, ...]:
    """Returns the prefixes of some kinds, or of all."""
    return tuple([prefix for kind in all_kinds() if kind.is_named and of(kind) for prefix in kind.prefixes])


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
    forms = ", ".join(kind.help for kind in all_kinds() if kind.help)
    return f"One for each seat: {forms}. NAME= before it names the bot."


def options_help() -> dict[str, dict[str, str]]:
    """Returns the options in bot specs, by a title for each kind that explains some."""
    return {f"Options of a {kind.name}": options for kind in all_kinds() if (options := kind.options())}


def table(source_suffixes: str) -> Iterator[str]:
    """Yields the lines of the table in `docs/reference/bots-and-limits.md`."""
    yield "| a bot is | for example |"
    yield "| --- | --- |"
    for kind in all_kinds():
        yield from (f"| {what.format(suffixes=source_suffixes)} | {example} |" for what, example in kind.rows)
    yield "| any of these, with a name | `old=./mybot-1.0` |"
