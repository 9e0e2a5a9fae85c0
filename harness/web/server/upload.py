"""Uploads: requests whose bodies the web process reads in pieces, when the application asks for them."""

import asyncio
from typing import Any

from referee.harness.web.server.limits import RequestLimits

METHODS = ("POST", "PUT", "PATCH")


def is_upload(scope: Any, limits: RequestLimits) -> bool:
    """Tells whether the body of a request is handed over in pieces."""
    return scope["type"] == "http" and scope["method"] in METHODS and scope["path"].startswith(limits.uploads)


class UploadBody:
    """The body of an upload, in the web process. `receive` is that of ASGI."""

    def __init__(self, receive: Any, limits: RequestLimits) -> None:
        self.is_whole = False
        self._receive = receive
        self._limits = limits
        self._bytes = 0
        self._until = asyncio.get_running_loop().time() + limits.upload_s

    async def next(self) -> bytes | tuple[int, str] | None:
        """Returns the next piece, or status and message of a refusal; None if the client has left."""
        until = min(asyncio.get_running_loop().time() + self._limits.body_s, self._until)
        try:
            async with asyncio.timeout_at(until):
                message = await self._receive()
        except TimeoutError:
            return 408, "the body took too long"
        if message["type"] == "http.disconnect":
            return None
        piece: bytes = message.get("body", b"")
        self._bytes += len(piece)
        if self._bytes > self._limits.upload_bytes:
            return 413, "the body is too long"
        self.is_whole = not message.get("more_body", False)
        return piece
