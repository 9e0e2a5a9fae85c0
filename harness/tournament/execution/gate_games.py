"""The games of a gate: a run of a tournament at one table, whose orbits are handed on in order as they are complete."""

import math
from collections.abc import Callable, Sequence
from itertools import islice

import trio

from referee.harness.tournament.execution.local import Crew
from referee.harness.tournament.execution.runner import End, Results, Run
from referee.harness.tournament.formats.designs import rows
from referee.harness.tournament.formats.schedules import Slot
from referee.harness.tournament.gate import Game

LOOK_EVERY_S = 0.02

Taken = Callable[[int, Sequence[Game]], bool]
"""Is given an orbit by its number, from 0, and its games; True = that is enough."""


async def play_orbits(run: Run, crew: Crew, taken: Taken, max_s: float = math.inf) -> End:
    """Plays until that is enough, or the run is at its end, or the time is over. The first bot of the plan is the new
    one, all others are the old one. RunError if the run cannot go on."""
    enough = trio.Event()
    finished = _Finished(run)
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_follow, finished, taken, enough)
            end = await run.play(crew, enough, max_s)
            nursery.cancel_scope.cancel()
    finally:  # however it ends: what came last counts
        if not enough.is_set():
            finished.hand_on(taken)
    return end


async def _follow(finished: "_Finished", taken: Taken, enough: trio.Event) -> None:
    while not finished.hand_on(taken):
        await trio.sleep(LOOK_EVERY_S)
    enough.set()


class _Finished:
    """The orbits that are complete, as far as there is no gap."""

    def __init__(self, run: Run) -> None:
        self._keys, self._book = run.keys, run.book
        self._slots = run.plan.slots(Results(run.keys, run.book))
        self._rows = len(rows(run.plan.seats))
        self._number = 0
        self._next = self._orbit()

    def hand_on(self, taken: Taken) -> bool:
        """Whether it was enough."""
        while len(self._next) == self._rows:
            games = [game for slot in self._next if (game := self._game(slot)) is not None]
            if len(games) < self._rows:
                break
            number = self._number
            self._number += 1
            self._next = self._orbit()
            if taken(number, games):
                return True
        return False

    def _orbit(self) -> list[Slot]:
        return [slot for slot in islice(self._slots, self._rows) if slot is not None]

    def _game(self, slot: Slot) -> Game | None:
        table, row = self._keys.table_row(slot)
        game = self._book.find(table, slot.orbit, row)
        if game is None:
            return None
        kind = game.kind
        at_fault = tuple(seat for seat in range(len(kind.r)) if kind.faults >> seat & 1)
        return Game(slot.seats.index(0), kind.r, kind.p, game.content, at_fault)
