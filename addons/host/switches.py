"""Switches with times: whether uploads, rated games, practice games and the public table are on."""

import time

from msgspec import Struct

from referee.addons.host import times
from referee.addons.host.store import Store, audit
from referee.addons.host.times import VALUES, Setting
from referee.harness.common.errors import UsageError


def settings(store: Store) -> list[Setting]:
    """Returns all settings, past and planned."""
    return store.rows(Setting, "SELECT name, at, value FROM switch")


def value_of(store: Store, name: str, now: float | None = None) -> str:
    """Returns what a switch is now, or at another time."""
    return setting_of(store, name, now).value


def setting_of(store: Store, name: str, now: float | None = None) -> Setting:
    """Returns what a switch is now, and since when."""
    return times.setting(settings(store), name, time.time() if now is None else now)


def extension(store: Store, team: int) -> float | None:
    """Returns until when a team may hand in although uploads are closed; None if it may not, or not any more."""
    until: float | None = store.value("SELECT until FROM extension WHERE team = ? AND until > ?", team, time.time())
    return until


def extended(store: Store) -> list[str]:
    """Returns the names of the teams that may hand in although uploads are closed."""
    query = "SELECT t.name FROM extension AS e JOIN team AS t ON t.id = e.team WHERE until > ? ORDER BY t.folded"
    return [each.name for each in store.rows(_Name, query, time.time())]


class _Name(Struct, frozen=True):
    name: str


def may_hand_in(store: Store, team: int) -> bool:
    """Tells whether a team may hand in now, and choose the version that plays."""
    return value_of(store, "uploads") == "open" or extension(store, team) is not None


def extend(store: Store, team: int, name: str, until: float | None, actor: str, address: str = "") -> None:
    """Lets a team hand in until a time, also while uploads are closed; None = no longer. UsageError for a past time."""
    if until is not None and until <= time.time():
        raise UsageError("the time is over; expected one to come, or none to end the extension")
    with store.writing() as database:
        if until is None:
            database.execute("DELETE FROM extension WHERE team = ?", (team,))
        else:
            database.execute("INSERT OR REPLACE INTO extension (team, until) VALUES (?, ?)", (team, until))
        when = "ended" if until is None else f"until {times.shown(until, 'UTC')}"
        audit(database, actor, "extension", name, when, address)


def planned(store: Store, name: str) -> list[Setting]:
    """Returns the changes of a switch that are to come, the next one first."""
    return times.planned(settings(store), name, time.time())


def frozen_at(store: Store) -> float | None:
    """Returns the moment that the public table shows now; None while it shows the present."""
    return times.frozen_at(settings(store), time.time())


def set_switch(store: Store, name: str, value: str, at: float | None, actor: str, address: str = "") -> None:
    """Sets a switch, now or at a later time. UsageError for another name, value, or a time in the past."""
    now = time.time()
    at = now if at is None else at
    if value not in VALUES.get(name, ()):
        raise UsageError(f"{name} {value}: expected {' or '.join(VALUES.get(name, VALUES))}")
    if at < now - 1:
        raise UsageError(f"{name} {value}: the time is over; expected one to come, or none for now")
    with store.writing() as database:
        database.execute("INSERT OR REPLACE INTO switch (name, at, value) VALUES (?, ?, ?)", (name, at, value))
        when = "now" if at <= now else times.shown(at, "UTC")
        audit(database, actor, "switch", name, f"{value} from {when}", address)


def forget(store: Store, name: str, at: float, actor: str, address: str = "") -> None:
    """Removes a change that is to come."""
    with store.writing() as database:
        done = database.execute("DELETE FROM switch WHERE name = ? AND at = ? AND at > ?", (name, at, time.time()))
        if done.rowcount:
            audit(database, actor, "switch", name, "planned change removed", address)
