"""Late bots, new versions and withdrawals in a Swiss: rounds that were played stay as they were paired."""

from pathlib import Path

import pytest
from contests import drawing_bot, games, table, tournament
from hypothesis import given, settings
from hypothesis import strategies as st
from test_swiss_pairing import Beats, rounds

from referee.harness.tournament.formats.games import Field
from referee.harness.tournament.formats.swiss import swiss_so_far
from referee.harness.tournament.plan import read_plan
from referee.harness.tournament.store.ledger import PLAN


@settings(deadline=None, max_examples=60)
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
    one, two = rounds(before, Beats()), rounds(after, Beats())
    assert one[:number] == two[:number]
    for each in two[number:]:
        playing = {bot for game in each for bot in game.seats}
        assert playing.isdisjoint(absent)
        assert len(set(range(bots + new)) - {*absent} - playing) <= 1


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


@pytest.mark.slow
@pytest.mark.parametrize("keep_points", [False, True])
def test_no_played_game_is_lost_when_a_team_comes_late_and_another_hands_in_again(
    tmp_path: Path, keep_points: bool
) -> None:
    bots = [drawing_bot(tmp_path, name, number) for number, name in enumerate(("ann", "bob", "cid", "dan"))]
    folder = tmp_path / "t"
    tournament(
        tmp_path, "--game", "tictactoe", *bots, "--format", "swiss", "--rounds", "2", "--seed", "1", "--ledger", folder
    )
    first = table(folder)
    drawing_bot(tmp_path, "ann", 8)
    option = ["--keep-points"] if keep_points else []
    tournament(tmp_path, "add", folder, bots[0], drawing_bot(tmp_path, "eve", 5), *option)
    plan = read_plan(folder / PLAN)
    assert [entry.changes for entry in plan.bots] == [(0, 2), (), (), (), (2,), (2,)]
    between = table(folder)
    points = {row["name"]: row["points"] for row in first["rows"]}
    for row in between["rows"]:
        if row["name"] not in ("ann", "eve") or (row["name"] == "ann" and keep_points):
            assert row["points"] == points[row["name"]] and row["games"] == 4
        else:
            assert (row["points"], row["games"]) == (0, 0)
    tournament(tmp_path, folder, "--rounds", "3")
    after = table(folder)
    assert after["played"] == len(games(folder)) == 8 + 4
    assert not any("not counted" in note or "do not count" in note for note in after["notes"])
    tournament(tmp_path, "withdraw", folder, "bob")
    again = table(folder)
    assert again["played"] == 12 and {r["name"]: r["points"] for r in again["rows"]} == {
        r["name"]: r["points"] for r in after["rows"]
    }


@pytest.mark.slow
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
