"""The program that every built-in opponent runs in."""

import gc
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from referee.protocol.connection import BotConnection, NeedData, Notification, Request
from referee.protocol.messages import Initialize

Handler = Callable[[str, dict[str, Any]], Any]
"""Takes the method and the params of a call or a notification; returns the answer to a call."""

Start = Callable[[Initialize], Handler]
"""Returns the handler for one match."""

BOT_FAILED = -32000
METHOD_NOT_FOUND = -32601


class Refused(Exception):
    """The program cannot start or continue to play. The referee gets the text."""


class UnknownMethod(Exception):
    """The opponent does not handle this method."""

    def __init__(self, method: str) -> None:
        super().__init__(f"unknown method {method}")


def serve(name: str, games: Mapping[str, Start]) -> None:
    """Plays match after match. Each gets a new handler from `games`."""

    def begin(match: Initialize) -> tuple[Handler, str]:
        if match.game not in games:
            raise Refused(f"@{name} plays {', '.join(sorted(games))}, not {match.game}")
        return games[match.game](match), name

    serve_matches(begin)
    gc.freeze()  # otherwise Python looks for garbage before it exits, which takes a sixth of a short match


def serve_matches(begin: Callable[[Initialize], tuple[Handler, str]]) -> None:
    """Plays match after match until `exit` or the end of input. `begin` returns a match's handler and our name.

    The program goes on after an error. A notification that it does not know may come from a later protocol.
    """
    wire = BotConnection()
    handle: Handler = _not_started
    while (message := _next(wire)) is not None and message.method != "exit":
        result: Any = None
        failure: tuple[int, str] | None = None
        try:
            if message.method == "initialize":
                match = msgspec.convert(message.params, Initialize)
                handle, name = begin(match)
                result = {"name": name, "encoding": wire.choose_encoding(match.encodings), "reuse": True}
            else:
                result = handle(message.method, message.params)
        except UnknownMethod as error:
            failure = METHOD_NOT_FOUND, str(error)
        except Refused as error:
            failure = BOT_FAILED, str(error)
        except Exception as error:
            traceback.print_exc()
            failure = BOT_FAILED, str(error) or type(error).__name__
        if isinstance(message, Request):
            _write(wire.respond(message.id, result) if failure is None else wire.fail(message.id, *failure))


def _next(wire: BotConnection) -> Request | Notification | None:
    """Waits for a message; None at the end of input."""
    while isinstance(message := wire.next_message(), NeedData):
        data = os.read(sys.stdin.fileno(), 1 << 16)
        if not data:
            return None
        wire.receive(data)
    return message


def _not_started(method: str, params: dict[str, Any]) -> Any:
    raise RuntimeError(f"{method} before initialize")


def _write(frame: bytes) -> None:
    while frame:
        frame = frame[os.write(sys.stdout.fileno(), frame) :]
