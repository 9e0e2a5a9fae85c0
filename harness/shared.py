"""What several seats are shown alike is encoded once, for each encoding that is spoken at the table."""

from functools import cache
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct

from games.api import Method
from protocol.connection import Connection
from protocol.messages import Encoding


class SharedMembers:
    """The members that a method names as `shared`, kept as bytes while the engine hands out the same object."""

    def __init__(self) -> None:
        self._kept: dict[tuple[Encoding, str], tuple[Any, Raw]] = {}

    def params(self, method: Method, params: Struct, wire: Connection) -> dict[str, Any]:
        """`params` member by member, the shared ones encoded already as `wire` speaks."""
        members = {}
        for name, encode_name in _names(type(params)):
            value = getattr(params, name)
            if name in method.shared:
                value = self._encoded(name, value, wire)
            if value is not UNSET:
                members[encode_name] = value
        return members

    def _encoded(self, name: str, value: Any, wire: Connection) -> Raw:
        key = wire.encoding, name
        kept = self._kept.get(key)
        if kept is None or kept[0] is not value:
            # The object itself is kept too: as long as it lives, no other can be mistaken for it.
            self._kept[key] = kept = value, Raw(wire.encode(value))
        return kept[1]


@cache
def _names(params: type[Struct]) -> tuple[tuple[str, str], ...]:
    return tuple([(field.name, field.encode_name) for field in msgspec.structs.fields(params)])
