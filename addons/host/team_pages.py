"""The pages of a team's members: their versions, games, members and links. Each shows the own team only."""

import msgspec
from starlette.responses import Response

from referee.addons.host import submissions, switches, teams, versions
from referee.addons.host.access import Asked, Denied, see
from referee.addons.host.live import HTML
from referee.addons.host.public_pages import shown_game, shown_replay
from referee.addons.host.teams import Team
from referee.addons.host.uploads import shown
from referee.addons.host.versions import Version
from referee.harness.common.errors import UsageError

FAULTS = 10
"""How many faults the page of a version has. The team's bot page has more."""


def team_of(asked: Asked) -> Team:
    """Returns the team of the person who asks."""
    found = teams.team(asked.contest.store, asked.team)
    assert found is not None
    return found


def check_takes_part(asked: Asked) -> None:
    """UsageError if the team of the person who asks is withdrawn or disqualified."""
    if team_of(asked).state != "active":
        raise UsageError("your team does not take part any more")


def version_of(asked: Asked) -> Version:
    """Returns the version of the own team that the path names. Raises Denied if there is none."""
    found = versions.version(asked.contest.store, asked.team, asked.path["version"])
    if found is None:
        raise Denied(404, "your team has no such version")
    return found


def team_page(asked: Asked) -> Response:
    """Answers with the team's page: what plays, all versions, and the form to hand in."""
    return _team_page(asked)


def _team_page(asked: Asked, link: str = "", token: str = "") -> Response:
    """`link`, `token`: new ones, which are shown this once."""
    contest, number = asked.contest, asked.team
    store, team = contest.store, team_of(asked)
    live = contest.live
    return contest.render(
        "team.html",
        title=team.name,
        team=team,
        person=asked.who,
        members=teams.members(store, number),
        versions=versions.versions(store, number),
        current=versions.current(store, number),
        row=live.public.row_of(team.bot),
        standings=live.public.result,
        plays=live.whole.row_of(team.bot) is not None,
        uploads=switches.setting_of(store, "uploads"),
        extension=switches.extension(store, number),
        closes=next((each for each in switches.planned(store, "uploads") if each.value == "closed"), None),
        quota=contest.settings.quota,
        git_hosts=contest.settings.git_hosts,
        link=link,
        token=token,
        address=contest.settings.address,
    )


def new_join_link(asked: Asked) -> Response:
    """Makes a new link by which members join, and shows it. The one before ends."""
    token = teams.new_link(asked.contest.store, asked.team, "join", asked.who.actor, asked.address)
    return _team_page(asked, link=f"{asked.contest.settings.address}/join/{token}")


def new_token(asked: Asked) -> Response:
    """Makes a new token for `referee submit`, and shows it. The one before ends."""
    return _team_page(asked, token=teams.new_program_token(asked.contest.store, asked.who))


def version_page(asked: Asked) -> Response:
    """Answers with a version: its place in the queue, its build log, what the check says, and its faults in games."""
    return rendered_version(asked, team_of(asked), version_of(asked), "/team")


def rendered_version(asked: Asked, team: Team, one: Version, at: str) -> Response:
    """Answers with a version. `at`: the path of its team, as who asks sees it."""
    store = asked.contest.store
    return asked.contest.render(
        "version.html",
        title=f"{team.name}, version {one.version}",
        one=one,
        at=at,
        is_own=asked.person is not None and not asked.person.is_organiser,
        shown=shown(asked.contest, one),
        report=submissions.report_text(store, one) if one.is_decided else "",
        seconds=submissions.seconds(one),
        current=versions.current(store, team.id),
        games=asked.contest.live.whole.version(one.bot, one.hash) if one.status == "accepted" else None,
        most_faults=FAULTS,
    )


def version_state(asked: Asked) -> Response:
    """Answers with what became of a version, for `referee submit` and the page's script."""
    return Response(msgspec.json.encode(shown(asked.contest, version_of(asked))), media_type="application/json")


def change_note(asked: Asked) -> Response:
    """Changes the note of a version."""
    one = version_of(asked)
    versions.set_note(asked.contest.store, one, submissions.tidy(asked.text("note", 1000)))
    return see(f"/team/versions/{one.version}")


def play_version(asked: Asked) -> Response:
    """Goes back to an older version."""
    one = version_of(asked)
    check_takes_part(asked)
    if not switches.may_hand_in(asked.contest.store, asked.team):
        raise UsageError("uploads are closed, so that the version that plays cannot change any more")
    submissions.play_again(asked.contest.store, one)
    return version_state(asked) if asked.who.is_program else see("/team")


def own_bot(asked: Asked) -> Response:
    """Answers with the team's bot: all its faults and its standard error, which no other team sees."""
    live = asked.contest.live
    content = live.whole.own_page(team_of(asked).bot, with_place=live.public is live.whole)
    if content is None:
        raise Denied(404, "your team has no accepted version yet")
    return Response(content, media_type=HTML)


def _seat(asked: Asked) -> int:
    """Returns a seat of the own team in the game that the path names. Raises Denied if it has none."""
    site, name = asked.contest.live.whole, team_of(asked).bot
    found = site.line(asked.path["name"])
    own = {entry.ident for entry in site.plan.bots if entry.name == name}
    seat = None if found is None else next((seat for seat, ident in enumerate(found[1].b) if ident in own), None)
    if seat is None:
        raise Denied(404, "your team has no such game")
    return seat


def own_game(asked: Asked) -> Response:
    """Answers with a game of the team in the viewer, with the standard error of its bot."""
    return shown_game(asked, asked.contest.live.whole, _seat(asked))


def own_replay(asked: Asked) -> Response:
    """Answers with the replay of a game of the team, with the standard error of its bot."""
    return shown_replay(asked, asked.contest.live.whole, _seat(asked))
