"""The messages of the Model Context Protocol, as lines of JSON-RPC 2.0. No I/O.

Revisions until 2025-11-25 begin with the handshake `initialize`. Since 2026-07-28, every request has its revision in
`_meta` instead. See https://modelcontextprotocol.io/specification.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from referee.harness.common.installed import version
from referee.protocol.errors import UNDECODABLE

# Not the SDK `mcp`: its import alone takes twice the CPU time of ours with the whole server.
HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The revisions with a handshake, the latest last."""
STATELESS = ("2026-07-28",)
"""The revisions without one."""
PREFIX = "io.modelcontextprotocol/"
VERSION, CAPABILITIES = f"{PREFIX}protocolVersion", f"{PREFIX}clientCapabilities"
"""Members of `_meta` that a request of a stateless revision must have."""
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
INTERNAL_ERROR = -32603
UNSUPPORTED_VERSION = -32022
KEPT_MS = 3_600_000
"""How long a client may keep the list of tools, which never changes."""
MOST_OF_BATCH = 100
"""The longest batch. One line of 1 MiB could ask for 400 MiB of answers."""
INSTRUCTIONS = (
    "Referee plays board and card games between bots. list_games and rules explain a game. new_match starts a match in "
    "which you have a seat and built-in bots or the user's bots have the others. Then, until the match is over: "
    "look at position, choose one of legal, and give it to answer. matches lists them, and result and replay show one "
    "that is over. check tests a bot in the server's folder and says what to fix."
)

Message = dict[str, Any]


class Refused(Exception):
    """A request that gets a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.data = code, data


class Request(Struct, frozen=True):
    """A request that was read and checked."""

    id: str | int
    method: str
    params: Message
    stateless: bool
    """It is of a revision without a handshake."""

    def result(self, result: Message, kept: bool = False) -> Message:
        """Returns the response. `kept`: the client may keep it for `KEPT_MS`."""
        if self.stateless:
            result = {**result, "resultType": "complete", "_meta": {f"{PREFIX}serverInfo": server_info()}}
            result |= {"ttlMs": KEPT_MS, "cacheScope": "public"} if kept else {}
        return {"jsonrpc": "2.0", "id": self.id, "result": result}


class Cancelled(Struct, frozen=True):
    """The client no longer waits for a request."""

    id: str | int


class Connection:
    """The state of a connection: the revision that its handshake agreed on, if there was one."""

    def __init__(self) -> None:
        self.version: str | None = None

    def read(self, line: bytes) -> tuple[list[Request | Cancelled | Message], bool]:
        """Returns the messages of a line, with an error response for each faulty one, and whether they are a batch."""
        try:
            content = msgspec.json.decode(line)
        except UNDECODABLE as error:
            return [failure(None, Refused(PARSE_ERROR, f"not JSON: {error}"))], False
        if content == []:
            return [failure(None, Refused(INVALID_REQUEST, "an empty batch"))], False
        is_batch = isinstance(content, list)
        if is_batch and len(content) > MOST_OF_BATCH:
            long = f"a batch of {len(content):,} messages; expected at most {MOST_OF_BATCH}"
            return [failure(None, Refused(INVALID_REQUEST, long))], False
        return [each for message in (content if is_batch else [content]) for each in self._read(message)], is_batch

    def _read(self, message: Any) -> Iterator[Request | Cancelled | Message]:
        ident = message.get("id") if isinstance(message, dict) else None
        try:
            read = self._checked(message)
        except Refused as refused:
            yield failure(ident if isinstance(ident, str | int) else None, refused)
        else:
            if read is not None:
                yield read

    def _checked(self, message: Any) -> Request | Cancelled | None:
        """Returns a request or a cancellation; None for other notifications, and for responses."""
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            raise Refused(INVALID_REQUEST, 'expected an object with "jsonrpc": "2.0"')
        method, ident, params = message.get("method"), message.get("id"), message.get("params", {})
        if method is None and message.keys() & {"result", "error"}:
            return None
        if not isinstance(method, str):
            raise Refused(INVALID_REQUEST, f"method is {method!r}; expected a text")
        if "id" not in message:
            is_cancellation = method == "notifications/cancelled" and isinstance(params, dict)
            cancelled = params.get("requestId") if is_cancellation else None
            return Cancelled(cancelled) if isinstance(cancelled, str | int) else None
        if not isinstance(ident, str | int) or isinstance(ident, bool):
            raise Refused(INVALID_REQUEST, f"id is {ident!r}; expected a text or an integer")
        if not isinstance(params, dict):
            raise Refused(INVALID_PARAMS, "params: expected an object")
        return Request(ident, method, params, self._is_stateless(method, params.get("_meta")))

    def _is_stateless(self, method: str, meta: Any) -> bool:
        """Returns whether a request is of a stateless revision. Refused if its revision is missing or unknown."""
        if isinstance(meta, dict) and VERSION in meta and method != "initialize":
            if meta[VERSION] not in STATELESS:
                known = [*STATELESS, *HANDSHAKE[::-1]]
                data = {"supported": known, "requested": meta[VERSION]}
                raise Refused(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
            if not isinstance(meta.get(CAPABILITIES), dict):
                raise Refused(INVALID_PARAMS, f"_meta: {CAPABILITIES} is missing; expected an object")
            return True
        if self.version is None and method not in ("initialize", "ping"):
            raise Refused(INVALID_PARAMS, f"expected initialize first, or {VERSION} in _meta")
        return False

    def answer(self, request: Request) -> Message | None:
        """Returns the response to what needs no tool; None for `tools/list` and `tools/call`. Refused if unknown."""
        match request.method, request.stateless:
            case "initialize", False:
                return request.result(self._handshake(request.params))
            case "server/discover", True:
                known = {"supportedVersions": [*STATELESS]}
                return request.result({**known, "capabilities": capabilities(), "instructions": INSTRUCTIONS}, True)
            case "ping", False:
                return request.result({})
            case "tools/list" | "tools/call", _:
                return None
        raise Refused(METHOD_NOT_FOUND, f"there is no method {request.method}")

    def _handshake(self, params: Message) -> Message:
        """Agrees on the revision that the client asks for, or else on the latest."""
        asked = params.get("protocolVersion")
        if not isinstance(asked, str):
            raise Refused(INVALID_PARAMS, "protocolVersion: expected a text, such as 2025-11-25")
        self.version = asked if asked in HANDSHAKE else HANDSHAKE[-1]
        agreed = {"protocolVersion": self.version, "serverInfo": server_info(), "instructions": INSTRUCTIONS}
        return {**agreed, "capabilities": capabilities()}


def failure(ident: str | int | None, refused: Refused) -> Message:
    """Returns an error response. `ident` is None if the request's id could not be read."""
    error = {"code": refused.code, "message": str(refused)}
    error |= {} if refused.data is None else {"data": refused.data}
    return {"jsonrpc": "2.0", "id": ident, "error": error}


def server_info() -> Message:
    return {"name": "referee", "title": "Referee", "version": version()}


def capabilities() -> Message:
    return {"tools": {}}
