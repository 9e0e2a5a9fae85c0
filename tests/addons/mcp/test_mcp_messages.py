"""The messages of the Model Context Protocol by its specification, without a process."""

import json
from typing import Any

import msgspec
import pytest

from referee.addons.mcp.messages import (
    HANDSHAKE,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MOST_OF_BATCH,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    Cancelled,
    Connection,
    Refused,
    Request,
    failure,
)
from referee.addons.mcp.tools import TOOLS

STATELESS = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


def request(method: str, ident: Any = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": ident, "method": method, "params": params}


def read(connection: Connection, message: Any) -> Any:
    """Returns what one message is read as."""
    (found,), _ = connection.read(json.dumps(message).encode())
    return found


def answered(connection: Connection, message: Any) -> Any:
    """Returns the response to a message; the request itself if a tool must answer."""
    found = read(connection, message)
    if not isinstance(found, Request):
        return found
    try:
        return connection.answer(found) or found
    except Refused as refused:
        return failure(found.id, refused)


def greeted(version: str = "2025-11-25") -> Connection:
    connection = Connection()
    answered(connection, request("initialize", protocolVersion=version))
    return connection


# The handshake.


@pytest.mark.parametrize("asked", HANDSHAKE)
def test_the_server_agrees_to_a_revision_that_it_knows(asked: str) -> None:
    response = answered(Connection(), request("initialize", protocolVersion=asked, capabilities={}))
    assert response["id"] == 1
    assert response["result"]["protocolVersion"] == asked
    assert response["result"]["capabilities"] == {"tools": {}}
    assert response["result"]["serverInfo"]["name"] == "referee"


@pytest.mark.parametrize("asked", ["1999-01-01", "2026-07-28"])
def test_the_server_offers_its_latest_revision_with_a_handshake_instead_of_others(asked: str) -> None:
    assert (
        answered(Connection(), request("initialize", protocolVersion=asked))["result"]["protocolVersion"]
        == HANDSHAKE[-1]
    )


def test_a_client_may_ping_at_any_time_and_must_greet_before_all_else() -> None:
    connection = Connection()
    assert answered(connection, request("ping", "a"))["result"] == {}
    assert answered(connection, request("tools/list"))["error"]["code"] == INVALID_PARAMS
    answered(connection, request("initialize", protocolVersion="2025-06-18"))
    assert answered(connection, request("tools/list")) == Request(1, "tools/list", {}, False)
    assert answered(connection, request("ping"))["result"] == {}


# Without a handshake.


def test_a_stateless_request_names_its_revision_and_gets_a_complete_result() -> None:
    result = answered(Connection(), request("server/discover", _meta=STATELESS))["result"]
    assert result["supportedVersions"] == ["2026-07-28"]
    assert result["resultType"] == "complete"
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "referee"
    assert result["ttlMs"] > 0
    assert isinstance(answered(Connection(), request("tools/list", _meta=STATELESS)), Request)


def test_an_unknown_revision_is_refused_with_those_that_are_supported() -> None:
    meta = STATELESS | {"io.modelcontextprotocol/protocolVersion": "2999-01-01"}
    error = answered(Connection(), request("tools/list", _meta=meta))["error"]
    assert (error["code"], error["data"]["requested"]) == (UNSUPPORTED_VERSION, "2999-01-01")
    assert error["data"]["supported"][0] == "2026-07-28"


def test_a_stateless_request_must_have_the_clients_capabilities_and_has_no_ping() -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    assert answered(Connection(), request("tools/list", _meta=meta))["error"]["code"] == INVALID_PARAMS
    assert answered(Connection(), request("ping", _meta=STATELESS))["error"]["code"] == METHOD_NOT_FOUND


# JSON-RPC.


@pytest.mark.parametrize(
    ("line", "code", "ident"),
    [
        (b"{", PARSE_ERROR, None),
        (b"\xff", PARSE_ERROR, None),
        (b"[" * 100_000, PARSE_ERROR, None),
        (b"3", INVALID_REQUEST, None),
        (b"[]", INVALID_REQUEST, None),
        (b'{"id":1,"method":"ping"}', INVALID_REQUEST, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":3}', INVALID_REQUEST, 1),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', INVALID_REQUEST, None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', INVALID_REQUEST, None),
        (b'{"jsonrpc":"2.0","id":"a","method":"ping","params":[]}', INVALID_PARAMS, "a"),
        (b'{"jsonrpc":"2.0","id":2,"method":"initialize"}', INVALID_PARAMS, 2),
        (b'{"jsonrpc":"2.0","id":2,"method":"resources/list"}', METHOD_NOT_FOUND, 2),
    ],
)
def test_what_is_wrong_gets_the_error_of_the_specification(line: bytes, code: int, ident: Any) -> None:
    connection = greeted()
    (found,), _ = connection.read(line)
    if isinstance(found, Request):
        with pytest.raises(Refused) as refused:
            connection.answer(found)
        found = failure(found.id, refused.value)
    assert isinstance(found, dict)
    assert (found["error"]["code"], found["id"]) == (code, ident)


def test_notifications_and_responses_are_not_answered() -> None:
    connection = greeted()
    for message in (
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/something", "params": {"requestId": 1}},
        {"jsonrpc": "2.0", "id": 4, "result": {}},
        {"jsonrpc": "2.0", "id": 4, "error": {"code": 1, "message": ""}},
    ):
        assert connection.read(json.dumps(message).encode()) == ([], False)
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "a"}}
    assert read(connection, cancelled) == Cancelled("a")


def test_a_batch_has_a_limit() -> None:
    """A short request may have a long answer."""
    for count, expected in ((MOST_OF_BATCH, MOST_OF_BATCH), (MOST_OF_BATCH + 1, 1)):
        found, is_batch = greeted().read(json.dumps([request("tools/list", id) for id in range(count)]).encode())
        assert len(found) == expected and is_batch == (expected > 1)
    assert "a batch of 101 messages; expected at most 100" in str(found[0])


def test_a_batch_is_read_message_by_message() -> None:
    found, is_batch = greeted().read(json.dumps([request("ping", 1), 3, request("tools/list", 2)]).encode())
    assert is_batch
    assert [type(each) for each in found] == [Request, dict, Request]


# The tools.


def test_every_tool_has_a_description_and_schemas_of_objects() -> None:
    for tool in TOOLS.values():
        described = tool.described()
        assert len(described["description"]) > 30
        for schema in (described["inputSchema"], described["outputSchema"]):
            assert schema["type"] == "object"
            assert not schema.keys() & {"anyOf", "oneOf", "allOf"}, "some clients refuse these at the top"
        for name, member in described["inputSchema"]["properties"].items():
            assert "description" in member, f"{tool.name}: {name}"
        assert msgspec.json.encode(described)
