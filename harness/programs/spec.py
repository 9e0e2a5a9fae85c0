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
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from referee.games import registry
from referee.games.arena import Battle
from referee.harness.adapters.engines import spec as engine_spec
from referee.harness.adapters.images import image
from referee.harness.adapters.kaggle import spec as kaggle_spec
from referee.harness.adapters.llm import spec as llm_spec
from referee.harness.adapters.originals import spec as original_spec
from referee.harness.adapters.wasm import runner
from referee.harness.errors import UsageError
from referee.harness.opponents import opponents
from referee.harness.paths import HOME, expanded, read_limited
from referee.harness.process.limits import DEFAULT_LIMITS, Limits
from referee.harness.programs import built_in, zip_archive
from referee.harness.programs.bot_file import build_bot, read_bot_file
from referee.harness.programs.build_process import BuildContext, Progress
from referee.harness.programs.entrant import Entrant, Parsed, check_utf8, with_unique_names
from referee.harness.programs.kinds import KINDS, Kind, kind_of, split_name
from referee.harness.programs.source_file import SOURCES, starts_itself

WORD = "human"
"""Names a person on the command line, and stands for the command in replays."""
PREFIX = "script:"
SERVICES = ("http:", "https:")
FUNCTION = "function:"
"""Precedes the name of a Python function, which stands for its command in replays."""


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


def _parse(spec: str, game: str | None, people: bool) -> Parsed:
    name, rest = split_name(spec)
    if not people:
        refuse_people(rest)
    usual, build = kind_of(rest).parse(rest, game)
    return name or usual, build


# People, scripts, command lines and web services.


def refuse_people(spec: str) -> None:
    """UsageError for a player that takes part in single matches only, such as a person, a script or a web service."""
    kind = kind_of(spec)
    if not kind.in_series:
        raise UsageError(f"{spec}: {kind.name} play single matches only, by `referee --game`; name a program here")


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


KINDS += (
    Kind(
        name="programs",
        parse=_path,
        help="PATH (an executable, a folder with bot.toml, a zip file or a source file)",
        rows=(
            ("an executable", "`./mybot`"),
            (f"a source file with a known suffix: `{' '.join(SOURCES)}`", "`./mybot.cpp`"),
            ("a [module of WebAssembly](../explanation/metered.md)", "`./mybot.wasm`"),
            ("a folder with a `bot.toml`, or a zip file of one", "`starter_kits/java/examples/reantics`, `team.zip`"),
            ("a version that a tournament or `referee improve` keeps", "`tournaments/cup/bots/HASH.zip`"),
            ("an agent of an original competition", "`'Complex Food Gatherer.py'`"),
        ),
        travels=True,
        for_clients=True,
    ),
    Kind(
        name="built-in bots",
        prefixes=("@",),
        parse=built_in.parse,
        help="@random (built in)",
        rows=(("a built-in bot", "`@random`, `@baseline`, `@advanced`, `@C_AI_TELEPORT`"),),
        travels=True,
        for_clients=True,
    ),
    Kind(
        name="command lines",
        prefixes=("cmd:",),
        parse=_command,
        help="cmd:'COMMAND LINE'",
        rows=(("a command line", "`cmd:'python3 -u mybot.py --depth 4'`"),),
    ),
    Kind(
        name="people",
        word=WORD,
        parse=_person,
        help="human (you, in this terminal)",
        rows=(("you, in the terminal or on a page", "`human`"),),
        in_series=False,
    ),
    Kind(
        name="scripts",
        prefixes=(PREFIX,),
        parse=_script,
        help="script:FILE (an answer a line, then the first legal ones)",
        rows=(("a file with one answer on each line", "`script:opening.txt`"),),
        in_series=False,
    ),
    Kind(
        name="engines",
        prefixes=engine_spec.PREFIXES,
        parse=_engine,
        help="uci:ENGINE, ugi:, gtp: or cecp: (engines)",
        rows=(("an engine that speaks UCI, UGI, GTP or CECP", "`uci:stockfish`, `gtp:'gnugo --mode gtp'`"),),
    ),
    Kind(
        name="bots of original competitions",
        prefixes=("original:",),
        parse=_original,
        help="original:PATH (a bot of the game's original competition)",
        rows=(("an agent that Referee does not recognise", "`original:'--folder data agent.py'`"),),
    ),
    Kind(
        name="Kaggle agents",
        prefixes=(kaggle_spec.PREFIX,),
        parse=_kaggle,
        help="kaggle:PATH (a Kaggle agent)",
        rows=(("a Kaggle agent", "`kaggle:submission.py`, `submission.tar.gz`"),),
    ),
    Kind(
        name="language models",
        prefixes=(llm_spec.PREFIX,),
        parse=_model,
        help="llm:MODEL (a language model)",
        rows=(("a [language model](../how-to/language-models.md) by its service", "`llm:gpt-oss-20b`"),),
    ),
    Kind(
        name="container images",
        prefixes=(image.PREFIX,),
        parse=_image,
        help="oci:IMAGE.tar (a container image)",
        rows=(("a container image, as `docker save` writes it", "`oci:team.tar`"),),
        travels=True,
        names_file=True,
    ),
    Kind(
        name="web services",
        prefixes=SERVICES,
        parse=_service,
        help="http:// or https://ADDRESS (a team's web service, for the Arena's games)",
        rows=(("a team's web service, for games of the Arena", "`http://127.0.0.1:5000`"),),
        in_series=False,
    ),
)
