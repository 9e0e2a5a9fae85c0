"""The joint fit: ratings of a whole field, their intervals and the chances of ranks."""

import math
import random

import choix
import pytest
from simulated import add, field, in_elo, ratings, seed_group, tournament

from referee.addons.tournament.statistics.rating import ELO, rate
from referee.addons.tournament.statistics.score import elo, expected
from referee.addons.tournament.statistics.tally import Game, Tally, Weight

pytestmark = pytest.mark.slow

WON, LOST, DRAWN = (1, 2), (2, 1), (1, 1)
Ranks = tuple[int, int]
A, B, C, D = range(4)


def pair(first: int, second: int, there: Ranks, back: Ranks) -> list[Game]:
    """Returns a game pair; `there` and `back` are the ranks of `first` and `second`."""
    return [Game((first, second), there), Game((second, first), (back[1], back[0]))]


def fitted(tally: Tally) -> list[float]:
    return [rating.elo.value for rating in ratings(tally, draws=0)]


def width(tally: Tally) -> float:
    """Returns the width of the first interval."""
    ends = ratings(tally, draws=0)[0].elo
    assert ends.low is not None and ends.high is not None
    return ends.high - ends.low


# Ratings.


def test_the_difference_of_two_ratings_follows_from_the_score() -> None:
    tally = Tally(2)
    for _ in range(300):
        add(tally, pair(A, B, WON, WON))
    for _ in range(100):
        add(tally, pair(A, B, LOST, LOST))
    found = fitted(tally)
    assert found[A] == pytest.approx(-found[B])
    assert found[A] - found[B] == pytest.approx(elo(0.75), abs=0.5)


def test_ratings_add_up_to_zero_and_a_tie_is_half_a_win() -> None:
    tally = Tally(3)
    add(tally, pair(A, B, DRAWN, DRAWN))
    add(tally, pair(B, C, WON, LOST))
    assert fitted(tally) == pytest.approx([0, 0, 0], abs=1e-6)


@pytest.mark.parametrize("groups", [1, 41_707, 1_000_000_000])
def test_a_bot_that_won_any_number_of_games_has_a_finite_rating(groups: int) -> None:
    """The wins pull the rating up as much as half a loss to an average bot pulls it down."""
    winner, loser = rate(2, {((A, B, 2.0, 2),): Weight(groups, groups, groups)}, draws=0)
    rating = winner.elo.value
    assert loser.elo.value == -rating
    assert 2 * groups * expected(-2 * rating) == pytest.approx(expected(rating) - 0.5, rel=1e-4)


def test_each_part_that_games_connect_is_rated_as_if_it_were_alone() -> None:
    halves = [
        {((one, two, won, 2),): Weight(n, n, n) for won, n in ((1.0, groups), (2.0, 3 * groups))}
        for one, two, groups in ((A, B, 30), (C, D, 500))
    ]
    both, alone = rate(5, halves[0] | halves[1]), [rate(5, half) for half in halves]
    for bot, each in enumerate(both):
        expected = alone[bot in (C, D)][bot]
        assert (each.elo, each.note, each.p_first) == (expected.elo, expected.note, None)
    assert [both[A].part == both[bot].part for bot in (B, C, D)] == [True, False, False]
    assert all(each.p_first is not None for each in alone[0][:2])


def test_a_bot_against_itself_changes_no_rating() -> None:
    tally = Tally(2)
    add(tally, pair(A, B, WON, DRAWN))
    before = fitted(tally)
    add(tally, [Game((A, A), WON)])
    assert fitted(tally) == before


def test_the_order_of_games_changes_no_digit_of_a_rating() -> None:
    """A run that was killed and resumed has the same standings as an undisturbed one."""
    dice = random.Random(3)
    groups = [
        pair(*dice.sample(range(4), 2), dice.choice((WON, LOST, DRAWN)), dice.choice((WON, LOST))) for _ in range(200)
    ]
    found = []
    for _ in range(3):
        tally = Tally(4)
        for each in groups:
            add(tally, each)
        found.append(ratings(tally, draws=100))
        dice.shuffle(groups)
    assert found[0] == found[1] == found[2]


def test_a_bot_without_games_changes_no_rating_and_takes_no_rank() -> None:
    """The third is absent."""
    fields = []
    for bots in (2, 3):
        tally = Tally(bots)
        for there, back in ((WON, WON), (LOST, LOST), (WON, WON), (WON, LOST)) * 5:
            add(tally, pair(A, B, there, back))
        fields.append(ratings(tally, draws=1000))
    assert fields[1][:2] == fields[0] and fields[1][2].p_first is None
    for rating in (fields[1][2], *ratings(Tally(3), draws=100)):  # the last three without any game
        assert (rating.elo.value, rating.elo.low, rating.elo.high, rating.note) == (0, None, None, "no information")


# What does not depend on this code.


def minorised(games: list[Game], bots: int) -> list[float]:
    """The same ratings by the other well-known way, minorisation and maximisation (Hunter 2004), with the prior as a
    bot of strength 1 that everybody met once and drew with."""
    met = [[0] * bots for _ in range(bots)]
    ahead = [0.5] * bots
    for game in games:
        for one, rank in zip(game.bots, game.ranks, strict=True):
            for two, other in zip(game.bots, game.ranks, strict=True):
                if one != two:
                    met[one][two] += 1
                    ahead[one] += (rank < other) + 0.5 * (rank == other)
    strengths = [1.0] * bots
    for _ in range(5000):
        strengths = [
            ahead[bot]
            / (
                1 / (strengths[bot] + 1)
                + sum(times / (strengths[bot] + strengths[rival]) for rival, times in enumerate(met[bot]))
            )
            for bot in range(bots)
        ]
    logarithms = [math.log(strength) for strength in strengths]
    return [(value - sum(logarithms) / bots) * ELO for value in logarithms]


@pytest.mark.parametrize("seats", [2, 4])
def test_another_algorithm_finds_the_same_ratings(seats: int) -> None:
    luck = random.Random(seats)
    strengths = field(luck, 7, spread=1.5)
    groups = [seed_group(luck, strengths, luck.sample(range(7), seats), shared=0.5) for _ in range(60)]
    tally = Tally(7)
    for games in groups:
        add(tally, games)
    assert fitted(tally) == pytest.approx(minorised([game for games in groups for game in games], 7), abs=0.01)


def test_choix_finds_the_same_ratings() -> None:
    """Only if choix is installed: it needs scipy, which is larger than all other test dependencies."""
    luck = random.Random(5)
    strengths, tally, beaten = field(luck, 6), Tally(6), []
    for _ in range(1000):
        games = seed_group(luck, strengths, luck.sample(range(6), 2), shared=0.5)
        add(tally, games)
        beaten += [(game.bots[game.ranks.index(1)], game.bots[game.ranks.index(2)]) for game in games]
    theirs = [value * ELO for value in choix.ilsr_pairwise(6, beaten)]
    assert fitted(tally) == pytest.approx(theirs, abs=0.5)  # it has no prior


def test_openskill_ranks_the_bots_in_the_same_order() -> None:
    from openskill.models import PlackettLuce

    luck = random.Random(6)
    strengths = [0.7 * number for number in range(6)]
    model = PlackettLuce()
    theirs = [model.rating() for _ in strengths]
    tally = Tally(6)
    for _ in range(200):
        games = seed_group(luck, strengths, luck.sample(range(6), 4), shared=0.0)
        add(tally, games)
        for game in games:
            teams = model.rate([[theirs[bot]] for bot in game.bots], ranks=list(game.ranks))
            for bot, team in zip(game.bots, teams, strict=True):
                theirs[bot] = team[0]
    ours = fitted(tally)
    assert sorted(range(6), key=ours.__getitem__) == sorted(range(6), key=lambda bot: theirs[bot].mu) == [*range(6)]


# Intervals.


def coverage(runs: int, bots: int, seats: int, groups: int, shared: float) -> float:
    """Returns the percentage of intervals in simulated tournaments that hold the true rating."""
    luck = random.Random(runs + bots)
    inside = []
    for _ in range(runs):
        strengths = field(luck, bots)
        found = ratings(tournament(luck, strengths, seats, groups, shared), draws=0)
        for strength, rating in zip(strengths, found, strict=True):
            assert rating.elo.low is not None and rating.elo.high is not None
            inside.append(rating.elo.low <= in_elo(strength) <= rating.elo.high)
    return 100 * sum(inside) / len(inside)


@pytest.mark.parametrize(("bots", "seats", "groups", "shared"), [(2, 2, 60, 0.0), (6, 2, 150, 0.7), (4, 4, 60, 0.7)])
def test_95_of_100_intervals_hold_the_true_rating_with_any_shared_luck(
    bots: int, seats: int, groups: int, shared: float
) -> None:
    """Few and many bots at two seats, and four seats, where shared luck matters most; about 800 intervals each."""
    runs = {2: 800, 4: 200, 6: 120}[bots]
    assert 93 <= coverage(runs, bots, seats, groups, shared) <= 97


def test_shared_luck_makes_intervals_wider() -> None:
    widths = []
    for shared in (0.0, 1.0):
        luck = random.Random(3)
        widths.append(width(tournament(luck, field(luck, 4), seats=4, groups=100, shared=shared)))
    assert widths[1] > 1.5 * widths[0]


def test_winning_all_seed_groups_leaves_the_upper_end_open() -> None:
    tally = Tally(3)
    for _ in range(25):
        add(tally, pair(A, B, WON, WON))
        add(tally, pair(B, C, WON, LOST))
        add(tally, pair(B, C, DRAWN, WON))
    first, second, _ = ratings(tally, draws=0)
    assert first.elo.high == math.inf
    assert first.elo.low is not None and second.elo.value < first.elo.low < first.elo.value
    assert expected(first.elo.low - second.elo.value) ** 25 == pytest.approx(0.025)


def test_losing_all_seed_groups_leaves_the_lower_end_open() -> None:
    tally = Tally(2)
    for _ in range(5):
        add(tally, pair(A, B, LOST, LOST))
    first, second = ratings(tally)
    assert 0.8 < (second.p_first or 0) < 0.9999, "five wins of five do not make a bot surely the best"
    assert (first.elo.low, second.elo.high) == (-math.inf, math.inf)
    assert (first.note, second.note) == ("few", "few")
    assert first.elo.high is not None and expected(first.elo.high - second.elo.value) == pytest.approx(1 - 0.025**0.2)


def test_equal_seed_groups_give_no_interval() -> None:
    tally = Tally(3)
    for _ in range(50):
        add(tally, pair(A, B, WON, LOST))
    for rating in ratings(tally, draws=0):
        assert (rating.elo.low, rating.elo.high, rating.note) == (None, None, "no information")


# The chance of being the best.


def test_the_chances_to_be_the_best_add_up_and_follow_from_the_seed() -> None:
    luck = random.Random(4)
    tally = tournament(luck, field(luck, 5), seats=2, groups=80, shared=0.5)
    found = [rating.p_first for rating in ratings(tally)]
    assert found == [rating.p_first for rating in ratings(tally)]
    assert found != [rating.p_first for rating in ratings(tally, seed=1)]
    assert sum(chance or 0 for chance in found) == pytest.approx(1)


def test_the_chance_of_being_better_is_the_one_of_the_interval() -> None:
    """For two bots, it is the chance that the difference is above 0, given the interval's deviation."""
    tally = Tally(2)
    for there, back in ((WON, WON), (LOST, WON), (LOST, LOST), (WON, WON), (DRAWN, LOST)) * 8:
        add(tally, pair(A, B, there, back))
    first = ratings(tally, draws=100_000)[0]
    assert first.elo.high is not None
    deviations = first.elo.value / ((first.elo.high - first.elo.value) / 1.959964)
    assert first.p_first == pytest.approx(math.erfc(-deviations / math.sqrt(2)) / 2, abs=0.005)


# Copies and faults.


def test_repeats_do_not_narrow_an_interval() -> None:
    """Returns the ratings of ten different seed groups, and of the same ten played five times."""
    results = ((WON, WON), (WON, LOST), (LOST, LOST), (WON, WON), (DRAWN, WON)) * 2
    widths = []
    for times, copied in ((1, True), (5, True), (5, False)):
        tally = Tally(2)
        for time in range(times):
            for number, (there, back) in enumerate(results):
                add(tally, pair(A, B, there, back), content=2 + 2 * number + (0 if copied else 100 * time))
        widths.append(width(tally))
    once, copies, others = widths
    assert copies == pytest.approx(once, rel=0.1)  # the prior weighs less
    assert others < 0.6 * once


def test_faults_cost_rating_but_not_the_rating_without_them() -> None:
    tally = Tally(2)
    for there, back in ((WON, WON), (LOST, LOST)) * 10:
        add(tally, pair(A, B, there, back))
    for _ in range(10):
        crash = Game((A, B), LOST, faulty=True)
        add(tally, [crash, pair(A, B, WON, WON)[1]])
        add(tally, [crash, pair(A, B, WON, LOST)[1]])
    assert tally.faulty == 20
    assert ratings(tally, draws=0)[A].elo.value < -30
    assert ratings(tally, without_faults=True, draws=0)[A].elo.value == pytest.approx(0, abs=1e-6)
