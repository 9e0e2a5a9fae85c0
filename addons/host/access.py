"""Who may ask for what: sessions, the check of the origin, rates, and the headers of all responses."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from enum import Enum
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from msgspec import Struct, field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import Scope

from referee.addons.host import teams
from referee.addons.host.live import LINKS, Live
from referee.addons.host.settings import ACCOUNT, SESSION, WebSettings
from referee.addons.host.store import Store
from referee.addons.host.teams import Account, Person
from referee.addons.web import guard
from referee.addons.web.server.connection import network
from referee.harness.common.errors import RunError, UsageError

if TYPE_CHECKING:
    from referee.addons.host.oidc import Provider

FORM_BYTES = 256 << 10
"""The most bytes of a form without a file: a table of 5,000 teams."""
FORM_S = 10.0
CLASS_RATE = 300, 60.0
"""Forms and links of strangers at one address, at once and within so many seconds: a whole class may sit behind it."""
MOST_BUCKETS = 50_000
"""How many teams and addresses limits count. The one that was seen longest ago is forgotten first."""
SLOW_PAGES = 4
"""How many pages that take long are made at a time."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data:;"
    " form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
ID = "request_id"
"""The key of a request's id in the state of its scope."""
HEADERS = {
    **guard.HEADERS,
    "content-security-policy": POLICY,
    # A path may be the secret of a link. With no-referrer, browsers send `Origin: null` with our own forms.
    "referrer-policy": "strict-origin",
}

TITLES = {401: "Sign in first", 403: "Not allowed", 404: "Not found"}
"""Of pages that say what is wrong, by status."""


class Access(Enum):
    """Who may ask for a page."""

    EVERYBODY = "everybody"
    MEMBER = "a member of a team"
    SUBMITTER = "a member of a team, also by `referee submit` and `referee team`"
    ORGANISER = "the organiser"


class Denied(Exception):
    """The request is not allowed."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Asked(Struct, frozen=True):
    """A request to a page, after all checks."""

    contest: "Contest"
    person: Person | None
    address: str
    """Of the client."""
    path: Mapping[str, Any]
    query: Mapping[str, str]
    form: Mapping[str, str]
    token: str
    """Of the session; empty without one."""
    account: Account | None = None
    """Which a provider has signed in a moment ago, and which is no member yet."""

    @property
    def network(self) -> str:
        """The client's address as limits count it: one customer has many of IPv6."""
        return network(self.address)

    @property
    def team(self) -> int:
        """The number of the person's team."""
        assert self.person is not None and self.person.team is not None
        return self.person.team

    @property
    def who(self) -> Person:
        """The person who has signed in."""
        assert self.person is not None
        return self.person

    def text(self, name: str, most: int = 200) -> str:
        """Returns a field of the form. UsageError if it is too long."""
        value = self.form.get(name, "").strip()
        if len(value) > most:
            raise UsageError(f"{name}: has {len(value):,} letters; {most:,} are allowed")
        return value


class Contest(Struct, frozen=True):
    """What all pages need."""

    store: Store
    live: Live
    settings: WebSettings
    rates: "Rates"
    render: Callable[..., Response]
    """Makes a response from a template's name and values."""
    provider: "Provider | None" = None
    """By which members sign in; None = by their team's link alone."""
    slow: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(SLOW_PAGES))
    """Pages that take long wait here, and not in the threads that all pages share."""
    uploading: Counter[int] = field(default_factory=Counter)
    """How many uploads of each team are under way."""
    following: Counter[int] = field(default_factory=Counter)
    """How many streams of versions each team has open."""


class Rates:
    """How often each team and address may do something, in memory: a bucket that fills again."""

    def __init__(self) -> None:
        self._buckets: dict[str, tuple[float, float]] = {}

    def check(self, key: str, most: int, over_s: float) -> None:
        """Raises Denied if a key has done it too often: `most` times at once, and again within `over_s`."""
        now = time.monotonic()
        left, at = self._buckets.get(key, (float(most), now))
        left = min(float(most), left + (now - at) * most / over_s)
        if left < 1:
            raise Denied(429, "too many requests; wait a minute and try again")
        self._buckets.pop(key, None)
        self._buckets[key] = left - 1, now
        if len(self._buckets) > MOST_BUCKETS:  # a flood of addresses may not fill the memory, nor empty other buckets
            del self._buckets[next(iter(self._buckets))]


Endpoint = Callable[[Asked], Response]


class Page(Struct, frozen=True):
    """A route: a path, who may ask for it, and what answers."""

    method: str
    path: str
    access: Access
    answer: Endpoint
    is_slow: bool = False
    """A game is played again for it, or it holds much."""
    has_results: bool = False
    """It shows the table, bots or games. Where these are for members only, strangers have to sign in."""


def client_address(request: Request, settings: WebSettings) -> str:
    """Returns the address of the client; behind a proxy, the last one that the proxy names.

    Some proxies add a line of their own behind those that the client has sent.
    """
    address = "" if request.client is None else request.client.host
    if settings.is_proxy(address) and (forwarded := request.headers.getlist("x-forwarded-for")):
        return forwarded[-1].rpartition(",")[2].strip() or address
    return address


def request_id(scope: Scope) -> str:
    """Returns the id of a request, by which the organiser finds it in the logs."""
    found: str = scope.get("state", {}).get(ID, "-")
    return found


def identified(request: Request, contest: Contest) -> tuple[Person | None, str]:
    """Returns who asks, with the token: by the session's cookie, or by the token of a program."""
    header = request.headers.get("authorization", "")
    token = header.removeprefix("Bearer ").strip() if header.startswith("Bearer ") else ""
    by_header = bool(token)
    token = token or request.cookies.get(contest.settings.named(SESSION), "")
    if not token or len(token) > 100:
        return None, ""
    person = teams.person(contest.store, token)
    # A cookie is sent by pages that others have made, a header is not: neither stands for the other.
    return (None, "") if person is None or person.is_program != by_header else (person, token)


def account_of(request: Request, contest: Contest) -> Account | None:
    """Returns the account that a provider has signed in, in this browser, a moment ago."""
    cookie = request.cookies.get(contest.settings.named(ACCOUNT), "")
    return contest.provider.unsealed(Account, cookie, ACCOUNT) if contest.provider and cookie else None


def links_of(person: Person | None, contest: Contest) -> str:
    """Returns the links that only some readers have: to their team's page, or to the organiser's."""
    if person is not None:
        path, text = ("/organiser", "Organiser") if person.is_organiser else ("/team", "Your team")
    elif contest.provider is not None:
        path, text = "/sign-in", "Sign in"
    else:
        return ""
    return f' <a href="{path}">{text}</a>'


def personal(response: Response, person: Person | None, contest: Contest) -> Response:
    """Puts the links for who reads a page into it."""
    if LINKS.encode() in (body := bytes(getattr(response, "body", b""))):  # a file has none
        response.body = body.replace(LINKS.encode(), links_of(person, contest).encode(), 1)
        response.headers["content-length"] = str(len(response.body))
    return response


def set_session(response: Response, settings: WebSettings, token: str) -> None:
    """Has the browser keep a new session. Whatever it had before is replaced."""
    settings.set_cookie(response, SESSION, token, teams.SESSION_S)


def check_access(access: Access, person: Person | None, address: str, settings: WebSettings) -> None:
    """Raises Denied unless the person may ask for it."""
    if access is Access.EVERYBODY:
        return
    if person is None:
        raise Denied(401, "sign in first: open the link that your team or the organiser has")
    if access is Access.ORGANISER:
        if not person.is_organiser:
            raise Denied(403, "this page is for the organiser")
        if not settings.may_organise(address):
            raise Denied(403, "the organiser's pages cannot be reached from this address")
    elif person.is_organiser:
        raise Denied(403, "this page is for the members of a team, and you have signed in as the organiser")
    if person.is_program and access is not Access.SUBMITTER:
        raise Denied(403, "this token is for `referee submit` and `referee team`; sign in with a browser for the rest")


def check_results(person: Person | None, settings: WebSettings) -> None:
    """Raises Denied for a stranger, where results are for members only."""
    if settings.members_only and person is None:
        raise Denied(401, "this contest's table is for its members: open the link that your team has")


def check_origin(request: Request, person: Person | None) -> None:
    """Raises Denied if a page of somebody else has sent the form. A program's token is in no browser."""
    if person is not None and person.is_program:
        return
    if "origin" not in request.headers or guard.is_foreign(request.scope):
        raise Denied(403, "pages of another origin may not send forms here")


async def read_form(request: Request) -> dict[str, str]:
    """Returns the fields of a form without files. Raises Denied if it is too large."""
    body = b""
    try:
        async with asyncio.timeout(FORM_S):
            async for piece in request.stream():
                body += piece
                if len(body) > FORM_BYTES:
                    raise Denied(413, f"the form has more than {FORM_BYTES >> 10} KiB")
    except TimeoutError:
        raise Denied(408, f"the form did not come within {FORM_S:.0f} s") from None
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=50))
    except ValueError as error:
        raise Denied(400, "expected the fields of a form") from error


def answering(page: Page, contest: Contest) -> Callable[[Request], Awaitable[Response]]:
    """Returns what answers a route: checks first, then the page in a thread."""

    async def answer(request: Request) -> Response:
        person = None
        try:
            address = client_address(request, contest.settings)
            person, token = await run_in_threadpool(identified, request, contest)
            check_access(page.access, person, address, contest.settings)
            if page.has_results:
                check_results(person, contest.settings)
            form = {}
            if page.method == "POST":
                check_origin(request, person)
                if person is not None:
                    contest.rates.check(f"post {person.member}", 60, 60)
                else:
                    contest.rates.check(f"post {network(address)}", *CLASS_RATE)
                form = await read_form(request)
            account = account_of(request, contest)
            asked = Asked(contest, person, address, request.path_params, request.query_params, form, token, account)
            async with contest.slow if page.is_slow else nullcontext():
                return personal(await run_in_threadpool(page.answer, asked), person, contest)
        except Denied as denied:
            return problem(contest, denied.status, str(denied), request, person)
        except UsageError as error:
            return problem(contest, 400, str(error), request, person)
        except RunError as error:
            return problem(contest, 503, str(error), request, person)

    return answer


def problem(contest: Contest, status: int, text: str, request: Request, person: Person | None = None) -> Response:
    """Returns a page, or a line for a program, that says what is wrong."""
    if "text/html" not in request.headers.get("accept", ""):
        return PlainTextResponse(f"{text}\n", status)
    made = contest.render(
        "problem.html", title=TITLES.get(status, "That did not work"), status=status, text=text, status_code=status
    )
    return personal(made, person, contest)


def see(path: str) -> Response:
    """Sends the browser to another page after a form."""
    return RedirectResponse(path, 303)
