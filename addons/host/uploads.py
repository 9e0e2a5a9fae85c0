"""Receives a version: a form with a file, which is written to disk as it comes, or with a repository's address."""

import asyncio
import os
import secrets
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from referee.addons.host import check_queue, room, submissions, switches, teams, versions
from referee.addons.host.access import (
    Access,
    Contest,
    Denied,
    check_access,
    check_origin,
    client_address,
    identified,
    problem,
    see,
)
from referee.addons.host.store import audit
from referee.addons.host.submissions import COMING
from referee.addons.host.teams import Person
from referee.addons.host.versions import Quota, Version
from referee.harness.common.errors import RunError, UsageError, writing

PIECE_BYTES = 1 << 18
UPLOAD_S = 900.0
HEAD_BYTES = 64 << 10
"""The most bytes of a form, without the file."""


class Shown(Struct, frozen=True):
    """A version as `referee submit` and the page's script follow it."""

    version: int
    status: str
    reason: str
    before: int
    """How many versions are checked before it, or now."""
    text: str
    """The status in a line: what it waits for, and for about how long."""
    log: str


def shown(contest: Contest, one: Version) -> Shown:
    """Returns what became of a version so far."""
    before, text = 0, one.status
    if not one.is_decided:
        before, text = check_queue.place(contest.store, one.id, contest.settings.checks)
    return Shown(one.version, one.status, one.reason, before, text, submissions.log_text(contest.store, one))


async def receive(request: Request, contest: Contest, access: Access = Access.SUBMITTER) -> Response:
    """Answers the form: keeps the file, and puts the version into the queue. An organiser hands in for any team."""
    try:
        address = client_address(request, contest.settings)
        person, _ = await run_in_threadpool(identified, request, contest)
        check_access(access, person, address, contest.settings)
        check_origin(request, person)
        assert person is not None
        organiser = person if person.is_organiser else None
        if organiser is not None:
            person = await run_in_threadpool(_for_team, contest, organiser, request.path_params["team"])
        assert person.team is not None
        contest.rates.check(f"upload {person.team}", 30, 300)
        under_way = contest.uploading[person.team]
        if under_way >= contest.settings.quota.waiting:
            raise Denied(429, f"{under_way} uploads of your team are under way; wait until one has come")
        contest.uploading[person.team] += 1
        try:
            one = await _received(request, contest, person, organiser)
        finally:
            contest.uploading[person.team] -= 1
    except Denied as denied:
        return problem(contest, denied.status, str(denied), request)
    except (UsageError, MultiPartException) as error:
        return problem(contest, 400, str(error), request)
    except RunError as error:
        return problem(contest, 503, str(error), request)
    except ClientDisconnect:
        return Response(status_code=400)
    if person.is_program:
        return Response(msgspec.json.encode(shown(contest, one)), 201, media_type="application/json")
    if organiser is not None:
        await run_in_threadpool(_audit, contest, organiser, one, address)
        return see(f"/organiser/teams/{one.team}/versions/{one.version}")
    return see(f"/team/versions/{one.version}")


def _for_team(contest: Contest, organiser: Person, number: int) -> Person:
    """Returns an organiser as one who hands in for a team. Raises Denied if there is none of that number."""
    if teams.team(contest.store, number) is None:
        raise Denied(404, "there is no such team")
    return msgspec.structs.replace(organiser, team=number)


def _audit(contest: Contest, organiser: Person, one: Version, address: str) -> None:
    team = teams.team(contest.store, one.team)
    with contest.store.writing() as database:
        name = team.name if team else str(one.team)
        audit(database, organiser.actor, "hand in", f"{name} version {one.version}", one.file, address)


async def _received(request: Request, contest: Contest, person: Person, organiser: Person | None) -> Version:
    quota = contest.settings.quota if organiser is None else contest.settings.quota.unlimited
    await run_in_threadpool(_check, contest, person.team or 0, quota, organiser)
    length = request.headers.get("content-length", "0")
    if len(length) > 15 or int(length) > quota.bytes + HEAD_BYTES:
        raise Denied(413, f"the upload is too large; {quota.bytes >> 20} MiB are allowed")
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise Denied(415, "expected a form with a file: multipart/form-data")
    parser = MultiPartParser(
        request.headers,
        _limited(request, quota.bytes + HEAD_BYTES),
        max_files=1,
        max_fields=8,
        max_part_size=HEAD_BYTES,
    )
    try:
        async with asyncio.timeout(UPLOAD_S):
            form = await parser.parse()
    except TimeoutError:
        raise Denied(408, f"the upload did not come within {UPLOAD_S / 60:.0f} minutes") from None
    try:
        file = form.get("file")
        fields = {name: str(value) for name, value in form.items() if isinstance(value, str)}
        note = fields.get("note", "")
        await run_in_threadpool(_check, contest, person.team or 0, quota, organiser)  # uploads may have closed since
        if isinstance(file, UploadFile) and file.filename:
            part = await run_in_threadpool(_copied, contest, file)
            try:
                return await run_in_threadpool(
                    submissions.keep, contest.store, person, file.filename, part, note, quota
                )
            finally:
                part.unlink(missing_ok=True)
        repository, commit = fields.get("repository", ""), fields.get("commit", "")
        if not repository.strip():
            raise UsageError("choose a file, or type the address of a repository")
        return await run_in_threadpool(
            submissions.from_repository,
            contest.store,
            person,
            repository,
            commit,
            note,
            quota,
            contest.settings.git_hosts,
        )
    finally:
        await form.close()


def _check(contest: Contest, team: int, quota: Quota, organiser: Person | None) -> None:
    if room.problem(contest.store.folder):
        raise RunError("the contest's disk is nearly full; tell the organiser, and try again later")
    if organiser is None and not switches.may_hand_in(contest.store, team):
        raise UsageError("uploads are closed")
    versions.check_quota(contest.store, team, quota)


async def _limited(request: Request, most: int) -> AsyncGenerator[bytes, None]:
    size = 0
    async for piece in request.stream():
        size += len(piece)
        if size > most:
            raise Denied(413, f"the upload is too large; {most >> 20} MiB are allowed")
        yield piece


def _copied(contest: Contest, file: UploadFile) -> Path:
    """Writes an upload, which lies in a temporary file without a name, to one that can be moved where it is kept."""
    part = contest.store.folder / COMING / secrets.token_urlsafe(32)
    source: Any = file.file
    with writing(part.parent), part.open("xb") as target:
        source.seek(0)
        while piece := source.read(PIECE_BYTES):
            target.write(piece)
        target.flush()
        os.fsync(target.fileno())
    return part
