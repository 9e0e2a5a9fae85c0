"""`referee team analyse`: why a team loses."""

import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from referee.addons.host.cli.team import Where, fetched_replay
from referee.addons.host.client import Client
from referee.addons.host.lost_games import LostGame, LostGames, taken_together
from referee.addons.host.team_answers import TeamGame
from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.options import POSITIVE, GameFolder, Json, name_folder
from referee.harness.cli.reports.text import printable
from referee.harness.cli.screen import out, print_json, progress, warn
from referee.harness.common.errors import UsageError
from referee.harness.replay.assessment import Assessor, assessor
from referee.harness.replay.lines import GAME_OVER
from referee.harness.replay.reader import Replay
from referee.protocol.text import counted

LEAST_S = 1.0
"""A game is played on for at least so long."""


def analyse(
    *,
    last: Annotated[int, Parameter(validator=POSITIVE)] = 5,
    seconds: Annotated[float, Parameter(validator=Number(gt=0))] = 60.0,
    game: GameFolder = None,
    json: Json = False,
    where: Where = Where(),
) -> int:
    """Shows why you lose: phases, opponents, faults, turns.

    Fetches your last lost games, plays on from their positions as `referee analyse` does, and takes them together.
    Nothing that a replay names is started. Replays and results are kept in the folder `replays`, so that the same game
    takes no time again.

    Args:
        last: How many of your last lost games.
        seconds: How long to play on, at most, for all games together.
    """
    name_folder(game)
    found = assessor()
    if found is None:
        raise UsageError("nothing in this installation finds out where games turn")
    client = where.client
    every = client.got("/team/games", list[TeamGame])
    games = [each for each in every if each.is_lost and each.name][:last]
    if not games:
        out.print("no lost game of which a replay was kept")
        return PLAYED
    lost, skipped = _analysed(client, found, games, seconds)
    for name, why in skipped.items():
        warn(f"{name} is left out: {why}")
    if not lost:
        raise UsageError("none of the lost games can be read")
    together = taken_together(every, lost, skipped)
    if json:
        print_json(together)
    else:
        _show(together, len(games))
    return PLAYED


def _analysed(
    client: Client, assessor: Assessor, games: Sequence[TeamGame], seconds: float
) -> tuple[list[LostGame], dict[str, str]]:
    """Returns where the games turned, and why others cannot be read. Ctrl-C ends it with those that are done."""
    lost: list[LostGame] = []
    skipped: dict[str, str] = {}
    ends_at = time.monotonic() + seconds
    with progress() as show:
        for number, game in enumerate(games):
            show(f"game {number + 1} of {len(games)}: plays on from its positions")
            left_s = (ends_at - time.monotonic()) / (len(games) - number)
            try:
                lost.append(_one(assessor, game, fetched_replay(client, game.name), max(LEAST_S, left_s)))
            except UsageError as error:
                skipped[printable(game.name)] = printable(str(error))
            except KeyboardInterrupt:
                if not lost:
                    raise
                break
    return lost, skipped


def _one(assessor: Assessor, game: TeamGame, file: Path, seconds: float) -> LostGame:
    """Returns where a game turned. UsageError for a replay that follows no rules, or has no such seat."""
    replay = Replay(file)
    if not 0 <= game.seat < len(replay.header.setup.names):
        raise UsageError(f"{file} has no seat {game.seat}, which is yours as the contest says")
    assessment = assessor.made(replay, seconds, file)
    faults = () if replay.ending is None else replay.ending.faults
    own = tuple(fault for fault in faults if fault.player == game.seat and fault.penalty != GAME_OVER)
    return LostGame(game, str(file), assessment, own)


def _show(found: LostGames, asked: int) -> None:
    out.print(f"{len(found.games)} of your last {counted(asked, 'lost game')}, as {found.by} sees them")
    for phase in found.phases:
        change = phase.after - phase.before
        out.print(f"  {phase.name:13} {phase.before:4.0%} → {phase.after:4.0%}  {change:+4.0%}", highlight=False)
    for rivals in found.rivals:
        out.print(printable(f"against {rivals.rivals}: lost {rivals.lost} of {rivals.games}"), highlight=False)
    for faults in found.faults:
        where = f"{counted(faults.faults, 'fault')} in {counted(faults.games, 'game')}"
        out.print(f"{faults.kind}: {where}, {faults.cost:+.0%} of the match in each", highlight=False)
    for look in found.moments:
        out.print(printable(f"{look.game}: {look.words}"), highlight=False)
        file = shlex.quote(look.file)
        out.print(f"  referee replay show {file} --from {look.since} --to {look.turn}", style="dim")
        out.print(f"  referee fork {file} --turn {look.since}", style="dim")
