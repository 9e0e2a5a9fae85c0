"""The fairness certificate: how many games the machine may have decided, with an upper bound for the rate.

`docs/explanation/statistics.md` has the model and its limits.
"""

from collections import Counter
from collections.abc import Collection, Iterable

import msgspec
from msgspec import Struct

from referee.addons.tournament.statistics.proportion import upper_bound
from referee.addons.tournament.store.reader import Book, Kind, Touch
from referee.harness.isolation.plan import why_lost
from referee.harness.match.verdict import machine_share
from referee.harness.process.machine_effects import MachineEffects

CONFIDENCE = 0.95


class Fairness(Struct, frozen=True):
    """The games of a tournament that the machine has touched, of those that count and were played."""

    games: int
    decided: int
    """A bot ran out of time, and the machine may be the cause (`process.core_wait.lacked_time`)."""
    computed: int
    """A bot ran out of time while it computed, and had its time. A slower core may be the cause."""
    slowed: int
    """The machine took a tenth of a bot's time or more, and no time-out came of it."""
    voids: int
    """Games that were played again because machine load had slowed them. They do not count."""
    lost_layers: dict[str, int]
    """By isolation layer, the games without it although the machine may have it. Bots were less isolated there."""
    measured: bool
    """Every machine counted how long bots waited for a core."""
    most: float
    """The upper bound of the rate of decided games."""
    text: str
    """All of this in words; empty without games."""


def fairness(kinds: Iterable[tuple[Kind, int]], book: Book) -> Fairness:
    """Counts the games of a book, given the kinds of ending with the number of games of each."""
    voids, machines = book.voids, book.machines
    touched: Counter[Touch] = Counter()
    for kind, times in kinds:
        if not kind.forfeit:
            touched[kind.touch] += times
    games, decided = touched.total(), touched[Touch.DECIDED]
    measured = bool(machines) and all(each.core_wait for each in machines)
    most = upper_bound(decided, games, 1 - CONFIDENCE)
    found = Fairness(
        games=games,
        decided=decided,
        computed=touched[Touch.COMPUTED],
        slowed=touched[Touch.SLOWED],
        voids=voids,
        lost_layers=dict(book.lost_layers),
        measured=measured,
        most=most,
        text="",
    )
    return msgspec.structs.replace(found, text=". ".join(_sentences(found, machines)) if games else "")


def _sentences(found: Fairness, machines: Collection[MachineEffects]) -> Iterable[str]:
    games, decided, measured, voids = found.games, found.decided, found.measured, found.voids
    count = machine_share(decided, games) or f"the machine decided none of {_games(games)}"
    played = "" if measured else ", as far as it was measured"
    most = f"with {100 * CONFIDENCE:.0f} % confidence, the rate is at most {_percent(found.most)}"
    yield f"{count[0].upper()}{count[1:]}{played}; {most}"
    if found.slowed:
        yield f"It slowed a bot by a tenth or more in {_games(found.slowed, 'other ')}"
    if voids:
        yield f"{_games(voids)} {'was' if voids == 1 else 'were'} played again because of it"
    if not measured:
        yield "The kernel of a machine did not count core waits"
    causes = {"the clock speed (turbo)": "turbo", "threads that share a core (SMT)": "smt"}
    if unseen := [name for name, flag in causes.items() if any(getattr(each, flag) for each in machines)]:
        late = f"; a bot that computed was late in {_games(found.computed, 'other ')}" if found.computed else ""
        yield f"Not measured: {' and '.join(unseen)}{late}"
    for layer, times in sorted(found.lost_layers.items()):
        yield f"Isolation was without {layer} in {_games(times)}: {why_lost(layer)}"


def _percent(share: float) -> str:
    """Formats a share like `0.31 %`, `4.2 %` or `100 %`, never as `1e+02 %`."""
    percent = 100 * share
    return f"{percent:.0f} %" if percent >= 10 else f"{percent:.2g} %"


def _games(count: int, which: str = "") -> str:
    return f"{count:,} {which}{'game' if count == 1 else 'games'}"
