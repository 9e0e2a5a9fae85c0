"""Makes a contest's folder of a backup, which may be a stranger's.

Without the user's trust, nothing in it starts a program of this machine, fetches an address, or weakens isolation.
"""

import os
import re
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from unicodedata import category

import msgspec

from referee.addons.host import finals
from referee.addons.host.finals import FACTS, FINALS, SECRET
from referee.addons.host.orders import PRACTICE
from referee.addons.host.restored_database import ADVICE, LimitsOf, check_limits, copied
from referee.addons.host.store import FILE, Store
from referee.addons.host.submissions import UPLOADS
from referee.addons.tournament.inbox import INBOX, Enter, Submit, read_change
from referee.addons.tournament.intake.record import REPORTS
from referee.addons.tournament.plan import Plan, read_plan
from referee.addons.tournament.store.bot_archives import check_travel
from referee.addons.tournament.store.ledger import BOTS, LINES, PACKS, PLAN, RULES
from referee.harness.common.errors import RunError, UsageError, reason, writing
from referee.harness.common.kept_rules import kept_rules
from referee.harness.common.known_games import find_game
from referee.harness.common.paths import make_folder, open_file, opener
from referee.harness.isolation.plan import Isolation
from referee.harness.isolation.removal import remove
from referee.harness.programs.tar_stream import BROKEN, Refused, TarStream

MOST_FILES = 2_000_000
MOST_BYTES = 4 << 40
LONGEST_PATH = 400
DEEPEST = 8
"""Most folders around a file."""
LONGEST_S = 3600.0
"""The longest time limit of bots."""
HASH = "[0-9a-f]{64}"
ARCHIVES = rf"{BOTS}/{HASH}\.(zip|tar)|{RULES}/{HASH}\.zip"
TOURNAMENT = rf"{PLAN}|{INBOX}/[^/]+\.json|{ARCHIVES}|{LINES}/[^/]+\.jsonl|{PACKS}/[^/]+\.gz"
FINAL = rf"{FINALS}/[^/]+/"
FILES = re.compile(
    rf"{FILE}|{SECRET}|({FINAL})?({TOURNAMENT})|{FINAL}{FACTS}|{UPLOADS}/.+|{REPORTS}/[^/]+|{PRACTICE}/[^/]+"
)
"""The files of a contest."""


def restore(
    file: Path,
    cup: Path,
    limits_of: LimitsOf,
    trust: bool = False,
    on_note: Callable[[str], None] = lambda text: None,
) -> int:
    """Makes a contest's folder of a backup, at once or not at all. Returns the number of its files.

    UsageError for a folder that has something in it, and for a file that is no backup. So is a contest whose bots could
    do more than its own referee allows by default, unless the user trusts it (`trust`). Without trust, what could start
    a program or reach an address is left out, and files of no contest. `on_note` gets a line about each of these.
    `limits_of`: returns the limits that options of `referee check` set.
    """
    if cup.exists() and (not cup.is_dir() or any(cup.iterdir())):
        raise UsageError(f"{cup} is there already; expected a new folder, or an empty one")
    with writing(cup):
        cup.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".{cup.name}-", dir=cup.parent))
    try:
        with writing(cup):
            files, notes = _unpack(file, scratch, trust)
            try:
                notes += _checked(scratch, trust, limits_of)
            except (UsageError, RunError) as error:
                raise UsageError(f"{file}: {str(error).replace(f'{scratch}/', '')}") from error
            for line in notes:
                on_note(line)
            if cup.is_dir():
                cup.rmdir()
            scratch.rename(cup)
    finally:
        remove(scratch)
    Store(cup).close()  # of an earlier version: brought to the newest
    return files


# The archive.


def _unpack(file: Path, to: Path, trust: bool) -> tuple[int, list[str]]:
    """Unpacks ordinary files only, to paths below `to` only. Returns their number, and lines about others."""
    count, notes = 0, []
    try:
        with open_file(file) as source:
            stream = TarStream(source, MOST_BYTES)
            for member in stream.entries():  # `extractall` reads headers of any length into memory, and replaces files
                count += 1
                if count > MOST_FILES:
                    raise Refused(f"it has more than {MOST_FILES:,} files")
                name = _checked_name(tarfile.data_filter(member, str(to)), member.name)
                if trust or FILES.fullmatch(name):
                    _write(stream, member, to / name)
                else:
                    notes.append(f"left out {name}: it is no file of a contest")
    except Refused as error:
        raise UsageError(f"{file} is no backup of a contest: {error}") from error
    except OSError as error:
        raise RunError(f"{file}: {reason(error)}") from error
    except BROKEN as error:
        raise UsageError(f"{file} is no backup of a contest, or damaged: {error}") from error
    if not (to / FILE).is_file() or not (to / PLAN).is_file():
        raise UsageError(f"{file} is no backup of a contest: expected {PLAN} and {FILE} in it")
    return count - len(notes), notes


def _checked_name(member: tarfile.TarInfo, name: str) -> str:
    path = PurePosixPath(name)
    if not member.isreg() or member.issparse():
        raise Refused(f"{name[:80]!r} is no ordinary file")
    plain = (
        "\\" not in name
        and not any(category(letter) in ("Cc", "Cs") for letter in name)
        and len(name.encode("utf-8", "surrogateescape")) <= LONGEST_PATH
    )
    if not plain or path.is_absolute() or not path.parts or ".." in path.parts or len(path.parts) > DEEPEST:
        raise Refused(f"{name[:80]!r} is no path of a contest's folder")
    if any(part.startswith(".") for part in path.parts):
        raise Refused(f"{name[:80]!r} is a hidden file")
    return str(path)


def _write(stream: TarStream, member: tarfile.TarInfo, to: Path) -> None:
    try:
        make_folder(to.parent)
        os.close(opener(to, os.O_CREAT | os.O_EXCL))
    except (FileExistsError, NotADirectoryError) as error:
        raise Refused(f"{member.name!r} is in it twice, or below a file") from error
    with to.open("wb") as target:
        stream.copy(member, target)
    to.chmod(0o600 | member.mode & 0o100)


# What it names.


def _checked(cup: Path, trust: bool, limits_of: LimitsOf) -> list[str]:
    """Returns lines about what was left out.

    UsageError for what no contest writes and, without trust, for isolation that is weaker than the default and for
    limits that are much wider.
    """
    new = cup / f".{FILE}.new"
    os.close(opener(new, os.O_CREAT))
    notes = copied(cup / FILE, new, trust, limits_of)
    new.replace(cup / FILE)
    for tournament in (cup, *sorted(path.parent for path in cup.glob(f"{FINALS}/*/{PLAN}"))):
        plan = _plan(tournament / PLAN)
        if not trust:
            _check_plan(str((tournament / PLAN).relative_to(cup)), plan)
            notes += _without_programs(tournament / INBOX, cup)
            if tournament == cup and plan.limits.build_network:
                notes.append(f"builds may use this machine's network: {PLAN} has build_network = true")
    finals.finals(cup)
    return notes


def _plan(path: Path) -> Plan:
    try:
        return read_plan(path)
    except (RunError, UsageError, OSError, ValueError) as error:
        raise UsageError(f"its {PLAN} cannot be used: {error}") from error


def _check_plan(name: str, plan: Plan) -> None:
    """Refuses command lines of this machine, rules that are not installed, weaker isolation, and wide limits."""
    try:
        check_travel(plan.bots)
    except UsageError as error:
        raise UsageError(f"{name}: {error}; {ADVICE}") from error
    if plan.rules and not kept_rules().is_installed(plan.game, plan.rules):
        install = "install it with `referee games install FOLDER` from where you trust"
        raise UsageError(f"{name} has a game whose rules are a program, {plan.game}; {install}, or {ADVICE}")
    given = plan.limits.isolation
    if given.mode == "off" or msgspec.structs.replace(given, mode="auto", required=()) != Isolation():
        raise UsageError(f"{name} turns isolation off, or shows bots more files than the default; {ADVICE}")
    check_limits(name, plan.limits)
    _check_time(name, plan)
    if plan.openings is not None or any(entry.cwd for entry in plan.bots):
        raise UsageError(f"{name} names files of this machine; {ADVICE}")


def _check_time(name: str, plan: Plan) -> None:
    """Refuses calls that may take very long: a bot could keep a core for itself."""
    time, default = plan.time, find_game(plan.game).time
    seconds = [each for each in msgspec.structs.astuple(time) if isinstance(each, float)]
    is_bounded = (time.initial_s, time.per_call_s, time.match_s) != (None, None, None)
    if time != default and (not is_bounded or max(seconds) > LONGEST_S):
        raise UsageError(f"{name} gives its bots no time limit, or one of more than {LONGEST_S:g} s; {ADVICE}")


def _without_programs(inbox: Path, cup: Path) -> Iterator[str]:
    """Removes changes that would add another bot than a team's submission. Yields what it was."""
    for file in sorted(inbox.glob("*")):
        try:
            change = read_change(file)
            if isinstance(change, Enter | Submit):
                check_travel(change.entries)
                if any(entry.cwd for entry in change.entries):
                    raise UsageError("a bot starts in a folder of this machine")
        except (OSError, UsageError) as error:
            with suppress(FileNotFoundError):
                os.unlink(file)
            yield f"left out {file.relative_to(cup)}: {str(error).replace(f'{cup}/', '')}"
