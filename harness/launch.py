"""What a bot is named by, turned into a program that can be started.

`PATH` (an executable; a folder with `bot.toml`; a source file, run by its suffix), `@NAME` (built in) or
`cmd:COMMAND LINE`; `NAME=` in front gives it a name.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, count
from pathlib import Path

import msgspec
from msgspec import Struct

from harness.errors import RunError, UsageError
from harness.opponents import OPPONENTS

KITS = Path(__file__).resolve().parent.parent / "starter_kits"
BUILD_TIMEOUT_S = 600
BUILD_LINES = 20
"""Of what a failed build printed, at most so many lines are shown."""


class Entrant(Struct, frozen=True):
    """A program that takes part."""

    name: str
    argv: tuple[str, ...]
    cwd: Path
    """Where it runs: the bot's own folder, so that it finds its files by relative names."""
    injects: bool = False
    """A cheat of ours, which the referee asks for what it does out of turn. No other bot is trusted with that."""


Ready = Callable[[], Entrant]
"""Builds what has to be built and gives the program. Whatever can be wrong with the name itself was found before."""


class BotFile(Struct, forbid_unknown_fields=True):
    """`bot.toml`: how to build and run the bot in a folder. Commands run in that folder."""

    run: list[str]
    name: str | None = None
    build: str | None = None
    """A shell command, run before every match: it should be quick when nothing has changed."""


def entrants(specs: Iterable[str]) -> tuple[Entrant, ...]:
    """The programs that are named, built if they say how; of those of one name the later ones get a number, as in
    `@random 2`. UsageError for a wrong name before anything is built; RunError for a failed build."""
    return tuple(_told_apart([ready() for ready in [_find(spec) for spec in specs]]))


def entrant(spec: str) -> Entrant:
    """The program that `spec` names; see `entrants`."""
    return entrants([spec])[0]


def _told_apart(found: Iterable[Entrant]) -> Iterator[Entrant]:
    taken: set[str] = set()
    for entrant in found:
        numbers = (f"{entrant.name} {number}" for number in count(2))
        name = next(name for name in chain([entrant.name], numbers) if name not in taken)
        taken.add(name)
        yield msgspec.structs.replace(entrant, name=name)


def check_seats(specs: Sequence[str], game: str, every_seat: bool = False) -> None:
    """UsageError if a built-in opponent does not play that game, or not at the seat where it is named.

    `every_seat`: each will take all seats in turn.
    """
    for player, spec in enumerate(specs):
        name = _split_name(spec)[1]
        opponent = OPPONENTS.get(name.removeprefix("@")) if name.startswith("@") else None
        if opponent is None:
            continue
        if game not in opponent.seats:
            raise UsageError(f"{name} plays {', '.join(sorted(opponent.seats))}, not {game}")
        seat = opponent.seats[game]
        if seat is not None and (seat != player or every_seat):
            why = "here it would take every seat" if every_seat else f"it was named for seat {player}"
            raise UsageError(f"{name} plays {game} at seat {seat} only; {why}")


def _find(spec: str) -> Ready:
    name, rest = _split_name(spec)
    if rest.startswith("cmd:"):
        ready = _command(rest.removeprefix("cmd:"))
    elif rest.startswith("@"):
        ready = _built_in(rest)
    else:
        ready = _path(rest)
    return ready if name is None else lambda: msgspec.structs.replace(ready(), name=name)


def _split_name(spec: str) -> tuple[str | None, str]:
    """`NAME=` in front, unless the whole is the path of something that is there."""
    name, equals, rest = spec.partition("=")
    if not equals or not re.fullmatch(r"[\w .@+-]+", name) or name.startswith("@") or _is_there(Path(spec)):
        return None, spec
    return name, rest


def _is_there(path: Path) -> bool:
    """Whether there is such a file or folder; also for a text that is too long for any."""
    try:
        return path.exists()
    except OSError:
        return False


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
        known = ", ".join("@" + known for known in built_in_names())
        raise UsageError(f"unknown opponent {spec!r}; there are {known}")
    opponent = OPPONENTS[name]
    argv = (sys.executable, "-m", f"harness.opponents.{opponent.module}", *opponent.args)
    return lambda: Entrant(spec, argv, KITS.parent, opponent.injects)


def _path(spec: str) -> Ready:
    path = Path(spec).expanduser()
    if not _is_there(path):
        raise UsageError(f"no bot at {spec!r}: there is no such file or folder")
    path = path.resolve()
    if path.is_dir():
        return _folder(path, spec)
    if path.suffix in SOURCES:
        return lambda: Entrant(path.stem, SOURCES[path.suffix](path), path.parent)
    if not os.access(path, os.X_OK):
        known = " ".join(sorted(SOURCES))
        raise UsageError(f"{spec} is neither executable nor a source file that can be run by its suffix ({known})")
    name = path.stem if path.suffix[1:].isalpha() else path.name  # `mybot.exe`, but `mybot-1.0`
    return lambda: Entrant(name, (str(path),), path.parent)


def _folder(folder: Path, spec: str) -> Ready:
    file = folder / "bot.toml"
    if not file.is_file():
        raise UsageError(f"{spec} is a folder without a bot.toml, which says how to build and run the bot")
    try:
        bot: BotFile = msgspec.convert(tomllib.loads(file.read_text("utf-8")), BotFile)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise UsageError(f"{spec}/bot.toml: {error}") from error
    if not bot.run:
        raise UsageError(f"{spec}/bot.toml: run is empty; it takes the program and its arguments")
    return lambda: _built(bot, folder, spec)


def _built(bot: BotFile, folder: Path, spec: str) -> Entrant:
    if bot.build is not None:
        _build(["/bin/sh", "-c", bot.build], folder, spec)
    return Entrant(bot.name or folder.name, (_program(bot.run[0], folder, spec), *bot.run[1:]), folder)


def _program(word: str, folder: Path, spec: str) -> str:
    """The program of a bot.toml: a path from the folder when it has a slash, else one on the PATH."""
    program = str(folder / word) if "/" in word else shutil.which(word)
    if program is None or not os.path.isfile(program):
        raise RunError(f"{spec}/bot.toml: run names {word!r}, which is no program here")
    if not os.access(program, os.X_OK):
        raise RunError(f"{spec}/bot.toml: run names {word!r}, which is not executable; chmod +x makes it so")
    return program


def _build(command: list[str], cwd: Path, spec: str) -> None:
    """RunError, with what the build said about its first error, unless it succeeds.

    It is over when the command has ended: what that left running in its process group is killed, and not waited for.
    """
    with tempfile.TemporaryFile() as output:
        build = subprocess.Popen(
            command,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = build.wait(BUILD_TIMEOUT_S)
        except subprocess.TimeoutExpired as error:
            raise RunError(f"{spec}: the build did not end within {BUILD_TIMEOUT_S} s") from error
        finally:
            with suppress(ProcessLookupError):
                os.killpg(build.pid, signal.SIGKILL)
            build.wait()
        if code != 0:
            output.seek(0)
            said = _excerpt(output.read()) or "it printed nothing"
            raise RunError(f"{spec}: the build failed with exit code {code}\n{said}")


def _excerpt(output: bytes) -> str:
    """What a build printed, without colours. Of much, the lines around the first error, since compilers go on after
    it; the last ones if none calls itself an error."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", output.decode("utf-8", "backslashreplace"))
    lines = [line.rstrip() for line in text.strip().splitlines()]
    last = max(len(lines) - BUILD_LINES, 0)
    errors = (at for at, line in enumerate(lines) if re.search(r"\berror\b", line, re.IGNORECASE))
    start = min(max(next(errors, len(lines)) - BUILD_LINES // 4, 0), last)
    shown = lines[start : start + BUILD_LINES]
    return "\n".join([*shown, f"… {last - start} more lines"] if start < last else shown)


# Source files, by suffix: each gives the command that runs it with the language's starter kit at hand.


def _python(path: Path) -> tuple[str, ...]:
    return (sys.executable, str(path))


def _javascript(path: Path) -> tuple[str, ...]:
    """A file that imports the kit finds it wherever the file lies; any other needs nothing but node."""
    node = _need("node", path)
    if b"referee-kit" not in path.read_bytes():
        return (node, str(path))
    kit = KITS / "javascript"
    _build([str(kit / "build.sh")], kit, str(path))
    return (node, "--import", str(kit / "resolve.js"), str(path))


def _typescript(path: Path) -> tuple[str, ...]:
    node = _need("node", path)
    _build([str(KITS / "javascript" / "build.sh"), str(path)], path.parent, str(path))
    return (node, "--enable-source-maps", str(path.parent / "build" / f"{path.stem}.js"))


def _interpreted(program: str) -> Callable[[Path], tuple[str, ...]]:
    return lambda path: (_need(program, path), str(path))


def _java(path: Path) -> tuple[str, ...]:
    kit = KITS / "java"
    java = _need("java", path)
    _build([str(kit / "build.sh")], kit, str(path))
    return (java, f"@{kit / 'java.args'}", "-cp", str(kit / "target" / "referee-kit.jar"), str(path))


def _c_plus_plus(path: Path) -> tuple[str, ...]:
    return _compiled([_need("g++", path), "-std=c++17", "-O2", "-I", str(KITS / "cpp" / "include")], path)


def _c(path: Path) -> tuple[str, ...]:
    """With the kit for a file that includes it. Any other keeps its standard output, which the kit would take."""
    gcc = _need("gcc", path)
    if b"<referee/" not in path.read_bytes():
        return _compiled([gcc, "-O2"], path)
    kit = KITS / "c"
    library = kit / "build" / "libreferee.a"
    _build([_need("make", path), "-s", "-C", str(kit), "build/libreferee.a"], kit, str(path))
    command = [gcc, "-std=c11", "-O2", "-I", str(kit / "include")]
    needed = [library, *(kit / "include" / "referee").glob("*.h")]
    return _compiled(command, path, *needed, libraries=(str(library), "-ljson-c", "-lm"))


def _rust(path: Path) -> tuple[str, ...]:
    """Compiled by `rustc` alone against the kit's library, so it needs no `Cargo.toml` and has no other crates."""
    kit = KITS / "rust"
    rustc = _need("rustc", path)
    _build([_need("cargo", path), "build", "--quiet", "--release", "--lib", "--target-dir", "target"], kit, str(path))
    made = kit / "target" / "release"
    library = made / "libreferee_kit.rlib"
    command = [rustc, "--edition=2021", "--crate-name=bot", "-O", "--extern", f"referee_kit={library}"]
    return _compiled([*command, "-L", f"dependency={made / 'deps'}"], path, library)


def _go(path: Path) -> tuple[str, ...]:
    """Compiled as if it lay in the kit's module; Go itself knows when nothing has changed."""
    program = path.parent / "build" / path.name.replace(".", "-")
    build = [_need("go", path), "build", "-C", str(KITS / "go"), "-buildvcs=false"]
    _build([*build, "-o", str(program), str(path)], path.parent, str(path))
    return (str(program),)


def _compiled(command: list[str], path: Path, *needed: Path, libraries: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The program that `path` compiles to, in `build/` beside it, made again when it or the kit has changed."""
    program = path.parent / "build" / path.name.replace(".", "-")
    sources = [path, *needed, *(KITS / "cpp" / "include").rglob("*.hpp")]
    if not program.exists() or program.stat().st_mtime < max(source.stat().st_mtime for source in sources):
        program.parent.mkdir(exist_ok=True)
        _build([*command, "-o", str(program), str(path), *libraries], path.parent, str(path))
    return (str(program),)


def _need(program: str, path: Path) -> str:
    found = shutil.which(program)
    if found is None:
        raise RunError(f"{path.name} needs {program}, which is not on this machine")
    return found


SOURCES: dict[str, Callable[[Path], tuple[str, ...]]] = {
    ".py": _python,
    ".js": _javascript,
    ".mjs": _javascript,
    ".ts": _typescript,
    ".rb": _interpreted("ruby"),
    ".pl": _interpreted("perl"),
    ".sh": _interpreted("sh"),
    ".java": _java,
    ".cpp": _c_plus_plus,
    ".cc": _c_plus_plus,
    ".c": _c,
    ".go": _go,
    ".rs": _rust,
}

KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "JAVA_HOME", "SYSTEMROOT", "LD_LIBRARY_PATH")


def environment(scratch: Path) -> dict[str, str]:
    """The variables that a bot sees: where programs are, the language, and a scratch folder for the rest."""
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    return kept | {
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        "PYTHONPATH": str(KITS / "python"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
