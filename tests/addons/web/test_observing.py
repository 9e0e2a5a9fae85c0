"""What an organiser observes of a server: its health, metrics and access log."""

import re
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests
from serving import served

from referee.addons.web.server.web_process import _is_local
from referee.harness.cli.main import main

pytestmark = pytest.mark.slow
LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z 127\.0\.0\.1 ([A-Z]+) (\S+) (\d+|-) (\d+\.\d)")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("log") / "access.log"


@pytest.fixture(scope="module")
def server(log: Path) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    with served("--access-log", str(log)) as found:
        yield found


@pytest.fixture
def url(server: tuple[str, "subprocess.Popen[str]"]) -> str:
    return server[0]


def test_health_says_whether_both_processes_answer(server: tuple[str, "subprocess.Popen[str]"]) -> None:
    url, process = server
    answer = requests.get(f"{url}/health", timeout=10)
    assert (answer.status_code, answer.text) == (200, "ok\n")
    process.send_signal(signal.SIGSTOP)
    try:
        answer = requests.get(f"{url}/health", timeout=10)
    finally:
        process.send_signal(signal.SIGCONT)
    assert (answer.status_code, answer.text) == (503, "the matches have not answered for 2 s\n")
    assert requests.get(f"{url}/health", timeout=10).status_code == 200


def test_metrics_count_requests_by_method_and_status(url: str) -> None:
    def value(name: str) -> float:
        text = requests.get(f"{url}/metrics", timeout=10).text
        return float(next((line.rpartition(" ")[2] for line in text.splitlines() if line.startswith(name + " ")), 0))

    counts = [f'referee_http_requests_total{{method="GET",status="{status}"}}' for status in (200, 404)]
    before = [value(name) for name in counts]
    for path in ("/", "/", "/nowhere/at/all"):
        requests.get(url + path, timeout=10)
    after = [value(name) for name in counts]
    assert after[0] - before[0] >= 2 and after[1] - before[1] == 1
    assert value("referee_http_open_requests") == 1
    assert value("referee_http_connections") >= 1
    assert value('referee_http_request_seconds_bucket{le="+Inf"}') >= 3
    assert value("referee_web_clock_behind_seconds") >= 0
    foreign = requests.get(f"{url}/metrics", headers={"Host": "evil.example"}, timeout=10)
    assert foreign.status_code == 403, "the page of a name that leads here"


def test_only_this_machine_reads_metrics() -> None:
    assert all(map(_is_local, [("127.0.0.1", 1), ("127.3.2.1", 1), ("::1", 1)]))
    assert not any(map(_is_local, [("10.0.0.1", 1), ("::", 1), ("fe80::1%eth0", 1), ("2001:db8::1", 1), None]))


def test_the_access_log_has_a_line_for_each_request_and_no_query(url: str, log: Path) -> None:
    time.sleep(1.5)
    before = len(log.read_text().splitlines())
    assert stat.S_IMODE(log.stat().st_mode) == 0o600, "paths contain the ids of battles"
    requests.get(f"{url}/a%0Ab%22%20c/d?password=hush", timeout=10)
    address = (urlsplit(url).hostname, urlsplit(url).port)
    with socket.create_connection(address, timeout=5) as raw:
        raw.sendall(b"GET /" + b"x" * 5000 + b" HTTP/1.0\r\n\r\n")
        while raw.recv(1 << 16):
            pass
    with socket.create_connection(address, timeout=5) as raw:  # leaves before the answer
        raw.sendall(b"POST /quoridor/evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n")
    time.sleep(1.5)
    moved = log.rename(log.with_suffix(".1"))
    requests.post(f"{url}/quoridor/evaluate", json={}, timeout=10)
    deadline = time.monotonic() + 20
    while not (log.exists() and log.read_text().endswith("\n")) and time.monotonic() < deadline:
        time.sleep(0.05)
    found = [LINE.fullmatch(line) for line in moved.read_text().splitlines()[before:] + log.read_text().splitlines()]
    lines = [match.groups()[:3] for match in found if match is not None]
    assert len(lines) == len(found) == 4
    assert lines[0] == ("GET", "/a%0Ab%22%20c/d", "404")
    assert lines[1][0] == "GET" and len(lines[1][1]) <= 500
    assert lines[2:] == [("POST", "/quoridor/evaluate", "-"), ("POST", "/quoridor/evaluate", "400")]


def test_an_access_log_that_cannot_be_written_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["serve", "arena", "--bind", "127.0.0.1:0", "--replay", "none", "--access-log", str(tmp_path)]
    assert main(words) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "cannot write the access log" in told and "Is a directory" in told
