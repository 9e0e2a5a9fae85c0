"""The database of a contest: steps from each version on, two processes at once, kills, and no secret in it."""

import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from referee.addons.host import practice, switches, teams, versions
from referee.addons.host.migrations import MIGRATIONS
from referee.addons.host.store import FILE, Store, audit, audited
from referee.addons.tournament.plan import Entry
from referee.harness.common.errors import RunError, UsageError

HASH = "ab" * 32
ENTRY = Entry("Blue", HASH[:10], HASH, "blue.zip")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def team(store: Store, name: str = "Blue") -> tuple[int, int]:
    """Returns the numbers of a new team and of its first member."""
    made, token = teams.invite(store, name, "", "organiser Ada")
    found = teams.person(store, teams.open_link(store, token, "Bo"))
    assert found is not None and found.team == made.id
    return made.id, found.member


def handed_in(store: Store, name: str = "Blue") -> versions.Version:
    return versions.hand_in(store, *team(store, name), "bot.zip", "uploads/1.zip", "first")


# Versions of the database.


@pytest.mark.parametrize("version", range(len(MIGRATIONS) + 1))
def test_a_database_of_every_earlier_version_is_brought_to_the_newest(version: int, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE) as old:
        for step in MIGRATIONS[:version]:
            old.executescript(step)
        old.execute(f"PRAGMA user_version = {version}")
        if version:
            old.execute("INSERT INTO team (name, folded, created_at) VALUES ('Blue', 'blue', 1.0)")
    old.close()
    found = Store(tmp_path)
    assert found.value("PRAGMA user_version") == len(MIGRATIONS)
    assert [each.name for each in teams.teams(found)] == ["Blue"] * bool(version)
    tables = found._connection().execute("SELECT name, strict FROM pragma_table_list WHERE schema = 'main'").fetchall()
    assert {row[0] for row in tables if not row[1]} <= {"sqlite_schema", "sqlite_sequence"}, "all tables are STRICT"


def test_a_step_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Store(tmp_path).close()
    broken = "CREATE TABLE more (a INTEGER) STRICT;\nINSERT INTO absent VALUES (1);\n"
    monkeypatch.setattr("referee.addons.host.store.MIGRATIONS", (*MIGRATIONS, broken))
    with pytest.raises(RunError, match="cannot be used: no such table: absent"):
        Store(tmp_path)
    monkeypatch.undo()
    assert Store(tmp_path).value("SELECT count(*) FROM pragma_table_list WHERE name = 'more'") == 0


def test_a_database_of_a_newer_referee_and_a_damaged_one_are_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE) as newer:
        newer.execute("PRAGMA user_version = 99")
    with pytest.raises(RunError, match="a newer referee wrote it"):
        Store(tmp_path)
    (tmp_path / FILE).write_bytes(b"no database" * 500)
    with pytest.raises(RunError, match="file is not a database"):
        Store(tmp_path)


def test_a_write_within_another_one_is_undone_with_it(store: Store) -> None:
    with pytest.raises(UsageError, match="there is a team 'Blue' already"), store.writing():
        teams.invite(store, "Blue", "", "organiser Ada")
        teams.invite(store, "blue", "", "organiser Ada")
    assert teams.teams(store) == []


# Two processes.

WRITER = """
import sys
from pathlib import Path
from referee.addons.host.store import Store, audit
store = Store(Path(sys.argv[1]))
for number in range(100):
    with store.writing() as database:
        audit(database, sys.argv[2], "write", str(number))
"""


def test_processes_write_at_once_and_no_write_is_lost(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    writers = [subprocess.Popen([*command, name]) for name in "abc"]
    assert [each.wait(60) for each in writers] == [0, 0, 0]
    lines = audited(Store(tmp_path), 1000)
    assert sorted((each.actor, int(each.subject)) for each in lines) == [(a, n) for a in "abc" for n in range(100)]


KILLED = """
import os, signal, sys
from pathlib import Path
from referee.addons.host.store import Store, audit
with Store(Path(sys.argv[1])).writing() as database:
    audit(database, "half", "write")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_leaves_no_half_of_a_transaction_and_no_lock(store: Store) -> None:
    assert subprocess.run([sys.executable, "-c", KILLED, str(store.folder)]).returncode == -9
    with store.writing() as database:
        audit(database, "whole", "write")
    assert [each.actor for each in audited(store)] == ["whole"]


# Teams and secrets.


def test_an_invitation_opens_once_and_members_join_by_the_link_of_the_team(store: Store) -> None:
    made, token = teams.invite(store, " Blue  team ", "blue@example.org", "organiser Ada")
    assert made.name == "Blue team" and teams.link(store, token)
    session = teams.open_link(store, token, "Bo")
    assert teams.link(store, token) is None
    with pytest.raises(UsageError, match="this link is used"):
        teams.open_link(store, token, "Eve")
    first, join = teams.person(store, session), teams.new_link(store, made.id, "join", "member Bo")
    assert first is not None and first.team == made.id and not first.is_organiser
    for name in ("Cy", "Di"):
        assert teams.person(store, teams.open_link(store, join, name)) is not None
    assert [each.name for each in teams.members(store, made.id)] == ["Bo", "Cy", "Di"]
    newer = teams.new_link(store, made.id, "join", "member Bo")
    assert teams.link(store, join) is None and teams.link(store, newer)


def test_sessions_end_by_signing_out_by_age_and_with_their_team(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    made, token = teams.invite(store, "Blue", "", "organiser Ada")
    first = teams.open_link(store, token, "Bo")
    second, third = (
        teams.open_link(store, teams.new_link(store, made.id, "join", "member Bo"), name) for name in ("Cy", "Di")
    )
    teams.end_session(store, second)
    assert [teams.person(store, each) is not None for each in (first, second, third)] == [True, False, True]
    now = time.time()
    with monkeypatch.context() as later:
        later.setattr(time, "time", lambda: now + teams.SESSION_S + 1)
        assert teams.person(store, first) is None
    teams.end_sessions(store, made.id, "organiser Ada")
    assert teams.person(store, first) is None and teams.person(store, third) is None


def test_a_new_token_for_programs_ends_the_one_before(store: Store) -> None:
    _, token = teams.invite(store, "Blue", "", "organiser Ada")
    one = teams.person(store, teams.open_link(store, token, "Bo"))
    assert one is not None and not one.is_program
    first, second = teams.new_program_token(store, one), teams.new_program_token(store, one)
    found = teams.person(store, second)
    assert teams.person(store, first) is None and found is not None and found.is_program


def test_no_secret_is_in_the_files_of_the_database(store: Store) -> None:
    made, invitation = teams.invite(store, "Blue", "", "organiser Ada")
    session = teams.open_link(store, invitation, "Bo")
    one = teams.person(store, session)
    assert one is not None
    secrets = [invitation, session, teams.new_link(store, made.id, "join", "x"), teams.new_program_token(store, one)]
    content = b"".join(file.read_bytes() for file in store.folder.glob(f"{FILE}*"))
    assert b"Blue" in content and not [each for each in secrets if each.encode() in content]


@pytest.mark.parametrize("name", ["", "  ", "x" * 41])
def test_names_that_can_be_no_teams_name_are_refused(name: str, store: Store) -> None:
    with pytest.raises(UsageError):
        teams.invite(store, name, "", "organiser Ada")


def test_a_table_of_teams_is_taken_wholly_or_not_at_all(store: Store) -> None:
    named, _ = teams.read_teams("\ufeffteam;address\nRot;rot@example.org\nGrün\n\n")
    assert named == [("Rot", "rot@example.org"), ("Grün", "")]
    with pytest.raises(UsageError, match="there is a team 'Rot' already"):
        teams.invite_all(store, [*named, ("ROT", "")], "organiser Ada")
    assert teams.teams(store) == []
    links = teams.invite_all(store, [*named, ("Blau", "=cmd()")], "organiser Ada")
    assert "Blau,'=cmd()," in teams.written_csv(links)


# Versions.


def test_everybody_has_a_line_for_marks_that_says_what_became_of_the_last_version(store: Store, tmp_path: Path) -> None:
    for name, statuses in (("Ann", "r" * 12), ("Ben", "ar"), ("Cid", "a"), ("Dan", "w"), ("Eve", "aw"), ("Fay", "r")):
        one = handed_in(store, name)
        for number, status in enumerate(statuses):
            if number:
                path, quota = f"uploads/{name}{number}.zip", versions.Quota(pause_s=0)
                one = versions.hand_in(store, one.team, one.member, "bot.zip", path, quota=quota)
            if status == "a":
                versions.accept(store, one, ENTRY)
            elif status == "r":
                versions.refuse(store, one, "it does not build")
    (fay,) = (team for team in teams.teams(store) if team.name == "Fay")
    teams.set_state(store, fay.id, "disqualified", "two accounts", "organiser Ada")
    assert {name: (each.status, each.reason) for name, each in versions.handed_in(store).items()} == {
        "Ann": ("refused", "it does not build"),
        "Ben": ("an earlier version plays", "it does not build"),
        "Cid": ("plays", ""),
        "Dan": ("not decided", ""),
        "Eve": ("an earlier version plays", ""),
        "Fay": ("disqualified", "two accounts"),
    }


def test_versions_wait_in_their_order_and_each_team_has_one_check_at_a_time(store: Store) -> None:
    blue, red = handed_in(store), handed_in(store, "Red")
    again = versions.hand_in(store, blue.team, blue.member, "bot.zip", "uploads/3.zip")
    assert [blue.version, red.version, again.version] == [1, 1, 2]
    taken = [versions.next_to_check(store) for _ in range(3)]
    assert [each and each.id for each in taken] == [blue.id, red.id, None]
    versions.accept(store, blue, ENTRY)
    assert versions.next_to_check(store) == again
    versions.refuse(store, again, "it does not build")
    plays, refused = versions.current(store, blue.team), versions.by_id(store, again.id)
    assert plays is not None and plays.id == blue.id and plays.tournament_entry == ENTRY
    assert refused is not None and refused.reason == "it does not build"


def test_a_check_that_a_kill_has_ended_is_done_again(store: Store) -> None:
    one = handed_in(store)
    assert versions.next_to_check(store) and versions.next_to_check(store) is None
    assert versions.check_again(store) == 1
    found = versions.next_to_check(store)
    assert found is not None and found.id == one.id and found.tries == 1  # before this one


def test_quotas_bound_what_a_team_hands_in(store: Store) -> None:
    one = handed_in(store)

    def more(quota: versions.Quota) -> None:
        versions.hand_in(store, one.team, one.member, "bot.zip", "uploads/2.zip", size=10, quota=quota)

    with pytest.raises(UsageError, match="1 versions of your team wait"):
        more(versions.Quota(waiting=1))
    with pytest.raises(UsageError, match="handed in 1 versions within an hour"):
        more(versions.Quota(an_hour=1))
    more(versions.Quota())
    with pytest.raises(UsageError, match="is the limit; ask the organiser"):
        more(versions.Quota(waiting=9, stored_bytes=10))
    teams.set_state(store, one.team, "disqualified", "plays for two", "organiser Ada")
    with pytest.raises(UsageError, match="does not take part any more"):
        more(versions.Quota())


def test_a_version_that_is_set_aside_plays_no_more_until_it_is_chosen_again(store: Store) -> None:
    one = handed_in(store)
    versions.accept(store, one, ENTRY)
    (plays,) = versions.playing(store)
    versions.set_aside(store, plays, "failed 8 games in a row")
    (aside,) = versions.playing(store)
    assert aside.set_aside_at is not None and aside.set_aside_why == "failed 8 games in a row"
    assert audited(store)[0].action == "set aside"
    with store.writing() as database:
        versions.set_current(database, aside)
    assert versions.playing(store)[0].set_aside_at is None
    teams.set_state(store, one.team, "withdrawn", "", "organiser Ada")
    assert versions.playing(store) == []


# Practice and switches.


def test_practice_games_of_teams_take_turns_and_outlast_a_kill(store: Store) -> None:
    blue, red = handed_in(store), handed_in(store, "Red")

    def ask(one: versions.Version, a_day: int = 30) -> int:
        return practice.ask(store, one.team, one.member, one.id, "@random", 0, "7", '{"rounds":3}', a_day)

    first, second, third = ask(blue), ask(blue), ask(red)
    taken = [practice.next_practice(store) for _ in range(3)]
    assert [each and each.id for each in taken] == [first, third, second]
    assert taken[0] is not None and taken[0].rules == {"rounds": 3}
    practice.played(store, first, "practice/1.jsonl", "Blue won")
    practice.failed(store, third, "no core was free")
    assert practice.wait_again(store) == 1
    assert [each.status for each in practice.practices(store, blue.team)] == ["waiting", "played"]
    with pytest.raises(UsageError, match="which is the limit"):
        ask(red, a_day=1)


def test_a_switch_holds_from_its_time_on(store: Store) -> None:
    now = time.time()
    assert switches.value_of(store, "uploads") == "open"
    switches.set_switch(store, "uploads", "closed", now + 60, "organiser Ada")
    assert switches.value_of(store, "uploads") == "open" and switches.value_of(store, "uploads", now + 61) == "closed"
    (planned,) = switches.planned(store, "uploads")
    assert planned is not None and planned.value == "closed"
    switches.forget(store, "uploads", planned.at, "organiser Ada")
    assert switches.planned(store, "uploads") == []
    switches.set_switch(store, "uploads", "closed", None, "organiser Ada")
    assert switches.value_of(store, "uploads") == "closed"
    for name, value, at in (("uploads", "shut", None), ("doors", "open", None), ("uploads", "open", now - 60)):
        with pytest.raises(UsageError):
            switches.set_switch(store, name, value, at, "organiser Ada")
    assert [each.action for each in audited(store)] == ["switch"] * 3
