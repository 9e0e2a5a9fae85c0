"""How each format ranks the bots, and how it breaks ties."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import groupby

from referee.addons.tournament.formats.games import FINAL, in_order
from referee.addons.tournament.formats.schedules import BRACKETS
from referee.addons.tournament.formats.series import series_ranking
from referee.addons.tournament.formats.swiss import swiss_so_far
from referee.addons.tournament.plan import Plan
from referee.addons.tournament.reports.bracket import bracket_of
from referee.addons.tournament.reports.counted_games import endings, games_of_format
from referee.addons.tournament.reports.play_off import PlayedOff
from referee.addons.tournament.reports.rows import Row
from referee.addons.tournament.reports.ties import Cells, count_ties, untied
from referee.addons.tournament.store.reader import Book
from referee.addons.tournament.ties import SCORE
from referee.games.dice import derive_seed

UNEQUAL = ("ladder", "gauntlet")
"""Formats in which some bots play more games than others, by design."""
ALIKE = ("round-robin", "list-order")
"""Formats in which all bots play as many games in the end."""
RULES = {
    "series": "opponents defeated; of two that are equal, their match decides, of more the games won",
    "groups": "the place in the final, then the place and the score in the group",
    "judged": "the points of the test run",
    "knockout": "the round in which they lost",
    "double-elimination": "the round in which they lost for the second time",
    "ladder": "Elo",
    "gauntlet": "Elo",
}
"""What ranks the bots, by format. All other formats rank by points."""


def ordered(plan: Plan, book: Book, rows: list[Row], cells: Cells, play_off: PlayedOff) -> list[list[int]]:
    """Returns the bots, best first; those of one list share a rank. Guests and copies have none.

    `play_off` comes before the tie-breaks. It has all games: those of void bots have decided rounds of a Swiss.
    """
    left_out = plan.older | plan.void | {entry.ident for entry in plan.bots if entry.guest or entry.copy_of}
    bots = [place for place, entry in enumerate(plan.bots) if entry.ident not in left_out]
    if plan.format == "series":
        ranking = series_ranking(len(plan.bots), _games_won(plan, book))
        return [kept for equal in ranking if (kept := [bot for bot in equal if bot in bots])]
    if plan.format == "groups":
        return _group_order(plan, book, bots)
    if plan.format in BRACKETS:
        places = bracket_of(plan, play_off.results.book).places()  # games of void bots have decided matches, too
        outside = [*({*bots} - {bot for equal in places for bot in equal})]
        return [kept for equal in [*places, outside] if (kept := [bot for bot in equal if bot in bots])]
    if plan.format == "judged":
        paid: Counter[int] = Counter()
        for seats, kind, times in endings(plan, book):
            paid.update(dict.fromkeys(seats, times * max(kind.judged, 0)))
        for bot in bots:
            rows[bot].points = float(paid[bot])
    rests = Counter[int]()
    if plan.format == "swiss":
        place_of = [plan.places[entry.ident] for entry in plan.bots]
        for each in swiss_so_far(plan.field, play_off.results):
            for bot, points in each.byes.items():
                rows[place_of[bot]].byes += points >= plan.games
                rows[place_of[bot]].points += points
                rests[place_of[bot]] += 1
            for bot, won in each.walkovers.items():
                rows[place_of[bot]].byes += won >= plan.games
                rows[place_of[bot]].points += won
                rests[place_of[bot]] += won >= plan.games
    count_ties(plan.ties, plan.games, rows, bots, cells, rests)

    def by_points(bots: list[int]) -> list[list[int]]:
        uneven = is_uneven(plan, [rows[bot] for bot in bots])
        most = max(rows[bot].games for bot in bots) if uneven else None
        order = in_order(bots, {bot: _worth(plan, rows[bot], most) for bot in bots}.__getitem__)
        return [part for equal in play_off.decide(order) for part in untied(plan.ties, equal, rows, cells)]

    return by_points(bots) if plan.groups == 1 else _across_groups(plan, rows, bots, by_points)


def _across_groups(
    plan: Plan, rows: Sequence[Row], bots: Sequence[int], by_points: Callable[[list[int]], list[list[int]]]
) -> list[list[int]]:
    """Ranks the first of all groups before the second ones. Bots of one place rank by points a game.

    A lot decides between equal bots of a group: a group has one winner. Bots of no group are not in this stage.
    """
    keys: dict[int, tuple[int, Fraction]] = {}
    for number in range(1, plan.groups + 1):
        group = [bot for bot in bots if rows[bot].group == number]
        most = max((rows[bot].games for bot in group), default=0)
        lots = {bot: derive_seed(plan.seed, "lot", plan.bots[bot].ident) for bot in group}
        in_group = [bot for equal in by_points(group) for bot in sorted(equal, key=lots.__getitem__)]
        for place, bot in enumerate(in_group):
            keys[bot] = place, -_worth(plan, rows[bot], most) if most else Fraction(0)
    ranked = sorted((bot for bot in bots if bot in keys), key=keys.__getitem__)
    outside = [bot for bot in bots if bot not in keys]
    return [*(list(equal) for _, equal in groupby(ranked, keys.__getitem__)), *([outside] if outside else [])]


def is_uneven(plan: Plan, rows: Sequence[Row]) -> bool:
    """Returns whether bots of a round robin that take part, in one group, have different numbers of games."""
    games = {(row.group, row.games) for row in taking_part(plan, rows)}
    return plan.format in ALIKE and plan.seats == 2 and len(games) > len({group for group, _ in games})


def taking_part(plan: Plan, rows: Sequence[Row]) -> list[Row]:
    """Returns the rows of bots that have games to play in this stage."""
    in_stage = {plan.bots[bot].ident for bot in plan.field.seeds}
    return [row for row in rows if not row.absent and (not in_stage or row.ident in in_stage)]


def _worth(plan: Plan, row: Row, most: int | None) -> Fraction:
    """Returns what ranks a bot: its points, or its rating if some bots play more games by design.

    With more than two seats, where line-ups cannot always be even, its points per game. So it is while bots have
    different numbers of games, of which `most` is the largest; an absent bot has lost those that it does not play.
    """
    if plan.rank_by == SCORE:
        return Fraction(-(10**18) if row.mean is None else round(row.mean.value, 9))
    if most is not None and not row.absent:
        return Fraction(round(2 * row.points), 2 * row.games) if row.games else Fraction(-1)
    if most is not None:
        return Fraction(round(2 * row.points), 2 * most)
    if plan.format in UNEQUAL:
        return Fraction(-(10**9) if row.elo is None else round(row.elo.value, 6))
    if plan.seats > 2:
        return Fraction(round(row.points * 2 * (plan.seats - 1)), row.games) if row.games else Fraction(-1)
    return Fraction(row.points)


def figure(plan: Plan, row: Row, rows: Sequence[Row]) -> str:
    """Returns the figure that ranks a bot, in words; empty if it is no figure of the table."""
    if plan.rank_by == SCORE:
        return "" if row.mean is None else f"{row.mean.value:.3f} a game"
    if plan.format in UNEQUAL:
        return "" if row.elo is None else f"{row.elo.value:+.0f} Elo"
    if plan.stages or plan.groups > 1 or plan.format in RULES.keys() - {"judged"}:
        return ""
    if plan.seats > 2 or is_uneven(plan, rows):
        return f"{row.points / row.games:.2f} points a game"
    return f"{round(row.points, 2):g} points"


def _games_won(plan: Plan, book: Book) -> Counter[tuple[int, int]]:
    """Counts games won by winner and loser, without draws, as the card competition does."""
    won: Counter[tuple[int, int]] = Counter()
    for seats, kind, times in endings(plan, book):
        if kind.r[0] != kind.r[1]:
            winner = kind.r.index(1)
            won[seats[winner], seats[1 - winner]] += times
    return won


def _group_order(plan: Plan, book: Book, bots: list[int]) -> list[list[int]]:
    """Ranks by the final, then by the place in the group, then by the score there."""
    endings: dict[tuple[bool, tuple[int, ...], int], list[tuple[int, float]]] = defaultdict(list)
    for scheduled, game in games_of_format(plan, book):
        line_up = tuple(sorted(scheduled.seats))
        for bot, rank, score in zip(scheduled.seats, game.kind.r, game.kind.p, strict=True):
            endings[scheduled.stage != FINAL, line_up, bot].append((rank, score))
    keys: dict[int, tuple[float, ...]] = {}
    for (is_first, _, bot), played in endings.items():
        rank, score = (sum(values) / len(played) for values in zip(*played, strict=True))
        key = (is_first, rank, -score)
        keys[bot] = min(keys.get(bot, key), key)
    order = sorted(bots, key=lambda bot: (*keys.get(bot, (2.0, 0.0, 0.0)), derive_seed(plan.seed, "lot", bot)))
    last = [bot for bot in order if bot not in keys]
    return [[bot] for bot in order if bot in keys] + ([last] if last else [])
