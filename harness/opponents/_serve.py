"""The loop that every built-in opponent runs in."""

import os
import sys
from collections.abc import Callable
from typing import Any

import msgspec

from protocol.connection import NEED_DATA, BotConnection, Notification, Request
from protocol.messages import Initialize

Handler = Callable[[str, dict[str, Any]], Any]
"""Takes the name and the params of a call or a notification; what it returns for a call is the answer."""


def serve(name: str, start: Callable[[Initialize], Handler]) -> None:
    """Plays match after match, each with a handler of its own from `start`, until `exit` or the end of input."""
    wire = BotConnection()
    handle: Handler = _not_started
    while True:
        while (message := wire.next_message()) is NEED_DATA:
            data = os.read(sys.stdin.fileno(), 1 << 16)
            if not data:
                return
            wire.receive(data)
        if isinstance(message, Notification):
            if message.method == "exit":
                return
            handle(message.method, message.params)
        elif isinstance(message, Request):
            if message.method == "initialize":
                initialize = msgspec.convert(message.params, Initialize)
                handle = start(initialize)
                hello = {"name": name, "encoding": wire.choose_encoding(initialize.encodings), "reuse": True}
                _write(wire.respond(message.id, hello))
            else:
                _write(wire.respond(message.id, handle(message.method, message.params)))


def _not_started(method: str, params: dict[str, Any]) -> Any:
    raise RuntimeError(f"{method} before initialize")


def _write(frame: bytes) -> None:
    while frame:
        frame = frame[os.write(sys.stdout.fileno(), frame) :]
