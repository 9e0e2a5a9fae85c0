"""Who may see or do what: every route for every role, as `authorisation.txt` says."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from hosting import ADDRESS, Cup, numbers, serving

from referee.addons.host import teams, versions
from referee.addons.host.app import PAGES, Application
from referee.addons.host.contest import opened
from referee.addons.host.settings import WebSettings
from referee.addons.tournament import organise

pytestmark = pytest.mark.slow

ROLES = ("stranger", "member", "other", "organiser", "ended", "program")
TABLE = Path(__file__).with_name("authorisation.txt")
FORMS = {
    "invite-many": {"table": "Green, green@example.org"},
    "announce": {"title": "Lunch", "text": "at noon"},
    "state": {"state": "active"},
    "practice": {"version": "1", "rival": "@random"},
    "switches/{switch}": {"value": "open"},
    "/join/{token}": {"name": "Eve"},
}


def rows() -> list[tuple[str, str, tuple[int, ...]]]:
    """Returns method, path and statuses of each line of the table."""
    lines = [line.split() for line in TABLE.read_text().splitlines() if line and not line.startswith("#")]
    return [(method, path, tuple(map(int, statuses))) for method, path, *statuses in lines]


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cup]:
    made = Cup(tmp_path_factory.mktemp("authorisation"))
    with serving(made, quota=versions.Quota(1000, 1000)):
        yield made


def filled(cup: Cup, path: str) -> str:
    """Fills the parameters of a route."""
    values = {
        "file": "host.css" if path.startswith("/static") else "none.html",
        "name": "a_b_0_0",
        "lang": "python",
        "token": teams.new_link(cup.store, cup.third, "join", "x") if "{token}" in path else "",
        "version:number": "1",
        "team:number": str(cup.third),
        "announcement:number": "1",
        "submission:number": "99",
        "day": "2026-11-27",
        "game:number": "99",
        "final": "CUP-1",
        "switch": "uploads",
    }
    return re.sub(r"\{([^}]+)\}", lambda found: values[found[1]], path)


def status(cup: Cup, method: str, path: str, role: str) -> int:
    """Returns the status of a request of a role."""
    headers = cup.headers(role) | {"origin": cup.address, "accept": "text/html"}
    form = next((fields for end, fields in FORMS.items() if path.endswith(end)), {})
    form = form | ({"name": f"new {next(numbers)}"} if path.endswith("/invite") else {})
    if "table" in form:
        form = {"table": f"many {next(numbers)}"}
    file = {"file": ("bot.zip", b"PK")} if path.endswith("/versions") else None
    with httpx.Client(base_url=cup.address, trust_env=False, verify=False, timeout=60) as client:
        data = form if method == "POST" else None
        with client.stream(method, filled(cup, path), headers=headers, data=data, files=file) as response:
            if path in ("/sign-out", "/team/token"):
                cup.forget(role)
            return response.status_code


def test_every_route_is_in_the_table_and_no_other(tmp_path: Path) -> None:
    request = organise.Request("tictactoe", (), format="ladder")
    store = opened(tmp_path / "cup", organise.plan_without_bots(request), ())
    application = Application(store, WebSettings(ADDRESS))
    routes = {(each.method, each.path) for each in PAGES} | application.streams.keys()
    assert {(method, path) for method, path, _ in rows()} == routes
    assert len(rows()) == len(routes)


@pytest.mark.parametrize("place", range(len(ROLES)), ids=ROLES)
def test_each_role_gets_what_the_table_says(place: int, cup: Cup) -> None:
    found = {(method, path): status(cup, method, path, ROLES[place]) for method, path, _ in rows()}
    assert found == {(method, path): statuses[place] for method, path, statuses in rows()}


def test_the_pages_of_somebody_else_send_no_forms(cup: Cup) -> None:
    form = {"title": "Free money"}
    cookie = cup.headers("organiser")
    with httpx.Client(base_url=cup.address, trust_env=False, verify=False) as client:
        for origin in ("https://evil.example", "null", ADDRESS, None):
            headers = cookie | ({} if origin is None else {"origin": origin})
            assert client.post("/organiser/announce", headers=headers, data=form).status_code == 403, origin
        assert "Free money" not in client.get("/news").text


def test_a_cookie_is_no_token_and_a_token_is_no_cookie(cup: Cup) -> None:
    session, token = cup.headers("member")["cookie"][8:], cup.headers("program")["authorization"][7:]
    with httpx.Client(base_url=cup.address, trust_env=False, verify=False) as client:
        swapped = [{"authorization": f"Bearer {session}"}, {"cookie": f"referee={token}"}]
        assert [client.get("/team/versions/1/state", headers=each).status_code for each in swapped] == [401, 401]


def test_the_organisers_pages_may_be_closed_to_other_networks() -> None:
    settings = WebSettings(ADDRESS, organisers_from=("192.168.1.0/24", "::1/128"))
    addresses = ("192.168.1.7", "192.168.2.7", "::1", "", "x")
    assert [settings.may_organise(each) for each in addresses] == [True, False, True, False, False]
