"""Opens the Arena's and AIBG's servers, and closes their matches with them."""

import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from referee.harness.servers.arena import arena_routes
from referee.harness.servers.arena.arena_seat import Compat, Terms
from referee.harness.servers.arena.runs import Arena, Settings
from referee.harness.servers.http import serving
from referee.harness.servers.match_host import MatchHost

if TYPE_CHECKING:
    from referee.harness.servers.aibg.lobby import Lobby
    from referee.harness.servers.users import Gatekeeper


@asynccontextmanager
async def open_arena(
    bind: str, settings: Settings, compat: Compat = "seed", names: Iterable[str] = (), test: bool = False
) -> AsyncIterator[tuple[str, Arena]]:
    """Serves the Arena while the block runs, and yields its address and itself. Raises UsageError.

    With `test`, requests set the time of day and can hold opponents back.
    """
    terms = Terms(compat, now=time.time, real=False) if test else Terms(compat)
    host = MatchHost(settings.seed)
    async with host.open():
        arena = Arena(host, terms, settings)
        async with serving(arena_routes.app(arena, test), bind, names) as address:
            yield address, arena


@asynccontextmanager
async def open_aibg(
    bind: str,
    keeper: "Gatekeeper",
    names: Iterable[str] = (),
    replays: Path | None = None,
    seed: int | None = None,
) -> AsyncIterator[tuple[str, "Lobby"]]:
    """Serves AIBG while the block runs, and yields its address and its games. Raises UsageError.

    `replays` is the folder of the replays, one a game. The seeds of all games are derived from `seed`.
    """
    # Imported here: tokens and passwords take 11 MiB, which the Arena does not need.
    from referee.harness.servers.aibg import aibg_routes
    from referee.harness.servers.aibg.lobby import Lobby

    host = MatchHost(seed)
    async with host.open():
        lobby = Lobby(host, replays)
        async with serving(aibg_routes.app(lobby, keeper), bind, names) as address:
            yield address, lobby
