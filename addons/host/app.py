"""The web application of a contest: all routes in one table, each with who may ask for it."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import msgspec
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from referee.addons.host import final_pages as final
from referee.addons.host import organiser_pages as organiser
from referee.addons.host import organiser_team_pages as organised
from referee.addons.host import practice_pages as practice
from referee.addons.host import public_pages as public
from referee.addons.host import room, sign_up, times, uploads, versions
from referee.addons.host import team_api as api
from referee.addons.host import team_pages as team
from referee.addons.host.access import (
    HEADERS,
    Access,
    Contest,
    Denied,
    Page,
    Rates,
    answering,
    check_access,
    check_results,
    client_address,
    identified,
    links_of,
    problem,
    request_id,
)
from referee.addons.host.first_bots import kits
from referee.addons.host.live import LINKS, NUMBER, Live
from referee.addons.host.orders import WATCHED_S, note_watched
from referee.addons.host.readers import Readers
from referee.addons.host.settings import SESSION, WebSettings
from referee.addons.host.store import Store
from referee.addons.host.teams import MOST_MEMBERS
from referee.addons.tournament.plan import read_plan
from referee.addons.tournament.reports.site import page_templates
from referee.addons.tournament.store.ledger import PLAN, game_name
from referee.addons.web.app import kept  # registers `number` for paths, too
from referee.addons.web.guard import with_headers
from referee.addons.web.server.pages import Page as KeptPage
from referee.addons.web.server.pages import page
from referee.harness.common.errors import RunError, UsageError

HERE = Path(__file__).parent
LOOK_S = 0.5
"""How often the ledger is looked at."""
FILES = {"host.js": "text/javascript; charset=utf-8", "host.css": "text/css; charset=utf-8"}
EVENTS = "text/event-stream"

VERSION = "/organiser/teams/{team:number}/versions/{version:number}"
EVERYBODY, MEMBER, SUBMITTER, ORGANISER = Access.EVERYBODY, Access.MEMBER, Access.SUBMITTER, Access.ORGANISER
PAGES = (
    Page("GET", "/bots/{file}", EVERYBODY, public.bot_page, is_slow=True, has_results=True),
    Page("GET", "/pairs/{file}", EVERYBODY, public.pair_page, is_slow=True, has_results=True),
    Page("GET", "/games/{name}.html", EVERYBODY, public.game_page, is_slow=True, has_results=True),
    Page("GET", "/games/{name}.png", EVERYBODY, public.game_card, is_slow=True, has_results=True),
    Page("GET", "/games/{name}.jsonl.gz", EVERYBODY, public.game_replay, is_slow=True, has_results=True),
    Page("GET", "/news", EVERYBODY, public.news),
    Page("GET", "/finals", EVERYBODY, final.finals_page, has_results=True),
    Page("GET", "/rules", EVERYBODY, public.rules, is_slow=True),
    Page("GET", "/kits", EVERYBODY, public.kits),
    Page("GET", "/kits/{lang}.zip", EVERYBODY, public.kit),
    Page("GET", "/join/{token}", EVERYBODY, public.join_page),
    Page("POST", "/join/{token}", EVERYBODY, public.join),
    Page("GET", "/sign-up", EVERYBODY, sign_up.page),
    Page("POST", "/sign-up", EVERYBODY, sign_up.sign_up),
    Page("GET", "/account", EVERYBODY, public.account_page),
    Page("POST", "/sign-out", EVERYBODY, public.sign_out),
    Page("GET", "/finals/{final}", EVERYBODY, final.final_start, is_slow=True, has_results=True),
    Page("GET", "/finals/{final}/index.html", EVERYBODY, final.final_table, is_slow=True, has_results=True),
    Page("GET", "/finals/{final}/bots/{file}", EVERYBODY, final.final_bot, is_slow=True, has_results=True),
    Page("GET", "/finals/{final}/pairs/{file}", EVERYBODY, final.final_pair, is_slow=True, has_results=True),
    Page("GET", "/finals/{final}/games/{name}.html", EVERYBODY, final.final_game, is_slow=True, has_results=True),
    Page("GET", "/finals/{final}/games/{name}.png", EVERYBODY, final.final_card, is_slow=True, has_results=True),
    Page("GET", "/finals/{final}/games/{name}.jsonl.gz", EVERYBODY, final.final_replay, is_slow=True, has_results=True),
    Page("GET", "/team", MEMBER, team.team_page),
    Page("POST", "/team/link", MEMBER, team.new_join_link),
    Page("POST", "/team/token", MEMBER, team.new_token),
    Page("GET", "/team/versions/{version:number}", MEMBER, team.version_page, is_slow=True),
    Page("GET", "/team/versions/{version:number}/state", SUBMITTER, team.version_state),
    Page("POST", "/team/versions/{version:number}/note", MEMBER, team.change_note),
    Page("POST", "/team/versions/{version:number}/play", SUBMITTER, team.play_version),
    Page("GET", "/team/bot", MEMBER, team.own_bot, is_slow=True),
    Page("GET", "/team/games/{name}.html", MEMBER, team.own_game, is_slow=True),
    Page("GET", "/team/games/{name}.jsonl.gz", SUBMITTER, team.own_replay, is_slow=True),
    Page("GET", "/team/practice", MEMBER, practice.practice_page),
    Page("POST", "/team/practice", SUBMITTER, practice.ask),
    Page("GET", "/team/practice/{game:number}", MEMBER, practice.practice_game, is_slow=True),
    Page("GET", "/team/practice/{game:number}/replay", SUBMITTER, practice.practice_replay, is_slow=True),
    Page("GET", "/team/practice/{game:number}/state", SUBMITTER, api.practice_state),
    Page("GET", "/team/status", SUBMITTER, api.status),
    Page("GET", "/team/versions", SUBMITTER, api.versions_of_team),
    Page("GET", "/team/versions/{version:number}/stderr", SUBMITTER, api.standard_error, is_slow=True),
    Page("GET", "/team/games", SUBMITTER, api.games, is_slow=True),
    Page("GET", "/team/days/{day}.zip", SUBMITTER, api.day, is_slow=True),
    Page("GET", "/organiser", ORGANISER, organiser.organiser_page),
    Page("GET", "/organiser/audit", ORGANISER, organiser.audit_page),
    Page("POST", "/organiser/invite", ORGANISER, organiser.invite),
    Page("POST", "/organiser/invite-many", ORGANISER, organiser.invite_many),
    Page("POST", "/organiser/teams/{team:number}/invitation", ORGANISER, organiser.new_invitation),
    Page("POST", "/organiser/teams/{team:number}/sign-out", ORGANISER, organiser.sign_out_team),
    Page("POST", "/organiser/teams/{team:number}/state", ORGANISER, organiser.set_state),
    Page("POST", "/organiser/code", ORGANISER, organiser.set_code),
    Page("POST", "/organiser/organisers", ORGANISER, organiser.invite_organiser),
    Page("POST", "/organiser/checks/{submission:number}/cancel", ORGANISER, organised.cancel_check),
    Page("GET", "/organiser/teams/{team:number}", ORGANISER, organised.team_page),
    Page("POST", "/organiser/teams/{team:number}/extension", ORGANISER, organised.extend),
    Page("GET", f"{VERSION}", ORGANISER, organised.version_page, is_slow=True),
    Page("GET", f"{VERSION}/source", ORGANISER, organised.source_page, is_slow=True),
    Page("GET", f"{VERSION}/file", ORGANISER, organised.source_file),
    Page("GET", "/organiser/games/{name}.html", ORGANISER, organised.game_page, is_slow=True),
    Page("GET", "/organiser/games/{name}.jsonl.gz", ORGANISER, organised.game_replay, is_slow=True),
    Page("POST", "/organiser/reference", ORGANISER, organiser.set_reference),
    Page("POST", "/organiser/final", ORGANISER, final.make_final),
    Page("POST", "/organiser/finals/{final}/show", ORGANISER, final.show_final),
    Page("POST", "/organiser/announce", ORGANISER, organiser.announce),
    Page("POST", "/organiser/announcements/{announcement:number}/remove", ORGANISER, organiser.remove_announcement),
    Page("POST", "/organiser/switches/{switch}", ORGANISER, organiser.set_switch),
    Page("POST", "/organiser/switches/{switch}/forget", ORGANISER, organiser.forget_switch),
    Page("POST", "/organiser/marks", ORGANISER, organiser.export_marks, is_slow=True),
    Page("GET", "/organiser/table.csv", ORGANISER, organiser.export_table),
    Page("GET", "/organiser/games.sqlite", ORGANISER, organiser.export_games, is_slow=True),
    Page("GET", "/organiser/site.zip", ORGANISER, organiser.export_site, is_slow=True),
)
"""The pages that a thread makes. `Application.streams` has the others."""
HEAD = '<link rel="stylesheet" href="/static/host.css"><script src="/static/host.js" defer></script>'
LIVE_HEAD = (
    f'<meta name="live" content="table" {NUMBER}>'
    '<noscript><meta http-equiv="refresh" content="30"></noscript>'  # without scripts
)
Answer = Callable[[Request], Awaitable[Response]]
log = logging.getLogger("referee.host")


def _nav(has_kits: bool) -> Markup:
    first_bot = ' <a href="/kits">First bot</a>' if has_kits else ""
    return Markup(
        '<a class="skip" href="#content">To the content</a><header><nav aria-label="contest"><a href="/">Table</a> '
        f'<a href="/news">Announcements</a> <a href="/rules">Rules</a>{first_bot} '
        f'<a href="/finals">Finals</a>{LINKS}</nav></header><span id="content"></span>'
    )


class Application:
    """The ASGI application of a contest's folder."""

    def __init__(self, store: Store, settings: WebSettings) -> None:
        templates = page_templates(HERE / "pages")
        has_kits = bool(kits(read_plan(store.folder / PLAN).game))
        frame = {"nav": _nav(has_kits), "more_head": Markup(HEAD)}
        templates.globals |= {**frame, "has_kits": has_kits}
        templates.filters |= {"time": partial(times.shown, zone=settings.zone), "size": _size, "game_name": game_name}
        live_head = Markup(HEAD + LIVE_HEAD)
        address = settings.address if settings.behind_proxy else ""  # of this machine, it helps nobody
        self.live = Live(store, lambda: {**frame, "more_head": live_head}, settings.zone, address)
        self.readers = Readers(settings)
        self._watched_at = -WATCHED_S

        def render(template: str, status_code: int = 200, **values: Any) -> Response:
            return HTMLResponse(templates.get_template(template).render(values), status_code)

        provider = None
        if settings.sign_in:
            from referee.addons.host.oidc import Provider, read_settings  # the extra `oidc`

            provider = Provider(read_settings(Path(settings.sign_in)), settings.address)
        templates.globals["provider"] = provider.settings.name if provider else ""
        self.contest = Contest(store, self.live, settings, Rates(), render, provider)
        handlers: Any = {404: self._no_page, 405: self._no_page, Exception: _failed}
        pages = Starlette(routes=self._routes(), exception_handlers=handlers)
        pages.router.redirect_slashes = False  # to the host that the client names, by plain HTTP
        self.app = guarded(pages)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        await self.app(scope, receive, send)

    async def watch(self) -> None:
        """Reads what is new and tells the readers, until it is cancelled."""
        while True:
            try:
                await asyncio.to_thread(self.live.refresh)
                self.readers.tell(self.live.number)
                if self.readers and time.monotonic() > self._watched_at + WATCHED_S / 3:
                    self._watched_at = time.monotonic()
                    await asyncio.to_thread(note_watched, self.contest.store)
            except Exception:
                log.exception("the table cannot be made")
            await asyncio.sleep(LOOK_S)

    @property
    def streams(self) -> dict[tuple[str, str], tuple[Access, Callable[..., Any]]]:
        """The routes that no thread answers: method and path, who may ask, and what answers, as Starlette takes it."""
        upload = partial(uploads.receive, contest=self.contest)
        begin, finish = self._signing_in()
        return {
            ("GET", "/"): (EVERYBODY, self._index),
            ("GET", "/index.html"): (EVERYBODY, self._index),
            ("GET", "/events"): (EVERYBODY, self.readers),
            ("GET", "/health"): (EVERYBODY, self._health),
            ("GET", "/static/{file}"): (EVERYBODY, self._file),
            ("GET", "/sign-in"): (EVERYBODY, begin),
            ("GET", "/signed-in"): (EVERYBODY, finish),
            ("GET", "/join/{token}/sign-in"): (EVERYBODY, begin),
            ("POST", "/team/versions"): (SUBMITTER, upload),
            ("POST", "/organiser/teams/{team:number}/versions"): (ORGANISER, partial(upload, access=ORGANISER)),
            ("GET", "/team/versions/{version:number}/events"): (MEMBER, self._version_events),
        }

    def _routes(self) -> list[Route]:
        quick = [Route(path, answer, methods=[method]) for (method, path), (_, answer) in self.streams.items()]
        return quick + [Route(each.path, answering(each, self.contest), methods=[each.method]) for each in PAGES]

    def _signing_in(self) -> tuple[Answer, Answer]:
        """Returns what sends the browser to a provider, and what takes it back."""
        contest = self.contest
        if contest.provider is None:
            return self._no_accounts, self._no_accounts
        from referee.addons.host.sign_in import steps  # the extra `oidc`

        return steps(contest, contest.provider)

    async def _no_accounts(self, request: Request) -> Response:
        return problem(self.contest, 404, "this contest has no accounts; open your team's link to sign in", request)

    async def _no_page(self, request: Request, error: Exception) -> Response:
        return problem(self.contest, 404, "there is no such page", request)

    async def _index(self, request: Request) -> Response:
        """Sends the table from memory, with the links for who reads it."""
        person = None
        if self.contest.settings.named(SESSION) in request.cookies or "authorization" in request.headers:
            person, _ = await run_in_threadpool(identified, request, self.contest)
        try:
            check_results(person, self.contest.settings)
        except Denied as denied:
            return problem(self.contest, denied.status, str(denied), request)
        return kept(self.live.table_with(links_of(person, self.contest)), request)

    async def _file(self, request: Request) -> Response:
        name = request.path_params["file"]
        if name not in FILES:
            return PlainTextResponse("there is no such file\n", 404)
        return kept(await asyncio.to_thread(_static, name), request)

    async def _health(self, request: Request) -> Response:
        try:
            await run_in_threadpool(self.contest.store.value, "SELECT 1")
        except Exception:
            log.exception("the database does not answer")
            return PlainTextResponse("the database does not answer\n", 503)
        problem = self.live.problem or room.problem(self.contest.store.folder)
        return PlainTextResponse(f"{problem or 'ok'}\n", 503 if problem else 200)

    async def _version_events(self, request: Request) -> Response:
        """Streams the position, the build log and the verdict of a version."""
        contest = self.contest
        try:
            address = client_address(request, contest.settings)
            person, _ = await run_in_threadpool(identified, request, contest)
            check_access(MEMBER, person, address, contest.settings)
            assert person is not None and person.team is not None
            contest.rates.check(f"events {person.team}", 60, 60)
            find = partial(versions.version, contest.store, person.team, request.path_params["version"])
            if await run_in_threadpool(find) is None:
                raise Denied(404, "your team has no such version")
            if contest.following[person.team] >= MOST_MEMBERS:
                raise Denied(429, "your team has too many of these pages open; close some")
        except Denied as denied:
            return problem(contest, denied.status, str(denied), request)
        states = self._states(person.team, find)
        return StreamingResponse(states, media_type=EVENTS, headers={"cache-control": "no-store"})

    async def _states(self, team: int, find: Callable[[], versions.Version | None]) -> AsyncIterator[bytes]:
        last, following = b"", self.contest.following
        following[team] += 1
        try:
            for _ in range(int(3600 / LOOK_S)):
                one = await run_in_threadpool(find)
                if one is None:
                    return
                state = msgspec.json.encode(await run_in_threadpool(uploads.shown, self.contest, one))
                if state != last:
                    last = state
                    yield b"event: state\ndata: %b\n\n" % state
                if one.is_decided:
                    return
                await asyncio.sleep(LOOK_S)
        finally:
            following[team] -= 1


@cache
def _static(name: str) -> KeptPage:
    return page((HERE / "static" / name).read_bytes(), FILES[name])


def guarded(app: ASGIApp) -> ASGIApp:
    """Adds `HEADERS` to all responses that do not have them, and answers 500 for our own mistakes."""

    async def answered(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        begun = False
        headed = with_headers(send, HEADERS)

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = True
            await headed(message)

        try:
            await app(scope, receive, sending)
        except Exception as error:
            if not isinstance(error, RunError | UsageError):
                log.exception("request %s: %s failed", request_id(scope), scope["method"])
            if not begun:
                await _failure(scope, error)(scope, receive, sending)

    return answered


async def _failed(request: Request, error: Exception) -> Response:
    return _failure(request.scope, error)


def _failure(scope: Scope, error: Exception) -> Response:
    if isinstance(error, RunError | UsageError):
        return PlainTextResponse(f"{error}\n", 503)
    text = f"this page failed; the organiser's log says why, at the request {request_id(scope)}\n"
    return PlainTextResponse(text, 500)


def _size(size: int) -> str:
    return f"{size / 1024:,.0f} KiB" if size < 10 << 20 else f"{size / (1 << 20):,.0f} MiB"
