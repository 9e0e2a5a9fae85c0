"""A round robin in groups: the draw, the games, the table, and the bracket that follows."""

import random
from collections import defaultdict
from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from contests import drawing_bot, table, tournament
from written_games import add, numbers, plan, play

from referee.addons.tournament.formats.bracket import order_of_seeds
from referee.addons.tournament.formats.games import Field, ScheduledGame
from referee.addons.tournament.formats.schedules import drawn_groups, groups_of, round_robin, size_of_round_robin
from referee.addons.tournament.inbox import Enter, Withdraw, applied
from referee.addons.tournament.plan import Entry, Plan, checked, number_of_games, read_plan
from referee.addons.tournament.reports.all_stages import all_standings, ranked
from referee.addons.tournament.reports.standings import standings
from referee.addons.tournament.stage_settings import Stage
from referee.addons.tournament.stages import begun
from referee.addons.tournament.store.reader import Book
from referee.addons.tournament.ties import Tie
from referee.games.dice import derive_seed
from referee.harness.common.errors import UsageError


@pytest.mark.parametrize(("groups", "bots"), [(2, 16), (4, 14), (3, 25), (7, 40)])
def test_each_group_gets_one_bot_of_each_pot_and_keeps_it_when_others_come(groups: int, bots: int) -> None:
    drawn = drawn_groups(range(bots), groups, seed=3)
    assert sorted(bot for group in drawn for bot in group) == [*range(bots)]
    for start in range(0, bots, groups):
        pot = set(range(start, min(start + groups, bots)))
        assert max(len(pot & set(group)) for group in drawn) == 1
    later = drawn_groups(range(bots + 5), groups, seed=3)
    assert tuple(tuple(bot for bot in group if bot < bots) for group in later) == drawn
    assert len({str(drawn_groups(range(bots), groups, seed)) for seed in range(5)}) > 1


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_all_bots_of_a_group_meet_and_no_others(seats: int) -> None:
    field = Field(17, seats=seats, games=2 * seats, seed=1, groups=drawn_groups(range(17), 3, 1), absent=(2,))
    games = [game for game in round_robin(field, {}) if game is not None]
    assert len(games) == size_of_round_robin(field)
    met = {pair for game in games for pair in combinations(sorted(game.seats), 2)}
    expected = {pair for group in groups_of(field) for pair in combinations(group, 2)}
    assert met == expected if seats == 2 else met <= expected
    assert {bot for pair in met for bot in pair} == {*field.present}
    assert len({(game.seats, game.seed_group) for game in games}) == len(games)


def test_with_one_game_a_pair_all_bots_of_a_group_have_both_seats_about_equally_often() -> None:
    field = Field(24, games=1, groups=drawn_groups(range(24), 4, 1))
    games = [game for game in round_robin(field, {}) if game is not None]
    first = [sum(game.seats[0] == bot for game in games) for bot in range(24)]
    assert {2, 3} == {*first}


def groups(bots: int, count: int, *stages: Stage, **more: object) -> Plan:
    return plan("round-robin", bots, *stages, groups=count, **more)


def lot(cup: Plan, bot: int) -> int:
    return derive_seed(cup.seed, "lot", cup.bots[bot].ident)


def second_table(cup: Plan, results: dict[tuple[int, int], float]) -> list[set[int]]:
    """The order by place in the group and points a game, from a list of results: (bot, rival) and the bot's points."""
    share: dict[int, list[float]] = defaultdict(list)
    for (bot, _), points in results.items():
        share[bot].append(points)
    mean = {bot: Fraction(sum(each)) / (2 * len(each)) for bot, each in share.items()}
    places: dict[tuple[int, Fraction], set[int]] = defaultdict(set)
    for group in drawn_groups(range(len(cup.bots)), cup.groups, cup.seed):
        for bot in group:
            before = [other for other in group if (-mean[other], lot(cup, other)) < (-mean[bot], lot(cup, bot))]
            places[len(before), -mean[bot]].add(bot)
    return [places[key] for key in sorted(places)]


@pytest.mark.parametrize(("bots", "count"), [(8, 2), (13, 3), (30, 7)])
def test_the_table_is_that_of_a_second_implementation(bots: int, count: int) -> None:
    cup, book, dice = groups(bots, count, ties=()), Book(), random.Random(bots)
    results: dict[tuple[int, int], float] = defaultdict(float)
    for game in cup.scheduled_games({}):  # type: ignore[arg-type]
        assert game is not None
        ranks = dice.choice([(1, 2), (2, 1), (1, 1)])
        add(cup, book, game, ranks)
        for (bot, rival), mine, other in zip((game.seats, game.seats[::-1]), ranks, ranks[::-1], strict=True):
            results[bot, rival] += (mine < other) + (mine == other) / 2
    found = all_standings(cup, book, chances=False)
    assert found.played == found.due == number_of_games(cup)
    place = {entry.ident: at for at, entry in enumerate(cup.bots)}
    by_rank: dict[int, set[int]] = defaultdict(set)
    for row in found.rows:
        by_rank[row.rank].add(place[row.ident])
    assert [by_rank[rank] for rank in sorted(by_rank)] == second_table(cup, results)
    drawn = drawn_groups(range(bots), count, cup.seed)
    assert all(place[row.ident] in drawn[row.group - 1] for row in found.rows)
    assert not any("bots have played" in note for note in found.notes), "groups may differ in size"
    assert found.ranking.startswith("ranked by the place in the group, then points a game; in a group by points")


@pytest.mark.parametrize(("bots", "count", "go_on"), [(8, 2, 4), (12, 3, 6), (16, 4, 8), (16, 4, 12), (32, 8, 16)])
@pytest.mark.parametrize("seed", range(3))
def test_bots_of_one_group_do_not_meet_in_the_first_round_of_the_bracket(
    bots: int, count: int, go_on: int, seed: int
) -> None:
    cup, book = groups(bots, count, Stage("knockout", go_on)).replaced(seed=seed), Book()
    assert play(cup, book, seed)
    first, bracket = begun(cup, book, ranked)
    seeds = bracket.field.present
    group_of = {bot: at for at, group in enumerate(drawn_groups(range(bots), count, seed)) for bot in group}
    order = [seeds[each] if each < go_on else None for each in order_of_seeds(1 << (go_on - 1).bit_length())]
    for one, two in zip(order[::2], order[1::2], strict=True):
        assert one is None or two is None or group_of[one] != group_of[two]
    rank = {row.ident: row.rank for row in standings(first, book, chances=False).rows}
    assert all(rank[cup.bots[bot].ident] <= count for bot in seeds[:count]), "winners of groups are the best seeds"
    for those in (seeds[:count], seeds[count : 2 * count]):
        assert len({group_of[bot] for bot in those}) == len(those)


def test_a_team_that_comes_or_goes_changes_no_played_game() -> None:
    cup, book = groups(12, 3, Stage("knockout", 4)), Book()
    assert not play(cup, book, seed=1, most=20)
    kept = numbers(book)
    cup = applied(cup, Enter((Entry("late", "", "f" * 64, "@random"),)), lambda: book)
    cup = applied(cup, Withdraw(("bot 3",)), lambda: book)
    assert play(cup, book, seed=1)
    assert all(games <= {*book.line_ups[name]} for name, games in kept.items())
    found = all_standings(cup, book, chances=False)
    assert found.played == book.count and not any("not counted" in note for note in found.notes)
    assert [row.group for row in found.rows if row.name == "late"] != [0]
    assert "bot 3" not in [row.name for row in found.rows[:4]]


@pytest.mark.parametrize(
    ("format", "count", "more", "words"),
    [
        ("round-robin", 0, {}, "groups = 0: expected 1 or more"),
        ("round-robin", 5, {}, "groups = 5: expected at least 10 bots, 2 each; there are 9"),
        ("round-robin", 2, {"play_off": 1}, "leave the option out"),
    ],
)
def test_groups_that_cannot_be_are_refused(format: str, count: int, more: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        plan(format, 9, groups=count, **more)


def test_a_later_stage_has_tie_breaks_of_its_own() -> None:
    own = Stage("round-robin", 6, ties=(Tie.WINS,))
    default = Stage("round-robin", 6)
    for stage, rule in ((own, "points, then games won"), (default, "points, then points in games among")):
        cup, book = plan("swiss", 9, stage, ties=(Tie.BUCHHOLZ,)), Book()
        assert play(cup, book, seed=1)
        _, later = begun(cup, book, ranked)
        found = standings(later, book, chances=False)
        assert found.ranking.startswith(f"ranked by {rule}")
        assert not any("bots have played" in note for note in found.notes), "the others play no game of this stage"
    for stage, words in (
        (Stage("knockout", 4, groups=2), "stages: groups = 2: knockout with 2 seats does not use it"),
        (Stage("round-robin", 5, groups=3), "expected `bots` from 6 on, 2 in each of its groups"),
    ):
        with pytest.raises(UsageError, match=words):
            plan("swiss", 9, stage)


def at_four_seats(game: ScheduledGame) -> tuple[int, ...]:
    """Returns the ranks of a game in which the better bot finishes ahead more often."""
    luck = random.Random(repr(game))
    performed = [luck.gauss(bot, 6) for bot in game.seats]
    return tuple(1 + sum(other > own for other in performed) for own in performed)


def test_groups_of_four_are_a_knockout_at_four_seats() -> None:
    later = [Stage("round-robin", 32 >> n, 4, name=f"round {n}", ties=(), groups=8 >> n) for n in (1, 2)]
    stages = (*later, Stage("round-robin", 4, 8, name="final", ties=()))
    cup = plan("round-robin", 32, *stages, game="aibg5", games=4, seats=4, groups=8)
    book, pieces = Book(), Book()
    assert play(cup, book, ranks=at_four_seats)
    while not play(cup, pieces, most=pieces.count + 7, ranks=at_four_seats):
        pass
    assert numbers(pieces) == numbers(book)
    assert book.count == 4 * (8 + 4 + 2) + 8
    parts = [*begun(cup, book, ranked)]
    assert [len(part.field.present) for part in parts] == [32, 16, 8, 4]
    for before, after in pairwise(parts):
        assert [len(group) for group in before.field.groups] == [4] * before.groups
        order = [bot for equal in ranked(before, book) for bot in equal]
        best = {bot for group in before.field.groups for bot in sorted(group, key=order.index)[:2]}
        assert {*after.field.present} == best, "the first two of each group go on"
    found = all_standings(cup, book, chances=False)
    assert [row.ident for row in found.rows[:4]] == [
        cup.bots[bot].ident for equal in ranked(parts[-1], book) for bot in equal if bot in parts[-1].field.present
    ]
    assert found.played == book.count and len(found.rows) == 32


def test_a_bot_that_leaves_changes_no_group_of_a_later_stage() -> None:
    cup, book = plan("swiss", 20, Stage("round-robin", 12, ties=(), groups=3)), Book()
    first = checked(cup.replaced(stages=()))
    assert play(first, book, seed=1)
    assert not play(cup, book, seed=1, most=book.count + 5)
    *_, before = begun(cup, book, ranked)
    gone = before.field.present[4]
    *_, after = begun(applied(cup, Withdraw((cup.bots[gone].name,)), lambda: book), book, ranked)
    assert before.field.groups == after.field.groups and gone not in after.field.present


def test_a_file_plays_groups_and_a_bracket_whose_seeds_are_those_of_another_table(tmp_path: Path) -> None:
    bots = [drawing_bot(tmp_path / "bots", name, salt) for salt, name in enumerate("abcdef")]
    listed = ", ".join(f'"{each.replace(chr(34), chr(39))}"' for each in bots)
    head = f'game = "tictactoe"\nseed = 5\nbots = [{listed}]\n'
    (tmp_path / "cup.toml").write_text(
        f'{head}groups = 2\n[[stages]]\nformat = "round-robin"\nbots = 4\nties = ["wins"]\n'
        '[[stages]]\nformat = "knockout"\nbots = 2\nname = "final"\n'
    )
    said = tournament(tmp_path, "cup.toml", "--ledger", "cup")
    assert "group" in said.splitlines()[1]
    found = table(tmp_path / "cup")
    first, second, final = found["stages"]
    assert len(first["rows"]) == 6 and {row["group"] for row in first["rows"]} == {1, 2}
    assert {row["group"] for row in first["rows"][:2]} == {1, 2}
    assert {row["name"] for row in second["rows"]} == {row["name"] for row in first["rows"][:4]}
    stages = read_plan(tmp_path / "cup" / "tournament.toml").stages
    assert [stage.ties for stage in stages] == [(Tie.WINS,), ()]
    (tmp_path / "next.toml").write_text(f'{head}format = "knockout"\nseeds_from = "cup"\n')
    for _ in range(2):  # the second time, it continues with the seeds that it has
        tournament(tmp_path, "next.toml", "--ledger", "next")
        names = [entry.name for entry in read_plan(tmp_path / "next" / "tournament.toml").bots]
        assert names == [row["name"] for row in found["rows"]]
    assert final["rows"][0]["name"] == found["rows"][0]["name"]
