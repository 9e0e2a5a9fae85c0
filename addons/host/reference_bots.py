"""Reference bots: bots of the organiser, which play rated games from the start and have no place in the table."""

from collections.abc import Sequence

import msgspec

from referee.addons.host import teams
from referee.addons.host.store import Store, audit
from referee.addons.tournament.inbox import Enter, Submit, Withdraw, hand_in
from referee.addons.tournament.intake.layouts import same
from referee.addons.tournament.plan import Entry, read_plan
from referee.addons.tournament.store.bot_archives import finding, store
from referee.addons.tournament.store.ledger import PLAN
from referee.harness.common.errors import UsageError
from referee.harness.programs.built_in import check_seats
from referee.harness.programs.entrant import shown_name


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
    if new:
        hand_in(contest.folder, Submit(tuple(new)))
        with contest.writing() as database:
            for entry in new:
                audit(database, "the referee", "reference bot", entry.name, entry.bot)


def set_state(contest: Store, name: str, plays: bool, actor: str, address: str = "") -> None:
    """Withdraws a reference bot, or takes it back. UsageError if there is none of that name."""
    if name not in {entry.name for entry in teams.reference_bots(contest)}:
        raise UsageError(f"{name[:40]}: there is no reference bot of that name")
    hand_in(contest.folder, Enter(back=(name,)) if plays else Withdraw((name,)))
    with contest.writing() as database:
        audit(database, actor, "active" if plays else "withdrawn", name, "reference bot", address)
