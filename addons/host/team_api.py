"""What `referee team` asks for, as JSON: a team's state, versions, games and standard error."""

import gzip
import io
import re
import tempfile
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from threading import BoundedSemaphore
from typing import IO

import msgspec
from starlette.responses import Response, StreamingResponse

from referee.addons.host import practice, submissions, switches, times, versions
from referee.addons.host.access import SLOW_PAGES, Asked, Denied
from referee.addons.host.practice_games import result_of
from referee.addons.host.submissions import COMING
from referee.addons.host.team_answers import PracticeState, StandardError, TeamGame, TeamStatus, TeamVersion
from referee.addons.host.team_pages import team_of, version_of
from referee.addons.tournament.plan import Plan
from referee.addons.tournament.reports.readers import published
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.ledger import Line, game_name
from referee.protocol.text import counted

DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
DAY_BYTES = 256 << 20
"""The most bytes of a day's games, packed."""
PIECE_BYTES = 1 << 18
_packing = BoundedSemaphore(SLOW_PAGES // 2)
"""Days' games take longer than other slow pages, and leave them room."""


def _json(value: object) -> Response:
    return Response(msgspec.json.encode(value), media_type="application/json")


def status(asked: Asked) -> Response:
    """Answers with the state of the team."""
    store, live, zone, team = asked.contest.store, asked.contest.live, asked.contest.settings.zone, team_of(asked)
    current, row = versions.current(store, asked.team), live.public.row_of(team.bot)
    text = "no version plays yet"
    if current is not None:
        placed = sum(not each.reference for each in live.public.result.rows)
        text = f"place {row.rank} of {placed}, {counted(row.games, 'game')}" if row else "it has no game yet"
        if current.set_aside_at:
            text = f"set aside: {current.set_aside_why}"
    extension = switches.extension(store, asked.team)
    uploads = switches.value_of(store, "uploads")
    if extension is not None:
        uploads = f"open for your team until {times.shown(extension, zone)}"
    number = None if current is None else current.version
    return _json(TeamStatus(team.name, team.state, number, text, uploads, live.deadlines()))


def versions_of_team(asked: Asked) -> Response:
    """Answers with the versions of the team, newest first."""
    store, zone = asked.contest.store, asked.contest.settings.zone
    current = versions.current(store, asked.team)

    def state(one: versions.Version) -> str:
        if one.set_aside_at:
            return "set aside"
        return "plays" if current is not None and one.id == current.id else one.status

    return _json(
        [
            TeamVersion(
                each.version,
                state(each),
                times.shown(each.handed_in_at, zone),
                each.reason or each.set_aside_why,
                each.note,
            )
            for each in versions.versions(store, asked.team)
        ]
    )


def games(asked: Asked) -> Response:
    """Answers with the last games of the team, newest first."""
    site, name = asked.contest.live.whole, team_of(asked).bot
    return _json([_game(site.plan, line, name, asked.contest.settings.zone) for line in site.last_games(name)])


def _game(plan: Plan, line: Line, name: str, zone: str) -> TeamGame:
    own = {entry.ident for entry in plan.bots if entry.name == name}
    labels, seat = plan.labels, next(seat for seat, ident in enumerate(line.b) if ident in own)
    rivals = ", ".join(labels.get(ident, ident) for at, ident in enumerate(line.b) if at != seat)
    is_lost = any(rank < line.r[seat] for ident, rank in zip(line.b, line.r, strict=True) if ident not in own)
    file = "" if line.z is None else game_name(line.k)
    return TeamGame(
        file, times.shown(line.at, zone), rivals, seat, line.r[seat], len(line.b), is_lost,
        result_of(plan.game, line, seat),
    )  # fmt: skip


def standard_error(asked: Asked) -> Response:
    """Answers with the report of a version's check, and with its faults in games and their standard error."""
    one = version_of(asked)
    found = asked.contest.live.whole.version(one.bot, one.hash) if one.status == "accepted" else None
    report = [] if one.status == "accepted" else submissions.report_text(asked.contest.store, one).splitlines()
    of_check = [StandardError("", one.reason or one.status, report)] if report else []
    in_games = [
        StandardError(game_name(key), f"{fault.kind}: {fault.detail}", [*fault.words])
        for key, fault in (found.faults if found else ())
    ]
    return _json(of_check + in_games)


def practice_state(asked: Asked) -> Response:
    """Answers with the state of a practice game."""
    found = practice.practice(asked.contest.store, asked.path["game"])
    if found is None or found.team != asked.team:
        raise Denied(404, "your team has no such practice game")
    return _json(PracticeState(found.id, found.status, found.result or found.reason, bool(found.game)))


def day(asked: Asked) -> Response:
    """Answers with the replays of all rated games of the team that ended on a day (UTC), as one zip."""
    asked.contest.rates.check(f"day {asked.team}", 6, 600)
    text = asked.path["day"]
    try:
        begin = datetime.fromisoformat(text).replace(tzinfo=UTC) if DAY.fullmatch(text) else None
        span = None if begin is None else (begin.timestamp(), (begin + timedelta(days=1)).timestamp())
    except (ValueError, OverflowError):
        span = None
    if span is None:
        raise Denied(404, f"{text[:20]}: expected a day such as 2026-11-27")
    if not _packing.acquire(blocking=False):
        raise Denied(429, "the games of other teams are being packed; try again in a minute")
    try:
        return _day(asked, text, *span)
    finally:
        _packing.release()


def _day(asked: Asked, text: str, begin: float, end: float) -> Response:
    site = asked.contest.live.whole
    own = {entry.ident for entry in site.plan.bots if entry.name == team_of(asked).bot}
    target = tempfile.TemporaryFile(dir=asked.contest.store.folder / COMING)  # noqa: SIM115 - `_pieces` closes it
    try:
        with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
            for file, line in reader.every_line(site.folder):
                seat = next((at for at, ident in enumerate(line.b) if ident in own), None)
                if seat is None or line.z is None or not begin <= line.at < end:
                    continue
                content = reader.replay(site.folder, file, line)
                assert content is not None
                archive.writestr(f"{line.k.replace('/', '_')}.jsonl.gz", gzip.compress(published(content, seat), 6))
                if target.tell() > DAY_BYTES:
                    raise Denied(413, f"the games of {text} have more than {DAY_BYTES >> 20} MiB; fetch single ones")
    except BaseException:
        target.close()
        raise
    headers = {
        "content-disposition": f'attachment; filename="games-{text}.zip"',
        "content-length": str(target.seek(0, io.SEEK_END)),
    }
    return StreamingResponse(_pieces(target), media_type="application/zip", headers=headers)


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        file.seek(0)
        while piece := file.read(PIECE_BYTES):
            yield piece
