"""The pairing of a Swiss round: compared with all possible rounds, and by its properties."""

import itertools
import random
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_schedules import Played

from referee.addons.tournament.formats.games import Field, Outcome, ScheduledGame, Seating
from referee.addons.tournament.formats.matching import Situation, Standing, has_first_seat, paired, wish
from referee.addons.tournament.formats.swiss import swiss, swiss_so_far
from referee.addons.tournament.plan import Entry, Plan, checked, identified
from referee.harness.common.errors import UsageError

pytestmark = pytest.mark.slow

Pair = tuple[int, int]


def all_rounds(players: tuple[int, ...]) -> Iterator[tuple[list[Pair], int | None]]:
    """Yields every way to pair the players; one has a bye if their number is odd."""
    if len(players) % 2:
        for bye in players:
            for pairs, _ in all_rounds(tuple(player for player in players if player != bye)):
                yield pairs, bye
    elif not players:
        yield [], None
    else:
        first, *others = players
        for other in others:
            for pairs, bye in all_rounds(tuple(player for player in others if player != other)):
                yield [(first, other), *pairs], bye


def quality(situation: Situation, pairs: list[Pair], bye: int | None) -> list[int]:
    """Returns what a round should have little of, written from the documents: the most important first."""
    players, met = situation.players, {(one, two): times for one, two, times in situation.met}
    count = len(players)
    sizes = Counter(player.score for player in players)
    clashes = denied = strong = floats = squares = apart = 0
    for one, two in pairs:
        a, b = players[one], players[two]
        if a.wish * b.wish > 0:
            denied += 1
            strong += abs(a.wish) > 1 and abs(b.wish) > 1
            clashes += abs(a.wish) == abs(b.wish) == 3
        squares += (a.score - b.score) ** 2
        if a.score == b.score:
            apart += (two - one - sizes[a.score] // 2) ** 2
        else:
            apart += (two - one) ** 2
            for weight, back in ((2, 0), (1, 1)):
                floats += weight * (len(a.floats) > back and a.floats[back] == 1)
                floats += weight * (len(b.floats) > back and b.floats[back] == -1)
    byes = low = 0
    if bye is not None:
        player = players[bye]
        byes, low = player.byes, player.score - players[-1].score
        apart += (count - 1 - bye) ** 2
        for weight, back in ((2, 0), (1, 1)):
            floats += weight * (len(player.floats) > back and player.floats[back] == 1)
    rematches = sum(met.get(pair, 0) ** 2 for pair in pairs)
    return [byes, rematches, clashes, low, squares, denied, strong, floats, apart]


def situation(luck: random.Random, count: int) -> Situation:
    scores = sorted((luck.randrange(6) for _ in range(count)), reverse=True)
    players = tuple(
        Standing(
            score, luck.choice([0, 0, 1]), luck.randint(-3, 3), tuple(luck.choices([-1, 0, 1], k=luck.randrange(3)))
        )
        for score in scores
    )
    pairs = list(itertools.combinations(range(count), 2))
    met = frozenset((*pair, luck.randint(1, 2)) for pair in luck.sample(pairs, luck.randint(0, len(pairs))))
    return Situation(players, met, luck.getrandbits(64))


@pytest.mark.parametrize("count", range(2, 9))
def test_no_other_round_is_better(count: int) -> None:
    for seed in range(100 if count < 7 else 30):
        given = situation(random.Random(seed), count)
        pairs, bye = paired(given)
        best = min(quality(given, *each) for each in all_rounds(tuple(range(count))))
        assert sorted([*itertools.chain(*pairs), *([] if bye is None else [bye])]) == list(range(count))
        assert quality(given, list(pairs), bye) == best, given


class Beats(Played):
    """The stronger bot wins, or sometimes the other one."""

    def play(self, game: ScheduledGame, strength: bool = True) -> None:
        luck = random.Random(repr(game))
        one, two = game.seats
        ranks = luck.choice([(1, 2), (2, 1), (1, 1), (1, 2) if one < two else (2, 1)])
        self[game] = Outcome(ranks, (0.0, 0.0))


def rounds(field: Field, results: Played) -> list[list[ScheduledGame]]:
    """Plays a tournament. Returns the games of each round."""
    found: list[list[ScheduledGame]] = []
    waiting: list[ScheduledGame] = []
    for game in swiss(field, results):
        if game is not None:
            waiting.append(game)
        elif waiting:
            for each in waiting:
                if results.get(each) is None:
                    results.play(each)
            found.append(waiting)
            waiting = []
    return found


@settings(deadline=None, max_examples=12)
@given(bots=st.integers(10, 60), games=st.integers(1, 2), seed=st.integers(0, 100))
def test_a_swiss_has_no_avoidable_rematch(bots: int, games: int, seed: int) -> None:
    field = Field(bots, 2, games, seed, rounds=min(bots // 2, 15))
    results = Beats()
    played = rounds(field, results)
    met = Counter(tuple(sorted(game.seats)) for each in played for game in each)
    assert len(played) == field.rounds and set(met.values()) == {games}
    byes = Counter(bot for each in swiss_so_far(field, results) for bot, points in each.byes.items() if points)
    assert not byes or max(byes.values()) == 1


@settings(deadline=None, max_examples=12)
@given(
    bots=st.integers(6, 40),
    seating=st.sampled_from([Seating.SEED_GROUP, Seating.ALTERNATE]),
    games=st.sampled_from([1, 3]),
    seed=st.integers(0, 100),
)
def test_with_an_odd_number_of_games_both_seats_are_balanced(
    bots: int, seating: Seating, games: int, seed: int
) -> None:
    field = Field(bots, 2, games, seed, seating=seating, rounds=min(bots // 2, 9))
    played = rounds(field, Beats())
    assert len(set(itertools.chain(*played))) == sum(map(len, played))
    first: Counter[int] = Counter()
    for each in played:
        for game in each:
            first.update({game.seats[0]: 1, game.seats[1]: -1})
    assert max(map(abs, first.values())) <= 2


def test_thirty_bots_and_twenty_rounds_need_no_rematch() -> None:
    played = rounds(Field(30, rounds=20), Beats())
    assert set(Counter(tuple(sorted(game.seats)) for each in played for game in each).values()) == {2}


@pytest.mark.parametrize(
    ("seats", "expected"),
    [
        *(([], 0), ([1], -2), ([1, -1], 1), ([-1, 1], -1), ([1, 1], -3)),
        *(([1, -1, -1], 3), ([1, -1, 1], -2), ([1, 1, -1, 1], -3)),
    ],
)
def test_the_wish_for_a_seat_is_that_of_the_dutch_system(seats: list[int], expected: int) -> None:
    assert wish(seats) == expected


def test_of_two_equal_wishes_the_last_different_seats_decide_then_the_rank() -> None:
    assert has_first_seat([1, -1], [1, -1], 0)
    assert not has_first_seat([1], [-1], 0)
    assert has_first_seat([1, -1, 1, -1], [-1, 1, 1, -1], 0)
    assert not has_first_seat([-1, 1, 1, -1], [1, -1, 1, -1], 0)
    assert has_first_seat([], [], 0) and not has_first_seat([], [], 1)


def test_a_thousand_bots_are_paired_without_a_deep_recursion() -> None:
    field = Field(1001, 2, 2, 1, rounds=1)
    played = rounds(field, Beats())
    assert [len(each) for each in played] == [1000]
    assert set(Counter(tuple(sorted(game.seats)) for each in played for game in each).values()) == {2}


def test_without_its_library_a_swiss_names_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.addons.tournament.plan.find_spec", lambda name: None)
    bots = identified([Entry(name, "", name * 64, "@random") for name in "abc"])
    plan = Plan("tictactoe", "swiss", 1, bots)
    with pytest.raises(UsageError, match=r"needs the extra `tournament`; .* -m pip install .*tournament"):
        checked(plan)
    with pytest.raises(UsageError, match="extra `tournament`"):
        plan.scheduled_games({})
    assert checked(plan.replaced(format="round-robin"))
