"""The pages of finals: the commitment to the next one's seed, each final's bracket and games, and the form for one."""

from urllib.parse import quote

from starlette.responses import RedirectResponse, Response

from referee.addons.host import finals, switches
from referee.addons.host.access import Asked, Denied, see
from referee.addons.host.live import HTML, LiveSite
from referee.addons.host.public_pages import shown_card, shown_game, shown_replay
from referee.addons.tournament.format_options import FORMATS as OPTIONS
from referee.addons.tournament.plan import Plan
from referee.harness.common.errors import UsageError

TEAMS_LETTERS = 20_000
FORMATS = ("double-elimination", "knockout", "swiss", "round-robin", "series", "groups")
"""The formats of a final, in the order of the form."""


def finals_page(asked: Asked) -> Response:
    """Answers with the finals and their seeds, and with the commitment to the next one's."""
    store = asked.contest.store
    return asked.contest.render(
        "finals.html",
        title="Finals",
        next=finals.commitment(store),
        finals=finals.finals(store.folder)[::-1],
        hidden=_is_hidden(asked),
        is_organiser=asked.person is not None and asked.person.is_organiser,
        closed=switches.value_of(store, "uploads") == "closed",
    )


def _is_hidden(asked: Asked) -> bool:
    """Tells whether the results are hidden: while the public table is frozen, only organisers see them."""
    is_organiser = asked.person is not None and asked.person.is_organiser
    return switches.frozen_at(asked.contest.store) is not None and not is_organiser


def _site(asked: Asked) -> LiveSite:
    site = asked.contest.live.final(asked.path["final"])
    if site is None:
        raise Denied(404, "there is no final of that name")
    if _is_hidden(asked):
        raise Denied(403, "the table is frozen: the result is shown when it is public again")
    return site


def final_start(asked: Asked) -> Response:
    """Sends the browser to the table of a final, from which its links start."""
    _site(asked)
    return RedirectResponse(f"/finals/{quote(asked.path['final'])}/index.html", 302)


def final_table(asked: Asked) -> Response:
    """Answers with the table and the bracket of a final."""
    return _page(asked, "index.html")


def final_bot(asked: Asked) -> Response:
    """Answers with the page of a bot in a final."""
    return _page(asked, f"bots/{asked.path['file']}")


def final_pair(asked: Asked) -> Response:
    """Answers with the page of the games between two bots in a final."""
    return _page(asked, f"pairs/{asked.path['file']}")


def _page(asked: Asked, name: str) -> Response:
    content = _site(asked).page(name)
    if content is None:
        raise Denied(404, "there is no such page")
    return Response(content, media_type=HTML)


def final_game(asked: Asked) -> Response:
    """Answers with a game of a final in the viewer."""
    return shown_game(asked, _site(asked), None)


def final_card(asked: Asked) -> Response:
    """Answers with the card of a game of a final."""
    return shown_card(asked, _site(asked))


def final_replay(asked: Asked) -> Response:
    """Answers with the replay of a game of a final."""
    return shown_replay(asked, _site(asked), None)


def formats_of(plan: Plan) -> list[str]:
    """Returns the formats that a final of this game may have."""
    two = plan.seats == 2
    return [each for each in FORMATS if (two or not OPTIONS[each].two_seats) and (each != "groups" or not two)]


def make_final(asked: Asked) -> Response:
    """Makes a final of the versions that play now. It is played at once, before the ladder goes on."""
    finals.make(
        asked.contest.store,
        asked.text("name"),
        asked.text("format"),
        asked.who.actor,
        _number(asked.text("games"), "games"),
        _number(asked.text("rounds"), "rounds"),
        _number(asked.text("first"), "bots"),
        address=asked.address,
        only=[name for line in asked.text("teams", TEAMS_LETTERS).splitlines() if (name := line.strip())],
        sealed=bool(asked.text("sealed")),
    )
    return see("/finals")


def show_final(asked: Asked) -> Response:
    """Shows the next match of a sealed final to everybody, or its next round, or all."""
    finals.show(asked.contest.store, asked.path["final"], asked.text("what"), asked.who.actor, asked.address)
    return see("/finals")


def _number(text: str, what: str) -> int | None:
    """Returns a number that was typed; None for nothing. UsageError if it is none."""
    if not text:
        return None
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:9]) <= 1_000_000:
        raise UsageError(f"{what} {text[:40]!r}: expected a number from 1 to 1,000,000")
    return int(text)
