"""The only luck in the games: a small generator, written out here so that it never changes.

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

    `what` says in a word what a draw decides, such as "teleport". It changes no number: `ScriptedDice` go by it.
    """

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

    def below(self, n: int, what: str = "") -> int:
        """A whole number 0 … n-1, each equally likely. ValueError unless 1 <= n <= 2**64."""
        if not 1 <= n <= 1 << 64:
            raise ValueError(f"below() needs 1 <= n <= 2**64, not {n}")
        # Numbers past the last whole multiple of n are thrown away, else the small ones would come too often.
        limit = (1 << 64) - (1 << 64) % n
        while (value := self.bits()) >= limit:
            pass
        return value % n

    def choice(self, items: Sequence[T], what: str = "") -> T:
        """One of `items`. ValueError if there are none."""
        return items[self.below(len(items))]

    def shuffle(self, items: MutableSequence[T], what: str = "") -> None:
        """Puts `items` into a random order, in place (Fisher and Yates, from the end)."""
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]

    def sample(self, items: Sequence[T], n: int, what: str = "") -> list[T]:
        """`n` different positions of `items`, in random order. ValueError if there are fewer."""
        if n > len(items):
            raise ValueError(f"cannot draw {n} of {len(items)}")
        pool = list(items)
        self.shuffle(pool)
        return pool[:n]

    def roll(self, how: Callable[["Dice"], T], what: str = "") -> T:
        """What `how` makes of many draws, such as a whole field of fruit."""
        return how(self)

    def fork(self, *path: int | str) -> "Dice":
        """A stream of its own for a part of the match, which takes nothing from this one."""
        return Dice(derive_seed(self.state, *path))

    def copy(self) -> "Dice":
        """An independent generator that will give the same numbers."""
        return Dice(self.state)


class ScriptedDice(Dice):
    """Dice for tests: what is drawn was written down, and is noted.

    `script` holds the outcomes by what they decide, in order: an item for `choice`, a number for `below`, a list for
    `shuffle` and `sample`, anything for `roll`. Where nothing is written the dice fall as those of seed 0. A copy is
    not scripted any more.
    """

    __slots__ = ("drawn", "script")

    def __init__(self, script: Mapping[str, Iterable[Any]] | None = None) -> None:
        super().__init__(0)
        self.script = {what: list(outcomes) for what, outcomes in (script or {}).items()}
        self.drawn: list[tuple[str, Any]] = []
        """Every draw so far: what for, and what it was chosen from; None for a `roll`."""

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
                raise ValueError(f"the script has {outcome} for {what!r}; wanted {n} of {list(items)}")
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
            raise ValueError(f"the script has {outcome!r} for {what!r}; wanted one of {list(items)}")
        return outcome


def derive_seed(seed: int, *path: int | str) -> int:
    """A seed of its own for a part of a match, such as a seat's or a game's: 0 … 2**53-1.

    One-way, so that nobody can tell the match's seed, and with it every card to come, from the derived one. Below
    2**53, so that JSON libraries that know only doubles keep it exact.
    """
    label = "/".join(map(str, (seed, *path)))
    return int.from_bytes(hashlib.blake2b(label.encode(), digest_size=8).digest(), "big") >> 11
