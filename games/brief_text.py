"""What a bot sent, in words for its author."""

from typing import Any


def in_brief(value: Any) -> str:
    """What a bot sent, in a few words: one line of bounded length, whatever it is."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if abs(value) < 1 << 64 else "a number beyond 64 bits"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, str):
        return (
            ascii(value) if len(value) <= 60 else ascii(value[:60]) + "…"
        )  # in ASCII, since digits of other scripts look alike
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}" if value else "an empty list"
    return "an object" if isinstance(value, dict) else f"a {type(value).__name__}"
