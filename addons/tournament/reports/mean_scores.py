"""The mean score of each bot's games, where scores such as chips rank the bots."""

from collections import defaultdict
from collections.abc import Sequence

from referee.addons.tournament.plan import Plan
from referee.addons.tournament.reports.counted_games import line_ups_of
from referee.addons.tournament.store.reader import Book, Kind
from referee.harness.match.interval import Interval, mean_interval


def mean_scores(plan: Plan, book: Book) -> list[Interval | None]:
    """Returns the mean score of a game by bot, with its interval; None without games.

    The unit is the seed group: its games have the same luck, such as the same cards.
    """
    units: list[list[tuple[float, int]]] = [[] for _ in plan.bots]
    for orders, games in line_ups_of(plan, book):
        groups: dict[int, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
        for number, game in games.items():
            group, row = divmod(number, Book.ROWS)
            for bot, score in zip(orders[row], worth(plan, game.kind), strict=True):
                groups[group][bot].append(score)
        for paid in groups.values():
            for bot, scores in paid.items():
                units[bot].append((sum(scores), len(scores)))
    return [mean_interval(each) if each else None for each in units]


def worth(plan: Plan, kind: Kind) -> Sequence[float]:
    """Returns what a game counts for each seat: what it paid, unless a fault has decided it."""
    lost = [bool(kind.faults >> seat & 1) or gone for seat, gone in enumerate(kind.expelled)]
    return kind.p if plan.stakes is None or not any(lost) else plan.stakes.after_faults(lost)
