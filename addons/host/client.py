"""What `referee submit` and `referee team` ask a hosted contest. Needs no extra."""

import http.client
import itertools
import json
import os
import secrets
import ssl
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import IO, Any, TypeVar
from urllib.parse import urlencode

import msgspec
from msgspec import Struct

from referee.harness.common.addresses import typed_address
from referee.harness.common.errors import RunError, UsageError, reason
from referee.harness.programs import archive
from referee.harness.programs.bot_file import read_bot_file
from referee.harness.programs.build import BOT_FILE
from referee.harness.programs.packing import pack
from referee.protocol.errors import UNDECODABLE
from referee.protocol.text import printable

TIMEOUT_S, UPLOAD_S = 60.0, 900.0
"""How long an answer may take, and an answer to an upload."""
LOOK_S = 0.5
MOST_BYTES = 4 << 20
"""Of an answer: it has the build log, whose size the contest limits."""
LOCAL = ("127.0.0.1", "localhost", "::1")
SHORTEST_TOKEN = 6
"""A shorter text is no token of a contest, and may occur in any text."""
T = TypeVar("T")
EXPECTED = "expected the contest's address, such as https://cup.example.org"


class State(Struct, frozen=True):
    """The state of a version, as the contest gives it."""

    version: int
    status: str
    reason: str = ""
    text: str = ""
    """The status in a line: what it waits for, and for about how long."""
    log: str = ""

    @property
    def is_decided(self) -> bool:
        return self.status in ("accepted", "refused")


class Client:
    """Speaks to a contest with a token."""

    def __init__(self, address: str, token: str) -> None:
        """UsageError for an address that is none, or that would show the token to the network."""
        parts = typed_address(address, f"--to {address}", EXPECTED)
        host = parts.hostname
        plain = address.isprintable() and address.isascii() and " " not in address
        if parts.scheme not in ("http", "https") or not host or not plain:
            raise UsageError(f"--to {address}: {EXPECTED}")
        if parts.username is not None or parts.query or parts.fragment:
            raise UsageError(f"--to: leave out what is before @ and behind ? or # in the address; {EXPECTED}")
        if parts.scheme == "http" and host not in LOCAL:
            raise UsageError(f"--to {address}: everybody on the way could read your token; expected https://")
        if not token.isascii() or not token.isprintable() or not token:
            raise UsageError("the token is damaged; make a new one on your team's page")
        self.address, self._parts, self._token = address.rstrip("/"), parts, token
        self._headers = {"authorization": f"Bearer {token}", "accept": "application/json"}

    def submit(self, file: IO[bytes], name: str, note: str) -> State:
        """Uploads a file, and returns the version that it is."""
        boundary = secrets.token_hex(16)
        head = _field(boundary, "note", note) + _head(boundary, name)
        tail = f"\r\n--{boundary}--\r\n".encode()
        size = os.fstat(file.fileno()).st_size + len(head) + len(tail)
        body = itertools.chain([head], iter(lambda: file.read(1 << 18), b""), [tail])
        kind = {"content-type": f"multipart/form-data; boundary={boundary}", "content-length": str(size)}
        return self._state(self._asked("POST", "/team/versions", body, kind))

    def from_repository(self, repository: str, commit: str, note: str) -> State:
        """Hands in a commit of a repository, and returns the version that it is."""
        boundary = secrets.token_hex(16)
        fields = {"repository": repository, "commit": commit, "note": note}
        body = b"".join(_field(boundary, name, value) for name, value in fields.items())
        kind = {"content-type": f"multipart/form-data; boundary={boundary}"}
        return self._state(self._asked("POST", "/team/versions", body + f"--{boundary}--\r\n".encode(), kind))

    def state(self, version: int) -> State:
        """Returns what became of a version so far."""
        return self._state(self.fetched(f"/team/versions/{version}/state"))

    def fetched(self, path: str, most_bytes: int = MOST_BYTES) -> bytes:
        """Returns a page or a file. RunError if it is larger."""
        return self._asked("GET", path, None, {}, most_bytes)

    def got(self, path: str, kind: type[T]) -> T:
        """Returns what the contest answers, as JSON. No text in it has the token or letters that a terminal obeys."""
        return self._decoded(self.fetched(path), kind)

    def posted(self, path: str, kind: type[T], **fields: str) -> T:
        """Sends a form, and returns the answer."""
        form = {"content-type": "application/x-www-form-urlencoded"}
        return self._decoded(self._asked("POST", path, urlencode(fields).encode(), form), kind)

    def followed(self, state: State, on_log: Callable[[str], None], on_wait: Callable[[str], None]) -> State:
        """Waits for the verdict. `on_log` receives what is new in the build log, `on_wait` what it waits for."""
        shown = 0
        while True:
            new = len(state.log) if state.is_decided else state.log.rfind("\n") + 1
            if new > shown:
                on_log(state.log[shown:new])
                shown = new
            if state.is_decided:
                return state
            on_wait(state.text)
            time.sleep(LOOK_S)
            state = self.state(state.version)

    def _asked(self, method: str, path: str, body: Any, headers: dict[str, str], most_bytes: int = MOST_BYTES) -> bytes:
        """Returns the contest's answer. UsageError if it refuses, RunError if it cannot be reached."""
        most_s = TIMEOUT_S if body is None else UPLOAD_S
        got: list[tuple[http.client.HTTPResponse, bytes] | Exception] = []

        def ask() -> None:
            try:
                got.append(self._answer(method, path, body, headers, most_bytes))
            except Exception as error:
                got.append(error)

        thread = Thread(target=ask, daemon=True)  # each part of a connection may be slow, so none is waited for
        thread.start()
        thread.join(most_s)
        if not got:
            raise RunError(f"{self.address} did not answer within {most_s:.0f} s; try again later")
        if isinstance(answer := got[0], Exception):
            if not isinstance(answer, OSError | http.client.HTTPException | ValueError):
                raise answer
            why = self._clean(str(getattr(answer, "strerror", None) or answer))
            raise RunError(f"{self.address} cannot be reached: {why}") from answer
        sent, content = answer
        if 300 <= sent.status < 400:
            to = printable(self._clean(sent.headers.get("location", "")), 200)
            raise UsageError(f"{self.address} redirects to {to or 'another address'}; if that is your contest, name it")
        if sent.status not in (200, 201):
            if sent.status == 401:
                raise UsageError(
                    f"{self.address} does not know the token in REFEREE_TOKEN; a new one is made at {self.address}/team"
                )
            text = self._clean(content.decode("utf-8", "replace"))
            raise UsageError(f"{self.address}: {' '.join(text[:500].split()) or self._clean(sent.reason)}")
        if len(content) > most_bytes:
            raise RunError(f"{self.address}: the answer has more than {most_bytes >> 20} MiB")
        return content

    def _state(self, content: bytes) -> State:
        return self._decoded(content, State)

    def _decoded(self, content: bytes, kind: type[T]) -> T:
        try:
            return msgspec.convert(self._cleaned(msgspec.json.decode(content)), kind)
        except UNDECODABLE as error:
            raise RunError(f"{self.address} is no contest of `referee host`: it answers something else") from error

    def _answer(
        self, method: str, path: str, body: Any, headers: dict[str, str], most_bytes: int
    ) -> tuple[http.client.HTTPResponse, bytes]:
        parts = self._parts
        assert parts.hostname is not None
        connection = self._connection(parts.hostname, parts.port)
        try:
            sent = _sent(connection, method, f"{parts.path.rstrip('/')}{path}", body, self._headers | headers)
            return sent, sent.read(most_bytes + 1)
        finally:
            connection.close()

    def _cleaned(self, value: Any) -> Any:
        """Returns a decoded answer without the token."""
        if isinstance(value, list):
            return [self._cleaned(each) for each in value]
        if isinstance(value, dict):
            return {name: self._cleaned(each) for name, each in value.items()}
        return self._clean(value) if isinstance(value, str) else value

    def _clean(self, text: str) -> str:
        """Returns a text of the contest's without the token."""
        return text.replace(self._token, "[token]") if len(self._token) >= SHORTEST_TOKEN else text

    def _connection(self, host: str, port: int | None) -> http.client.HTTPConnection:
        if self._parts.scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=TIMEOUT_S)
        return http.client.HTTPSConnection(host, port, timeout=TIMEOUT_S, context=ssl.create_default_context())


def _sent(
    connection: http.client.HTTPConnection, method: str, path: str, body: Any, headers: dict[str, str]
) -> http.client.HTTPResponse:
    """Sends a request. A contest may refuse an upload before it has come whole: then its answer counts."""
    try:
        connection.request(method, path, body, headers)
    except (BrokenPipeError, ConnectionResetError):
        pass
    return connection.getresponse()


def _field(boundary: str, name: str, value: str) -> bytes:
    return f'--{boundary}\r\ncontent-disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()


def _head(boundary: str, file: str) -> bytes:
    named = json.dumps(file, ensure_ascii=False)
    return (
        f'--{boundary}\r\ncontent-disposition: form-data; name="file"; filename={named}\r\n'
        "content-type: application/octet-stream\r\n\r\n"
    ).encode()


@contextmanager
def packed(path: Path) -> Iterator[tuple[IO[bytes], str, list[str]]]:
    """Yields what is handed in for a path, its name, and what is left out of it.

    A file is handed in as it is, a folder as a zip of what its bot needs.
    """
    if os.path.isfile(path):  # Path.is_file raises an error for a name that is too long
        with path.open("rb") as file:
            yield file, path.name, []
    elif os.path.isdir(path):
        with tempfile.TemporaryFile() as file:
            left_out = _zip(path, file)
            file.seek(0)
            yield file, f"{path.resolve().name}.zip", left_out
    else:
        raise UsageError(f"{path}: there is no such file or folder; expected one, or the address of a repository")


def _zip(folder: Path, to: IO[bytes]) -> list[str]:
    """Packs the folder of a bot without secrets, caches, and what no archive takes. Returns what it leaves out."""
    whole, name, private = folder.resolve(), folder.resolve().name, list[str]()
    try:
        has_file = (whole / BOT_FILE).is_file()
        if has_file:
            content = read_bot_file(whole, name).files(whole, name, private=private)
        else:
            content = archive.read(whole, private=private)
        pack(name, content, whole.relative_to(content.folder.resolve()).as_posix(), to)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be read: {reason(error)}") from error
    never = {entry.name for entry in os.scandir(content.folder) if entry.name in archive.LEFT_OUT - {"__pycache__"}}
    return sorted({*never, *private})
