"""`referee mcp`: a Model Context Protocol server on standard input and output."""

import os
from collections.abc import Sequence
from pathlib import Path

import trio

from referee.games.game import Game
from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.limit_options import LimitOptions
from referee.harness.cli.options import NO_REPLAY, RuleOptions, SetupOptions
from referee.harness.cli.signals import run
from referee.harness.servers.mcp.matches import Conditions
from referee.harness.servers.mcp.serve import serve

READ_BYTES = 1 << 16


def mcp(*, replay: Path | None = None, limits: LimitOptions = LimitOptions()) -> int:
    """Lets an assistant play, over the Model Context Protocol.

    The assistant starts this command itself and speaks to it on standard input and output.

    Args:
        replay: The folder for the replays, one per match; none: write no replays. Default: a new folder in ./replays.
    """

    def command(game: Game, map: str | None, settings: Sequence[str]) -> tuple[str, ...]:
        return SetupOptions(rules=RuleOptions(map=map, set=settings), limits=limits).command(game)

    conditions = Conditions(
        limits=limits.limits(),
        time=limits.time,
        command=command,
        folder=None if replay == NO_REPLAY else replay,
        keeps=replay != NO_REPLAY,
    )
    run(serve, _read, _write, conditions)
    return PLAYED


async def _read() -> bytes:
    """Reads in a thread, so that any kind of file can be standard input."""
    return await trio.to_thread.run_sync(os.read, 0, READ_BYTES, abandon_on_cancel=True)


async def _write(line: bytes) -> None:
    await trio.to_thread.run_sync(_write_all, line, abandon_on_cancel=True)  # the client may not read any more


def _write_all(line: bytes) -> None:
    while line:
        line = line[os.write(1, line) :]
