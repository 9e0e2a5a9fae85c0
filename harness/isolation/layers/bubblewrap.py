"""bubblewrap: makes the namespaces where it is installed and we may not. Some systems allow them to it alone."""

import os
import shutil
from collections.abc import Sequence
from functools import cache

from referee.harness.isolation.hidden_files import too_many_files
from referee.harness.isolation.layers.namespaces import BASE, SandboxFiles, is_optional
from referee.harness.isolation.visible_paths import is_inside, links

MAX_WORDS = 8500
"""Arguments that fit into bubblewrap's limit of 9,000, with those of the program."""


@cache
def program() -> str | None:
    """Returns the path of bubblewrap; None if it is not installed."""
    return shutil.which("bwrap")


def command(files: SandboxFiles, launcher: Sequence[str]) -> list[str]:
    """Returns the words before the sandbox launcher, which sees the same files as with `namespaces`.

    Versions that cannot limit the size of a folder in memory fail the trial. RunError for too many files.
    """
    bwrap = program()
    assert bwrap is not None
    size = () if files.scratch_bytes is None else ("--size", str(files.scratch_bytes))
    tmpfs = (*size, "--tmpfs")
    words = [bwrap, "--unshare-all", "--as-pid-1", "--cap-drop", "ALL", *tmpfs, "/tmp"]
    visible = files.visible
    for path in visible.partial_folders:
        if path not in (BASE, "/"):
            words += ["--perms", "0555", "--dir", path]
    for path in visible.paths:
        if os.path.islink(path):
            words += ["--symlink", os.readlink(path), path]
        else:
            words += ["--ro-bind-try" if is_optional(path, visible) else "--ro-bind", path, path]
    for target, place in links(files.link_paths, files.scratch, visible.paths):
        words += ["--symlink", target, place]
    for path in filter(os.path.isabs, launcher):
        if not is_inside(os.path.realpath(path), visible.paths):
            words += ["--ro-bind", path, path]
    for path in files.writable:
        words += ["--bind", path, path]
    for path in visible.empty_folders:
        words += ["--size", "4096", "--tmpfs", path, "--remount-ro", path]
    words += [*tmpfs, os.path.realpath(files.scratch), "--proc", "/proc", "--dev", "/dev", "--"]
    if visible.partial_folders and len(words) > MAX_WORDS:
        raise too_many_files(visible.partial_folders[0], len(visible.paths))
    return words
