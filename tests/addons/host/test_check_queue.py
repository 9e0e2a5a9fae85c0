"""The queue of checks: teams take turns, a page says what a version waits for, and refused ones cost a pause."""

import time
from pathlib import Path

import pytest

from referee.addons.host import check_queue, teams, versions
from referee.addons.host.check_queue import place, queue
from referee.addons.host.store import Store
from referee.addons.host.versions import Quota, Version
from referee.addons.tournament.plan import Entry
from referee.harness.common.errors import UsageError

HASH = "ab" * 32
ENTRY = Entry("Blue", HASH[:10], HASH, "blue.zip")


class Clock:
    """The time, which a test moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_800_000_000.0
        monkeypatch.setattr(time, "time", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


class Team:
    """A team that hands in."""

    def __init__(self, store: Store, name: str) -> None:
        made, token = teams.invite(store, name, "", "organiser Ada")
        person = teams.person(store, teams.open_link(store, token, "Bo"))
        assert person is not None
        self.store, self.number, self.member = store, made.id, person.member

    def hand_in(self, quota: Quota = Quota(waiting=100)) -> Version:  # noqa: B008
        return versions.hand_in(self.store, self.number, self.member, "bot.zip", "uploads/1.zip", quota=quota)


def names(store: Store) -> list[str]:
    return [f"{each.name} {each.version}" for each in queue(store)]


def test_no_team_is_checked_twice_before_another_team_that_waits(tmp_path: Path, clock: Clock) -> None:
    store = Store(tmp_path)
    slow, other, third = (Team(store, name) for name in ("Slow", "Other", "Third"))
    for team in (slow, slow, slow, other, third, other):
        team.hand_in()
    expected = ["Slow 1", "Other 1", "Third 1", "Slow 2", "Other 2", "Slow 3"]
    assert names(store) == expected
    checked = []
    while one := versions.next_to_check(store):
        clock.now += 100
        assert one.id == queue(store)[0].id and [each.is_checked for each in queue(store)].count(True) == 1
        assert names(store) == expected[len(checked) :]
        checked.append(one.id)
        versions.refuse(store, one, "its build takes longer than 120 s")
    assert len(checked) == 6 and queue(store) == []


def test_a_version_that_waits_says_its_place_how_long_and_what_is_checked(tmp_path: Path, clock: Clock) -> None:
    store = Store(tmp_path)
    blue, red = Team(store, "Blue"), Team(store, "Red")
    first = blue.hand_in()
    assert place(store, first.id, 1) == (0, "waiting: next in the queue")
    assert versions.next_to_check(store)
    clock.now += 40
    assert place(store, first.id, 1) == (0, "being built and checked, for 40 s")
    versions.accept(store, first, ENTRY)
    again, other = blue.hand_in(), red.hand_in()
    assert versions.next_to_check(store)  # of Red, whose turn it is
    clock.now += 10
    before, text = place(store, again.id, 1)
    assert before == 1
    assert text == ("waiting: 1 before it; its check begins in about 30 s; being built and checked now: Red, for 10 s")
    clock.now += 60  # longer than any before
    assert "in about 5 s" in place(store, again.id, 1)[1]
    versions.refuse(store, other, "it does not build")
    assert place(store, other.id, 1) == (0, "being decided")


def test_the_estimate_counts_the_checks_that_run_at_a_time() -> None:
    waiting = [check_queue.Queued(n, n, "a", "a", 1, "a.zip", None, 0.0, None) for n in range(10)]
    assert check_queue.wait_s(waiting, 12.0, 1) == 120 and check_queue.wait_s(waiting, 12.0, 3) == 40


def refuse(store: Store, one: Version, why: str = "it does not build") -> None:
    versions.next_to_check(store)
    versions.refuse(store, one, why)


def test_refused_versions_cost_a_growing_pause_and_do_not_count_in_the_hour(tmp_path: Path, clock: Clock) -> None:
    store = Store(tmp_path)
    team, quota = Team(store, "Blue"), Quota(an_hour=2)
    pauses = []
    for _ in range(8):
        refuse(store, team.hand_in(quota))
        began = clock.now
        while True:
            try:
                versions.check_quota(store, team.number, quota)
                break
            except UsageError as error:
                assert "were refused; hand in again in" in str(error)
                clock.now += 5
        pauses.append(clock.now - began)
    assert pauses == [0, 15, 30, 60, 120, 240, 480, 900]
    versions.accept(store, team.hand_in(quota), ENTRY)
    refuse(store, team.hand_in(quota))
    versions.accept(store, team.hand_in(quota), ENTRY)  # the row has ended, and no pause is left
    with pytest.raises(UsageError, match="handed in 2 versions within an hour"):
        team.hand_in(quota)


def test_a_check_that_the_machine_could_not_finish_costs_no_pause(tmp_path: Path) -> None:
    store = Store(tmp_path)
    team = Team(store, "Blue")
    for _ in range(3):
        one = team.hand_in()
        for _ in range(versions.TRIES):
            assert versions.next_to_check(store)
            versions.check_again(store, one)
        versions.refuse(store, one, "not decided, through no fault of the bot")
    assert team.hand_in().version == 4


def test_checks_that_the_machine_could_not_finish_count_in_the_hour(tmp_path: Path) -> None:
    store = Store(tmp_path)
    team, quota = Team(store, "Blue"), Quota(an_hour=2)
    for _ in range(2):
        one = team.hand_in(quota)
        for _ in range(versions.TRIES):
            assert versions.next_to_check(store)
            versions.check_again(store, one)
        versions.refuse(store, one, "not decided, through no fault of the bot")
    with pytest.raises(UsageError, match="handed in 2 versions within an hour"):
        team.hand_in(quota)


def test_a_pause_ends_with_the_hour_of_its_refusals(tmp_path: Path, clock: Clock) -> None:
    store = Store(tmp_path)
    team = Team(store, "Blue")
    for _ in range(3):
        refuse(store, team.hand_in())
        clock.now += 100
    clock.now += versions.AN_HOUR_S
    refuse(store, team.hand_in())
    assert team.hand_in().version == 5
