"""Formats: every pairing is scheduled, seats are balanced, and the next games follow from the results."""

import hashlib
import itertools
import random
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec
import pytest
import written_games
from hypothesis import given
from hypothesis import strategies as st
from written_games import favourite, plan

from referee.addons.tournament.format_options import FORMATS as OPTIONS
from referee.addons.tournament.formats import schedules
from referee.addons.tournament.formats.designs import WILLIAMS, pairings, rows, seated
from referee.addons.tournament.formats.games import FINAL, FIRST, Field, Outcome, ScheduledGame, Seating, shares
from referee.addons.tournament.formats.groups import draw
from referee.addons.tournament.formats.line_ups import line_ups, number_of_line_ups
from referee.addons.tournament.formats.schedules import CLOSED, FORMATS, size_of_round_robin
from referee.addons.tournament.formats.series import series_ranking
from referee.addons.tournament.plan import Entry
from referee.addons.tournament.reports.all_stages import all_standings
from referee.addons.tournament.reports.readers import Reader
from referee.addons.tournament.reports.site import shown_to
from referee.addons.tournament.store.reader import Book
from referee.games.dice import derive_seed

FORMATS_FOLDER = Path(schedules.__file__).parent


class Played(dict[ScheduledGame, Outcome]):
    """Results that depend on the scheduled game only."""

    def play(self, game: ScheduledGame, strength: bool = True) -> None:
        luck = [derive_seed(7, *game.seats, game.seed_group, bot) / 2**53 - strength * bot * 0.08 for bot in game.seats]
        order = sorted(luck, reverse=True)
        ranks = tuple(1 + order.index(value) for value in luck)
        self[game] = Outcome(ranks, tuple(float(len(ranks) - rank) for rank in ranks))


def played_out(name: str, field: Field, pick: random.Random | None = None, limit: int = 100_000) -> list[ScheduledGame]:
    """Returns all scheduled games of a tournament in their order. `pick` plays them in random order."""
    results, named, open_slots = Played(), [], []
    for game in FORMATS[name](field, results):
        if game is not None:
            named.append(game)
            open_slots.append(game)
            if len(named) == limit:
                return named
        while open_slots and (game is None or (pick is not None and pick.random() < 0.5)):
            results.play(open_slots.pop(pick.randrange(len(open_slots)) if pick is not None else 0))
            if pick is not None and pick.random() < 0.3:
                break
    return named


def met(scheduled: list[ScheduledGame]) -> Counter[tuple[int, ...]]:
    return Counter(pair for game in scheduled for pair in itertools.combinations(sorted(game.seats), 2))


@given(bots=st.integers(2, 24), games=st.integers(1, 7))
def test_a_round_robin_gives_every_pair_its_games_and_both_seats(bots: int, games: int) -> None:
    scheduled = played_out("round-robin", Field(bots, 2, games))
    assert met(scheduled) == dict.fromkeys(itertools.combinations(range(bots), 2), games)
    seats = Counter(game.seats for game in scheduled)
    assert all(abs(seats[one, two] - seats[two, one]) <= games % 2 for one, two in met(scheduled))
    assert len(set(scheduled)) == len(scheduled)


@given(bots=st.integers(2, 30))
def test_the_circle_lets_everybody_play_once_a_round(bots: int) -> None:
    tables = list(pairings(range(bots)))
    assert sorted(tables) == sorted(itertools.combinations(range(bots), 2))
    a_round = bots // 2
    for start in range(0, len(tables), a_round):
        playing = [bot for table in tables[start : start + a_round] for bot in table]
        assert len(set(playing)) == len(playing)


def test_a_round_robin_goes_breadth_first() -> None:
    scheduled = played_out("round-robin", Field(4, 2, 6))
    assert [game.seed_group for game in scheduled] == sorted(game.seed_group for game in scheduled)


def test_a_million_games_are_scheduled_lazily() -> None:
    scheduled = FORMATS["round-robin"](Field(500, 2, 10**9), {})
    assert len(list(itertools.islice(scheduled, 10))) == 10


def test_the_rows_of_four_balance_seats_and_neighbours() -> None:
    for column in zip(*WILLIAMS, strict=True):
        assert sorted(column) == [0, 1, 2, 3]
    followers = Counter((row[place], row[place + 1]) for row in WILLIAMS for place in range(3))
    assert set(followers.values()) == {1} and len(followers) == 12


@given(seed_group=st.integers(0, 1000), seats=st.integers(2, 6))
def test_in_a_seed_group_everybody_has_every_seat_once(seed_group: int, seats: int) -> None:
    table = tuple(range(10, 10 + seats))
    orders = [seated(table, seed_group, row) for row in range(len(rows(seats)))]
    for seat in range(seats):
        assert sorted(order[seat] for order in orders) == list(table)


def counted(found: Sequence[Sequence[int]]) -> tuple[Counter[int], Counter[tuple[int, ...]]]:
    """Returns how often each bot plays, and how often each pair meets."""
    played = Counter(bot for line_up in found for bot in line_up)
    return played, Counter(pair for line_up in found for pair in itertools.combinations(sorted(line_up), 2))


@pytest.mark.parametrize("bots,tables", [(16, 20), (13, 13)])
def test_sixteen_and_thirteen_bots_meet_exactly_once(bots: int, tables: int) -> None:
    found = line_ups(bots, 4)
    assert len(found) == tables
    assert counted(found)[1] == dict.fromkeys(itertools.combinations(range(bots), 2), 1)


def test_the_plane_of_sixteen_has_five_rounds_in_which_everybody_plays_once() -> None:
    found = line_ups(16, 4)
    for start in range(0, 20, 4):
        assert sorted(bot for line_up in found[start : start + 4] for bot in line_up) == list(range(16))


@pytest.mark.parametrize("bots", [bots for bots in range(5, 121) if bots % 4 < 2])
def test_at_four_seats_every_pair_meets_exactly_three_times(bots: int) -> None:
    found = line_ups(bots, 4, bots - 1)
    assert all(len(set(line_up)) == 4 for line_up in found)
    assert counted(found) == (
        dict.fromkeys(range(bots), bots - 1),
        dict.fromkeys(itertools.combinations(range(bots), 2), 3),
    )


def test_every_first_round_on_file_makes_a_design() -> None:
    for line in (FORMATS_FOLDER / "starters.txt").read_text().splitlines():
        if not line.startswith("#"):
            seats, bots = map(int, line.partition(":")[0].split())
            assert set(counted(line_ups(bots, seats, bots - 1))[1].values()) == {seats - 1}


def test_line_ups_of_a_hundred_bots_take_no_time() -> None:
    line_ups.cache_clear()
    start = time.process_time()
    assert len(line_ups(100, 4)) == 100 * 99 // 4
    assert time.process_time() - start < 2


@given(seats=st.integers(3, 6), more=st.integers(0, 20), rounds=st.none() | st.integers(1, 20))
def test_line_ups_are_even_at_any_number_of_seats(seats: int, more: int, rounds: int | None) -> None:
    bots = seats + more
    found = line_ups(bots, seats, rounds)
    assert len(found) == number_of_line_ups(bots, seats, rounds)
    assert all(len(set(line_up)) == seats and set(line_up) <= set(range(bots)) for line_up in found)
    played, meetings = counted(found)
    assert max(played.values()) - min(played[bot] for bot in range(bots)) <= 1
    seated = Counter((bot, seat) for line_up in found for seat, bot in enumerate(line_up))
    assert all(
        max(seated[bot, seat] for seat in range(seats)) - min(seated[bot, seat] for seat in range(seats)) <= 2
        for bot in range(bots)
    )
    pairs = bots * (bots - 1) // 2
    mean = len(found) * seats * (seats - 1) / 2 / pairs
    variance = sum((meetings[pair] - mean) ** 2 for pair in itertools.combinations(range(bots), 2)) / pairs
    assert variance <= mean  # independent draws would have that


@given(seats=st.integers(3, 6), bots=st.integers(3, 40))
def test_a_stopped_round_robin_has_even_appearances(seats: int, bots: int) -> None:
    played = [0] * max(bots, seats)
    for line_up in line_ups(len(played), seats):
        for bot in line_up:
            played[bot] += 1
        assert max(played) - min(played) <= seats + 1


@pytest.mark.parametrize("seats,games", [(3, 1), (3, 3), (4, 1), (4, 2), (5, 5)])
def test_a_round_robin_at_any_number_of_seats_has_no_game_twice_and_even_seats(seats: int, games: int) -> None:
    field = Field(9, seats, games)
    scheduled = played_out("round-robin", field)
    assert len(scheduled) == len(set(scheduled)) == size_of_round_robin(field)
    seated = Counter((bot, seat) for game in scheduled for seat, bot in enumerate(game.seats))
    counts = [[seated[bot, seat] for seat in range(seats)] for bot in range(9)]
    assert all(max(count) - min(count) <= 2 for count in counts)


def test_a_round_robin_of_one_game_a_pair_gives_both_seats_evenly() -> None:
    first = Counter(game.seats[0] for game in played_out("round-robin", Field(11, 2, 1)))
    assert set(first.values()) == {5}
    assert all(game.seats[0] < game.seats[1] for game in played_out("round-robin", Field(11, seating=Seating.FIXED)))


@pytest.mark.parametrize(
    "bots,seats,rounds,digest",
    [
        (11, 3, None, "6e3dcf0ec754"),
        (17, 4, None, "f1540e967a90"),
        (30, 4, 9, "5a532b03e794"),
        (88, 4, None, "7bcffdfca389"),
        (12, 5, None, "e207f09a6586"),
    ],
)
def test_line_ups_never_change_since_a_tournament_may_have_begun(
    bots: int, seats: int, rounds: int | None, digest: str
) -> None:
    assert hashlib.sha256(repr(line_ups(bots, seats, rounds)).encode()).hexdigest().startswith(digest)


@pytest.mark.parametrize("seats,games", [(2, 4), (3, 3), (4, 6)])
def test_the_games_of_a_round_robin_are_counted_as_they_are_scheduled(seats: int, games: int) -> None:
    field = Field(7, seats, games, absent=(2,))
    assert size_of_round_robin(field) == len(played_out("round-robin", field))


def test_the_games_of_thousands_of_bots_are_counted_at_once() -> None:
    assert size_of_round_robin(Field(20_000, 4, 1)) == 20_000 * 19_999 // 4


def test_a_table_of_four_is_played_in_seed_groups_of_four() -> None:
    scheduled = played_out("round-robin", Field(4, 4, 8))
    assert len(scheduled) == 8
    assert Counter(game.seed_group for game in scheduled) == {0: 4, 1: 4}


@pytest.mark.parametrize("seats", [2, 4])
def test_a_gauntlet_without_enough_opponents_has_no_games(seats: int) -> None:
    assert played_out("gauntlet", Field(seats - 1, seats, 4)) == []


def test_a_gauntlet_is_the_first_against_each_of_the_others() -> None:
    scheduled = played_out("gauntlet", Field(5, 2, 4))
    assert met(scheduled) == {(0, other): 4 for other in range(1, 5)}


def test_reantics_round_robin_plays_pair_after_pair_with_the_first_as_player_one() -> None:
    scheduled = played_out("list-order", Field(3, 2, 2, seating=Seating.FIXED))
    assert [game.seats for game in scheduled] == [(0, 1), (0, 1), (0, 2), (0, 2), (1, 2), (1, 2)]
    assert len({(game.seats, game.seed_group) for game in scheduled}) == 6  # a seed a game


def test_an_alternating_start_changes_the_seats_of_every_second_game() -> None:
    scheduled = played_out("two-player", Field(2, 2, 4, seating=Seating.ALTERNATE))
    assert [game.seats for game in scheduled] == [(0, 1), (1, 0), (0, 1), (1, 0)]
    assert [game.seed_group for game in scheduled] == [0, 1, 2, 3]


def test_play_self_plays_one_row_a_seed() -> None:
    assert [game.seats for game in played_out("self", Field(2, 2, 3))] == [(0, 1)] * 3


# A series.


@given(bots=st.integers(2, 5), first_to=st.integers(1, 6), seed=st.integers(0, 1000))
def test_a_series_stops_at_the_deciding_win_in_any_order_of_arrival(bots: int, first_to: int, seed: int) -> None:
    field = Field(bots, 2, 2 * first_to - 1)
    one = played_out("series", field)
    other = played_out("series", field, random.Random(seed))
    assert set(one) == set(other) and len(set(other)) == len(other)
    results = Played()
    for game in one:
        results.play(game)
    for pair in itertools.combinations(range(bots), 2):
        games = sorted((game for game in one if set(game.seats) == set(pair)), key=lambda game: game.seed_group)
        assert [game.seed_group for game in games] == list(range(len(games)))
        assert all(game.seats[0] == pair[game.seed_group % 2] for game in games)  # seats alternate
        wins = Counter(game.seats[results[game].ranks.index(1)] for game in games)
        assert max(wins.values()) == first_to and wins.total() - wins.most_common(1)[0][1] < first_to
        last = games[-1]
        assert wins[last.seats[results[last].ranks.index(1)]] == first_to


def test_a_series_of_draws_ends_with_its_games() -> None:
    results: dict[ScheduledGame, Outcome] = {}
    named = 0
    for game in FORMATS["series"](Field(2, 2, 5), results):
        if game is not None:
            results[game] = Outcome((1, 1), (0.5, 0.5))
            named += 1
    assert named == 5


def test_the_card_competition_ranks_by_opponents_defeated() -> None:
    assert series_ranking(3, {(0, 1): 51, (1, 0): 50, (0, 2): 51, (2, 0): 0, (1, 2): 51, (2, 1): 3}) == [[0], [1], [2]]


def test_exactly_two_equal_are_ranked_by_their_match() -> None:
    won = {(0, 1): 51, (1, 2): 51, (2, 3): 51, (3, 0): 51, (2, 0): 51, (1, 3): 51}
    # 1 defeated 2 and 3, 2 defeated 3 and 0: equal, and 1 won their match; 0 and 3 defeated one each, and 3 won theirs
    assert series_ranking(4, won) == [[1], [2], [3], [0]]


def test_three_equal_are_ranked_by_games_won_or_share_the_rank() -> None:
    ring = {(0, 1): 51, (1, 0): 10, (1, 2): 51, (2, 1): 20, (2, 0): 51, (0, 2): 30}
    assert series_ranking(3, ring) == [[0], [2], [1]]  # 81, 61, 71 games
    even = {(0, 1): 51, (1, 0): 10, (1, 2): 51, (2, 1): 10, (2, 0): 51, (0, 2): 10}
    assert series_ranking(3, even) == [[0, 1, 2]]


# Swiss, ladder (see also test_ladder.py).


@pytest.mark.slow
@given(bots=st.integers(2, 21), seed=st.integers(0, 50))
def test_a_swiss_tournament_has_no_rematch_and_one_bye_a_bot_at_most(bots: int, seed: int) -> None:
    scheduled = played_out("swiss", Field(bots, 2, 2, seed), random.Random(seed))
    again = played_out("swiss", Field(bots, 2, 2, seed))
    assert scheduled == again
    if bots > 9:  # few bots have too few others for so many rounds
        assert set(met(scheduled).values()) == {2}
    rounds = Counter(bot for game in scheduled for bot in game.seats)
    most = max(rounds.values())
    assert all(most - rounds[bot] in ((0, 2) if bots % 2 else (0,)) for bot in range(bots))


@pytest.mark.slow
@given(bots=st.integers(2, 9), games=st.sampled_from([1, 2, 4]), seed=st.integers(0, 1000))
def test_an_unavoidable_swiss_rematch_has_further_games(bots: int, games: int, seed: int) -> None:
    rounds = bots - 1 + bots % 2
    scheduled = played_out("swiss", Field(bots, 2, games, seed, rounds=rounds), random.Random(seed))
    a_round = bots // 2 * games
    assert len(set(scheduled)) == len(scheduled) == rounds * a_round
    before, rested = set[frozenset[int]](), set[int]()
    for start in range(0, len(scheduled), a_round):
        pairs = {frozenset(game.seats) for game in scheduled[start : start + a_round]}
        playing = frozenset[int]().union(*pairs)
        choices = (
            [playing]
            if len(playing) == bots
            else [frozenset(range(bots)) - {rest} for rest in set(range(bots)) - rested]
        )
        assert len(playing) == 2 * len(pairs) and playing in choices
        assert len(pairs & before) == min(_fewest_rematches(choice, before) for choice in choices)
        before |= pairs
        rested |= set(range(bots)) - playing


def _fewest_rematches(bots: frozenset[int], before: set[frozenset[int]]) -> int:
    if not bots:
        return 0
    one = min(bots)
    pairs = (frozenset((one, two)) for two in bots - {one})
    return min((pair in before) + _fewest_rematches(bots - pair, before) for pair in pairs)


def test_a_swiss_tournament_pairs_equal_scores() -> None:
    scheduled = played_out("swiss", Field(8, 2, 2, 3))
    results, score = Played(), Counter[int]()
    for start in range(0, 24, 8):  # three rounds of four game pairs, in which equal scores can always be paired
        for one, two in {tuple(sorted(game.seats)) for game in scheduled[start : start + 8]}:
            assert abs(score[one] - score[two]) <= 2
        for game in scheduled[start : start + 8]:
            results.play(game)
            for bot, share in zip(game.seats, shares(results[game].ranks), strict=True):
                score[bot] += share


def test_a_ladder_ends_after_the_requested_games() -> None:
    for games in (1, 7, 60, 77):  # four bots meet in their first sixty games, in the first seven they do not
        assert len(played_out("ladder", Field(4, 2, games))) == games


# AIBG: groups of four, a final.


def test_sixteen_teams_play_four_groups_and_a_final_of_their_winners() -> None:
    field = Field(16, 4, 1, seed=5)
    scheduled = played_out("groups", field, random.Random(3))
    groups = [game for game in scheduled if game.stage == FIRST]
    final = [game for game in scheduled if game.stage == FINAL]
    assert len(groups) == 4 and sorted(bot for game in groups for bot in game.seats) == list(range(16))
    results = Played()
    for game in groups:
        results.play(game)
    winners = {game.seats[results[game].ranks.index(1)] for game in groups}
    assert len(final) == 1 and set(final[0].seats) == winners


@pytest.mark.parametrize("absent", [(0,), (3, 9), (15, 2, 7)])
def test_the_best_second_of_the_others_replaces_an_absent_team(absent: tuple[int, ...]) -> None:
    field = Field(16, 4, 1, seed=5, absent=absent)
    scheduled = played_out("groups", field)
    groups = [game for game in scheduled if game.stage == FIRST]
    assert len(groups) == 4 and all(len(set(game.seats)) == 4 for game in groups)
    assert not any(bot in absent for game in scheduled for bot in game.seats)
    whole = [sorted(group) for group in draw(field) if len(group) == 4]
    complete = [game for game in groups if sorted(game.seats) in whole]
    assert groups[: len(complete)] == complete  # the others play last
    results = Played()
    for game in complete:
        results.play(game)
    seconds = [(results[game].points[seat], game.seats[seat]) for game in complete for seat in [_second(results[game])]]
    filled = [bot for game in groups[len(complete) :] for bot in game.seats if any(bot in group for group in whole)]
    best = max(score for score, _ in seconds)
    assert len(set(filled)) == len(absent) == len(filled)
    assert (best, filled[0]) in seconds


def _second(outcome: Outcome) -> int:
    return outcome.ranks.index(2)


def test_four_games_of_a_group_are_a_seed_group() -> None:
    scheduled = played_out("groups", Field(16, 4, 4, seed=5))
    assert len(scheduled) == 20
    for stage in (FIRST, FINAL):
        tables = Counter(tuple(sorted(game.seats)) for game in scheduled if game.stage == stage)
        assert set(tables.values()) == {4}


def test_groups_that_cannot_lead_to_one_final_are_refused() -> None:
    with pytest.raises(ValueError, match="5 to 16 bots, not 17"):
        next(FORMATS["groups"](Field(17, 4, 1), {}))
    groups = draw(Field(9, 4, 1, seed=3))
    assert list(map(len, groups)) == [4, 4, 1]
    with pytest.raises(ValueError, match="the groups have 4 vacancies; the complete ones have 3 bots to fill them"):
        draw(Field(9, 4, 1, seed=3, absent=(groups[0][0],)))
    (*_, alone) = draw(Field(5, 4, 1, seed=3))
    with pytest.raises(ValueError, match="are absent: there is no final"):
        draw(Field(5, 4, 1, seed=3, absent=tuple(alone)))


def test_a_final_of_the_bots_of_a_group_is_no_game_of_that_group_again() -> None:
    """The bots are in another order, in which the next number gave the same seats."""
    first, _, final = played_out("groups", Field(5, 4, 1, seed=92))
    assert set(first.seats) == set(final.seats) and (first.seats, 0) != (final.seats, final.seed_group)


@given(bots=st.integers(5, 16), games=st.sampled_from([1, 4]), seed=st.integers(0, 1000), data=st.data())
def test_every_line_up_of_groups_is_complete_with_any_absent_bots(
    bots: int, games: int, seed: int, data: st.DataObject
) -> None:
    absent = data.draw(st.sets(st.integers(0, bots - 1), max_size=bots // 2))
    field = Field(bots, 4, games, seed, absent=tuple(absent))
    try:
        groups = draw(field)
    except ValueError:
        return
    scheduled = played_out("groups", field)
    assert all(len(set(game.seats) - absent) == 4 for game in scheduled)
    assert len({(game.seats, game.seed_group) for game in scheduled}) == len(
        scheduled
    )  # a final of the same four is another game
    assert len(scheduled) == (len(groups) + 1) * games


@pytest.mark.parametrize("seats", [2, 4])
def test_a_bot_that_comes_after_the_last_game_plays_or_a_note_says_how(seats: int) -> None:
    """Only a Swiss, which has its own tests, and a ladder have a last game. `CLOSED` formats take no bot then."""
    for format in sorted(FORMATS.keys() - CLOSED - {"swiss"}):
        if seats > 2 and OPTIONS[format].two_seats:
            continue
        more = {"games": 12} if format == "ladder" else {}
        cup, book = plan(format, 6, game="tictactoe" if seats == 2 else "aibg5", seats=seats, **more), Book()
        end = partial(written_games.play, ranks=favourite if seats == 2 else lambda _: (1, 2, 3, 4))
        assert end(cup, book)
        late = msgspec.structs.replace(Entry("Late", "", "f" * 64, "@random"), ident="ffffff")
        cup = cup.replaced(bots=(*cup.bots, late))
        assert end(cup, book)
        note = next((note for note in all_standings(cup, book).notes if note.startswith("Late: no game")), "")
        assert bool(note) == (format == "ladder"), format
        public = shown_to(Reader.PUBLIC, cup, all_standings(cup, book)).notes
        assert not [each for each in public if "`" in each or "referee " in each], format
        if note:
            cup = cup.replaced(games=int(note.partition("--games ")[2].partition("`")[0]))
            assert end(cup, book)
            assert not any("no game" in note for note in all_standings(cup, book).notes)
        assert next(row.games for row in all_standings(cup, book).rows if row.name == "Late")
