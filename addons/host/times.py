"""The meaning of a contest's switches at a moment: pure functions of their settings and the time.

A setting holds from its time on, that moment included, until the next one of its switch. So a change that is planned,
moved or taken back changes nothing before its time.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from msgspec import Struct

from referee.addons.tournament.plan import Plan
from referee.addons.tournament.reports.past_tables import PastTable, past_table
from referee.addons.tournament.store.reader import Book
from referee.harness.common.errors import UsageError

VALUES = {
    "uploads": ("open", "closed"),
    "rated": ("on", "off"),
    "practice": ("open", "staff", "off"),  # staff: against the organiser's bots and the built-in ones only
    "table": ("public", "frozen"),  # frozen: as it was then
}
"""What each switch may be. The first holds until a time says otherwise."""


CHANGES = {
    ("uploads", "open"): "Teams can hand in from",
    ("uploads", "closed"): "Teams can hand in until",
    ("rated", "on"): "Rated games are played from",
    ("rated", "off"): "Rated games end at",
    ("practice", "open"): "Teams can practise against all bots from",
    ("practice", "staff"): "Teams can practise only against the organiser's bots from",
    ("practice", "off"): "Practice ends at",
    ("table", "public"): "The table moves again from",
    ("table", "frozen"): "The table is frozen from",
}
"""The words for a change, before its time."""
YEARS = 1970, 9000
"""Of times that are typed. Later ones have no date in some time zones."""


class Setting(Struct, frozen=True):
    """A switch, from a time on."""

    name: str
    at: float
    """Seconds since 1970."""
    value: str


def shown(at: float | None, zone: str) -> str:
    """Returns a time in a zone, as people read it; empty for none."""
    return "" if at is None else datetime.fromtimestamp(at, ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M:%S %Z")


def typed_time(text: str, zone: str) -> float | None:
    """Returns a time that was typed, in a zone unless it names one; None for nothing. UsageError if it is none."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
        if not YEARS[0] <= moment.year <= YEARS[1]:
            raise ValueError("no page could show it")
        return (moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(zone))).timestamp()
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{text[:40]}: expected a time such as 2026-11-27T18:00, in {zone}") from error


def setting(settings: Iterable[Setting], name: str, now: float) -> Setting:
    """Returns what a switch is at a moment, and since when."""
    past = [each for each in settings if each.name == name and each.at <= now]
    return max(past, key=lambda each: each.at, default=Setting(name, 0.0, VALUES[name][0]))


def planned(settings: Iterable[Setting], name: str, now: float) -> list[Setting]:
    """Returns the changes of a switch that are to come, the next one first."""
    return sorted((each for each in settings if each.name == name and each.at > now), key=lambda each: each.at)


def deadlines(settings: Iterable[Setting], now: float, zone: str) -> list[str]:
    """Returns sentences for everybody about the changes that are to come, the next one first."""
    to_come = sorted((each for each in settings if each.at > now), key=lambda each: each.at)
    return [f"{CHANGES[each.name, each.value]} {shown(each.at, zone)}." for each in to_come]


def may_practise(value: str, rival_is_staff: bool) -> bool:
    """Whether a practice game against this rival may be played. `value`: of the switch `practice`."""
    return value == "open" or (value == "staff" and rival_is_staff)


def frozen_at(settings: Sequence[Setting], now: float) -> float | None:
    """Returns the moment that the public table shows; None while it shows the present.

    A table that is frozen again while it is frozen does not move.
    """
    at = None
    for each in sorted(
        (each for each in settings if each.name == "table" and each.at <= now), key=lambda each: each.at
    ):
        if each.value != "frozen":
            at = None
        elif at is None:
            at = each.at
    return at


def may_see_game(ended_at: float, frozen: float | None, plays_in_it: bool) -> bool:
    """Whether somebody sees a game: all that had ended when the table was frozen, and those of their own team.

    `frozen`: as `frozen_at` says; organisers see the present, for whom it is None.
    """
    return frozen is None or ended_at <= frozen or plays_in_it


def frozen_table(folder: Path, plan: Plan, book: Book, at: float) -> PastTable:
    """Returns what the table of a moment is made from: the games that had ended by then, and the versions of then."""
    return past_table(folder, plan, book, datetime.fromtimestamp(at, UTC).isoformat())
