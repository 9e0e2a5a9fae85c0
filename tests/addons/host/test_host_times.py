"""The switches of a contest as rules: what holds at which moment, and what a frozen table shows."""

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.addons.host import switches, times
from referee.addons.host.store import Store
from referee.addons.host.times import (
    VALUES,
    Setting,
    frozen_at,
    may_practise,
    may_see_game,
    planned,
    setting,
    typed_time,
)
from referee.addons.tournament.plan import Entry, Plan, identified
from referee.addons.tournament.reports.all_stages import all_standings
from referee.addons.tournament.store.ledger import Line
from referee.addons.tournament.store.reader import Book
from referee.harness.common.errors import UsageError

T = 1_800_000_000.0


def value(settings: list[Setting], name: str, now: float) -> str:
    return setting(settings, name, now).value


@pytest.mark.parametrize("name", VALUES)
def test_the_first_value_holds_until_a_setting_says_otherwise(name: str) -> None:
    assert value([], name, T) == VALUES[name][0]
    later = [Setting(name, T + 1, VALUES[name][1])]
    assert value(later, name, T) == VALUES[name][0] and planned(later, name, T)[0] == later[0]


@pytest.mark.parametrize("name", VALUES)
def test_a_setting_holds_from_its_moment_on_that_moment_included(name: str) -> None:
    settings = [Setting(name, T, VALUES[name][1])]
    assert value(settings, name, T - 1e-6) == VALUES[name][0]
    assert value(settings, name, T) == value(settings, name, T + 1e9) == VALUES[name][1]
    assert planned(settings, name, T) == [] and planned(settings, name, T - 1e-6)[0] == settings[0]


def test_a_change_that_is_taken_back_or_moved_leaves_what_was() -> None:
    planned = [Setting("uploads", T, "closed"), Setting("uploads", T + 60, "open")]
    assert [value(planned, "uploads", T + s) for s in (-1, 0, 59, 60)] == ["open", "closed", "closed", "open"]
    assert value([], "uploads", T + 1) == "open"
    assert [value([Setting("uploads", T + 5, "closed")], "uploads", T + s) for s in (0, 4, 5)] == [
        "open",
        "open",
        "closed",
    ]


def test_switches_do_not_touch_each_other() -> None:
    settings = [Setting("uploads", T, "closed"), Setting("table", T, "frozen")]
    assert value(settings, "rated", T) == "on" and value(settings, "practice", T) == "open"


@given(st.permutations([Setting("rated", T + n, ("on", "off")[n % 2]) for n in range(4)]), st.integers(-1, 5))
def test_the_order_of_the_rows_does_not_matter(rows: list[Setting], second: int) -> None:
    assert value(rows, "rated", T + second) == ("off" if second in (1, 3, 4, 5) else "on")


@pytest.mark.parametrize(
    ("practice", "staff", "teams"), [("open", True, True), ("staff", True, False), ("off", False, False)]
)
def test_practice_may_be_limited_to_the_organisers_bots(practice: str, staff: bool, teams: bool) -> None:
    assert (may_practise(practice, True), may_practise(practice, False)) == (staff, teams)


def test_the_table_shows_the_moment_of_its_freeze_until_it_is_public_again() -> None:
    rows = [Setting("table", T, "frozen"), Setting("table", T + 100, "public"), Setting("table", T + 200, "frozen")]
    seen = {second: frozen_at(rows, T + second) for second in (-1, 0, 99, 100, 199, 200, 999)}
    assert seen == {-1: None, 0: T, 99: T, 100: None, 199: None, 200: T + 200, 999: T + 200}


def test_a_table_that_is_frozen_again_does_not_move() -> None:
    rows = [Setting("table", T, "frozen"), Setting("table", T + 50, "frozen")]
    assert frozen_at(rows, T + 60) == T


def test_teams_see_their_own_games_on_and_others_those_until_the_freeze() -> None:
    for ended, own in itertools.product((T - 1, T, T + 1), (True, False)):
        assert may_see_game(ended, None, own)
        assert may_see_game(ended, T, own) is (own or ended <= T)


def line(plan: Plan, one: int, two: int, number: int, at: float) -> Line:
    a, b = plan.bots[one].ident, plan.bots[two].ident
    row = int(a > b)
    key = f"{plan.conditions('')}/{'-'.join(sorted((a, b)))}/{number}/{row}"
    return Line(key, (a, b), 1, (1, 2), (1.0, 0.0), a=f"{number:x}", at=at)


def test_a_frozen_table_has_the_games_and_versions_of_then(tmp_path: Path) -> None:
    import msgspec

    entries = [Entry(name, "", f"{ord(name):064x}"[::-1], "@random") for name in "abc"]
    plan = Plan("tictactoe", "ladder", 1, identified(entries), games=0)
    book = Book()
    for number, (one, two, at) in enumerate(
        [(0, 1, T - 10), (1, 2, T - 5), (2, 0, T), (0, 1, T + 0.001), (2, 1, T + 50)]
    ):
        assert book.add(msgspec.json.encode(line(plan, one, two, number, at)))
    table = times.frozen_table(tmp_path, plan, book, T)
    before = all_standings(table.plan, table.games(book))
    assert sum(row.games for row in before.rows) == 2 * 3, "a game that ended at T counts"
    newer = Entry("a", "ffff000000", "f" * 64, "@random")
    old = msgspec.structs.replace(plan.bots[0], absent=True)
    changed = plan.replaced(
        bots=(old, plan.bots[1], msgspec.structs.replace(plan.bots[2], absent=True, withdrawn=True), newer)
    )
    assert book.add(msgspec.json.encode(line(changed, 3, 1, 9, T + 99)))
    late = times.frozen_table(tmp_path, changed, book, T)
    after = all_standings(late.plan, late.games(book))
    assert [(row.name, row.games, row.points) for row in after.rows] == [
        (r.name, r.games, r.points) for r in before.rows
    ]


def test_the_database_gives_these_rules_its_rows(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert switches.frozen_at(store) is None
    switches.set_switch(store, "table", "frozen", None, "organiser Ada")
    first = switches.frozen_at(store)
    switches.set_switch(store, "table", "frozen", None, "organiser Ada")
    assert first is not None and switches.frozen_at(store) == first
    assert len(switches.settings(store)) == 2 and switches.value_of(store, "table", first - 1) == "public"


@pytest.mark.parametrize("text", ["9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+14:00", "9001-01-01"])
def test_a_time_that_no_page_could_show_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="expected a time such as"):
        typed_time(text, "Pacific/Kiritimati")
