"""Pages and files that clients keep. The web process sends some itself, without a question to the matches."""

import gzip
import hashlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from referee.addons.web.server.host_names import may_be_called

Headers = list[tuple[bytes, bytes]]


class Page(Struct, frozen=True):
    """A page or file with an entity tag."""

    body: bytes
    packed: bytes
    """The body as gzip; empty if it is sent as it is."""
    headers: Headers
    """With the content type, the cache control and the entity tag."""

    def answer(self, asked: Mapping[bytes, bytes]) -> tuple[int, Headers, bytes]:
        """Returns status, headers and body for a request with these headers: 304 if the client has the page."""
        if dict(self.headers)[b"etag"] in asked.get(b"if-none-match", b"").replace(b" ", b"").split(b","):
            return 304, self.headers, b""
        packs = self.packed and _accepts_gzip(asked.get(b"accept-encoding", b""))
        body, coding = (self.packed, [(b"content-encoding", b"gzip")]) if packs else (self.body, [])
        return 200, [*self.headers, *coding, (b"content-length", b"%d" % len(body))], body


class Pages(Struct, frozen=True):
    """The pages by path, and the names under which clients may ask for them."""

    pages: dict[str, Page] = {}
    names: frozenset[str] = frozenset()
    """As `read_aliases` returns them."""

    def is_named(self, scope: Any) -> bool:
        """Tells whether a request is for this server."""
        return may_be_called(dict(scope["headers"]).get(b"host", b"").decode("latin-1"), self.names)

    def answer(self, scope: Any) -> tuple[int, Headers, bytes] | None:
        """Returns status, headers and body. None = the application answers, or says why it does not."""
        page = self.pages.get("/" + scope["path"].strip("/")) if self.pages else None
        headers = dict(scope["headers"])
        if page is None or scope["method"] not in ("GET", "HEAD") or b"origin" in headers:
            return None
        return page.answer(headers) if self.is_named(scope) else None


def page(body: bytes, kind: str, headers: Mapping[str, str] = MappingProxyType({}), level: int = 9) -> Page:
    """Returns a page with a content type and headers. A browser keeps it, and asks whether it has changed.

    `level`: that of gzip; 0 = not compressed.
    """
    tag = f'W/"{hashlib.sha256(body).hexdigest()[:32]}"'
    named = {**headers, "content-type": kind, "cache-control": "no-cache", "etag": tag, "vary": "accept-encoding"}
    packed = gzip.compress(body, level, mtime=0) if level else b""
    return Page(body, packed, [(name.encode(), value.encode()) for name, value in named.items()])


def _accepts_gzip(header: bytes) -> bool:
    """Tells whether a client takes gzip. A weight makes no difference unless it is 0."""
    for coding in header.lower().replace(b" ", b"").split(b","):
        name, _, weight = coding.partition(b";q=")
        if name == b"gzip":
            return weight.strip(b"0.") != b"" or not weight
    return False
