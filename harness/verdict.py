"""What a match leaves behind for whoever asked for it: the result, the faults the costs."""

from msgspec import Struct

from games.api import FaultKind, Result


class Seat(Struct, frozen=True):
    """One bot's part in a match."""

    name: str
    program: str | None
    """What the program calls itself, with its version."""
    command: tuple[str, ...]
    encoding: str
    rank: int
    """1 = best; ties share a rank."""
    score: float
    calls: int
    wall_s: float
    cpu_s: float
    peak_memory_bytes: int
    late_answers: int
    stderr: str | None
    """The file with its standard error; None when it wrote nothing."""


class FaultReport(Struct, frozen=True):
    """A fault as its author needs it."""

    player: int
    name: str
    kind: FaultKind
    detail: str
    penalty: str
    turn: int
    """The line of the replay, counted from 1."""
    call: int
    """The bot's own calls, counted from 1."""
    method: str
    frame: str
    """What was asked, as sent: text, or hexadecimal for MessagePack."""
    wall_s: float
    cpu_s: float
    peak_memory_bytes: int
    exit: str | None
    """Exit code or signal, when the process had ended by itself."""
    last_words: tuple[str, ...]
    """The last lines of its standard error."""


class Verdict(Struct, frozen=True):
    """A played match."""

    game: str
    seed: int
    result: Result
    seats: tuple[Seat, ...]
    faults: tuple[FaultReport, ...]
    turns: int
    duration_s: float
    replay: str | None


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
        faults += sum(fault.player == player for fault in verdict.faults)
    return Standing(name, len(matches), wins, draws, losses, points, faults)
