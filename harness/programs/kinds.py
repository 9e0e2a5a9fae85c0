"""The kinds of players: how each is named, where it may play, and how its seat is made.

To add a kind, make the folder `addons/NAME/` with a `kind.py` that holds `KINDS`, a tuple of `Kind`. The registry
finds it there. An `Entrant` holds the name of its kind; the roster, the match and the screens ask the kind. Help, the
docs' table and all refusals read the registry. Only the table has to be written again, and a test compares it.

A kind names its functions as "module:function". They are imported when they are needed: a `kind.py` imports this module
and nothing else that is slow.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import msgspec
from msgspec import Struct

from referee.harness.programs.entrant import Entrant, Parsed

ADDONS = "referee.addons"
"""The package whose folders are searched for kinds."""
MODULE = "kind"
"""The name of the module in such a folder."""


class Kind(Struct, frozen=True, eq=False, kw_only=True):
    """A kind of player."""

    name: str
    """In the singular. It stands for the kind in an `Entrant`."""
    plural: str
    """For refusals."""
    place: int = 1000
    """Its place in the help, and among the kinds that recognise a path: the lowest comes first."""

    # How it is named.
    prefixes: tuple[str, ...] = ()
    """The beginnings of its bot specs."""
    word: str = ""
    """Its whole bot spec, if it has no prefix."""
    names_file: bool = False
    """A file follows the prefix, which a team can hand in."""
    help: str = ""
    """How it is named, in the help of BOTS. Empty: the user cannot name it."""
    options: str = ""
    """Returns the options in its bot specs, each as it is typed, with what it does: `--help --all` explains them."""
    rows: tuple[tuple[str, str], ...] = ()
    """Its rows in the docs' table: what it is, in Markdown, and an example."""
    parse: str = ""
    """Takes a bot spec without `NAME=` and the game; returns a `Parsed`. UsageError for a wrong spec."""
    recognise: str = ""
    """Takes a path without a prefix and the game; returns a `Parsed`, or None if it is no player of this kind."""
    bot_file: str = ""
    """Takes `original` of a `bot.toml`, its folder, the place for messages and the game; returns a `Parsed`."""
    suffix: str = ""
    """Files with this suffix are of this kind, also those that `run` of a `bot.toml` names."""
    build: str = ""
    """Takes such a file and a `BuildContext`; returns the command of its program."""

    # Which files it has.
    archives: tuple[str, ...] = ()
    """Suffixes of archives that a team can hand in."""
    modules: str = ""
    """Takes a path without a prefix and the game; returns the files that it imports. Empty for another kind's."""
    paths: str = ""
    """Takes a bot spec and the game; returns the files and folders that it names. Without it, it names none."""

    # What a command says, perhaps one from a replay.
    shown: str = ""
    """Takes a command; returns the paths outside of its folder that it may read. None for another kind's."""
    inner: str = ""
    """Takes a command; returns that of the program which it runs, as an engine's. Empty for another kind's."""
    in_a_copy: str = ""
    """Takes a command; returns it so that it works in a copy of its folder. Unchanged for another kind's."""
    in_replay: str = ""
    """Takes a command from a replay, which may lie; returns whether it stands for such a player, and starts none.
    Empty: its word and its prefixes tell."""

    # How it plays.
    start: str = "referee.harness.seats.start:Start"
    """The class that starts its program: `Start`, or a subclass."""
    seat: str = ""
    """Takes an `Entrant` and returns its seat, if it has no process."""
    absent: str = ""
    """Why it cannot play where the caller makes no seat for it. Then it has no process either."""
    settings: str = ""
    """The type of `Entrant.settings`; empty: it has none, or some that no message can hold."""
    has_clock: bool = True
    """Its time is limited."""
    out_of_turn: bool = False
    """It is asked whether it acts out of turn."""
    hears_prefix: bool = True
    """It gets the calls of the turns that a match goes on from."""

    takes_variables: bool = True
    """Its program may read environment variables, by which `referee tune` sets parameters."""

    # Where it may play.
    travels: bool = False
    """It can be copied to another machine and into a package."""
    in_series: bool = True
    """It plays wherever a bot is named; otherwise single matches only."""
    for_clients: bool = False
    """A client may name it over MCP."""

    def matches(self, spec: str) -> bool:
        """Returns whether a bot spec without `NAME=` is of this kind."""
        return bool(self.parse) and (spec == self.word != "" or spec.startswith(self.prefixes))

    def plays(self, entrant: Entrant) -> bool:
        """Returns whether an entrant is of this kind."""
        return entrant.kind == self.name

    @property
    def has_process(self) -> bool:
        """Whether a program of this machine plays."""
        return not (self.seat or self.absent)

    def only_names(self, command: Sequence[str]) -> bool:
        """Returns whether a command in a replay stands for a player of this kind, which no command can start."""
        if self.in_replay:
            return bool(function(self.in_replay)(command))
        first = "" if self.has_process or not command else command[0]
        return bool(first) and (tuple(command) == (self.word,) or first.startswith(self.prefixes))


PATH = Kind(
    name="program",
    plural="programs",
    place=0,
    help="PATH (an executable, a folder with bot.toml, a zip file or a source file)",
    rows=(
        ("an executable", "`./mybot`"),
        ("a source file with a known suffix: `{suffixes}`", "`./mybot.cpp`"),
        ("a folder with a `bot.toml`, or a zip file of one", "`starter_kits/java/examples/reantics`, `team.zip`"),
        ("a version that a tournament or `referee improve` keeps", "`tournaments/cup/bots/HASH.zip`"),
    ),
    parse="referee.harness.programs.files:parse",
    travels=True,
    for_clients=True,
)
PERSON = Kind(
    name="person",
    plural="people",
    place=40,
    word="human",
    help="human (you, in this terminal)",
    rows=(("you, in the terminal or on a page", "`human`"),),
    parse="referee.harness.seats.person:parse",
    absent="no person can play here; `referee play` takes people",
    has_clock=False,
    hears_prefix=False,
    in_series=False,
)
SCRIPT = Kind(
    name="script",
    plural="scripts",
    place=50,
    prefixes=("script:",),
    help="script:FILE (an answer a line, then the first legal ones)",
    rows=(("a file with one answer on each line", "`script:opening.txt`"),),
    parse="referee.harness.seats.script:parse",
    seat="referee.harness.seats.script:seat",
    hears_prefix=False,
    in_series=False,
)
SERVICE = Kind(
    name="web service",
    plural="web services",
    place=900,
    prefixes=("http:", "https:"),
    help="http:// or https://ADDRESS (a team's web service, for the Arena's games)",
    rows=(("a team's web service, for games of the Arena", "`http://127.0.0.1:5000`"),),
    parse="referee.harness.programs.spec:service",
    absent="a web service plays at a seat of `referee --game`, and nowhere else",
    in_series=False,
)
FUNCTION = Kind(
    name="Python function",
    plural="Python functions",
    place=910,
    prefixes=("function:",),
    seat="referee.harness.seats.function:FunctionSeat",
    has_clock=False,
    in_series=False,
)
CHEAT = Kind(name="built-in cheat", plural="built-in cheats", place=920, out_of_turn=True, takes_variables=False)
RANDOM = Kind(
    name="random player",
    plural="random players",
    place=930,
    seat="referee.harness.seats.random_seat:seat",
    takes_variables=False,
)
CORE = (
    PATH,
    Kind(
        name="built-in bot",
        plural="built-in bots",
        place=20,
        prefixes=("@",),
        help="@random (built in)",
        rows=(("a built-in bot", "`@random`, `@baseline`, `@advanced`, `@C_AI_TELEPORT`"),),
        parse="referee.harness.programs.built_in:parse",
        takes_variables=False,
        travels=True,
        for_clients=True,
    ),
    Kind(
        name="command line",
        plural="command lines",
        place=30,
        prefixes=("cmd:",),
        paths="referee.harness.programs.spec:command_paths",
        help="cmd:'COMMAND LINE'",
        rows=(("a command line", "`cmd:'python3 -u mybot.py --depth 4'`"),),
        parse="referee.harness.programs.spec:command",
    ),
    PERSON,
    SCRIPT,
    SERVICE,
    FUNCTION,
    CHEAT,
    RANDOM,
)
"""The kinds that are no adapter's."""


@cache
def kinds() -> tuple[Kind, ...]:
    """Returns all kinds, in the order of the help."""
    found = list(CORE)
    for folder in import_module(ADDONS).__path__:
        for name in sorted(os.listdir(folder)):
            if os.path.isfile(f"{folder}/{name}/{MODULE}.py"):
                found += import_module(f"{ADDONS}.{name}.{MODULE}").KINDS
    return tuple(sorted(found, key=lambda kind: kind.place))


@cache
def function(name: str) -> Any:
    """Returns what "module:function" names."""
    return resolve_name(name)


def kind_of(spec: str) -> Kind:
    """Returns the kind of a bot spec without `NAME=`: that of a path if it has no prefix."""
    return next((kind for kind in kinds() if kind.matches(spec)), PATH)


@cache
def called(name: str) -> Kind:
    """Returns the kind of this name. KeyError if there is none."""
    return {kind.name: kind for kind in kinds()}[name]


def received(entrant: Entrant) -> Entrant:
    """Returns an entrant as it was before it was sent in a message. msgspec.ValidationError for wrong settings."""
    if entrant.settings is None:
        return entrant
    settings = msgspec.convert(entrant.settings, function(called(entrant.kind).settings))
    return msgspec.structs.replace(entrant, settings=settings)


def kind_in_replay(command: Sequence[str]) -> Kind | None:
    """Returns the kind that a command in a replay stands for, if no command can start such a player; else None."""
    return next((kind for kind in kinds() if kind.only_names(command)), None)


def kind_of_suffix(suffix: str) -> Kind | None:
    """Returns the kind of the files with this suffix; None if they are source files or programs."""
    return next((kind for kind in kinds() if kind.suffix == suffix != ""), None)


def suffixes() -> tuple[str, ...]:
    """Returns the suffixes of files that are players of a kind of their own."""
    return tuple([kind.suffix for kind in kinds() if kind.suffix])


def recognised(path: Path, game: str | None) -> Parsed | None:
    """Returns the player of another kind that a path without a prefix is; None for a program.

    UsageError for a folder with several players.
    """
    for kind in kinds():
        if kind.recognise and (parsed := function(kind.recognise)(path, game)) is not None:
            found: Parsed = parsed
            return found
    return None


def archives(named: bool) -> tuple[str, ...]:
    """Returns the suffixes of archives that are players: `named`, those that need a prefix, or all others."""
    return tuple([suffix for kind in kinds() for suffix in kind.archives if kind.names_file is named])


def modules(path: Path, game: str) -> tuple[Path, ...]:
    """Returns the files that a path without a prefix imports, if it is a player whose kind knows them."""
    return tuple([file for kind in kinds() if kind.modules for file in function(kind.modules)(path, game)])


def in_a_copy(command: tuple[str, ...]) -> tuple[str, ...]:
    """Makes a command work in a copy of its folder, if its kind can. Returns any other command unchanged."""
    for kind in kinds():
        command = function(kind.in_a_copy)(command) if kind.in_a_copy else command
    return command


def shown(command: Sequence[str]) -> tuple[str, ...]:
    """Returns the paths outside of its folder that a command of a kind may read."""
    return tuple([path for kind in kinds() if kind.shown for path in function(kind.shown)(command)])


def inner(command: Sequence[str]) -> tuple[str, ...]:
    """Returns the command of the program that a command of a kind runs; empty if it runs none, as any other command."""
    return next((found for kind in kinds() if kind.inner and (found := function(kind.inner)(command))), ())


def is_path(spec: str) -> bool:
    """Returns whether a bot spec without `NAME=` is a path, without a prefix."""
    return kind_of(spec) is PATH


def prefixes(of: Callable[[Kind], bool] = lambda kind: True) -> tuple[str, ...]:
    """Returns the prefixes of some kinds, or of all."""
    return tuple([prefix for kind in kinds() if kind.parse and of(kind) for prefix in kind.prefixes])


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
    forms = ", ".join(kind.help for kind in kinds() if kind.help)
    return f"One for each seat: {forms}. NAME= before it names the bot."


def options_help() -> dict[str, dict[str, str]]:
    """Returns the options in bot specs, by a title for each kind that explains some."""
    return {f"Options of a {each.name}": function(each.options)() for each in kinds() if each.options}


def table(source_suffixes: str) -> Iterator[str]:
    """Yields the lines of the table in `docs/reference/bots-and-limits.md`."""
    yield "| a bot is | for example |"
    yield "| --- | --- |"
    for kind in kinds():
        yield from (f"| {what.format(suffixes=source_suffixes)} | {example} |" for what, example in kind.rows)
    yield "| any of these, with a name | `old=./mybot-1.0` |"
