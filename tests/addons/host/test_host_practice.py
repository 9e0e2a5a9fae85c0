"""First bots to download, and practice games with the rival, seat, seed, map and options of a team's choice."""

import io
import re
import zipfile
from pathlib import Path

import pytest
from hosting import Cup, serving
from rules_games import COUNTDOWN

from referee.addons.host import practice, submissions, switches, teams
from referee.addons.host.orders import DatabaseOrders, State
from referee.addons.host.practice_games import PracticeGames
from referee.addons.rules.source import SOURCE
from referee.addons.tournament.plan import Entry, read_plan
from referee.addons.tournament.store.ledger import PLAN
from referee.harness.common import maps
from referee.harness.common.known_games import typed_game
from referee.harness.new.write import kits

pytestmark = pytest.mark.slow


def test_a_first_bot_in_every_language_is_one_download_away(tmp_path: Path) -> None:
    cup = Cup(tmp_path)
    with serving(cup) as client:
        listed = re.findall(r'href="/kits/(\w+)\.zip"', client.get("/kits").text)
        assert listed == [*kits()]
        for language in listed:
            response = client.get(f"/kits/{language}.zip")
            assert response.status_code == 200 and "attachment" in response.headers["content-disposition"], language
            with zipfile.ZipFile(io.BytesIO(response.content)) as packed:
                names = packed.namelist()
                assert packed.testzip() is None
            (folder,) = {name.split("/")[0] for name in names}
            assert {f"{folder}/bot.toml", f"{folder}/README.md"} <= {*names}, language
        assert client.get("/kits/cobol.zip").status_code == client.get("/kits/..%2fc.zip").status_code == 404


@pytest.mark.parametrize("game", ["openspiel:tic_tac_toe", str(COUNTDOWN)], ids=["openspiel", "folder"])
def test_a_game_without_first_bots_offers_none_and_tells_what_a_bot_answers(game: str, tmp_path: Path) -> None:
    cup = Cup(tmp_path, typed_game(game).name)
    with serving(cup) as client:
        pages = [client.get(path).text for path in ("/", "/news", "/rules", "/finals")]
        pages.append(client.get("/team", headers=cup.headers("other")).text)
        assert not [page for page in pages if "/kits" in page or "irst bot is one download" in page]
        kits_page, rules = client.get("/kits").text, pages[2]
        assert "There is no first bot to download for this game" in kits_page and "Each zip" not in kits_page
        assert "There is no first bot to download for this game" in rules and "These languages" not in rules
        words = (
            "Countdown: take one to three from a heap.",
            "Function <code>take</code>",
            "Your turn: take one to three.",
        )
        assert [each in rules for each in words] == [game == str(COUNTDOWN)] * len(words)
    SOURCE.forget()  # which later tests of other accounts could not read


def test_a_practice_game_is_the_one_that_the_team_asked_for(tmp_path: Path) -> None:
    cup = Cup(tmp_path, "aiarena21")
    submissions.enter(cup.store, Entry("House", "0" * 10, "0" * 64, "@random"))
    asked = {"version": "1", "rival": "@random", "seat": "1", "seed": "5", "map": "2", "options": "turns=12"}
    with serving(cup) as client:
        headers = cup.headers("member") | {"origin": cup.address}

        def ask(**fields: str) -> int:
            return client.post("/team/practice", data=asked | fields, headers=headers).status_code

        form = client.get("/team/practice", headers=headers).text
        assert all(f"<option>{name}</option>" in form for name in [*maps.names("aiarena21"), "House"])
        # A mistake is refused at once, with a line that says what to type.
        mistakes = {"map": "nowhere", "options": "turns", "seed": "-1", "seat": "2", "version": "2"}
        assert {ask(**{name: wrong}) for name, wrong in mistakes.items()} == {400}
        assert ask(options="turns=9999") == ask(rival="cmd:cat /etc/passwd") == 400
        assert ask() == 303
        switches.set_switch(cup.store, "practice", "staff", None, "organiser Ada")
        assert (ask(rival="Blue"), ask(rival="House")) == (400, 303)
        switches.set_switch(cup.store, "practice", "off", None, "organiser Ada")
        assert ask() == 400 and "Practice is off" in client.get("/team/practice", headers=headers).text
        switches.set_switch(cup.store, "practice", "open", None, "organiser Ada")
        teams.set_state(cup.store, cup.blue, "disqualified", "two accounts", "organiser Ada")
        assert ask() == 400
        refused = client.post("/team/practice", data=asked, headers=headers).text
        assert "your team does not take part any more" in refused
    assert [each.rival for each in practice.practices(cup.store, cup.blue)] == ["House", "@random"]
    assert DatabaseOrders(cup.store).next_practice() is None, "what waits is not played meanwhile"
    teams.set_state(cup.store, cup.blue, "active", "", "organiser Ada")

    request = DatabaseOrders(cup.store).next_practice()
    assert request is not None
    plan = read_plan(cup.store.folder / PLAN)
    game = PracticeGames(cup.store.folder, plan.game).prepared(request, plan, State())
    options = game.assignment.options
    assert options is not None and (game.assignment.seed, options["turns"]) == (5, 12)
    assert options["map"] == maps.read("aiarena21", "2") and game.bots[1].name == "Blue"
