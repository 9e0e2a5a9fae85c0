"""The only source of luck in the games: a small generator, written out here so that it never changes.

SplitMix64 (Steele, Lea, Flood 2014): 64 bits of state, one addition and one mix per number. A seed gives
the same numbers on every machine and every Python, and a copy is one integer.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, MutableSequence, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

_MASK = (1 << 64) - 1
_GAMMA = 0x9E3779B97F4A7C15


class Dice:
    """A seeded stream of fair choices.

    `what` names what a draw decides, such as "teleport". Only `ScriptedDice` use it.
    """

    __slots__ = ("state",)

    def __init__(self, seed: int) -> None:
        self.state = seed & _MASK

    def bits(self) -> int:
        """Draws 64 random bits, 0 … 2**64-1."""
        self.state = (self.state + _GAMMA) & _MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def below(self, n: int, what: str = "") -> int:
        """Draws a whole number 0 … n-1. ValueError unless 1 <= n <= 2**64."""
        if not 1 <= n <= 1 << 64:
            raise ValueError(f"below() needs 1 <= n <= 2**64, not {n}")
        # Numbers from the last whole multiple of n on are rejected; else small results would be more likely.
        limit = (1 << 64) - (1 << 64) % n
        while (value := self.bits()) >= limit:
            pass
        return value % n

    def choice(self, items: Sequence[T], what: str = "") -> T:
        """Draws one of `items`. ValueError if there are none."""
        return items[self.below(len(items))]

    def shuffle(self, items: MutableSequence[T], what: str = "") -> None:
        """Shuffles `items` in place (Fisher and Yates, from the end)."""
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]

    def sample(self, items: Sequence[T], n: int, what: str = "") -> list[T]:
        """Draws `n` of `items` without replacement, in random order. ValueError if there are fewer."""
        if n > len(items):
            raise ValueError(f"cannot draw {n} of {len(items)}")
        pool = list(items)
        self.shuffle(pool)
        return pool[:n]

    def roll(self, how: Callable[["Dice"], T], what: str = "") -> T:
        """Returns what `how` makes with many draws, such as a whole field of fruit."""
        return how(self)

    def fork(self, *path: int | str) -> "Dice":
        """Returns an independent stream for a part of the match. This one stays as it is."""
        return Dice(derive_seed(self.state, *path))

    def copy(self) -> "Dice":
        """Returns an independent generator that gives the same numbers."""
        return Dice(self.state)


class ScriptedDice(Dice):
    """Dice for tests, with outcomes from a script and a log of all draws.

    `script` lists outcomes in order by what they decide: an item for `choice`, a number for `below`, a list for
    `shuffle` and `sample`, anything for `roll`. Draws without a scripted outcome are those of seed 0. A copy has no
    script.
    """

    __slots__ = ("drawn", "script")

    def __init__(self, script: Mapping[str, Iterable[Any]] | None = None) -> None:
        super().__init__(0)
        self.script = {what: list(outcomes) for what, outcomes in (script or {}).items()}
        self.drawn: list[tuple[str, Any]] = []
        """Every draw so far: what it decided, and the choices; None for a `roll`."""

    def below(self, n: int, what: str = "") -> int:
        return int(self._next(what, range(n), super().below))

    def choice(self, items: Sequence[T], what: str = "") -> T:
        outcome: T = self._next(what, items, lambda count: items[super(ScriptedDice, self).below(count)])
        return outcome

    def shuffle(self, items: MutableSequence[T], what: str = "") -> None:
        items[:] = self.sample(items, len(items), what)

    def sample(self, items: Sequence[T], n: int, what: str = "") -> list[T]:
        self.drawn.append((what, tuple(items)))
        if self.script.get(what):
            outcome: list[T] = list(self.script[what].pop(0))
            if len(outcome) != n or any(item not in items for item in outcome):
                raise ValueError(f"the script has {outcome} for {what!r}; expected {n} of {list(items)}")
            return outcome
        return Dice(self.bits()).sample(items, n)

    def roll(self, how: Callable[[Dice], T], what: str = "") -> T:
        self.drawn.append((what, None))
        if self.script.get(what):
            outcome: T = self.script[what].pop(0)
            return outcome
        return how(Dice(self.bits()))

    def fork(self, *path: int | str) -> Dice:
        return self

    def _next(self, what: str, items: Sequence[Any], fallback: Callable[[int], Any]) -> Any:
        self.drawn.append((what, items))
        if not self.script.get(what):
            return fallback(len(items))
        outcome = self.script[what].pop(0)
        if outcome not in items:
            raise ValueError(f"the script has {outcome!r} for {what!r}; expected one of {list(items)}")
        return outcome


def derive_seed(seed: int, *path: int | str) -> int:
    """Derives a seed, 0 … 2**53-1, for a part of a match, such as a seat.

    One-way, so that the derived seed reveals neither the match's seed nor the cards to come. Below 2**53, so that JSON
    libraries with doubles only keep it exact.
    """
    label = "/".join(map(str, (seed, *path)))
    return int.from_bytes(hashlib.blake2b(label.encode(), digest_size=8).digest(), "big") >> 11
