"""Times and sizes as people write them."""

import re

from referee.games.contract import TimeControl
from referee.harness.errors import UsageError

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "": 1.0}
_BYTES = {"": 1, "B": 1, "K": 1 << 10, "KIB": 1 << 10, "KB": 1000, "M": 1 << 20, "MIB": 1 << 20, "MB": 1000**2} | {
    "G": 1 << 30,
    "GIB": 1 << 30,
    "GB": 1000**3,
}
_NONE = ("none", "off", "inf")
MOST_S = 1e9
"""Some thirty years."""
MOST_BYTES = 1 << 50
"""Far above any machine's memory, and far below what the kernel's calls take."""


def seconds(text: str, option: str) -> float | None:
    """`1s`, `250ms`, `2m`, `1.5` (seconds); `none` = None. UsageError for anything else, for nothing and for more than
    `MOST_S`."""
    if text in _NONE:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)\s*(ms|s|m|min|h|)", text)
    if found is None or not 0 < float(found[1]) * _SECONDS[found[2]] <= MOST_S:
        raise UsageError(f"{option} {text}: wanted is a time above zero such as 1s, 250ms or 2m, or none")
    return float(found[1]) * _SECONDS[found[2]]


def size(text: str, option: str) -> int | None:
    """`256MiB`, `1G`, `100MB`, `1048576` (bytes); `none` = None. UsageError for anything else, for less than a byte and
    for more than `MOST_BYTES`."""
    if text in _NONE:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d*)?)\s*([A-Za-z]*)", text)
    unit = _BYTES.get(found[2].upper()) if found is not None else None
    if found is None or unit is None or not 1 <= float(found[1]) * unit <= MOST_BYTES:
        raise UsageError(f"{option} {text}: wanted is a size such as 256MiB or 1G, up to 1 PiB, or none")
    return int(float(found[1]) * unit)


def time_control(
    default: TimeControl,
    clock: str | None,
    call_time: str | None,
    opening_time: str | None = None,
    closing_time: str | None = None,
) -> TimeControl:
    """The game's own time control with what was asked for in its place: a bank `60+2`, a limit a call `1s`."""
    initial_s, increment_s, per_call_s = default.initial_s, default.increment_s, default.per_call_s
    opening_call_s, closing_call_s = default.opening_call_s, default.closing_call_s
    if clock is not None:
        initial_s, increment_s = _bank(clock)
    if call_time is not None:
        per_call_s = seconds(call_time, "--call-time")
    if opening_time is not None:
        opening_call_s = seconds(opening_time, "--opening-time")
    if closing_time is not None:
        closing_call_s = seconds(closing_time, "--closing-time")
        if closing_call_s is None:
            raise UsageError(f"--closing-time {closing_time}: a call after the result needs a limit")
    return TimeControl(initial_s, increment_s, per_call_s, default.match_s, opening_call_s, closing_call_s)


def _bank(text: str) -> tuple[float | None, float]:
    if text in _NONE:
        return None, 0.0
    found = re.fullmatch(r"(\d+(?:\.\d*)?)(?:\+(\d+(?:\.\d*)?))?", text)
    if found is None or not 0 < float(found[1]) <= MOST_S or float(found[2] or 0) > MOST_S:
        raise UsageError(f"--clock {text}: wanted are seconds and an increment such as 60+2 or 300, or none")
    return float(found[1]), float(found[2] or 0)
