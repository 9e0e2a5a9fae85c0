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


class UnknownMethod(Exception):
    """The opponent does not handle this method."""

    def __init__(self, method: str) -> None:
        super().__init__(f"unknown method {method}")


def serve(name: str, games: Mapping[str, Start]) -> None:
    """Plays match after match until `exit` or the end of input. Each match gets a new handler from `games`."""
    _Server(name, games).serve()
    gc.freeze()  # otherwise Python looks for garbage before it exits, which takes a sixth of a short match


class _Server:
    def __init__(self, name: str, games: Mapping[str, Start]) -> None:
        self.name = name
        self.games = games
        self.wire = BotConnection()
        self.handle: Handler = _not_started

    def serve(self) -> None:
        while (message := self._next()) is not None:
            if isinstance(message, Request):
                _write(self._answer(message))
            elif message.method == "exit":
                return
            else:
                self._handle_notification(message)

    def _next(self) -> Request | Notification | None:
        """Waits for a message; None at the end of input."""
        while isinstance(message := self.wire.next_message(), NeedData):
            data = os.read(sys.stdin.fileno(), 1 << 16)
            if not data:
                return None
            self.wire.receive(data)
        return message

    def _answer(self, request: Request) -> bytes:
        """Returns the frame of the result or the error. The program goes on after an error."""
        try:
            if request.method == "initialize":
                result: Any = self._initialize(msgspec.convert(request.params, Initialize))
            else:
                result = self.handle(request.method, request.params)
        except UnknownMethod as error:
            return self.wire.fail(request.id, METHOD_NOT_FOUND, str(error))
        except Exception as error:
            traceback.print_exc()
            return self.wire.fail(request.id, BOT_FAILED, str(error) or type(error).__name__)
        return self.wire.respond(request.id, result)

    def _initialize(self, match: Initialize) -> dict[str, Any]:
        if match.game not in self.games:
            raise ValueError(f"@{self.name} plays {', '.join(sorted(self.games))}, not {match.game}")
        self.handle = self.games[match.game](match)
        return {"name": self.name, "encoding": self.wire.choose_encoding(match.encodings), "reuse": True}

    def _handle_notification(self, notification: Notification) -> None:
        try:
            self.handle(notification.method, notification.params)
        except UnknownMethod:
            pass  # a later version of the protocol may have it
        except Exception:
            traceback.print_exc()


def _not_started(method: str, params: dict[str, Any]) -> Any:
    raise RuntimeError(f"{method} before initialize")


def _write(frame: bytes) -> None:
    while frame:
        frame = frame[os.write(sys.stdout.fileno(), frame) :]
