"""The readers of a site, and what each may see of a replay."""

from enum import StrEnum

import msgspec

from referee.harness.check.author_report import author_text


class Reader(StrEnum):
    """Whom a site is for."""

    PUBLIC = "public"
    ORGANISER = "organiser"


def published(replay: bytes, reader_seat: int | None = None) -> bytes:
    """Returns a replay without the bots' commands and standard error, except those of `reader_seat`.

    It can be verified like the original. No path of this machine is in it.
    """
    lines = replay.splitlines()
    header = msgspec.json.decode(lines[0])
    commands = enumerate(header.get("commands", []))
    header["commands"] = [[*map(author_text, words)] if seat == reader_seat else [] for seat, words in commands]
    header["folders"] = []
    ending = msgspec.json.decode(lines[-1])
    for seat, account in enumerate(ending.get("seats", [])):
        account["command"] = [*map(author_text, account.get("command", ()))] if seat == reader_seat else []
        account["stderr"] = None
    for fault in ending.get("faults", []):
        for part in ("last_words", "said"):
            fault[part] = [*map(author_text, fault.get(part, ()))] if fault["player"] == reader_seat else []
        fault["bundle"] = None
    return b"\n".join([msgspec.json.encode(header), *lines[1:-1], msgspec.json.encode(ending), b""])
