"""Checks submissions side by side. Each is one outcome, whatever is in it; nothing in it ends the intake."""

import hashlib
import os
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import trio
from msgspec import Struct

from referee.addons.tournament.intake.fetching import FETCH_S, fetch
from referee.addons.tournament.intake.layouts import same, stem
from referee.addons.tournament.intake.record import REPORTS, Outcome, Record
from referee.addons.tournament.intake.snapshot import copy_file, copy_folder
from referee.addons.tournament.intake.submissions import Submission, check_folder, remove_excluded
from referee.addons.tournament.plan import Entry
from referee.addons.tournament.store.bot_archives import finding, store
from referee.games.contract import FaultKind
from referee.games.game import Game
from referee.harness.check import output
from referee.harness.check.author_report import for_author
from referee.harness.check.checks import not_built, slowed
from referee.harness.check.findings import BASIC_RULES, CheckReport, Level
from referee.harness.check.request import Origin
from referee.harness.common import installed
from referee.harness.common.errors import RunError, UsageError
from referee.harness.common.nurseries import ungrouped
from referee.harness.isolation.removal import remove
from referee.harness.process import core_locks
from referee.harness.process.core_wait import lacked_time
from referee.harness.process.limits import Limits
from referee.harness.programs import archive
from referee.harness.programs.build_cores import CoreLack
from referee.harness.programs.build_process import BuildError
from referee.harness.programs.submitted import complete
from referee.harness.programs.zip_archive import MAX_BYTES, MAX_FILES
from referee.protocol.text import listed

PROGRAM = [sys.executable, "-m", "referee.harness.cli.check_process"]
"""`referee check` that ends with its standard input."""
RULES = (*BASIC_RULES, "exit")
"""The rules that a submission must keep. The whole check plays many games, which would take longer than most builds."""
CHECK_S = 300.0
"""How long a check may take, without its build."""
LOOK_S = 1.0
"""How often to look whether a check has the cores that it could use."""
REASON = 120
"""The most characters of a reason."""
SAVED_SHARE = 20
"""Saving the record takes at most a twentieth of the time, also with thousands of outcomes."""
SUFFIXES = ("txt", "xml")
"""Of an author's reports."""


class Intake(Struct, frozen=True):
    """The terms of an intake."""

    game: Game
    folder: Path
    """The tournament's."""
    limits: Limits
    options: tuple[str, ...]
    """Of the check, as on the command line, without `--game`."""
    seed: int
    rules: tuple[str, ...] = RULES
    """Which rules to try; none = all."""
    jobs: int | None = None
    """Submissions at a time; None = one for every physical core."""
    beside: core_locks.Beside = core_locks.Beside.NOTHING
    """What else the machine does meanwhile."""
    owner: str = "prepare"
    """The command. Only one of it checks submissions of a folder at a time."""

    @property
    def scratch(self) -> str:
        """The beginning of the names of its temporary folders, which no other tournament has."""
        status = self.folder.stat()
        return f"referee-{self.owner}-{status.st_dev:x}-{status.st_ino:x}-"

    def remove_left(self) -> None:
        """Removes the temporary folders of an intake that was killed."""
        for path in Path(tempfile.gettempdir()).glob(f"{self.scratch}*"):
            status = path.lstat()
            if status.st_uid == os.getuid() and stat.S_ISDIR(status.st_mode):
                remove(path)


Written = Callable[[CheckReport, Path], None]
"""Writes the report of a submission for its author."""
Progress = Callable[[str, Outcome, bool], None]
"""Called with a name, its outcome, and whether it was checked now."""


async def take_in(
    intake: Intake, record: Record, submissions: Sequence[Submission], write: Written, progress: Progress
) -> float:
    """Checks the submissions and keeps the record up to date, so that an intake can be killed and run again.

    Returns how long that took, in seconds.
    """
    intake.remove_left()
    limiter, started, next_save = trio.CapacityLimiter(intake.jobs or len(core_locks.physical())), time.monotonic(), 0.0
    reports = _reports(submissions, record)

    async def one(submission: Submission) -> None:
        nonlocal next_save
        async with limiter:
            before = record.outcomes.get(submission.name)
            outcome = await checked(intake, submission, before, reports[submission.name], write)
            record.outcomes[submission.name] = outcome
            if (now := time.monotonic()) >= next_save:
                record.save(intake.folder)
                next_save = time.monotonic() + SAVED_SHARE * (time.monotonic() - now)
            progress(submission.name, outcome, outcome is not before)

    async with trio.open_nursery() as nursery:
        for submission in submissions:
            nursery.start_soon(one, submission)
    place = {each.name: number for number, each in enumerate(submissions)}
    record.outcomes = dict(sorted(record.outcomes.items(), key=lambda item: place.get(item[0], -1)))
    record.save(intake.folder)
    return time.monotonic() - started


def _reports(submissions: Sequence[Submission], record: Record) -> dict[str, str]:
    """Returns the beginning of the names of each submission's reports. It stays the same from intake to intake."""
    kept = {name: outcome.report or name for name, outcome in record.outcomes.items()}
    taken = {same(each) for each in kept.values()}
    names = dict.fromkeys(each.name for each in submissions)
    return {name: kept.get(name) or stem(name, taken) for name in names}


def with_known_names(submissions: Sequence[Submission], record: Record) -> list[Submission]:
    """Gives submissions the names that the record has for them, unless the organiser names them.

    Other rules for names, or a second person of the same name, make no new bot of one that has games.
    """
    sources = {outcome.source: name for name, outcome in record.outcomes.items()}
    spelt = {same(name): name for name in record.outcomes}
    names = {same(each.name) for each in submissions}

    def name(each: Submission) -> str:
        if each.is_named or same(each.name) in spelt:
            return each.name if each.is_named else spelt[same(each.name)]
        before = sources.get(recorded(each), each.name)
        return each.name if same(before) in names else before

    return [msgspec.structs.replace(each, name=name(each)) for each in submissions]


def recorded(submission: Submission) -> str:
    """Returns a submission's source as text that JSON can hold."""
    return os.fsencode(submission.source).decode("utf-8", "replace")


async def checked(
    intake: Intake,
    submission: Submission,
    before: Outcome | None,
    report_name: str,
    write: Written,
    log: Path | None = None,
) -> Outcome:
    """Returns the outcome of a submission. An unchanged one keeps its outcome.

    `log`: a file that gets what the build prints, as it comes.
    """
    key, why = "", ""
    txt, xml = (report_path(intake.folder, report_name, suffix) for suffix in SUFFIXES)
    with tempfile.TemporaryDirectory(prefix=intake.scratch) as scratch:
        started = time.monotonic()
        try:
            path = await _fetched(submission, Path(scratch), min(FETCH_S, intake.limits.build_s))
            key = await trio.to_thread.run_sync(_key, intake, submission, path)
            if before is not None and before.key == key and txt.is_file():
                return before
            report = await _check(intake, submission, path, log)
            entry = await trio.to_thread.run_sync(_stored, intake, submission, path) if report.passed else None
        except (UsageError, RunError, OSError, ValueError, RecursionError) as error:
            why = _duplicates(submission) if submission.duplicates else ""
            report, entry = _refusal(intake, submission, str(error), time.monotonic() - started), None
    output.write(xml, output.junit(report))
    write(report, txt)
    return Outcome(
        recorded(submission),
        entry is not None,
        "" if entry is not None else why or reason(report, submission),
        "" if report.undecided else key,  # the next intake tries it again
        entry or (before.entry if before is not None else None),
        submission.place,
        "" if report_name == submission.name else report_name,
        report.undecided,
    )


def _duplicates(submission: Submission) -> str:
    """Returns what the organiser reads about submissions of one name."""
    named = listed(submission.duplicates)
    if submission.is_part:
        return (
            f"{named} are loose files; a bot of several files is one zip with a bot.toml; if they are versions of one "
            "file, take the newest with --newest"
        )
    return f"{named} have one name; rename one of them, or take the newest with --newest"


async def _fetched(submission: Submission, scratch: Path, fetch_s: float) -> Path:
    """Returns the path of a submission's file or folder. UsageError if there is none, or the folder is too large."""
    if submission.duplicates:
        count = len(submission.duplicates)
        if submission.is_part:
            raise UsageError(f"there are {count} loose files; hand in one zip with a bot.toml, or a single source file")
        raise UsageError(f"there are {count} submissions of this name; hand in one zip")
    if submission.remedy:
        raise UsageError(submission.remedy)
    if submission.is_entry:
        raise UsageError("is a bot of yours, not a submission; enter it by `referee tournament add FOLDER BOT`")
    path = Path(submission.source)
    if submission.is_git:
        path = scratch / submission.name
        commit, is_strangers = submission.commit, submission.is_strangers
        await fetch(submission.source, path, MAX_BYTES, MAX_FILES, fetch_s, commit, is_strangers)
    if not path.exists():
        raise UsageError(f"there is no file or folder {submission.place}")
    return await trio.to_thread.run_sync(_copied, submission, path, scratch)


def _copied(submission: Submission, path: Path, scratch: Path) -> Path:
    """Returns a copy that nobody changes meanwhile, without what the bot's archive will not hold.

    A single file gets a folder of its own, where it sees and imports no other team's files.
    """
    name, copy = submission.name, scratch / "copy" / path.name
    if path.is_dir():
        check_folder(path, name, MAX_BYTES, MAX_FILES)  # before much is copied
        copy_folder(path, copy, name, MAX_BYTES, MAX_FILES)
        check_folder(copy, name, MAX_BYTES, MAX_FILES)
        remove_excluded(copy, name)
        complete(copy, copy)
        return copy
    if not path.is_file():
        raise UsageError("is a link or no ordinary file; hand in the file itself")
    if path.suffix.lower() == ".tar":
        return path  # an image, which its id identifies
    copy.parent.mkdir()
    copy_file(path, copy, MAX_BYTES)
    complete(copy.parent, copy)
    return copy


def _key(intake: Intake, submission: Submission, path: Path) -> str:
    content = archive.read(path).identity if path.is_dir() else archive.sha256(path)
    game = intake.game.name, str(intake.game.version), intake.game.sha256
    parts = [installed.version(), *game, *intake.options, *intake.rules, submission.name, content]
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


async def _check(intake: Intake, submission: Submission, path: Path, log: Path | None) -> CheckReport:
    """Runs `referee check` in a process of its own. Its failure is a refusal like any other."""
    command = [*PROGRAM, intake.beside, submission.spec(path), "--game", intake.game.name, *intake.options, "--json"]
    command += [] if log is None else ["--log", str(log)]
    command += ["--seed", str(intake.seed), *(word for rule in intake.rules for word in ("--only", rule))]
    started, lack = time.monotonic(), CoreLack(from_root=True)
    done = await _ended(command, CHECK_S + intake.limits.build_s, lack)
    spent_s = time.monotonic() - started
    if done is None:
        why = f"the check did not end within {spent_s:.0f} s"
        if not lacked_time(spent_s, lack.lacked_s):
            return _refusal(intake, submission, why, spent_s)
        why += f", but no core was free for {lack.lacked_s:.0f} s of these"
        source = Path(submission.source)
        report = slowed(intake.game, intake.seed, submission.name, why, Origin(submission.source, source), spent_s)
        return for_author(report, (source,), submission.file)
    try:
        report = msgspec.json.decode(done.stdout, type=CheckReport)
    except msgspec.DecodeError:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        why = lines[-1] if lines else f"exit code {done.returncode}"
        return _refusal(intake, submission, f"it cannot be checked on this machine: {why}", spent_s)
    return for_author(report, (path, Path(submission.source)), submission.file)


async def _ended(command: Sequence[str], most_s: float, lack: CoreLack) -> subprocess.CompletedProcess[bytes] | None:
    """Returns how a program ended that also ends with its standard input; None if its time ran out."""
    done, (ours, alive) = None, os.pipe()

    async def run(task_status: trio.TaskStatus[trio.Process]) -> None:
        nonlocal done
        done = await trio.run_process(
            command, stdin=ours, capture_stdout=True, capture_stderr=True, check=False, task_status=task_status
        )
        nursery.cancel_scope.cancel()

    try:
        with ungrouped():
            async with trio.open_nursery() as nursery:
                process = await nursery.start(run)
                with trio.move_on_after(most_s):
                    while True:
                        lack.look(process.pid)
                        await trio.sleep(LOOK_S)
                nursery.cancel_scope.cancel()
    finally:
        os.close(ours)
        os.close(alive)  # so does a kill of this process
    return done


def _refusal(intake: Intake, submission: Submission, why: str, spent_s: float) -> CheckReport:
    """Returns the report of a submission that could not be checked."""
    origin = Origin(submission.source, Path(submission.source))
    report = not_built(intake.game, intake.seed, submission.name, BuildError(submission.name, why), origin, spent_s)
    return for_author(report, (Path(submission.source),), submission.file)


def _stored(intake: Intake, submission: Submission, path: Path) -> Entry:
    """Puts the archive of an accepted submission into the tournament's folder."""
    with finding([submission.spec(path)], intake.game.name) as (found,):
        store(found, intake.folder)
        return found.entry


def reason(report: CheckReport, submission: Submission) -> str:
    """Returns in one line why a submission is refused, without its path on this machine."""
    errors = (finding for check in report.checks for finding in check.findings if finding.level is Level.ERROR)
    first = next(errors, None)
    if first is None:
        return report.verdict
    text = first.text.removeprefix(f"{submission.source}: ")
    if not submission.is_git:
        text = text.replace(submission.source, submission.name)
    if f"{FaultKind.CRASH}: " in text and first.last_words:
        text += f": {first.last_words[-1]}"  # such as a module that is not there
    line = " ".join(text.split())
    return line if len(line) <= REASON else f"{line[: REASON - 1]}…"


def report_path(folder: Path, name: str, suffix: str) -> Path:
    """Returns the place of a submission's report."""
    return folder / REPORTS / f"{name}.{suffix}"
