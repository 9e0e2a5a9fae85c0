"""What the organiser does: invites, announces, disqualifies, plans switches, exports, and finds it in the audit log."""

import csv
import io
import re
import sqlite3
import time
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from urllib.parse import urljoin

import httpx
import pytest
from hosting import Browser, Cup, secret, serving, wait_for

from referee.addons.host import switches, teams
from referee.addons.host.store import audited
from referee.addons.tournament.plan import read_plan
from referee.addons.tournament.store.ledger import PLAN

pytestmark = pytest.mark.slow


Served = tuple[Cup, Browser, httpx.Client]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A contest with its organiser's browser. Each test leaves Blue and the switches as they were."""
    cup = Cup(tmp_path_factory.mktemp("organiser"))
    with serving(cup) as client:
        link = f"{cup.address}/join/{teams.new_link(cup.store, None, 'invitation', 'the referee')}"
        yield cup, Browser(cup.address).join(link, "Ada"), client


def test_a_table_of_teams_becomes_a_table_of_links(served: Served) -> None:
    cup, organiser, _ = served
    table = 'Mannschaft, Mail\nGrün, gruen@example.org\nGelb, ""\n'
    shown = organiser.post("/organiser/invite-many", table=table)
    assert "Nobody is invited yet" in shown and "Invite these 2 teams" in shown and "Gelb" in shown
    assert "Gelb" not in organiser.get("/organiser")
    made = organiser.post("/organiser/invite-many", table=table, sure="yes")
    rows = [*csv.DictReader(io.StringIO(made))]
    assert [(row["team"], row["address"]) for row in rows] == [("Grün", "gruen@example.org"), ("Gelb", "")]
    assert "Gelb" in Browser(cup.address).join(rows[1]["link"], "Gil").get("/team")
    organiser.post("/organiser/invite-many", status=400, table="Weiß\nGelb\n", sure="yes")
    assert "Weiß" not in organiser.get("/organiser")


def test_a_class_list_that_may_be_read_wrong_is_shown_before_marks_are_written(served: Served) -> None:
    _, organiser, _ = served
    form = {"rule": "plays = 1.25", "people": "Blue;8\nRoe;9\nDoe\n"}
    shown = unescape(organiser.post("/organiser/marks", **form))
    assert "No marks are written yet" in shown and "but has 8, a number; Blue, who handed in" in shown
    assert "most lines have 2 cells, but line 3 has 1" in shown and 'value="plays = 1.25"' in shown
    rows = [*csv.DictReader(io.StringIO(organiser.post("/organiser/marks", **form, sure="yes")))]
    assert [row["class 8"] for row in rows if row["class Blue"] == "Roe"] == ["9"]
    plain = {"people": "Name;Number\nBlue;8\nRoe;9\n"}
    rows = [*csv.DictReader(io.StringIO(organiser.post("/organiser/marks", **plain)))]
    assert [row["name"] for row in rows if row["class Number"]] == ["Blue", "Roe"]


def test_a_lost_link_is_replaced_and_the_old_one_ends(served: Served) -> None:
    cup, organiser, _ = served
    first = secret(organiser.post(f"/organiser/teams/{cup.red}/invitation"))
    second = secret(organiser.post(f"/organiser/teams/{cup.red}/invitation"))
    with pytest.raises(AssertionError, match="this link is used, replaced or wrong"):
        Browser(cup.address).join(first, "Eve")
    red = Browser(cup.address).join(second, "Ron")
    organiser.post(f"/organiser/teams/{cup.red}/sign-out")
    red.get("/team", 401)


def test_a_disqualified_team_leaves_the_table_and_may_come_back(served: Served) -> None:
    cup, organiser, client = served
    blue = cup.headers("member") | {"origin": cup.address}
    state = f"/organiser/teams/{cup.blue}/state"
    organiser.post(state, state="disqualified", reason="plays for two")
    (entry,) = read_plan(cup.store.folder / PLAN).bots
    assert entry.withdrawn and entry.void
    assert "plays for two" in client.get("/team", headers=blue).text
    refused = client.post("/team/versions", headers=blue, files={"file": ("bot.zip", b"PK")})
    assert refused.status_code == 400 and "does not take part any more" in refused.text
    assert client.post("/team/versions/1/play", headers=blue).status_code == 400
    organiser.post(state, state="active")
    (entry,) = read_plan(cup.store.folder / PLAN).bots
    assert not entry.absent and not entry.void
    organiser.post(state, status=400, state="promoted")


def remove_last_announcement(organiser: Browser) -> None:
    """Removes the newest announcement."""
    (first, *_) = re.findall(r"/organiser/announcements/\d+/remove", organiser.get("/organiser"))
    organiser.post(first)


def test_announcements_and_switches_with_times(served: Served) -> None:
    cup, organiser, client = served
    organiser.post("/organiser/announce", title="Lunch", text="at <b>noon</b>")
    assert "at &lt;b&gt;noon&lt;/b&gt;" in client.get("/news").text
    remove_last_announcement(organiser)
    assert "Lunch" not in client.get("/news").text
    later = datetime.fromtimestamp(time.time() + 3600, UTC).strftime("%Y-%m-%dT%H:%M")
    organiser.post("/organiser/switches/uploads", value="closed", at=later)
    member = cup.headers("member")
    assert "Uploads close at" in client.get("/team", headers=member).text
    last = datetime.fromtimestamp(time.time() + 7200, UTC).strftime("%Y-%m-%dT%H:%M")
    page = organiser.post("/organiser/switches/uploads", value="open", at=last)
    times = re.findall(r'name="at" value="([^"]+)"', page)
    assert len(times) == 2 and "closed from" in page and "open from" in page
    organiser.post("/organiser/switches/uploads/forget", at=times[1])
    assert [each.value for each in switches.planned(cup.store, "uploads")] == ["closed"]
    organiser.post("/organiser/switches/uploads/forget")
    assert switches.planned(cup.store, "uploads") == []
    organiser.post("/organiser/switches/uploads", value="closed")
    assert "Uploads are closed since" in client.get("/team", headers=member).text
    organiser.post("/organiser/switches/uploads", value="open")
    organiser.post("/organiser/switches/uploads", status=400, value="closed", at="yesterday")
    organiser.post("/organiser/switches/doors", status=400, value="open")


def test_a_frozen_table_says_so(served: Served) -> None:
    _, organiser, client = served
    organiser.post("/organiser/switches/table", value="frozen")
    wait_for(lambda: "frozen at" in client.get("/").text)
    organiser.post("/organiser/switches/table", value="public")
    wait_for(lambda: "frozen at" not in client.get("/").text)


def test_the_contest_is_exported(served: Served, tmp_path: Path) -> None:
    _, organiser, _ = served
    assert organiser.get("/organiser/table.csv").splitlines()[0].startswith("#,bot")
    file = tmp_path / "games.sqlite"
    file.write_bytes(organiser.http.get("/organiser/games.sqlite").content)
    assert sqlite3.connect(file).execute("SELECT name FROM bots").fetchall() == [("Blue",)]
    names = zipfile.ZipFile(io.BytesIO(organiser.http.get("/organiser/site.zip").content)).namelist()
    assert "site/index.html" in names and not [name for name in names if "author" in name]


def test_every_action_is_in_the_audit_log_with_who_and_from_where(served: Served) -> None:
    cup, organiser, _ = served
    before = len(audited(cup.store))
    organiser.post("/organiser/invite", name="Braun")
    organiser.post(f"/organiser/teams/{cup.red}/invitation")
    organiser.post(f"/organiser/teams/{cup.red}/sign-out")
    organiser.post(f"/organiser/teams/{cup.red}/state", state="withdrawn", reason="left")
    organiser.post("/organiser/announce", title="Lunch")
    remove_last_announcement(organiser)
    organiser.post("/organiser/switches/rated", value="off")
    lines = audited(cup.store)[: -before or None]
    assert [each.action for each in reversed(lines)] == [
        "invite", "new invitation link", "sign out", "withdrawn", "announce", "remove announcement", "switch",
    ]  # fmt: skip
    assert {(each.actor, each.address) for each in lines} == {("organiser Ada", "127.0.0.1")}
    page = organiser.get("/organiser/audit")
    assert all(each.action in page for each in lines)


def test_every_link_of_every_page_leads_somewhere(served: Served) -> None:
    cup, organiser, client = served
    member = cup.headers("member")
    known: dict[str, int] = {}

    def follow(path: str, ask: Callable[[str], httpx.Response]) -> None:
        if path in known or path.startswith("http"):
            return
        response = ask(path)
        known[path] = response.status_code
        if response.headers["content-type"].startswith("text/html"):
            for link in re.findall(r'href="([^"#]+)"', response.text):
                follow(urljoin(path, unescape(link)), ask)

    follow("/team", lambda path: client.get(path, headers=member))
    follow("/organiser", organiser.http.get)
    assert {path for path, status in known.items() if status != 200} == set()
    assert {"/", "/rules", "/kits/python.zip", "/organiser/site.zip", "/team/versions/1", "/finals"} <= known.keys()


def test_each_reader_has_the_links_to_their_own_page_and_to_no_other(served: Served) -> None:
    cup, organiser, client = served
    client.cookies.clear()
    member = {"accept": "text/html"} | cup.headers("member")
    for path in ("/", "/news", "/rules", "/finals", "/kits"):
        for text, own in (
            (client.get(path, headers={"accept": "text/html"}).text, ""),
            (client.get(path, headers=member).text, "/team"),
            (organiser.http.get(path).text, "/organiser"),
        ):
            links = {link for link in ("/team", "/organiser") if f'href="{link}"' in text}
            assert links == ({own} - {""}) and "<!--" not in text, (path, own)


def test_deadlines_stand_above_the_public_table(served: Served) -> None:
    cup, organiser, client = served
    at = time.time() + 7200
    switches.set_switch(cup.store, "uploads", "closed", at, "organiser Ada")
    switches.set_switch(cup.store, "table", "frozen", at + 60, "organiser Ada")
    wait_for(lambda: "Teams can hand in until" in client.get("/").text)
    assert "The table is frozen from" in client.get("/").text
    for name in ("uploads", "table"):
        organiser.post(f"/organiser/switches/{name}/forget")
    wait_for(lambda: "Teams can hand in until" not in client.get("/").text)
