"""Signing in at an OpenID Connect provider: to its pages and back.

The browser keeps two signed cookies, which scripts cannot read: what has begun, until it comes back; and the account
that has come back, until a team's link is opened with it. Nobody is sent to any address but the provider's and ours.
"""

import logging
from collections.abc import Awaitable, Callable
from hmac import compare_digest

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from referee.addons.host import teams
from referee.addons.host.access import Contest, Denied, client_address, problem, see, set_session
from referee.addons.host.oidc import ACCOUNT_S, BEGUN_S, Begun, Provider, Refused
from referee.addons.host.settings import ACCOUNT, BEGUN
from referee.addons.web.server.connection import network
from referee.harness.common.errors import RunError

CODE_LETTERS = 4000
RATE = 300, 60.0
"""Steps of an address at once, and within so many seconds: a whole course may sit behind one address."""
OTHER = "this is not what your browser has begun, or it took too long; sign in again"
log = logging.getLogger("referee.host")

Step = Callable[[Request, Contest, Provider], Awaitable[Response]]
Answer = Callable[[Request], Awaitable[Response]]


def steps(contest: Contest, provider: Provider) -> tuple[Answer, Answer]:
    """Returns what answers the routes that send the browser to the provider, and that take it back."""

    def answering(step: Step) -> Answer:
        async def answer(request: Request) -> Response:
            try:
                contest.rates.check(f"sign-in {network(client_address(request, contest.settings))}", *RATE)
                return await step(request, contest, provider)
            except Denied as denied:
                return problem(contest, denied.status, str(denied), request)
            except Refused as refused:
                return problem(contest, 403, str(refused), request)
            except RunError as error:
                log.warning("signing in: %s", error)
                return problem(contest, 503, str(error), request)

        return answer

    return answering(_begin), answering(_finish)


async def _begin(request: Request, contest: Contest, provider: Provider) -> Response:
    """Sends the browser to the provider's page. A team's link, if there is one, comes afterwards."""
    link = request.path_params.get("token", "")
    if link and await run_in_threadpool(teams.link, contest.store, link) is None:
        raise Denied(404, teams.ENDED)
    address, begun = await provider.begin(link)
    response = RedirectResponse(address, 303)
    settings = contest.settings
    settings.set_cookie(response, BEGUN, provider.sealed(begun, BEGUN, BEGUN_S), BEGUN_S)
    return response


async def _finish(request: Request, contest: Contest, provider: Provider) -> Response:
    """Takes the browser back: signs a member in, or keeps the account for the team's link that comes next."""
    settings, query = contest.settings, request.query_params
    begun = provider.unsealed(Begun, request.cookies.get(settings.named(BEGUN), ""), BEGUN)
    state, code = query.get("state", ""), query.get("code", "")
    if begun is None or not compare_digest(begun.state.encode(), state.encode("utf-8", "replace")):
        raise Denied(400, OTHER)
    if query.get("iss", provider.settings.issuer) != provider.settings.issuer:
        raise Denied(400, OTHER)
    if not 0 < len(code) <= CODE_LETTERS:
        response = problem(contest, 403, "the provider did not sign you in; begin again, or ask the organiser", request)
        settings.delete_cookie(response, BEGUN)
        return response
    account = await provider.finish(code, begun)
    session = await run_in_threadpool(teams.sign_in, contest.store, account)
    if session is not None:
        response = see("/team")
        set_session(response, settings, session)
        settings.delete_cookie(response, ACCOUNT)
    else:
        response = see(f"/join/{begun.link}") if begun.link else see("/account")
        settings.set_cookie(response, ACCOUNT, provider.sealed(account, ACCOUNT, ACCOUNT_S), ACCOUNT_S)
    settings.delete_cookie(response, BEGUN)
    return response
