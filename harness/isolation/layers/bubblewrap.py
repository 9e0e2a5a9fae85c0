"""bubblewrap: makes the namespaces where it is installed and we may not. Some systems allow them to it alone."""

import os
import shutil
from functools import cache

from referee.harness.isolation.hidden_files import too_many_files
from referee.harness.isolation.layers import namespaces
from referee.harness.isolation.layers.namespaces import SandboxFiles
from referee.harness.isolation.visible_paths import is_inside

MAX_WORDS = 8500
"""Arguments that fit into bubblewrap's limit of 9,000, with those of the program."""

INNER_LAUNCHER = f"/{namespaces.INNER_LAUNCHER}"


@cache
def program() -> str | None:
    """Returns the path of bubblewrap; None if it is not installed."""
    return shutil.which("bwrap")


def command(files: SandboxFiles, launcher: str) -> list[str]:
    """Returns the words before the sandbox launcher, which sees the same files as with `namespaces`.

    Versions that cannot limit the size of a folder in memory fail the trial. RunError for too many files.
    """
    bwrap = program()
    assert bwrap is not None
    tmpfs = (*(() if files.scratch_bytes is None else ("--size", str(files.scratch_bytes))), "--tmpfs")
    words = [bwrap, "--unshare-all", *(["--share-net"] if files.network else []), "--as-pid-1", "--cap-drop", "ALL"]
    words += [*tmpfs, "/tmp"]
    devices = ["--proc", "/proc", "--dev", "/dev", *tmpfs, namespaces.SHARED_MEMORY]
    for path in filter(os.path.exists, namespaces.HIDDEN_PROC):
        devices += ["--dev-bind", "/dev/null", path]
    if not is_inside("/dev", files.visible.paths):
        words, devices = words + devices, []  # first, because what the bot sees may lie below /dev/shm
    for folder in files.private:
        words += [*tmpfs, folder]
    for step in namespaces.shown(files):
        words += _words(step)
    for folder, _, kind in files.layered:
        words += ["--ro-bind", folder, folder] if kind == "folders" else []
    if files.root is not None:
        words += ["--ro-bind", launcher, INNER_LAUNCHER]
    elif not is_inside(os.path.realpath(launcher), files.visible.paths):
        words += ["--ro-bind", launcher, launcher]
    words += [*devices, *tmpfs, os.path.realpath(files.scratch), "--"]
    if files.visible.partial_folders and len(words) > MAX_WORDS:
        raise too_many_files(files.visible.partial_folders[0], len(files.visible.paths))
    return words


def _words(step: tuple[str, ...]) -> list[str]:
    match step:
        case "mkdir", path, mode, *_:
            return ["--perms", mode, "--dir", path]
        case "tmpfs", path, _:
            return ["--size", "4096", "--tmpfs", path, "--remount-ro", path]
        case "bind", path, _, "rw":
            return ["--bind", path, path]
        case kind, path, place, *_:
            return [{"bind": "--ro-bind", "bind_optional": "--ro-bind-try", "symlink": "--symlink"}[kind], path, place]
    raise AssertionError(step)
