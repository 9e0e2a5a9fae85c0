"""Reads the figures of a search: the `info` lines of UCI and UGI."""

import re
from typing import Any

LARGEST = {"score": 100_000, "mate": 1000, "depth": 10_000, "nodes": (1 << 53) - 1}
"""The largest figures that an answer may carry; the engine's are cut to these."""
NUMBER = re.compile(r"[-+]?[0-9]{1,18}", re.ASCII)


class Info:
    """The figures of one search. The last line counts, of the best variation."""

    def __init__(self) -> None:
        self.found: dict[str, int] = {}

    def read(self, line: str) -> None:
        """Reads a line, of whatever kind. Bounds (`lowerbound`, `upperbound`) are no score."""
        words = line.split()
        if words[:1] != ["info"] or "string" in words or _after(words, "multipv") not in (None, 1):
            return
        for name in ("depth", "nodes"):
            self._keep(name, _after(words, name))
        if "lowerbound" in words or "upperbound" in words:
            return
        for word, name, other in (("cp", "score", "mate"), ("mate", "mate", "score")):
            if self._keep(name, _after(words, word)):
                self.found.pop(other, None)

    def _keep(self, name: str, value: int | None) -> bool:
        if value is None:
            return False
        most = LARGEST[name]
        least = -most if name in ("score", "mate") else 0
        self.found[name] = max(least, min(most, value))
        return True

    def with_action(self, action: int) -> dict[str, Any]:
        """Returns the answer to the referee."""
        return {"action": action, "search": self.found} if self.found else {"action": action}


def _after(words: list[str], word: str) -> int | None:
    """Returns the number behind a word; None if there is none."""
    if word not in words[:-1]:
        return None
    value = words[words.index(word) + 1]
    return int(value) if NUMBER.fullmatch(value) else None
