"""Pages and files that the web process sends itself: compressed, kept by browsers, and for the server's names only."""

import gzip
import http.client
from collections.abc import Iterator
from http.client import HTTPMessage

import pytest
from linked import linked
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from referee.addons.web.server.pages import Pages, page

pytestmark = pytest.mark.slow
TEXT = "a page é\n".encode() * 100


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Runs a server in a thread. Its application answers every request with its name."""

    async def application(request: Request) -> Response:
        return PlainTextResponse("the application")

    app = Starlette(routes=[Route("/{path:path}", application, methods=["GET", "POST"])])
    known = Pages({"/page": page(TEXT, "text/html; charset=utf-8", {"x-own": "1"})}, frozenset({"arena.example"}))
    with linked(app, pages=known) as server:
        yield server.port


def asked(port: int, path: str = "/page", method: str = "GET", **headers: str) -> tuple[int, bytes, HTTPMessage]:
    """Sends a request, and returns status, body and headers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    return answer.status, answer.read(), answer.headers


def test_a_page_has_its_headers_and_a_trailing_slash_is_ignored(port: int) -> None:
    for path in ("/page", "/page/", "/page?query=1"):
        status, body, headers = asked(port, path)
        assert (status, body) == (200, TEXT)
        assert (headers["content-type"], headers["x-own"]) == ("text/html; charset=utf-8", "1")
        assert "content-encoding" not in headers
    status, body, headers = asked(port, method="HEAD")
    assert (status, body, headers["content-length"]) == (200, b"", str(len(TEXT)))


@pytest.mark.parametrize("accepted", ["gzip", "br, gzip", "GZIP;q=0.5, br"])
def test_clients_that_take_gzip_get_it(port: int, accepted: str) -> None:
    _, body, headers = asked(port, Accept_Encoding=accepted)
    assert headers["content-encoding"] == "gzip" and headers["vary"] == "accept-encoding"
    assert gzip.decompress(body) == TEXT and len(body) < len(TEXT)


@pytest.mark.parametrize("accepted", ["", "br", "gzip;q=0", "gzip; q=0.0", "x-gzip-not", "gzipped"])
def test_other_clients_get_the_page_as_it_is(port: int, accepted: str) -> None:
    _, body, headers = asked(port, Accept_Encoding=accepted)
    assert body == TEXT and "content-encoding" not in headers


def test_a_page_that_a_browser_has_is_not_sent_again(port: int) -> None:
    tag = asked(port)[2]["etag"]
    for known in (tag, f'"other", {tag}'):
        assert asked(port, If_None_Match=known)[:2] == (304, b"")
    assert asked(port, If_None_Match='"other"')[:2] == (200, TEXT)


def test_the_application_answers_everything_else(port: int) -> None:
    own = b"the application"
    assert asked(port, "/other")[1] == own
    assert asked(port, method="POST")[1] == own
    assert asked(port, Host="arena.example")[1] == TEXT
    assert asked(port, Host="evil.example")[1] == own, "it refuses other names"
    assert asked(port, Origin="http://evil.example")[1] == own, "it refuses other pages"
