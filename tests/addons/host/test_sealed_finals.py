"""Finals for a group, sealed finals that are shown match by match, and finals after a disqualification."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from hosted import Team, contest, playing, until
from hosting import Browser, Cup, serving

from referee.addons.host import finals, reveal, switches, teams
from referee.addons.host.store import Store
from referee.addons.tournament.inbox import Withdraw, hand_in
from referee.addons.tournament.plan import read_plan
from referee.addons.tournament.reports.all_stages import all_standings
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.ledger import PLAN
from referee.harness.common.errors import UsageError

pytestmark = pytest.mark.slow
NAMES = ("ann", "bob", "cid", "dan")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cup, Browser, httpx.Client]]:
    """A contest whose finals were played: a sealed double elimination, and a round robin of two."""
    cup = Cup(tmp_path_factory.mktemp("sealed"))
    hand_in(cup.store.folder, Withdraw(("Blue",)))
    for name in NAMES:
        Team(cup.store, name).submit("@random")
    switches.set_switch(cup.store, "uploads", "closed", None, "organiser Ada")
    finals.make(cup.store, "cup", "double-elimination", "organiser Ada", games=2, sealed=True)
    finals.make(cup.store, "two", "round-robin", "organiser Ada", games=2, only=["ANN", "dan"])
    with pytest.raises(UsageError, match="still being played"):
        finals.show(cup.store, "cup", "match", "organiser Ada")
    with playing(cup.store.folder):
        until(lambda: finals.waiting(cup.store.folder) is None, "the end of the finals")
    with serving(cup) as client:
        link = f"{cup.address}/join/{teams.new_link(cup.store, None, 'invitation', 'the referee')}"
        yield cup, Browser(cup.address).join(link, "Ada"), client


def shown(client: httpx.Client) -> set[str]:
    """Returns the games of the sealed final that its pages name."""
    page = client.get("/finals/cup/index.html").text
    found = set()
    for path in {*re.findall(r'href="((?:bots|pairs)/[\w-]+\.html)"', page)}:
        found |= {*re.findall(r"games/([\w~-]+)\.(?:html|jsonl)", client.get(f"/finals/cup/{path}").text)}
    return found


def test_everybody_sees_only_the_matches_that_the_organiser_has_shown(
    served: tuple[Cup, Browser, httpx.Client],
) -> None:
    cup, ada, client = served
    folder = cup.store.folder / finals.FINALS / "cup"
    plan = read_plan(folder / PLAN)
    book = reader.read(folder, plan=plan)
    played = reveal.matches(plan, book)
    assert sum(len(match.numbers) for match in played) == book.count and len(played) in (6, 7)
    names = [{f"{match.line_up}/{n // book.ROWS}/{n % book.ROWS}".replace("/", "_") for n in match.numbers}
             for match in played]  # fmt: skip
    assert shown(client) == set() and "sealed: 0 matches are shown" in client.get("/finals").text
    assert "Show the next match" not in client.get("/finals").text
    secret = next(iter(names[-1]))
    for ending in ("jsonl.gz", "png"):
        assert client.get(f"/finals/cup/games/{secret}.{ending}").status_code == 404
    assert "Show the next match" in ada.get("/finals")
    ada.post("/organiser/finals/cup/show", what="match")
    assert shown(client) == names[0] and client.get(f"/finals/cup/games/{secret}.jsonl.gz").status_code == 404
    ada.post("/organiser/finals/cup/show", what="round")
    assert shown(client) == names[0] | names[1], "the round ends before a bot plays again"
    ada.post("/organiser/finals/cup/show", status=400, what="nothing")
    ada.post("/organiser/finals/two/show", status=400, what="all")
    ada.post("/organiser/finals/cup/show", what="all")
    assert shown(client) == set.union(*names) and "sealed" not in client.get("/finals").text
    assert client.get(f"/finals/cup/games/{secret}.jsonl.gz").status_code == 200


def test_a_final_may_be_for_some_teams_only(served: tuple[Cup, Browser, httpx.Client]) -> None:
    store = served[0].store
    plan = read_plan(store.folder / finals.FINALS / "two" / PLAN)
    assert {entry.name for entry in plan.bots} == {"ann", "dan"}
    with pytest.raises(UsageError, match="eve: no version of such a team plays now"):
        finals.make(store, "three", "knockout", "organiser Ada", only=["ann", "Eve"])


def test_after_a_disqualification_the_podium_is_that_of_the_others_and_says_so(
    served: tuple[Cup, Browser, httpx.Client],
) -> None:
    cup, ada, client = served
    folder = cup.store.folder / finals.FINALS / "cup"

    def order() -> list[str]:
        plan = read_plan(folder / PLAN)
        return [row.name for row in all_standings(plan, reader.read(folder, plan=plan), chances=False).rows]

    if "Show the next match" in ada.get("/finals"):  # no other test has shown all
        ada.post("/organiser/finals/cup/show", what="all")
    before = order()
    (number,) = (team.id for team in teams.teams(cup.store) if team.name == before[0])
    state = f"/organiser/teams/{number}/state"
    ada.post(state, state="disqualified", reason="two accounts")
    assert order() == before[1:]
    page = client.get("/finals").text
    assert f"{before[0]} was disqualified" in page and "No match was played again" in page
    until(lambda: f"{before[0]} was disqualified" in client.get("/finals/cup/index.html").text, "the new page")
    assert f"1. {before[1]}" in client.get("/finals/cup/index.html").text
    assert f"{before[0]} was disqualified" in client.get("/finals/cup/index.html").text
    ada.post(state, state="active")
    assert order() == before and f"{before[0]} is back" in client.get("/finals").text


def disqualified_final(folder: Path, format: str, only: tuple[str, ...] = (), sealed: bool = False) -> Store:
    """Returns a contest with a final that is over, and whose team ann is disqualified twice, as by a second click."""
    store = Store(contest(folder / "cup"))
    found = {name: Team(store, name) for name in NAMES}
    for each in found.values():
        each.submit("@random")
    switches.set_switch(store, "uploads", "closed", None, "organiser Ada")
    finals.make(store, "cup", format, "organiser Ada", games=2, only=only, sealed=sealed)
    finals.end(store.folder, final(store))
    for _ in range(2):
        set_state(store, "ann", "disqualified")
    return store


def set_state(store: Store, name: str, state: str) -> None:
    (number,) = (team.id for team in teams.teams(store) if team.name == name)
    finals.reconsider(store, name, state)
    teams.set_state(store, number, state, "", "organiser Ada")


def final(store: Store) -> finals.Final:
    (found,) = finals.finals(store.folder)
    return found


def in_order(store: Store) -> set[str]:
    folder = store.folder / finals.FINALS / "cup"
    plan = read_plan(folder / PLAN)
    return {row.name for row in all_standings(plan, reader.read(folder, plan=plan), chances=False).rows}


def test_a_team_that_is_disqualified_while_a_final_is_sealed_leaves_it_when_all_is_shown(tmp_path: Path) -> None:
    store = disqualified_final(tmp_path, "double-elimination", sealed=True)
    set_state(store, "bob", "disqualified")
    set_state(store, "bob", "active")
    assert final(store).remarks == () and in_order(store) == {*NAMES}, "what is sealed gives nothing away"
    finals.show(store, "cup", "all", "organiser Ada")
    (remark,) = final(store).remarks
    assert remark.startswith("ann was disqualified: its games count for nobody")
    assert final(store).shown is None and in_order(store) == {"bob", "cid", "dan"}
    set_state(store, "ann", "active")
    assert final(store).remarks == ("ann is back: its games count again",) and in_order(store) == {*NAMES}


def test_a_page_says_once_that_places_are_open_and_no_more_when_the_team_is_back(tmp_path: Path) -> None:
    store = disqualified_final(tmp_path, "two-player", only=("ann", "bob"))
    (remark,) = final(store).remarks
    assert remark.startswith("ann was disqualified after it was played. The places are those of before, and are open")
    set_state(store, "ann", "active")
    assert final(store).remarks == ()


def test_a_round_ends_before_a_bot_plays_again() -> None:
    played = [reveal.PlayedMatch("x", frozenset(bots), [0]) for bots in ((0, 1), (2, 3), (0, 2), (1, 3), (0, 1))]
    assert [reveal.next_round(played, place) for place in range(6)] == [2, 2, 4, 4, 5, 5]
    assert reveal.next_round([], 0) == 0


def test_only_a_sealed_final_is_shown_step_by_step(tmp_path: Path) -> None:
    store = Store(contest(tmp_path / "cup"))
    with pytest.raises(UsageError, match="there is no sealed final 'cup'"):
        finals.show(store, "cup", "match", "organiser Ada")
