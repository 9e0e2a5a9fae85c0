"""Serves one client over lines. Tools run side by side, so that the client can use several matches at once."""

import logging
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import msgspec
import trio

from referee.addons.mcp import tools
from referee.addons.mcp.matches import Conditions, MatchTable, open_matches
from referee.addons.mcp.messages import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    Cancelled,
    Connection,
    Message,
    Refused,
    Request,
    failure,
)
from referee.harness.common.nurseries import ungrouped

Read = Callable[[], Awaitable[bytes]]
"""Waits for bytes from the client; empty = the client has gone."""
Write = Callable[[bytes], Awaitable[None]]
LAST_S = 0.5
"""How long the requests that are open when the client goes may still take."""
MAX_LINE = 4 << 20
"""The longest line in bytes. The rest of a longer one is read and dropped."""

log = logging.getLogger("referee.servers.mcp")


async def serve(read: Read, write: Write, conditions: Conditions) -> None:
    """Serves until the client goes. Then all matches end, with every program that they started."""
    async with open_matches(conditions) as matches:
        with ungrouped():
            async with trio.open_nursery() as nursery:
                client = Client(matches, write)
                lines = Lines()
                while chunk := await read():
                    for line in lines.split(chunk):
                        client.take(line, nursery)
                nursery.cancel_scope.deadline = trio.current_time() + LAST_S


class Lines:
    """Splits what a client sends into lines."""

    def __init__(self) -> None:
        self._rest = bytearray()
        """The beginning of the next line: one byte more than a line may have is enough to refuse it."""

    def split(self, chunk: bytes) -> Iterator[bytes]:
        """Yields the lines that end in this chunk, without blank ones. One that is too long is cut."""
        *lines, last = chunk.split(b"\n")
        for line in lines:
            self._add(line)
            if self._rest.strip():
                yield bytes(self._rest)
            self._rest.clear()
        self._add(last)

    def _add(self, piece: bytes) -> None:
        self._rest += piece[: MAX_LINE + 1 - len(self._rest)]


class Client:
    """A connected client."""

    def __init__(self, matches: MatchTable, write: Write) -> None:
        self._matches, self._write = matches, write
        self._connection = Connection()
        self._writing = trio.Lock()
        self._open: dict[str | int, trio.CancelScope] = {}
        """The requests that are being answered."""

    def take(self, line: bytes, nursery: trio.Nursery) -> None:
        """Begins to answer a line. A handshake and a cancellation take effect at once."""
        if len(line) > MAX_LINE:
            refused = Refused(INVALID_REQUEST, f"a line of more than {MAX_LINE >> 20} MiB")
            nursery.start_soon(self._send, failure(None, refused))
            return
        read, is_batch = self._connection.read(line)
        responses: list[Message] = []
        calls: list[Request] = []
        for message in read:
            if isinstance(message, Cancelled):
                if message.id in self._open:
                    self._open[message.id].cancel()
            elif isinstance(message, Request):
                try:
                    response = self._connection.answer(message)
                except Refused as refused:
                    response = failure(message.id, refused)
                if response is None:
                    calls.append(message)
                else:
                    responses.append(response)
            else:
                responses.append(message)
        if is_batch:
            nursery.start_soon(self._answer_batch, responses, calls)
        else:
            for response in responses:
                nursery.start_soon(self._send, response)
            for call in calls:
                nursery.start_soon(self._answer_one, call)

    async def _answer_batch(self, responses: list[Message], calls: list[Request]) -> None:
        async def answer(request: Request) -> None:
            if (response := await self._called(request)) is not None:
                responses.append(response)

        async with trio.open_nursery() as nursery:
            for request in calls:
                nursery.start_soon(answer, request)
        if responses:
            await self._send(responses)

    async def _answer_one(self, request: Request) -> None:
        if (response := await self._called(request)) is not None:
            await self._send(response)

    async def _called(self, request: Request) -> Message | None:
        """Returns the response to a request for tools; None if it was cancelled."""
        if request.method == "tools/list":
            return request.result({"tools": [tool.described() for tool in tools.TOOLS.values()]}, kept=True)
        name, arguments = request.params.get("name"), request.params.get("arguments", {})
        if not isinstance(name, str) or name not in tools.TOOLS:
            known = ", ".join(tools.TOOLS)
            return failure(request.id, Refused(INVALID_PARAMS, f"Unknown tool: {name}; there are {known}"))
        with trio.CancelScope() as scope:
            self._open[request.id] = scope
            try:
                return request.result(await tools.call(self._matches, name, arguments))
            except Exception as error:
                log.exception("the tool %s failed", name)
                return failure(request.id, Refused(INTERNAL_ERROR, f"{name} failed: {type(error).__name__}: {error}"))
            finally:
                self._open.pop(request.id, None)
        return None

    async def _send(self, message: Any) -> None:
        async with self._writing:
            await self._write(msgspec.json.encode(message) + b"\n")
