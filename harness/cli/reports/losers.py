"""Why each loser of a match lost: the fault that decided, or the turn from which on it was behind."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from rich.text import Text

from referee.games.contract import FATAL, FaultKind, Player
from referee.games.ending import reason_in_words, unique
from referee.games.game import Game, Score
from referee.harness.cli.reports.text import cut, printable
from referee.harness.common.errors import UsageError
from referee.harness.match.verdict import Verdict
from referee.harness.replay.lines import Turn
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import Difference, positions

Counts = Sequence[tuple[int, Sequence[float]]]
"""A turn and the score of each seat after it, in the order of the match. Turn 0 is the opening."""


def losers(match: Verdict, game: Game) -> list[Text]:
    """Returns a line for each loser, `B lost: …`. Without a replay, a loser without a deciding fault has none.

    Reads the replay and plays it again, which takes some 50 to 1000 µs a turn.
    """
    names, ranks = unique([seat.name for seat in match.seats]), match.result.ranks
    counts: Counts | None = None
    lines = []
    for player in (player for player, rank in enumerate(ranks) if rank > 1):
        why = _fault(match, game, player)
        if why is None and match.replay is not None and game.presentation.score is not None:
            counts = _counts(Path(match.replay), game.presentation.score) if counts is None else counts
            winners = [seat for seat, rank in enumerate(ranks) if rank == 1]
            why = _balance(counts, game.presentation.score, player, winners)
        if why is not None:
            lines.append(Text(printable(f"{names[player]} lost: {why}")))
    return lines


def _fault(match: Verdict, game: Game, player: Player) -> str | None:
    """Returns the last fault of a seat that lost it the match."""
    for fault in reversed(match.faults):
        loses = fault.penalty in game.presentation.losing
        if fault.player == player and (loses or (fault.kind in FATAL and not fault.penalty.startswith("none"))):
            when = f"in turn {fault.turn}" if fault.turn else "before the first turn"
            return f"{fault.kind} {when}, {cut('; '.join(fault.detail.splitlines()))}"
    if match.result.reason in set(FaultKind) and len(match.seats) == 2:  # one of the faults without a report
        return reason_in_words(game.presentation.endings, match.result, [seat.name for seat in match.seats])
    return None


def _counts(replay: Path, score: Score) -> Counts:
    """Returns the score after each turn of a replay, as far as it can be read."""
    counts: list[tuple[int, Sequence[float]]] = []
    if not replay.is_file():  # a pipe would be read for good
        return counts
    with suppress(UsageError, Difference):
        turn = 0
        for _, state, step in positions(Replay(replay)):
            turn = step.turn if isinstance(step, Turn) else turn
            counts.append((turn, tuple(score.count(state))))
    return counts


def _balance(counts: Counts, score: Score, player: Player, winners: Sequence[Player]) -> str | None:
    """Says from which turn on a seat was behind the best of the winners, or that it was not."""
    best = min if score.fewest else max

    def compared(seats: Sequence[float]) -> tuple[float, float]:
        return seats[player], best([seats[winner] for winner in winners])

    def behind(seats: Sequence[float]) -> bool:
        own, rival = compared(seats)
        return own > rival if score.fewest else own < rival

    def shown(seats: Sequence[float]) -> str:
        own, rival = compared(seats)
        return f"({own:g} to {rival:g} {score.unit})"

    if not counts:
        return None
    last, tipped = counts[-1], None
    for turn, seats in reversed(counts):
        if not behind(seats):
            break
        tipped = turn, seats
    if tipped is None:
        return f"in turn {last[0]}, without being behind {shown(last[1])}"
    turn, seats = tipped
    return f"behind since the start {shown(seats)}" if turn == 0 else f"behind since turn {turn} {shown(seats)}"
