"""Plays matches whose seats exist before the match does: clients over HTTP and built-in rivals."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from random import SystemRandom

import trio

from referee.games.dice import derive_seed
from referee.harness.match.match import Match, Watcher, play
from referee.harness.match.verdict import Verdict
from referee.harness.process.limits import Limits
from referee.harness.programs.spec import Entrant
from referee.harness.seats.roster import Roster, open_roster
from referee.harness.seats.seat import Seat


class MatchHost:
    """A roster and a nursery for the matches of one server.

    `seed` is what the seeds of all matches are derived from; None draws each.
    """

    def __init__(self, seed: int | None) -> None:
        self.nursery: trio.Nursery
        self._seed = seed
        self._seats: dict[Entrant, Seat] = {}
        self._roster: Roster

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Cancels all matches when the block ends."""
        async with (
            open_roster(Limits(), make_seat=lambda entrant, limits: self._seats.pop(entrant, None)) as self._roster,
            trio.open_nursery() as self.nursery,
        ):
            try:
                yield
            finally:
                self.nursery.cancel_scope.cancel()

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
