"""Late bots, new versions and withdrawals in a Swiss: rounds that were played stay as they were paired."""

import itertools
import shutil
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest
from contests import command, drawing_bot, environment, games, table, tournament
from hypothesis import given, settings
from hypothesis import strategies as st
from test_swiss_pairing import Beats, rounds
from written_games import add, plan, play

from referee.addons.tournament.formats.games import Field
from referee.addons.tournament.formats.swiss import swiss_so_far, swiss_state
from referee.addons.tournament.keys import Keys
from referee.addons.tournament.plan import Entry, read_plan
from referee.addons.tournament.reports.all_stages import all_standings
from referee.addons.tournament.store.ledger import PLAN
from referee.addons.tournament.store.reader import Book, LedgerResults

SLOW = "import time\nplain = choose\ndef choose():\n    time.sleep(0.01)\n    return plain()\n"


@settings(deadline=None, max_examples=30)
@given(data=st.data(), bots=st.integers(6, 20), seed=st.integers(0, 100))
def test_rounds_before_a_change_stay_as_they_were(data: st.DataObject, bots: int, seed: int) -> None:
    """Bots come, leave and are replaced, with and without the points of their predecessors."""
    before = Field(bots, 2, 2, seed, rounds=5)
    number = data.draw(st.integers(1, 4))
    new = data.draw(st.integers(0, 3))
    gone = data.draw(st.sets(st.integers(0, bots - 1), max_size=2))
    replaced = data.draw(st.integers(0, bots - 1))
    changes = [(0, number) if bot in {*gone, *([replaced] if new else [])} else () for bot in range(bots)]
    changes += [(number,)] * new
    predecessors = list(range(bots + new))
    if new and data.draw(st.booleans()):
        predecessors[bots] = replaced
    absent = tuple(bot for bot, each in enumerate(changes) if len(each) == 2)
    after = Field(
        bots + new, 2, 2, seed, rounds=5, absent=absent, changes=tuple(changes), predecessors=tuple(predecessors)
    )
    one, played = rounds(before, Beats()), Beats()
    for game in (game for each in one[:number] for game in each):
        played.play(game)
    rounds(after, played)
    two = [each.games for each in swiss_so_far(after, played)]
    assert one[:number] == two[:number]
    for each in two[number:]:
        playing = {bot for game in each for bot in game.seats}
        assert playing.isdisjoint(absent)
        assert len(set(range(bots + new)) - {*absent} - playing) <= 1


@settings(deadline=None, max_examples=40)
@given(data=st.data(), bots=st.integers(2, 9), asked=st.integers(1, 30), seed=st.integers(0, 100))
def test_a_swiss_goes_on_until_all_have_met_whenever_bots_come_and_leave(
    data: st.DataObject, bots: int, asked: int, seed: int
) -> None:
    changes, absent, results = [()] * bots, set[int](), Beats()
    for _ in range(data.draw(st.integers(0, 4)) + 1):
        field = Field(len(changes), 2, 2, seed, rounds=asked, absent=tuple(absent), changes=tuple(changes))
        while (state := swiss_state(field, results)).rounds_left() and data.draw(st.integers(0, 9)):
            play_round(field, results)
        left, number = state.rounds_left(), len(state.rounds)
        present = set(range(len(changes))) - absent
        met = {pair for each in state.rounds for game in each.games for pair in (game.seats, game.seats[::-1])}
        unmet = {pair for pair in itertools.permutations(present, 2) if pair not in met}
        assert (left > 0) == bool(unmet and number < asked) and number + left <= asked
        assert state.too_late() == [bot for bot in sorted(present) if not left and changes[bot] == (number,)]
        assert state.size(set()) == sum(len(each.games) for each in state.rounds) + left * (len(present) // 2) * 2
        if data.draw(st.booleans()) or len(present) == 2:
            changes.append((number,) if number else ())
        else:
            gone = data.draw(st.sampled_from(sorted(present)))
            absent.add(gone)
            changes[gone] = (*(changes[gone] or (0,)), number) if number else ()


def play_round(field: Field, results: Beats) -> None:
    for game in swiss_state(field, results).rounds[-1].games:
        if results.get(game) is None:
            results.play(game)


@pytest.mark.parametrize("bots", [3, 6])
def test_a_bot_that_comes_after_the_last_round_is_named_and_plays_with_more_rounds(bots: int) -> None:
    cup, book = plan("swiss", bots, rounds=30), Book()
    assert play(cup, book)
    number = len(swiss_so_far(cup.field, LedgerResults(Keys(cup), book)))
    assert f"{number} rounds, not 30: then all bots have met" in all_standings(cup, book).notes
    late = msgspec.structs.replace(Entry("Late", "", "f" * 64, "@random"), ident="ffffff", changes=(number,))
    cup = cup.replaced(bots=(*cup.bots, late), rounds=number)
    notes = all_standings(cup, book).notes
    assert any(f"Late came after the last round, and will not play; `{RUN} {number + 1}`" in note for note in notes)
    cup = cup.replaced(rounds=number + bots)
    assert play(cup, book)
    found = all_standings(cup, book)
    (row,) = (row for row in found.rows if row.name == "Late")
    assert row.games and found.due == found.played and not any("came after" in note for note in found.notes)


RUN = "referee tournament run DIR --rounds"


def test_a_swiss_that_is_a_later_stage_has_only_the_bots_that_went_on() -> None:
    field = Field(9, 2, 2, 1, rounds=3, seeds=(7, 2, 5, 4), stage="final", changes=((0, 1),) * 9)
    played = rounds(field, Beats())
    assert [{bot for game in each for bot in game.seats} for each in played] == [{7, 2, 5, 4}] * 3


@pytest.mark.parametrize("late_points", [0.0, 0.5, 1.0])
def test_a_late_bot_has_the_points_of_its_byes(late_points: float) -> None:
    field = Field(7, 2, 2, 1, rounds=4, changes=((),) * 6 + ((2,),), late_points=late_points)
    results = Beats()
    rounds(field, results)
    played = swiss_so_far(field, results)
    assert [each.byes.get(6) for each in played[:2]] == [None, None]
    assert (
        played[2].byes.get(6, 0) - (2 if 6 not in {b for g in played[2].games for b in g.seats} else 0)
        == 4 * late_points
    )


@pytest.mark.parametrize("void", [False, True])
@pytest.mark.parametrize("games_left", [0, 1, 2])
@pytest.mark.parametrize("leaver", [0, 4, 7])
def test_a_bot_that_leaves_during_a_round_loses_the_games_that_are_left_and_the_swiss_goes_on(
    leaver: int, games_left: int, void: bool
) -> None:
    cup, book = plan("swiss", 9, rounds=5), Book()
    assert not play(cup, book, most=16)
    third = swiss_so_far(cup.field, LedgerResults(Keys(cup), book))[2]
    games = [game for game in third.games if leaver in game.seats]
    for game in games[: 2 - games_left]:
        add(cup, book, game, (1, 1))
    assert not play(cup, book, without=leaver) or not games
    bots = list(cup.bots)
    bots[leaver] = msgspec.structs.replace(bots[leaver], absent=True, withdrawn=True, void=void, changes=(0, 3))
    cup = cup.replaced(bots=tuple(bots))
    assert play(cup, book)
    played = swiss_so_far(cup.field, LedgerResults(Keys(cup), book))
    assert len(played) == 5 and sum(bool(each.byes) for each in played) == 3
    assert sum(sum(each.walkovers.values()) for each in played) == (games_left if games else 0)
    found = all_standings(cup, book, chances=False)
    assert len(found.rows) == 9 - void and found.due == found.played
    for row in found.rows:
        place = next(place for place, entry in enumerate(cup.bots) if entry.ident == row.ident)
        won = sum(each.walkovers.get(place, 0) for each in played)
        rests = sum(place in each.byes for each in played)
        assert row.points == row.wins + row.draws / 2 + 2 * rests + won
        assert row.byes == rests + (won == 2)


def test_no_played_game_is_lost_when_a_team_comes_late_and_two_others_hand_in_again(tmp_path: Path) -> None:
    """One of the two keeps its points."""
    bots = [drawing_bot(tmp_path, name, number) for number, name in enumerate(("ann", "bob", "cid", "dan"))]
    folder = tmp_path / "t"
    start = ["--game", "tictactoe", *bots, "--format", "swiss", "--rounds", "2", "--seed", "1"]
    tournament(tmp_path, *start, "--ledger", folder)
    points = {row["name"]: row["points"] for row in table(folder)["rows"]}
    for number, name in enumerate(("ann", "bob")):
        drawing_bot(tmp_path, name, 8 + number)
    tournament(tmp_path, "add", folder, bots[0], "--keep-points")
    tournament(tmp_path, "add", folder, bots[1], drawing_bot(tmp_path, "eve", 5))
    assert [entry.changes for entry in read_plan(folder / PLAN).bots] == [(0, 2), (0, 2), (), (), (2,), (2,), (2,)]
    for row in table(folder)["rows"]:
        kept = row["name"] in ("ann", "cid", "dan")
        assert (row["points"], row["games"]) == ((points[row["name"]], 4) if kept else (0, 0))
    tournament(tmp_path, folder, "--rounds", "3")
    after = table(folder)
    assert after["played"] == len(games(folder)) == 8 + 4
    assert not any("not counted" in note or "do not count" in note for note in after["notes"])
    tournament(tmp_path, "withdraw", folder, "bob")
    again = table(folder)
    assert again["played"] == 12
    assert {r["name"]: r["points"] for r in again["rows"]} == {r["name"]: r["points"] for r in after["rows"]}


def test_byes_stay_when_a_bot_is_disqualified(tmp_path: Path) -> None:
    """Its games count for nobody, but they have decided who met whom."""
    names = ("ann", "bob", "cid", "dan", "eve")
    bots = [drawing_bot(tmp_path, name, number) for number, name in enumerate(names)]
    folder = tmp_path / "t"
    tournament(tmp_path, "--game", "tictactoe", *bots, "--format", "swiss", "--rounds", "4", "--ledger", folder)
    before = {row["name"]: row for row in table(folder)["rows"]}
    assert sum(row["byes"] for row in before.values()) == 4
    tournament(tmp_path, "withdraw", folder, "bob", "--void")
    after = {row["name"]: row for row in table(folder)["rows"]}
    assert {name: row["byes"] for name, row in after.items()} == {
        name: row["byes"] for name, row in before.items() if name != "bob"
    }
    assert all(row["points"] == row["wins"] + row["draws"] / 2 + 2 * row["byes"] for row in after.values())


def test_no_game_is_lost_when_a_bot_is_built_while_a_swiss_is_played(tmp_path: Path) -> None:
    """Rounds that are played during the build would be paired without the new bot, and then not count."""
    bots = [drawing_bot(tmp_path, name, salt, SLOW) for salt, name in enumerate(("ann", "bob", "cid", "dan", "eve"))]
    late, cup = tmp_path / "late", tmp_path / "cup"
    late.mkdir()
    shutil.copy(tmp_path / "ann.py", late / "bot.py")
    (late / "bot.toml").write_text(f'run = ["{sys.executable}", "-I", "bot.py"]\nbuild = "sleep 2"\n')
    start = ["--game", "tictactoe", *bots, "--format", "swiss", "--rounds", "5", "--ledger", cup, "--jobs", "1"]
    with (tmp_path / "log").open("wb") as log:
        run = subprocess.Popen(command(*start), cwd=tmp_path, env=environment(tmp_path), stdout=log, stderr=log)
    try:
        while run.poll() is None and not ((cup / "ledger").exists() and len(games(cup)) > 4):
            time.sleep(0.05)
        tournament(tmp_path, "add", cup, late)
        assert run.wait(60) == 0
    finally:
        run.kill()
        run.wait()
    ((first,),) = [entry.changes for entry in read_plan(cup / PLAN).bots if entry.name == "late"]
    found = table(cup)
    assert first in (1, 2, 3) and found["played"] == len(games(cup)) == first * 4 + (5 - first) * 6
    assert not any("not counted" in note for note in found["notes"])
