"""What a match leaves behind for whoever asked for it: the result, the faults, the costs."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from referee.games.contract import Result
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
    again: tuple[str, ...] = ()
    """The command line that plays it again, word by word; empty: it was not played from the command line."""
    tree_read_by: str = ""
    """How the processes of a bot were found, as in the record: `children files` or `psutil`."""
    away_s: float = 0.0
    """How long the referee itself was stopped or busy with something else. No bot was charged for that."""


class NoiseReport(Struct, frozen=True):
    """How far a busy machine has touched a run."""

    calls: int
    noisy_calls: int
    """Calls that were late, or would have been, because no core was free."""
    faults: int
    noisy_faults: int
    """Faults of such calls: the machine's rather than the bot's, as far as can be told."""
    waited_s: float
    """How long bots waited for a core in their calls of more than 5 ms."""
    away_s: float
    """How long the referee itself was stopped or busy with something else."""


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


class Standing(Struct, frozen=True):
    """One entrant over a series of matches."""

    name: str
    played: int
    wins: int
    draws: int
    losses: int
    points: float
    faults: int


def standings(names: list[str], matches: list[tuple[tuple[int, ...], Verdict]]) -> tuple[Standing, ...]:
    """One line an entrant, in the order given. A match comes with the entrant at each of its seats.

    A win is a best rank that nobody shares, a draw one that somebody does.
    """
    return tuple(_standing(index, name, matches) for index, name in enumerate(names))


def _standing(index: int, name: str, matches: list[tuple[tuple[int, ...], Verdict]]) -> Standing:
    wins = draws = losses = faults = 0
    points = 0.0
    for entrants, verdict in matches:
        player = entrants.index(index)
        ranks = verdict.result.ranks
        if ranks[player] > 1:
            losses += 1
        elif ranks.count(1) > 1:
            draws += 1
        else:
            wins += 1
        points += verdict.result.scores[player]
        faults += verdict.seats[player].faults or 0
    return Standing(name, len(matches), wins, draws, losses, points, faults)
