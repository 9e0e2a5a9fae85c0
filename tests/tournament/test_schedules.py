"""Who plays whom: every pairing is met as due, seats are balanced, and what comes next follows from what was played."""

import itertools
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.games.dice import derive_seed
from referee.harness.tournament.formats.designs import WILLIAMS, fours, pairings, rows, seated
from referee.harness.tournament.formats.schedules import (
    FINAL,
    FIRST,
    FORMATS,
    Field,
    Outcome,
    Seating,
    Slot,
    draw,
    series_ranking,
    shares,
)


class Played(dict[Slot, Outcome]):
    """Results that only a game's slot decides: whoever plays them, whenever."""

    def play(self, slot: Slot, strength: bool = True) -> None:
        luck = [derive_seed(7, *slot.seats, slot.orbit, bot) / 2**53 - strength * bot * 0.08 for bot in slot.seats]
        order = sorted(luck, reverse=True)
        ranks = tuple(1 + order.index(value) for value in luck)
        self[slot] = Outcome(ranks, tuple(float(len(ranks) - rank) for rank in ranks))


def played_out(name: str, field: Field, pick: random.Random | None = None, limit: int = 100_000) -> list[Slot]:
    """The slots of a whole tournament, in the order in which they were named. `pick` plays them in any order."""
    results, named, open_slots = Played(), [], []
    for slot in FORMATS[name](field, results):
        if slot is not None:
            named.append(slot)
            open_slots.append(slot)
            if len(named) == limit:
                return named
        while open_slots and (slot is None or (pick is not None and pick.random() < 0.5)):
            results.play(open_slots.pop(pick.randrange(len(open_slots)) if pick is not None else 0))
            if pick is not None and pick.random() < 0.3:
                break
    return named


def met(slots: list[Slot]) -> Counter[tuple[int, ...]]:
    return Counter(pair for slot in slots for pair in itertools.combinations(sorted(slot.seats), 2))


@given(bots=st.integers(2, 24), games=st.integers(1, 7))
def test_a_round_robin_gives_every_pair_its_games_and_both_seats(bots: int, games: int) -> None:
    slots = played_out("round-robin", Field(bots, 2, games))
    assert met(slots) == dict.fromkeys(itertools.combinations(range(bots), 2), games)
    seats = Counter(slot.seats for slot in slots)
    assert all(abs(seats[one, two] - seats[two, one]) <= games % 2 for one, two in met(slots))
    assert len(set(slots)) == len(slots)


@given(bots=st.integers(2, 30))
def test_the_circle_lets_everybody_play_once_a_round(bots: int) -> None:
    tables = list(pairings(bots))
    assert sorted(tables) == sorted(itertools.combinations(range(bots), 2))
    a_round = bots // 2
    for start in range(0, len(tables), a_round):
        playing = [bot for table in tables[start : start + a_round] for bot in table]
        assert len(set(playing)) == len(playing)


def test_a_round_robin_goes_breadth_first() -> None:
    slots = played_out("round-robin", Field(4, 2, 6))
    assert [slot.orbit for slot in slots] == sorted(slot.orbit for slot in slots)


def test_a_million_games_are_named_as_they_are_asked_for() -> None:
    slots = FORMATS["round-robin"](Field(500, 2, 10**9), {})
    assert len(list(itertools.islice(slots, 10))) == 10


def test_the_rows_of_four_balance_seats_and_neighbours() -> None:
    for column in zip(*WILLIAMS, strict=True):
        assert sorted(column) == [0, 1, 2, 3]
    followers = Counter((row[place], row[place + 1]) for row in WILLIAMS for place in range(3))
    assert set(followers.values()) == {1} and len(followers) == 12


@given(orbit=st.integers(0, 1000), seats=st.integers(2, 4))
def test_in_an_orbit_everybody_has_every_seat_once(orbit: int, seats: int) -> None:
    table = tuple(range(10, 10 + seats))
    orders = [seated(table, orbit, row) for row in range(len(rows(seats)))]
    for seat in range(seats):
        assert sorted(order[seat] for order in orders) == list(table)


@pytest.mark.parametrize("bots,tables", [(16, 20), (13, 13)])
def test_sixteen_and_thirteen_bots_meet_exactly_once(bots: int, tables: int) -> None:
    found = list(fours(bots))
    assert len(found) == tables
    meetings = Counter(pair for table in found for pair in itertools.combinations(table, 2))
    assert meetings == dict.fromkeys(itertools.combinations(range(bots), 2), 1)


def test_the_plane_of_sixteen_has_five_rounds_in_which_everybody_sits_once() -> None:
    found = list(fours(16))
    for start in range(0, 20, 4):
        assert sorted(bot for table in found[start : start + 4] for bot in table) == list(range(16))


@pytest.mark.parametrize("bots", range(5, 31))
def test_other_numbers_of_bots_meet_two_to_four_times_where_three_are_due(bots: int) -> None:
    found = list(fours(bots))
    sat = Counter(bot for table in found for bot in table)
    assert max(sat.values()) - min(sat.values()) <= 2
    meetings = Counter(pair for table in found for pair in itertools.combinations(table, 2))
    if bots not in (13, 16):
        assert all(1 <= meetings[pair] <= 5 for pair in itertools.combinations(range(bots), 2))
        assert sum(times in (2, 3, 4) for times in meetings.values()) >= 0.95 * len(meetings)


def test_a_table_of_four_is_played_in_orbits_of_four() -> None:
    slots = played_out("round-robin", Field(4, 4, 8))
    assert len(slots) == 8
    assert Counter(slot.orbit for slot in slots) == {0: 4, 1: 4}


def test_a_gauntlet_is_the_first_against_each_of_the_others() -> None:
    slots = played_out("gauntlet", Field(5, 2, 4))
    assert met(slots) == {(0, other): 4 for other in range(1, 5)}


def test_reantics_round_robin_plays_pair_after_pair_with_the_first_as_player_one() -> None:
    slots = played_out("list-order", Field(3, 2, 2, seating=Seating.FIXED))
    assert [slot.seats for slot in slots] == [(0, 1), (0, 1), (0, 2), (0, 2), (1, 2), (1, 2)]
    assert len({(slot.seats, slot.orbit) for slot in slots}) == 6  # a seed a game


def test_an_alternating_start_changes_the_seats_of_every_second_game() -> None:
    slots = played_out("two-player", Field(2, 2, 4, seating=Seating.ALTERNATE))
    assert [slot.seats for slot in slots] == [(0, 1), (1, 0), (0, 1), (1, 0)]
    assert [slot.orbit for slot in slots] == [0, 1, 2, 3]


def test_play_self_plays_one_row_a_seed() -> None:
    assert [slot.seats for slot in played_out("play-self", Field(2, 2, 3))] == [(0, 1)] * 3


# A series.


@given(bots=st.integers(2, 5), first_to=st.integers(1, 6), seed=st.integers(0, 1000))
def test_a_series_stops_at_the_win_that_decides_it_whatever_the_order_of_arrival(
    bots: int, first_to: int, seed: int
) -> None:
    field = Field(bots, 2, 2 * first_to - 1)
    one = played_out("series", field)
    other = played_out("series", field, random.Random(seed))
    assert set(one) == set(other) and len(set(other)) == len(other)
    results = Played()
    for slot in one:
        results.play(slot)
    for pair in itertools.combinations(range(bots), 2):
        games = sorted((slot for slot in one if set(slot.seats) == set(pair)), key=lambda slot: slot.orbit)
        assert [slot.orbit for slot in games] == list(range(len(games)))
        assert all(slot.seats[0] == pair[slot.orbit % 2] for slot in games)  # seats alternate
        wins = Counter(slot.seats[results[slot].ranks.index(1)] for slot in games)
        assert max(wins.values()) == first_to and wins.total() - wins.most_common(1)[0][1] < first_to
        last = games[-1]
        assert wins[last.seats[results[last].ranks.index(1)]] == first_to


def test_a_series_of_draws_ends_with_its_games() -> None:
    results: dict[Slot, Outcome] = {}
    named = 0
    for slot in FORMATS["series"](Field(2, 2, 5), results):
        if slot is not None:
            results[slot] = Outcome((1, 1), (0.5, 0.5))
            named += 1
    assert named == 5


def test_the_card_competition_ranks_by_opponents_defeated() -> None:
    assert series_ranking(3, {(0, 1): 51, (1, 0): 50, (0, 2): 51, (2, 0): 0, (1, 2): 51, (2, 1): 3}) == [[0], [1], [2]]


def test_exactly_two_equal_are_ranked_by_their_match() -> None:
    won = {(0, 1): 51, (1, 2): 51, (2, 3): 51, (3, 0): 51, (2, 0): 51, (1, 3): 51}
    # 1 defeated 2 and 3, 2 defeated 3 and 0: equal, and 1 won their match; 0 and 3 defeated one each, and 3 won theirs
    assert series_ranking(4, won) == [[1], [2], [3], [0]]


def test_three_equal_are_ranked_by_games_won_and_share_the_rank_if_all_is_equal() -> None:
    ring = {(0, 1): 51, (1, 0): 10, (1, 2): 51, (2, 1): 20, (2, 0): 51, (0, 2): 30}
    assert series_ranking(3, ring) == [[0], [2], [1]]  # 81, 61, 71 games
    even = {(0, 1): 51, (1, 0): 10, (1, 2): 51, (2, 1): 10, (2, 0): 51, (0, 2): 10}
    assert series_ranking(3, even) == [[0, 1, 2]]


# Swiss, ladder.


@given(bots=st.integers(2, 21), seed=st.integers(0, 50))
def test_a_swiss_tournament_has_no_rematch_and_one_bye_a_bot_at_most(bots: int, seed: int) -> None:
    slots = played_out("swiss", Field(bots, 2, 2, seed), random.Random(seed))
    again = played_out("swiss", Field(bots, 2, 2, seed))
    assert slots == again
    if bots > 9:  # few bots have too few others for so many rounds
        assert set(met(slots).values()) == {2}
    rounds = Counter(bot for slot in slots for bot in slot.seats)
    most = max(rounds.values())
    assert all(most - rounds[bot] in ((0, 2) if bots % 2 else (0,)) for bot in range(bots))


@given(bots=st.integers(2, 9), games=st.sampled_from([1, 2, 4]), seed=st.integers(0, 1000))
def test_a_swiss_rematch_comes_where_none_can_be_avoided_and_has_games_of_its_own(
    bots: int, games: int, seed: int
) -> None:
    rounds = bots - 1 + bots % 2
    slots = played_out("swiss", Field(bots, 2, games, seed, rounds=rounds), random.Random(seed))
    a_round = bots // 2 * games
    assert len(set(slots)) == len(slots) == rounds * a_round
    before, rested = set[frozenset[int]](), set[int]()
    for start in range(0, len(slots), a_round):
        pairs = {frozenset(slot.seats) for slot in slots[start : start + a_round]}
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
    slots = played_out("swiss", Field(8, 2, 2, 3))
    results, score = Played(), Counter[int]()
    for start in range(0, 24, 8):  # three rounds of four orbits: by then equal scores are always to be had
        for one, two in {tuple(sorted(slot.seats)) for slot in slots[start : start + 8]}:
            assert abs(score[one] - score[two]) <= 2
        for slot in slots[start : start + 8]:
            results.play(slot)
            for bot, share in zip(slot.seats, shares(results[slot].ranks), strict=True):
                score[bot] += share


def test_a_ladder_begins_with_five_orbits_of_every_pair_and_goes_on_with_neighbours() -> None:
    slots = played_out("ladder", Field(5, 2, 0), limit=300)
    assert met(slots[:100]) == dict.fromkeys(itertools.combinations(range(5), 2), 10)
    assert len(set(slots)) == 300
    later = met(slots[100:])
    assert len(later) < 10 and slots == played_out("ladder", Field(5, 2, 0), random.Random(1), limit=300)


def test_a_ladder_of_so_many_games_ends() -> None:
    for games in (1, 7, 60, 77):  # four bots meet in their first sixty games, in the first seven they do not
        assert len(played_out("ladder", Field(4, 2, games))) == games


# AIBG: groups of four, a final.


def test_sixteen_teams_play_four_groups_and_a_final_of_their_winners() -> None:
    field = Field(16, 4, 1, seed=5)
    slots = played_out("groups", field, random.Random(3))
    groups = [slot for slot in slots if slot.stage == FIRST]
    final = [slot for slot in slots if slot.stage == FINAL]
    assert len(groups) == 4 and sorted(bot for slot in groups for bot in slot.seats) == list(range(16))
    results = Played()
    for slot in groups:
        results.play(slot)
    winners = {slot.seats[results[slot].ranks.index(1)] for slot in groups}
    assert len(final) == 1 and set(final[0].seats) == winners


@pytest.mark.parametrize("absent", [(0,), (3, 9), (15, 2, 7)])
def test_a_team_that_does_not_show_up_is_replaced_by_the_best_second_of_the_others(absent: tuple[int, ...]) -> None:
    field = Field(16, 4, 1, seed=5, absent=absent)
    slots = played_out("groups", field)
    groups = [slot for slot in slots if slot.stage == FIRST]
    assert len(groups) == 4 and all(len(set(slot.seats)) == 4 for slot in groups)
    assert not any(bot in absent for slot in slots for bot in slot.seats)
    whole = [sorted(group) for group in draw(field) if len(group) == 4]
    complete = [slot for slot in groups if sorted(slot.seats) in whole]
    assert groups[: len(complete)] == complete  # the others play last
    results = Played()
    for slot in complete:
        results.play(slot)
    seconds = [(results[slot].points[seat], slot.seats[seat]) for slot in complete for seat in [_second(results[slot])]]
    filled = [bot for slot in groups[len(complete) :] for bot in slot.seats if any(bot in group for group in whole)]
    best = max(score for score, _ in seconds)
    assert len(set(filled)) == len(absent) == len(filled)
    assert (best, filled[0]) in seconds


def _second(outcome: Outcome) -> int:
    return outcome.ranks.index(2)


def test_a_group_is_an_orbit_if_so_many_games_are_asked_for() -> None:
    slots = played_out("groups", Field(16, 4, 4, seed=5))
    assert len(slots) == 20
    for stage in (FIRST, FINAL):
        tables = Counter(tuple(sorted(slot.seats)) for slot in slots if slot.stage == stage)
        assert set(tables.values()) == {4}


def test_groups_that_cannot_lead_to_one_final_are_refused() -> None:
    with pytest.raises(ValueError, match="5 to 16 bots, not 17"):
        next(FORMATS["groups"](Field(17, 4, 1), {}))
    groups = draw(Field(9, 4, 1, seed=3))
    assert list(map(len, groups)) == [4, 4, 1]
    with pytest.raises(ValueError, match="the groups have 4 vacancies; the complete ones have 3 bots to fill them"):
        draw(Field(9, 4, 1, seed=3, absent=(groups[0][0],)))
    (*_, alone) = draw(Field(5, 4, 1, seed=3))
    with pytest.raises(ValueError, match="nobody shows up: there is no final"):
        draw(Field(5, 4, 1, seed=3, absent=tuple(alone)))


@given(bots=st.integers(5, 16), games=st.sampled_from([1, 4]), seed=st.integers(0, 1000), data=st.data())
def test_whoever_does_not_show_up_every_table_of_groups_is_full(
    bots: int, games: int, seed: int, data: st.DataObject
) -> None:
    absent = data.draw(st.sets(st.integers(0, bots - 1), max_size=bots // 2))
    field = Field(bots, 4, games, seed, absent=tuple(absent))
    try:
        groups = draw(field)
    except ValueError:
        return
    slots = played_out("groups", field)
    assert all(len(set(slot.seats) - absent) == 4 for slot in slots)
    assert len({(slot.seats, slot.orbit) for slot in slots}) == len(slots)  # a final of the same four is another game
    assert len(slots) == (len(groups) + 1) * games
