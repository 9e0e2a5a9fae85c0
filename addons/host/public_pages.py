"""The pages that everybody may see."""

import gzip
from collections.abc import Iterable, Iterator
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup
from msgspec import Struct
from starlette.responses import Response

from referee.addons.host import cards, contest_rules, first_bots, switches, teams
from referee.addons.host.access import CLASS_RATE, Asked, Denied, see, set_session
from referee.addons.host.live import HTML, LiveSite
from referee.addons.host.settings import ACCOUNT, SESSION
from referee.addons.host.store import Store
from referee.games.game import Game
from referee.harness.common.errors import UsageError
from referee.harness.common.known_games import find_game
from referee.harness.common.rules import page_text

NEW_CARDS = 20, 60.0
"""How many cards are drawn at once, and again within so many seconds: games may be played beside."""
VIEWER_POLICY = "sandbox allow-scripts; frame-ancestors 'none'"
"""The page with the viewer names its own script by hash, in a policy of its own.

The sandbox gives it an origin of its own: a game's painter reaches no other page and no session of this site.
"""


class Announcement(Struct, frozen=True):
    """An announcement of the organiser."""

    id: int
    at: float
    title: str
    text: str


def announcements(store: Store, most: int = 100) -> list[Announcement]:
    """Returns the last announcements, newest first."""
    return store.rows(Announcement, "SELECT id, at, title, text FROM announcement ORDER BY id DESC LIMIT ?", most)


# The tournament's pages.


def bot_page(asked: Asked) -> Response:
    """Answers with the page of a bot, as `referee tournament page` makes it."""
    return _site_page(asked, "bots")


def pair_page(asked: Asked) -> Response:
    """Answers with the page of the games between two bots."""
    return _site_page(asked, "pairs")


def _site_page(asked: Asked, part: str) -> Response:
    content = asked.contest.live.public.page(f"{part}/{asked.path['file']}")
    if content is None:
        raise Denied(404, "there is no such page; the table names all bots")
    return Response(content, media_type=HTML)


def game_page(asked: Asked) -> Response:
    """Answers with a game in the viewer."""
    return shown_game(asked, asked.contest.live.public, None)


def game_replay(asked: Asked) -> Response:
    """Answers with the replay of a game."""
    return shown_replay(asked, asked.contest.live.public, None)


def game_card(asked: Asked) -> Response:
    """Answers with the card of a game."""
    return shown_card(asked, asked.contest.live.public)


def shown_game(asked: Asked, site: LiveSite, seat: int | None) -> Response:
    """Answers with a game in the viewer. `seat`: of the team that asks."""
    asked.contest.rates.check(f"game {asked.network}", 60, 60)
    content = asked.contest.live.game_page(site, asked.path["name"], seat)
    if content is None:
        raise Denied(404, "there is no such game, or its replay was not kept")
    return Response(content, media_type=HTML, headers={"content-security-policy": VIEWER_POLICY})


def shown_card(asked: Asked, site: LiveSite) -> Response:
    """Answers with the card of a game, which chats show with a link to its page."""
    try:
        content = cards.card(site, asked.path["name"], lambda: asked.contest.rates.check("new card", *NEW_CARDS))
    except cards.Busy:
        raise Denied(503, "cards of other games are drawn; ask again in some seconds") from None
    if content is None:
        raise Denied(404, "there is no such game, or it has no card")
    return Response(content, media_type="image/png")


def shown_replay(asked: Asked, site: LiveSite, seat: int | None) -> Response:
    """Answers with the replay of a game as a packed file."""
    found = site.line(asked.path["name"])
    if found is None or found[1].z is None:
        raise Denied(404, "there is no such game, or its replay was not kept")
    content = gzip.compress(site.replay(*found, seat), 6, mtime=0)
    name = f"{asked.path['name']}.jsonl.gz"
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type="application/gzip", headers=headers)


# What participants read.


def news(asked: Asked) -> Response:
    """Answers with the announcements."""
    found = announcements(asked.contest.store)
    return asked.contest.render("news.html", title="Announcements", announcements=found)


def rules(asked: Asked) -> Response:
    """Answers with the rules of the contest, and with those of its game."""
    live, settings = asked.contest.live, asked.contest.settings
    plan = live.public.plan
    game = find_game(plan.game)
    return asked.contest.render(
        "rules.html",
        title=f"Rules of {game.title}",
        game=game,
        rules=_rules(game),
        description=None if page_text(game.name) else contest_rules.description(game),
        limits=contest_rules.limits(plan, settings.quota),
        languages=contest_rules.languages(plan.game, plan.limits.build_network),
        ranking=live.public.result.ranking,
        deadlines=live.deadlines(),
        uploads=switches.setting_of(asked.contest.store, "uploads"),
        practice_a_day=settings.practice_a_day,
    )


@cache
def _rules(game: Game) -> Markup:
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(page_text(game.name))
    for token in tokens:
        token.children = [*_without_links(token.children or ())] if token.children is not None else None
    made: str = markdown.renderer.render(tokens, markdown.options, {})
    return Markup(made)


def _without_links(tokens: Iterable[Token]) -> Iterator[Token]:
    """Leaves out links to other pages of the documentation, which are not here, but not their texts."""
    is_out = False
    for token in tokens:
        if token.type == "link_open":
            is_out = not str(token.attrs.get("href", "")).startswith(("https://", "http://"))
        if token.type != "image" and not (is_out and token.type in ("link_open", "link_close")):
            yield token


def kits(asked: Asked) -> Response:
    """Answers with the list of languages for which a first bot can be downloaded."""
    game = asked.contest.live.public.plan.game
    found = first_bots.kits(game)
    return asked.contest.render("kits.html", title="A first bot", kits=found, game=find_game(game))


def kit(asked: Asked) -> Response:
    """Answers with a first bot in a language, as `referee new` writes it, as a zip."""
    game, lang = asked.contest.live.public.plan.game, asked.path["lang"]
    if lang not in first_bots.kits(game):
        raise Denied(404, "there is no first bot in this language")
    headers = {"content-disposition": f'attachment; filename="my_{game}_{lang}.zip"'}
    return Response(first_bots.packed(game, lang), media_type="application/zip", headers=headers)


# Signing in.


def join_page(asked: Asked) -> Response:
    """Answers with the page behind an invitation. It opens nothing: programs that look at mails follow links."""
    asked.contest.rates.check(f"join {asked.network}", *CLASS_RATE)
    link = teams.link(asked.contest.store, asked.path["token"])
    if link is None:
        raise Denied(404, teams.ENDED)
    team = None if link.team is None else teams.team(asked.contest.store, link.team)
    return asked.contest.render(
        "join.html", title="Sign in", team=team, token=asked.path["token"], other=asked.person, account=asked.account
    )


def join(asked: Asked) -> Response:
    """Opens an invitation: makes the person a member, and begins a session."""
    contest, settings = asked.contest, asked.contest.settings
    contest.rates.check(f"join {asked.network}", *CLASS_RATE)
    link = teams.link(contest.store, asked.path["token"])
    is_organiser = link is not None and link.team is None
    if is_organiser and not settings.may_organise(asked.address):
        raise Denied(403, "the organiser's pages cannot be reached from this address")
    account = None if is_organiser else asked.account
    if link is not None and not is_organiser and contest.provider is not None and account is None:
        raise Denied(403, f"sign in with {contest.provider.settings.name} first, then open your team's link again")
    try:
        session = teams.open_link(contest.store, asked.path["token"], asked.text("name"), account)
    except UsageError as error:
        raise Denied(404 if link is None else 400, str(error)) from error
    response = see("/organiser" if is_organiser else "/team")
    set_session(response, settings, session)
    settings.delete_cookie(response, ACCOUNT)
    return response


def account_page(asked: Asked) -> Response:
    """Answers with the account of somebody who is no member yet."""
    if asked.account is None:
        raise Denied(404, "no account has signed in within the last hour")
    return asked.contest.render("account.html", title="You have signed in", account=asked.account)


def sign_out(asked: Asked) -> Response:
    """Ends the session."""
    if asked.token:
        teams.end_session(asked.contest.store, asked.token)
    response = see("/")
    for each in (SESSION, ACCOUNT):
        asked.contest.settings.delete_cookie(response, each)
    return response
