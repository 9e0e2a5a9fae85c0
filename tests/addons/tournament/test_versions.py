"""Versions of a bot under one name: resubmission, rollback, and what counts."""

import csv
import io
from pathlib import Path

import msgspec
import pytest
from contests import drawing_bot, games, table, tournament
from written_games import LOST, WON, line, standings_of

from referee.addons.tournament.formats.games import ScheduledGame
from referee.addons.tournament.formats.schedules import FORMATS
from referee.addons.tournament.plan import Entry, Plan, identified, read_plan
from referee.addons.tournament.plan_changes import entered
from referee.addons.tournament.store.ledger import PLAN


@pytest.mark.slow
def test_a_resubmitted_bot_replaces_its_older_version_and_can_come_back(tmp_path: Path) -> None:
    ann, bob = drawing_bot(tmp_path, "ann", 1), drawing_bot(tmp_path, "bob", 2)
    folder = tmp_path / "t"
    tournament(tmp_path, "--game", "tictactoe", ann, bob, "--games", "4", "--seed", "1", "--ledger", folder)
    first = table(folder)
    drawing_bot(tmp_path, "ann", 5)
    tournament(tmp_path, "add", folder, ann)
    tournament(tmp_path, "--ledger", folder)
    tournament(tmp_path, "--game", "tictactoe", ann, bob, "--games", "4", "--ledger", folder)
    old, _, new = read_plan(folder / PLAN).bots
    assert (old.name, new.name) == ("ann", "ann") and old.hash != new.hash and old.absent and not new.absent
    assert len(games(folder)) == 8
    again = table(folder)
    assert (again["played"], [row["games"] for row in again["rows"]]) == (4, [4, 4])
    assert {row["ident"] for row in again["rows"] if row["name"] == "ann"} == {new.ident}
    assert f"4 games of the older version ann@{old.ident[:6]} do not count" in again["notes"]
    drawing_bot(tmp_path, "ann", 1)
    tournament(tmp_path, "add", folder, ann)
    back = table(folder)
    assert (back["rows"], back["cross"]) == (first["rows"], first["cross"])
    assert [entry.absent for entry in read_plan(folder / PLAN).bots] == [False, False, True]


@pytest.mark.slow
def test_a_disqualified_bot_has_a_line_for_marks(tmp_path: Path) -> None:
    bots = [drawing_bot(tmp_path, name, number) for number, name in enumerate(("ann", "bob", "cid"))]
    folder = tmp_path / "t"
    tournament(tmp_path, "--game", "tictactoe", *bots, "--games", "2", "--ledger", folder)
    tournament(tmp_path, "withdraw", folder, "ann", "--void")
    (tmp_path / "class.csv").write_text("name,number\nAnn,1\nDan,2\n")
    said = tournament(tmp_path, "show", folder, "--output", "csv", "--class", tmp_path / "class.csv")
    found = {row["name"]: (row["status"], row["class number"]) for row in csv.DictReader(io.StringIO(said))}
    assert (found["ann"], found["Dan"]) == (("disqualified", "1"), ("nothing handed in", "2"))


@pytest.mark.parametrize("gone", [{"withdrawn": True, "void": True}, {"withdrawn": True}, {}])
def test_a_bot_with_the_files_of_one_that_plays_no_more_is_another_bot(gone: dict[str, bool]) -> None:
    """Whether that one was disqualified, has withdrawn, or is an older version."""
    first = identified([Entry(name, "", name[0] * 64, "") for name in ("ann", "bob", "cid")])
    before = Plan("tictactoe", "round-robin", 1, (*first[:2], msgspec.structs.replace(first[2], absent=True, **gone)))
    after = entered(before, [Entry("dan", "", "c" * 64, "")])
    assert after.bots[:3] == before.bots and (after.bots[3].name, after.bots[3].absent) == ("dan", False)
    assert len({entry.ident for entry in after.bots}) == 4
    assert entered(before, [Entry("cid", "", "c" * 64, "")]).bots == first


@pytest.mark.parametrize("format", ["round-robin", "gauntlet", "series", "ladder", "list-order"])
def test_standings_with_older_versions_are_those_of_the_latest_alone(format: str) -> None:
    """In every format but a Swiss: games of the older version of b change nobody's rank, points, rating or faults."""
    assert format in FORMATS
    now = identified([Entry(name, "", name * 64, "@random") for name in "abc"])
    old = Entry("b", "d" * 10, "d" * 64, "@random", absent=True)
    alone, both = (Plan("tictactoe", format, 1, bots, games=4) for bots in (now, (*now, old)))
    pairs = ((0, 1), (1, 2), (0, 2))
    lines = [line(alone, ScheduledGame(seats, number), WON, number, a="") for seats in pairs for number in range(4)]
    lines += [line(both, ScheduledGame((0, 3), number), LOST, number, a="") for number in range(3)]
    found, expected = (standings_of(plan, lines, chances=False) for plan in (both, alone))
    assert found.rows == expected.rows and found.cross == expected.cross and found.played == expected.played
    assert found.notes[-1] == "3 games of the older version b@dddddd do not count"
