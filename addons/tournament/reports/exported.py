"""The games of a tournament in the format of other programs, such as PGN."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from referee.addons.tournament.plan import Plan
from referee.addons.tournament.reports.counted_games import of_plan
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.ledger import Line
from referee.addons.tournament.store.reader import Book
from referee.harness.common.errors import UsageError
from referee.harness.common.game_files import Occasion
from referee.harness.common.known_games import find_game
from referee.harness.replay.formats import records
from referee.harness.replay.reader import Replay


def check(name: str, game: str, path: Path, openings: Path | None) -> None:
    """Raises UsageError for a format that cannot hold the games of a tournament, RunError without its extra.

    UsageError also if the path has a file that may not be replaced, such as `openings`, which is read.
    """
    if not records.check(name, find_game(game)):
        raise UsageError(f"--export {name}: a file of this format holds one match, and a tournament has several")
    records.check_place(name, find_game(game), path, openings)


def export(name: str, plan: Plan, folder: Path, book: Book, path: Path, event: str = "") -> tuple[int, int]:
    """Writes the games with a replay to a file, in the order of their rounds. Returns how many, and how many there are.

    Errors as in `records.export_all`.
    """
    lines = sorted(reader.counted_lines(folder, of_plan(plan, book)), key=lambda each: _place(each[1]))
    count = records.export_all(name, _replays(plan, folder, lines, event), find_game(plan.game), path)
    return count, len(lines)


def _replays(
    plan: Plan, folder: Path, lines: Iterable[tuple[Path, Line]], event: str
) -> Iterator[tuple[Replay, Occasion]]:
    for file, line in lines:
        content = reader.replay(folder, file, line)
        if content is not None:
            group, row, _ = _place(line)
            date = datetime.fromtimestamp(line.at, UTC).strftime("%Y.%m.%d")
            site = line.by.rpartition(":")[0]
            yield Replay(file, content), Occasion(event or plan.heading, site, f"{group + 1}.{row + 1}", date)


def _place(line: Line) -> tuple[int, int, str]:
    """Returns the seed group, the row and the line-up of a game."""
    line_up, group, row = line.k.rsplit("/", 2)
    return int(group), int(row), line_up
