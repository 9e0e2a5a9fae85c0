"""`--arena`: where web services at the seats of a match find their battles."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from referee.addons.arena.kind import SERVICE
from referee.harness.cli.added import PlayOptions
from referee.harness.cli.options import MORE
from referee.harness.cli.screen import err
from referee.harness.match.match import Match
from referee.harness.seats.roster import MakeSeat, in_processes


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class BattleOptions(PlayOptions):
    """How web services take part."""

    arena: Annotated[str, MORE] = "127.0.0.1:8080"
    """ADDRESS:PORT: where web services find their battles."""

    def seats(self, match: Match) -> AbstractAsyncContextManager[MakeSeat | None]:
        return remote_seats(match, self.arena)


@asynccontextmanager
async def remote_seats(match: Match, bind: str) -> AsyncIterator[MakeSeat]:
    """Yields what makes the seats of web services. Listens at `bind` only if the match has any."""
    if not any(map(SERVICE.plays, match.entrants)):
        yield in_processes
        return
    from referee.addons.web.cli.view import web_extra

    with web_extra("a web service at a seat"):
        from referee.addons.arena.team import open_team_server
    async with open_team_server(bind, match.game) as (address, inside):
        err.print(f"battles are at http://{address}", style="dim")
        yield inside
