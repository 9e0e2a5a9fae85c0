"""What a match leaves behind for whoever asked for it: the result, the faults, the costs."""

from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec import Struct

from referee.games.contract import Fault, FaultKind, Result
from referee.protocol.errors import printable


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
    waited_s: float = 0.0
    """How long it waited for a core in its calls of more than 5 ms: the machine's doing."""
    noisy_calls: int = 0
    """Calls that were late, or would have been, because no core was free."""
    off_turn_cpu_s: float = 0.0
    """CPU time that it used while no call to it was open, and that of its children."""
    human: bool = False
    """A person played there, on no clock."""
    faults: int | None = None
    """Number of faults, with those that have no `FaultReport`. None: the replay's version does not say."""
    noisy_faults: int = 0
    """Number of faults of calls that were late because no core was free."""


ANSWER_CHARACTERS = 2000
FULL_REPORTS = 8
"""Most `FaultReport`s of a seat in a match. A bot may fail at every call of a long match: further faults are only
counted."""


GAME_OVER = "none: the game was over"
"""The penalty of what a bot did wrong after its last answer."""


def detail_of(fault: Fault, method: str) -> str:
    """A fault's detail as reports have it: the method stands beside it."""
    return printable(fault.detail.removeprefix(f"{method}: "))


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
    waited_s: float = 0.0
    """How long the call waited for a core, if it took more than 5 ms."""
    host_noise: bool = False
    """The call was late because no core was free: the machine's doing, as far as can be told."""
    answer: str = ""
    """What came back, as it came: text, or hexadecimal for MessagePack; cut after `ANSWER_CHARACTERS`."""
    position: str = ""
    """The position that the call was about, as `str(state)` draws it; empty: there was none."""
    rules: str = ""
    """The page and section that it was ruled by, such as `reantics.md, 5` or `SPEC.md, 16`."""
    said: tuple[str, ...] = ()
    """The last lines of its standard error in that call."""
    bundle: str | None = None
    """A folder with all that is known of it, for `referee repro`; None: none was written."""


class Verdict(Struct, frozen=True):
    """A played match."""

    game: str
    seed: int
    result: Result
    seats: tuple[Seat, ...]
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


def more_faults(seats: Iterable[Seat], faults: Iterable[FaultReport]) -> tuple[int, ...]:
    """By seat, the number of faults without a report."""
    reported = Counter(fault.player for fault in faults)
    return tuple(max(0, (seat.faults or 0) - reported[player]) for player, seat in enumerate(seats))


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
