"""An analysis, as it is kept next to its replay and bound to it."""

from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from referee.addons.analysis.curve import Curve
from referee.addons.analysis.moments import Moment
from referee.addons.analysis.words import sentence
from referee.harness.common.errors import UsageError, reason, writing
from referee.harness.common.output import write_whole
from referee.harness.common.paths import open_file
from referee.protocol.errors import UNDECODABLE

VERSION = 4
MOST_SHARE = 4.0
"""No expected score and no error of one is larger."""
MOST_BYTES = 16 << 20
"""A larger file is no analysis."""


class Point(Struct, frozen=True):
    """The expected score of each seat after a turn."""

    turn: int
    expected: tuple[float, ...]
    """The share of the other seats that each beats, from 0 to 1; a tie is half."""
    error: tuple[float, ...]
    """Half of a 95 % interval; 0 with less than two different continuations."""
    continuations: int
    """0 = it is exact, or an engine says so. 1 = others would be the same."""
    exact: bool = False
    """It was searched to the end, or the match was over there."""


class Analysis(Struct, frozen=True):
    """The curve and the moments of a match."""

    analysis: int
    game: str
    sha256: str
    """Of the replay's content, decompressed."""
    by: str
    """Who says so: the built-in bot that played the continuations, such as `@advanced`; an engine; or the search."""
    points: tuple[Point, ...]
    moments: tuple[Moment, ...]
    spec: str
    """The bot that the user named, or the built-in one that was chosen; empty if none was needed."""
    open_cards: bool
    """The continuations had what was hidden as it was, since the game cannot deal it anew."""


def analysis(curve: Curve, moments: list[Moment], sha256: str) -> Analysis:
    """Puts together what is kept."""
    seats = range(len(curve.history.names))
    points = [
        Point(
            each.turn,
            tuple(round(each.expected(seat), 4) for seat in seats),
            tuple(round(each.error(seat), 4) for seat in seats),
            len(each.scores) if each.is_played else 0,
            each.source == "exact",
        )
        for each in curve.in_order()
    ]
    history, open_cards = curve.history, curve.history.open_cards and any(each.continuations for each in points)
    told = tuple(replace(moment, words=sentence(history, moment, open_cards)) for moment in moments)
    return Analysis(VERSION, history.game.name, sha256, curve.by, tuple(points), told, curve.spec, open_cards)


def beside(replay: Path) -> Path:
    """Returns the file of the analysis of a replay."""
    return replay.with_name(f"{replay.name}.analysis.json")


def kept(replay: Path, sha256: str) -> Analysis | None:
    """Returns the analysis beside a replay; None if there is none, or if it belongs to another content."""
    try:
        with open_file(beside(replay)) as file:
            text = file.read(MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UsageError(f"{beside(replay)} cannot be read: {reason(error)}") from error
    try:
        found = msgspec.json.decode(text, type=Analysis) if len(text) <= MOST_BYTES else None
    except UNDECODABLE:
        return None
    return found if found and found.sha256 == sha256 and _fits(found) else None


def _fits(found: Analysis) -> bool:
    """Whether what a file says can be drawn: a stranger may have written it."""
    seats = {len(each) for point in found.points for each in (point.expected, point.error)}
    numbers = (number for point in found.points for number in (*point.expected, *point.error))
    turns = [point.turn for point in found.points]
    same = found.analysis == VERSION and len(seats) == 1 and turns == sorted(turns)
    return same and all(0 <= each <= MOST_SHARE for each in numbers)


def check_place(replay: Path) -> None:
    """UsageError if something else is where the analysis of a replay is kept, RunError if that cannot be read."""
    file = beside(replay)
    with writing(file):
        is_other = file.exists() and not _is_analysis(file)
    if is_other:
        raise UsageError(f"{file} is there and is no analysis: move it, or say --no-keep")


def keep(replay: Path, found: Analysis) -> None:
    """Writes an analysis next to its replay. UsageError if something else is there."""
    check_place(replay)
    file = beside(replay)
    with writing(file):
        write_whole(file, msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")


def _is_analysis(file: Path) -> bool:
    with open_file(file) as opened:
        return opened.read(64).lstrip(b"{ \n").startswith(b'"analysis":')
