"""What a bot can see of the machine's files: the system, the runtimes, its own folder, and nothing else.

Homes, other bots, records and the sockets of services lie elsewhere.
"""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from referee.harness.paths import HOME, KITS, RUNNER

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/sys", "/nix", "/gnu")
BESIDE_BIN = ("lib", "lib64", "libexec", "include", "share", "conf", "release", "jre", "pyvenv.cfg")
"""What belongs to the programs in a folder `bin`."""
ROOT, MODULE = "--root=", "--module="
"""Options of the runner of originals: the bot's folder; a module of the folder above the agent's."""
VERSION_MANAGERS = "shims"
"""Such a folder on the PATH holds scripts that start what lies in the folders beside it (pyenv, asdf, rbenv, mise)."""


@lru_cache
def needed(argv: tuple[str, ...], cwd: Path, path: str, more: tuple[str, ...] = ()) -> list[str]:
    """The files and folders that a program needs. Real paths, no links.

    Kept for the next match: it is looked up while other bots play.
    """
    places = [*SYSTEM, str(cwd), *kits(), *_installation(sys.executable), *of_original(argv), *more]
    for word in argv[1:]:
        places += _named_in(word)
    places += _installation(argv[0])
    if argv[0] == sys.executable:
        places += _packages()
    for folder in path.split(os.pathsep):
        if os.path.isabs(folder) and os.path.isdir(folder):
            places += _on_path(folder)
    return sorted({os.path.realpath(path) for path in places if os.path.exists(path)})


def of_original(argv: Sequence[str]) -> list[str]:
    """The paths outside its own folder that an agent of an original competition may read: its bot's folder, modules."""
    if str(RUNNER) not in argv:
        return []
    return [word.partition("=")[2] for word in argv if word.startswith((ROOT, MODULE))]


def without_nested(paths: Iterable[str]) -> list[str]:
    """Those that lie in no other."""
    kept: list[str] = []
    for path in sorted(set(paths)):
        if not covered(path, kept):
            kept.append(path)
    return kept


def covered(path: str, folders: Iterable[str]) -> bool:
    """Whether a path is one of these or lies inside of one."""
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)


def links(named: Iterable[str], scratch: str, shown: Iterable[str]) -> list[tuple[str, str]]:
    """The links, as (target, place), by which paths lead to what is shown, where they are not shown themselves."""
    shown = tuple(shown)
    return list(dict.fromkeys([*_lasting_links(tuple(named), shown), *_links((scratch,), shown)]))


@lru_cache
def _lasting_links(paths: tuple[str, ...], shown: tuple[str, ...]) -> list[tuple[str, str]]:
    """Those of paths that stay: kept for the next match, as `needed` is."""
    return _links(paths, shown)


def _links(paths: Sequence[str], shown: Sequence[str]) -> list[tuple[str, str]]:
    found: dict[str, str] = {}
    for path in paths:
        for place, target in _links_on(path):
            if not covered(os.path.join(os.path.realpath(os.path.dirname(place)), os.path.basename(place)), shown):
                found[place] = target
    return [(target, place) for place, target in found.items()]


def _links_on(path: str) -> Iterator[tuple[str, str]]:
    """Every link that is followed on the way along a path: where it lies, by its real folder, and what it says."""
    waiting = [part for part in reversed(path.split("/")) if part]
    at = "/"
    for _ in range(256):
        if not waiting:
            return
        name = waiting.pop()
        if name == "..":
            at = os.path.dirname(at)
            continue
        place = os.path.join(at, name)
        if os.path.islink(place):
            target = os.readlink(place)
            yield place, target
            waiting += [part for part in reversed(target.split("/")) if part not in ("", ".")]
            at = "/" if target.startswith("/") else at
        else:
            at = place


def kits() -> list[str]:
    """The starter kits, which source files are run with."""
    return [str(KITS)] if KITS.is_dir() else []


def _named_in(word: str) -> Iterator[str]:
    """What a word of a command line names: a folder, or the folder of a file, which may need what lies beside it. As
    `@FILE` and `FOLDER:FILE` too; what is ours needs all that is ours."""
    for path in word.removeprefix("@").split(":"):
        if not path.startswith("/") or not os.path.exists(path):
            continue
        folder = path if os.path.isdir(path) else os.path.dirname(path)
        if covered(folder, [str(HOME)]):
            yield str(HOME)
        elif folder != "/":
            yield folder


def _packages() -> Iterator[str]:
    """Where our own Python has found the packages that the built-in opponents import: not always beside it."""
    for name in ("msgspec", "msgpack"):
        found = find_spec(name)
        if found is not None and found.origin is not None:
            yield os.path.dirname(os.path.dirname(found.origin))


def _installation(program: str) -> Iterator[str]:
    """A program with what was installed beside it, also for each link on the way: a virtual environment's interpreter
    is a link to that of another installation."""
    for _ in range(16):
        folder = os.path.dirname(program)
        yield program
        if os.path.basename(folder) == "bin":
            yield folder
            for name in BESIDE_BIN:
                yield os.path.join(os.path.dirname(folder), name)
        if not os.path.islink(program):
            return
        program = os.path.normpath(os.path.join(folder, os.readlink(program)))


def _on_path(folder: str) -> Iterator[str]:
    if os.path.basename(folder) == VERSION_MANAGERS:
        yield os.path.dirname(folder)
        return
    yield folder
    if os.path.basename(folder) == "bin" and os.path.basename(os.path.dirname(folder)) != ".local":
        for name in ("lib", "lib64", "libexec", "toolchains"):
            yield os.path.join(os.path.dirname(folder), name)
