"""The submissions of teams: where they are kept, and the queue of checks, which `referee host` runs during the games.

A check is that of `referee tournament prepare`: a build in the sandbox, then the basic rules of `referee check`.
"""

import os
import re
import secrets
import shutil
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path, PurePath

import msgspec
import trio
from msgspec import Struct

from referee.addons.host import room, teams, versions
from referee.addons.host.store import Store
from referee.addons.host.versions import TRIES, Quota, Version
from referee.addons.tournament.inbox import Submit, hand_in
from referee.addons.tournament.intake.intake import Intake, Written, checked, report_path
from referee.addons.tournament.intake.layouts import remedy, shown
from referee.addons.tournament.intake.record import REPORTS
from referee.addons.tournament.intake.submissions import Submission
from referee.addons.tournament.plan import Entry, read_plan
from referee.addons.tournament.store.ledger import PLAN
from referee.harness.check.author_report import author_text
from referee.harness.common.errors import RunError, UsageError, writing
from referee.harness.common.known_games import find_game
from referee.harness.common.paths import make_folder
from referee.harness.isolation.removal import remove
from referee.harness.process.core_locks import Beside
from referee.protocol.text import printable

UPLOADS = "uploads"
"""The folder of what teams have uploaded, in the contest's folder."""
COMING = f"{UPLOADS}/.coming"
"""The folder of the web process for temporary files, such as an upload while it comes. A backup leaves it out."""
BEGUN = ".begun"
"""The file next to an upload that the database does not name yet."""
GIT_HOSTS = ("https://github.com", "https://gitlab.com", "https://codeberg.org", "https://bitbucket.org")
"""Where repositories may be. Any other address could be one of the organiser's own network."""
OPTIONS = "check_options"
"""The setting with the options of the check, as JSON."""
FILE_BYTES = 120
"""The most bytes of a file's name."""
NOTE_LETTERS = 200
LOOK_S = 0.25
LOG_BYTES = 256 << 10
"""How much of a build log is shown."""
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,10}$")
COMMIT = re.compile(r"[0-9a-f]{40}|[\w][\w./-]{0,99}")


# Where uploads are kept.


def upload_name(file: str) -> str:
    """Returns the name under which an upload is kept. UsageError for one that can be no submission."""
    base = PurePath(file.replace("\\", "/")).name
    suffix = found[0] if (found := SUFFIX.search(base)) else ""
    stem = shown(base.removesuffix(suffix)).encode()[: FILE_BYTES - len(suffix)].decode(errors="ignore")
    if why := remedy(f"{stem}{suffix}"):
        raise UsageError(why)
    return f"{stem}{suffix}"


def keep(store: Store, one: teams.Person, file: str, content: Path, note: str, quota: Quota) -> Version:
    """Keeps an upload that has come whole, and puts it into the queue. UsageError if that is too much."""
    assert one.team is not None
    name, place = upload_name(file), f"{UPLOADS}/{one.team}/{secrets.token_urlsafe(12)}"
    folder = store.folder / place
    with writing(folder):
        make_folder(folder)
        (folder / BEGUN).touch(0o600)
        with content.open("rb") as whole:
            os.fsync(whole.fileno())
        os.replace(content, folder / name)
        os.chmod(folder / name, 0o600)
    size = (folder / name).stat().st_size
    try:
        kept = versions.hand_in(store, one.team, one.member, name, f"{place}/{name}", tidy(note), size, quota=quota)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    (folder / BEGUN).unlink(missing_ok=True)
    return kept


def tidy(note: str) -> str:
    """Returns the note of a version as one line."""
    return printable(" ".join(note.split()))[:NOTE_LETTERS]


def from_repository(
    store: Store,
    one: teams.Person,
    address: str,
    commit: str,
    note: str,
    quota: Quota,
    hosts: Iterable[str] = GIT_HOSTS,
) -> Version:
    """Puts a commit of a repository into the queue. UsageError for an address that is not allowed."""
    assert one.team is not None
    address, commit = address.strip(), commit.strip()
    if not is_at(address, hosts):
        raise UsageError(f"a repository may be at {', '.join(hosts)}; hand in a zip, or ask the organiser")
    if commit and (not COMMIT.fullmatch(commit) or ".." in commit):
        raise UsageError("expected the 40 digits of a commit, or the name of a branch or tag")
    last = shown(address.rstrip("/").rpartition("/")[2].removesuffix(".git"))
    return versions.hand_in(store, one.team, one.member, last, address, tidy(note), git_commit=commit, quota=quota)


def is_at(address: str, hosts: Iterable[str]) -> bool:
    """Tells whether the address of a repository is at one of the hosts that are allowed."""
    is_plain = address.isprintable() and not re.search(r"[\s@]", address)
    return is_plain and any(address.startswith(f"{host}/") for host in hosts)


def remove_strays(store: Store) -> None:
    """Removes what uploads left that had begun when the web process ended: call it before the next one starts.

    An upload that was kept stays, also if this database does not name it: another one may.
    """
    known = {store.folder / each.path for each in store.rows(_Path, "SELECT path FROM submission")}
    for mark in (store.folder / UPLOADS).glob(f"[!.]*/*/{BEGUN}"):
        if any(file in known for file in mark.parent.iterdir()):
            mark.unlink()
        else:
            shutil.rmtree(mark.parent, ignore_errors=True)
    for path in (store.folder / COMING).glob("*"):
        remove(path) if path.is_dir() else path.unlink()


class _Path(Struct, frozen=True):
    path: str


# Which version plays.


def enter(store: Store, entry: Entry) -> None:
    """Tells the tournament that a version plays."""
    hand_in(store.folder, Submit((entry,)))


def play_again(store: Store, one: Version) -> None:
    """Goes back to an older version, which plays on with the games that it has. UsageError unless it was accepted."""
    if one.status != "accepted":
        raise UsageError(f"version {one.version} was not accepted, so that it cannot play")
    with store.writing() as database:
        versions.set_current(database, one)
    enter(store, one.tournament_entry)


def enter_missing(store: Store) -> int:
    """Enters versions that a kill kept from the tournament's plan. Returns how many."""
    plan, count = read_plan(store.folder / PLAN), 0
    plays = {(entry.name, entry.hash) for entry in plan.bots if not entry.absent}
    for each in versions.playing(store):
        if (each.bot, each.hash) not in plays and each.set_aside_at is None:
            enter(store, each.tournament_entry)
            count += 1
    return count


# The queue.


class Queue:
    """Checks versions, as many at a time as `jobs`. Teams take turns; see `check_queue`."""

    def __init__(
        self,
        store: Store,
        jobs: int,
        write: Written,
        on_decision: Callable[[Version], None] = lambda version: None,
        spare: int = 0,
        git_hosts: Iterable[str] = GIT_HOSTS,
    ) -> None:
        """`write`: writes a check as text for its author. `on_decision`: called with each version that is decided.

        `spare`: cores that games leave to checks.
        """
        self._spare = trio.CapacityLimiter(spare) if spare else None
        self.store, self.write, self.on_decision = store, write, on_decision
        self._git_hosts = tuple(git_hosts)
        self._free = trio.CapacityLimiter(jobs)
        plan = read_plan(store.folder / PLAN)
        options = msgspec.json.decode(store.setting(OPTIONS) or "[]", type=tuple[str, ...])
        seed = secrets.randbits(63)  # the report names it, and the plan's seed is secret
        self._intake = Intake(find_game(plan.game), store.folder, plan.limits, options, seed, jobs=jobs, owner="host")

    async def run(self) -> None:
        """Checks until it is cancelled. Versions whose check that ends are checked again by the next run."""
        self._intake.remove_left()
        make_folder(self.store.folder / REPORTS)
        versions.check_again(self.store)
        enter_missing(self.store)
        async with trio.open_nursery() as nursery:
            while True:
                has_room = not await trio.to_thread.run_sync(room.problem, self.store.folder)
                while has_room and self._free.available_tokens and (one := versions.next_to_check(self.store)):
                    await nursery.start(self._one, one)
                await trio.sleep(LOOK_S)

    async def _one(self, one: Version, task_status: trio.TaskStatus[None]) -> None:
        async with self._free:
            task_status.started()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._end_if_cancelled, one, nursery.cancel_scope)
                await self._decide(one)
                nursery.cancel_scope.cancel()
        if (decided := versions.by_id(self.store, one.id)) is not None and decided.is_decided:
            self.on_decision(decided)

    async def _end_if_cancelled(self, one: Version, check: trio.CancelScope) -> None:
        """Ends a check that the organiser has cancelled."""
        while (now := versions.by_id(self.store, one.id)) is not None and now.status == "checking":
            await trio.sleep(LOOK_S)
        check.cancel()

    async def _decide(self, one: Version) -> None:
        store, team = self.store, teams.team(self.store, one.team)
        assert team is not None
        if "://" in one.path and not is_at(one.path, self._git_hosts):  # as in a restored contest
            why = f"a repository may be at {', '.join(self._git_hosts)}; hand in a zip, or ask the organiser"
            return versions.refuse(store, one, why)
        log = log_file(store, one)
        log.unlink(missing_ok=True)
        try:
            async with self._beside_games() as intake:
                outcome = await checked(intake, submission(store, one, team.bot), None, report(one), self.write, log)
        except RunError as error:
            return self._again(one, str(error))
        if outcome.undecided:
            self._again(one, outcome.reason)
        elif outcome.accepted and outcome.entry is not None:
            entry = outcome.entry
            if versions.accept(store, one, entry):
                await trio.to_thread.run_sync(enter, store, entry)
        else:
            versions.refuse(store, one, outcome.reason)
        return None

    @asynccontextmanager
    async def _beside_games(self) -> AsyncIterator[Intake]:
        """Yields the terms of a check, which gets a core that games leave to checks, unless others have them all."""
        if self._spare is None or not self._spare.available_tokens:
            yield msgspec.structs.replace(self._intake, beside=Beside.GAMES)
        else:
            async with self._spare:
                yield msgspec.structs.replace(self._intake, beside=Beside.SPARE)

    def _again(self, one: Version, why: str) -> None:
        """Lets a version wait for another check, since the machine ended this one; at last gives up."""
        if one.tries + 1 < TRIES:
            versions.check_again(self.store, one)
        else:
            reason = f"not decided, through no fault of the bot: {why}; hand it in again, or ask the organiser"
            versions.refuse(self.store, one, reason)


def submission(store: Store, one: Version, bot: str) -> Submission:
    """Returns a version as the intake takes it."""
    is_git = "://" in one.path
    source = one.path if is_git else str(store.folder / one.path)
    commit = one.git_commit or "HEAD"
    return Submission(bot, source, one.file, one.file, is_named=True, commit=commit, is_strangers=True)


def report(one: Version) -> str:
    """Returns the beginning of the names of a version's files."""
    return f"{one.team}-{one.version}"


def log_file(store: Store, one: Version) -> Path:
    """Returns the file that gets what the build prints."""
    return report_path(store.folder, report(one), "log")


def log_text(store: Store, one: Version) -> str:
    """Returns the build log so far, with the names of files as the team knows them."""
    return _text(log_file(store, one), store, one)


def report_text(store: Store, one: Version) -> str:
    """Returns the report of a check; empty before the end."""
    return _text(report_path(store.folder, report(one), "txt"), store, one)


def _text(path: Path, store: Store, one: Version) -> str:
    try:
        with path.open("rb") as file:
            text = file.read(LOG_BYTES).decode("utf-8", "replace")
    except FileNotFoundError:
        return ""
    text = author_text(text, () if "://" in one.path else (store.folder / one.path,), one.file)
    return "\n".join(map(printable, COLOUR.sub("", text).splitlines()))


def seconds(one: Version) -> float | None:
    """Returns how long the check of a version has taken, or takes."""
    if one.started_at is None:
        return None
    return (one.decided_at or time.time()) - one.started_at
