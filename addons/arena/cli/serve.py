"""`referee serve arena`: the Arena's server."""

import os
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Literal

import trio

from referee.addons.web.cli.view import web_extra
from referee.addons.web.server.host_names import read_aliases
from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.options import NO_REPLAY
from referee.harness.cli.screen import warn
from referee.harness.cli.signals import run
from referee.harness.common.errors import UsageError
from referee.harness.replay.writer import claim_folder

MAX_JOBS = 64


def serve_arena(
    *,
    bind: str = "127.0.0.1:8080",
    alias: Sequence[str] = (),
    compat: Literal["seed", "original"] = "seed",
    allow: Sequence[str] = (),
    coordinator: str | None = None,
    test: bool = False,
    replay: Path | None = None,
    access_log: Path | None = None,
    jobs: int = 1,
) -> int:
    """Plays the battles that a coordinator of the Arena orders.

    Each is played with a team's web service.

    Args:
        bind: ADDRESS:PORT: where to listen.
        alias: A host name under which clients call this server, or HOST:PORT for that port alone. Repeatable.
        compat: Which rules apply where the competition's document and its server differ.
        allow: A host with teams or coordinators that may be called, or *. Repeatable. Default: this machine.
        coordinator: URL: the coordinator's address. Callbacks to it or below it get the environment variable AUTH_TOKEN
            as Authorization; no other address gets it.
        test: Let requests set the time, for the original's own tests. Never use it in a contest.
        replay: The folder for the replays, one per match; none: write no replays. Default: a new folder in ./replays.
        access_log: The file that gets a line for each request: time, address, method, path, status, milliseconds.
        jobs: How many processes play battles. One plays hundreds; use more where its core is full.
    """
    if not 1 <= jobs <= MAX_JOBS:
        raise UsageError(f"--jobs {jobs}: expected 1 to {MAX_JOBS}")
    if test and jobs > 1:
        raise UsageError("--jobs cannot be combined with --test: requests set the time of one process")
    kept = None if replay == NO_REPLAY else replay
    with claim_folder("arena") if replay is None else nullcontext(kept) as folder:
        names = tuple(read_aliases(alias))
        run(_arena, bind, names, compat, frozenset(allow), coordinator, test, folder, access_log, jobs)
    return PLAYED


async def _arena(
    bind: str,
    names: tuple[str, ...],
    compat: Any,
    allow: frozenset[str],
    coordinator: str | None,
    test: bool,
    folder: Path | None,
    log: Path | None,
    jobs: int,
) -> None:
    with web_extra("referee serve"):
        from referee.addons.arena.arena_routes import open_arena
        from referee.addons.arena.callbacks import CallFailed, Coordinator
        from referee.addons.arena.runs import Settings
        from referee.addons.web.cli.serving import announce
    token = os.environ.get("AUTH_TOKEN")
    if token is not None and coordinator is None:
        warn("AUTH_TOKEN is set, but goes to nobody; name the coordinator by --coordinator URL")
    try:
        known = None if coordinator is None else Coordinator(coordinator)
    except CallFailed as error:
        raise UsageError(f"--coordinator {coordinator}: {error}") from None
    settings = Settings(Settings().allow | allow, known, token, folder)
    async with open_arena(bind, settings, compat, names, test, log, jobs) as (address, arena):
        announce(address, "".join(f" /{name}" for name in arena.games), folder)
        await trio.sleep_forever()
