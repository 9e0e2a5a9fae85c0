"""The sequential test of runners: its error rate, a second implementation, and forgers that it finds."""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.harness.ladder.trust import ERROR_RATE, STAKES, Pair, gains, score_of, suspects

BOTS = [f"bot-{number}" for number in range(12)]
Forge = Callable[[str, tuple[float, ...], tuple[bool, ...]], tuple[tuple[float, ...], tuple[bool, ...]]]


def honest_game(luck: random.Random, bots: tuple[str, str]) -> tuple[tuple[float, ...], tuple[bool, ...]]:
    """Plays a game: the bot with the higher number is better, and some run out of time."""
    chance = 1 / (1 + math.exp((BOTS.index(bots[1]) - BOTS.index(bots[0])) / 4))
    first = 0.5 if luck.random() < 0.1 else float(luck.random() < chance)
    late = luck.random() < 0.02, luck.random() < 0.02
    return (first, 1 - first), late


def year(
    luck: random.Random, runners: Sequence[str], games: int, liar: str = "", forge: Forge | None = None
) -> Iterator[Pair]:
    """Yields games that two runners have played, in game pairs. The liar changes what it hands in."""
    for _ in range(games // 2):
        one, other = luck.sample(runners, 2)
        bots = tuple(luck.sample(BOTS, 2))
        for seats in (bots, bots[::-1]):
            said = []
            for runner in (one, other):
                scores, late = honest_game(luck, seats)
                said.append(forge(luck, scores, late, seats) if forge and runner == liar else (scores, late))
            yield Pair((one, other), seats, (said[0][0], said[1][0]), (said[0][1], said[1][1]))


def test_an_honest_runner_is_suspected_no_more_often_than_stated() -> None:
    """120 ladders of four runners: 480 honest runners, of which 0.48 may be suspected in the mean."""
    wrong = sum(len(suspects(list(year(random.Random(seed), "abcd", 160)))) for seed in range(120))
    assert wrong <= 4  # the chance of five or more is below 0.0002 at the stated rate


def test_at_a_higher_rate_the_share_of_suspects_stays_below_it() -> None:
    """The bound holds at every rate: where honest runners reach a capital of 20, at most one in 20 does."""
    highest = [gain for seed in range(150) for gain in gains(year(random.Random(seed), "ab", 200)).values()]
    for capital in (4, 10, 20):
        share = sum(gain >= capital for gain in highest) / len(highest)
        assert share <= 1 / capital + 3 * math.sqrt(1 / capital / len(highest)), capital
    assert max(highest) > 1.5  # the bets do move


def favours(luck: random.Random, scores: tuple[float, ...], late: tuple[bool, ...], seats: tuple[str, ...]):  # type: ignore[no-untyped-def]
    """A forger that lets its bot win."""
    if "bot-3" in seats:
        return tuple(float(bot == "bot-3") for bot in seats), late
    return scores, late


def slows(luck: random.Random, scores: tuple[float, ...], late: tuple[bool, ...], seats: tuple[str, ...]):  # type: ignore[no-untyped-def]
    """A runner whose machine slows one bot, which then runs out of time in every second game."""
    if "bot-11" in seats and luck.random() < 0.5:
        seat = seats.index("bot-11")
        return tuple(0.0 if at == seat else 1.0 for at in range(2)), tuple(at == seat or late[at] for at in range(2))
    return scores, late


@pytest.mark.parametrize("forge", [favours, slows])
def test_a_forger_is_found_and_its_honest_witnesses_are_not(forge: Forge) -> None:
    found = suspects(list(year(random.Random(5), "abcdef", 2400, "c", forge)))
    assert found.keys() == {"c"}


def test_of_two_that_only_witness_each_other_nobody_can_say_who_lies() -> None:
    found = suspects(list(year(random.Random(5), "ab", 1600, "a", favours)))
    assert found.keys() == {"a", "b"}


def test_no_pairs_no_suspects() -> None:
    assert suspects([]) == {} and gains([]) == {}


def capital(differences: Sequence[tuple[str, Fraction]]) -> Fraction:
    """The capital by its definition, in exact fractions: a second implementation."""
    highest, order = Fraction(1), list(dict.fromkeys(subject for subject, _ in differences))
    for end in range(1, len(differences) + 1):
        total = Fraction(0)
        for number, subject in enumerate(order, 1):
            bets = []
            for stake in (*STAKES, *(-stake for stake in STAKES)):
                product = Fraction(1)
                for each, difference in differences[:end]:
                    if each == subject:
                        product *= 1 + Fraction(stake) * difference
                bets.append(product)
            total += Fraction(1, number * (number + 1)) * sum(bets) / len(bets)
        rest = 1 - sum(Fraction(1, number * (number + 1)) for number in range(1, len(order) + 1))
        highest = max(highest, total + rest)
    return highest


results = st.sampled_from([(1.0, 0.0), (0.0, 1.0), (0.5, 0.5)])
times = st.tuples(st.booleans(), st.booleans())


@given(st.lists(st.tuples(results, results, times, times, st.booleans()), max_size=6))
def test_the_gain_is_that_of_a_second_implementation(games: list[tuple]) -> None:  # type: ignore[type-arg]
    pairs = [
        Pair(("a", "b"), ("y", "x") if turned else ("x", "y"), (one, other), (late, later))
        for one, other, late, later, turned in games
    ]
    differences = [
        ((pair.bots[seat] + what), Fraction(values[0][seat]) - Fraction(values[1][seat]))
        for pair in pairs
        for seat in range(2)
        for what, values in (("score", pair.scores), ("time", pair.timeouts))
    ]
    expected = float(capital(differences))
    assert gains(pairs).get("a", 1.0) == pytest.approx(expected, rel=1e-12)


def test_bets_gain_nothing_in_the_mean() -> None:
    """Over all outcomes of a game that both play alike, the capital's mean stays 1: it is a fair game."""
    outcomes = [((1.0, 0.0), 0.5), ((0.0, 1.0), 0.3), ((0.5, 0.5), 0.2)]
    mean = 0.0
    for one, p in outcomes:
        for other, q in outcomes:
            total = 0.0
            for stake in (*STAKES, *(-stake for stake in STAKES)):
                total += (1 + stake * (one[0] - other[0])) / (2 * len(STAKES))
            mean += p * q * total
    assert mean == pytest.approx(1) and ERROR_RATE == 0.001


def test_a_score_is_the_share_of_the_others_that_finished_behind() -> None:
    assert [score_of((1, 2), seat) for seat in (0, 1)] == [1.0, 0.0]
    assert score_of((1, 1), 0) == 0.5
    assert [score_of((1, 3, 3, 2), seat) for seat in range(4)] == [1.0, 1 / 6, 1 / 6, 2 / 3]
