"""Visible paths: the files that a bot can see, which are the system, the runtimes and its own folder.

Home folders, other bots, replays and the sockets of services are outside of these.
"""

import os
import sys
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from referee.harness.common.paths import HOME, KITS

MACHINE_FOLDERS = ("/sys/devices/system", "/sys/kernel/mm")
"""The processors and the memory. The rest of /sys shows devices, network traffic, and the control groups of others."""
SYSTEM_FOLDERS = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"),
    *("/etc", "/opt", "/nix", "/gnu"),
    *MACHINE_FOLDERS,
)
INSTALLATION = ("lib", "lib64", "libexec", "include", "share", "conf", "release", "jre", "pyvenv.cfg")
"""Files and folders next to `bin` that its programs need."""
VERSION_MANAGER = "shims"
"""A folder of this name on PATH holds scripts that start programs of its sibling folders (pyenv, asdf, rbenv, mise)."""
MAX_LINKS, MAX_STEPS = 16, 256
"""Limits for chains of links, which may be circular."""


@lru_cache
def required_paths(named: tuple[str, ...], cwd: Path, path: str, extra: tuple[str, ...] = ()) -> list[str]:
    """Returns the files and folders that a program needs, as real paths without links.

    `named`: the command, without the words that a stranger has chosen. A path among the others is the user's wish.
    `extra`: what else the user and its kind of player show it.

    Cached, since it runs while other bots are at play.
    """
    paths = [*SYSTEM_FOLDERS, str(KITS), *own_paths(str(cwd)), *extra]
    for word in named[1:]:
        paths += named_folders(word)
    for each in (sys.executable, *named[:1]):
        paths += installation(each)
    if any(map(_is_own_python, named[:1])):
        paths += _packages()
    for folder in path.split(os.pathsep):
        if os.path.isabs(folder) and os.path.isdir(folder):
            paths += _folders_of_path_entry(folder)
    return sorted({os.path.realpath(each) for each in paths if os.path.exists(each)})


def own_paths(folder: str) -> list[str]:
    """Returns the folder of a bot; of `/`, as in a container, only the files that lie in it."""
    if folder != "/":
        return [folder]
    with os.scandir(folder) as entries:
        return [entry.path for entry in entries if entry.is_file()]


def outermost(paths: Iterable[str]) -> list[str]:
    """Returns the paths that lie in no other one."""
    kept: list[str] = []
    for path in sorted(set(paths)):
        if not is_inside(path, kept):
            kept.append(path)
    return kept


def is_inside(path: str, folders: Iterable[str]) -> bool:
    """Whether a path is one of these folders or lies in one."""
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)


def links(paths: Iterable[str], visible: Collection[str]) -> list[tuple[str, str]]:
    """Returns the links that these paths lead through and that are not visible themselves, as (target, place)."""
    found = dict(link for path in paths for link in _links_on(path) if not is_inside(link[0], visible))
    return [(target, place) for place, target in found.items()]


@lru_cache(1024)
def _links_on(path: str) -> list[tuple[str, str]]:
    """Returns every link that is followed along a path: its place, in its real folder, and its target."""
    found = []
    parts = [part for part in reversed(path.split("/")) if part]
    folder = "/"
    for _ in range(MAX_STEPS):
        if not parts:
            break
        name = parts.pop()
        if name == "..":
            folder = os.path.dirname(folder)
            continue
        place = os.path.join(folder, name)
        if os.path.islink(place):
            target = os.readlink(place)
            found.append((place, target))
            parts += [part for part in reversed(target.split("/")) if part not in ("", ".")]
            folder = "/" if target.startswith("/") else folder
        else:
            folder = place
    return found


def named_folders(word: str) -> Iterator[str]:
    """Yields the folders of the files that an argument names, also as `@FILE` and `FOLDER:FILE`.

    A file of the referee needs the whole referee.
    """
    for path in word.removeprefix("@").split(":"):
        if not path.startswith("/") or not os.path.exists(path):
            continue
        folder = path if os.path.isdir(path) else os.path.dirname(path)
        if is_inside(folder, [str(HOME)]):
            yield str(HOME)
        elif folder != "/":
            yield folder


def _is_own_python(program: str) -> bool:
    """Returns whether a program is the Python that the referee runs under, by any of its names."""
    folder, name = os.path.split(program)
    return folder == os.path.dirname(sys.executable) and name.startswith("python")


def _packages() -> Iterator[str]:
    """Yields the folders of the packages that the built-in opponents import, and of `referee`, also in a checkout."""
    yield from (str(HOME / name) for name in ("referee", "addons", "games", "harness", "protocol"))
    for name in ("msgspec", "msgpack"):
        spec = find_spec(name)
        if spec is not None and spec.origin is not None:
            yield os.path.dirname(os.path.dirname(spec.origin))


def installation(program: str) -> Iterator[str]:
    """Follows the links of a program, and yields each path with its installation.

    The interpreter of a virtual environment is a link into another installation.
    """
    for _ in range(MAX_LINKS):
        folder = os.path.dirname(program)
        yield program
        if os.path.basename(folder) == "bin":
            yield folder
            for name in INSTALLATION:
                yield os.path.join(os.path.dirname(folder), name)
        if not os.path.islink(program):
            return
        program = os.path.normpath(os.path.join(folder, os.readlink(program)))


def _folders_of_path_entry(folder: str) -> list[str]:
    parent, name = os.path.split(folder)
    if name == VERSION_MANAGER:
        return [parent]
    beside = ("lib", "lib64", "libexec", "toolchains") if name == "bin" and not parent.endswith("/.local") else ()
    return [folder, *(os.path.join(parent, each) for each in beside)]
