"""The changes that a tournament allows when it continues: more games, rounds or bots."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from itertools import takewhile
from pathlib import Path

import msgspec

from referee.addons.tournament.formats.games import Seating
from referee.addons.tournament.formats.schedules import BRACKETS, CLOSED
from referee.addons.tournament.formats.series import wins_of_series
from referee.addons.tournament.formats.swiss import rounds_of
from referee.addons.tournament.keys import Keys
from referee.addons.tournament.plan import Entry, Plan, checked, deciding, identified, with_versions
from referee.addons.tournament.reports.all_stages import ranked
from referee.addons.tournament.stages import scheduled_games
from referee.addons.tournament.store.reader import Book, LedgerResults, played_idents, read
from referee.harness.common.errors import UsageError
from referee.harness.common.known_games import find_game
from referee.harness.programs.entrant import shown_name
from referee.protocol.text import listed

SHOWN = 60
"""The most characters of a value in a message."""
ORDERED = frozenset({"gauntlet", "groups", *BRACKETS})
"""Formats in which the order of the bots matters."""


def continued(before: Plan, requested: Plan, folder: Path, fewer: bool = False) -> Plan:
    """Returns the plan to continue with: `before` with the requested games, rounds, bots and limits.

    With `fewer`, there may be fewer games. Raises UsageError for any other difference.
    """
    absent = {entry.ident: entry for entry in before.bots if entry.absent}
    asked = [entry.name for entry in requested.bots if entry.absent and entry.ident not in absent]
    played = {entry.ident for entry in before.bots}
    requested = requested.replaced(  # an absent bot stays absent until `tournament add`
        bots=tuple(
            _with_state(entry, absent.get(entry.ident)) if entry.ident in played else entry for entry in requested.bots
        )
    )
    named, older = {entry.ident for entry in requested.bots}, before.older
    kept = [entry for entry in before.bots if entry.ident in older - named]  # older versions need not be named
    requested = requested.replaced(bots=(*requested.bots, *kept))
    check_conditions(before, requested, folder, fewer)
    bots = _bots(before, requested, folder)
    plan = before.replaced(
        bots=bots,
        games=requested.games,
        rounds=requested.rounds,
        ties=requested.ties,
        play_off=requested.play_off,
        rank_by=requested.rank_by,
        stakes=requested.stakes,
        expel=requested.expel,
        limits=requested.limits,
        title=requested.title,
    )
    plan = withdrawn(plan, asked, False, lambda: played_idents(folder)) if asked else plan
    return keeping_places(before, plan, lambda: read(folder))


def _with_state(entry: Entry, before: Entry | None) -> Entry:
    """Returns a bot that takes part as it did before; None = it did."""
    names = ("absent", "withdrawn", "void", "walkover")
    return msgspec.structs.replace(entry, **{name: before is not None and getattr(before, name) for name in names})


def entered(plan: Plan, entries: Sequence[Entry], back: Sequence[str] = ()) -> Plan:
    """Returns the plan with added bots; an absent one of that name and content then takes part. Other games stay.

    A bot with the name of another is its newer version: the other then takes no further part. `back`: names of
    withdrawn bots that take part again.
    """
    if plan.format in CLOSED and entries:
        raise UsageError(f"{plan.format} takes no further bots; start another tournament")
    guests = [entry for entry in plan.bots if entry.guest]
    added = {(shown_name(entry.name), entry.hash) for entry in entries}
    absent = {(entry.name, entry.hash) for entry in plan.bots if entry.absent}
    stay = {entry.ident for entry in plan.bots if (entry.name, entry.hash) in added}
    stay |= {plan.bots[place].ident for place in _current(plan, back)}
    names = {shown_name(entry.name) for entry in entries}
    names |= {entry.name for entry in plan.bots if entry.absent and entry.ident in stay}
    bots = [
        msgspec.structs.replace(
            entry,
            absent=(entry.absent or entry.name in names) and entry.ident not in stay,
            withdrawn=entry.withdrawn and entry.name not in names,
            void=entry.void and entry.ident not in stay,
            walkover=entry.walkover and entry.ident not in stay,
        )
        for entry in plan.bots
        if not entry.guest
    ]
    new = identified([entry for entry in entries if (shown_name(entry.name), entry.hash) not in absent], entered=bots)
    return _checked(plan.replaced(bots=(*bots, *new, *guests)))


def submitted(plan: Plan, entries: Sequence[Entry], played: Set[str]) -> Plan:
    """Returns the plan with the accepted submissions added to its bots. `played`: the idents of bots with games.

    A new version of a bot replaces one without games. Otherwise both keep their games, and the older plays no more.
    """
    bots = with_versions(plan.bots, entries, played)
    if played and plan.format in CLOSED and len(bots) > len(plan.bots):
        raise UsageError(f"{plan.format} takes no further bots, and it has games; use another folder")
    return plan.replaced(bots=tuple(sorted(bots, key=lambda entry: entry.guest)))


def withdrawn(plan: Plan, names: Sequence[str], void: bool, played: Callable[[], Set[str]]) -> Plan:
    """Returns the plan without further games of these bots. With `void`, their games so far count for nobody."""
    gone = _current(plan, names)
    if plan.format in ("self", "two-player") or (plan.format == "groups" and played()):
        raise UsageError(f"{plan.format} needs all of its bots; start another tournament without {', '.join(names)}")
    first = next((place for place, entry in enumerate(plan.bots) if not entry.absent), None)
    if plan.format == "gauntlet" and first in gone and played():
        raise UsageError(f"{plan.bots[first].name} plays all games of this gauntlet, and cannot withdraw")
    bots = list(plan.bots)
    for place in gone:
        entry = bots[place]
        bots[place] = msgspec.structs.replace(entry, absent=True, withdrawn=True, void=void or entry.void)
    return _checked(plan.replaced(bots=tuple(bots)))


def set_aside(plan: Plan, ident: str, instead: str = "") -> Plan:
    """Returns the plan without further games of a version, in which an older one may play `instead`.

    Raises UsageError if there is no such version.
    """
    found = {entry.ident: entry for entry in plan.bots}
    if missing := [each for each in (ident, instead) if each and each not in found]:
        raise UsageError(f"there is no version {listed(missing)}")
    if found[ident].absent:
        return plan  # a newer version has come meanwhile
    bots = (
        msgspec.structs.replace(entry, absent=entry.ident == ident) if entry.ident in (ident, instead) else entry
        for entry in plan.bots
    )
    return plan.replaced(bots=tuple(bots))


def _checked(plan: Plan) -> Plan:
    """Returns the plan if it can be played. A ladder without end may have to wait for bots."""
    return plan if plan.format == "ladder" and not plan.games else checked(plan)


def _current(plan: Plan, names: Sequence[str]) -> list[int]:
    """Returns the places of bots by their names. An older version is none."""
    older = plan.older
    places = {
        entry.name: place
        for place, entry in enumerate(plan.bots)
        if entry.ident not in older and not entry.guest and not entry.copy_of
    }
    if unknown := [name for name in names if name not in places]:
        raise UsageError(f"there is no bot {listed(unknown)}; there are {listed([*places], 20)}")
    return [places[name] for name in names]


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
    if before.seats != requested.seats:
        yield f"games have {before.seats} seats, not {requested.seats}"
        return
    if before.rules != requested.rules:
        yield f"rules have the hash {before.rules[:10]}…, not {requested.rules[:10]}…"
        return
    if before.stages != requested.stages:
        yield "further stages are others"
    for name in ("seed", "seating", "late_points", "groups"):
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
        was, now = (rounds_of(requested.replaced(rounds=plan.rounds).field) for plan in (before, requested))
        if now < was:
            yield f"rounds are {was}, not {now}"
    elif before.rounds != requested.rounds:  # they decide the line-ups of three or more
        yield f"rounds are {before.rounds or 'the default'}, not {requested.rounds or 'the default'}"
    yield from _conditions(before, requested)


def keeping_places(before: Plan, after: Plan, book: Callable[[], Book]) -> Plan:
    """Returns `after`, in which bots that have become absent keep their places in a bracket that has begun.

    `book` returns the games that were played. Raises UsageError for bots that come too late. A bot that comes back to
    its place is not, as long as no game was played that needs its walk-over.
    """
    if not (before.stages or before.format in BRACKETS) or not is_closed(before, (played := book()).line_ups):
        return after
    present = {entry.ident for entry in before.bots if not entry.absent}
    places = {entry.ident for entry in before.bots if entry.walkover}
    late = [entry for entry in after.bots if not entry.absent and entry.ident not in present]
    if late and not ({entry.ident for entry in late} <= places and _counted(before, played) <= _counted(after, played)):
        names = ", ".join(entry.name for entry in late)
        raise UsageError(f"{before.formats}: the last stage goes on without {names}; start another tournament")
    bots = (
        msgspec.structs.replace(entry, walkover=True) if entry.absent and entry.ident in present else entry
        for entry in after.bots
    )
    return after.replaced(bots=tuple(bots))


def _counted(plan: Plan, book: Book) -> set[str]:
    """Returns the keys of the played games that count."""
    keys = Keys(plan)
    results = LedgerResults(keys, book)
    scheduled = takewhile(lambda game: game is not None, scheduled_games(plan, results, ranked))
    return {keys.key(game) for game in scheduled if game is not None and results.get(game) is not None}


def is_closed(plan: Plan, line_ups: Iterable[str]) -> bool:
    """Whether games were played whose field must stay: those of a bracket, and those of a further stage."""
    conditions = {plan.conditions(stage.title) for stage in plan.stages}
    if plan.format in BRACKETS:
        conditions.add(plan.conditions(""))
    return any(line_up.partition("/")[0] in conditions for line_up in line_ups)


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
    if any(before.maps_of(stage) != requested.maps_of(stage) for stage in before.condition_names):
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
            f"{folder} holds games of an earlier version of {listed(changed)}; "
            f"`referee tournament add {folder} BOT` enters a newer version"
        )
    if gone:
        advice = f"`referee tournament run {folder}` continues with the bots that are there"
        raise UsageError(f"{folder} has games of {listed(gone)}, which the command does not name; {advice}")
    place = {entry.ident: number for number, entry in enumerate(before.bots)}
    new = [entry.name for entry in requested.bots if entry.ident not in place]
    if new and before.format in CLOSED:
        raise UsageError(f"{folder} has no {listed(new)}, and {before.format} takes no further bots")
    order = [place[entry.ident] for entry in requested.bots if entry.ident in place]
    if order != sorted(order) and (before.format in ORDERED or before.seating is Seating.FIXED):
        order_before = listed([entry.name for entry in before.bots], 20)
        raise UsageError(f"{folder}: the order of the bots matters in this tournament: name them as {order_before}")
    # Guests stay behind the bots of the standings.
    return tuple(sorted(requested.bots, key=lambda entry: (entry.guest, place.get(entry.ident, len(place)))))


def _shown(value: object) -> str:
    """Formats a value in one line."""
    plain = msgspec.to_builtins(value)
    text = "none" if plain is None else str(plain)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
