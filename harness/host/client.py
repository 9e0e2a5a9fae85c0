"""`referee submit`: hands a bot in at a hosted contest, and follows the check to its verdict. Needs no extra."""

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
from typing import IO, Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from referee.harness.errors import RunError, UsageError
from referee.harness.programs import archive
from referee.harness.programs.bot_file import read_bot_file
from referee.harness.programs.build import BOT_FILE
from referee.harness.tournament.store.bot_archives import pack
from referee.protocol.errors import UNDECODABLE

TIMEOUT_S = 60.0
LOOK_S = 0.5
MOST_BYTES = 4 << 20
"""Of an answer: it has the build log, whose size the contest limits."""
LOCAL = ("127.0.0.1", "localhost", "::1")


class State(Struct, frozen=True):
    """The state of a version, as the contest gives it."""

    version: int
    status: str
    reason: str = ""
    before: int = 0
    """How many versions are checked before it, or now."""
    log: str = ""

    @property
    def is_decided(self) -> bool:
        return self.status in ("accepted", "refused")


class Client:
    """Speaks to a contest with a token."""

    def __init__(self, address: str, token: str) -> None:
        """UsageError for an address that is none, or that would show the token to the network."""
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"--to {address}: expected the contest's address, such as https://cup.example.org")
        if parts.scheme == "http" and parts.hostname not in LOCAL:
            raise UsageError(f"--to {address}: everybody on the way could read your token; expected https://")
        if not token.isascii() or not token.isprintable() or not token:
            raise UsageError("the token is damaged; make a new one on your team's page")
        self.address, self._parts = address.rstrip("/"), parts
        self._headers = {"authorization": f"Bearer {token}", "accept": "application/json"}

    def submit(self, file: IO[bytes], name: str, note: str) -> State:
        """Uploads a file, and returns the version that it is."""
        boundary = secrets.token_hex(16)
        head = _field(boundary, "note", note) + _head(boundary, name)
        tail = f"\r\n--{boundary}--\r\n".encode()
        size = os.fstat(file.fileno()).st_size + len(head) + len(tail)
        body = itertools.chain([head], iter(lambda: file.read(1 << 18), b""), [tail])
        kind = {"content-type": f"multipart/form-data; boundary={boundary}", "content-length": str(size)}
        return self._asked("POST", "/team/versions", body, kind)

    def from_repository(self, repository: str, commit: str, note: str) -> State:
        """Hands in a commit of a repository, and returns the version that it is."""
        boundary = secrets.token_hex(16)
        fields = {"repository": repository, "commit": commit, "note": note}
        body = b"".join(_field(boundary, name, value) for name, value in fields.items())
        kind = {"content-type": f"multipart/form-data; boundary={boundary}"}
        return self._asked("POST", "/team/versions", body + f"--{boundary}--\r\n".encode(), kind)

    def state(self, version: int) -> State:
        """Returns what became of a version so far."""
        return self._asked("GET", f"/team/versions/{version}/state", None, {})

    def followed(self, state: State, on_log: Callable[[str], None], on_wait: Callable[[int], None]) -> State:
        """Waits for the verdict. `on_log` receives what is new in the build log, `on_wait` how many come before."""
        shown = 0
        while True:
            if len(state.log) > shown:
                on_log(state.log[shown:])
                shown = len(state.log)
            if state.is_decided:
                return state
            on_wait(state.before)
            time.sleep(LOOK_S)
            state = self.state(state.version)

    def _asked(self, method: str, path: str, body: Any, headers: dict[str, str]) -> State:
        """Returns the contest's answer. UsageError if it refuses, RunError if it cannot be reached."""
        parts = self._parts
        assert parts.hostname is not None
        try:
            connection = self._connection(parts.hostname, parts.port)
            try:
                sent = _sent(connection, method, f"{parts.path.rstrip('/')}{path}", body, self._headers | headers)
                content = sent.read(MOST_BYTES)
            finally:
                connection.close()
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise RunError(f"{self.address} cannot be reached: {getattr(error, 'strerror', None) or error}") from error
        if sent.status not in (200, 201):
            if sent.status == 401:
                raise UsageError(
                    f"{self.address} does not know the token in REFEREE_TOKEN; a new one is made at {self.address}/team"
                )
            why = " ".join(content[:500].decode("utf-8", "replace").split()) or sent.reason
            raise UsageError(f"{self.address}: {why}")
        try:
            return msgspec.json.decode(content, type=State)
        except UNDECODABLE as error:
            raise RunError(f"{self.address} is no contest of `referee host`: it answers something else") from error

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
def packed(path: Path) -> Iterator[tuple[IO[bytes], str]]:
    """Yields what is handed in for a path, and its name: a file as it is, a folder as a zip of what its bot needs."""
    if path.is_file():
        with path.open("rb") as file:
            yield file, path.name
    elif path.is_dir():
        with tempfile.TemporaryFile() as file:
            _zip(path, file)
            file.seek(0)
            yield file, f"{path.resolve().name}.zip"
    else:
        raise UsageError(f"{path}: there is no such file or folder")


def _zip(folder: Path, to: IO[bytes]) -> None:
    """Packs the folder of a bot without what no archive takes, such as `.git` and `target`."""
    whole, name = folder.resolve(), folder.resolve().name
    try:
        has_file = (whole / BOT_FILE).is_file()
        content = read_bot_file(whole, name).files(whole, name) if has_file else archive.read(whole)
        pack(name, content, whole.relative_to(content.folder.resolve()).as_posix(), to)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be read: {error.strerror or error}") from error
