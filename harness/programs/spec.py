"""Turns a bot spec, which is what the user types, into a program that can be started.

A bot spec is one of:

- `PATH`: an executable, a folder with `bot.toml`, a zip file of one, a source file, a module of WebAssembly (`.wasm`),
  a bot of the game's original competition, or a Kaggle agent
- `@NAME`: a built-in opponent
- `cmd:COMMAND LINE`
- `original:[OPTIONS] PATH`: a bot of the game's original competition
- `kaggle:[OPTIONS] PATH`: a Kaggle agent
- `uci:[OPTIONS] ENGINE`, and `ugi:`, `gtp:`, `cecp:`: an engine of one of these protocols
- `llm:[OPTIONS] MODEL`: a language model, by its service
- `oci:IMAGE.tar`: a container image, as `docker save` writes it
- `http://ADDRESS`: a team's web service, for the Arena's games
- `human` and `script:FILE`: a person or a prepared list of answers, in single matches only

`NAME=` before any of these names the bot.
"""

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from importlib.util import find_spec
from itertools import chain, count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from referee.games import registry
from referee.games.arena import Battle
from referee.harness.adapters.engines import spec as engine_spec
from referee.harness.adapters.images import image
from referee.harness.adapters.kaggle import spec as kaggle_spec
from referee.harness.adapters.llm import spec as llm_spec
from referee.harness.adapters.originals import spec as original_spec
from referee.harness.adapters.wasm import runner
from referee.harness.errors import UsageError
from referee.harness.isolation.plan import Image
from referee.harness.opponents import OPPONENTS, Opponent, opponents
from referee.harness.paths import HOME, expanded, read_limited
from referee.harness.process.limits import DEFAULT_LIMITS, Limits
from referee.harness.programs import zip_archive
from referee.harness.programs.bot_file import build_bot, read_bot_file
from referee.harness.programs.build_process import BuildContext, Progress
from referee.harness.programs.source_file import SOURCES, starts_itself
from referee.harness.records import ModelSettings
from referee.protocol.text import printable

WORD = "human"
"""Names a person on the command line, and stands for the command in replays."""
PREFIX = "script:"
SERVICES = ("http:", "https:")
FUNCTION = "function:"
"""Precedes the name of a Python function, which stands for its command in replays."""
NAME_CHARACTERS = 100
"""Longer names are cut off."""


class Entrant(Struct, frozen=True, cache_hash=True):
    """A program that takes part in a match."""

    name: str
    argv: tuple[str, ...]
    cwd: Path
    """Where it runs: the bot's own folder, so that it finds its files by relative names. Of an image, its root."""
    injects: bool = False
    """A built-in cheat that may act out of turn."""
    engine: bool = False
    """Not a program: the engine's own answers are played (`referee.harness.seats.engine.EngineSeat`)."""
    human: bool = False
    """Not a program: a person (`referee.harness.seats.person.Person`), without a clock."""
    script: bool = False
    """Not a program: the answers of a file are played (`referee.harness.seats.script`)."""
    remote: bool = False
    """Not a program: an HTTP client, which may speak at any time. `argv` is the URL of its service, if it has one."""
    function: Any = None
    """Not a program: a Python function in this process (`referee.harness.seats.function`)."""
    model: ModelSettings | None = None
    """How its language model is asked: the program makes the prompts. Never taken from a replay, which could name a
    service and a variable of its own to get a secret."""
    image: Image | None = None
    """How its container image runs: then `argv` names a program in the image."""
    named: tuple[str, ...] | None = None
    """The beginning of `argv` that is the user's or ours, and may name files that the bot reads. None = all of it.

    What a submission says in its `bot.toml` is no part of this: there, a path is a plain string.
    """

    @property
    def named_words(self) -> tuple[str, ...]:
        """`named`, or the whole command."""
        return self.argv if self.named is None else self.named

    @property
    def metered(self) -> bool:
        """It is a module of WebAssembly, whose time is counted in fuel."""
        return self.image is None and runner.is_metered(self.named_words)


Build = Callable[[BuildContext], Entrant]
"""Builds a bot whose spec has been checked already."""
Parsed = tuple[str, Build]
"""A bot's name, and how it is built."""


def entrants(
    specs: Iterable[str],
    game: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
    people: bool = False,
    progress: Progress | None = None,
) -> tuple[Entrant, ...]:
    """Returns the programs for bot specs, built and with unique names.

    UsageError for a wrong spec, before anything is built. RunError for a failed build.

    `game`: what they play; without it, bots of original competitions are not recognised. `limits`: those of the builds.
    `people`: allow `human` and `script:`. `progress`: receives the progress of builds.
    """
    parsed = [_parse(spec, game, people) for spec in specs]
    context = BuildContext(limits, progress)
    made = tuple(with_unique_names([_built(each, context) for each in parsed]))
    for bot in made:
        check_utf8(*bot.argv, str(bot.cwd))
    return made


def check_utf8(*paths: str) -> None:
    """UsageError for a path that is not UTF-8, which no replay and no JSON can hold."""
    for path in paths:
        if not path.isascii() and path != path.encode("utf-8", "replace").decode():
            raise UsageError(f"{printable(path)}: this path is not UTF-8; rename it")


def entrant(
    spec: str, game: str | None = None, limits: Limits = DEFAULT_LIMITS, progress: Progress | None = None
) -> Entrant:
    """Returns the program for one bot spec; see `entrants`."""
    return entrants([spec], game, limits, progress=progress)[0]


def name_of(spec: str, game: str | None = None) -> str:
    """Returns a bot's name, the same in a match, a check, a gate and a tournament. UsageError for a wrong spec."""
    return _parse(spec, game, people=False)[0]


def _built(parsed: Parsed, context: BuildContext) -> Entrant:
    name, build = parsed
    return msgspec.structs.replace(build(msgspec.structs.replace(context, name=name)), name=name)


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


def _parse(spec: str, game: str | None, people: bool) -> Parsed:
    name, rest = split_name(spec)
    if not people:
        refuse_people(rest)
    kind = next((KINDS[prefix] for prefix in PREFIXES if rest.startswith(prefix)), _path)
    usual, build = (_person if rest == WORD else kind)(rest, game)
    return name or usual, build


def split_name(spec: str) -> tuple[str | None, str]:
    """Splits `NAME=` from a bot spec, unless all of it is an existing path or has another meaning."""
    name, equals, rest = spec.partition("=")
    if not equals or not name or "/" in name or name.startswith(PREFIXES) or os.path.exists(spec):
        return None, spec
    return name, rest


# People, scripts, command lines and web services.


def refuse_people(spec: str) -> None:
    """UsageError for a person, a script or a web service, which take part in single matches only."""
    if spec == WORD or spec.startswith((PREFIX, *SERVICES)):
        who = "people" if spec == WORD else "scripts" if spec.startswith(PREFIX) else "web services"
        raise UsageError(f"{spec}: {who} play single matches only, by `referee --game`; name a program here")


def _person(spec: str, game: str | None) -> Parsed:
    return WORD, lambda context: Entrant(WORD, (WORD,), Path.cwd(), human=True)


def _script(spec: str, game: str | None) -> Parsed:
    if spec == PREFIX:
        raise UsageError(f"{PREFIX} needs a file with one answer per line, as in {PREFIX}moves.txt")
    file = expanded(spec.removeprefix(PREFIX))
    read_script(file)
    file = file.resolve()
    return file.stem, lambda context: Entrant(file.stem, (PREFIX + str(file),), file.parent, script=True)


def read_script(path: Path) -> list[tuple[int, str]]:
    """Returns the answers of a script, each with its line number. UsageError if the file cannot be read.

    Blank lines and lines that begin with # are left out.
    """
    try:
        text = read_limited(path).decode("utf-8")
    except (OSError, ValueError) as error:  # not UTF-8, or a NUL in the name
        raise UsageError(f"{PREFIX}{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    return [(number, line) for number, line in lines if line and not line.startswith("#")]


def _command(spec: str, game: str | None) -> Parsed:
    try:
        argv = shlex.split(spec.removeprefix("cmd:"))
    except ValueError as error:
        raise UsageError(f"{spec}: {error}") from error
    if not argv:
        raise UsageError("cmd: needs a command line, as in cmd:'python3 mybot.py'")
    program = shutil.which(argv[0])
    if program is None:
        raise UsageError(f"{spec}: there is no program {argv[0]!r}; check the path, or put it on PATH")
    return _command_line(program, argv[1:])


def _command_line(program: str, arguments: Sequence[str]) -> Parsed:
    name = next((Path(word).stem for word in arguments if os.path.exists(word)), Path(program).stem)
    return name, lambda context: Entrant(name, (os.path.abspath(program), *arguments), Path.cwd())


def _image(spec: str, game: str | None) -> Parsed:
    path = image.path_of(spec)
    return path.stem, lambda context: image_entrant(path.stem, image.unpack(spec, context.limits.isolation))


def image_entrant(name: str, unpacked: image.Unpacked) -> Entrant:
    """Returns the program of an image in the cache."""
    return Entrant(name, unpacked.run.argv, unpacked.root, image=unpacked.run.image)


def _service(url: str, game: str | None) -> Parsed:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise UsageError(f"{url}: {error}") from error
    if not host or parts.query or parts.fragment or parts.username is not None:
        raise UsageError(f"{url}: expected the address of a service, such as http://127.0.0.1:5000")
    kind = None if game is None else registry.game(game).new
    if not (isinstance(kind, type) and issubclass(kind, Battle)):
        which = "" if game is None else f", not {game}"
        raise UsageError(f"{url}: a web service plays the Arena's games only{which}")
    return parts.netloc, lambda context: Entrant(parts.netloc, (url,), Path.cwd(), remote=True)


# Built-in opponents.


def _built_in(spec: str, game: str | None) -> Parsed:
    name, known = spec.removeprefix("@"), opponents(game)
    if name not in known:
        playing = [each for each, found in known.items() if game is None or found.any_game or game in found.seats]
        near = get_close_matches(name, playing, 1)
        hint = f"did you mean @{near[0]}?" if near else f"there are {', '.join(f'@{each}' for each in playing)}"
        raise UsageError(f"unknown opponent {spec!r}; {hint}")
    opponent = known[name]
    return spec, lambda context: Entrant(spec, _opponent_argv(opponent), _opponent_folder(opponent), opponent.injects)


def _opponent_argv(opponent: Opponent) -> tuple[str, ...]:
    return (sys.executable, "-m", opponent.path, *opponent.args)


def _opponent_folder(opponent: Opponent) -> Path:
    """Returns the folder that the program needs. UsageError if a game's package names a module that is missing."""
    if opponent.package:
        return HOME
    module = find_spec(opponent.module)
    if module is None or module.origin is None:
        raise UsageError(f"there is no module {opponent.module}, which the game's package names as an opponent")
    return Path(module.origin).parents[opponent.module.count(".")]


def entrant_in_game(entrant: Entrant, game: str) -> Entrant:
    """Replaces `@random` by the engine in games for which it has no program; returns any other entrant unchanged."""
    if game not in OPPONENTS["random"].seats and entrant.argv == _opponent_argv(OPPONENTS["random"]):
        return msgspec.structs.replace(entrant, argv=("@random",), engine=True)
    return entrant


def built_in_entrant(argv: Sequence[str], game: str) -> Entrant | None:
    """Returns the built-in opponent with this command, which any Python may have run; None for another program."""
    if tuple(argv) == ("@random",):
        return entrant("@random", game)
    for name, opponent in opponents(game).items():
        if tuple(argv[1:]) == _opponent_argv(opponent)[1:]:
            return entrant(f"@{name}", game)
    return None


def check_seats(specs: Sequence[str], game: str, every_seat: bool = False) -> None:
    """UsageError if a built-in opponent does not play the game, or not at its place in `specs`.

    `every_seat`: each bot will take every seat.
    """
    for player, spec in enumerate(specs):
        name = split_name(spec)[1]
        opponent = opponents(game).get(name.removeprefix("@")) if name.startswith("@") else None
        if opponent is None or (opponent.any_game and game not in opponent.seats):
            continue
        if game not in opponent.seats:
            raise UsageError(f"{name} plays {', '.join(sorted(opponent.seats))}, not {game}")
        seat = opponent.seats[game]
        if seat is not None and (seat != player or every_seat):
            why = "here it would take every seat" if every_seat else f"it was named for seat {player}"
            raise UsageError(f"{name} plays {game} at seat {seat} only; {why}")


# Files and folders.


def _path(spec: str, game: str | None) -> Parsed:
    if not spec:
        raise UsageError("no bot is named; expected a path, @NAME or cmd:COMMAND LINE")
    path = expanded(spec)
    if not os.path.exists(path):
        raise UsageError(f"no bot at {spec!r}: there is no such file or folder{_meant(spec, game)}")
    path = path.resolve()
    return _zip(path, spec, game) if zip_archive.is_zip(path) else _found(path, spec, game)


def _zip(path: Path, spec: str, game: str | None) -> Parsed:
    bot, folder = zip_archive.unpacked(path)
    name, build = _found(bot, spec, game)
    return name, lambda context: build(context.seeing(folder))  # its bot may be built from all of its files


def _found(path: Path, spec: str, game: str | None) -> Parsed:
    if game is not None and (bot := original_spec.bot_in(path, game)) is not None:
        return _agent(original_spec.Original(bot, root=path if path.is_dir() else None), game)
    if game is not None and (kaggle := kaggle_spec.agent_in(path, game)) is not None:
        return _kaggle_agent(kaggle)
    if path.is_dir():
        return _folder(path, spec, game)
    if not path.is_file():
        raise UsageError(f"{spec} is a pipe or a device; expected a file or a folder")
    if path.suffix == runner.SUFFIX:
        return path.stem, lambda context: Entrant(path.stem, runner.command(path, context), path.parent)
    if path.suffix in SOURCES and not starts_itself(path):
        return path.stem, lambda context: Entrant(path.stem, SOURCES[path.suffix](path, context), path.parent)
    if not os.access(path, os.X_OK):
        known = " ".join(sorted([*SOURCES, runner.SUFFIX]))
        program = INTERPRETERS.get(path.suffix, "PROGRAM")
        if path.suffix == ".tar":
            raise UsageError(f"{spec} is no bot of this game; name a container image as {image.PREFIX}{spec}")
        raise UsageError(
            f"{spec} is neither executable nor a source file of a known language ({known}); use "
            f"cmd:'{program} {spec}', or give it a first line such as #!/usr/bin/env {program} and chmod +x"
        )
    name = path.stem if path.suffix[1:].isalpha() else path.name  # `mybot.exe`, but `mybot-1.0`
    return name, lambda context: Entrant(name, (str(path),), path.parent)


INTERPRETERS = {".lua": "lua", ".php": "php", ".jl": "julia", ".r": "Rscript", ".tcl": "tclsh"}
"""The interpreter of source files that do not run by their suffix, for the advice about them."""


def _meant(spec: str, game: str | None) -> str:
    """Returns the end of the message about a missing path: what the user probably meant."""
    if "=" in spec:
        return "; a name in front of = is not empty and has no /"
    if spec in registry.names():
        return f"; {spec} is a game, so use --game {spec}"
    near = get_close_matches(spec, opponents(game), 1, 0.8)
    return f"; did you mean @{near[0]}?" if near else ""


def _folder(folder: Path, spec: str, game: str | None) -> Parsed:
    bot = read_bot_file(folder, spec)
    name = bot.name or folder.name
    if bot.original is not None:
        return name, _agent(original_spec.of_folder(bot.original, folder, f"{spec}/bot.toml"), game)[1]

    def built(context: BuildContext) -> Entrant:
        program = build_bot(bot, folder, spec, context)
        return Entrant(name, program.argv, program.cwd, named=program.named)

    return name, built


def _original(spec: str, game: str | None) -> Parsed:
    return _agent(original_spec.read(spec.removeprefix("original:"), Path.cwd()), game)


def _agent(bot: original_spec.Original, game: str | None) -> Parsed:
    if game is None:
        raise UsageError(f"original:{bot.path}: needs the game that it plays")
    bot = bot.located(game)
    folder = bot.path if bot.path.is_dir() else bot.path.parent
    name = bot.name
    argv = bot.argv(game)
    named = None if bot.root is None else argv[:-1]  # the file is one of the folder that the user has named
    return name, lambda context: Entrant(name, argv, folder, named=named)


def _kaggle(spec: str, game: str | None) -> Parsed:
    return _kaggle_agent(kaggle_spec.read(spec.removeprefix(kaggle_spec.PREFIX), Path.cwd(), game))


def _kaggle_agent(agent: kaggle_spec.Agent) -> Parsed:
    def built(context: BuildContext) -> Entrant:
        argv, folder = agent.program()
        return Entrant(agent.name, argv, folder, named=argv[:-1] if agent.whole else None)

    return agent.name, built


def _engine(spec: str, game: str | None) -> Parsed:
    """Finds an engine as any bot, or on PATH, and puts the program that runs it in front of its command."""
    seat = engine_spec.read(spec, game)
    path = engine_spec.path_of(seat)
    parsed = _command_line(*engine_spec.command_line(seat, spec)) if path is None else _path(str(path), None)
    name, build = parsed

    def built(context: BuildContext) -> Entrant:
        engine = build(context)
        if engine.metered:
            raise UsageError(f"{spec}: an engine is a program of this machine, not a module of WebAssembly")
        named = None if engine.named is None else (*seat.runner, *engine.named)
        return msgspec.structs.replace(engine, argv=(*seat.runner, *engine.argv), named=named)

    return name, built


def _model(spec: str, game: str | None) -> Parsed:
    settings = llm_spec.read(spec)
    return settings.model, lambda context: Entrant(
        settings.model, llm_spec.command(settings.model), HOME, model=settings
    )


KINDS = {
    "@": _built_in,
    "cmd:": _command,
    PREFIX: _script,
    "original:": _original,
    kaggle_spec.PREFIX: _kaggle,
    **dict.fromkeys(engine_spec.PREFIXES, _engine),
    llm_spec.PREFIX: _model,
    image.PREFIX: _image,
    **dict.fromkeys(SERVICES, _service),
}
"""What bot specs with these beginnings are; any other is a path."""
PREFIXES = tuple(KINDS)
