"""Hostile and broken clients: each is answered or dropped, and nobody else notices."""

import json
import logging
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from arena_servers import Server, until
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from serving import in_a_thread
from teams import LIBRARIES, team

from referee.addons.aibg.aibg_routes import open_aibg
from referee.addons.aibg.users import Gatekeeper
from referee.addons.arena.arena_routes import open_arena
from referee.addons.arena.runs import Settings
from referee.addons.web.server.host_names import may_be_called, read_aliases
from referee.addons.web.server.limits import RequestLimits
from referee.addons.web.serving import http

pytestmark = pytest.mark.slow


@contextmanager
def running(server: Callable[[], Any]) -> Iterator[tuple[str, int]]:
    """Runs a server in a thread, and yields its host and port."""
    with in_a_thread(server) as (address, *_):
        host, _, port = address.partition(":")
        yield host, int(port)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """An Arena, with a team that does nothing."""
    with pytest.MonkeyPatch.context() as patch, team(lambda url, battle: None, lambda: "") as idle:
        patch.setattr(http, "LIMITS", RequestLimits(body_s=0.5, idle_s=1))
        with in_a_thread(lambda: open_arena("127.0.0.1:0", Settings(), names=["arena.example.org"])) as found:
            made = Server(f"http://{found[0]}")
            made.arena, made.team = found[1], idle
            yield made


@pytest.fixture
def arena(server: Server) -> tuple[str, int]:
    """The host and port of the server."""
    host, _, port = server.url.removeprefix("http://").partition(":")
    return host, int(port)


@pytest.fixture(scope="module")
def aibg() -> Iterator[tuple[str, int]]:
    with running(lambda: open_aibg("127.0.0.1:0", Gatekeeper({}, b"s" * 64))) as address:
        yield address


def sent(address: tuple[str, int], data: bytes, half: bool = False) -> bytes:
    """Sends data and returns everything until the connection is closed."""
    with socket.create_connection(address, timeout=20) as raw:
        raw.sendall(data)
        if half:
            raw.shutdown(socket.SHUT_WR)
        received = b""
        try:
            while data := raw.recv(1 << 16):
                received += data
        except ConnectionResetError:
            pass
        return received


def status(received: bytes) -> int:
    return int(received.split(b" ", 2)[1]) if received else 0


def request(method: str, path: str, body: bytes = b"", *headers: str) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Connection: close", *headers]
    if not any(line.lower().startswith("host:") for line in headers):
        lines.append("Host: localhost")
    if not any("content-length" in line.lower() or "transfer-encoding" in line.lower() for line in headers):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


JSON = "Content-Type: application/json"
PLAY = "/tic-tac-toe/play/x"


def test_requests_that_are_too_large_too_slow_or_malformed_are_refused(arena: tuple[str, int]) -> None:
    order = "/tic-tac-toe/evaluate"
    chunk = b"8000\r\n" + b"x" * 0x8000 + b"\r\n"
    deep = b"[" * 5000 + b"]" * 5000
    for data, wanted in (
        (request("POST", order, b"x" * 70_000), 413),
        (request("POST", order, b"", "Content-Length: 99999999999"), 413),
        (request("POST", order, chunk * 3 + b"0\r\n\r\n", "Transfer-Encoding: chunked"), 413),
        (request("POST", order, b"{}", "Content-Length: 50"), 408),
        (request("GET", "/", b"", "X-Long: " + "x" * 20_000), 431),
        (request("GET", "/" + "x" * 20_000), 431),
        (request("POST", order, b'{"a": NaN}', JSON), 400),
        (request("POST", order, b'{"a": ' + deep + b"}", JSON), 400),
        (request("POST", order, b'{"a": "\\ud800"}', JSON), 400),
        (request("POST", order, b"\xff\xfe", JSON), 400),
        (request("POST", order, b"[1]", JSON), 400),
        (request("POST", order, b"a" * 101 + b"&" * 101, "Content-Type: application/x-www-form-urlencoded"), 400),
        (b"\x16\x03\x01 no http at all\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        (request("DELETE", order), 405),
        (request("GET", "/nowhere"), 404),
        (request("GET", "/", b"", "Host: evil.example"), 403),
        (request("GET", "http://evil.example/", b"", "Host: evil.example"), 403),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
    ):
        assert status(sent(arena, data)) == wanted, data[:100]
    for data in (
        request("GET", "/tic-tac-toe/hi/"),
        request("GET", "http://127.0.0.1:1/tic-tac-toe/hi"),
        request("GET", "/tic-tac-toe/hi", b"", "Host: [::1]:8080"),
        b"GET /tic-tac-toe/hi HTTP/1.0\r\n\r\n",
    ):
        assert status(sent(arena, data)) == 200, data[:100]


def test_only_http_1_is_spoken(arena: tuple[str, int]) -> None:
    upgraded = sent(arena, request("GET", "/tic-tac-toe/hi", b"", "Upgrade: websocket", "Connection: Upgrade"))
    assert status(upgraded) in (400, 403, 404, 426)
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"
    assert status(sent(arena, preface)) == 400


def order(address: tuple[str, int], case: str) -> tuple[Server, str]:
    """Orders a battle that no team plays, and returns its server and id."""
    server = Server("http://{}:{}".format(*address))
    with team(lambda url, battle: None, lambda: "") as server.team:
        return server, *server.order(case)


def test_the_requests_of_a_client_that_half_closes_or_leaves_still_count(arena: tuple[str, int]) -> None:
    server, battle = order(arena, "BASE_AI_X")
    move = json.dumps({"action": "putSymbol", "position": "C"}).encode()
    sent(arena, request("POST", f"/tic-tac-toe/play/{battle}", move, JSON), half=True)
    with socket.create_connection(arena) as raw:  # and one that is gone at once
        raw.sendall(request("GET", f"/tic-tac-toe/start/{battle}"))
    moves = until(lambda: server.view(battle).get("moves"))
    assert moves[0] == {"player": "O", "action": "putSymbol", "position": "C"}


def test_clients_that_do_not_read_or_send_half_a_request_disturb_nobody(arena: tuple[str, int]) -> None:
    server, battle = order(arena, "AB_AI_X")
    raws = [socket.create_connection(arena) for _ in range(60)]
    try:
        for number, raw in enumerate(raws):
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            half = b"GET /tic-tac-toe/hi HTTP/1.1\r\nHo" if number % 2 else request("GET", "/tic-tac-toe/hi") * 50
            raw.sendall(half)
        heard = LIBRARIES["requests"](f"{server.url}/tic-tac-toe", battle)
    finally:
        for raw in raws:
            raw.close()
    assert heard[-1] == {"winner": "draw"}


def test_half_a_request_is_dropped_after_a_while(arena: tuple[str, int]) -> None:
    assert sent(arena, b"GET / HTTP/1.1\r\nHost: loc") == b""


# What orders battles.

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def test_an_alias_matches_a_host_with_any_port_or_with_one(server: Server) -> None:
    """A Host without a port means port 80, or 443 of a proxy that speaks TLS."""
    aliases = ["Arena.Example.org", "ports.example.org:8080", "web.example.org:80", "tls.example.org:443"]
    called = ["arena.example.org", "ARENA.example.org:1234", "arena.example.org.", "[::1]:8080"]
    called += [f"{name}.example.org:{port}" for name, port in (("ports", "8080"), ("Ports", "08080"), ("web", "80"))]
    called += ["web.example.org", "web.example.org:", "tls.example.org", "tls.example.org:443"]
    refused = ["ports.example.org:8081", "ports.example.org", "web.example.org:443", "other.example.org:8080"]
    known = read_aliases(aliases)
    assert [host for host in [*called, *refused] if may_be_called(host, known)] == called
    for host, status in (("arena.example.org", 200), ("other.example.org", 403)):
        assert server.get("/quoridor/hi", headers={"Host": host}).status_code == status


def test_missing_and_unknown_things_get_the_originals_messages(server: Server) -> None:
    for answer, status, text in (
        (server.post("/tic-tac-toe/evaluate", {"runId": "r"}), 400, "missing runId, callbackUrl or teamUrl"),
        (server.get("/tic-tac-toe/start/nothing"), 404, "battle not found"),
        (server.play("nothing", {}), 404, "Battle not found"),
        (server.post("/quoridor/tryout", {}), 400, "missing teamUrl"),
        (server.get("/quoridor/result/nothing"), 404, "run not found"),
    ):
        assert (answer.status_code, answer.json()) == (status, {"error": text})
    assert server.get("/quoridor/admin/view/nothing").json() is None
    assert server.get("/tic-tac-toe/hi").json() == {"hi": "hi"}
    assert server.post("/quoridor").text == "OK"
    assert server.get("/quoridor").url == f"{server.url}/"


def test_a_foreign_page_orders_nothing(server: Server) -> None:
    """A browser sends a form without asking first."""
    server.arena.runs.clear()
    body = f"runId=r&teamUrl={server.team.url}&callbackUrl={server.team.url}/callback"
    foreign = ("http://evil.example", "https://evil.example:8080", "null", "http://127.0.0.1:1")
    for number, origin in enumerate(foreign):
        headers = {"Content-Type": (FORM["Content-Type"], "text/plain", "application/json")[number % 3]}
        for path in ("evaluate", "tryout"):
            answer = server.post(f"/tic-tac-toe/{path}", None, data=body, headers=headers | {"Origin": origin})
            assert answer.status_code == 403 and "another origin" in answer.json()["error"]
    assert server.arena.runs == {}
    own = FORM | {"Origin": server.url}
    assert server.post("/tic-tac-toe/evaluate", None, data=body, headers=own).status_code == 200
    (battle,) = server.order("BASE_AI_X")
    move = {"action": "putSymbol", "position": "C"}
    assert server.play(battle, move, headers={"Origin": foreign[0]}).status_code == 200, "any page may play"


def test_only_allowed_hosts_are_called(server: Server) -> None:
    before = [*server.team.battles]
    for url in ("http://example.org", "http://169.254.169.254/x", "file:///etc/passwd", "http://u:p@127.0.0.1", "x"):
        assert server.evaluate(url).status_code == 400, url
        assert server.evaluate(server.team.url, callbackUrl=url).status_code == 400, url
    assert server.team.battles == before


def test_a_team_whose_name_or_port_cannot_be_looked_up_is_an_error_of_its_run(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server.arena, "settings", Settings(allow=frozenset({"*"})))
    for url in (f"http://{'x' * 70}.example", "http://a..b", f"http://{'é' * 70}", "http://%"):
        answer = server.evaluate(url, callbackUrl=url)
        assert answer.status_code == 400 or answer.json()["errors"], url
    for url in ("http://a:0", "http://a:99999", "http://a:-1", "http:///x"):
        assert server.evaluate(url).status_code == 400, url


# Random requests: each has an answer, and none is an internal error.

PATHS = {
    "arena": ["/", "/tic-tac-toe", "/quoridor/evaluate", PLAY, "/quoridor/start/x", "/quoridor/admin/view/", "/*"],
    "aibg": [f"/game/{name}" for name in ("joinGame", "doAction", "train", "actionTrain", "createGame", "deleteGame")]
    + ["/user/login", "/game?gameId=", "/streaming?password=x&gameId="],
}
texts = st.text(st.characters(codec="latin-1", exclude_characters="\r\n\0"), max_size=30)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
names = (
    "runId teamUrl callbackUrl caseType username password action mapName playerIdx time gameId playerUsernames training"
)
bodies = (
    st.dictionaries(st.sampled_from(names.split()), values, max_size=4).map(lambda value: json.dumps(value).encode())
    | values.map(lambda value: json.dumps(value).encode())
    | st.binary(max_size=60)
)
kinds = st.sampled_from(
    ["application/json", "application/x-www-form-urlencoded", "text/plain", "x", "application/ld+json"]
)
made = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


def tried(address: tuple[str, int], method: str, path: str, tail: str, kind: str, header: str, body: bytes) -> int:
    target = path + "".join(c if c.isascii() and c.isalnum() else f"%{ord(c):02x}" for c in tail)
    head = ["Content-Type: " + kind, "Authorization: " + header]
    data = "\r\n".join([f"{method} {target} HTTP/1.1", "Host: localhost", "Connection: close", *head, ""])
    return status(sent(address, data.encode("latin-1") + b"Content-Length: %d\r\n\r\n" % len(body) + body))


@made
@given(st.sampled_from(["GET", "POST", "PUT"]), st.sampled_from(PATHS["arena"]), texts, kinds, texts, bodies)
def test_the_arena_answers_every_request(
    arena: tuple[str, int], method: str, path: str, tail: str, kind: str, header: str, body: bytes
) -> None:
    assert 200 <= tried(arena, method, path, tail, kind, header, body) < 500


@made
@given(st.sampled_from(["GET", "POST", "PUT"]), st.sampled_from(PATHS["aibg"]), texts, kinds, texts, bodies)
def test_aibg_answers_every_request(
    aibg: tuple[str, int], method: str, path: str, tail: str, kind: str, header: str, body: bytes
) -> None:
    found = tried(aibg, method, path, tail, kind, header, body)
    assert 200 <= found < 500 or (found == 500 and "rain" in path), "a bad token in training is a 500, as it was"


def test_bad_requests_leave_no_secret_and_no_error_in_the_log(
    arena: tuple[str, int], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        for secret in ("Authorization: Bearer hush-hush", "Cookie: hush-hush"):
            sent(arena, request("POST", "/tic-tac-toe/evaluate?token=hush-hush", b'{"a":', JSON, secret))
    assert "hush" not in caplog.text and "Error in ASGI" not in caplog.text
