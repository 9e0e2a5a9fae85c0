"""Switches with times: whether uploads, rated games, practice games and the public table are on."""

import time

from msgspec import Struct

from referee.harness.errors import UsageError
from referee.harness.host.store import Store, audit

VALUES = {
    "uploads": ("open", "closed"),
    "rated": ("on", "off"),
    "practice": ("open", "staff", "off"),  # staff: against the organiser's bots and the built-in ones only
    "table": ("public", "frozen"),  # frozen: as it was then
}
"""What each switch may be. The first holds until a time says otherwise."""


class Setting(Struct, frozen=True):
    """A switch, from a time on."""

    name: str
    at: float
    value: str


def value_of(store: Store, name: str, now: float | None = None) -> str:
    """Returns what a switch is now, or at another time."""
    return setting_of(store, name, now).value


def setting_of(store: Store, name: str, now: float | None = None) -> Setting:
    """Returns what a switch is now, and since when."""
    now = time.time() if now is None else now
    query = "SELECT name, at, value FROM switch WHERE name = ? AND at <= ? ORDER BY at DESC LIMIT 1"
    return store.first(Setting, query, name, now) or Setting(name, 0.0, VALUES[name][0])


def next_setting(store: Store, name: str, now: float | None = None) -> Setting | None:
    """Returns the next change of a switch; None if none is planned."""
    now = time.time() if now is None else now
    query = "SELECT name, at, value FROM switch WHERE name = ? AND at > ? ORDER BY at LIMIT 1"
    return store.first(Setting, query, name, now)


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
        when = "now" if at <= now else time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(at))
        audit(database, actor, "switch", name, f"{value} from {when}", address)


def forget(store: Store, name: str, at: float, actor: str, address: str = "") -> None:
    """Removes a change that is to come."""
    with store.writing() as database:
        done = database.execute("DELETE FROM switch WHERE name = ? AND at = ? AND at > ?", (name, at, time.time()))
        if done.rowcount:
            audit(database, actor, "switch", name, "planned change removed", address)
