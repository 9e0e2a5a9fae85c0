"""bubblewrap, where it is installed and namespaces of our own are refused: some systems let it alone make them."""

import os
import shutil
from collections.abc import Sequence
from functools import cache

from referee.harness.sandbox.namespaces import View
from referee.harness.sandbox.readable import covered, links


@cache
def program() -> str | None:
    """Where it is."""
    return shutil.which("bwrap")


def command(view: View, launcher: Sequence[str]) -> list[str]:
    """What goes before the launcher, which is the first process inside and sees the same files as with `namespaces`.

    Versions that cannot limit the size of a folder in memory fail the trial.
    """
    bwrap = program()
    assert bwrap is not None
    size = () if view.scratch_bytes is None else ("--size", str(view.scratch_bytes))
    room = (*size, "--tmpfs")
    taken = [bwrap, "--unshare-all", "--as-pid-1", "--cap-drop", "ALL", *room, "/tmp"]
    for path in view.shown:
        taken += ["--ro-bind-try" if covered("/sys", [path]) else "--ro-bind", path, path]
    for target, place in links(view.named, view.scratch, view.shown):
        taken += ["--symlink", target, place]
    for path in filter(os.path.isabs, launcher):
        if not covered(os.path.realpath(path), view.shown):
            taken += ["--ro-bind", path, path]
    for path in view.writable:
        taken += ["--bind", path, path]
    scratch = os.path.realpath(view.scratch)
    return [*taken, *room, scratch, "--proc", "/proc", "--dev", "/dev", "--"]
