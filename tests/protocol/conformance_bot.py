"""The conformance program, written with BotConnection: what the starter kits' own programs do.

The first argument may name one thing to do wrong, so that the driver is shown to notice it.
"""

import os
import sys
from typing import Any

from referee.protocol.connection import NEED_DATA, BotConnection, Notification, Request

WRONG = sys.argv[1] if len(sys.argv) > 1 else ""


class UnknownMethod(Exception):
    """The bot has no such method."""


def main() -> None:
    wire = BotConnection()
    wire_out = os.dup(1)
    os.dup2(2, 1)  # what the bot prints goes to standard error
    notes: list[Any] = []
    while True:
        while (message := wire.next_message()) is NEED_DATA:
            data = os.read(0, 1 << 16)
            if not data:
                sys.exit(7 if WRONG == "status" else 0)
            wire.receive(data)
        if isinstance(message, Notification):
            if message.method == "exit" and WRONG != "no exit":
                return
            if message.method == "note":
                notes.append(message.params["value"])
        elif isinstance(message, Request):
            frame = answer(wire, message, notes)
            while frame:
                frame = frame[os.write(wire_out, frame) :]
            if WRONG == "print":
                os.write(wire_out, b"x = 5\n")


def answer(wire: BotConnection, request: Request, notes: list[Any]) -> bytes:
    try:
        result = answers(wire, request.method, request.params, notes)
    except UnknownMethod as error:
        return wire.fail(request.id, -32601, f"no such method: {error}")
    except Exception as error:
        return wire.fail(request.id, -32000, "failed" if WRONG == "message" else str(error))
    frame = wire.respond(request.id, result)
    return frame.replace(b'"id":1', b'"id":true') if WRONG == "id" else frame


def answers(wire: BotConnection, method: str, params: dict[str, Any], notes: list[Any]) -> Any:
    match method:
        case "initialize":
            if WRONG != "reuse":
                notes.clear()
            return {"name": "conformance", "encoding": wire.choose_encoding(params["encodings"]), "reuse": True}
        case "echo":
            value = params["value"]
            return 1 if value is True and WRONG == "true" else value
        case "fail":
            raise RuntimeError(params["message"])
        case "print":
            print(params["text"], flush=True)
            return None
        case "nothing":
            return None
        case "notes":
            heard = notes[:]
            notes.clear()
            return heard
        case "clock":
            return params["clock"]
    raise UnknownMethod(method)


if __name__ == "__main__":
    main()
