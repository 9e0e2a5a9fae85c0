"""Reference bots: bots of the organiser, which play rated games from the start and have no place in the table."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from referee.addons.host import teams
from referee.addons.host.store import Store, audit
from referee.addons.tournament.inbox import Enter, Submit, Withdraw, hand_in
from referee.addons.tournament.intake.layouts import same
from referee.addons.tournament.plan import Entry, read_plan
from referee.addons.tournament.reports import tournament_archive
from referee.addons.tournament.reports.all_stages import all_standings
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.bot_archives import (
    Found,
    archive_path,
    check_travel,
    finding,
    is_archive_of,
    store,
)
from referee.addons.tournament.store.ledger import PLAN
from referee.harness.common.errors import UsageError
from referee.harness.programs.built_in import check_seats
from referee.harness.programs.entrant import shown_name

BEST = 3
"""How many bots of an archive play."""


def enter(contest: Store, specs: Sequence[str]) -> None:
    """Adds bots, named as for a match, to a contest. One that is there already stays as it is, also withdrawn.

    UsageError for a wrong name, and for the name of a team.
    """
    plan = read_plan(contest.folder / PLAN)
    check_seats(specs, plan.game, every_seat=True)
    known = {(entry.name, entry.hash) for entry in plan.bots}
    names = {same(each.name): each.name for each in teams.teams(contest)}
    new: list[Entry] = []
    with finding(specs, plan.game, plan.limits.isolation.readable) as found:
        for spec, each in zip(specs, found, strict=True):
            name = shown_name(each.entry.name)
            if taken := names.get(same(name)):
                raise UsageError(f"--with {spec}: there is {taken!r} already; give the bot another name: --with NAME=…")
            names[same(name)] = name
            if (name, each.entry.hash) not in known:
                store(each, contest.folder)
                new.append(msgspec.structs.replace(each.entry, name=name, reference=True))
    _hand_in(contest, new, [entry.bot for entry in new])


def enter_archive(contest: Store, file: Path, most: int = BEST) -> None:
    """Adds the best bots of an archive of `referee tournament archive`. One that is there already stays as it is.

    UsageError for an archive of another game, for one without bots that can travel, and for a bot whose files are not
    those that its hash says.
    """
    plan = read_plan(contest.folder / PLAN)
    with tournament_archive.opened(file) as whole:
        theirs = read_plan(whole / PLAN)
        if theirs.game != plan.game:
            raise UsageError(f"{file} is of {theirs.game}, and this contest of {plan.game}")
        rows = all_standings(theirs, reader.read(whole, plan=theirs), chances=False).rows
        entries = {entry.ident: entry for entry in theirs.bots}
        best = [entries[row.ident] for row in rows if row.rank]
        best = [entry for entry in best if archive_path(whole, entry).is_file() and not entry.cwd][:most]
        if not best:
            raise UsageError(f"{file} has no bot with files of its own")
        check_travel(best)
        taken = {same(each.bot) for each in teams.teams(contest)}
        known = {(entry.name, entry.hash) for entry in plan.bots}
        new = []
        for each in best:
            name = shown_name(f"{each.name} of {file.stem}")
            if same(name) in taken:
                raise UsageError(f"{file}: there is a team {name!r} already; rename the file")
            if (name, each.hash) not in known:
                _check_files(file, whole, each)
                new.append(Entry(name, "", each.hash, each.bot, each.inside, reference=True))
        for each in new:
            store(Found(each, whole=archive_path(whole, each)), contest.folder)
    _hand_in(contest, new, [file.name] * len(new))


def _check_files(file: Path, whole: Path, entry: Entry) -> None:
    """Raises UsageError for a bot whose files are not those that its hash says: it could replace another one's."""
    path = archive_path(whole, entry)
    name = path.relative_to(whole)
    try:
        if not is_archive_of(entry, path):
            raise UsageError(f"{name} has other content than its name says; get the archive again from its author")
    except UsageError as error:
        raise UsageError(f"{file}: {str(error).replace(f'{whole}/', '')}") from error


def _hand_in(contest: Store, new: Sequence[Entry], sources: Sequence[str]) -> None:
    """`sources`: for each bot, what the audit log says of where it comes from."""
    if new:
        hand_in(contest.folder, Submit(tuple(new)))
        with contest.writing() as database:
            for entry, source in zip(new, sources, strict=True):
                audit(database, "the referee", "reference bot", entry.name, source)


def set_state(contest: Store, name: str, plays: bool, actor: str, address: str = "") -> None:
    """Withdraws a reference bot, or takes it back. UsageError if there is none of that name."""
    if name not in {entry.name for entry in teams.reference_bots(contest)}:
        raise UsageError(f"{name[:40]}: there is no reference bot of that name")
    hand_in(contest.folder, Enter(back=(name,)) if plays else Withdraw((name,)))
    with contest.writing() as database:
        audit(database, actor, "active" if plays else "withdrawn", name, "reference bot", address)
