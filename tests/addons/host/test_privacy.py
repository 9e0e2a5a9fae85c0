"""Who sees whose name, and who may join: pseudonyms, results for members only, and sign-up with a course code."""

import csv
import gzip
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from contests import referee
from hosted import Team, contest, games_of, playing, until
from hosting import Browser, Cup, serving
from submissions import zip_of
from test_authorisation import filled

from referee.addons.host import pseudonyms, teams
from referee.addons.host.app import PAGES
from referee.addons.host.store import Store, audited
from referee.addons.tournament.inbox import Withdraw, hand_in
from referee.addons.tournament.plan import read_plan
from referee.addons.tournament.store.ledger import PLAN
from referee.harness.common.errors import UsageError

pytestmark = pytest.mark.slow


def test_everybody_but_the_organiser_sees_pseudonyms_and_exports_have_the_real_names(tmp_path: Path) -> None:
    cup = Cup(tmp_path)
    hand_in(cup.store.folder, Withdraw(("Blue",)))
    with cup.store.writing() as database:  # as in a contest that began with pseudonyms
        database.execute("UPDATE team SET alias = 'Grey Tern'")
        database.execute("UPDATE team SET alias = name || ' Tern'")
    pseudonyms.use(cup.store)
    one, two = Team(cup.store, "Ann Real"), Team(cup.store, "Ben True")
    found = [teams.team(cup.store, each.number) for each in (one, two)]
    aliases = [each.alias for each in found if each is not None]
    assert len({*aliases}) == 2 and all(aliases) and not {"Ann Real", "Ben True"} & {*aliases}
    for each, alias in zip((one, two), aliases, strict=True):
        each.name = alias
        each.submit("@random")
    idents = [entry.ident for entry in read_plan(cup.store.folder / PLAN).bots]
    with playing(cup.store.folder):
        until(lambda: games_of(cup.store.folder, idents) > 4, "some games")
    with serving(cup) as client:
        ada, ann = (
            Browser(cup.address).join(f"{cup.address}/join/{teams.new_link(cup.store, number, 'join', 'x')}", "A")
            for number in (None, one.number)
        )
        page = client.get("/").text
        assert all(alias in page for alias in aliases)
        bot, *_ = re.findall(r'href="(bots/[\w-]+\.html)">' + re.escape(aliases[0]), page)
        public = [page, client.get(f"/{bot}").text]
        own = [ann.get(path) for path in ("/team", "/team/bot", "/team/practice")]
        assert "Ann Real" in own[0] and aliases[0] in own[0] and aliases[1] in own[2]
        assert not [text for text in public if "Ann Real" in text or "Ben True" in text]
        assert not [text for text in own if "Ben True" in text]
        organiser = ada.get("/organiser")
        assert f"Ben True</a> ({aliases[1]})" in organiser
        rows = [*csv.DictReader(io.StringIO(ada.get("/organiser/table.csv")))]
        assert {"Ann Real", "Ben True"} <= {row["bot"] for row in rows}
    listed = referee(tmp_path, "tournament", "show", cup.store.folder, "--output", "csv")
    assert "Ann Real" in listed and aliases[0] not in listed


FAILS = """
import sys
print("Ann Real was here", file=sys.stderr)
raise SystemExit("Ann Real")
"""


def test_no_page_or_replay_of_others_has_the_names_of_a_bots_files_or_what_it_prints(tmp_path: Path) -> None:
    cup = Cup(tmp_path)
    hand_in(cup.store.folder, Withdraw(("Blue",)))
    with cup.store.writing() as database:
        database.execute("UPDATE team SET alias = name || ' Tern'")
    pseudonyms.use(cup.store)
    one, two = Team(cup.store, "Ann Real"), Team(cup.store, "Ben True")
    for each in (one, two):
        found = teams.team(cup.store, each.number)
        assert found is not None
        each.name = found.bot
    source = tmp_path / "Ann_Real"
    source.mkdir()
    (source / "Ann_Real.py").write_text(FAILS)
    (source / "bot.toml").write_text(f'name = "Ann Real"\nrun = ["{sys.executable}", "Ann_Real.py"]\n')
    entries = [one.submit(str(zip_of(source, tmp_path / "Ann_Real.zip"))), two.submit("@random")]
    with playing(cup.store.folder):
        until(lambda: games_of(cup.store.folder, [entries[0].ident]) > 2, "some games")
    with serving(cup) as client:
        texts = {"/": client.get("/").text}
        pages = re.findall(r'href="((?:bots|pairs)/[\w-]+\.html)"', texts["/"])
        texts |= {path: client.get(f"/{path}").text for path in pages}
        games = {*re.findall(r"games/([\w~-]+)\.(?:html|jsonl)", "".join(texts.values()))}
        assert games and len(pages) >= 2
        for game in sorted(games)[:2]:
            texts[f"{game}.html"] = client.get(f"/games/{game}.html").text
            replay = client.get(f"/games/{game}.jsonl.gz")
            texts[game] = gzip.decompress(replay.content).decode() + str(replay.headers)
    for name, text in texts.items():
        assert not re.search("ann.?real|ben.?true", text, re.IGNORECASE), name


def test_a_contest_whose_names_are_known_gets_no_pseudonyms(tmp_path: Path) -> None:
    store = Store(contest(tmp_path / "cup"))
    pseudonyms.use(store)
    pseudonyms.use(store)
    (first, _), (second, _) = teams.invite_all(store, [("Ann", ""), ("Ben", "")], "organiser Ada")
    assert first.alias != second.alias and not pseudonyms.real_names(store).keys() & {"Ann", "Ben"}
    with pytest.raises(UsageError, match="is the name of another bot"):
        teams.invite(store, first.alias.upper(), "", "organiser Ada")
    other = Store(contest(tmp_path / "other"))
    teams.invite(other, "Ann", "", "organiser Ada")
    with pytest.raises(UsageError, match="the public knows the team 'Ann' already"):
        pseudonyms.use(other)


def test_results_are_for_members_only_where_the_organiser_says_so(tmp_path: Path) -> None:
    cup = Cup(tmp_path)
    with serving(cup, members_only=True) as client:
        closed = {page.path for page in PAGES if page.has_results}
        assert {path for path in closed if path.startswith("/finals")} and "/bots/{file}" in closed
        for path in ("/", "/index.html", *closed):
            assert client.get(filled(cup, path)).status_code == 401, path
            for role in ("member", "other", "organiser"):
                assert client.get(filled(cup, path), headers=cup.headers(role)).status_code in (200, 404), (path, role)
        assert client.get("/rules").status_code == client.get("/news").status_code == 200
        assert "Blue" not in client.get("/rules").text + client.get("/events/none").text


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cup, httpx.Client]]:
    cup = Cup(tmp_path_factory.mktemp("course"))
    with serving(cup) as client:
        ada = Browser(cup.address).join(f"{cup.address}/join/{teams.new_link(cup.store, None, 'join', 'x')}", "Ada")
        ada.post("/organiser/code", status=400, code="short")
        ada.post("/organiser/code", code="algorithms 2026")
        yield cup, client


def test_a_class_in_one_room_signs_up_with_the_code(course: tuple[Cup, httpx.Client]) -> None:
    cup, _ = course
    for number in range(70):
        one = Browser(cup.address)
        form = {"code": "algorithms 2026", "team": f"Team {number}", "name": "<b>Eve</b>", "email": "eve@example.org"}
        page = one.post("/sign-up", **form)
        assert f"Team {number}" in page and "<b>Eve" not in page
    assert sum(each.name.startswith("Team ") for each in teams.teams(cup.store)) == 70
    assert audited(cup.store)[0].actor == "sign-up" and "algorithms" not in str(audited(cup.store))
    assert "algorithms" not in (cup.store.folder / "host.sqlite").read_bytes().decode("latin-1")
    Browser(cup.address).post("/sign-up", 400, code="algorithms 2026", team="team 7", name="Eve")
    Browser(cup.address).post("/sign-up", 400, code="algorithms 2026", team="x" * 99, name="Eve")
    Browser(cup.address).post("/sign-up", 400, code="algorithms 2026", team="Nameless", name="")
    assert "Nameless" not in {each.name for each in teams.teams(cup.store)}


def test_a_wrong_code_makes_no_team_and_guesses_are_limited(course: tuple[Cup, httpx.Client]) -> None:
    cup, client = course
    before = len(teams.teams(cup.store))
    headers = {"origin": cup.address}
    form = {"code": "wrong", "team": "Guessers", "name": "Eve"}
    statuses = [client.post("/sign-up", data=form, headers=headers).status_code for _ in range(170)]
    assert statuses[0] == 403 and statuses[-1] == 429 and len(teams.teams(cup.store)) == before
