"""`referee mcp`: a Model Context Protocol server on standard input and output."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from referee.addons.mcp.allowed import Allowed, named
from referee.addons.mcp.cli.check import check_for_client
from referee.addons.mcp.matches import Conditions
from referee.addons.mcp.serve import serve
from referee.games.game import Game
from referee.harness.cli.added import added
from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.limit_options import LimitOptions
from referee.harness.cli.options import NO_REPLAY, RuleOptions, SetupOptions
from referee.harness.cli.signals import run
from referee.harness.cli.standard_streams import read_input, write_output


def mcp(*, bot: Sequence[str] = (), replay: Path | None = None, limits: LimitOptions = LimitOptions()) -> int:
    """Lets an assistant play, over the Model Context Protocol.

    The assistant starts this command itself and speaks to it on standard input and output: its configuration names
    the command `referee` with the argument `mcp`.

    Its tools list games (OpenSpiel's too) and matches, explain rules, play at a seat, verify replays and check bots.

    The assistant may name built-in bots, and bots and maps in the folder in which it starts the command.

    Args:
        bot: NAME=BOT: another bot that the assistant may play against, by its NAME: a bot of any kind, such as
            Gpt='llm:--key-from KEY gpt-5'. May be repeated.
        replay: The folder for the replays, one per match; none: write no replays. Default: a new folder in ./replays.
    """

    def command(game: Game, map: str | None, settings: Sequence[str]) -> tuple[str, ...]:
        return SetupOptions(rules=RuleOptions(map=map, set=settings), limits=limits).command(game)

    conditions = Conditions(
        allowed=Allowed(Path.cwd().resolve(), named(tuple(bot))),
        limits=limits.limits(),
        time=limits.time,
        command=command,
        folder=None if replay == NO_REPLAY else replay,
        keeps=replay != NO_REPLAY,
        services=added("play")().seats,
    )
    checking = replace(conditions, check=partial(check_for_client, conditions))
    run(serve, read_input, write_output, checking)
    return PLAYED
