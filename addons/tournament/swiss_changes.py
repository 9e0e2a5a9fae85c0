"""Changes of a Swiss while it is played: the plan records them, so that played rounds stay as they were paired."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from referee.addons.tournament.formats.swiss import swiss_so_far
from referee.addons.tournament.keys import Keys
from referee.addons.tournament.plan import Entry, Plan
from referee.addons.tournament.store.reader import LedgerResults, read
from referee.harness.common.errors import UsageError


def with_rounds(before: Plan, after: Plan, folder: Path) -> Plan:
    """Returns `after`, in which bots that came or left have the round from which they did: the first without games."""
    was = {entry.ident: entry for entry in before.bots}
    after = after.replaced(bots=tuple(_as_before(entry, was.get(entry.ident)) for entry in after.bots))
    changed = [entry for entry in after.bots if entry.absent == _is_present(was, entry)]
    if after.format != "swiss" or not changed:
        return after
    number = _next_round(before, folder)
    if number == 0:
        return after
    bots = [
        _changed(entry, _is_present(was, entry), number) if entry in changed and not entry.guest else entry
        for entry in after.bots
    ]
    return after.replaced(bots=tuple(bots))


def _as_before(entry: Entry, before: Entry | None) -> Entry:
    if before is None:
        return entry
    predecessor = entry.predecessor or before.predecessor
    return msgspec.structs.replace(entry, changes=before.changes, predecessor=predecessor)


def _is_present(was: Mapping[str, Entry], entry: Entry) -> bool:
    return entry.ident in was and not was[entry.ident].absent


def _changed(entry: Entry, was_present: bool, number: int) -> Entry:
    changes = entry.changes or ((0,) if was_present else ())
    changes = changes[:-1] if changes[-1:] == (number,) else (*changes, number)
    return msgspec.structs.replace(entry, changes=changes)


def _next_round(plan: Plan, folder: Path) -> int:
    """Returns the number, from 0 on, of the first round of which no game was played."""
    results = LedgerResults(Keys(plan), read(folder))
    rounds = swiss_so_far(plan.field, results)
    for number, each in enumerate(rounds):
        if all(results.get(game) is None for game in each.games):
            return number
    return len(rounds)


def with_points_kept(before: Plan, after: Plan) -> Plan:
    """Returns `after`, in which new versions have the places and points of those that they replace.

    Raises UsageError if the plan is no Swiss.
    """
    if after.format != "swiss":
        raise UsageError(f"--keep-points: {after.format} does not pair by points, as a Swiss does; leave it out")
    players = before.field.players_of_bots
    current = {entry.name: place for place, entry in enumerate(before.bots) if not entry.absent and not entry.guest}
    place_of = {entry.ident: place for place, entry in enumerate(before.bots)}
    bots = []
    for entry in after.bots:
        replaced, known = current.get(entry.name), place_of.get(entry.ident)
        is_new = not entry.absent and (known is None or before.bots[known].absent)
        if is_new and replaced is not None and (known is None or players[known] != players[replaced]):
            entry = msgspec.structs.replace(entry, predecessor=before.bots[replaced].ident)
        bots.append(entry)
    return after.replaced(bots=tuple(bots))
