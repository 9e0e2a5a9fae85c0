"""Several processes with matches behind one web process: the id of a match says which of them plays it."""

import re
from collections.abc import Sequence
from typing import Any, Protocol, TypeVar
from uuid import UUID, uuid4
from zlib import crc32

import msgspec

from referee.protocol.errors import UNDECODABLE

RUN = "runId"
"""The member of a posted object by which requests are spread that name no match."""
_IDENT = re.compile(r".*/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/?", re.DOTALL)


class _Process(Protocol):
    @property
    def has_ended(self) -> bool: ...


P = TypeVar("P", bound=_Process)


class Shard(msgspec.Struct, frozen=True):
    """One of several processes with matches."""

    index: int = 0
    count: int = 1

    def new_ident(self) -> str:
        """Returns a random UUID of this process."""
        while (ident := uuid4()).int % self.count != self.index:
            pass
        return str(ident)


def candidates(processes: Sequence[P], scope: Any, body: bytes) -> Sequence[P]:
    """Returns the processes that may answer a request. The next one is asked if one says 404.

    A request about a match goes to the process that plays it, even if that has ended. Any other one goes to one that
    lives, and always to the same one for a run.
    """
    if len(processes) == 1:
        return processes
    reads = scope.get("method", "GET") in ("GET", "HEAD")
    if found := _IDENT.fullmatch(scope["path"]):
        first = UUID(found[1]).int % len(processes)
        if not reads or processes[first].has_ended:
            return (processes[first],)
    else:
        first = 0 if reads else crc32(_key(body)) % len(processes)
    living = [each for each in (*processes[first:], *processes[:first]) if not each.has_ended]
    return (living if reads else living[:1]) or processes[:1]


def _key(body: bytes) -> bytes:
    """Returns what is the same whenever the same run is ordered."""
    try:
        value = msgspec.json.decode(body)
    except UNDECODABLE:
        return body
    run = value.get(RUN) if isinstance(value, dict) else None
    return run.encode("utf-8", "surrogatepass") if isinstance(run, str) else body
