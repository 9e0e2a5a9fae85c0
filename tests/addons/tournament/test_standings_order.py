"""The order of standings and the games that count, which are the same in any order of lines."""

import random
from itertools import groupby, islice

import msgspec
import pytest
from written_games import DRAWN, LOST, WON, line, standings_of

from referee.addons.tournament.formats.games import Outcome, ScheduledGame, Seating
from referee.addons.tournament.keys import Keys
from referee.addons.tournament.plan import Entry, Plan, identified
from referee.addons.tournament.reports.rows import Standings
from referee.addons.tournament.ties import Tie

Played = dict[ScheduledGame, tuple[int, ...]]
"""Ranks by seat."""


def plan(format: str, bots: int, **more: object) -> Plan:
    entries = identified([Entry(name, "", name * 64, "@random") for name in "abcdefgh"[:bots]])
    ties = (Tie.DIRECT,) if format in ("round-robin", "list-order", "swiss") and more.get("seats", 2) == 2 else ()
    return Plan("tictactoe", format, 1, entries, **{"ties": ties} | more)  # type: ignore[arg-type]


def table_of(plan: Plan, played: Played, **more: object) -> Standings:
    return standings_of(plan, lines(plan, played, **more), chances=False)


def lines(plan: Plan, played: Played, **more: object) -> list[bytes]:
    return [line(plan, game, ranks, number, **more) for number, (game, ranks) in enumerate(played.items(), start=1)]


def places(found: Standings) -> dict[str, int]:
    return {row.name: row.rank for row in found.rows}


def play(plan: Plan, rounds: int | None = None) -> Played:
    """Plays games that the first bot of the list wins, to the end or to the given wait for results."""
    results: dict[ScheduledGame, Outcome] = {}
    scheduled = groupby(plan.scheduled_games(results), lambda game: game is None)
    for games in islice(([*games] for is_wait, games in scheduled if not is_wait), rounds):
        for each in filter(None, games):
            ranks = tuple(1 + sum(other < bot for other in each.seats) for bot in each.seats)
            results[each] = Outcome(ranks, tuple(map(float, ranks)))
    return {game: outcome.ranks for game, outcome in results.items()}


def test_standings_of_four_seats_are_equal_to_the_last_digit_in_any_order_of_games() -> None:
    dice = random.Random(5)
    four = plan("round-robin", 8, seats=4, games=4)
    scheduled = [game for game in four.scheduled_games({}) if game is not None]
    written = lines(four, {game: tuple(dice.sample((1, 2, 3, 4), 4)) for game in scheduled})
    first = standings_of(four, written, chances=False)
    for _ in range(10):
        dice.shuffle(written)
        assert standings_of(four, written, chances=False) == first


def test_thirds_of_points_that_come_to_the_same_share_a_rank() -> None:
    """a is always second, third and last but one; b the same the other way round."""
    four = plan("round-robin", 4, seats=4, games=24)
    ranks = [(2, 3, 1, 4), (3, 2, 4, 1), (2, 3, 1, 4), (3, 2, 1, 4), (3, 2, 4, 1), (2, 3, 4, 1)]
    played = {ScheduledGame((0, 1, 2, 3), number): each for number, each in enumerate(ranks)}
    assert places(table_of(four, played)) == dict.fromkeys("abcd", 1)


def test_more_games_of_four_do_not_rank_a_bot_higher() -> None:
    """Six bots cannot play equally often: one that won all its games is ahead of one that played more."""
    four = plan("round-robin", 6, seats=4)
    played = {
        ScheduledGame((0, 1, 2, 3), 0): (1, 2, 3, 4),
        ScheduledGame((1, 2, 3, 4), 0): (1, 2, 3, 4),
        ScheduledGame((1, 2, 4, 5), 0): (1, 3, 4, 2),
    }
    found = table_of(four, played)
    assert [row.name for row in found.rows][:2] == ["a", "b"]
    assert found.rows[0].points == 1 and found.rows[1].points == pytest.approx(2 + 2 / 3)


@pytest.mark.parametrize("format", ["gauntlet", "ladder"])
def test_the_rating_ranks_where_some_bots_play_more(format: str) -> None:
    """a has lost to all others but has the most points, because it was in all games."""
    many = plan(format, 6, seating=Seating.FIXED)
    played = {ScheduledGame((0, rival), number): (2, 1) for rival in range(1, 6) for number in range(3)}
    played |= {ScheduledGame((0, rival), 3): (1, 2) for rival in range(1, 6)}
    found = table_of(many, played)
    assert found.rows[-1].name == "a" and found.rows[-1].points == 5 > found.rows[0].points
    assert places(found) == {"a": 6} | dict.fromkeys("bcdef", 1)


def test_games_among_tied_bots_break_the_tie_if_all_of_them_met_equally_often() -> None:
    """a has beaten b, and d has beaten c. Four tied bots of which two never met share a rank."""
    four = plan("round-robin", 4, seating=Seating.FIXED, games=1)
    beaten = dict.fromkeys([(0, 1), (0, 3), (1, 2), (1, 3)], WON) | dict.fromkeys([(0, 2), (2, 3)], LOST)
    found = table_of(four, {ScheduledGame(seats, 0): ranks for seats, ranks in beaten.items()})
    assert places(found) == {"a": 1, "b": 2, "d": 3, "c": 4}
    apart = {ScheduledGame((one, one + 1), number): (WON, LOST)[number] for one in (0, 2) for number in range(2)}
    apart |= {ScheduledGame((0, 2), 0): DRAWN, ScheduledGame((1, 3), 0): DRAWN}
    assert set(places(table_of(four, apart)).values()) == {1}
    assert "then points in games among the equal ones" in found.ranking


def test_forfeited_games_are_not_repeats() -> None:
    pair = plan("round-robin", 2, games=10)
    scheduled = [game for game in pair.scheduled_games({}) if game is not None]
    found = table_of(pair, dict.fromkeys(scheduled, (1, 2)), a="", forfeit=True)
    assert found.different == found.played == 10 and found.rows[0].different == 10
    assert not any("repeats" in note for note in found.notes)


def test_swiss_standings_count_only_the_pairings_of_the_format() -> None:
    """A bot that is added is drawn into the first round: games without it may not be scheduled any more."""
    before, after = plan("swiss", 6), plan("swiss", 7)
    early = lines(before, play(before, rounds=2))
    everything = dict(zip(play(after), lines(after, play(after)), strict=True))
    written = {line: None for line in [*everything.values()]}
    due = standings_of(after, written, chances=False)
    extra = [line for line in early if msgspec.json.decode(line)["k"] not in {Keys(after).key(s) for s in everything}]
    assert extra
    found = standings_of(after, [*extra, *written], chances=False)
    assert found.rows == due.rows and found.cross == due.cross and found.played == due.played
    games = "1 game" if len(extra) == 1 else f"{len(extra)} games"
    assert found.notes[-1] == f"not counted: {games} that are not in the present schedule"
    assert sum(row.points for row in found.rows) == 5 * (3 * 2 + 2)


def test_games_after_the_decision_of_a_series_do_not_count() -> None:
    """a has won three of three; six later wins of b on another machine do not count."""
    match = plan("series", 2, games=9, first_to=3, seating=Seating.ALTERNATE)
    turns = [(number, (0, 1) if number % 2 == 0 else (1, 0)) for number in range(9)]
    played = {ScheduledGame(seats, number): WON if (seats[0] == 0) == (number < 3) else LOST for number, seats in turns}
    found = table_of(match, played)
    assert [(row.name, row.wins, row.losses) for row in found.rows] == [("a", 3, 0), ("b", 0, 3)]
    assert found.notes[-1].startswith("not counted: 6 games")


def test_a_half_played_round_robin_is_ranked_by_points_a_game_until_it_is_even() -> None:
    """b won its only game, a two of three. When all have played as many games, points rank."""
    half = plan("round-robin", 3, games=1)
    won = {ScheduledGame((0, 2), number): (1, 2) for number in range(2)}
    uneven = table_of(half, won | {ScheduledGame((1, 2), 0): (1, 2), ScheduledGame((2, 0), 2): (1, 2)})
    assert places(uneven) == {"b": 1, "a": 2, "c": 3}
    assert uneven.ranking.startswith("ranked by points a game, ")
    note = "bots have played 1 to 4 games: the rank is by points a game until all have played as many"
    assert note in uneven.notes
    whole = {ScheduledGame(seats, 0): (1, 2) for seats in ((0, 1), (1, 2), (0, 2))}
    even = table_of(half, whole)
    assert places(even) == {"a": 1, "b": 2, "c": 3}
    assert even.ranking.startswith("ranked by points, ") and note not in even.notes
    absent = half.replaced(bots=(*half.bots[:2], msgspec.structs.replace(half.bots[2], absent=True)))
    one_each = {ScheduledGame((2, 0), 0): (1, 2), ScheduledGame((0, 1), 0): (1, 2), ScheduledGame((1, 0), 1): (2, 1)}
    assert places(table_of(absent, one_each))["a"] == 1
