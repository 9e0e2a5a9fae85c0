"""Changes of a tournament's plan: files in an inbox, applied by the process that has locked the folder.

A command writes its change at once, by renaming a file. A run applies changes between games; if nobody plays, the
command does so itself. Each change is applied exactly once: the plan names those that it has in it, until their files
are gone.
"""

import os
import socket
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

import msgspec
from msgspec import Struct

from referee.addons.tournament.plan import Entry, Plan, read_plan, write_plan
from referee.addons.tournament.plan_changes import entered, keeping_places, set_aside, submitted, withdrawn
from referee.addons.tournament.store.ledger import PLAN, FolderInUse, claimed
from referee.addons.tournament.store.reader import Book, idents_of, read
from referee.addons.tournament.swiss_changes import with_points_kept, with_rounds
from referee.harness.common.errors import UsageError, reason, writing
from referee.harness.common.paths import make_folder, read_limited, replace_file
from referee.protocol.errors import UNDECODABLE

INBOX = "inbox"
"""The folder of changes in a tournament's folder."""


class Enter(Struct, frozen=True, tag="enter"):
    """Bots are added, as by `referee tournament add`. Their archives are in the folder already."""

    entries: tuple[Entry, ...] = ()
    back: tuple[str, ...] = ()
    """The names of withdrawn bots that take part again."""
    keep_points: bool = False
    """New versions have the places and points of those that they replace, in a Swiss."""


class Submit(Struct, frozen=True, tag="submit"):
    """Submissions were accepted: bots are added or replaced."""

    entries: tuple[Entry, ...]
    keep_points: bool = False


class Withdraw(Struct, frozen=True, tag="withdraw"):
    """Bots play no more."""

    names: tuple[str, ...]
    void: bool = False
    """Their games count for nobody."""


class SetAside(Struct, frozen=True, tag="set-aside"):
    """A version plays no more, for example because it fails in every game. A newer one may still come."""

    ident: str
    instead: str = ""
    """The ident of the older version that plays on; empty = none does."""


class Retitle(Struct, frozen=True, tag="title"):
    """The tournament gets another name."""

    title: str


Change = Enter | Submit | Withdraw | SetAside | Retitle
_decode = msgspec.json.Decoder(Change).decode
_numbers = count()

Played = Callable[[], Book]
"""Returns the games that were played."""


def applied(plan: Plan, change: Change, played: Played) -> Plan:
    """Returns the plan with a change. Raises UsageError if that is impossible."""
    match change:
        case Enter(entries, back):
            after = entered(plan, entries, back)
        case Submit(entries):
            after = submitted(plan, entries, idents_of(played().line_ups))
        case Withdraw(names, void):
            after = withdrawn(plan, names, void, lambda: {*played().line_ups})
        case SetAside(ident, instead):
            after = set_aside(plan, ident, instead)
        case Retitle(title):
            after = plan.replaced(title=title)
    if isinstance(change, Enter | Submit) and change.keep_points:
        after = with_points_kept(plan, after)
    return keeping_places(plan, after, played)


def hand_in(folder: Path, change: Change) -> tuple[Plan, bool]:
    """Makes a change. Returns the plan with it, and whether a run that uses the folder has yet to apply it.

    Raises UsageError if it is impossible.
    """
    plan = applied(coming_plan(folder), change, lambda: read(folder))
    with writing(folder):
        make_folder(folder / INBOX)
        name = f"{time.time_ns():020}-{socket.gethostname()}-{os.getpid()}-{next(_numbers)}.json"
        replace_file(folder / INBOX / name, msgspec.json.encode(change))
    return plan, not settle_if_free(folder)


def coming_plan(folder: Path) -> Plan:
    """Returns the plan with the changes that wait, as a run that uses the folder will have it."""
    plan = read_plan(folder / PLAN)
    for _, change in _waiting(folder, plan):
        plan, _ = _tried(plan, change, lambda: read(folder))
    return plan


def settle_if_free(folder: Path) -> bool:
    """Applies what waits, unless a run uses the folder. Returns whether it did.

    A run calls this after it has unlocked the folder. So no change waits for a run that has just ended.
    """
    try:
        with claimed(folder):
            settle(folder, lambda: read(folder))
    except FolderInUse:
        return False
    return True


def settle(folder: Path, played: Played, on_refused: Callable[[str], None] = lambda text: None) -> Plan:
    """Applies all changes that wait in a claimed folder, in their order. Returns the plan.

    `on_refused` is called with a sentence for each change that is no longer possible, which is dropped.
    """
    before = plan = read_plan(folder / PLAN)
    for name in before.applied:  # a stranger's plan may name any file
        (folder / INBOX / os.path.basename(name)).unlink(missing_ok=True)
    names = []
    for name, change in _waiting(folder, before):
        plan, problem = _tried(plan, change, played)
        names.append(name)
        if problem:
            on_refused(problem)
    if names:
        plan = with_rounds(before, plan, folder).replaced(applied=tuple(names))
        write_plan(plan, folder / PLAN)
        for name in names:
            (folder / INBOX / name).unlink(missing_ok=True)
    return plan


def has_changes(folder: Path, plan: Plan) -> bool:
    """Returns whether a change waits. Takes some microseconds."""
    try:
        return any(name.endswith(".json") and name not in plan.applied for name in os.listdir(folder / INBOX))
    except FileNotFoundError:
        return False


def _waiting(folder: Path, plan: Plan) -> list[tuple[str, Change | UsageError]]:
    """Returns the changes that wait, by the name of their file."""
    found: list[tuple[str, Change | UsageError]] = []
    for file in sorted((folder / INBOX).glob("*.json")):
        if file.name not in plan.applied:
            try:
                found.append((file.name, read_change(file)))
            except FileNotFoundError:
                pass  # a run has applied it meanwhile
            except UsageError as error:
                found.append((file.name, error))
    return found


def read_change(file: Path) -> Change:
    """Reads a change. UsageError if it is none, FileNotFoundError if it is gone."""
    try:
        change: Change = _decode(read_limited(file))
        return change
    except FileNotFoundError:
        raise
    except (OSError, *UNDECODABLE) as error:
        raise UsageError(f"{file} is no change of a tournament: {reason(error)}") from error


def _tried(plan: Plan, change: Change | UsageError, played: Played) -> tuple[Plan, str]:
    """Returns the plan with a change, or as it was and why."""
    if isinstance(change, UsageError):
        return plan, str(change)
    try:
        return applied(plan, change, played), ""
    except UsageError as error:
        return plan, f"a change was dropped, because it is no longer possible: {error}"
