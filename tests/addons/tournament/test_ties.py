"""Tie-breaks, compared with a second implementation after FIDE's Handbook C.07 on random tournaments."""

import csv
import io
import random
from collections.abc import Sequence
from itertools import groupby

import pytest
from written_games import line, plan, standings_of

from referee.addons.tournament.format_options import default_ties
from referee.addons.tournament.formats.games import Outcome, ScheduledGame
from referee.addons.tournament.plan import Plan
from referee.addons.tournament.reports import standings_text
from referee.addons.tournament.reports.rows import Standings
from referee.addons.tournament.ties import Tie, parsed_ties
from referee.harness.common.errors import UsageError

Round = dict[int, list[tuple[int, float, bool]]]
"""By bot, its games: the opponent, what it won, and whether the game was played. A bot with a bye has none."""


def played(luck: random.Random, plan: Plan, forfeits: float = 0.0) -> tuple[Standings, list[Round]]:
    """Plays a random tournament. Returns its standings and, round by round, what each bot won."""
    results: dict[ScheduledGame, Outcome] = {}
    rounds: list[Round] = []
    for is_wait, waiting in groupby(plan.scheduled_games(results), lambda game: game is None):
        if not is_wait:
            rounds.append(a_round(luck, plan, [game for game in waiting if game is not None], results, forfeits))
    lines = [
        line(plan, game, outcome.ranks, number, p=outcome.points, forfeit=outcome.forfeit)
        for number, (game, outcome) in enumerate(results.items(), start=1)
    ]
    return standings_of(plan, lines, chances=False, rated=False), rounds


def a_round(
    luck: random.Random,
    plan: Plan,
    games: Sequence[ScheduledGame],
    results: dict[ScheduledGame, Outcome],
    forfeits: float,
) -> Round:
    """Plays a round at random; of a share of the pairs, the first bot was expelled."""
    found: Round = {bot: [] for bot in range(len(plan.bots))}
    lost = {min(game.seats): luck.random() < forfeits for game in games}
    for game in games:
        first = min(game.seats)
        ranks = luck.choice(((1, 2), (2, 1), (1, 1)))
        if lost[first]:
            ranks = (2, 1) if game.seats[0] == first else (1, 2)
        results[game] = Outcome(ranks, tuple(float(rank == 1) for rank in ranks), lost[first])
        for seat, bot in enumerate(game.seats):
            own, other = ranks[seat], ranks[1 - seat]
            found[bot].append((game.seats[1 - seat], (own < other) + (own == other) / 2, not lost[first]))
    return found


def by_fide(rounds: Sequence[Round], bots: int, games: int) -> list[dict[Tie, float]]:
    """Returns the tie-breaks of every bot, each round at a time, with dummy opponents for those without a game."""
    points = [0.0] * bots
    for each in rounds:
        for bot in range(bots):
            points[bot] += sum(won for _, won, _ in each[bot]) if each[bot] else games
    found = []
    for bot in range(bots):
        scores, berger = [], 0.0
        for each in rounds:
            is_played = any(was_played for _, _, was_played in each[bot])
            won = sum(share for _, share, _ in each[bot]) if each[bot] else games
            against = points[each[bot][0][0]] if is_played else points[bot]
            scores.append(against)
            berger += against * won
        low, high = min(scores), max(scores)
        found.append(
            {
                Tie.BUCHHOLZ: sum(scores),
                Tie.CUT: sum(scores) - low,
                Tie.MEDIAN: sum(scores) - low - high,
                Tie.SONNEBORN_BERGER: berger,
            }
        )
    return found


@pytest.mark.parametrize("forfeits", [0.0, 0.2])
def test_tie_breaks_of_swiss_tournaments_are_fides(forfeits: float) -> None:
    luck = random.Random(f"swiss {forfeits}")
    shown = (Tie.BUCHHOLZ, Tie.CUT, Tie.MEDIAN, Tie.SONNEBORN_BERGER)
    byes = 0
    for seed in range(100):
        bots = luck.randrange(3, 13)
        found, rounds = played(luck, plan("swiss", bots, ties=shown, seed=seed), forfeits)
        pairs = [(bot, each[bot][0][0]) for each in rounds for bot in each if each[bot]]
        if forfeits and len(set(pairs)) < len(pairs):
            continue  # a rematch of which one half was played
        expected = by_fide(rounds, bots, 2)
        for row in found.rows:
            assert row.ties == {tie.value: expected[int(row.name[4:])][tie] for tie in shown}
            byes += row.byes
        keys = [(row.points, *row.ties.values()) for row in found.rows]
        assert keys == sorted(keys, reverse=True)
        assert [row.rank for row in found.rows] == [1 + sum(other > key for other in keys) for key in keys]
    assert byes > 20


def by_direct(games: Round, group: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Ranks bots by the points in games among them, and the equal ones again by those among themselves."""
    totals = {bot: sum(won for rival, won, _ in games[bot] if rival in group) for bot in group}
    parts = [tuple(bot for bot in group if totals[bot] == each) for each in sorted(set(totals.values()))[::-1]]
    return parts if len(parts) == 1 else [last for part in parts for last in by_direct(games, part)]


def test_round_robins_are_ranked_by_direct_games_and_then_sonneborn_berger() -> None:
    """Of three tied bots, the games among them decide, and then those of the two that are still equal."""
    luck = random.Random("round robin")
    ties = default_ties("round-robin", 2)
    assert ties == (Tie.DIRECT, Tie.SONNEBORN_BERGER, Tie.WINS)
    for seed in range(100):
        bots = luck.randrange(3, 7)
        found, [whole] = played(luck, plan("round-robin", bots, ties=ties, seed=seed))
        scores = {bot: sum(won for _, won, _ in whole[bot]) for bot in whole}
        berger = {bot: sum(won * scores[rival] for rival, won, _ in whole[bot]) for bot in whole}
        wins = {bot: sum(won == 1 for _, won, _ in whole[bot]) for bot in whole}

        expected: list[int] = []
        for score in sorted(set(scores.values()), reverse=True):
            for part in by_direct(whole, tuple(bot for bot in whole if scores[bot] == score)):
                expected += sorted(part, key=lambda bot: (berger[bot], wins[bot]), reverse=True)
        worth = {bot: (berger[bot], wins[bot]) for bot in whole}
        assert [worth[int(row.name[4:])] for row in found.rows] == [worth[bot] for bot in expected]
        assert [scores[int(row.name[4:])] for row in found.rows] == [scores[bot] for bot in expected]


def test_tables_have_the_tie_breaks_of_the_plan() -> None:
    ties = default_ties("swiss", 2)
    assert ties[:3] == (Tie.CUT, Tie.BUCHHOLZ, Tie.SONNEBORN_BERGER)
    found, _ = played(random.Random(1), plan("swiss", 7, ties=ties))
    assert standings_text.headers(found)[-3:] == ("Buchholz cut 1", "Buchholz", "Sonneborn-Berger")
    assert all(len(standings_text.cells(row, standings_text.headers(found))) == 15 for row in found.rows)
    line = next(csv.DictReader(io.StringIO(standings_text.as_csv(found))))
    assert float(line["buchholz_cut_1"]) == found.rows[0].ties["buchholz-cut-1"]
    assert "then Buchholz cut 1 (the points of all opponents but the weakest)" in found.ranking


@pytest.mark.parametrize("text", ["bucholz", "", "direct,direct", "none,direct"])
def test_an_unknown_tie_break_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--ties"):
        parsed_ties(text)
    assert parsed_ties("none") == () and parsed_ties("wins, direct") == (Tie.WINS, Tie.DIRECT)
