"""A front from its start to its end: the server, the matches, and nothing left behind."""

import socket
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import trio

from referee.harness.process.limits import Limits
from referee.harness.programs.spec import Entrant
from referee.harness.seats.roster import Roster, open_roster
from referee.harness.seats.seat import Seat
from referee.harness.servers.arena import arena_routes
from referee.harness.servers.arena.arena_seat import Compat, Terms
from referee.harness.servers.arena.runs import Arena, Settings
from referee.harness.servers.arena.workers import Crew
from referee.harness.servers.arrival import Arrivals
from referee.harness.servers.http import serving

if TYPE_CHECKING:
    from referee.harness.servers.aibg.lobby import Rooms
    from referee.harness.servers.users import Gatekeeper


@asynccontextmanager
async def open_arena(
    bind: str | socket.socket,
    settings: Settings,
    compat: Compat = "seed",
    names: Iterable[str] = (),
    test: bool = False,
    crew: Crew | None = None,
) -> AsyncIterator[tuple[str, Arena]]:
    """The Arena's front while the block runs: its address and itself. UsageError if the address cannot be had.

    `test`: the time of day is what requests say, and opponents can be held back. `crew`: several processes are the
    Arena, on a socket that listens already.
    """
    terms = Terms(compat, now=time.time, real=False) if test else Terms(compat)
    async with _hosting() as (roster, seats, nursery), arrivals() as arrived:
        crew = crew or Crew()
        arena = Arena(roster, seats, nursery, terms, settings, crew)
        crew.worker_of, crew.on_run = arena_routes.places(arena), arena.taken
        app, others = arena_routes.app(arena, test), crew if crew.of > 1 else None
        async with serving(app, bind, names, arrived, others) as address, crew.working():
            yield address, arena


@asynccontextmanager
async def open_aibg(
    bind: str,
    keeper: "Gatekeeper",
    names: Iterable[str] = (),
    replays: Path | None = None,
    seed: int | None = None,
) -> AsyncIterator[tuple[str, "Rooms"]]:
    """AIBG's front while the block runs: its address and its games. UsageError if the address cannot be had.

    `replays` is the folder of the records, one a game; `seed` what the seeds of all games are derived from.
    """
    from referee.harness.servers.aibg import (
        aibg_routes,  # tokens and passwords take 11 MiB, which the Arena does without
    )
    from referee.harness.servers.aibg.lobby import Rooms

    async with _hosting() as (roster, seats, nursery), arrivals() as arrived:
        rooms = Rooms(roster, seats, nursery, replays, seed)
        async with serving(aibg_routes.app(rooms, keeper), bind, names, arrived) as address:
            yield address, rooms


@asynccontextmanager
async def _hosting() -> AsyncIterator[tuple[Roster, dict[Entrant, Seat], trio.Nursery]]:
    """A roster that gives out the seats of a table, and a nursery for matches, which ends with the block."""
    seats: dict[Entrant, Seat] = {}

    def inside(entrant: Entrant, limits: Limits) -> Seat | None:
        return seats.pop(entrant, None)

    async with open_roster(Limits(), inside=inside) as roster, trio.open_nursery() as nursery:
        try:
            yield roster, seats, nursery
        finally:
            nursery.cancel_scope.cancel()


@asynccontextmanager
async def arrivals() -> AsyncIterator[Arrivals]:
    """Knows when bytes came, while the block runs."""
    instrument = Arrivals()
    trio.lowlevel.add_instrument(instrument)
    try:
        yield instrument
    finally:
        trio.lowlevel.remove_instrument(instrument)
