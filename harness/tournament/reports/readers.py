"""The readers of a site, and what each may see of a replay."""

from enum import StrEnum

import msgspec


class Reader(StrEnum):
    """Whom a site is for."""

    PUBLIC = "public"
    ORGANISER = "organiser"


def published(replay: bytes, reader_seat: int | None = None) -> bytes:
    """Returns a replay without the bots' commands and standard error, except those of `reader_seat`.

    It can be verified like the original.
    """
    lines = replay.splitlines()
    header = msgspec.json.decode(lines[0])
    header["commands"] = [
        command if seat == reader_seat else [] for seat, command in enumerate(header.get("commands", []))
    ]
    header["folders"] = []
    ending = msgspec.json.decode(lines[-1])
    for seat, account in enumerate(ending.get("seats", [])):
        if seat != reader_seat:
            account["command"] = []
            account["stderr"] = None
    for fault in ending.get("faults", []):
        if fault["player"] != reader_seat:
            fault["last_words"] = fault["said"] = []
            fault["bundle"] = None
    return b"\n".join([msgspec.json.encode(header), *lines[1:-1], msgspec.json.encode(ending), b""])
