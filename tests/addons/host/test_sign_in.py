"""Members sign in by an OpenID Connect provider: a real one, and one that lies."""

import asyncio
import logging
import re
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from browsers import in_a_loop
from hosting import Browser, Cup, serving
from joserfc.jwk import OctKey, RSAKey
from sign_ins import CLIENT, KEY, SECRET, AtProvider, Liar, lying_provider, real_provider, respond, settings_file
from submissions import zipped

from referee.addons.host import oidc, sign_up, teams
from referee.addons.host.oidc import Begun, Provider, Refused, Settings
from referee.addons.host.settings import ACCOUNT, BEGUN, SESSION
from referee.addons.host.store import Store
from referee.addons.host.teams import Account
from referee.harness.common.errors import RunError, UsageError

pytestmark = pytest.mark.slow

CONTEST = "https://cup.example.org"


class School(Cup):
    """A contest whose members sign in at a school."""

    issuer = ""
    log: Path

    def link(self, team: int | None) -> str:
        """Returns the path of a new link."""
        return f"/join/{teams.new_link(self.store, team, 'invitation', 'x')}"

    def begins(self, browser: Browser, path: str = "/sign-in") -> str:
        """Follows a link to the provider, and returns where it leads."""
        response = browser.http.get(path, follow_redirects=False)
        assert response.status_code == 303, response.text
        return str(response.headers["location"])

    def back(self, browser: Browser, login: str, path: str = "/sign-in") -> str:
        """Signs in at the provider's pages. Returns the way back, which the browser has not gone yet."""
        return AtProvider(login).signs_in(self.begins(browser, path), self.address)

    def signed_in(self, browser: Browser, login: str, path: str = "/sign-in", status: int = 200) -> str:
        """Signs in, and returns the page of the contest to which that leads."""
        return browser.get(self.back(browser, login, path), status)

    def member(self, login: str, team: int) -> Browser:
        """Makes somebody a member of a team."""
        browser, link = Browser(self.address), self.link(team)
        self.signed_in(browser, login, f"{link}/sign-in")
        browser.post(link, name=login)
        return browser


@pytest.fixture(scope="module")
def school(tmp_path_factory: pytest.TempPathFactory) -> Iterator[School]:
    folder = tmp_path_factory.mktemp("school")
    made = School(folder)
    made.log = folder / "web.log"
    with (
        made.log.open("wb") as log,
        real_provider(made.address) as made.issuer,
        serving(made, log, sign_in=str(settings_file(folder, made.issuer))),
    ):
        yield made


# A real provider.


def test_a_member_joins_by_the_teams_link_once_and_then_signs_in_by_the_account_alone(school: School) -> None:
    browser, link = Browser(school.address), school.link(school.blue)
    assert "Sign in with the school</a> first" in browser.get(link)
    assert "sign in with the school first" in browser.post(link, 403, name="Ann")
    page = school.signed_in(browser, "ann", f"{link}/sign-in")
    assert "Join Blue" in page and 'value="ann of the school"' in page
    assert "<h1>Blue</h1>" in browser.post(link, name="Ann")
    again = Browser(school.address)
    assert 'href="/sign-in"' in again.get("/team", 401)
    page = school.signed_in(again, "ann")
    assert "<h1>Blue</h1>" in page and "Ann (you)" in page
    again.post("/sign-out")
    again.get("/team", 401)


def test_an_account_without_a_team_sees_nothing_until_it_opens_a_link(school: School) -> None:
    browser = Browser(school.address)
    page = school.signed_in(browser, "bea")
    assert "bea of the school" in page and "Open your team" in page
    browser.get("/team", 401)
    link = school.link(school.red)
    assert "Join Red" in browser.get(link)
    assert "<h1>Red</h1>" in browser.post(link, name="Bea")
    other = school.link(school.blue)
    school.signed_in(browser, "bea", f"{other}/sign-in")
    assert "sign in with the school first" in browser.post(other, 403, name="Bea"), "a member of Red is none of Blue"


def test_an_account_that_is_in_a_team_already_signs_up_no_other_one(school: School) -> None:
    sign_up.set_code(school.store, "algorithms 2026", "organiser Ada")
    first, second = Browser(school.address), Browser(school.address)
    for browser in (first, second):
        school.signed_in(browser, "gil")
    assert "<h1>Green</h1>" in first.post("/sign-up", code="algorithms 2026", team="Green", name="Gil")
    page = second.post("/sign-up", 400, code="algorithms 2026", team="Teal", name="Gil")
    assert "a member of Green already" in page
    assert "Teal" not in {each.name for each in teams.teams(school.store)}, "the name is free"


def test_the_organisers_link_needs_no_account(school: School) -> None:
    browser = Browser(school.address)
    assert "Invite" in browser.post(school.link(None), name="Ada")


def test_what_another_browser_has_begun_signs_nobody_in(school: School) -> None:
    school.member("cid", school.blue)
    attacker, victim = Browser(school.address), Browser(school.address)
    back = school.back(attacker, "cid")
    assert "not what your browser has begun" in victim.get(back, 400)
    school.begins(victim)
    assert "not what your browser has begun" in victim.get(back, 400), "with a state of its own"
    other = back.replace("state=", "state=x")
    assert "not what your browser has begun" in attacker.get(other, 400)
    mixed = re.sub("iss=[^&]+", "iss=https://evil.example", back)
    assert mixed != back and "not what your browser has begun" in attacker.get(mixed, 400)
    victim.get("/team", 401)
    assert "<h1>Blue</h1>" in attacker.get(back)


def test_a_code_signs_in_once(school: School) -> None:
    school.member("dan", school.blue)
    browser = Browser(school.address)
    back = school.back(browser, "dan")
    kept = dict(browser.http.cookies)
    assert "<h1>Blue</h1>" in browser.get(back)
    assert "not what your browser has begun" in browser.get(back, 400)
    thief = Browser(school.address)
    thief.http.cookies.update(kept)  # and what the browser kept meanwhile
    assert "invalid_grant" in thief.get(back, 403)
    thief.get("/team", 401)


def test_a_session_that_was_planted_before_is_replaced(school: School) -> None:
    school.member("fay", school.blue)
    planted = school.session(school.red)
    browser = Browser(school.address)
    browser.http.cookies.set(SESSION, planted, domain="127.0.0.1")
    assert "<h1>Red</h1>" in browser.get("/team")
    assert "<h1>Blue</h1>" in school.signed_in(browser, "fay")
    assert planted not in list(browser.http.cookies.values())
    attacker = Browser(school.address)
    attacker.http.cookies.set(SESSION, planted, domain="127.0.0.1")
    assert "<h1>Red</h1>" in attacker.get("/team")


def test_cookies_that_we_have_not_made_are_nothing(school: School) -> None:
    settings = Settings(school.issuer, CLIENT)
    foreign, own = Provider(settings, school.address), Browser(school.address)
    school.signed_in(own, "gus")
    account = dict(own.http.cookies)[ACCOUNT]
    for name, value in (
        (ACCOUNT, foreign.sealed(Account(school.issuer, "gus"), ACCOUNT, 60)),
        (ACCOUNT, f"{account[:-4]}AAAA"),
        (BEGUN, account),
    ):
        browser = Browser(school.address)
        browser.http.cookies.set(name, value, domain="127.0.0.1")
        browser.get("/account", 404)
        browser.get("/signed-in?code=x&state=", 400)
        browser.post(school.link(school.blue), 403, name="Gus")


def test_nobody_is_sent_to_another_address(school: School) -> None:
    browser = Browser(school.address)
    for path in ("/sign-in?to=https://evil.example", "/sign-in?redirect_uri=https://evil.example&next=//evil.example"):
        address = urlsplit(school.begins(browser, path))
        assert f"{address.scheme}://{address.netloc}" == school.issuer
        asked = parse_qs(address.query)
        assert asked["redirect_uri"] == [f"{school.address}/signed-in"] and asked["code_challenge_method"] == ["S256"]
    for path in ("/join/%2F%2Fevil.example/sign-in", "/join/..%2F..%2Fevil/sign-in", "/join/x/sign-in"):
        assert browser.http.get(path, follow_redirects=False).status_code == 404, path


def test_a_member_of_a_withdrawn_team_reads_why_and_does_no_more(school: School, tmp_path: Path) -> None:
    number = teams.invite(school.store, "Gone", "", "organiser Ada")[0].id
    school.member("hal", number)
    teams.set_state(school.store, number, "disqualified", "plays for two", "organiser Ada")
    browser = Browser(school.address)
    assert "plays for two" in school.signed_in(browser, "hal")
    assert "does not take part any more" in browser.hand_in(zipped(tmp_path / "files" / "a.zip", 1), 400)


def test_a_team_that_was_signed_out_comes_in_by_a_new_link_only(school: School) -> None:
    number = teams.invite(school.store, "Out", "", "organiser Ada")[0].id
    browser = school.member("ida", number)
    teams.end_sessions(school.store, number, "organiser Ada")
    browser.get("/team", 401)
    assert "in no team yet" in school.signed_in(browser, "ida")
    assert "<h1>Out</h1>" in browser.post(school.link(number), name="Ida")


def test_somebody_who_cancels_is_not_signed_in(school: School) -> None:
    browser = Browser(school.address)
    state = parse_qs(urlsplit(school.begins(browser)).query)["state"][0]
    page = browser.get(f"/signed-in?error=access_denied&error_description=<b>no</b>&state={state}", 403)
    assert "did not sign you in" in page and "<b>no" not in page


def test_the_log_has_no_secret(school: School) -> None:
    browser = school.member("kay", school.blue)
    cookies = list(browser.http.cookies.values())
    text = school.log.read_text()
    assert not [each for each in (SECRET, *cookies) if each in text]


# One that lies.


@pytest.fixture
def liar() -> Iterator[Liar]:
    with lying_provider() as made:
        yield made


def asked(liar: Liar) -> Account:
    """Returns whom a provider signs in. The code is the nonce, so that a provider without memory can answer."""

    async def flow() -> Account:
        provider = Provider(Settings(liar.issuer, CLIENT, SECRET), CONTEST)
        address, begun = await provider.begin()
        assert parse_qs(urlsplit(address).query)["nonce"] == [begun.nonce]
        return await provider.finish(begun.nonce, begun)

    return in_a_loop(flow())


def test_a_provider_that_tells_the_truth_is_believed(liar: Liar) -> None:
    assert asked(liar) == Account(liar.issuer, "eve", "")
    liar.claims = {"aud": [CLIENT, "other"], "azp": CLIENT, "name": "Eve\x1b[31m", "exp": int(time.time()) - 20}
    assert asked(liar).name.startswith("Eve") and "\x1b" not in asked(liar).name


OLD = int(time.time()) - 3600
CLAIMS = {
    "another nonce": {"nonce": "another"},
    "no nonce": {"nonce": None},
    "another audience": {"aud": "another contest"},
    "another audience of ours": {"aud": "another contest", "azp": CLIENT},
    "no audience": {"aud": None},
    "audiences without the party": {"aud": [CLIENT, "other"]},
    "another party": {"azp": "other"},
    "another issuer": {"iss": "https://evil.example"},
    "expired": {"exp": OLD},
    "without an end": {"exp": None},
    "an end that is no number": {"exp": "never"},
    "not yet": {"nbf": OLD + 86_400},
    "the hash of another access token": {"at_hash": "AAAA"},
    "a hash that is no text": {"at_hash": 7},
    "nobody": {"sub": None},
    "an empty name": {"sub": ""},
    "a number": {"sub": 7},
    "a subject without an end": {"sub": "x" * 256},
}


@pytest.mark.parametrize("claims", CLAIMS.values(), ids=CLAIMS)
def test_a_token_that_lies_signs_nobody_in(claims: dict[str, Any], liar: Liar) -> None:
    liar.claims = claims
    with pytest.raises(Refused, match="cannot be trusted"):
        asked(liar)


def test_a_token_that_the_provider_has_not_signed_signs_nobody_in(liar: Liar) -> None:
    public = KEY.as_pem(private=False)
    for key, header in (
        (RSAKey.generate_key(2048), {"alg": "RS256", "kid": "a"}),
        (KEY, {"alg": "RS256", "kid": "another"}),
        (OctKey.import_key(SECRET), {"alg": "HS256", "kid": "a"}),
        (OctKey.import_key(public[27:]), {"alg": "HS256", "kid": "a"}),
    ):
        liar.key, liar.header = key, header
        with pytest.raises(Refused, match="cannot be trusted"):
            asked(liar)
    liar.keys.append({"kty": "oct", "k": "c2VjcmV0" * 4, "kid": "b"})  # a key that everybody reads signs nothing
    liar.key, liar.header = OctKey.import_key("secret" * 4), {"alg": "HS256", "kid": "b"}
    with pytest.raises(Refused, match="cannot be trusted"):
        asked(liar)
    head, body, _ = Liar(liar.issuer).token("x").split(".")
    unsigned = f"eyJhbGciOiJub25lIn0.{body}."
    for text in (unsigned, f"{head}.{body}.", "", "a.b.c", "[" * 5000, f"{head}.{'W1t' * 9000}.AAAA"):
        liar.tokens = {"id_token": text}
        with pytest.raises(Refused, match="cannot be trusted"):
            asked(liar)


def endless(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(b" " * 65536)


def dripping(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(b" ")
        time.sleep(0.05)


def dripping_headers(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        handler.wfile.write(b"a: b\r\n")
        time.sleep(0.05)


def elsewhere(handler: BaseHTTPRequestHandler) -> None:
    respond(handler, b"", 302, location="http://127.0.0.1:1/")


def deep(handler: BaseHTTPRequestHandler) -> None:
    respond(handler, b"[" * 100_000)


def no_json(handler: BaseHTTPRequestHandler) -> None:
    respond(handler, b"\xff<html>")


def packed(handler: BaseHTTPRequestHandler) -> None:
    respond(handler, b"\x1f\x8b" + b"x" * 100, content_encoding="gzip")


PATHS = ("/.well-known/openid-configuration", "/token", "/jwks")


@pytest.mark.parametrize(
    ("send", "path"),
    [  # all at the first address; the others are read by the same code, which shows in one case each of size and form
        *((send, PATHS[0]) for send in (endless, dripping, dripping_headers, elsewhere, deep, no_json, packed)),
        *((send, path) for send in (endless, no_json) for path in PATHS[1:]),
    ],
)
def test_a_provider_that_is_slow_or_huge_or_wrong_ends_in_one_line(
    send: Callable[[BaseHTTPRequestHandler], None],
    path: str,
    liar: Liar,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    is_slow = send in (dripping, dripping_headers)
    monkeypatch.setattr(oidc, "PROVIDER_S", 0.6 if is_slow else 20.0)
    liar.send[path] = send
    with caplog.at_level(logging.WARNING), pytest.raises(RunError) as raised:
        asked(liar)
    assert ("more than 128 KiB" in str(raised.value)) == (send is endless)
    assert ("did not answer within" in str(raised.value)) == is_slow
    assert "\n" not in str(raised.value) and SECRET not in f"{raised.value}{caplog.text}"


def test_a_second_issuer_and_addresses_that_are_none_are_refused(liar: Liar) -> None:
    true = dict(liar.description)
    for lie in (
        {"issuer": "https://evil.example"},
        {"issuer": f"{liar.issuer}/"},
        {"token_endpoint": "file:///etc/passwd"},
        {"jwks_uri": "ftp://127.0.0.1/"},
        {"authorization_endpoint": "javascript:alert(1)"},
    ):
        liar.description = true | lie
        with pytest.raises(RunError, match="the provider names"):
            asked(liar)
    assert liar.asked == [PATHS[0]] * 5, "no code was sent there"


def test_a_provider_that_fails_is_not_asked_for_each_visitor(liar: Liar) -> None:
    liar.send[PATHS[0]] = no_json

    async def visitors() -> list[object]:
        provider = Provider(Settings(liar.issuer, CLIENT), CONTEST)
        return await asyncio.gather(*(provider.begin() for _ in range(50)), return_exceptions=True)

    assert {type(each) for each in in_a_loop(visitors())} == {RunError}
    assert len(liar.asked) == 1


def test_a_cookie_holds_for_its_time_and_its_purpose() -> None:
    one = Provider(Settings("https://id.example.org", CLIENT), CONTEST)
    begun = Begun("s", "n", "v")
    assert one.unsealed(Begun, one.sealed(begun, BEGUN, 60), BEGUN) == begun
    assert one.unsealed(Begun, one.sealed(begun, BEGUN, -1), BEGUN) is None
    assert one.unsealed(Begun, one.sealed(begun, ACCOUNT, 60), BEGUN) is None
    assert one.unsealed(Begun, "[" * 9000, BEGUN) is None


def test_the_same_subject_at_another_issuer_is_somebody_else(tmp_path: Path) -> None:
    store = Store(tmp_path)
    _, token = teams.invite(store, "Blue", "", "organiser Ada")
    teams.open_link(store, token, "Ann", Account("https://one.example", "7"))
    assert teams.sign_in(store, Account("https://one.example", "7")) is not None
    assert teams.sign_in(store, Account("https://two.example", "7")) is None
    _, token = teams.invite(store, "Red", "", "organiser Ada")
    with pytest.raises(UsageError, match="a member of Blue already"):
        teams.open_link(store, token, "Ann", Account("https://one.example", "7"))
    assert teams.link(store, token) is not None, "the link was not used"


# The organiser's file.


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "the key 'issuer' is missing"),
        ('issuer = "http://id.example.org"\nclient_id = "cup"', "expected an address such as https"),
        ('issuer = "id.example.org"\nclient_id = "cup"', "expected an address such as https"),
        ('issuer = "https://id.example.org?a"\nclient_id = "cup"', "expected an address such as https"),
        ('issuer = "https://id.example.org"\nclient_id = ""', "client_id is empty"),
        ('issuer = "https://id.example.org"\nclient_id = 7', "client_id"),
        ('issuer = "https://id.example.org"\nclient_id = "cup"\nsecret = "x"', "there is no key 'secret'"),
        ("\x00", "--sign-in"),
    ],
)
def test_a_file_that_is_wrong_is_refused_in_one_line(text: str, match: str, tmp_path: Path) -> None:
    (tmp_path / "school.toml").write_text(text)
    with pytest.raises(UsageError, match=match) as raised:
        oidc.read_settings(tmp_path / "school.toml")
    assert "\n" not in str(raised.value)


def test_the_secret_may_be_in_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "school.toml").write_text('issuer = "https://id.example.org"\nclient_id = "cup"\n')
    assert oidc.read_settings(tmp_path / "school.toml").client_secret == ""
    monkeypatch.setenv(oidc.SECRET, "of the environment")
    assert oidc.read_settings(tmp_path / "school.toml").client_secret == "of the environment"
    with pytest.raises(UsageError, match="cannot be read"):
        oidc.read_settings(tmp_path / "none.toml")
