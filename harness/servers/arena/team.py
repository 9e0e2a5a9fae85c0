"""A team's web service at a seat of a match from the command line: it is told of the battle, and calls us for the rest.

The service gets `POST <url>/<game>` with `{"battleId"}`, as from the Arena (tictactoe.md, C1), and plays over `/start`
and `/play` of the address that we listen on; the header `X-Referee-Arena` says which that is.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

import trio
from starlette.applications import Starlette

from referee.games.contract import Fault, FaultKind, Game
from referee.harness.process.limits import Limits
from referee.harness.programs.spec import Entrant
from referee.harness.seats.roster import Inside
from referee.harness.seats.seat import Seat, Table
from referee.harness.servers.arena.arena_routes import playing
from referee.harness.servers.arena.arena_seat import Compat, RemotePlayer, Terms
from referee.harness.servers.arena.callbacks import CALL_S, CallFailed, call
from referee.harness.servers.arena.runs import REPLY_S, path_of
from referee.harness.servers.hosting import arrivals
from referee.harness.servers.http import ON_ERROR, serving
from referee.protocol.messages import Initialize

ARENA_HEADER = "X-Referee-Arena"


class TeamPlayer(RemotePlayer):
    """A client that is told of its battle by a POST to its service."""

    def __init__(self, url: str, arena_url: str, terms: Terms, nursery: trio.Nursery) -> None:
        super().__init__(str(uuid4()), terms)
        self.url = url
        self._arena_url = arena_url
        self._nursery = nursery
        self._refusal: str | None = None

    async def greet(self, match: Initialize, table: Table) -> Fault | None:
        """A service that cannot be reached, or refuses, has lost like a program that does not greet."""
        await super().greet(match, table)
        sent = trio.Event()
        self._nursery.start_soon(self._announce, sent)
        with trio.move_on_after(CALL_S):
            await sent.wait()
        if self._refusal is not None:
            self.fault = Fault(FaultKind.CRASH, f"initialize: {self._refusal}")
        elif not sent.is_set():
            self.fault = Fault(FaultKind.TIMEOUT, f"initialize: {self.url} was not reached within {CALL_S:g} s")
        return self.fault

    async def _announce(self, sent: trio.Event) -> None:
        try:
            await call(self.url, {"battleId": self.ident}, {ARENA_HEADER: self._arena_url}, REPLY_S, sent)
        except CallFailed as error:
            self._refusal = f"{self.url}: {error}"
        finally:
            sent.set()


@asynccontextmanager
async def open_team_front(bind: str, game: Game, compat: Compat = "seed") -> AsyncIterator[tuple[str, Inside]]:
    """Listens while the block runs: the address, and what makes the seats of teams. UsageError if it cannot listen."""
    terms = Terms(compat)
    clients: dict[str, RemotePlayer] = {}
    path = f"/{path_of(game)}"
    async with arrivals() as arrived, trio.open_nursery() as nursery:
        app = Starlette(routes=playing(path, clients.get), exception_handlers=ON_ERROR)
        async with serving(app, bind, (), arrived) as address:

            def inside(entrant: Entrant, limits: Limits) -> Seat | None:
                if not entrant.remote:
                    return None
                url = f"{entrant.argv[0].rstrip('/')}{path}"
                client = TeamPlayer(url, f"http://{address}", terms, nursery)
                clients[client.ident] = client
                return client

            yield address, inside
        nursery.cancel_scope.cancel()
