"""Parses times and sizes as people write them."""

import re
from typing import Any

from msgspec import UNSET

from referee.harness.common.errors import UsageError
from referee.harness.process.limits import MOST_BYTES, MOST_PROCESSES, MOST_S

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "": 1.0}
_BYTES = {"": 1, "B": 1}
for power, letter in enumerate("KMG", 1):
    _BYTES |= {letter: 1024**power, f"{letter}IB": 1024**power, f"{letter}B": 1000**power}
_NONE = ("none", "off", "inf")
_THOUSANDS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def seconds(text: str, option: str) -> float | None:
    """Parses `1s`, `250ms`, `2m` or `1.5` (seconds); `none` is None. UsageError for 0 and for more than `MOST_S`."""
    if text in _NONE:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)\s*(ms|s|m|min|h|)", text)
    if found is None or not 0 < float(found[1]) * _SECONDS[found[2]] <= MOST_S:
        raise UsageError(f"{option} {text}: expected a time above zero, such as 1s, 250ms or 2m, or none")
    return float(found[1]) * _SECONDS[found[2]]


def size(text: str, option: str) -> int | None:
    """Parses `256MiB`, `1G`, `100MB` or `1048576` (bytes); `none` is None.

    UsageError for less than a byte and for more than `MOST_BYTES`.
    """
    if text in _NONE:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d*)?)\s*([A-Za-z]*)", text)
    unit = _BYTES.get(found[2].upper()) if found is not None else None
    if found is None or unit is None or not 1 <= float(found[1]) * unit <= MOST_BYTES:
        raise UsageError(f"{option} {text}: expected a size such as 256MiB or 1G, up to 1 PiB, or none")
    return int(float(found[1]) * unit)


_NUMBER = r"\d{1,12}(?:\.\d*)?"
_BANK = re.compile(
    rf"(?:(?P<answers>\d{{1,6}})/)?(?P<initial_s>{_NUMBER})(?::(?P<final_s>{_NUMBER}))?(?:\+(?P<increment_s>{_NUMBER}))?",
    re.ASCII,
)


def bank(text: str, option: str) -> dict[str, Any]:
    """Parses a time bank in seconds, as members of `TimeControl`: `300`, `60+2`, `40/60` for 40 answers.

    `40/60:30` has 30 s for all answers after these. `none` is a bank without end.
    """
    periods: dict[str, Any] = {"answers": UNSET, "final_s": UNSET}
    if text in _NONE:
        return {"initial_s": None, "increment_s": 0.0, **periods}
    found = _BANK.fullmatch(text)
    given = {} if found is None else {name: float(each) for name, each in found.groupdict().items() if each is not None}
    above = [given.get(name, 1) > 0 for name in ("answers", "initial_s", "final_s")]
    if not given or not all(above) or max(given.values()) > MOST_S or ("final_s" in given and "answers" not in given):
        raise UsageError(
            f"{option} {text}: expected seconds and an increment, such as 60+2 or 300, answers for them, such as 40/60 "
            "or 40/60:30, or none"
        )
    if "answers" in given:
        periods["answers"] = int(given.pop("answers"))
    return {"increment_s": 0.0, **periods, **given}


def count(text: str, option: str) -> int | None:
    """Parses a number of processes; `none` is None. UsageError for 0 and for more than `MOST_PROCESSES`."""
    if text == "none":
        return None
    if not text.isascii() or not text.isdigit() or not 1 <= float(text) <= MOST_PROCESSES:
        raise UsageError(f"{option} {text}: expected a whole number from 1 to {MOST_PROCESSES}, or none")
    return int(text)


def fuel(text: str, option: str) -> int | None:
    """Parses units of fuel, `50M` or `50000000`; `none` is None. UsageError for 0 and for more than `MOST_BYTES`."""
    if text in _NONE:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d*)?)([KMGT]?)", text)
    if found is None or not 1 <= float(found[1]) * _THOUSANDS[found[2]] <= MOST_BYTES:
        raise UsageError(f"{option} {text}: expected units of fuel, such as 50M or 2G, or none")
    return int(float(found[1]) * _THOUSANDS[found[2]])
