"""Databases that earlier versions wrote, as SQL text in `databases/N.sql`: each is upgraded, and every page works.

A new migration needs the text of the version before it.
"""

import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from contests import environment
from hosting import Cup, serving
from test_authorisation import filled, rows

from referee.addons.host import practice, teams, versions
from referee.addons.host.migrations import MIGRATIONS
from referee.addons.host.store import FILE, Store, audited

pytestmark = pytest.mark.slow

DATABASES = Path(__file__).with_name("databases")
OLD = range(1, len(MIGRATIONS))
TOKEN = re.compile(r"^-- (session|token) of (.*): (\S+)$", re.MULTILINE)
PLACES = {"stranger": 0, "a member of Blue": 1, "a member of Red": 2, "an organiser": 3}
"""The columns of the table of authorisations."""


def written_by(version: int, folder: Path) -> dict[str, str]:
    """Puts the database of a version into a contest's folder. Returns its tokens by what they are for."""
    text = (DATABASES / f"{version}.sql").read_text()
    for old in folder.glob(f"{FILE}*"):
        old.unlink()
    with closing(sqlite3.connect(folder / FILE)) as database:
        database.executescript(text)
    return {what: token for _, what, token in TOKEN.findall(text)}


@pytest.fixture(params=OLD)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Cup, dict[str, str]]]:
    """A contest with a database that a version wrote, and its tokens."""
    cup = Cup(tmp_path)
    cup.store.close()
    yield cup, written_by(request.param, cup.store.folder)


def test_every_page_works_with_the_database_of_an_earlier_version(old: tuple[Cup, dict[str, str]]) -> None:
    cup, tokens = old
    wrong = []
    with serving(cup):
        for role, place in PLACES.items():
            headers = {"accept": "text/html"} | ({"cookie": f"referee={tokens[role]}"} if place else {})
            with httpx.Client(base_url=cup.address, headers=headers, trust_env=False, verify=False, timeout=60) as http:
                for method, path, statuses in rows():
                    if method == "POST" or "/practice/{" in path or "{token}" in path:
                        continue  # they change something; or name what the contest of that table has not
                    with http.stream("GET", filled(cup, path)) as response:
                        if response.status_code != statuses[place]:
                            wrong.append((role, path, response.status_code, statuses[place]))
    assert wrong == []
    assert Store(cup.store.folder).value("PRAGMA user_version") == len(MIGRATIONS)


def test_an_upgrade_keeps_all_that_a_version_wrote(old: tuple[Cup, dict[str, str]]) -> None:
    cup, tokens = old
    before = everything(cup.store.folder)
    store = Store(cup.store.folder)
    after = everything(cup.store.folder)
    widths = {table: len(rows[0]) for table, rows in before.items() if rows}  # a step may add columns at the end
    assert {table: [row[: widths.get(table)] for row in after[table]] for table in before} == before
    assert [each.name for each in teams.teams(store)] == ["Blue", "Red", "Third"]
    who = {role: teams.person(store, token) for role, token in tokens.items()}
    assert {role: each and (each.team, each.is_program) for role, each in who.items()} == {
        "an organiser": (None, False),
        "a member of Blue": (1, False),
        "a member of Red": (2, False),
        "`referee submit`, of a member of Blue": (1, True),
    }
    assert [each.status for each in versions.versions(store, 1)] == ["waiting", "refused", "accepted"]
    assert [each.status for each in practice.practices(store, 1)] == ["waiting", "played"]
    assert audited(store)[0].action == "withdrawn"
    found = versions.next_to_check(store)
    assert found is not None and found.git_commit == "main", "the contest goes on"


def everything(folder: Path) -> dict[str, list[tuple[object, ...]]]:
    """Returns the rows of each table."""
    with closing(sqlite3.connect(folder / FILE)) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return {table: database.execute(f"SELECT * FROM {table}").fetchall() for table in tables}


def test_there_is_a_database_of_each_earlier_version() -> None:
    assert {each.name for each in DATABASES.iterdir()} == {f"{version}.sql" for version in OLD}


def test_the_database_of_a_newer_version_is_refused_in_one_line(tmp_path: Path) -> None:
    cup = Cup(tmp_path)
    with closing(sqlite3.connect(cup.store.path)) as database:
        database.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    command = [sys.executable, "-m", "referee.harness.cli.main", "host", str(cup.store.folder), "--bind", "127.0.0.1:0"]
    done = subprocess.run(command, env=environment(tmp_path), capture_output=True, text=True, timeout=60)
    assert done.returncode == 3 and done.stdout == "", done
    (line,) = done.stderr.splitlines()
    assert f"a newer referee wrote it (version {len(MIGRATIONS) + 1}); expected {len(MIGRATIONS)}" in line
