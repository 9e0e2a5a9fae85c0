"""`referee submit`: what is packed, where a token is sent, and answers that are none."""

import json
import socket
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from submissions import RUN, folder_of

from referee.addons.host import client
from referee.addons.host.client import Client, packed
from referee.harness.common.errors import RunError, UsageError

pytestmark = pytest.mark.slow


ADDRESSES = [
    *("", "cup", "ftp://cup.example", "http://cup.example.org", "http://[::1", "http://localhost:99999999", "http://"),
    *("http://localhost:x", "https://a b", "https://a\nb", "https://a\u202eb", "https://\uff0f", "https://[::x]/"),
    *("//a", "https://ann:secret@cup.example.org", "https://cup.example.org/?a=b", "https://cup.example.org/#a"),
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_token_is_not_sent_where_others_can_read_it_or_nobody_is(address: str) -> None:
    with pytest.raises(UsageError) as caught:
        Client(address, "token")
    assert "expected" in str(caught.value) and "secret" not in str(caught.value)


@contextmanager
def contest(*answers: str) -> Iterator[tuple[str, list[bytes]]]:
    """Yields the address of a server that gives these answers, the last one byte by byte, and what it was asked."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with suppress(OSError):
                for number, answer in enumerate(answers, 1):
                    connection = listener.accept()[0]
                    with connection:
                        asked.append(connection.recv(1 << 16))
                        connection.sendall(answer.encode())
                        while number == len(answers) and "endless" in answer and not over.wait(0.05):
                            connection.sendall(b"x")

        over = threading.Event()
        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", asked
        over.set()


def answer(body: str, status: str = "200 OK", headers: str = "") -> str:
    return f"HTTP/1.1 {status}\r\n{headers}content-length: {len(body.encode())}\r\n\r\n{body}"


TOKEN = "a-token-of-blue"


@pytest.mark.parametrize(
    "start", ["HTTP/1.1 200 OK\r\nx-endless: ", "HTTP/1.1 200 OK\r\nconnection: close\r\nx: endless\r\n\r\n"]
)
def test_an_answer_that_does_not_end_is_waited_for_a_limited_time(start: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "TIMEOUT_S", 1.0)
    with contest(start) as (address, _), pytest.raises(RunError, match="did not answer within 1 s"):
        Client(address, TOKEN).state(1)


def test_the_token_is_sent_to_no_other_address_and_never_printed() -> None:
    words = r"redirects to https://evil\.example/\[token\]; if that is your contest"
    moved = answer("", "302 Found", f"location: https://evil.example/{TOKEN}\r\n")
    with contest(moved) as (address, _), pytest.raises(UsageError, match=words):
        Client(address, TOKEN).state(1)
    for status in (f"400 {TOKEN}", "200 OK"):
        with contest(answer(f"no {TOKEN}" if "200" in status else "", status)) as (address, _):
            with pytest.raises((UsageError, RunError)) as caught:
                Client(address, TOKEN).state(1)
            assert TOKEN not in str(caught.value)
    first = {"version": 1, "status": "checking", "log": f"one\n{TOKEN[:5]}"}
    last = {"version": 1, "status": "refused", "reason": f"{TOKEN}!", "log": f"one\n{TOKEN}\ntwo"}
    with contest(answer(json.dumps(first)), answer(json.dumps(last))) as (address, asked):
        log: list[str] = []
        one = Client(address, TOKEN)
        state = one.followed(one.state(1), log.append, lambda before: None)
    assert (state.reason, "".join(log)) == ("[token]!", "one\n[token]\ntwo") and TOKEN.encode() in asked[0]


def test_secrets_and_caches_are_not_packed_and_named(tmp_path: Path) -> None:
    mine = folder_of(tmp_path / "mine")
    secret = [
        ".env",
        ".env.local",
        "a/server.PEM",
        "id_rsa",
        "a/.netrc",
        ".envrc",
        "a/.npmrc",
        "a/.git",
        "a.jks",
        "b.ppk",
    ]
    folders = {
        ".gnupg": ".gnupg/a",
        ".git": ".git/config",
        "env": "env/pyvenv.cfg",
        ".mypy_cache": ".mypy_cache/a/b",
        "a/.cache": "a/.cache/x",
    }
    for path in (*secret, *folders.values(), "env/lib/a.py", "a/keys.py", "a/.hidden"):
        (mine / path).parent.mkdir(parents=True, exist_ok=True)
        (mine / path).write_text("")
    (mine / "env" / "bin").mkdir()
    (mine / "env" / "bin" / "python").symlink_to(sys.executable)
    with packed(mine) as (file, name, left_out), zipfile.ZipFile(file) as archive:
        assert name == "mine.zip" and left_out == sorted([*secret, *folders])
        assert sorted(archive.namelist()) == ["bot/a/.hidden", "bot/a/keys.py", "bot/bot.py", "bot/bot.toml"]


def test_a_bot_that_needs_files_outside_of_its_folder_is_not_packed(tmp_path: Path) -> None:
    folder_of(tmp_path / "kit" / "mine", 1, RUN + 'bundle = ".."\n')
    with pytest.raises(UsageError, match="leads out of the bot's folder"), packed(tmp_path / "kit" / "mine"):
        pass
