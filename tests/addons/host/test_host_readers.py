"""Readers of a hosted contest's live table."""

import os
import re
import socket
import time
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from hosting import ENTRY, Cup, serving, wait_for
from markupsafe import Markup

from referee.addons.host.live import NUMBER, Live
from referee.addons.tournament.store.ledger import PLAN
from referee.addons.web.server.limits import listen

pytestmark = pytest.mark.slow

READERS = 30


def test_all_readers_hear_of_a_change_in_the_same_bytes(tmp_path: Path) -> None:
    """Also beside readers that have left, and some that never read."""
    cup = Cup(tmp_path)
    with serving(cup) as client, ExitStack() as stack:
        where = ("127.0.0.1", int(cup.address.rpartition(":")[2]))
        readers = []
        for number in range(READERS):
            one = stack.enter_context(socket.create_connection(where, timeout=30))
            one.sendall(b"GET /events HTTP/1.1\r\nhost: x\r\n\r\n")
            if number % 3 == 2:
                one.close()
            elif number % 3 == 0:
                readers.append(one)
        heads = [until(one, b'"spread_ms":1000}\n\n\r\n') for one in readers]
        assert all(b"200 OK" in head and b"chunked" in head for head in heads)
        with client.stream("GET", "/events") as response:  # an HTTP client reads the chunks, too
            lines = response.iter_lines()
            first = next(line for line in lines if line.startswith("data:"))
            cup.rename("Another cup")
            told = {until(one, b"}\n\n\r\n") for one in readers}
            assert len(told) == 1 and b"event: table" in next(iter(told))
            assert next(line for line in lines if line.startswith("data:") and line != first)
        assert client.head("/events").status_code == 200 and client.get("/health").status_code == 200


def test_a_page_that_was_made_before_a_change_learns_of_it_by_its_first_event(tmp_path: Path) -> None:
    """Also after another start of the web process."""
    cup = Cup(tmp_path)
    with serving(cup) as client:
        before, tag = shown(client), client.get("/").headers["etag"]
        assert first_event(client) == before
        cup.rename("Another cup")
        wait_for(lambda: "Another cup" in client.get("/").text)
        assert first_event(client) == shown(client) == before + 1 and client.get("/").headers["etag"] != tag
    cup.listening = listen("127.0.0.1")
    cup.address = f"http://127.0.0.1:{cup.listening.getsockname()[1]}"
    with serving(cup) as client:
        assert first_event(client) == shown(client) > before + 1


def test_a_change_that_the_table_does_not_show_is_no_event(tmp_path: Path) -> None:
    """Such as a game while it is frozen."""
    cup = Cup(tmp_path)
    live = Live(cup.store, lambda: {"more_head": Markup(f"<meta {NUMBER}>")})
    before, table, minute = live.number, live.table_with(""), time.gmtime().tm_min
    assert f'<meta data-number="{before}">'.encode() in table.body
    os.utime(cup.store.folder / PLAN)
    wait_for(live.refresh)
    assert (live.number, live.table_with("")) == (
        before,
        table,
    ) or time.gmtime().tm_min != minute  # the page says when it was
    cup.rename("Another cup")
    wait_for(live.refresh)
    assert live.number > before and b"Another cup" in live.table_with("").body


def shown(client: httpx.Client) -> int:
    """Returns the number of the table that a page shows."""
    found = re.search(r'<meta name="live" content="table" data-number="(\d+)">', client.get("/").text)
    assert found is not None
    return int(found[1])


def first_event(client: httpx.Client) -> int:
    with client.stream("GET", "/events") as response:
        found = re.search(r'"number":(\d+)', next(line for line in response.iter_lines() if line.startswith("data:")))
    assert found is not None
    return int(found[1])


def until(connection: socket.socket, end: bytes) -> bytes:
    """Reads until these bytes come last."""
    found = b""
    while not found.endswith(end):
        piece = connection.recv(1 << 16)
        assert piece, found
        found += piece
    return found


def test_a_page_finds_the_games_read_if_somebody_has_asked_and_an_unknown_pair_reads_nothing(tmp_path: Path) -> None:
    cup = Cup(tmp_path)
    live = Live(cup.store, lambda: {"more_head": Markup("")})

    def changed(title: str) -> bool:
        cup.rename(title)
        live._pause_until = 0.0
        assert live.refresh()
        return live.public._has_games

    for name in ("0-1", "1-0", "0-0", "00-1", "999999-0", "x"):
        assert live.public.page(f"pairs/{name}.html") is None and not live.public._has_games
    assert not changed("nobody has asked")
    assert live.public.page(f"bots/{ENTRY.ident}.html")
    assert changed("somebody has asked") and not changed("nobody has asked since")
    cup.listening.close()
