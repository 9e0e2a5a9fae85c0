"""The programs of the starter kits, as the referee starts them, built once for all runs."""

import fcntl
import functools
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from needs import skip_without

from referee.games.game import Game
from referee.harness.common.paths import HOME, KITS, cache_folder
from referee.harness.languages import toolchains
from referee.harness.new import write as new
from referee.harness.programs import archive, build, build_cache
from referee.harness.programs.build_process import BuildContext
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.source_file import kit_archive
from referee.harness.programs.spec import entrant

BUILDS = {
    "c": "make -s all build/kit_test",
    "cpp": "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build -j2 --target all kit_test",
    "go": "go build -buildvcs=false -o build/ ./...",
    "java": "./build.sh",
    "javascript": "./build.sh",
    "rust": "cargo build --quiet --release --workspace --lib --bins --examples",
}
"""The command that builds everything in a kit. Each kit is built once."""
CONFORMANCE = {
    "c": ("{}/build/conformance",),
    "cpp": ("{}/build/conformance",),
    "go": ("{}/build/conformance",),
    "java": ("java", "@{}/java.args", "-cp", "{}/target/referee-kit.jar", "Conformance"),
    "javascript": ("node", "{}/dist/conformance.js"),
    "rust": ("{}/target/release/examples/conformance",),
    "python": (sys.executable, "{}/conformance.py"),
}
SUFFIXES = {
    "c": ".c",
    "cpp": ".cpp",
    "go": ".go",
    "java": ".java",
    "javascript": ".mjs",
    "python": ".py",
    "rust": ".rs",
}

SENSIBLE = pytest.mark.parametrize("kit", ["cpp", "python"], indirect=True)
"""Marks a test of strategies. Only these kits have a sensible bot for every game; the others have one for ReAntics."""

ENUMERATING = ("c", "cpp", "java", "rust")
"""Kits with enumerations for choices: their bots cannot answer with other texts."""

PROBES = Path(__file__).parent / "probes"
"""Bots of a single file, the same in each language."""

# The kits.


@functools.cache
def example(kit: str, name: str) -> Entrant:
    """Returns an example bot."""
    return entrant(str(KITS / kit / "examples" / name))


@functools.cache
def built(kit: str) -> Path:
    """Returns the built copy of a kit, in which its example bots run."""
    if kit not in BUILDS:
        return KITS / kit
    return build.build_folder(kit_archive(kit), BUILDS[kit], ".", kit, kit, BuildContext())


def work(kit: str) -> Path:
    """Returns the folder in which a kit is built. Go compiles again in a folder with another name."""
    place = build_cache.made_in(built(kit).parent)
    assert place is not None
    return place


def conformance(kit: str) -> Entrant:
    """Returns a kit's conformance program."""
    folder = built(kit)
    return Entrant("conformance", tuple(word.format(folder) for word in CONFORMANCE[kit]), folder)


def readme_bot(kit: str) -> str:
    """Returns the source of the bot in a kit's README."""
    text = (KITS / kit / "README.md").read_text("utf-8")
    return text.split(f"```{kit}\n")[1].split("```")[0]


def need(kit: str) -> None:
    """Skips a test if its kit cannot be built here. Python is always here."""
    if kit != "python":
        skip_without(kit)


# Other sources. The referee keeps a build as long as its source lies where it was, but pytest removes its folders.

KEPT = cache_folder().parent / "referee-tests"
"""Sources that tests have written, each in a folder that is named by a hash of all that a build depends on."""
MOST_KEPT, UNUSED_S = 300, 3600
"""How many folders stay, about three times the number that a run uses. Those that were used less than this long ago
also stay. The referee removes the builds of the others."""
LISTING = "files"
"""The file beside a kept folder that names all its sources."""


@functools.cache
def surroundings() -> str:
    """Returns a hash of what goes into a build besides its source, its kit and its compiler.

    This is the code that runs builds, the Python, and the packages of the system.
    """
    code = [HOME / "harness" / folder for folder in ("programs", "languages", "isolation", "process")]
    files = [file for folder in code for file in sorted(folder.rglob("*.py"))]
    packages = [file for file in map(Path, ("/var/lib/dpkg/status", "/lib/apk/db/installed")) if file.exists()]
    assert len(files) > 20
    digest = hashlib.sha256(sys.version.encode())
    for file in (*files, *packages):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def kept(name: str, files: Mapping[str, bytes]) -> Path:
    """Returns the folder `name` with these files, at a place where a later run finds it and its builds again."""
    marked = {path: text + _mark(path) for path, text in files.items()}
    content = [f"{path} {hashlib.sha256(text).hexdigest()}" for path, text in sorted(marked.items())]
    tools = toolchains.identities(toolchains.builders(files))
    place = KEPT / build_cache.key([surroundings(), name, *tools, *content])
    if not place.is_dir():
        KEPT.mkdir(parents=True, exist_ok=True)
        _remove_old()
        draft = Path(tempfile.mkdtemp(suffix=".new", dir=KEPT))
        draft.chmod(0o755)
        for path, text in marked.items():
            (draft / name / path).parent.mkdir(parents=True, exist_ok=True)
            (draft / name / path).write_bytes(text)
        (draft / LISTING).write_text("\n".join(sorted(files)))
        try:
            draft.rename(place)
        except OSError:  # another process was faster
            shutil.rmtree(draft)
    os.utime(place)
    return place / name


def _mark(path: str) -> bytes:
    """Returns a comment for a bot's or a game's description, so that its identity has the surroundings too."""
    return f"\n# {surroundings()}\n".encode() if path in ("bot.toml", "game.toml") else b""


def _remove_old() -> None:
    with suppress(FileNotFoundError):  # another process removes the same
        places = sorted(KEPT.iterdir(), key=lambda place: place.stat().st_mtime)
        for place in places[:-MOST_KEPT]:
            if time.time() - place.stat().st_mtime > UNUSED_S:
                shutil.rmtree(place, ignore_errors=True)


def folder_of(name: str, folder: Path) -> Path:
    """Returns a kept copy of a folder without what is built in it."""
    paths = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    sources = [path for path in paths if archive.LEFT_OUT.isdisjoint(path.parts)]
    return kept(name, {path.as_posix(): (folder / path).read_bytes() for path in sources})


@functools.cache
def source(kit: str, name: str, text: str) -> Path:
    """Returns the file of a bot of a single source file."""
    return kept(name, {f"{name}{SUFFIXES[kit]}": text.encode()}) / f"{name}{SUFFIXES[kit]}"


@functools.cache
def bot_of(kit: str, name: str, text: str) -> Entrant:
    """Returns a bot of a single source file."""
    return entrant(str(source(kit, name, text)))


def probe(kit: str, name: str) -> Entrant:
    """Returns a kit's bot of the folder `probes`."""
    return bot_of(kit, name, (PROBES / f"{name}{SUFFIXES[kit]}").read_text("utf-8"))


def new_bot(kit: str, game: Game, name: str = "bot") -> Path:
    """Returns the folder of a new bot. Its workflow names a fixed referee, whatever is installed here."""
    with tempfile.TemporaryDirectory() as written:
        new.write(game, kit, Path(written) / name, "git+https://example.org/referee@abc123")
        return folder_of(name, Path(written) / name)


def run_own_tests(command: str, folder: Path) -> None:
    """Runs the tests of a kept project where it lies. They add no file that git would hand in with it."""
    with locked(folder):
        run(command, folder)
        environment = os.environ | {"GIT_DIR": str(folder.parent / "git"), "GIT_WORK_TREE": str(folder)}
        run("git init --quiet", folder, environment)
        listed = ["git", "ls-files", "--others", "--exclude-standard"]
        done = subprocess.run(listed, cwd=folder, env=environment, check=True, capture_output=True, text=True)
    written = folder.with_name(LISTING).read_text().splitlines()
    assert sorted(done.stdout.splitlines()) == written, "built files would be handed in"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keeps other processes from working in a kept folder."""
    with folder.with_name("lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def run(command: str | list[str], cwd: Path, env: Mapping[str, str] | None = None) -> str:
    """Runs a command that must succeed, or shows its output. Returns that."""
    argv = ["/bin/sh", "-c", command] if isinstance(command, str) else command
    done = subprocess.run(
        argv, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=400
    )
    assert done.returncode == 0, done.stdout
    return done.stdout
