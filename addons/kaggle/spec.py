"""Kaggle agents: how the user names them, and how they are recognised, unpacked and run.

`kaggle:[--python PATH] [--seed N] PATH`. The path is a Python file, a folder with `main.py`, or such a folder as
`submission.tar.gz`. An ordinary program runs the agent, `addons/kaggle/run.py`.
"""

import ast
import gzip
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from msgspec import Struct

from referee.harness.common.errors import UsageError
from referee.harness.common.paths import HOME
from referee.harness.programs import adapter_options, agent_imports, archive, build_cache
from referee.harness.programs.build_process import BuildContext
from referee.harness.programs.entrant import Entrant, Parsed
from referee.harness.programs.kinds import named_archive
from referee.harness.programs.tar_stream import (
    BROKEN,
    GZIP,
    MAX_DEPTH,
    UNPACKED_BYTES,
    Refused,
    TarStream,
)

PREFIX = "kaggle:"
RUNNER = HOME / "addons" / "kaggle" / "run.py"
"""The program that runs agents. Replays name it."""
GAMES = ("connectfour", "tictactoe")
OPTIONS = {"--python": True, "--seed": True}
MAIN = "main.py"
"""The file with the agent, in a folder or an archive."""
ARCHIVES = (".tar.gz", ".tgz", ".tar")
MAX_BYTES, MAX_FILES = UNPACKED_BYTES, 20_000
"""The limits of an archive. Kaggle's own limit for submissions is lower."""
KIT = b"referee_kit"


class Agent(Struct, frozen=True):
    """How to run one of them."""

    path: Path
    """A Python file, a folder with `main.py`, or an archive."""
    python: str = sys.executable
    seed: int | None = None
    """The seed of its random numbers; None: the match's seed for its seat."""
    whole: bool = False
    """The user has named its folder or its archive, not its file."""

    @property
    def name(self) -> str:
        """The name of the file, of its folder if that is `main.py`, or of the archive."""
        if _is_archive(self.path):
            return self.path.name.partition(".")[0]
        return self.path.parent.name if self.path.name == MAIN else self.path.stem

    def program(self) -> tuple[tuple[str, ...], Path]:
        """Returns the command that runs the agent, and its folder. Unpacks an archive. UsageError if it is broken."""
        file = unpacked(self.path) / MAIN if _is_archive(self.path) else self.path
        seed = [] if self.seed is None else ["--seed", str(self.seed)]
        return (self.python, str(RUNNER), *seed, str(file)), file.parent


def parse(spec: str, game: str | None) -> Parsed:
    """Parses a bot spec. UsageError if anything is wrong with it."""
    return _parsed(read(spec.removeprefix(PREFIX), Path.cwd(), game))


def recognise(path: Path, game: str | None) -> Parsed | None:
    """Returns the agent that a file or folder is by its shape; None if it is none."""
    agent = None if game is None else agent_in(path, game)
    return None if agent is None else _parsed(agent)


def _parsed(agent: Agent) -> Parsed:
    def built(context: BuildContext) -> Entrant:
        argv, folder = agent.program()
        return Entrant(agent.name, argv, folder, named=argv[:-1] if agent.whole else None)

    return agent.name, built


def read(text: str, base: Path, game: str | None) -> Agent:
    """Parses the text after `kaggle:`; paths are relative to `base`. UsageError if anything is wrong with it."""
    spec = f"{PREFIX}{text}"
    if game not in GAMES:
        known = " and ".join(GAMES)
        raise UsageError(f"{spec}: Kaggle agents play {known}" + (f", not {game}" if game else "; name the game"))
    options, rest = adapter_options.split(text, OPTIONS, spec)
    path = adapter_options.path(rest, base, spec, OPTIONS)
    whole = path.is_dir() or _is_archive(path)
    if path.is_dir():
        if not (path / MAIN).is_file():
            raise UsageError(f"{spec}: there is no {MAIN} in that folder; name the agent's file")
        path = path / MAIN
    elif path.suffix != ".py" and not _is_archive(path):
        raise UsageError(f"{spec}: expected a Python file, a folder with {MAIN}, or one of {', '.join(ARCHIVES)}")
    return Agent(path, adapter_options.interpreter(options, base, spec), adapter_options.seed(options, spec), whole)


def agent_in(path: Path, game: str) -> Agent | None:
    """Returns the agent that a file or folder is by its shape; None if it is none, or has a bot.toml."""
    if game not in GAMES:
        return None
    whole = path.is_dir() or _is_archive(path)
    if path.is_dir():
        path = path / MAIN if not (path / "bot.toml").exists() else path
    return Agent(path, whole=whole) if path.is_file() and (_is_archive(path) or _recognised(path)) else None


def modules(path: Path, game: str) -> tuple[Path, ...]:
    """Returns the files that an agent imports; empty if a path is no agent's."""
    return () if agent_in(path, game) is None else agent_imports.imported_by(path)


def paths(spec: str, game: str | None) -> list[Path]:
    """Returns the files and folders that a bot spec names."""
    return adapter_options.named_paths(spec, read(spec.removeprefix(PREFIX), Path.cwd(), game).path)


def _is_archive(path: Path) -> bool:
    return path.name.endswith(ARCHIVES) and path.is_file()


def _recognised(path: Path) -> bool:
    """Whether the last function of a Python file takes an observation and a configuration, and nothing is a kit's."""
    if path.suffix != ".py":
        return False
    found = agent_imports.parsed(path)
    functions = [] if found is None or KIT in found[0] else list(_functions(found[1].body))
    if not functions:
        return False
    names = [parameter.arg for parameter in functions[-1].args]
    return len(names) == 2 and names[0].startswith("obs") and names[1].startswith("conf")


def _functions(body: list[ast.stmt]) -> Iterator[ast.arguments]:
    """Yields the parameters of the functions that a module defines, in order."""
    for node in body:
        if isinstance(node, ast.FunctionDef):
            yield node.args
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            yield node.value.args


# Archives.


def unpacked(path: Path) -> Path:
    """Returns the folder with an archive's files, in the cache. UsageError for a broken or hostile archive."""
    return build_cache.unpacked(["kaggle", archive.sha256(path)], path, lambda draft: _unpack(path, draft))


def _unpack(path: Path, folder: Path) -> None:
    try:
        with path.open("rb") as file:
            is_compressed = file.read(len(GZIP)) == GZIP
            file.seek(0)
            stream = TarStream(gzip.GzipFile(fileobj=file) if is_compressed else file, MAX_BYTES)
            _write_members(stream, path, folder)
    except (*BROKEN, Refused, OSError) as error:
        raise UsageError(f"{path}: cannot be unpacked: {error}") from error
    if not (folder / MAIN).is_file():
        other = named_archive(".tar")
        named = "" if other is None else f"; a {other.name} is named {other.prefixes[0]}{path.name}"
        raise UsageError(f"{path}: has no {MAIN} at its top, where Kaggle looks for the agent{named}")


def _write_members(stream: TarStream, path: Path, folder: Path) -> None:
    """Writes the files of an archive below a folder. UsageError for one with anything else."""
    made: set[PurePosixPath] = set()
    for member in stream.entries():
        place = PurePosixPath(member.name)
        made.update((place, *place.parents))
        if len(made) > MAX_FILES:
            raise UsageError(f"{path}: holds more than {MAX_FILES:,} files and folders")
        if place.is_absolute() or ".." in place.parts:
            raise UsageError(f"{path}: {member.name!r} leads outside the agent's folder")
        if len(place.parts) > MAX_DEPTH:
            raise UsageError(f"{path}: {member.name[:40]!r} lies in more than {MAX_DEPTH} folders")
        if member.isdir():
            (folder / place).mkdir(parents=True, exist_ok=True)
        elif not member.isreg() or member.issparse():
            raise UsageError(f"{path}: {member.name!r} is neither a file nor a folder; include the file itself")
        else:
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            with (folder / place).open("xb") as file:
                stream.copy(member, file)
