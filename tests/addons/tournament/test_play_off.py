"""Play-offs: further games decide between bots with equal points, from the plan and the games alone."""

import json
import random
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import msgspec
import pytest
from contests import drawing_bot, games, table, tournament
from hypothesis import given, settings
from hypothesis import strategies as st
from written_games import add, numbers, plan, play

from referee.addons.tournament.execution.tournament_games import TournamentGames
from referee.addons.tournament.execution.worker_messages import PlayedGame
from referee.addons.tournament.formats.games import Field, Outcome, ScheduledGame, ScheduledGames
from referee.addons.tournament.formats.play_off import MOST, PLAY_OFF, ROUNDS, PlayOff
from referee.addons.tournament.inbox import Withdraw, applied
from referee.addons.tournament.keys import Keys
from referee.addons.tournament.plan import Plan, read_plan
from referee.addons.tournament.reports.all_stages import all_standings, ranked
from referee.addons.tournament.reports.standings_text import progress
from referee.addons.tournament.stages import scheduled_games
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.ledger import Ledger, Line
from referee.addons.tournament.store.reader import Book, LedgerResults

pytestmark = pytest.mark.slow

DRAW, FIRST, SECOND = (1, 1), (1, 2), (2, 1)


def drawish(game: ScheduledGame) -> tuple[int, ...]:
    """Returns the ranks of a game that is most likely a draw, so that bots are equal."""
    luck = random.Random(hash((game.seats, game.seed_group, len(game.stage)))).random()
    decisive = 0.8 if game.stage else 0.3
    return DRAW if luck > decisive else FIRST if luck > decisive / 2 else SECOND


def until_none(scheduled: ScheduledGames) -> Iterator[ScheduledGame]:
    """Yields the games that are certain now."""
    for game in scheduled:
        if game is None:
            return
        yield game


def in_play_off(cup: Plan, book: Book) -> dict[str, set[int]]:
    return {name: each for name, each in numbers(book).items() if name.startswith(cup.conditions(PLAY_OFF))}


@pytest.mark.parametrize("format", ["round-robin", "swiss"])
@pytest.mark.parametrize("seed", range(2))
def test_an_interrupted_play_off_arrives_at_the_same_games_and_places(format: str, seed: int) -> None:
    cup, whole = plan(format, 9, play_off=3), Book()
    assert play(cup, whole, seed, ranks=drawish)
    assert in_play_off(cup, whole), "many games are draws, so that bots are equal"
    pieces, dice = Book(), random.Random(seed)
    while not play(cup, pieces, seed=pieces.count, most=pieces.count + dice.randint(1, 20), ranks=drawish):
        all_standings(cup, pieces, chances=False)
    assert numbers(pieces) == numbers(whole)
    one, two = (all_standings(cup, each) for each in (whole, pieces))
    assert [(row.name, row.rank) for row in one.rows] == [(row.name, row.rank) for row in two.rows]
    assert sorted(one.notes) == sorted(two.notes)


@pytest.mark.parametrize("format", ["round-robin", "swiss"])
def test_a_play_off_changes_neither_points_nor_ratings_nor_games_of_the_table(format: str) -> None:
    cup, book = plan(format, 9, play_off=3, ties=()), Book()
    assert play(cup, book, ranks=drawish)
    plain = all_standings(cup.replaced(play_off=0), book, chances=False)
    found = all_standings(cup, book, chances=False)
    count = sum(map(len, in_play_off(cup, book).values()))
    assert count == book.count - found.played > 0 and found.played == found.due
    assert (found.play_off.played, found.play_off.due, found.play_off.faults) == (count, count, 0)
    assert f"; play-off: {count} of {count} games" in progress(found)
    figures = [{row.name: (row.points, row.games, row.wins, row.elo) for row in each.rows} for each in (plain, found)]
    assert figures[0] == figures[1]
    assert any(note.startswith("play-off for places ") for note in found.notes)
    assert not any("not counted" in note for note in found.notes)
    points = [row.points for row in found.rows]
    assert points == sorted(points, reverse=True)
    assert "a play-off for the first 3 places" in found.ranking


def brute_force(places: int, order: list[list[int]], points: dict[tuple[int, int, int], float]) -> list[list[int]]:
    """The rule in other words: orders each group by a list of its points, round by round."""
    result, place = [], 1
    for equal in order:
        result += divided(places, place, 0, equal, points)
        place += len(equal)
    return result


def divided(
    places: int, place: int, number: int, equal: list[int], points: dict[tuple[int, int, int], float]
) -> list[list[int]]:
    if number == ROUNDS or len(equal) == 1 or place > places or len(equal) > MOST:
        return [equal]
    won = {bot: sum(points[number, bot, other] for other in equal if other != bot) for bot in equal}
    found: list[list[int]] = []
    for value in sorted({*won.values()}, reverse=True):
        part = [bot for bot in equal if won[bot] == value]
        found += divided(places, place + sum(map(len, found)), number + 1, part, points)
    return found


@settings(deadline=None, max_examples=60)
@given(sizes=st.lists(st.integers(1, 5), min_size=1, max_size=4), places=st.integers(1, 8), seed=st.integers(0, 999))
def test_the_order_is_that_of_a_second_implementation(sizes: list[int], places: int, seed: int) -> None:
    dice, bots = random.Random(seed), sum(sizes)
    order, left = [], list(range(bots))
    dice.shuffle(left)
    for size in sizes:
        order.append(left[:size])
        left = left[size:]
    absent = tuple(bot for bot in range(bots) if dice.random() < 0.1)
    points: dict[tuple[int, int, int], float] = {}
    outcomes: dict[ScheduledGame, Outcome] = {}
    field = Field(bots, absent=absent)
    for number in range(ROUNDS):
        for pair in combinations(range(bots), 2):
            won = dict.fromkeys(pair, 0.0)
            for game in field.games_of(pair, range(2 * number, 2 * number + 2), PLAY_OFF):
                if {*pair} & {*absent} and dice.random() < 0.5:  # lost without play
                    for bot in {*pair} - {*absent}:
                        won[bot] += 1
                    continue
                outcomes[game] = Outcome(dice.choice([DRAW, FIRST, SECOND]), (0.0, 0.0))
                for bot, share in zip(game.seats, outcomes[game].shares, strict=True):
                    won[bot] += share
            points |= {(number, *pair): won[pair[0]], (number, *pair[::-1]): won[pair[1]]}
    play_off = PlayOff(field, places, order)
    assert None not in [*play_off.games(outcomes)]
    assert [sorted(each) for each in play_off.order] == [sorted(each) for each in brute_force(places, order, points)]


def test_more_equal_bots_than_a_play_off_takes_are_left_to_the_tie_breaks() -> None:
    play_off = PlayOff(Field(MOST + 1), 1, [[*range(MOST + 1)]])
    assert [*play_off.games({})] == [] and play_off.order == [[*range(MOST + 1)]]


def test_a_bot_that_withdraws_during_its_play_off_keeps_what_it_played_and_loses_the_rest() -> None:
    cup, book = plan("round-robin", 3, play_off=1, ties=()), Book()
    results = LedgerResults(Keys(cup), book)
    before = [*until_none(cup.scheduled_games(results))]
    for game in before:
        add(cup, book, game, DRAW)
    games = [game for game in until_none(scheduled_games(cup, results, ranked)) if game.stage == PLAY_OFF]
    assert len(games) == 6 and {game.stage for game in before} == {""}
    assert {Keys(cup).seed(game) for game in games}.isdisjoint({Keys(cup).seed(game) for game in before})
    first = next(game for game in games if {*game.seats} == {0, 2})
    add(cup, book, first, FIRST if first.seats[0] == 2 else SECOND)
    gone = applied(cup, Withdraw(("bot 2",)), lambda: book)
    results = LedgerResults(Keys(gone), book)
    left = [game for game in until_none(scheduled_games(gone, results, ranked)) if results.get(game) is None]
    assert [{*game.seats} for game in left] == [{0, 1}, {0, 1}]
    for game in left:
        add(gone, book, game, FIRST if game.seats[0] == 1 else SECOND)
    found = all_standings(gone, book, chances=False)
    assert [(row.name, row.rank) for row in found.rows] == [("bot 1", 1), ("bot 0", 2), ("bot 2", 2)]
    assert "play-off for places 1 to 3, round 1: bot 1 4, bot 0 1 and bot 2 1" in found.notes


def test_a_finished_tournament_can_be_given_a_play_off(tmp_path: Path) -> None:
    same = "def choose():\n    return cell(free[0])\n"
    bots = [drawing_bot(tmp_path, name, salt, same) for salt, name in enumerate(("ann", "bob", "cid"))]
    cup = tmp_path / "cup"
    tournament(tmp_path, "--game", "tictactoe", *bots, "--seed", "1", "--ledger", cup)
    before = table(cup)
    assert [row["rank"] for row in before["rows"]] == [1, 1, 1]
    drawn = tournament(tmp_path, cup, "--play-off", "1")
    assert "ann, bob and cid are equal after 3 rounds of the play-off: tie-breaks decide" in " ".join(drawn.split())
    assert len(games(cup)) == 6 + 18
    assert [(row["name"], row["points"], row["games"]) for row in table(cup)["rows"]] == [
        (row["name"], row["points"], row["games"]) for row in before["rows"]
    ]
    tournament(tmp_path, cup)
    assert len(games(cup)) == 24 and "24 games verified, 0 differ" in tournament(tmp_path, "verify", cup)
    tournament(tmp_path, "page", cup, "--to", tmp_path / "pages")
    listed = "".join(page.read_text() for page in (tmp_path / "pages" / "pairs").iterdir())
    assert all(key in listed for key in games(cup))
    told = tournament(tmp_path, cup, "--shard", "1/2", code=2)
    assert "a play-off cannot be sharded" in told
    tournament(tmp_path, "show", cup, "--follow")  # ends, because all is played

    file = max((cup / "ledger").glob("*.jsonl"), key=lambda path: path.stat().st_size)
    *others, last = file.read_text().splitlines()
    at_fault = json.loads(last) | {"f": [{"seat": 0, "kind": "crash"}]}
    assert at_fault["k"].startswith(read_plan(cup / "tournament.toml").conditions(PLAY_OFF))
    file.write_text("\n".join([*others, json.dumps(at_fault), ""]))
    tournament(tmp_path, cup, "--strict", code=1)


@pytest.mark.parametrize(("format", "stage"), [("round-robin", PLAY_OFF), ("swiss", ""), ("round-robin", "")])
def test_a_result_that_comes_after_its_bot_left_counts_only_if_it_was_not_lost_without_play(
    format: str, stage: str, tmp_path: Path
) -> None:
    cup = plan(format, 4, play_off=2)
    gone = msgspec.structs.replace(cup.bots[0], absent=True, withdrawn=True, changes=(0, 1) * (format == "swiss"))
    cup = cup.replaced(bots=(gone, *cup.bots[1:]))
    opened = Ledger(tmp_path, {})
    run, keys = TournamentGames(cup, opened, Book(), ranked=ranked), Keys(cup)
    for bots in ((0, 1), (2, 3)):
        game = ScheduledGame(bots, 0, stage)
        line = Line(keys.key(game), tuple(keys.idents[bot] for bot in bots), 1, FIRST, (1.0, 0.0))
        run.take([PlayedGame(keys.key(game), msgspec.json.encode(line))])
    opened.close()
    lost_without_play = format == "swiss" or stage == PLAY_OFF
    assert reader.read(tmp_path).count == run.book.count == (1 if lost_without_play else 2)
