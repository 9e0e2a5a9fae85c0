"""The verdict of a match: its result, its faults and its costs."""

from collections.abc import Iterable, Mapping

import msgspec
from msgspec import Struct

from referee.games.contract import Result
from referee.harness.common.measures import Record, in_standings, measured, with_measures
from referee.harness.replay.lines import FaultReport, SeatSummary


class Verdict(Struct, frozen=True):
    """A played match."""

    game: str
    seed: int
    result: Result
    seats: tuple[SeatSummary, ...]
    faults: tuple[FaultReport, ...]
    """The first `FULL_REPORTS` of each seat; `Seat.faults` has the number of all."""
    turns: int
    duration_s: float
    replay: str | None
    isolation: Mapping[str, str] = {}
    """By guarantee, the layer that kept it for every program that played; empty: there was none."""
    lost_layers: Mapping[str, str] = {}
    """Isolation layers that this machine may have and that no bot got, with the reason: their trial failed."""
    again: tuple[str, ...] = ()
    """The command line that plays it again, word by word; empty: it was not played from the command line."""
    tree_read_by: str = ""
    """How the processes of a bot were found, as in the record: `children files` or `psutil`."""
    away_s: float = 0.0
    """How long the referee itself was stopped or busy with something else. No bot was charged for that."""


class NoiseReport(Struct, frozen=True):
    """How much machine load has slowed a run."""

    calls: int
    noisy_calls: int
    """Calls that were late, or would have been, perhaps because no core was free."""
    faults: int
    noisy_faults: int
    """Faults of such calls: the machine's rather than the bot's, as far as can be told."""
    waited_s: float
    """How long bots waited for a core in their calls of more than 5 ms."""
    away_s: float
    """How long the referee itself was stopped or busy with something else."""


def decided_by_machine(match: Verdict) -> bool:
    """Returns whether the machine may have decided a match: a bot ran out of time because no core was free."""
    return any(seat.noisy_faults for seat in match.seats)


def machine_share(decided: int, games: int) -> str:
    """Says how many games the machine may have decided; empty if none. Every report says it in these words."""
    return (
        f"the machine may have decided {decided:,} of {games:,} {'game' if games == 1 else 'games'}" if decided else ""
    )


def core_wait_words(waited_s: float, took_s: float) -> str:
    """Says for how much of a call no core was free."""
    waited = f"{waited_s * 1000:.0f} of {took_s * 1000:.0f} ms"
    return f"slowed by machine load: no core was free for {waited}"


def noise_report(matches: Iterable[Verdict]) -> NoiseReport:
    """Over all of these matches."""
    matches = tuple(matches)
    seats = [seat for match in matches for seat in match.seats]
    return NoiseReport(
        calls=sum(seat.calls for seat in seats),
        noisy_calls=sum(seat.noisy_calls for seat in seats),
        faults=sum(seat.faults or 0 for seat in seats),
        noisy_faults=sum(seat.noisy_faults for seat in seats),
        waited_s=sum(seat.waited_s for seat in seats),
        away_s=sum(match.away_s for match in matches),
    )


@with_measures(Record.STANDING)
class Standing(Struct, frozen=True):
    """One entrant over a series of matches."""

    name: str
    played: int
    wins: int
    draws: int
    losses: int
    points: float
    faults: int


def winner(entrants: tuple[int, ...], verdict: Verdict) -> int | None:
    """Returns the entrant with a best rank that nobody shares; None after a draw. `entrants`: those at each seat."""
    ranks = verdict.result.ranks
    return entrants[ranks.index(1)] if ranks.count(1) == 1 else None


def standings(names: list[str], matches: list[tuple[tuple[int, ...], Verdict]]) -> tuple[Standing, ...]:
    """One line an entrant, in the order given. A match comes with the entrant at each of its seats.

    A win is a best rank that nobody shares, a draw one that somebody does.
    """
    table, measure = [], in_standings()
    for index, name in enumerate(names):
        played = [(verdict, entrants.index(index)) for entrants, verdict in matches]
        ranks = [verdict.result.ranks for verdict, player in played if verdict.result.ranks[player] == 1]
        wins = sum(best.count(1) == 1 for best in ranks)
        points = sum((verdict.result.scores[player] for verdict, player in played), 0.0)
        faults = sum(verdict.seats[player].faults or 0 for verdict, player in played)
        cost = measure.total(measured(verdict.seats[player], measure.name) for verdict, player in played)
        losses = len(played) - len(ranks)
        row = Standing(name, len(played), wins, len(ranks) - wins, losses, points, faults)
        table.append(msgspec.structs.replace(row, **{measure.name: cost}) if measure.name else row)
    return tuple(table)
