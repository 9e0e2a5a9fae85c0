"""The public pages are for people who look: what ranks is in view, notes are the organiser's, rules say all limits."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from hosted import Team, games_of, playing, until
from hosting import Browser, Cup, serving

from referee.addons.host import teams
from referee.addons.tournament.inbox import Withdraw, hand_in
from referee.addons.web.link_preview import draws_cards

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cup, httpx.Client]]:
    """A contest in which two bots have met."""
    cup = Cup(tmp_path_factory.mktemp("public"))
    hand_in(cup.store.folder, Withdraw(("Blue",)))
    entry = Team(cup.store, "weak").submit("@random")
    Team(cup.store, "strong").submit("@blocker")
    with playing(cup.store.folder):
        until(lambda: games_of(cup.store.folder, [entry.ident]) > 10, "some games")
    with serving(cup, behind_proxy=True) as client:
        yield cup, client


def games_with_a_page(client: httpx.Client) -> list[str]:
    """Returns the names of games that the page of a bot links to."""
    path = re.findall(r'href="(bots/[^"]+)"', client.get("/").text)[0]
    return list(dict.fromkeys(re.findall(r"\.\./games/([\w~-]+)\.html", client.get(f"/{path}").text)))


def test_a_game_names_its_card_which_is_drawn_when_it_is_asked_for_first_and_kept(
    served: tuple[Cup, httpx.Client], viewer: None
) -> None:
    cup, client = served
    name, other = games_with_a_page(client)[:2]
    page = client.get(f"/games/{name}.html").text
    address = f"{cup.address}/games/{name}"
    assert f'<meta property="og:url" content="{address}.html">' in page
    assert re.search(r'<meta property="og:description" content="(A draw|\w+ wins): [^"]+, after \d turns?\.">', page)
    assert client.get("/games/none.png").status_code == 404
    if not draws_cards():
        assert "og:image" not in page and client.get(f"/games/{name}.png").status_code == 404
        return
    assert f'<meta property="og:image" content="{address}.png">' in page
    kept = cup.store.folder / ".cards"
    assert not kept.exists(), "the page alone draws nothing"
    card = client.get(f"/games/{name}.png")
    assert card.headers["content-type"] == "image/png" and card.content.startswith(b"\x89PNG")
    (file,) = kept.iterdir()
    file.write_bytes(b"kept")
    assert client.get(f"/games/{name}.png").content == b"kept"
    (kept / f"{other}.png").write_bytes(b"")
    assert client.get(f"/games/{other}.png").status_code == 404, "it was too long for a card"


def test_many_cards_at_once_leave_room_for_other_requests(served: tuple[Cup, httpx.Client], viewer: None) -> None:
    if not draws_cards():
        return
    cup, client = served
    paths = [f"{cup.address}/games/{name}.png" for name in games_with_a_page(client)[2:8]]
    with ThreadPoolExecutor(len(paths)) as pool:
        asked = [pool.submit(httpx.get, path, timeout=60) for path in paths]
        assert client.get("/").status_code == 200
        statuses = [each.result().status_code for each in asked]
    assert {200, 503} <= {*statuses}, "three wait, and the others come again"
    assert client.get(paths[statuses.index(200)]).status_code == 200


def test_the_figure_that_ranks_follows_the_name_and_stands_on_the_podium(served: tuple[Cup, httpx.Client]) -> None:
    page = served[1].get("/").text
    assert re.findall(r'<th(?: class="name")? scope="col">([^<]+)', page)[:3] == ["#", "bot", "Elo [low, high]"]
    podium = re.search(r'<ol class="podium".*?</ol>', page, re.S)
    assert podium is not None and podium[0].count("Elo") == 2 and "points" not in podium[0]


def test_notes_are_on_the_organisers_page_and_no_public_page_names_an_option(
    served: tuple[Cup, httpx.Client],
) -> None:
    cup, client = served
    ada = Browser(cup.address).join(f"{cup.address}/join/{teams.new_link(cup.store, None, 'join', 'x')}", "Ada")
    assert "Notes on the table" in ada.get("/organiser") and "intervals are still rough" in ada.get("/organiser")
    page = client.get("/").text
    paths = ["/", *(f"/{path}" for path in re.findall(r'href="((?:bots|pairs)/[^"]+)"', page))]
    assert len(paths) > 2 and "intervals are still rough" not in page
    for path in paths:
        words = re.sub(r"<[^>]+>", " ", client.get(path).text.split("<main>")[1])
        assert "`" not in words and "referee tournament" not in words and not re.search(r"\s--[a-z]", words), path


def test_the_rules_of_a_contest_say_limits_languages_and_what_decides(served: tuple[Cup, httpx.Client]) -> None:
    page = served[1].get("/rules").text
    for words in ("Memory of a bot", "256 MiB", "Time of a build", "Network of a build", "Python 3.", "Ranked by Elo"):
        assert words in page, words
    assert "Teams can hand in now" in page
