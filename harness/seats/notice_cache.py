"""Encodes once, for each encoding, what several seats are shown."""

from functools import cache
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct

from referee.games.contract import Method, Notice
from referee.protocol.connection import Connection
from referee.protocol.messages import Encoding


class NoticeCache:
    """Keeps the bytes of the last notice, and of the members that a method names as `shared`."""

    def __init__(self) -> None:
        self._kept: dict[tuple[Encoding, str], tuple[Any, Raw]] = {}
        self.notice: Notice | None = None
        """The last notice."""
        self.frames: dict[Encoding, bytes] = {}
        """Its frames so far."""

    def frame(self, notice: Notice, wire: Connection) -> bytes:
        """Returns the frame of a notice, kept in `frames`. All seats get one notice before any gets the next."""
        if self.notice is not notice:
            self.notice, self.frames = notice, {}
        frame = self.frames.get(wire.encoding)
        if frame is None:
            self.frames[wire.encoding] = frame = wire.notify(notice.method, wire.encode(notice.params))
        return frame

    def params(self, method: Method, params: Struct, wire: Connection) -> dict[str, Any]:
        """Returns `params` member by member, the shared ones encoded."""
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
            # Keep the object alive, so that no other object gets its identity.
            self._kept[key] = kept = value, Raw(wire.encode(value))
        return kept[1]


@cache
def _names(params: type[Struct]) -> tuple[tuple[str, str], ...]:
    return tuple([(field.name, field.encode_name) for field in msgspec.structs.fields(params)])
