"""Draws games and owners, from the signature of a round and the hash of a claim. Nothing else enters."""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256, shake_256

from msgspec import Struct

from referee.addons.tournament.formats.designs import rows, seated
from referee.harness.common.errors import UsageError

WORD_BYTES = 8
RECENT = 64
"""The claims whose games are kept. Those of a year would take hundreds of megabytes."""


class BotVersion(Struct, frozen=True):
    """A version of a bot."""

    name: str
    version: str
    """The id of its folder in git."""
    is_module: bool

    @property
    def label(self) -> str:
        """Its name in replays, which says the version."""
        return f"{self.name}@{self.version[:10]}"


class DrawnGame(Struct, frozen=True, gc=False):
    """A game to play."""

    bots: tuple[int, ...]
    """Places on the list of bots, by seat."""
    seed: int
    group: int
    """The seed group: its games have the same bots and seed, with other seats."""


def words(signature: bytes, claim: str, what: str, count: int) -> list[int]:
    """Returns drawn numbers of 64 bits. `claim`: its hash. `what`: `games`, `owners` or `sample`."""
    seed = sha256(b"\n".join([b"referee ladder", what.encode(), claim.encode(), signature])).digest()
    luck = shake_256(seed).digest(WORD_BYTES * count)
    return [int.from_bytes(luck[at : at + WORD_BYTES], "big") for at in range(0, len(luck), WORD_BYTES)]


@lru_cache(RECENT)
def new_games(signature: bytes, claim: str, games: int, bots: int, seats: int) -> list[DrawnGame]:
    """Returns the games of a claim: pairs of bots, seats and seeds. UsageError if there are too few bots for one."""
    if bots < seats:
        raise UsageError(f"the ladder has {bots} bots; a game takes {seats}: enter another with `referee ladder enter`")
    row_count = len(rows(seats))
    count = games // row_count
    luck = words(signature, claim, "games", (seats + 1) * count)
    found = []
    for group in range(count):
        at = group * (seats + 1)
        line_up = _distinct(luck[at : at + seats], bots)
        found += [DrawnGame(seated(line_up, group, row), luck[at + seats], group) for row in range(row_count)]
    return found


def _distinct(luck: list[int], bots: int) -> tuple[int, ...]:
    """Returns different places, as if drawn from a hat."""
    drawn: list[int] = []
    for count, word in enumerate(luck):
        place = word % (bots - count)
        for taken in sorted(drawn):
            place += place >= taken
        drawn.append(place)
    return tuple(drawn)


def drawn_owners(signature: bytes, claim: str, owners: Sequence[str], count: int) -> tuple[str, ...]:
    """Returns `count` of these owners, or all if there are no more. They are sorted by name."""
    count = min(count, len(owners))
    return tuple(owners[place] for place in _distinct(words(signature, claim, "owners", count), len(owners)))


def sampled(signature: bytes, claim: str, games: int, count: int) -> list[int]:
    """Returns the places of the games of modules to play again, in order."""
    return sorted(_distinct(words(signature, claim, "sample", min(count, games)), games))


def is_of_modules(game: DrawnGame, bots: tuple[BotVersion, ...]) -> bool:
    """Whether only modules play."""
    return all(bots[place].is_module for place in game.bots)
