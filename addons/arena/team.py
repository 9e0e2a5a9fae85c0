"""A team's web service at a seat of a match that was started from the command line.

The service receives `POST <url>/<game>` with `{"battleId"}`, as from the Arena (tictactoe.md, C1), and then plays over
`/start` and `/play` of our address, which the header `X-Referee-Arena` names.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

import trio
from starlette.applications import Starlette

from referee.addons.arena.arena_routes import player_routes
from referee.addons.arena.arena_seat import ArenaSeat, Compat, Terms
from referee.addons.arena.callbacks import CALL_S, CallFailed, call
from referee.addons.arena.kind import SERVICE
from referee.addons.arena.runs import REPLY_S, path_of
from referee.addons.web.serving.http import ON_ERROR, serving
from referee.games.contract import Fault, FaultKind
from referee.games.game import Game
from referee.harness.process.limits import Limits
from referee.harness.programs.entrant import Entrant
from referee.harness.seats.roster import MakeSeat
from referee.harness.seats.seat import MatchContext, Reply, Seat
from referee.protocol.messages import Initialize

ARENA_HEADER = "X-Referee-Arena"


class TeamSeat(ArenaSeat):
    """A client that learns of its battle from a POST to its service."""

    def __init__(self, url: str, arena_url: str, terms: Terms, nursery: trio.Nursery) -> None:
        super().__init__(str(uuid4()), terms)
        self.url = url
        self._arena_url = arena_url
        self._nursery = nursery
        self._refusal: str | None = None

    async def greet(self, match: Initialize, context: MatchContext) -> Reply:
        """Announces the battle. A service that refuses or is not reached has lost."""
        await super().greet(match, context)
        sent = trio.Event()
        self._nursery.start_soon(self._announce, sent)
        with trio.move_on_after(CALL_S):
            await sent.wait()
        if self._refusal is not None:
            self.fault = Fault(FaultKind.CRASH, f"initialize: {self._refusal}")
        elif not sent.is_set():
            self.fault = Fault(FaultKind.TIMEOUT, f"initialize: {self.url} was not reached within {CALL_S:g} s")
        return Reply(self.fault)

    async def _announce(self, sent: trio.Event) -> None:
        try:
            await call(self.url, {"battleId": self.ident}, {ARENA_HEADER: self._arena_url}, REPLY_S, sent)
        except CallFailed as error:
            self._refusal = f"{self.url}: {error}"
        finally:
            sent.set()


@asynccontextmanager
async def open_team_server(bind: str, game: Game, compat: Compat = "seed") -> AsyncIterator[tuple[str, MakeSeat]]:
    """Serves while the block runs, and yields the address and what makes the seats of teams. Raises UsageError."""
    terms = Terms(compat)
    clients: dict[str, ArenaSeat] = {}
    path = f"/{path_of(game)}"
    app = Starlette(routes=player_routes(clients.get), exception_handlers=ON_ERROR)
    async with trio.open_nursery() as nursery, serving(app, bind, ()) as (address, link):
        terms.now, terms.latest = link.clock.now, link.latest

        def inside(entrant: Entrant, limits: Limits) -> Seat | None:
            if not SERVICE.plays(entrant):
                return None
            url = f"{entrant.argv[0].rstrip('/')}{path}"
            client = TeamSeat(url, f"http://{address}", terms, nursery)
            clients[client.ident] = client
            return client

        yield address, inside
        nursery.cancel_scope.cancel()
