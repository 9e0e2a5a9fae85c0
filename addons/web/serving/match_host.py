"""Plays matches whose seats exist before the match does: clients over HTTP and built-in rivals."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from random import SystemRandom

import trio

from referee.games.dice import derive_seed
from referee.harness.match.match import Match, Watcher, play
from referee.harness.match.verdict import Verdict
from referee.harness.process.limits import Limits
from referee.harness.programs.entrant import Entrant
from referee.harness.seats.roster import Roster, open_roster
from referee.harness.seats.seat import Seat


class MatchHost:
    """The matches of one server. Made by `open_match_host`."""

    def __init__(self, roster: Roster, nursery: trio.Nursery, seats: dict[Entrant, Seat], seed: int | None) -> None:
        self.nursery = nursery
        self._roster = roster
        self._seats = seats
        self._seed = seed

    def match_seed(self, kind: str, number: int) -> int:
        """Returns the seed of a match."""
        return SystemRandom().getrandbits(64) if self._seed is None else derive_seed(self._seed, kind, number)

    async def play(self, match: Match, seats: Iterable[Seat], watcher: Watcher | None = None) -> Verdict:
        """Plays a match; `seats` are in seat order."""
        self._seats.update(zip(match.entrants, seats, strict=True))
        try:
            return await play(match, self._roster, watcher)
        finally:
            for entrant in match.entrants:
                self._seats.pop(entrant, None)


@asynccontextmanager
async def open_match_host(seed: int | None) -> AsyncIterator[MatchHost]:
    """Yields a host, whose matches are cancelled when the block ends.

    The seeds of all matches are derived from `seed`; None draws each.
    """
    seats: dict[Entrant, Seat] = {}
    async with (
        open_roster(Limits(), make_seat=lambda entrant, limits: seats.pop(entrant, None)) as roster,
        trio.open_nursery() as nursery,
    ):
        try:
            yield MatchHost(roster, nursery, seats, seed)
        finally:
            nursery.cancel_scope.cancel()
