"""Readers of a hosted contest's live table."""

import os
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest
from hosting import Cup, serving

from referee.harness.tournament.store.ledger import PLAN

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
            os.utime(cup.store.folder / PLAN)
            told = {until(one, b"}\n\n\r\n") for one in readers}
            assert len(told) == 1 and b"event: table" in next(iter(told))
            assert next(line for line in lines if line.startswith("data:")) != first
        assert client.head("/events").status_code == 200 and client.get("/health").status_code == 200


def until(connection: socket.socket, end: bytes) -> bytes:
    """Reads until these bytes come last."""
    found = b""
    while not found.endswith(end):
        piece = connection.recv(1 << 16)
        assert piece, found
        found += piece
    return found
