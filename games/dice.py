"""The only luck in the games: a small generator, written out here so that it never changes.

SplitMix64 (Steele, Lea, Flood 2014): 64 bits of state, one addition and one mix per number. A seed gives
the same numbers on every machine and every Python, and a copy is one integer.
"""

import hashlib
from collections.abc import MutableSequence, Sequence
from typing import TypeVar

T = TypeVar("T")

_MASK = (1 << 64) - 1
_GAMMA = 0x9E3779B97F4A7C15


class Dice:
    """A seeded stream of fair choices."""

    __slots__ = ("state",)

    def __init__(self, seed: int) -> None:
        self.state = seed & _MASK

    def bits(self) -> int:
        """The next 64 random bits, 0 … 2**64-1."""
        self.state = (self.state + _GAMMA) & _MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def below(self, n: int) -> int:
        """A whole number 0 … n-1, each equally likely. ValueError unless 1 <= n <= 2**64."""
        if not 1 <= n <= 1 << 64:
            raise ValueError(f"below() needs 1 <= n <= 2**64, not {n}")
        # Numbers past the last whole multiple of n are thrown away, else the small ones would come too often.
        limit = (1 << 64) - (1 << 64) % n
        while (value := self.bits()) >= limit:
            pass
        return value % n

    def choice(self, items: Sequence[T]) -> T:
        """One of `items`. ValueError if there are none."""
        return items[self.below(len(items))]

    def shuffle(self, items: MutableSequence[T]) -> None:
        """Puts `items` into a random order, in place (Fisher and Yates, from the end)."""
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]

    def sample(self, items: Sequence[T], n: int) -> list[T]:
        """`n` different positions of `items`, in random order. ValueError if there are fewer."""
        if n > len(items):
            raise ValueError(f"cannot draw {n} of {len(items)}")
        pool = list(items)
        self.shuffle(pool)
        return pool[:n]

    def copy(self) -> "Dice":
        """An independent generator that will give the same numbers."""
        return Dice(self.state)


def derive_seed(seed: int, *path: int | str) -> int:
    """A seed of its own for a part of a match, such as a seat's or a game's: 0 … 2**53-1.

    One-way, so that nobody can tell the match's seed, and with it every card to come, from the derived one. Below
    2**53, so that JSON libraries that know only doubles keep it exact.
    """
    label = "/".join(map(str, (seed, *path)))
    return int.from_bytes(hashlib.blake2b(label.encode(), digest_size=8).digest(), "big") >> 11
