"""A service for language models, of chat completions, that does what a test has scripted."""

import json
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from compact_reader import legal_answers

Act = Callable[["Request"], None]


class Request:
    """A request that has arrived, and the ways to answer it."""

    def __init__(self, handler: BaseHTTPRequestHandler, number: int, body: dict[str, Any]) -> None:
        self.handler, self.number, self.body = handler, number, body

    @property
    def prompt(self) -> str:
        """The last message."""
        text: str = self.body["messages"][-1]["content"]
        return text

    @property
    def legal(self) -> list[Any]:
        """The legal answers that the conversation lists."""
        (asked,) = (each["content"] for each in self.body["messages"][1:2])
        return legal_answers(asked)

    def send(self, status: int, content: bytes, **headers: str) -> None:
        """Answers with any bytes."""
        self.handler.send_response(status)
        for name, value in {"Content_Length": str(len(content)), **headers}.items():
            self.handler.send_header(name.replace("_", "-"), value)
        self.handler.end_headers()
        self.handler.wfile.write(content)

    def say(self, text: Any, *, usage: tuple[int, int] | None = (100, 10), finish: str = "stop", **more: Any) -> None:
        """Answers with a completion."""
        message = {"role": "assistant", "content": text, **more}
        answer: dict[str, Any] = {"choices": [{"index": 0, "message": message, "finish_reason": finish}]}
        if usage is not None:
            answer["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
        self.send(200, json.dumps(answer).encode(), Content_Type="application/json")

    def play(self, **how: Any) -> None:
        """Answers with the first legal answer."""
        self.say(json.dumps(self.legal[0]), **how)

    def fail(self, status: int, text: str, code: str | None = None, **headers: str) -> None:
        """Answers with an error, as OpenAI writes it."""
        error = {"message": text, "type": "error", "param": None, "code": code}
        self.send(status, json.dumps({"error": error}).encode(), **headers)

    def reset(self) -> None:
        """Resets the connection."""
        self.handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.handler.connection.shutdown(socket.SHUT_RD)
        self.handler.close_connection = True
        self.handler.rfile.close()
        self.handler.wfile.close()
        self.handler.connection.close()

    def wait_for_end(self) -> None:
        """Waits until the client has closed the connection."""
        self.handler.connection.recv(1)

    @property
    def ended(self) -> bool:
        """Whether the service ends."""
        return self.handler.server.ended.is_set()  # type: ignore[attr-defined]

    def wait(self, seconds: float) -> None:
        """Keeps the client waiting, or less if the service ends."""
        self.handler.server.ended.wait(seconds)  # type: ignore[attr-defined]


class ModelService:
    """The service. `acts` are what it does at each request; after these it plays the first legal answer."""

    def __init__(self, *acts: Act) -> None:
        self.acts = acts
        self.requests: list[dict[str, Any]] = []
        """The bodies of all requests."""
        self.headers: list[dict[str, str]] = []
        self.times: list[float] = []
        self.port, self.scheme = 0, "http"

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}/v1"

    def spec(self, options: str = "", model: str = "stub") -> str:
        """Returns the bot spec of a model of this service."""
        return f"llm:--url {self.url} {options} {model}"


@contextmanager
def serving(*acts: Act, tls: ssl.SSLContext | None = None) -> Iterator[ModelService]:
    """Runs a service on a port of its own, with `tls` if there is a context."""
    service, lock = ModelService(*acts), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                number = len(service.requests)
                service.requests.append(body)
                service.headers.append(dict(self.headers))
                service.times.append(time.monotonic())
            assert self.path == "/v1/chat/completions"
            act = service.acts[number] if number < len(service.acts) else Request.play
            try:
                act(Request(self, number, body))
            except OSError:
                self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        ended = threading.Event()

        def handle_error(self, request: Any, client_address: Any) -> None:
            pass

    server = Server(("127.0.0.1", 0), Handler)
    server.ended = threading.Event()
    service.port = server.server_address[1]
    if tls is not None:
        service.scheme = "https"
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield service
    finally:
        server.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()
