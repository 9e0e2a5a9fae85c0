"""Sign-up with a course code: who has the code makes a team, without an invitation."""

import hashlib
from hmac import compare_digest

from starlette.responses import Response

from referee.addons.host import teams
from referee.addons.host.access import Asked, Denied, see, set_session
from referee.addons.host.settings import ACCOUNT
from referee.addons.host.store import Store, audit
from referee.harness.common.errors import UsageError

CODE = "course_code"
"""The setting with the SHA-256 of the code."""
LEAST_LETTERS = 8
ATTEMPTS = 150, 600.0
"""Of one address, at once and within so many seconds: a class in one room has one address."""
ALL_ATTEMPTS = 1000, 600.0


def set_code(store: Store, code: str, actor: str, address: str = "") -> None:
    """Sets the code, or takes it away. UsageError if it is too short, since it could be guessed."""
    if 0 < len(code) < LEAST_LETTERS:
        raise UsageError(f"the code has {len(code)} letters; expected {LEAST_LETTERS} at least, or none")
    with store.writing() as database:
        if code:
            database.execute("INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)", (CODE, _hash(code)))
        else:
            database.execute("DELETE FROM setting WHERE name = ?", (CODE,))
        audit(database, actor, "course code", "sign-up is on" if code else "sign-up is off", "", address)


def is_on(store: Store) -> bool:
    """Tells whether teams may sign up."""
    return store.setting(CODE) is not None


def _hash(code: str) -> str:
    return hashlib.sha256(code.encode("utf-8", "surrogateescape")).hexdigest()


def page(asked: Asked) -> Response:
    """Answers with the form."""
    _check(asked)
    return asked.contest.render("sign_up.html", title="Sign up", other=asked.person, account=asked.account)


def _check(asked: Asked) -> None:
    """Raises Denied if nobody may sign up, or if an account comes first."""
    if not is_on(asked.contest.store):
        raise Denied(404, "nobody signs up for this contest; open your team's link, or ask the organiser")
    if asked.contest.provider is not None and asked.account is None:
        raise Denied(401, f"sign in with {asked.contest.provider.settings.name} first, then come back to /sign-up")


def sign_up(asked: Asked) -> Response:
    """Makes a team with one member, and begins a session.

    UsageError for a name that is taken, and for an account that is in a team.
    """
    _check(asked)
    contest, store = asked.contest, asked.contest.store
    contest.rates.check(f"code {asked.network}", *ATTEMPTS)
    contest.rates.check("code", *ALL_ATTEMPTS)
    if not compare_digest(store.setting(CODE) or "", _hash(asked.text("code"))):
        raise Denied(403, "this is not the course's code; the organiser has it")
    name = asked.text("name")
    if not name:
        raise UsageError("type your name, so that your team knows who has joined")
    named = [(asked.text("team"), asked.text("email"))]
    with store.writing():  # no team stays without a member
        ((_, token),) = teams.invite_all(store, named, "sign-up", asked.address, mails=False)
        session = teams.open_link(store, token, name, asked.account)
    response = see("/team")
    set_session(response, contest.settings, session)
    contest.settings.delete_cookie(response, ACCOUNT)
    return response
