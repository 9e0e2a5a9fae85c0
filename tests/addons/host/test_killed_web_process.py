"""The web process of `view` and `--watch` is killed: open pages go on, and so does the match."""

import http.client
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest
from pages import Played
from serving import web_process

pytestmark = pytest.mark.slow


class Server:
    """A server that has said its links."""

    def __init__(self, process: "subprocess.Popen[str]", link: str) -> None:
        self.process = process
        found = urlsplit(link)
        self.port = found.port or 0
        self.token = {"X-Referee-Token": found.fragment.removeprefix("token=")}

    def ask(self, path: str, body: Any = None) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        method, text = ("GET", None) if body is None else ("POST", json.dumps(body))
        connection.request(method, path, text, self.token)
        return connection.getresponse()

    def kill_web_process(self) -> None:
        web = web_process(self.process.pid)
        web.kill()
        with suppress(psutil.TimeoutExpired):
            web.wait(5)


@contextmanager
def running(folder: Path, *words: str, link: str) -> Iterator[Server]:
    """Runs a command until it has printed a line that begins with `link`."""
    command = [sys.executable, "-m", "referee.harness.cli.main", *words, "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder) as process:
        try:
            assert process.stdout is not None
            line = next(line for line in process.stdout if line.startswith(link))
            yield Server(process, line.split()[-1])
        finally:
            process.kill()


@pytest.fixture(autouse=True)
def _viewer(viewer: None) -> None:
    pass


def until_status(stream: http.client.HTTPResponse) -> tuple[list[bytes], dict[str, Any]]:
    """Returns the lines of a live match up to the state of play, and that."""
    lines = []
    while not (line := stream.readline()).startswith(b'{"live"'):
        assert line
        lines.append(line)
    return lines, json.loads(line)["live"]


def test_a_list_and_a_replay_are_served_after_the_web_process_was_killed(tmp_path: Path, played: Played) -> None:
    (tmp_path / "a.jsonl").write_bytes(played("tictactoe").read_bytes())
    with running(tmp_path, "view", ".", link="http") as server:
        before = server.ask("/matches/0").read()
        server.kill_web_process()
        assert server.ask("/matches/0").read() == before
        assert server.ask("/matches").status == 200


def test_a_watched_match_goes_on_after_the_web_process_was_killed(tmp_path: Path) -> None:
    words = ["--game", "tictactoe", "Ada=human", "@random", "--watch", "--isolation", "off", "--replay", "a.jsonl"]
    with running(tmp_path, *words, link="people") as server:
        while (stream := server.ask("/matches/0")).status != 200:
            pass
        lines, live = until_status(stream)
        while live["choice"] is None:
            more, live = until_status(stream)
            lines += more
        server.kill_web_process()
        with pytest.raises((http.client.IncompleteRead, ConnectionError)):
            while stream.read(1):
                pass
            raise ConnectionResetError  # the end was no end
        stream = server.ask(f"/matches/0?from={len(lines)}")
        more, again = until_status(stream)
        assert again == live, "the question is still open"
        answer = {"number": again["choice"]["number"], "sample": True}
        assert server.ask("/seats/0", answer).status == 204
        while b'"player":"O","action":"putSymbol"' not in b"".join(more):  # the match goes on, as the stream does
            more, _ = until_status(stream)
