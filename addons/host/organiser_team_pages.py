"""The organiser's pages of a team: its versions with their reports, faults, standard error and source.

The organiser ends a check, and lets one team hand in after uploads have closed.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct
from starlette.responses import FileResponse, Response

from referee.addons.host import submissions, switches, teams, versions
from referee.addons.host.access import Asked, Denied, see
from referee.addons.host.live import ALL_SEATS
from referee.addons.host.public_pages import shown_game, shown_replay
from referee.addons.host.team_pages import rendered_version
from referee.addons.host.teams import Team
from referee.addons.host.times import typed_time
from referee.addons.host.versions import Version
from referee.addons.tournament.store.bot_archives import archive_path
from referee.harness.common.errors import UsageError
from referee.harness.programs import zip_archive
from referee.protocol.text import printable

SHOWN_FILES = 200
"""The most files of a version that its page shows."""
SHOWN_BYTES = 64 << 10
"""The most bytes of a file that its page shows."""


class SourceFile(Struct, frozen=True):
    """A file of a version, as the page shows it."""

    path: str
    size: int
    text: str
    """Empty if it is no text."""
    is_cut: bool = False


def team_of(asked: Asked) -> Team:
    """Returns the team that the path names. Raises Denied if there is none."""
    found = teams.team(asked.contest.store, asked.path["team"])
    if found is None:
        raise Denied(404, "there is no such team")
    return found


def _version(asked: Asked) -> Version:
    found = versions.version(asked.contest.store, team_of(asked).id, asked.path["version"])
    if found is None:
        raise Denied(404, "this team has no such version")
    return found


def team_page(asked: Asked) -> Response:
    """Answers with a team: its members, its versions, and what the organiser does for it."""
    store, team = asked.contest.store, team_of(asked)
    return asked.contest.render(
        "organiser_team.html",
        title=team.name,
        team=team,
        members=teams.members(store, team.id),
        versions=versions.versions(store, team.id),
        current=versions.current(store, team.id),
        extension=switches.extension(store, team.id),
        uploads=switches.setting_of(store, "uploads"),
        zone=asked.contest.settings.zone,
    )


def version_page(asked: Asked) -> Response:
    """Answers with a version, as its team sees it."""
    one = _version(asked)
    return rendered_version(asked, team_of(asked), one, f"/organiser/teams/{one.team}")


def extend(asked: Asked) -> Response:
    """Lets one team hand in until a time, also while uploads are closed. Without a time, that ends."""
    team = team_of(asked)
    until = typed_time(asked.text("until"), asked.contest.settings.zone)
    switches.extend(asked.contest.store, team.id, team.name, until, asked.who.actor, asked.address)
    return see(f"/organiser/teams/{team.id}")


def cancel_check(asked: Asked) -> Response:
    """Ends the check of a version, which then counts as refused."""
    if not versions.cancel(asked.contest.store, asked.path["submission"], asked.who.actor, asked.address):
        raise Denied(404, "no version of that number waits for its check or is being checked")
    return see("/organiser")


# Source.


def source_page(asked: Asked) -> Response:
    """Answers with the files of a version as text."""
    one, notes = _version(asked), []
    files: list[SourceFile] = []
    path = _file(asked, one)
    try:
        if path is None:
            notes.append("Its file is not here: it came from a repository and was not accepted, or it is gone.")
        else:
            files = _files(path, asked.contest.store.folder / submissions.COMING)
    except UsageError as error:
        notes.append(str(error).replace(str(path), one.file))
    if len(files) > SHOWN_FILES:
        notes.append(f"It has {len(files):,} files; the first {SHOWN_FILES} are here.")
    return asked.contest.render(
        "source.html", title=f"Source of {team_of(asked).name}, version {one.version}", one=one, notes=notes,
        files=files[:SHOWN_FILES], has_file=path is not None,
    )  # fmt: skip


def source_file(asked: Asked) -> Response:
    """Answers with the file of a version as it was handed in. No browser shows or runs it."""
    one = _version(asked)
    path = _file(asked, one)
    if path is None:
        raise Denied(404, "this version came from a repository, and it was not accepted")
    return FileResponse(path, media_type="application/octet-stream", filename=f"{one.team}-{one.version}{path.suffix}")


def _file(asked: Asked, one: Version) -> Path | None:
    """Returns the file that a team has uploaded, or the archive of an accepted commit."""
    folder = asked.contest.store.folder
    if "://" not in one.path:
        path = folder / one.path
    elif one.entry:
        path = archive_path(folder, one.tournament_entry)
    else:
        return None
    return path if path.is_file() and not path.is_symlink() else None


def _files(path: Path, scratch: Path) -> list[SourceFile]:
    """Reads a version. UsageError for an archive that cannot be unpacked."""
    if not zip_archive.is_zip(path):
        return [_read(path, path.name)]
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        zip_archive.extract(path, Path(folder), zip_archive.MAX_BYTES, zip_archive.MAX_FILES)
        return [*_of_folder(Path(folder))]


def _of_folder(folder: Path) -> Iterator[SourceFile]:
    for number, path in enumerate(sorted(each for each in folder.rglob("*") if each.is_file())):
        name = path.relative_to(folder).as_posix()
        yield _read(path, name) if number < SHOWN_FILES else SourceFile(name, 0, "")


def _read(path: Path, name: str) -> SourceFile:
    size = path.stat().st_size
    with path.open("rb") as file:
        content = file.read(SHOWN_BYTES)
    text = "" if b"\0" in content else content.decode("utf-8", "replace")
    lines = (printable(line.expandtabs(4)) for line in text.splitlines())
    return SourceFile(printable(name), size, "\n".join(lines), size > SHOWN_BYTES)


# Games.


def game_page(asked: Asked) -> Response:
    """Answers with a game in the viewer, with the standard error of all bots."""
    return shown_game(asked, asked.contest.live.whole, ALL_SEATS)


def game_replay(asked: Asked) -> Response:
    """Answers with the replay of a game as it is kept."""
    return shown_replay(asked, asked.contest.live.whole, ALL_SEATS)
