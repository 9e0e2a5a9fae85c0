"""What other parts show of an analysis."""

from pathlib import Path

from referee.addons.analysis import record
from referee.addons.analysis.making import made as analysed
from referee.harness.replay.assessment import Assessment, Moment, Point
from referee.harness.replay.reader import Replay


def kept(replay: Path, sha256: str) -> Assessment | None:
    """See `Assessor`."""
    found = record.kept(replay, sha256)
    return None if found is None else _shown(found)


def made(replay: Replay, seconds: float, keep: Path) -> Assessment:
    """See `Assessor`."""
    found = record.kept(keep, replay.sha256)
    if found is None:
        found = analysed(replay, seconds)
        record.keep(keep, found)
    return _shown(found)


def _shown(found: record.Analysis) -> Assessment:
    points = [Point(each.turn, each.expected, each.error) for each in found.points]
    moments = [Moment(each.turn, each.before, each.words) for each in found.moments]
    by = f"{found.by}, with hidden cards as they were" if found.open_cards else found.by
    return Assessment(by, points, moments)
