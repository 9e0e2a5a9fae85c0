"""Ratings over time: the joint fit of all games up to the end of each day."""

import time
from collections import defaultdict
from itertools import pairwise

from msgspec import Struct

from referee.addons.tournament.arrays import load_numpy
from referee.addons.tournament.plan import Plan
from referee.addons.tournament.reports.counted_games import of_plan, seed_groups
from referee.addons.tournament.statistics.tally import Tally
from referee.addons.tournament.store.reader import Book, Game

DAY_S = 86_400
DAYS = 40
"""The most days for which ratings are fitted: more are thinned out."""


class Point(Struct, frozen=True):
    """A bot's rating at the end of a day."""

    day: int
    """Since 1970, in UTC."""
    elo: float
    """Relative to the average of the bots that had played by then."""
    ident: str
    """The version that played last."""


def history(plan: Plan, book: Book) -> dict[str, list[Point]]:
    """Returns the ratings by name, oldest first. Empty if all games are of one day, or without ratings.

    Versions of a bot are rated as bots of their own; the latest that had played by a day stands for the name.
    """
    days = _by_day(of_plan(plan, book))
    if len(days) < 2 or plan.format == "judged":
        return {}
    load_numpy()
    from referee.addons.tournament.statistics.rating import rate

    ends = sorted(days)
    shown = {ends[-1 - len(ends) * number // DAYS] for number in range(DAYS)} if len(ends) > DAYS else {*ends}
    tally, latest, found = Tally(len(plan.bots)), dict[str, int](), defaultdict[str, list[Point]](list)
    for day in ends:
        for group, contents in seed_groups(plan, days[day]):
            tally.add(group, contents)
            for place in group[0].bots:
                name = plan.bots[place].name
                latest[name] = max(place, latest.get(name, 0))
        if day in shown:
            ratings = rate(tally.bots, tally.weights(), draws=0)
            for name, place in latest.items():
                found[name].append(Point(day, ratings[place].elo.value, plan.bots[place].ident))
    return dict(found)


def _by_day(book: Book) -> dict[int, Book]:
    """Returns the games of each day on which some ended, by the day."""
    days: dict[int, dict[str, dict[int, Game]]] = defaultdict(dict)
    for line_up, games in book.line_ups.items():
        parts: dict[int, dict[int, Game]] = {}
        for number, game in games.items():
            day = int(game.at) // DAY_S
            if day not in parts:
                parts[day] = {}
            parts[day][number] = game
        for day, part in parts.items():
            days[day][line_up] = part
    return {day: book.of(line_ups) for day, line_ups in days.items()}


class Chart(Struct, frozen=True):
    """A line chart of ratings, in the units of its picture."""

    lines: list[tuple[str, str]]
    """Names with the points of their lines, the bot of the page last."""
    changes: list[float]
    """Where a newer version of the bot begins."""
    low: str
    high: str
    first: str
    last: str


WIDTH, HEIGHT = 640.0, 200.0


def chart(history: dict[str, list[Point]], name: str) -> Chart | None:
    """Returns the chart for a bot's page, with all others in the background; None if there is nothing to draw."""
    own = history.get(name, [])
    if len(own) < 2:
        return None
    points = [point for each in history.values() for point in each]
    first, last = min(point.day for point in points), max(point.day for point in points)
    low, high = min(point.elo for point in points), max(point.elo for point in points)

    def x(day: int) -> float:
        return round(WIDTH * (day - first) / max(1, last - first), 1)

    def y(elo: float) -> float:
        return round(HEIGHT * (high - elo) / max(1e-9, high - low), 1)

    order = sorted(history, key=lambda each: each == name)
    drawn = [(each, " ".join(f"{x(point.day)},{y(point.elo)}" for point in history[each])) for each in order]
    changes = [x(after.day) for before, after in pairwise(own) if before.ident != after.ident]
    dates = [time.strftime("%Y-%m-%d", time.gmtime(day * DAY_S)) for day in (first, last)]
    return Chart(drawn, changes, f"{low:+.0f}", f"{high:+.0f}", *dates)
