"""Answers of the web process to a client: a response, or the texts of a WebSocket."""

from typing import Any

from referee.addons.web.server.pages import Headers


class Answer:
    """A response or a WebSocket for a client."""

    KIND: str
    """The start of the ASGI messages that make a response."""

    def __init__(self, send: Any) -> None:
        self.send = send

    async def respond(self, status: int, headers: Headers, body: bytes) -> None:
        """Sends a whole response."""
        await self.send({"type": f"{self.KIND}.start", "status": status, "headers": headers})
        await self.send({"type": f"{self.KIND}.body", "body": body, "more_body": False})

    async def text(self, status: int, text: str) -> None:
        """Sends a whole response with a line of text."""
        body = f"{text}\n".encode()
        headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", b"%d" % len(body))]
        await self.respond(status, headers, body)

    async def begin(self, status: int, headers: Headers) -> None:
        """Begins what is sent in pieces."""
        raise NotImplementedError

    async def piece(self, body: bytes) -> None:
        """Sends a piece."""
        raise NotImplementedError

    async def end(self) -> None:
        """Ends what was sent in pieces."""
        raise NotImplementedError

    async def cut(self, why: str) -> None:
        """Ends what goes no further."""
        raise NotImplementedError


class Response(Answer):
    """A response in pieces."""

    KIND = "http.response"
    is_stream = False

    async def begin(self, status: int, headers: Headers) -> None:
        self.is_stream = (b"content-type", b"text/event-stream") in headers
        await self.send({"type": "http.response.start", "status": status, "headers": headers})

    async def piece(self, body: bytes) -> None:
        await self.send({"type": "http.response.body", "body": body, "more_body": True})

    async def end(self) -> None:
        await self.send({"type": "http.response.body", "body": b"", "more_body": False})

    async def cut(self, why: str) -> None:
        """Ends a response that goes no further: events with one that says why, anything else without its end."""
        if self.is_stream:
            await self.piece(b'data: {"error":"%b"}\n\n' % why.encode())
            await self.end()


class Socket(Answer):
    """A WebSocket. A response refuses it."""

    KIND = "websocket.http.response"

    async def begin(self, status: int, headers: Headers) -> None:
        await self.send({"type": "websocket.accept", "headers": headers})

    async def piece(self, body: bytes) -> None:
        await self.send({"type": "websocket.send", "text": body.decode()})

    async def end(self) -> None:
        await self.send({"type": "websocket.close", "code": 1000})

    async def cut(self, why: str) -> None:
        """Closes a WebSocket that goes no further."""
        await self.send({"type": "websocket.close", "code": 1011, "reason": why})
