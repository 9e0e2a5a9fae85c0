"""Reference bots: the organiser's own bots, which play from the start and take nobody's place."""

from pathlib import Path

import pytest
from hosted import Team, contest, games_of, playing, until

from referee.addons.host import finals, practice, reference_bots, switches, teams
from referee.addons.host.practice_pages import rivals
from referee.addons.host.store import Store
from referee.addons.tournament.plan import read_plan
from referee.addons.tournament.reports.all_stages import all_standings
from referee.addons.tournament.reports.site import best
from referee.addons.tournament.reports.standings_text import as_csv, markdown
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.ledger import PLAN
from referee.harness.common.errors import UsageError


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(contest(tmp_path / "cup"))


def test_a_team_has_an_opponent_at_once_and_reference_bots_take_no_place(store: Store) -> None:
    reference_bots.enter(store, ["easy=@random", "@blocker"])
    entry = Team(store, "ann").submit("@random")
    with playing(store.folder):
        until(lambda: games_of(store.folder, [entry.ident]) > 2, "the team's bot has an opponent")
    plan = read_plan(store.folder / PLAN)
    result = all_standings(plan, reader.read(store.folder, plan=plan), chances=False)
    assert {row.name: row.rank for row in result.rows} == {"easy": 0, "@blocker": 0, "ann": 1}
    assert [row.name for row in best(result.rows)] == ["ann"]
    text = markdown(result).replace("\\", "")
    assert "easy (reference)" in text and "have no place" in text
    assert "ann (reference)" not in text and ",reference," in as_csv(result)


def test_no_team_has_the_name_of_a_reference_bot_and_none_that_of_a_team(store: Store) -> None:
    team = Team(store, "ann")
    for specs, why in ((["Ann=@random"], "there is 'ann' already"), (["b=@random", "B=@blocker"], "there is 'b'")):
        with pytest.raises(UsageError, match=why):
            reference_bots.enter(store, specs)
    assert read_plan(store.folder / PLAN).bots == ()
    reference_bots.enter(store, ["easy=@random"])
    with pytest.raises(UsageError, match="'EASY' is the name of another bot"):
        teams.invite(store, "EASY", "", "organiser Ada")
    assert practice.is_staff(store, "easy") and not practice.is_staff(store, team.name)


def test_a_start_with_the_same_bots_changes_nothing_and_a_new_version_replaces_the_old_one(store: Store) -> None:
    reference_bots.enter(store, ["easy=@random", "@blocker"])
    reference_bots.set_state(store, "easy", False, "organiser Ada")
    before = read_plan(store.folder / PLAN)
    reference_bots.enter(store, ["easy=@random", "@blocker"])
    assert read_plan(store.folder / PLAN) == before, "a bot that the organiser has withdrawn stays away"
    assert [entry.name for entry in before.bots if entry.absent] == ["easy"]
    reference_bots.set_state(store, "easy", True, "organiser Ada")
    reference_bots.enter(store, ["easy=@blocker"])
    (easy,) = (entry for entry in teams.reference_bots(store) if entry.name == "easy")
    assert easy.bot == "@blocker" and easy.reference and not easy.absent
    with pytest.raises(UsageError, match="there is no reference bot of that name"):
        reference_bots.set_state(store, "ann", False, "organiser Ada")


def test_a_reference_bot_plays_in_no_final_and_is_a_rival_in_practice_once(store: Store) -> None:
    reference_bots.enter(store, ["@random", "easy=@blocker"])
    for name in ("ann", "bob"):
        Team(store, name).submit("@random")
    names = rivals(read_plan(store.folder / PLAN))
    assert names.count("@random") == 1 and "easy" in names
    switches.set_switch(store, "uploads", "closed", None, "organiser Ada")
    folder = finals.make(store, "cup", "round-robin", "organiser Ada")
    assert {entry.name for entry in read_plan(folder / PLAN).bots} == {"ann", "bob"}
