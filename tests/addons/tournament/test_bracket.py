"""Knockout and double elimination, compared with a second implementation that plays whole rounds of names."""

import random
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from contests import drawing_bot, table, tournament

from referee.addons.tournament.formats.bracket import EXTRA, Bracket, Decision, Side, order_of_seeds
from referee.addons.tournament.formats.games import Field, Outcome, ScheduledGame
from referee.addons.tournament.formats.schedules import FORMATS
from referee.addons.tournament.plan import read_plan

pytestmark = pytest.mark.slow

Played = dict[ScheduledGame, Outcome]
WON, DRAWN, LOST = (1, 2), (1, 1), (2, 1)
FORMAT = {False: "knockout", True: "double-elimination"}


def outcome(ranks: tuple[int, int]) -> Outcome:
    return Outcome(ranks, tuple(float(2 - rank) for rank in ranks))


class Luck:
    """Plays games: the better bot wins more often, and everything depends on the game alone."""

    def __init__(self, seed: int, draws: float = 0.3, spread: float = 0.1) -> None:
        self.seed, self.draws, self.spread = seed, draws, spread

    def __call__(self, game: ScheduledGame) -> Outcome:
        dice = random.Random(hash((self.seed, game.seats, game.seed_group)))
        if dice.random() < self.draws:
            return outcome(DRAWN)
        one, two = game.seats
        return outcome(WON if dice.random() < 0.5 + self.spread * (two - one) / 10 else LOST)


def favourites(game: ScheduledGame) -> Outcome:
    return outcome(WON if game.seats[0] < game.seats[1] else LOST)


def always_drawn(game: ScheduledGame) -> Outcome:
    return outcome(DRAWN)


def played_out(double: bool, field: Field, luck, dice: random.Random | None = None) -> tuple[Played, Bracket]:
    """Plays a whole tournament. `dice` chooses the order in which running games end."""
    results: Played = {}
    running: list[ScheduledGame] = []
    yielded: list[ScheduledGame] = []
    for game in FORMATS[FORMAT[double]](field, results):
        if game is not None:
            running.append(game)
            yielded.append(game)
        elif dice is None:
            results.update((each, luck(each)) for each in running)
            running = []
        else:
            assert running, "it waits although no game is running"
            for _ in range(dice.randint(1, 8)):
                if running:
                    each = running.pop(dice.randrange(len(running)))
                    results[each] = luck(each)
    assert not running, "every game that is yielded is needed"
    assert len(yielded) == len(set(yielded)) == len(results)
    bracket = Bracket(field, double)
    assert bracket.advance(results) and bracket.is_over
    return results, bracket


def defeats(bracket: Bracket) -> Counter[int]:
    beaten = [match.bot(loser=True) for match in bracket.matches if match.is_played and match.side is not Side.THIRD]
    return Counter(bot for bot in beaten if bot is not None)


def by_hand(bots: int, games: int, double: bool, luck) -> list[list[int]]:
    """Plays with lists of bots, round by round. Returns the places."""
    meetings = Counter[frozenset[int]]()
    block = games + games % 2 + 2 * EXTRA

    def won(one: int | None, two: int | None) -> tuple[int | None, int | None]:
        """Returns winner and loser."""
        if one is None or two is None:
            return (two, None) if one is None else (one, None)
        better, worse = sorted((one, two))
        start = meetings[frozenset((one, two))] * block
        meetings[frozenset((one, two))] += 1
        score = {better: 0.0, worse: 0.0}

        def play(number: int) -> None:
            seats = (better, worse) if number % 2 == 0 else (worse, better)
            for bot, share in zip(seats, luck(ScheduledGame(seats, number // 2)).shares, strict=True):
                score[bot] += share

        for number in range(start, start + games):
            if max(score.values()) <= games / 2:
                play(number)
        for group in range(EXTRA):
            if score[better] == score[worse]:
                play(start + games + games % 2 + 2 * group)
                play(start + games + games % 2 + 2 * group + 1)
        return (better, worse) if score[better] >= score[worse] else (worse, better)

    size = 2
    while size < bots:
        size *= 2

    def drawn(seed: int, among: int) -> list[int]:
        """Returns the seeds below a place of the bracket."""
        return [seed] if among == size else [*drawn(seed, 2 * among), *drawn(2 * among - 1 - seed, 2 * among)]

    alive: list[int | None] = [seed if seed < bots else None for seed in drawn(0, 1)]
    fallen: list[list[int | None]] = []
    while len(alive) > 1:
        if len(alive) == 2 and not double and fallen:
            third = won(*fallen[-1])
        pairs = [won(*pair) for pair in zip(alive[::2], alive[1::2], strict=True)]
        alive = [winner for winner, _ in pairs]
        fallen.append([loser for _, loser in pairs])
    champion = alive[0]
    out: list[list[int | None]] = []
    if not double:
        out = [*fallen[:-2], *([[third[1]], [third[0]]] if len(fallen) > 1 else []), fallen[-1], [champion]]
    else:
        left = fallen[0]
        if len(left) > 1:
            left = below(left, won, out)
        for turn, losers in enumerate(fallen[1:]):
            half = len(losers) // 2
            losers = list(reversed(losers)) if turn % 2 == 0 else losers[half:] + losers[:half]
            left = below([bot for pair in zip(left, losers, strict=True) for bot in pair], won, out)
            if len(left) > 1:
                left = below(left, won, out)
        winner, loser = won(champion, left[0])
        if winner != champion:
            winner, loser = won(winner, loser)
        out += [[loser], [winner]]
    return [sorted(kept) for each in reversed(out) if (kept := [bot for bot in each if bot is not None])]


def below(left: list[int | None], won, out: list[list[int | None]]) -> list[int | None]:
    pairs = [won(*pair) for pair in zip(left[::2], left[1::2], strict=True)]
    out.append([loser for _, loser in pairs])
    return [winner for winner, _ in pairs]


@pytest.mark.parametrize("double", [False, True])
def test_places_agree_with_a_second_implementation_in_any_order_of_arrival(double: bool) -> None:
    """A bot that is out has lost once, or twice, and the number of matches is right."""
    dice, resets = random.Random(4), 0
    for number in range(80):
        bots, games = dice.randint(2, 40), dice.randint(1, 5)
        luck = Luck(number, draws=dice.choice([0.1, 0.5, 0.9]), spread=dice.choice([0.0, 0.3]))
        results, bracket = played_out(double, Field(bots, 2, games), luck, dice)
        assert bracket.places() == by_hand(bots, games, double, luck), (number, bots, games)
        again, _ = played_out(double, Field(bots, 2, games), luck)
        assert again == results

        matches = [match for match in bracket.matches if match.is_played and match.side is not Side.THIRD]
        lost, places = defeats(bracket), bracket.places()
        (winner,) = places[0]
        resets += lost[winner]
        assert sorted(bot for bots in places for bot in bots) == list(range(bots))
        assert {lost[bot] for bot in range(bots) if bot != winner} == {1 + double}
        assert len(matches) == (2 * bots - 2 + lost[winner] if double else bots - 1) and lost[winner] <= double
        if not double:
            assert sum(match.side is Side.THIRD and match.is_played for match in bracket.matches) == (bots > 3)
            assert len(places[1]) == 1 and (bots < 3 or len(places[2]) == 1)
    assert not double or 8 < resets < 72


def test_seeds_meet_as_late_as_they_can_if_favourites_win() -> None:
    assert order_of_seeds(8) == [0, 7, 3, 4, 1, 6, 2, 5]
    for bots in range(2, 41):
        _, bracket = played_out(False, Field(bots, 2, 2), favourites)
        assert [bot for bots in bracket.places() for bot in bots][:4] == list(range(min(bots, 4)))
        last = max(match.round for match in bracket.matches if match.side is Side.UPPER)
        for match in bracket.matches:
            if match.side is Side.UPPER and match.is_played:
                assert max(bot for bot in match.bots if bot is not None) < 2 ** (last - match.round + 1)
        _, bracket = played_out(True, Field(bots, 2, 2), favourites)
        assert bracket.places()[:2] == [[0], [1]]
        final = next(match for match in bracket.matches if match.side is Side.FINAL)
        assert final.bots == [0, 1]


def test_the_best_seeds_have_the_byes() -> None:
    for bots in range(2, 41):
        bracket = Bracket(Field(bots, 2, 2), double=False)
        resting = [
            match.bot() for match in bracket.matches if match.decision is Decision.BYE and match.side is Side.UPPER
        ]
        assert sorted(resting) == list(range(len(resting)))
        assert len(resting) == (1 << (bots - 1).bit_length()) - bots


def test_a_match_ends_when_it_is_decided() -> None:
    for games, played in ((1, 1), (2, 2), (3, 2), (4, 3), (7, 4), (10, 6)):
        results, _ = played_out(False, Field(2, 2, games), favourites)
        assert len(results) == played, games


@pytest.mark.parametrize("games", range(1, 6))
def test_equal_bots_play_further_game_pairs_with_new_seeds_then_the_better_seed_wins(games: int) -> None:
    field = Field(5, 2, games, seeds=(3, 1, 4, 0, 2))
    results, bracket = played_out(False, field, always_drawn)
    assert bracket.places() == [[3], [1], [4], [0], [2]]
    seeds = defaultdict(list)
    for game in results:
        seeds[frozenset(game.seats)].append(game.seed_group)
    for groups in seeds.values():
        assert len(groups) == games + 2 * EXTRA
        assert sorted(Counter(groups).values())[-EXTRA:] == [2] * EXTRA
    assert all(match.decision is not Decision.GAMES for match in bracket.matches)


def test_one_decisive_extra_pair_ends_a_match() -> None:
    def luck(game: ScheduledGame) -> Outcome:
        return outcome(DRAWN) if game.seed_group != 2 or game.seats[0] == 0 else outcome(WON)

    results, bracket = played_out(False, Field(2, 2, 2), luck)
    assert len(results) == 6 and bracket.places() == [[1], [0]]


@pytest.mark.parametrize("double", [False, True])
def test_a_withdrawn_bot_keeps_its_results_and_loses_the_rest_by_walk_over(double: bool) -> None:
    dice = random.Random(5)
    for number in range(100):
        bots = dice.randint(2, 20)
        field, luck = Field(bots, 2, 2), Luck(number)
        results, _ = played_out(double, field, luck)
        before = dict(list(results.items())[: dice.randrange(len(results))])
        gone = tuple(dice.sample(range(bots), dice.randint(1, min(3, bots))))
        later = Field(bots, 2, 2, withdrawn=gone)
        now = dict(before)
        running: list[ScheduledGame] = []
        for game in FORMATS[FORMAT[double]](later, now):
            if game is None:
                now.update((each, luck(each)) for each in running)
                running = []
            elif game not in now:
                running.append(game)
        assert not any(set(game.seats) & set(gone) for game in now.keys() - before.keys())
        bracket = Bracket(later, double)
        bracket.advance(now)
        assert bracket.is_over
        assert sorted(bot for bots in bracket.places() for bot in bots) == list(range(bots))
        for match in bracket.matches:
            if match.decision is Decision.WALKOVER:
                assert match.bot(loser=True) in gone


def test_an_expelled_bot_loses_and_of_two_expelled_ones_the_better_seed_goes_on() -> None:
    def luck(game: ScheduledGame) -> Outcome:
        out = [bot in (0, 3) for bot in game.seats]
        if not any(out):
            return favourites(game)
        points = tuple(float(not each) for each in out)
        return Outcome(tuple(1 if not each else 3 - sum(out) for each in out), points, forfeit=True)

    _, bracket = played_out(False, Field(4, 2, 2), luck)
    assert bracket.places() == [[1], [0], [2], [3]]


def test_places_are_shared_while_a_bracket_grows() -> None:
    field = Field(8, 2, 2)
    results, _ = played_out(False, field, favourites)
    first_round = dict(list(results.items())[:8])
    bracket = Bracket(field, double=False)
    bracket.advance(first_round)
    assert bracket.places() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert [match.bots for match in bracket.matches if match.side is Side.UPPER][4:6] == [[0, 3], [1, 2]]


def test_a_knockout_is_seeded_by_the_table_of_another_tournament(tmp_path: Path) -> None:
    bots = [drawing_bot(tmp_path / "bots", name, salt) for salt, name in enumerate("abcdef")]
    bots[4] = "e=@advanced"  # it comes first in the table, and so in no list by name
    cup, finals = tmp_path / "cup", tmp_path / "finals"
    tournament(tmp_path, "--game", "tictactoe", *bots[:5], "--seed", "3", "--games", "2", "--ledger", cup)
    start = ["--game", "tictactoe", *reversed(bots), "--seed", "4"]
    order = [row["name"] for row in table(cup)["rows"]]
    assert order[0] == "e"
    knockout = [*start, "--format", "knockout", "--seeds-from", cup, "--ledger", finals]
    tournament(tmp_path, *knockout)
    assert [entry.name for entry in read_plan(finals / "tournament.toml").bots] == [*order, "f"]
    tournament(tmp_path, finals)
    for arguments, words in [
        ([*start, "--seeds-from", cup], "--seeds-from: round-robin with 2 seats does not use it"),
        ([finals, "--seeds-from", cup], "has its seeds already"),
        ([*start[:2], *bots[4:], "--format", "knockout", "--seeds-from", tmp_path], "holds no tournament"),
        ([*start[:2], bots[5], f"g{bots[0][1:]}", "--format", "knockout", "--seeds-from", cup], "is in that table"),
    ]:
        assert words in tournament(tmp_path, *arguments, code=2)
