"""Breaks ties as FIDE's tie-break regulations do (Handbook C.07, 2024).

Points are those of the standings, so a round of a Swiss is worth as many as it has games for two bots. A round without
a played game, a bye or one decided by an expulsion, counts as played against an opponent with the bot's own points
(FIDE's dummy opponent, article 16.4). Opponents count with the points that the table shows: FIDE's corrections for
rounds that an opponent did not want to play (16.3) have no counterpart, since no bot asks for a bye.
"""

import math
from collections.abc import Mapping, Sequence

from referee.addons.tournament.formats.games import in_order
from referee.addons.tournament.reports.rows import Cell, Row
from referee.addons.tournament.ties import Tie

Cells = Mapping[int, Mapping[int, Cell]]
SHOWN = (Tie.BUCHHOLZ, Tie.CUT, Tie.MEDIAN, Tie.SONNEBORN_BERGER)
"""Those with a column of their own. The others have one anyway, or the crosstable."""


def count_ties(
    ties: Sequence[Tie], games: int, rows: Sequence[Row], bots: Sequence[int], cells: Cells, rests: Mapping[int, int]
) -> None:
    """Sets the rows' tie-breaks, after their points.

    `games`: how many two bots play in a round; `rests`: by bot, the number of rounds without an opponent.
    """
    shown = [tie for tie in ties if tie in SHOWN]
    for bot in bots if shown else ():
        opponents, sonneborn_berger = _opponents(games, rows, bot, cells.get(bot, {}), rests.get(bot, 0))
        values = {
            Tie.BUCHHOLZ: sum(opponents),
            Tie.CUT: sum(opponents[1:]),
            Tie.MEDIAN: sum(opponents[1:-1]),
            Tie.SONNEBORN_BERGER: sonneborn_berger,
        }
        rows[bot].ties = {tie.value: values[tie] for tie in shown}


def _opponents(
    games: int, rows: Sequence[Row], bot: int, met: Mapping[int, Cell], rests: int
) -> tuple[list[float], float]:
    """Returns the points of the opponent of each round, sorted, and the Sonneborn-Berger score."""
    own = rows[bot].points
    opponents, sonneborn_berger, earned = [own] * rests, 0.0, 0.0
    for rival, cell in met.items():
        points = own if cell.forfeits == cell.games else rows[rival].points
        opponents += [points] * math.ceil(cell.games / games)
        sonneborn_berger += points * cell.points
        earned += cell.points
    return sorted(opponents), sonneborn_berger + own * (own - earned)  # the rest of its points are those of byes


def untied(ties: Sequence[Tie], equal: list[int], rows: Sequence[Row], cells: Cells) -> list[list[int]]:
    """Returns bots that are equal so far in their order; those of one list share a rank."""
    groups = [equal]
    for tie in ties:
        groups = [part for group in groups for part in (_split(tie, group, rows, cells) if group[1:] else [group])]
    return groups


def _split(tie: Tie, equal: list[int], rows: Sequence[Row], cells: Cells) -> list[list[int]]:
    if tie is Tie.DIRECT:
        return _by_direct_games(equal, cells)
    if tie is Tie.WINS:
        return in_order(equal, lambda bot: rows[bot].wins)
    if tie is Tie.RATING:
        return in_order(equal, lambda bot: -math.inf if (elo := rows[bot].elo) is None else round(elo.value, 6))
    return in_order(equal, lambda bot: rows[bot].ties[tie.value])


def _by_direct_games(equal: list[int], cells: Cells) -> list[list[int]]:
    """Ranks by the points in games among the tied bots, if all of these have met equally often.

    Those that are equal again are ranked by the games among themselves (article 6.1).
    """
    met = [[cells.get(bot, {}).get(rival, Cell()) for rival in equal if rival != bot] for bot in equal]
    if len({cell.games for each in met for cell in each}) != 1:
        return [equal]
    points = {bot: sum(cell.points for cell in each) for bot, each in zip(equal, met, strict=True)}
    groups = in_order(equal, points.__getitem__)
    if len(groups) == 1:
        return groups
    return [part for group in groups for part in (_by_direct_games(group, cells) if group[1:] else [group])]
