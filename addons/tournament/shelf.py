"""What `referee view` shows of a tournament's folder."""

from pathlib import Path

from referee.addons.tournament.plan import read_plan
from referee.addons.tournament.reports.all_stages import all_standings
from referee.addons.tournament.reports.bracket_drawing import Drawing, drawing
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.ledger import LINES, PLAN
from referee.addons.tournament.store.replay_source import LedgerShelf
from referee.addons.web.app import Brackets
from referee.addons.web.replay_list import Among, ReplayList, Titled


def replays(place: Path) -> ReplayList | None:
    """Returns the games of a tournament's folder; None for another place."""
    if not (place / LINES).is_dir():
        return None
    if (place / PLAN).is_file():
        read_plan(place / PLAN)  # it finds the game by the folder's copy of the rules
    return LedgerShelf(place)


def final(place: Path, replays: ReplayList) -> tuple[ReplayList, Brackets] | None:
    """Returns the games of a tournament's brackets, or those between the first two; None for another place."""
    if not (place / PLAN).is_file():
        return None
    plan = read_plan(place / PLAN)
    if conditions := plan.bracket_conditions:

        def brackets() -> list[Drawing]:
            now = all_standings(read_plan(place / PLAN), reader.read(place), chances=False, rated=False)
            return [drawing(bracket) for bracket in now.brackets]

        return Titled(replays, tuple(conditions)), brackets
    rows = all_standings(plan, reader.read(place), chances=False).rows
    return Among(replays, frozenset(row.name for row in rows[:2])), list
