"""A hosted contest and people who lie: about their address, the host, the encoding, and by what they do not do."""

import asyncio
import csv
import io
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from browsers import in_a_loop
from hosting import ADDRESS, Cup, serving, wait_for
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from referee.addons.host import access, readers, room, submissions, teams, versions
from referee.addons.host.access import Access, Asked, Page, answering, client_address
from referee.addons.host.app import PAGES, Application
from referee.addons.host.orders import DatabaseOrders, State
from referee.addons.host.settings import WebSettings
from referee.addons.host.web_process import LIMITS, limits
from referee.addons.web.server.connection import ClientConnection, Connections
from referee.addons.web.server.limits import RequestLimits, listen
from referee.addons.web.server.uvicorn_server import make_server
from referee.addons.web.server.web_clock import WebClock
from referee.harness.common.errors import UsageError

pytestmark = pytest.mark.slow

QUOTA = versions.Quota(an_hour=1000, waiting=3)
FORM = "multipart/form-data; boundary=b"
HEAD = b'--b\r\ncontent-disposition: form-data; name="file"; filename="bot.zip"\r\n\r\n'


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cup, httpx.Client]]:
    cup = Cup(tmp_path_factory.mktemp("strangers"))
    with serving(cup, quota=QUOTA, behind_proxy=True, organisers_from=("10.0.0.0/8",)) as client:
        yield cup, client


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        (["10.0.0.1"], 200),
        (["203.0.113.9, 10.0.0.1"], 200),
        (["10.0.0.1, 203.0.113.9"], 403),
        (["10.0.0.1", "203.0.113.9"], 403),
        (["10.0.0.1", "10.0.0.2, 203.0.113.9"], 403),
        (["10.0.0.1", ""], 403),
    ],
)
def test_only_the_address_that_the_proxy_names_counts(
    lines: list[str], status: int, served: tuple[Cup, httpx.Client]
) -> None:
    """Caddy replaces what a client claims, nginx appends to it, and HAProxy adds a line of its own."""
    cup, client = served
    headers = [*cup.headers("organiser").items(), *(("x-forwarded-for", each) for each in lines)]
    assert client.get("/organiser", headers=headers).status_code == status


@pytest.mark.parametrize(
    ("address", "peer", "found"),
    [
        ("https://cup.example.org", "127.0.0.1", "10.0.0.1"),
        ("https://cup.example.org", "::ffff:127.0.0.1", "10.0.0.1"),
        ("https://cup.example.org", "172.17.0.1", "10.0.0.1"),
        ("https://cup.example.org", "203.0.113.9", "203.0.113.9"),
        ("http://cup.example.org", "127.0.0.1", "10.0.0.1"),
        ("http://192.168.1.5:8000", "192.168.1.66", "192.168.1.66"),
        ("http://[fe80::1]:8000", "fe80::2%eth0", "fe80::2%eth0"),
    ],
)
def test_a_client_without_a_proxy_does_not_choose_its_address(address: str, peer: str, found: str) -> None:
    """Only this machine and the networks that `--proxy` names may say whose request it is."""
    request = Request({"type": "http", "client": (peer, 1), "headers": [(b"x-forwarded-for", b"10.0.0.1")]})
    assert client_address(request, WebSettings(address, behind_proxy=True, proxies=("172.17.0.0/16",))) == found


def test_nobody_is_sent_to_the_host_that_a_request_names(served: tuple[Cup, httpx.Client]) -> None:
    cup, client = served
    link = teams.new_link(cup.store, cup.blue, "join", "x")
    for path in ("/news/", f"/join/{link}/", f"/join/{link}//", "//evil.example/", "/finals/x/"):
        response = client.get(path, headers={"host": "evil.example"})
        assert "location" not in response.headers, path


def test_the_path_of_a_link_is_told_to_nobody(served: tuple[Cup, httpx.Client]) -> None:
    """The page of a link loads our style and script, and a proxy logs what browsers say about where they come from."""
    cup, client = served
    link = teams.new_link(cup.store, cup.blue, "join", "x")
    for path in (f"/join/{link}", f"/join/{link}x"):
        assert client.get(path).headers["referrer-policy"] == "strict-origin"


@pytest.mark.parametrize("option", ["rounds=" + "[" * 1900, "rounds=" + "9" * 1900, "map=/dev/zero", "\0=\x1b"])
def test_no_option_of_a_practice_game_fails_the_page(option: str, served: tuple[Cup, httpx.Client]) -> None:
    cup, client = served
    form = {"version": "1", "rival": "@random", "options": option}
    response = client.post("/team/practice", data=form, headers=cup.headers("member") | {"origin": cup.address})
    assert response.status_code == 400 and "options of tictactoe" in response.text


@pytest.mark.parametrize("name", ["unicode_escape", "raw_unicode_escape"])
def test_no_address_of_a_repository_has_letters_that_do_not_print(name: str, served: tuple[Cup, httpx.Client]) -> None:
    cup, client = served
    for letter in (b"\\ud800", b"\\u202e"):
        field = b'--b\r\ncontent-disposition: form-data; name="repository"\r\n\r\nhttps://github.com/' + letter
        headers = cup.headers("program") | {"content-type": f"{FORM}; charset={name}"}
        response = client.post("/team/versions", content=field + b"/x\r\n--b--\r\n", headers=headers)
        assert response.status_code == 400 and "a repository may be at" in response.text


@pytest.mark.parametrize("table", ['"' + "a" * 140_000, '"a\nb', "a\rb,c"])
def test_a_table_that_is_none_is_refused_in_a_line(table: str) -> None:
    try:
        assert teams.read_teams(table)
    except UsageError as error:
        assert "\n" not in str(error)


def test_names_that_people_read_as_the_same_are_one(tmp_path: Path) -> None:
    cup = Cup(tmp_path)
    cup.listening.close()
    for name in ("blue", "\uff22\uff4c\uff55\uff45", "B\u2113ue", "  Blue\u2003"):
        with pytest.raises(UsageError, match="there is a team 'Blue' already"):
            teams.invite(cup.store, name, "", "x")


def test_no_cell_of_a_table_is_a_formula(tmp_path: Path) -> None:
    one = teams.Team(1, "\uff1dcmd|1", "\uff0b1", "active", "", 0.0)
    (_, row) = csv.reader(io.StringIO(teams.written_csv([(one, "=1")])))
    assert row == ["'\uff1dcmd|1", "'\uff0b1", "'=1"]


# Those who take and do not give back.


def test_a_contest_waits_while_its_disk_is_nearly_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cup = Cup(tmp_path)
    cup.listening.close()
    assert DatabaseOrders(cup.store).look() == State()
    monkeypatch.setattr(room, "LEAST_BYTES", 1 << 60)
    assert DatabaseOrders(cup.store).look() == State(rated=False, practice="off")

    async def asked() -> tuple[httpx.Response, httpx.Response, httpx.Response]:
        transport = httpx.ASGITransport(Application(cup.store, WebSettings(ADDRESS)))
        async with httpx.AsyncClient(transport=transport, base_url=ADDRESS) as client:
            headers = cup.headers("program") | {"content-type": FORM}
            return (
                await client.get("/health"),
                await client.get("/organiser", headers=cup.headers("organiser")),
                await client.post("/team/versions", content=HEAD, headers=headers),
            )

    health, page, upload = in_a_loop(asked())
    assert health.status_code == 503 and f"uploads wait: the disk of {cup.store.folder}" in health.text
    assert "Games, checks and uploads wait" in page.text
    assert upload.status_code == 503 and "nearly full" in upload.text


def test_a_team_has_as_many_uploads_under_way_as_versions_may_wait(served: tuple[Cup, httpx.Client]) -> None:
    cup, client = served
    token = cup.headers("program")["authorization"]
    head = f"POST /team/versions HTTP/1.1\r\nhost: x\r\nauthorization: {token}\r\ncontent-type: {FORM}\r\n"
    where = ("127.0.0.1", int(cup.address.rpartition(":")[2]))
    with ExitStack() as stack:
        for _ in range(QUOTA.waiting):
            one = stack.enter_context(socket.create_connection(where, timeout=30))
            one.sendall(f"{head}content-length: 100000000\r\n\r\n".encode() + HEAD + bytes(2 << 20))
        wait_for(lambda: refused(cup, client))
    wait_for(lambda: not refused(cup, client))


def refused(cup: Cup, client: httpx.Client) -> bool:
    """Tells whether a further upload is refused before it comes. Asks rarely, since that is limited too."""
    time.sleep(2)
    headers = cup.headers("program") | {"content-type": FORM}
    response = client.post("/team/versions", content=b"--b--\r\n", headers=headers)
    if response.status_code == 429 and "under way" in response.text:
        return True
    assert response.status_code == 400 and "choose a file" in response.text, response.text
    return False


def test_one_address_does_not_take_all_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "OF_ADDRESS", 2)
    addresses = [
        "203.0.113.9",
        "203.0.113.9",
        "203.0.113.9",
        "203.0.113.7",
        "2001:db8::1",
        "2001:db8::2",
        "2001:db8::3",
    ]
    assert in_a_loop(_opened(addresses)) == [200, 200, 503, 200, 200, 200, 503]


async def _opened(addresses: list[str]) -> list[int]:
    """Returns the statuses of streams that stay open, each with what a client claims and what the proxy adds."""
    streams = readers.Readers(WebSettings(ADDRESS, behind_proxy=True))
    connections, found, tasks = Connections(LIMITS, WebClock()), list[int](), []

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            found.append(message["status"])

    for address in addresses:
        headers = [(b"x-forwarded-for", b"192.0.2.%d" % len(found)), (b"x-forwarded-for", address.encode())]
        scope = {"type": "http", "method": "GET", "client": ("127.0.0.1", 1), "headers": headers}
        scope["state"] = {"connection": ClientConnection(connections)}
        tasks.append(asyncio.ensure_future(streams(scope, asyncio.Event().wait, send)))  # type: ignore[arg-type]
        while len(found) < len(tasks):
            await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert len(streams) == 0
    return found


def test_streams_leave_connections_for_pages_also_behind_a_proxy() -> None:
    for settings in (WebSettings(ADDRESS), WebSettings("https://cup.example.org", behind_proxy=True)):
        most = limits(settings)
        assert most.connections > readers.STREAMS and most.address_connections > readers.OF_ADDRESS
        assert not settings.is_secure or most.address_connections > readers.STREAMS


@pytest.mark.parametrize("reads", [False, True])
def test_a_client_that_does_not_read_is_left_and_a_slow_one_is_served(reads: bool) -> None:
    listening, size = listen("127.0.0.1"), 16 << 20

    async def large(scope: Scope, receive: Receive, send: Send) -> None:
        connection = scope["state"]["connection"]
        connection.request_begins()
        try:
            await PlainTextResponse(bytes(size))(scope, receive, send)
        finally:
            connection.request_ends()

    async def left() -> None:
        connections = Connections(RequestLimits(idle_s=2, unread_s=20 if reads else 1), WebClock())
        server = make_server(large, connections, has_sockets=False)
        server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
        tasks = [asyncio.ensure_future(each) for each in (server.serve([listening]), connections.close_idle())]
        reader, writer = await asyncio.open_connection(*listening.getsockname(), limit=1 << 10)
        writer.write(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        async with asyncio.timeout(60):
            while not connections.have_unsent():
                await asyncio.sleep(0.01)
            got = 0
            while reads and got < size:
                got += len(await reader.read(1 << 20))
                await asyncio.sleep(0.1)
            while len(connections):
                await asyncio.sleep(0.05)
        server.should_exit = True
        await tasks[0]
        tasks[1].cancel()
        writer.close()

    with listening:
        in_a_loop(left())


def test_pages_that_take_long_keep_nobody_from_the_others(tmp_path: Path) -> None:
    cup, done, begun = Cup(tmp_path), threading.Event(), list[int]()
    cup.listening.close()

    def slow(asked: Asked) -> Response:
        begun.append(1)
        assert done.wait(60)
        return PlainTextResponse("slow")

    def quick(asked: Asked) -> Response:
        return PlainTextResponse("quick")

    async def asked() -> tuple[list[str], str]:
        contest = Application(cup.store, WebSettings(ADDRESS)).contest
        pages = [Page("GET", "/slow", Access.EVERYBODY, slow, is_slow=True)]
        pages += [Page("GET", "/quick", Access.EVERYBODY, quick)]
        async with _client([Route(each.path, answering(each, contest)) for each in pages]) as client:
            waiting = [asyncio.ensure_future(client.get("/slow")) for _ in range(100)]
            while not begun:
                await asyncio.sleep(0.01)
            try:
                text = (await asyncio.wait_for(client.get("/quick"), 30)).text
            finally:
                done.set()
            return [(await each).text for each in waiting], text

    texts, text = in_a_loop(asked())
    assert text == "quick" and texts == ["slow"] * 100


@asynccontextmanager
async def _client(routes: list[Route]) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(Starlette(routes=routes))
    async with httpx.AsyncClient(transport=transport, base_url=ADDRESS, timeout=60) as client:
        yield client


def test_pages_that_play_a_game_again_are_known_to_take_long() -> None:
    long = {each.path for each in PAGES if "/games/" in each.path or "/practice/{" in each.path or ".zip" in each.path}
    assert long - {"/kits/{lang}.zip", "/team/practice/{game:number}/state"} <= {
        each.path for each in PAGES if each.is_slow
    }


def test_a_page_that_fails_says_where_to_look(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    cup = Cup(tmp_path)
    cup.listening.close()

    async def asked() -> httpx.Response:
        application = Application(cup.store, WebSettings(ADDRESS))
        with cup.store.writing() as database:
            database.execute("DROP TABLE announcement")
        transport = httpx.ASGITransport(application)
        async with httpx.AsyncClient(transport=transport, base_url=ADDRESS) as client:
            return await client.get("/news")

    response = in_a_loop(asked())
    assert response.status_code == 500 and "the organiser's log says why, at the request" in response.text
    caplog.clear()  # the error in it would keep the database open


def test_the_addresses_of_one_network_of_ipv6_have_one_limit(served: tuple[Cup, httpx.Client]) -> None:
    _, client = served
    statuses = [
        client.get("/games/x.html", headers={"x-forwarded-for": f"2001:db8:0:1::{number:x}"}).status_code
        for number in range(1, 200)
    ]
    assert 429 in statuses
    assert client.get("/games/x.html", headers={"x-forwarded-for": "2001:db8:0:2::1"}).status_code == 404


def test_a_flood_of_addresses_forgets_no_limit_that_is_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "MOST_BUCKETS", 10)
    rates = access.Rates()
    with pytest.raises(access.Denied):
        for number in range(200):
            rates.check("guesses", 20, 1e9)
            for other in range(8):
                rates.check(f"address {number} {other}", 1, 1e9)


@pytest.mark.parametrize("day", ["9999-12-31", "0000-00-00", "2026-02-30", "%D9%A2026-01-01"])
def test_a_day_that_is_none_is_refused_in_a_line(day: str, served: tuple[Cup, httpx.Client]) -> None:
    cup, client = served
    answer = client.get(f"/team/days/{day}.zip", headers=cup.headers("member"))
    assert answer.status_code == 404 and "expected a day such as" in answer.text


def test_a_days_games_leave_no_file_behind(served: tuple[Cup, httpx.Client]) -> None:
    cup, client = served
    answer = client.get("/team/days/2026-11-27.zip", headers=cup.headers("other"))
    assert answer.status_code == 200 and answer.content.startswith(b"PK")
    assert not [*(cup.store.folder / submissions.COMING).iterdir()]
