"""The closest games of a tournament, and where they turned."""

from collections.abc import Sequence
from heapq import nsmallest
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from referee.addons.tournament.reports.site_games import SiteGames
from referee.addons.tournament.store.ledger import Line
from referee.addons.tournament.store.reader import replay as kept_replay
from referee.harness.common.errors import UsageError
from referee.harness.replay.assessment import Assessment, assessor
from referee.harness.replay.reader import Replay

SECONDS = 10.0
"""How long each game is played on from its positions."""
FOLDER = "analyses"
"""The folder of a tournament in which what was found is kept."""


class Close(Struct, frozen=True):
    """A close game."""

    line: Line
    assessment: Assessment


def closest(folder: Path, games: SiteGames, count: int) -> list[Close]:
    """Returns the closest of the listed games whose replays were kept, and where each turned.

    What was found before is kept. UsageError if nothing here finds out where games turn.
    """
    if count < 1:
        return []
    found = assessor()
    if found is None:
        raise UsageError("--analyse: nothing in this installation finds out where games turn; leave it out")
    close = []
    for file, line in _in_order(games, count):
        content = kept_replay(folder, file, line)
        if content is None:
            continue
        with TemporaryDirectory(prefix="referee-") as scratch:
            path = Path(scratch, "game.jsonl")
            path.write_bytes(content)
            (folder / FOLDER).mkdir(exist_ok=True)
            keep = folder / FOLDER / f"{line.k.replace('/', '_')}.jsonl"
            close.append(Close(line, found.made(Replay(path), SECONDS, keep)))
    return close


def _in_order(games: SiteGames, count: int) -> Sequence[tuple[Path, Line]]:
    kept = [(file, line) for file, line in games.lines.values() if line.z is not None]
    return nsmallest(count, kept, key=lambda each: (margin(each[1]), -each[1].t, each[1].k))


def margin(line: Line) -> float:
    """Returns by how much the best seat is ahead of the second, as a share of both; 0 for a tie."""
    if len(line.r) < 2 or list(line.r).count(1) > 1:
        return 0.0
    best, second = (line.p[seat] for seat in sorted(range(len(line.r)), key=lambda seat: line.r[seat])[:2])
    return abs(best - second) / ((abs(best) + abs(second)) or 1.0)
