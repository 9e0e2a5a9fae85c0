"""The changes that a tournament allows when it continues: more games, rounds or bots."""

import math
from collections.abc import Iterator
from pathlib import Path

import msgspec

from referee.harness.errors import UsageError
from referee.harness.known_games import find_game
from referee.harness.tournament.formats.games import Seating
from referee.harness.tournament.formats.schedules import BRACKETS, CLOSED
from referee.harness.tournament.formats.series import wins_of_series
from referee.harness.tournament.formats.swiss import swiss_rounds
from referee.harness.tournament.plan import Entry, Plan, deciding
from referee.harness.tournament.store.reader import played_idents

SHOWN = 60
"""The most characters of a value in a message."""
ORDERED = frozenset({"gauntlet", "groups", *BRACKETS})
"""Formats in which the order of the bots matters."""


def continued(before: Plan, requested: Plan, folder: Path, fewer: bool = False) -> Plan:
    """Returns the plan to continue with: `before` with the requested games, rounds, bots and limits.

    With `fewer`, there may be fewer games. Raises UsageError for any other difference.
    """
    absent = {entry.ident for entry in before.bots if entry.absent}
    requested = requested.replaced(  # an absent bot stays absent until `tournament add`
        bots=tuple(msgspec.structs.replace(e, absent=True) if e.ident in absent else e for e in requested.bots)
    )
    named, older = {entry.ident for entry in requested.bots}, before.older
    kept = [entry for entry in before.bots if entry.ident in older - named]  # older versions need not be named
    requested = requested.replaced(bots=(*requested.bots, *kept))
    check_conditions(before, requested, folder, fewer)
    bots = _bots(before, requested, folder)
    return before.replaced(
        bots=bots,
        games=requested.games,
        rounds=requested.rounds,
        expel=requested.expel,
        limits=requested.limits,
        title=requested.title,
    )


def check_conditions(before: Plan, requested: Plan, folder: Path, fewer: bool = False) -> None:
    """Raises UsageError that names all differences in one line, among them limits that can change an outcome."""
    differences = ", and ".join(f"whose {difference}" for difference in _differences(before, requested, fewer))
    if differences:
        raise UsageError(f"{folder} holds a tournament {differences}; use another folder for another tournament")


def _differences(before: Plan, requested: Plan, fewer: bool) -> Iterator[str]:
    """Yields texts like `seed is 3, not 4`."""
    for name in ("game", "format"):
        if getattr(before, name) != getattr(requested, name):
            yield f"{name} is {getattr(before, name)}, not {getattr(requested, name)}"
            return  # all other settings mean something else
    for name in ("seed", "seating"):
        if getattr(before, name) != getattr(requested, name):
            yield f"{name} is {getattr(before, name)}, not {getattr(requested, name)}"
    wins = [wins_of_series(before.games, plan.first_to) for plan in (before, requested)]
    if before.first_to != requested.first_to and wins[0] != wins[1]:
        yield f"first_to is {wins[0]}, not {wins[1]}"
    # 0 games: a ladder without end, which is more than any number.
    if not fewer and (requested.games or math.inf) < (before.games or math.inf):
        yield f"games are {before.games or 'without end'}, not {requested.games}"
    elif before.format in BRACKETS and requested.games != before.games:
        yield f"games are {before.games}, not {requested.games}"  # they decide who is out
    if before.format == "swiss":
        count = sum(not entry.absent for entry in requested.bots)
        was, now = (swiss_rounds(count, plan.rounds) for plan in (before, requested))
        if now < was:
            yield f"rounds are {was}, not {now}"
    elif before.rounds != requested.rounds:  # they decide the line-ups of four
        yield f"rounds are {before.rounds or 'the default'}, not {requested.rounds or 'the default'}"
    present = {entry.ident for entry in before.bots if not entry.absent}
    for entry in requested.bots:
        if entry.absent and entry.ident in present:
            yield f"bot {entry.name} is not absent"
    yield from _conditions(before, requested)


def _conditions(before: Plan, requested: Plan) -> Iterator[str]:
    if before.version != requested.version:
        yield f"rules are version {before.version}, not {requested.version}"
    options = find_game(before.game).options
    was, now = (
        {
            "option": msgspec.to_builtins(msgspec.convert(plan.options, options)),
            "time": msgspec.structs.asdict(plan.time),
            "limit": msgspec.structs.asdict(deciding(plan.limits)),
        }
        for plan in (before, requested)
    )
    for kind, values in was.items():
        for name, value in values.items():
            if value != now[kind][name]:
                yield f"{kind} {name} is {_shown(value)}, not {_shown(now[kind][name])}"
    if any(before.maps_of(stage) != requested.maps_of(stage) for stage in before.stages):
        yield "maps are others"
    if before.encodings != requested.encodings:
        yield f"encodings are {'/'.join(before.encodings)}, not {'/'.join(requested.encodings)}"


def _bots(before: Plan, requested: Plan, folder: Path) -> tuple[Entry, ...]:
    """Returns the bots of `before` in their order, then the new ones, so that nobody's games change.

    A bot without games may be left out, or replaced by another version.
    """
    idents, names = {entry.ident for entry in requested.bots}, {entry.name for entry in requested.bots}
    left_out = [entry for entry in before.bots if entry.ident not in idents]
    played = played_idents(folder) if left_out else set()
    gone = [entry.name for entry in left_out if entry.ident in played]
    if changed := [name for name in gone if name in names]:
        raise UsageError(
            f"{folder} holds games of an earlier version of {', '.join(changed)}; "
            f"`referee tournament add {folder} BOT` enters a newer version"
        )
    if gone:
        advice = f"`referee tournament run {folder}` continues with the bots that are there"
        raise UsageError(f"{folder} has games of {', '.join(gone)}, which the command does not name; {advice}")
    place = {entry.ident: number for number, entry in enumerate(before.bots)}
    new = [entry.name for entry in requested.bots if entry.ident not in place]
    if new and before.format in CLOSED:
        raise UsageError(f"{folder} has no {', '.join(new)}, and {before.format} takes no further bots")
    order = [place[entry.ident] for entry in requested.bots if entry.ident in place]
    if order != sorted(order) and (before.format in ORDERED or before.seating is Seating.FIXED):
        listed = ", ".join(entry.name for entry in before.bots)
        raise UsageError(f"{folder} holds a tournament in which the order of the bots matters: name them as {listed}")
    # Guests stay behind the bots of the standings.
    return tuple(sorted(requested.bots, key=lambda entry: (entry.guest, place.get(entry.ident, len(place)))))


def _shown(value: object) -> str:
    """Formats a value in one line."""
    plain = msgspec.to_builtins(value)
    text = "none" if plain is None else str(plain)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
