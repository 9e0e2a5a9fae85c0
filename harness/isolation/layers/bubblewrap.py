"""bubblewrap, where it is installed and namespaces of our own are refused: some systems let it alone make them."""

import os
import shutil
from collections.abc import Sequence
from functools import cache

from referee.harness.isolation.hidden_files import too_many
from referee.harness.isolation.layers.namespaces import BASE, View, optional
from referee.harness.isolation.visible_paths import covered, links

MOST_WORDS = 8500
"""Arguments that fit into bubblewrap's limit of 9,000, with the program and its own arguments."""


@cache
def program() -> str | None:
    """Where it is."""
    return shutil.which("bwrap")


def command(view: View, launcher: Sequence[str]) -> list[str]:
    """What goes before the launcher, which is the first process inside and sees the same files as with `namespaces`.

    Versions that cannot limit the size of a folder in memory fail the trial. RunError for a folder with too many files.
    """
    bwrap = program()
    assert bwrap is not None
    size = () if view.scratch_bytes is None else ("--size", str(view.scratch_bytes))
    room = (*size, "--tmpfs")
    taken = [bwrap, "--unshare-all", "--as-pid-1", "--cap-drop", "ALL", *room, "/tmp"]
    sight = view.sight
    for path in sight.opened:
        if path not in (BASE, "/"):
            taken += ["--perms", "0555", "--dir", path]
    for path in sight.shown:
        if os.path.islink(path):
            taken += ["--symlink", os.readlink(path), path]
        else:
            taken += ["--ro-bind-try" if optional(path, sight) else "--ro-bind", path, path]
    for target, place in links(view.named, view.scratch, sight.shown):
        taken += ["--symlink", target, place]
    for path in filter(os.path.isabs, launcher):
        if not covered(os.path.realpath(path), sight.shown):
            taken += ["--ro-bind", path, path]
    for path in view.writable:
        taken += ["--bind", path, path]
    for path in sight.emptied:
        taken += ["--size", "4096", "--tmpfs", path, "--remount-ro", path]
    scratch = os.path.realpath(view.scratch)
    taken += [*room, scratch, "--proc", "/proc", "--dev", "/dev", "--"]
    if sight.opened and len(taken) > MOST_WORDS:
        raise too_many(sight.opened[0], len(sight.shown))
    return taken
