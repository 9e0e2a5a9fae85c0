"""The order of checks: teams take turns, each with one check at a time. A version's place, and how long it may wait."""

import math
import time
from collections import Counter

from msgspec import Struct

from referee.addons.host.store import Store

LAST_CHECKS = 20
"""How many of the last checks say how long one takes."""
STEP_S = 5
"""Times are shown in steps, so that a page does not change all the time."""
NAMED = 3
"""How many of the checks that run are named."""


class Queued(Struct, frozen=True):
    """A version that is being checked, or that waits for its check."""

    id: int
    team: int
    name: str
    """Of the team."""
    bot: str
    """Its name as others see it."""
    version: int
    file: str
    started_at: float | None
    """When its check began; None = it waits."""
    handed_in_at: float
    last_at: float | None
    """When the last check of the team began."""

    @property
    def is_checked(self) -> bool:
        return self.started_at is not None


def queue(store: Store) -> list[Queued]:
    """Returns the versions that are being checked, and then those that wait, in the order of their checks."""
    found = store.rows(
        Queued,
        "SELECT s.id, s.team, t.name, CASE t.alias WHEN '' THEN t.name ELSE t.alias END AS bot, s.version, "
        "s.file, s.handed_in_at, "
        "CASE s.status WHEN 'checking' THEN s.started_at END AS started_at, "
        "(SELECT max(o.started_at) FROM submission AS o WHERE o.team = s.team) AS last_at "
        "FROM submission AS s JOIN team AS t ON t.id = s.team WHERE s.status IN ('waiting', 'checking') ORDER BY s.id",
    )
    busy = {each.team for each in found if each.is_checked}
    turns: Counter[int] = Counter(busy)
    keys = {}
    for each in found:
        if not each.is_checked:
            keys[each.id] = turns[each.team], each.team not in busy, each.last_at or 0.0, each.id
            turns[each.team] += 1
    waiting = sorted((each for each in found if not each.is_checked), key=lambda each: keys[each.id])
    return [each for each in found if each.is_checked] + waiting


def mean_s(store: Store) -> float | None:
    """Returns how long the last checks took, in the mean; None before the first one."""
    mean: float | None = store.value(
        "SELECT avg(decided_at - started_at) FROM (SELECT decided_at, started_at FROM submission "
        "WHERE decided_at IS NOT NULL AND started_at IS NOT NULL ORDER BY decided_at DESC LIMIT ?)",
        LAST_CHECKS,
    )
    return mean


def wait_s(before: list[Queued], mean: float, jobs: int) -> float:
    """Returns how long a version waits for its check, as far as the last checks tell.

    `before`: what comes before it. `mean`: the length of a check. `jobs`: how many checks run at a time.
    """
    now = time.time()
    left = (mean if each.started_at is None else max(0.0, mean - (now - each.started_at)) for each in before)
    return sum(left) / jobs


def place(store: Store, number: int, jobs: int) -> tuple[int, str]:
    """Returns how many come before a version that is not decided, and a line about what it waits for.

    `number`: of the submission.
    """
    found = next((each for each in lines(store, jobs) if each[0].id == number), None)
    return (0, "being decided") if found is None else found[1:]


def lines(store: Store, jobs: int) -> list[tuple[Queued, int, str]]:
    """Returns the queue, each version with how many come before it and a line about what it waits for."""
    found, mean, now = queue(store), mean_s(store), time.time()
    running = [each for each in found if each.started_at is not None]
    named = ", ".join(f"{each.bot}{_for(now - (each.started_at or now))}" for each in running[:NAMED])
    more = f" and {len(running) - NAMED} more" if len(running) > NAMED else ""
    result = []
    for before, one in enumerate(found):
        if one.started_at is not None:
            result.append((one, 0, f"being built and checked{_for(now - one.started_at)}"))
            continue
        parts = [f"waiting: {before} before it" if before else "waiting: next in the queue"]
        if mean is not None and before:
            parts.append(f"its check begins in about {_steps(wait_s(found[:before], mean, jobs))}")
        if running:
            parts.append(f"being built and checked now: {named}{more}")
        result.append((one, before, "; ".join(parts)))
    return result


def _for(seconds: float) -> str:
    return f", for {_steps(seconds)}" if seconds >= STEP_S else ""


def _steps(seconds: float) -> str:
    """Returns a length of time in steps that do not change all the time."""
    if seconds < 60:
        return f"{max(STEP_S, STEP_S * math.ceil(seconds / STEP_S))} s"
    return f"{math.ceil(seconds / 60)} min"
