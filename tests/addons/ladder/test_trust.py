"""The sequential test of runners: its error rate, a second implementation, and forgers that it finds."""

import math
import random
from collections.abc import Callable, Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.addons.ladder.trust import ERROR_RATE, STAKES, Differences, Times, gains, lateness, score_of, suspects

BOTS = [f"bot-{number}" for number in range(12)]
Said = tuple[tuple[int, ...], frozenset[int]]
"""What a runner says of a game: ranks by seat, and the seats that ran out of time."""
Forge = Callable[[random.Random, Said, tuple[str, ...]], Said]


def honest_game(luck: random.Random, bots: tuple[str, ...]) -> Said:
    """Plays a game: the bot with the higher number is better, and some run out of time and lose."""
    chance = 1 / (1 + math.exp((BOTS.index(bots[1]) - BOTS.index(bots[0])) / 4))
    late = frozenset(seat for seat in (0, 1) if luck.random() < 0.05)
    if len(late) == 1:
        return ((2, 1) if 0 in late else (1, 2)), late
    return ((1, 1) if luck.random() < 0.1 else (1, 2) if luck.random() < chance else (2, 1)), late


def year(
    luck: random.Random, runners: Sequence[str], games: int, liar: str = "", forge: Forge | None = None
) -> Differences:
    """Returns games that two runners have played, in game pairs. The liar changes what it hands in."""
    found = Differences()
    for _ in range(games // 2):
        one, other = luck.sample(runners, 2)
        bots = tuple(luck.sample(BOTS, 2))
        for seats in (bots, bots[::-1]):
            said = [honest_game(luck, seats) for _ in (one, other)]
            if forge and liar in (one, other):
                said[liar == other] = forge(luck, said[liar == other], seats)
            found.add_game((one, other), seats, (said[0][0], said[1][0]), (said[0][1], said[1][1]))
    return found


def test_an_honest_runner_is_suspected_no_more_often_than_stated() -> None:
    """40 ladders of four runners: 160 honest runners, of which 0.16 may be suspected in the mean."""
    wrong = sum(len(suspects(year(random.Random(seed), "abcd", 160))) for seed in range(40))
    assert wrong <= 2  # the chance of three or more is below 0.001 at the stated rate


def test_at_a_higher_rate_the_share_of_suspects_stays_below_it() -> None:
    """The bound holds at every rate: where honest runners reach a capital of 20, at most one in 20 does."""
    highest = [gain for seed in range(60) for gain in gains(year(random.Random(seed), "ab", 200)).values()]
    for capital in (4, 10, 20):
        share = sum(gain >= capital for gain in highest) / len(highest)
        assert share <= 1 / capital + 3 * math.sqrt(1 / capital / len(highest)), capital
    assert max(highest) > 1.5  # the bets do move


def favours(luck: random.Random, said: Said, seats: tuple[str, ...]) -> Said:
    """A forger that lets its bot win."""
    return (tuple(1 if bot == "bot-3" else 2 for bot in seats), said[1]) if "bot-3" in seats else said


def slows(luck: random.Random, said: Said, seats: tuple[str, ...]) -> Said:
    """A runner whose machine slows one bot, which then runs out of time in every second game."""
    if "bot-11" not in seats or luck.random() < 0.5:
        return said
    return tuple(2 if bot == "bot-11" else 1 for bot in seats), said[1] | {seats.index("bot-11")}


@pytest.mark.parametrize("forge", [favours, slows])
def test_a_forger_is_found_and_its_honest_witnesses_are_not(forge: Forge) -> None:
    found = suspects(year(random.Random(5), "abcdef", 2400, "c", forge))
    assert found.keys() == {"c"}


def test_of_two_that_only_witness_each_other_nobody_can_say_who_lies() -> None:
    found = suspects(year(random.Random(5), "ab", 1600, "a", favours))
    assert found.keys() == {"a", "b"}


def test_no_pairs_no_suspects() -> None:
    assert suspects(Differences()) == {} and gains(Differences()) == {}


def capital(games: Sequence[list[tuple[str, Fraction]]]) -> Fraction:
    """The highest capital after a game by its definition, in exact fractions: a second implementation."""
    highest, subjects = Fraction(1), list(dict.fromkeys(subject for game in games for subject, _ in game))
    for end in range(1, len(games) + 1):
        seen = [each for game in games[:end] for each in game]
        total = Fraction(1)
        for number, subject in enumerate(subjects, 1):
            bets = []
            for stake in (*STAKES, *(-stake for stake in STAKES)):
                product = Fraction(1)
                for each, difference in seen:
                    product *= 1 + Fraction(stake) * difference if each == subject else 1
                bets.append(product)
            total += Fraction(1, number * (number + 1)) * (sum(bets) / len(bets) - 1)
        highest = max(highest, total)
    return highest


results = st.sampled_from([(1, 2), (2, 1), (1, 1)])
times = st.frozensets(st.integers(0, 1))


@given(st.lists(st.tuples(results, results, times, times, st.booleans()), max_size=6))
def test_the_gain_is_that_of_a_second_implementation(games: list[tuple]) -> None:  # type: ignore[type-arg]
    found, expected = Differences(), []
    for one, other, late, later, turned in games:
        bots = ("y", "x") if turned else ("x", "y")
        found.add_game(("a", "b"), bots, (one, other), (late, later))
        differences = []
        for seat, bot in enumerate(bots):
            scores = [Fraction(1 + ranks[1 - seat] - ranks[seat], 2) for ranks in (one, other)]
            differences.append((f"{bot} score", scores[0] - scores[1]))
            differences.append((f"{bot} time", Fraction(seat in late) - Fraction(seat in later)))
        if kept := [each for each in differences if each[1]]:
            expected.append(kept)
    assert gains(found).get("a", 1.0) == pytest.approx(float(capital(expected)), rel=1e-12)


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


# The certificate.


def seen_late(luck: random.Random, games: int, machine: float, bots: float = 0.05) -> tuple[int, int, int]:
    """Plays games in which bots run out of time by themselves, and at one runner also by its machine."""
    alone = missed = 0
    for _ in range(games):
        here, there = luck.random() < bots or luck.random() < machine, luck.random() < bots
        alone, missed = alone + (here and not there), missed + (there and not here)
    return games, alone, missed


def test_a_machine_that_keeps_to_its_certificate_is_accused_no_more_often_than_stated() -> None:
    """The worst honest machine: it decides exactly the share of games that its certificate admits."""
    for certified in (0.0, 0.01, 0.1):
        luck = random.Random(3)
        found = [lateness(*seen_late(luck, 400, certified), certified) for _ in range(400)]
        for capital in (2, 4, 20):
            share = sum(each >= capital for each in found) / len(found)
            assert share <= 1 / capital + 3 * math.sqrt(1 / capital / len(found)), (certified, capital)
        assert max(found) < 1 / ERROR_RATE


@pytest.mark.parametrize(("machine", "certified"), [(0.05, 0.002), (0.2, 0.05)])
def test_a_machine_that_causes_more_time_outs_than_its_certificate_admits_is_found(
    machine: float, certified: float
) -> None:
    seen = seen_late(random.Random(4), 5000, machine)
    assert lateness(*seen, certified) >= 1 / ERROR_RATE
    games, alone, missed = seen
    assert lateness(games, missed, alone, certified) == 1  # whose bots are faster than elsewhere is not accused
    assert lateness(*seen, 1.0) == 1  # a certificate that admits everything excuses everything, and everybody sees it


def test_millions_of_games_are_no_matter_and_give_a_bounded_number() -> None:
    assert lateness(5_000_000, 0, 5_000_000, 0.001) == 1
    assert lateness(5_000_000, 5_000_000, 0, 0.001) == 10**12
    assert lateness(0, 0, 0, 1.0) == 1


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40), st.sampled_from([0.0, 0.001, 0.25, 1.0]))
def test_the_evidence_of_lateness_is_that_of_a_second_implementation(
    alone: int, missed: int, others: int, certified: float
) -> None:
    total = Fraction(0)
    for stake in ("1/10", "3/10", "6/10", "9/10"):
        bet = Fraction(stake) / (1 + Fraction(certified))
        part = Fraction(1, 4)
        for difference, count in ((1, alone), (-1, missed), (0, others)):
            part *= (1 + bet * (difference - Fraction(certified))) ** count
        total += part
    expected = max(1, min(10**12, math.floor(total)))
    assert abs(lateness(alone + missed + others, alone, missed, certified) - expected) <= 1


def test_witnesses_that_are_suspect_say_nothing_about_a_machine() -> None:
    times = Times()
    times.add("a", "b", 10, 3, 1)
    times.add("a", "liar", 20, 9, 0)
    times.add("b", "a", 10, 1, 3)
    assert times.of("a") == (30, 12, 1) and times.of("a", {"liar"}) == (10, 3, 1) and times.of("c") == (0, 0, 0)
