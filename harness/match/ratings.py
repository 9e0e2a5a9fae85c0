"""Ratings of players by the games that they played against each other: what an add-on takes and returns."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from msgspec import Struct

from referee.harness.match.interval import Interval


class RatedGame(Struct, frozen=True):
    """A game that counts for ratings."""

    players: tuple[int, ...]
    """Their numbers, by seat."""
    ranks: tuple[int, ...]
    course: int
    """A hash of the course of the game: games with the same one are copies. 0 = unknown."""


class PlayerRating(Protocol):
    """A player's rating."""

    @property
    def elo(self) -> Interval:
        """Relative to the average of the players that games connect with it, with its 95 % interval."""

    @property
    def p_first(self) -> float | None:
        """The chance that it is the best; None if games do not connect all players."""

    @property
    def note(self) -> str:
        """`few` seed groups, `no information` about the error of the rating, or empty."""

    @property
    def part(self) -> int:
        """The same for players that games connect."""


class RatePlayers(Protocol):
    """Rates players that are numbered from 0."""

    def __call__(self, players: int, groups: Iterable[Sequence[RatedGame]], seed: int) -> Sequence[PlayerRating]:
        """Returns the rating of each. `groups`: the games of each seed group. `seed`: of the draws for `p_first`."""
