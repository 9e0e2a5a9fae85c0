"""The addresses of repositories that bots may name: over HTTPS, at hosts that the ladder lists, with a whole commit."""

import re
from collections.abc import Collection

from referee.addons.ladder.records import HOST, OBJECT

ADDRESS = re.compile(f"https://({HOST.pattern})" + r"(?:/[A-Za-z0-9_~][A-Za-z0-9._~-]*)+/?")
MOST_ADDRESS = 300


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
