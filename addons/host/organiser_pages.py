"""The organiser's pages: invitations, announcements, switches, teams, exports and the audit log."""

import csv
import io
import tempfile
import time
import zipfile
from pathlib import Path

import msgspec
from starlette.responses import Response

from referee.addons.host import (
    check_queue,
    finals,
    outbox,
    pseudonyms,
    reference_bots,
    room,
    sign_up,
    submissions,
    switches,
    teams,
    versions,
)
from referee.addons.host.access import Asked, see
from referee.addons.host.final_pages import formats_of
from referee.addons.host.organiser_team_pages import team_of as _team
from referee.addons.host.public_pages import announcements
from referee.addons.host.store import audit, audited
from referee.addons.host.times import VALUES, typed_time
from referee.addons.tournament.inbox import Enter, Withdraw, hand_in
from referee.addons.tournament.plan import read_plan
from referee.addons.tournament.reports import site
from referee.addons.tournament.reports.all_stages import all_standings
from referee.addons.tournament.reports.class_list import ClassList, class_list, names_of, plain
from referee.addons.tournament.reports.marks import MOST_LETTERS, read_rule
from referee.addons.tournament.reports.readers import Reader
from referee.addons.tournament.reports.standings_text import as_csv, cells, headers
from referee.addons.tournament.store import reader, sqlite
from referee.addons.tournament.store.ledger import PLAN
from referee.harness.common.errors import UsageError

AUDIT_LINES = 1000
QUEUED = 50
"""The most versions of the queue that the page shows."""
TEXT_LETTERS = 10_000
CSV_LETTERS = 200_000
STATES = ("active", "withdrawn", "disqualified")


def organiser_page(asked: Asked) -> Response:
    """Answers with the organiser's page."""
    return _organiser_page(asked)


def _organiser_page(
    asked: Asked,
    link: str = "",
    whose: str = "",
    doubtful: tuple[str, list[tuple[str, str]], list[str]] | None = None,
    doubtful_class: tuple[str, str, ClassList, list[str]] | None = None,
) -> Response:
    """`doubtful`: a table of teams, how it is read, and what may be wrong.

    `doubtful_class`: the rule of marks, a class list, how that is read, and what may be wrong.
    """
    store, problem = asked.contest.store, asked.contest.live.problem
    found = teams.teams(store)
    waiting = check_queue.lines(store, asked.contest.settings.checks)
    return asked.contest.render(
        "organiser.html",
        queue=waiting[:QUEUED],
        more_waiting=max(0, len(waiting) - QUEUED),
        extended=switches.extended(store),
        zone=asked.contest.settings.zone,
        signs_up=sign_up.is_on(store),
        mails=asked.contest.settings.mails,
        messages=outbox.messages(store),
        notes=asked.contest.live.whole.organisers_notes,
        title="Organiser",
        person=asked.who,
        teams=[(each, len(teams.members(store, each.id)), versions.current(store, each.id)) for each in found],
        switches=[
            (name, VALUES[name], switches.setting_of(store, name), switches.planned(store, name)) for name in VALUES
        ],
        announcements=announcements(store),
        references=teams.reference_bots(store),
        formats=formats_of(asked.contest.live.whole.plan),
        problem=f"The table is not up to date: {problem}" if problem else room.problem(store.folder),
        link=link,
        whose=whose,
        doubtful=doubtful,
        doubtful_class=doubtful_class,
    )


def audit_page(asked: Asked) -> Response:
    """Answers with the audit log."""
    lines = audited(asked.contest.store, AUDIT_LINES)
    return asked.contest.render("audit.html", title="Audit log", lines=lines)


# Teams.


def invite(asked: Asked) -> Response:
    """Adds a team, and shows the link that its first member opens."""
    team, token = teams.invite(
        asked.contest.store, asked.text("name"), asked.text("email"), asked.who.actor, asked.address
    )
    if asked.contest.settings.mails and team.email:
        return see("/organiser")  # the mail has a link of its own
    return _organiser_page(asked, f"{asked.contest.settings.address}/join/{token}", team.name)


def invite_many(asked: Asked) -> Response:
    """Adds teams from a table, and answers with the table of their links, for a mail merge.

    A table that may be read wrong is shown first.
    """
    text = asked.text("table", CSV_LETTERS)
    named, doubts = teams.read_teams(text)
    if doubts and not asked.text("sure"):
        return _organiser_page(asked, doubtful=(text, named, doubts))
    made = teams.invite_all(asked.contest.store, named, asked.who.actor, asked.address)
    mails = asked.contest.settings.mails
    links = [
        (team, "by mail" if mails and team.email else f"{asked.contest.settings.address}/join/{token}")
        for team, token in made
    ]
    return _download(teams.written_csv(links).encode(), "invitations.csv", "text/csv; charset=utf-8")


def new_invitation(asked: Asked) -> Response:
    """Replaces the invitation of a team, whose link was lost."""
    team = _team(asked)
    token = teams.new_link(asked.contest.store, team.id, "invitation", asked.who.actor, asked.address)
    return _organiser_page(asked, f"{asked.contest.settings.address}/join/{token}", team.name)


def invite_organiser(asked: Asked) -> Response:
    """Shows a link by which somebody else organises, too. An earlier one that was not opened has ended."""
    token = teams.new_link(asked.contest.store, None, "invitation", asked.who.actor, asked.address)
    return _organiser_page(asked, f"{asked.contest.settings.address}/join/{token}", "the other organiser")


def set_code(asked: Asked) -> Response:
    """Sets the code with which teams sign up; empty = nobody does."""
    sign_up.set_code(asked.contest.store, asked.text("code"), asked.who.actor, asked.address)
    return see("/organiser")


def sign_out_team(asked: Asked) -> Response:
    """Ends all sessions, tokens and links of a team."""
    teams.end_sessions(asked.contest.store, _team(asked).id, asked.who.actor, asked.address)
    return see("/organiser")


def set_state(asked: Asked) -> Response:
    """Withdraws or disqualifies a team, or takes it back. The games of a disqualified team count for nobody."""
    team, state, reason = _team(asked), asked.text("state"), asked.text("reason", 500)
    store = asked.contest.store
    if state not in STATES:
        raise UsageError(f"{state}: expected {', '.join(STATES)}")
    plays = any(entry.name == team.bot for entry in read_plan(store.folder / PLAN).bots)
    if plays and state != "active":
        hand_in(store.folder, Withdraw((team.bot,), state == "disqualified"))
    elif plays and team.state != "active":
        hand_in(store.folder, Enter(back=(team.bot,)))
    finals.reconsider(store, team.bot, state)
    teams.set_state(store, team.id, state, reason, asked.who.actor, asked.address)
    if state == "active" and (current := versions.current(store, team.id)) is not None:
        submissions.enter(store, current.tournament_entry)
    return see("/organiser")


def set_reference(asked: Asked) -> Response:
    """Withdraws a reference bot, or takes it back."""
    name, plays = asked.text("name"), asked.text("state") == "active"
    reference_bots.set_state(asked.contest.store, name, plays, asked.who.actor, asked.address)
    return see("/organiser")


# Announcements and switches.


def announce(asked: Asked) -> Response:
    """Publishes an announcement."""
    title, text = asked.text("title"), asked.text("text", TEXT_LETTERS)
    if not title:
        raise UsageError("the announcement has no title")
    with asked.contest.store.writing() as database:
        database.execute("INSERT INTO announcement (at, title, text) VALUES (?, ?, ?)", (time.time(), title, text))
        audit(database, asked.who.actor, "announce", title, "", asked.address)
    return see("/organiser")


def remove_announcement(asked: Asked) -> Response:
    """Removes an announcement."""
    number = asked.path["announcement"]
    with asked.contest.store.writing() as database:
        if database.execute("DELETE FROM announcement WHERE id = ?", (number,)).rowcount:
            audit(database, asked.who.actor, "remove announcement", str(number), "", asked.address)
    return see("/organiser")


def set_switch(asked: Asked) -> Response:
    """Sets a switch, now or at a time."""
    name, value, when = asked.path["switch"], asked.text("value"), asked.text("at")
    at = typed_time(when, asked.contest.settings.zone)
    switches.set_switch(asked.contest.store, name, value, at, asked.who.actor, asked.address)
    return see("/organiser")


def forget_switch(asked: Asked) -> Response:
    """Removes a planned change of a switch: the one at the time `at`, by default the next one."""
    name, at = asked.path["switch"], asked.text("at")
    for each in switches.planned(asked.contest.store, name):
        if at in ("", repr(each.at)):
            switches.forget(asked.contest.store, name, each.at, asked.who.actor, asked.address)
            break
    return see("/organiser")


# Exports.


def _download(content: bytes, name: str, kind: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=kind, headers=headers)


def export_table(asked: Asked) -> Response:
    """Answers with the whole table as CSV."""
    result, text = asked.contest.live.whole.result, io.StringIO()
    columns = headers(result)
    real = pseudonyms.real_names(asked.contest.store)
    named = (msgspec.structs.replace(row, name=real.get(row.name, row.name)) for row in result.rows)
    rows = [cells(row, columns) for row in named]
    csv.writer(text).writerows([columns, *([*row[:1], *map(plain, row[1:2]), *row[2:]] for row in rows)])
    return _download(text.getvalue().encode(), "table.csv", "text/csv; charset=utf-8")


def export_marks(asked: Asked) -> Response:
    """Answers with a row for every team, or for every person of a class list, with points by the organiser's rule.

    A class list that may be read wrong is shown first.
    """
    rule, text, listed = asked.text("rule", MOST_LETTERS), asked.text("people", CSV_LETTERS), None
    handed_in, folder = versions.handed_in(asked.contest.store), asked.contest.store.folder
    if text:
        listed, doubts = class_list(text, names_of(handed_in.values()))
        if doubts and not asked.text("sure"):
            return _organiser_page(asked, doubtful_class=(rule, text, listed, doubts))
    plan = read_plan(folder / PLAN)
    result = all_standings(plan, reader.read(folder, plan=plan), chances=False)
    content = as_csv(result, handed_in, listed, read_rule(rule) if rule else ())
    return _download(content.encode(), "marks.csv", "text/csv; charset=utf-8")


def export_games(asked: Asked) -> Response:
    """Answers with all games that count as an SQLite database."""
    folder = asked.contest.store.folder
    with tempfile.TemporaryDirectory(prefix="referee-") as scratch:
        file = Path(scratch) / "games.sqlite"
        sqlite.write(read_plan(folder / PLAN), folder, file)
        return _download(file.read_bytes(), "games.sqlite", "application/vnd.sqlite3")


def export_site(asked: Asked) -> Response:
    """Answers with the public site as plain files, in a zip. The authors' secret pages are not in it."""
    folder, packed = asked.contest.store.folder, io.BytesIO()
    with tempfile.TemporaryDirectory(prefix="referee-") as scratch:
        site.write(read_plan(folder / PLAN), folder, Path(scratch), Reader.PUBLIC)
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(Path(scratch).rglob("*")):
                name = path.relative_to(scratch)
                if path.is_file() and name.parts[0] != site.AUTHORS and not name.name.startswith("."):
                    archive.write(path, Path("site") / name)
    return _download(packed.getvalue(), "site.zip", "application/zip")
