"""Going on with a tournament: more of the same may be asked for, and whatever else differs makes it another one."""

import math
from collections.abc import Iterator
from pathlib import Path

import msgspec

from referee.harness.errors import UsageError
from referee.harness.tournament.formats.schedules import NO_FURTHER, Seating, swiss_rounds, wins_of_series
from referee.harness.tournament.model import Entry, Plan, deciding, find_game

OWN = "the format's own"
SHOWN = 60
"""So many characters of a value are told."""
BY_ORDER = frozenset({"gauntlet", "play-all", "groups"})
"""Formats in which it counts who was named first."""


def continued(before: Plan, requested: Plan, folder: Path, fewer: bool = False) -> Plan:
    """The plan to go on with: the one that was there, with more games, rounds of a Swiss or bots where they are asked
    for, and with the requested limits. `fewer`: less games may be asked for too. UsageError names everything else that
    differs, in one line: limits too, where they can change a game's outcome."""
    absent = {entry.ident for entry in before.bots if entry.absent}
    requested = requested.replaced(
        bots=tuple(entry if entry.ident not in absent else _stayed_away(entry) for entry in requested.bots)
    )
    differing = list(_differing(before, requested, fewer))
    if differing:
        whats = ", and ".join(f"whose {what}" for what in differing)
        raise UsageError(f"{folder} holds a tournament {whats}; another one needs a folder")
    bots = _bots(before, requested, folder)
    return before.replaced(bots=bots, games=requested.games, rounds=requested.rounds, limits=requested.limits)


def _differing(before: Plan, requested: Plan, fewer: bool) -> Iterator[str]:
    """Each as `seed is 3, not 4`."""
    for name in ("game", "format"):
        if getattr(before, name) != getattr(requested, name):
            yield f"{name} is {getattr(before, name)}, not {getattr(requested, name)}"
            return  # in another game or format all other settings mean something else
    for name in ("seed", "seating"):
        if getattr(before, name) != getattr(requested, name):
            yield f"{name} is {getattr(before, name)}, not {getattr(requested, name)}"
    wins = [wins_of_series(before.games, plan.first_to) for plan in (before, requested)]
    if before.first_to != requested.first_to and wins[0] != wins[1]:
        yield f"first_to is {wins[0]}, not {wins[1]}"
    # A ladder without end has the most games.
    if not fewer and (requested.games or math.inf) < (before.games or math.inf):
        yield f"games are {before.games or 'without end'}, not {requested.games}"
    if before.format == "swiss":
        there = sum(not entry.absent for entry in requested.bots)
        was, now = (swiss_rounds(there, plan.rounds) for plan in (before, requested))
        if now < was:
            yield f"rounds are {was}, not {now}"
    elif before.rounds != requested.rounds:  # at four seats: other tables
        yield f"rounds are {before.rounds or OWN}, not {requested.rounds or OWN}"
    present = {entry.ident for entry in before.bots if not entry.absent}
    for entry in requested.bots:
        if entry.absent and entry.ident in present:
            yield f"{entry.name} is there, not absent"
    yield from _conditions(before, requested)


def _stayed_away(entry: Entry) -> Entry:
    """As it was: who was absent need not be named so again, and comes by `tournament add`."""
    return msgspec.structs.replace(entry, absent=True)


def _conditions(before: Plan, requested: Plan) -> Iterator[str]:
    if before.version != requested.version:
        yield f"rules are version {before.version}, not {requested.version}"
    options = find_game(before.game).options
    values = [
        {
            "option": msgspec.to_builtins(msgspec.convert(plan.options, options)),
            "time": msgspec.structs.asdict(plan.time),
            "limit": msgspec.structs.asdict(deciding(plan.limits)),
        }
        for plan in (before, requested)
    ]
    for what in values[0]:
        was, now = (each[what] for each in values)
        for name in was:
            if was[name] != now[name]:
                yield f"{what} {name} is {_shown(was[name])}, not {_shown(now[name])}"
    if any(before.maps_of(stage) != requested.maps_of(stage) for stage in before.stages):
        yield "maps are others"
    if before.encodings != requested.encodings:
        yield f"encodings are {'/'.join(before.encodings)}, not {'/'.join(requested.encodings)}"


def _bots(before: Plan, requested: Plan, folder: Path) -> tuple[Entry, ...]:
    """Those that are there in their order, then new ones: nobody's games change."""
    idents, names = {entry.ident for entry in requested.bots}, {entry.name for entry in requested.bots}
    gone = [entry.name for entry in before.bots if entry.ident not in idents]
    if changed := [name for name in gone if name in names]:
        raise UsageError(
            f"{folder} holds games of {', '.join(changed)} as it was before it was changed; "
            "a changed bot is another one, for a tournament of its own or under another name"
        )
    if gone:
        alone = "--resume with --ledger alone goes on with the bots that are there"
        raise UsageError(f"{folder} holds games of {', '.join(gone)}, not named now; {alone}")
    place = {entry.ident: number for number, entry in enumerate(before.bots)}
    new = [entry.name for entry in requested.bots if entry.ident not in place]
    if new and before.format in NO_FURTHER:
        raise UsageError(f"{folder} has no {', '.join(new)}, and {before.format} takes no further bots")
    known = [entry for entry in requested.bots if entry.ident in place]
    if [place[entry.ident] for entry in known] != sorted(place[entry.ident] for entry in known) and (
        before.format in BY_ORDER or before.seating is Seating.FIXED
    ):
        order = ", ".join(entry.name for entry in before.bots)
        raise UsageError(f"{folder} holds a tournament whose bots are, in this order, {order}; name them so")
    # Guests stay behind those whom the standings name.
    return tuple(sorted(requested.bots, key=lambda entry: (entry.guest, place.get(entry.ident, len(place)))))


def _shown(value: object) -> str:
    """Short, in one line."""
    plain = msgspec.to_builtins(value)
    text = "none" if plain is None else str(plain)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
