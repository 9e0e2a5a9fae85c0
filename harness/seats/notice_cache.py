"""What several seats are shown alike is encoded once, for each encoding that is spoken at the table."""

from functools import cache
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct

from referee.games.contract import Method, Notice
from referee.protocol.connection import Connection
from referee.protocol.messages import Encoding


class SharedMembers:
    """The members that a method names as `shared`, and the last notice, kept as bytes while it is the same object."""

    def __init__(self) -> None:
        self._kept: dict[tuple[Encoding, str], tuple[Any, Raw]] = {}
        self._notice: Notice | None = None
        self._frames: dict[Encoding, bytes] = {}

    def notice(self, notice: Notice, wire: Connection) -> bytes:
        """The frame of a notice; every seat hears of one before any hears of the next."""
        if self._notice is not notice:
            self._notice, self._frames = notice, {}
        frame = self._frames.get(wire.encoding)
        if frame is None:
            self._frames[wire.encoding] = frame = wire.notify(notice.method, wire.encode(notice.params))
        return frame

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
