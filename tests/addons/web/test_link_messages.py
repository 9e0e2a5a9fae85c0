"""The messages between the web process and the matches: the table says who may send what, and both ends obey it."""

from typing import Any

import msgspec
import pytest

from referee.addons.web.server.limits import RequestLimits
from referee.addons.web.server.messages import (
    CROSSING,
    TRANSITIONS,
    Asked,
    Begin,
    End,
    Follow,
    Forget,
    FromMatches,
    FromWeb,
    Gone,
    LinkEnd,
    Piece,
    Publish,
    Ready,
    Respond,
    Sent,
    Serve,
    Stalled,
    State,
    Sync,
    Synced,
)
from referee.protocol.errors import LocalProtocolError, RemoteProtocolError

MESSAGES: dict[str, Any] = {
    "Asked": Asked(1, 0.5, "1.1", "POST", "/é", b"/%C3%A9", b"a=1", [(b"host", b"\xff")], ("::1", 1), b"\0\xff", True),
    "Respond": Respond(1, 200, [(b"a", b"b")], b"\xff"),
    "Begin": Begin(1, 200, []),
    "Piece": Piece(1, b"data: 1\n\n"),
    "Follow": Follow(1, 7),
    "End": End(1, is_cut=True),
    "Sent": Sent(1, 0.75),
    "Gone": Gone(1),
}
PATHS = {
    State.NEW: [],
    State.WAITING: ["Asked"],
    State.OPEN: ["Asked", "Begin"],
    State.FOLLOWING: ["Asked", "Begin", "Follow"],
    State.WRITING: ["Asked", "Begin", "Piece"],
    State.LEFT: ["Asked", "Gone"],
    State.LEFT_OPEN: ["Asked", "Begin", "Gone"],
    State.OVER: ["Asked", "Respond"],
}
"""How an exchange comes into each state."""
WEB = ("Asked", "Sent", "Gone")


def ends(path: list[str]) -> tuple[LinkEnd, LinkEnd]:
    """Returns the matches' end and the web process's, after that path."""
    matches, web = LinkEnd(FromWeb), LinkEnd(FromMatches)
    for name in path:
        pass_on(matches, web, name)
    return matches, web


def pass_on(matches: LinkEnd, web: LinkEnd, name: str) -> list[Any]:
    sender, receiver = (web, matches) if name in WEB else (matches, web)
    return list(receiver.receive(sender.send(MESSAGES[name])))


@pytest.mark.parametrize("name", MESSAGES)
@pytest.mark.parametrize("state", State, ids=lambda state: state.name)
def test_both_ends_obey_the_table(state: State, name: str) -> None:
    allowed = name in TRANSITIONS.get(state, {}) or (name == "Asked" and state is State.OVER)
    matches, web = ends(PATHS[state])
    frame = msgspec.msgpack.encode(MESSAGES[name])
    if allowed:
        assert pass_on(matches, web, name) == [MESSAGES[name]]
        assert matches.state(1) is web.state(1)
        return
    sender, receiver = (web, matches) if name in WEB else (matches, web)
    if name in CROSSING and state in (State.OVER, State.LEFT, State.LEFT_OPEN, State.NEW):
        assert sender.send(MESSAGES[name]) == b""
        assert list(receiver.receive(frame)) == []
    else:
        with pytest.raises(LocalProtocolError):
            sender.send(MESSAGES[name])
        with pytest.raises(RemoteProtocolError):
            list(receiver.receive(frame))


def test_a_client_that_leaves_while_its_response_is_sent_breaks_nothing() -> None:
    matches, web = ends(["Asked"])
    response, gone = matches.send(MESSAGES["Respond"]), web.send(MESSAGES["Gone"])
    assert list(matches.receive(gone)) == []
    assert list(web.receive(response)) == [MESSAGES["Respond"]]
    assert matches.state(1) is web.state(1) is State.OVER


def test_a_client_that_leaves_after_its_response_has_come_is_not_named() -> None:
    _, web = ends(["Asked", "Begin", "Piece", "End"])
    assert web.send(MESSAGES["Sent"]) == web.send(MESSAGES["Gone"]) == b""


def test_messages_arrive_whole_however_they_are_cut() -> None:
    sent = [Serve(RequestLimits(), 1.5), Publish(7, b"\xff"), Forget(7), Sync(3)]
    matches, web = ends([])
    data = b"".join(map(matches.send, sent))
    assert [each for byte in data for each in web.receive(bytes([byte]))] == sent
    back = [Ready(0.25), Stalled(0.5), Synced(3, 2.0)]
    assert list(matches.receive(b"".join(map(web.send, back)))) == back


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\n",
        msgspec.msgpack.encode({"type": "gone"}),
        msgspec.msgpack.encode({"type": "gone", "id": "1"}),
        msgspec.msgpack.encode({"type": "nothing"}),
        msgspec.msgpack.encode(MESSAGES["Respond"]),
        msgspec.msgpack.encode(Sync(1)),
        b"\x81" * 10_000,
    ],
)
def test_what_the_web_process_may_not_say_is_refused(data: bytes) -> None:
    matches, _ = ends(["Asked"])
    with pytest.raises(RemoteProtocolError):
        list(matches.receive(data))
