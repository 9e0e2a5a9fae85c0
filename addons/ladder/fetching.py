"""Fetches a commit of a repository that a stranger names: over HTTPS, from hosts that the ladder lists, with limits.

The commit comes into a bare repository that is removed afterwards. Nothing is checked out: no hook, filter or submodule
of it has any effect. Git uses no setting and no password of this machine's user.
"""

import re
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from referee.addons.ladder.objects import TOO_LARGE, Repository
from referee.addons.ladder.records import HOST, OBJECT
from referee.harness.common import git
from referee.harness.common.errors import RunError

ADDRESS = re.compile(f"https://({HOST.pattern})" + r"(?:/[A-Za-z0-9_~][A-Za-z0-9._~-]*)+/?")
MOST_ADDRESS = 300
FETCH_S = 120.0
PACK_BYTES = 1 << 20
"""How much larger a pack may be than the files in it."""


class Vanished(RunError):
    """A commit of another repository that cannot be had, or not any more."""


def address_problem(address: str | None, commit: str | None, hosts: Collection[str]) -> str:
    """Returns what is wrong with the address of a bot; empty if nothing is. `hosts`: those that the ladder lists."""
    if address is None or commit is None:
        return "`git` and `commit` belong together: name the repository and the commit"
    found = ADDRESS.fullmatch(address) if len(address) <= MOST_ADDRESS else None
    if found is None:
        return f"`git` is {address[:MOST_ADDRESS]!a}; expected an address such as https://github.com/you/bot"
    if found[1] not in hosts:
        listed = ", ".join(hosts) or "none"
        return f"`git` names the host {found[1]}; `hosts` in ladder.toml lists {listed}: ask a maintainer to add it"
    if not OBJECT.fullmatch(commit):
        return f"`commit` is {commit[:80]!a}; expected all 40 digits that `git rev-parse HEAD` prints"
    return ""


@contextmanager
def fetched(address: str, commit: str, most_bytes: int) -> Iterator[Repository]:
    """Opens a bare repository with one commit. Vanished if it cannot be had; RunError for more than `most_bytes`."""
    with tempfile.TemporaryDirectory(prefix="referee-") as scratch:
        kind = "sha256" if len(commit) == 64 else "sha1"
        with Repository.made(Path(scratch), kind, git.strangers_environment(address)) as repository:
            words = [*git.options(*git.STRANGERS_SETTINGS), *git.FETCH, "--depth=1", "--", address]
            try:
                repository.run(
                    *words, f"{commit}:refs/heads/fetched", seconds=FETCH_S, most_written=most_bytes + PACK_BYTES
                )
            except RunError as error:
                if TOO_LARGE in str(error):
                    raise RunError(f"{address}: the commit {commit[:12]} has more than {most_bytes:,} bytes") from error
                why = str(error).partition(": git fetch: ")[2] or str(error)
                raise Vanished(f"{address} does not give the commit {commit[:12]}: {why}") from error
            yield repository
