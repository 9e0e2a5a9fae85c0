"""What a bot is named by, turned into a program that can be started.

`PATH` (an executable; a folder with `bot.toml`; a source file, run by its suffix), `@NAME` (built in),
`cmd:COMMAND LINE`, `original:[OPTIONS] PATH` (a bot of the game's original competition, which a path may also be
without that word) or `http://ADDRESS` (a team's web service, for the Arena's games); `NAME=` in front gives it a name.
"""

import os
import shlex
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import chain, count
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from referee.games import registry
from referee.games.arena import Battle
from referee.harness.errors import RunError, UsageError
from referee.harness.opponents import OPPONENTS, Opponent
from referee.harness.paths import HOME, KITS
from referee.harness.process.limits import Limits
from referee.harness.programs import archive, build, original_spec, toolchains
from referee.harness.programs.languages import SOURCES
from referee.harness.seats.person import WORD
from referee.harness.seats.script import PREFIX, lines_of
from referee.protocol.errors import printable

DEFAULT_LIMITS = Limits()
NAME_CHARACTERS = 100
"""Of a longer name the rest is cut off."""
PREFIXES = ("@", "cmd:", PREFIX, "original:", "http:", "https:")
"""What begins so names a bot that is no path."""


class Entrant(Struct, frozen=True):
    """A program that takes part."""

    name: str
    argv: tuple[str, ...]
    cwd: Path
    """Where it runs: the bot's own folder, so that it finds its files by relative names."""
    injects: bool = False
    """A cheat of ours, which the referee asks for what it does out of turn. No other bot is trusted with that."""
    engine: bool = False
    """No program: the engine's own answers are played (`referee.harness.seats.seat.EngineSeat`)."""
    human: bool = False
    """No program: a person (`referee.harness.seats.person.Person`), on no clock."""
    script: bool = False
    """No program: lines of a file are played (`referee.harness.seats.script`)."""
    remote: bool = False
    """No program: a client over HTTP, which may speak at any time. `argv` is the URL of its service, if it has one."""


Ready = Callable[[], Entrant]
"""Builds what has to be built and gives the program. Whatever can be wrong with the name itself was found before."""


class BotFile(Struct, forbid_unknown_fields=True):
    """`bot.toml`: how to build and run the bot in a folder. Commands run in that folder."""

    run: list[str] = []
    name: str | None = None
    build: str | None = None
    """A shell command. It and the bot run in a copy of the folder, which is kept for as long as nothing changes."""
    bundle: str = "."
    """The folder that is copied, from this one: `..` for a bot that is built of what lies beside its own folder."""
    exclude: list[str] = []
    """Patterns of paths from that folder: what does not belong to the bot, beside what tools make there."""
    original: str | None = None
    """In place of `run`: a bot of the game's original competition, written as behind `original:`."""
    game: str | None = None
    """What it plays: `--game` is not needed then."""


def entrants(
    specs: Iterable[str],
    game: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
    people: bool = False,
    progress: build.Progress | None = None,
) -> tuple[Entrant, ...]:
    """The programs that are named, built if they say how; of those of one name the later ones get a number, as in
    `@random 2`. UsageError for a wrong name before anything is built; RunError for a failed build.

    `game`: what they are to play, without which bots of its original competition are not recognised. `limits`: those
    that builds are held to. `people`: a person may sit there, `human`; whatever is counted or ranked has none.
    `progress`: hears how long a build takes.
    """
    found = [_find(spec, game, people) for spec in specs]
    with build.under(limits, progress):
        return tuple(told_apart([ready() for ready in found]))


def entrant(
    spec: str, game: str | None = None, limits: Limits = DEFAULT_LIMITS, progress: build.Progress | None = None
) -> Entrant:
    """The program that `spec` names; see `entrants`."""
    return entrants([spec], game, limits, progress=progress)[0]


def told_apart(found: Iterable[Entrant]) -> Iterator[Entrant]:
    """The same programs; of those of one name the later ones get a number."""
    taken: set[str] = set()
    for entrant in found:
        shown = shown_name(entrant.name)
        numbers = (f"{shown} {number}" for number in count(2))
        name = next(name for name in chain([shown], numbers) if name not in taken)
        taken.add(name)
        yield msgspec.structs.replace(entrant, name=name)


def shown_name(name: str) -> str:
    """A bot's name as it may stand on terminals, in records and on pages: a submission says it of itself."""
    return printable(name, NAME_CHARACTERS)


def check_seats(specs: Sequence[str], game: str, every_seat: bool = False) -> None:
    """UsageError if a built-in opponent does not play that game, or not at the seat where it is named.

    `every_seat`: each will take all seats in turn.
    """
    for player, spec in enumerate(specs):
        name = split_name(spec)[1]
        opponent = OPPONENTS.get(name.removeprefix("@")) if name.startswith("@") else None
        if opponent is None:
            continue
        if game not in opponent.seats:
            if opponent.any_game:
                continue
            raise UsageError(f"{name} plays {', '.join(sorted(opponent.seats))}, not {game}")
        seat = opponent.seats[game]
        if seat is not None and (seat != player or every_seat):
            why = "here it would take every seat" if every_seat else f"it was named for seat {player}"
            raise UsageError(f"{name} plays {game} at seat {seat} only; {why}")


def refuse_people(spec: str) -> None:
    """UsageError for a person, and for the script of one, whose seat is in single matches alone."""
    if spec == WORD:
        _person(False)
    if spec.startswith(PREFIX):
        _script(spec.removeprefix(PREFIX), False)


def _find(spec: str, game: str | None, people: bool = False) -> Ready:
    name, rest = split_name(spec)
    if rest == WORD:
        ready = _person(people)
    elif rest.startswith(PREFIX):
        ready = _script(rest.removeprefix(PREFIX), people)
    elif rest.startswith("cmd:"):
        ready = _command(rest.removeprefix("cmd:"))
    elif rest.startswith("@"):
        ready = _built_in(rest)
    elif rest.startswith(("http://", "https://")):
        ready = _service(rest, game)
    elif rest.startswith("original:"):
        ready = _original(original_spec.read(rest.removeprefix("original:"), Path.cwd()), game)
    else:
        ready = _path(rest, game)
    return ready if name is None else lambda: _renamed(ready, name)


def _renamed(ready: Ready, name: str) -> Entrant:
    with build.named(name):
        return msgspec.structs.replace(ready(), name=name)


def split_name(spec: str) -> tuple[str | None, str]:
    """`NAME=` in front, unless the whole is the path of something that is there, or names a bot otherwise."""
    name, equals, rest = spec.partition("=")
    if not equals or not name or "/" in name or name.startswith(PREFIXES) or _is_there(Path(spec)):
        return None, spec
    return name, rest


def _is_there(path: Path) -> bool:
    """Whether there is such a file or folder; also for a text that is too long for any."""
    try:
        return path.exists()
    except OSError:
        return False


def _person(allowed: bool) -> Ready:
    if not allowed:
        raise UsageError(f"{WORD}: people play single matches only; nothing that is ranked or checked has any")
    return lambda: Entrant(WORD, (WORD,), Path.cwd(), human=True)


def _script(path: str, allowed: bool) -> Ready:
    if not path:
        raise UsageError(f"{PREFIX} needs a file with an answer a line, as in {PREFIX}moves.txt")
    if not allowed:
        raise UsageError(f"{PREFIX}{path}: scripts play single matches only; nothing that is ranked or checked has any")
    lines_of(Path(path).expanduser())
    file = Path(path).expanduser().resolve()
    return lambda: Entrant(file.stem, (PREFIX + str(file),), file.parent, script=True)


def _command(line: str) -> Ready:
    try:
        argv = shlex.split(line)
    except ValueError as error:
        raise UsageError(f"cmd:{line}: {error}") from error
    if not argv:
        raise UsageError("cmd: needs a command line, as in cmd:'python3 mybot.py'")
    program = shutil.which(argv[0])
    if program is None:
        raise UsageError(f"cmd:{line}: there is no program {argv[0]!r}")
    scripts = [Path(word).stem for word in argv[1:] if _is_there(Path(word))]
    name = scripts[0] if scripts else Path(argv[0]).stem
    return lambda: Entrant(name, (os.path.abspath(program), *argv[1:]), Path.cwd())


def built_in_names() -> list[str]:
    """The names of the built-in opponents, `@` apart."""
    return list(OPPONENTS)


def _built_in(spec: str) -> Ready:
    name = spec.removeprefix("@")
    if name not in OPPONENTS:
        near = get_close_matches(name, built_in_names(), 1)
        known = ", ".join("@" + known for known in built_in_names())
        raise UsageError(
            f"unknown opponent {spec!r}; " + (f"did you mean @{near[0]}?" if near else f"there are {known}")
        )
    opponent = OPPONENTS[name]
    return lambda: Entrant(spec, _opponent_argv(opponent), HOME, opponent.injects)


def player_of(entrant: Entrant, game: str) -> Entrant:
    """Who plays that game under the entrant's name: `@random` has programs for some, and the engine for all others."""
    if game not in OPPONENTS["random"].seats and entrant.argv == _opponent_argv(OPPONENTS["random"]):
        return msgspec.structs.replace(entrant, argv=("@random",), engine=True)
    return entrant


def built_in_of(argv: Sequence[str]) -> Entrant | None:
    """The built-in opponent that a record's command is, whatever interpreter ran it; None: it is another program."""
    if tuple(argv) == ("@random",):
        return _built_in("@random")()
    for name, opponent in OPPONENTS.items():
        if tuple(argv[1:]) == _opponent_argv(opponent)[1:]:
            return _built_in(f"@{name}")()
    return None


def _opponent_argv(opponent: Opponent) -> tuple[str, ...]:
    return (sys.executable, "-m", f"referee.harness.opponents.{opponent.module}", *opponent.args)


def _service(url: str, game: str | None) -> Ready:
    """A team's web service; only the Arena's games are played with one."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise UsageError(f"{url}: {error}") from error
    if not host or parts.query or parts.fragment or parts.username is not None:
        raise UsageError(f"{url}: wanted is the address of a service such as http://127.0.0.1:5000")
    kind = None if game is None else registry.game(game).new
    if not (isinstance(kind, type) and issubclass(kind, Battle)):
        raise UsageError(
            f"{url}: a web service plays the Arena's games only" + ("" if game is None else f", not {game}")
        )
    return lambda: Entrant(parts.netloc, (url,), Path.cwd(), remote=True)


def _original(bot: original_spec.Original, game: str | None) -> Ready:
    if game is None:
        raise UsageError(f"original:{bot.path}: a game must be named with it")
    bot = bot.found(game)
    folder = bot.path if bot.path.is_dir() else bot.path.parent
    name = folder.name if bot.path.name in (folder.name, "agent.py") else bot.path.stem
    argv = bot.argv(game)
    return lambda: Entrant(name, argv, folder)


def _path(spec: str, game: str | None) -> Ready:
    if not spec:
        raise UsageError("no bot is named: wanted is a path, @NAME or cmd:COMMAND LINE")
    path = Path(spec).expanduser()
    if not _is_there(path):
        hint = "; a name in front of = is not empty and has no /" if "=" in spec else ""
        raise UsageError(f"no bot at {spec!r}: there is no such file or folder{hint}")
    path = path.resolve()
    if game is not None and (bot := original_spec.bot_in(path, game)) is not None:
        return _original(original_spec.Original(bot, root=path if path.is_dir() else None), game)
    if path.is_dir():
        return _folder(path, spec, game)
    if path.suffix in SOURCES:
        return lambda: Entrant(path.stem, SOURCES[path.suffix](path), path.parent)
    if not os.access(path, os.X_OK):
        known = " ".join(sorted(SOURCES))
        raise UsageError(f"{spec} is neither executable nor a source file that can be run by its suffix ({known})")
    name = path.stem if path.suffix[1:].isalpha() else path.name  # `mybot.exe`, but `mybot-1.0`
    return lambda: Entrant(name, (str(path),), path.parent)


def bot_file(folder: Path, spec: str) -> BotFile:
    """What a bot's folder says of it. UsageError if that is nothing that can be run."""
    file = folder / "bot.toml"
    if not file.is_file():
        raise UsageError(f"{spec} is a folder without a bot.toml, which says how to build and run the bot")
    try:
        bot: BotFile = msgspec.convert(tomllib.loads(file.read_text("utf-8-sig")), BotFile)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise UsageError(f"{spec}/bot.toml: {error}") from error
    if bool(bot.run) is (bot.original is not None):
        what = "run and original are both there; one of them says" if bot.run else "run is empty; it takes the program"
        raise UsageError(f"{spec}/bot.toml: {what} {'how to run it' if bot.run else 'and its arguments'}")
    if not folder.is_relative_to(_bundled(bot, folder)):
        raise UsageError(f"{spec}/bot.toml: bundle is {bot.bundle!r}; it takes this folder or one that holds it")
    return bot


def _folder(folder: Path, spec: str, game: str | None) -> Ready:
    bot = bot_file(folder, spec)
    if bot.original is not None:
        agent = original_spec.read(bot.original, folder)
        if not agent.path.is_relative_to(_bundled(bot, folder)):
            raise UsageError(f"{spec}/bot.toml: original names {agent.path}, which lies outside the bot's folder")
        ready = _original(msgspec.structs.replace(agent, root=folder), game)
        return ready if bot.name is None else lambda: msgspec.structs.replace(ready(), name=bot.name)
    return lambda: _built(bot, folder, spec)


def _bundled(bot: BotFile, folder: Path) -> Path:
    return (folder / bot.bundle).resolve()


def _built(bot: BotFile, folder: Path, spec: str) -> Entrant:
    """Runs where it was built; a bot that is not built runs where it is."""
    name = bot.name or folder.name
    if bot.build is not None:
        whole = _bundled(bot, folder)
        inside = folder.relative_to(whole)
        try:
            found = archive.read(whole, bot.exclude)
        except OSError as error:
            raise RunError(f"{spec} cannot be read: {error}") from error
        with build.named(name):
            folder = build.folder(found, ["/bin/sh", "-c", bot.build], inside.as_posix(), spec) / inside
    return Entrant(name, (_program(bot.run[0], folder, spec), *bot.run[1:]), folder)


def _program(word: str, folder: Path, spec: str) -> str:
    """The program of a bot.toml: a path from the folder when it has a slash, else one on the PATH. RunError; of the
    first kind, which is the bot's own, BuildError."""
    program = str(folder / word) if "/" in word else _on_path(word)
    kind = build.BuildError if "/" in word else RunError
    if program is None or not os.path.isfile(program):
        raise kind(f"{spec}/bot.toml: run names {word!r}, which is no program here")
    if not os.access(program, os.X_OK):
        raise kind(f"{spec}/bot.toml: run names {word!r}, which is not executable; chmod +x makes it so")
    return program


def _on_path(word: str) -> str | None:
    return toolchains.find(word) if word in toolchains.KNOWN else shutil.which(word)


def obstacle(program: str) -> str:
    """Why the system does not start a file that is there, in brackets: it says no more than `No such file` of a script
    whose interpreter is missing. Nothing, where that is not plain."""
    try:
        with open(program, "rb") as file:
            first = file.readline(256)
    except OSError:
        return ""
    if not first.startswith(b"#!"):
        known = first.startswith((b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"))
        return "" if known else " (its first line names no interpreter, as #!/usr/bin/env python3 does)"
    interpreter = os.fsdecode(first[2:].removesuffix(b"\n").strip(b" \t").partition(b" ")[0])
    there = os.path.isfile(interpreter)
    return "" if there else f" (its first line names {interpreter!r}, which is not there)"


KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "JAVA_HOME", "SYSTEMROOT", "LD_LIBRARY_PATH")


def environment(scratch: Path) -> dict[str, str]:
    """The variables that a bot sees: where programs are, the language, and a scratch folder for the rest."""
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    return kept | {
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        "PYTHONPATH": str(KITS / "python"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",  # a set of texts has one order in every process: the same seed gives the same answers
        "REFEREE_BOT": "1",  # a kit that sees it keeps prints off the wire from the start, not from run() on
    }
