"""The line that says how a run of two bots stands, with the figures that testers of chess engines know."""

from collections.abc import Sequence

from referee.addons.tournament.reports.rows import Standings
from referee.addons.tournament.statistics.score import Sample, strength
from referee.harness.cli.reports.figures import number


def running_line(played: tuple[int, int, int], pairs: Sequence[int], per_minute: float, evidence: str = "") -> str:
    """Returns, for example, `Games 240  W 102 D 60 L 78  Elo +34.9 ± 31.2  Ptnml [5, 20, 60, 25, 10]  812 games/min`.

    A narrow terminal shows only the beginning, so the evidence comes before the pairs.

    `played`: games won, drawn and lost by the first bot. `pairs`: game pairs that gave it 0, ½, 1, 1½ and 2 points.
    `evidence`: of a gate, such as the likelihood ratio.
    """
    wins, draws, losses = played
    parts = [f"Games {sum(played):,}", f"W {wins:,} D {draws:,} L {losses:,}", _elo(pairs)]
    return "  ".join([*parts, *filter(None, [evidence]), f"Ptnml {list(pairs)}", rate(per_minute)])


def line_of_two(result: Standings, first: str, per_minute: float) -> str:
    """Returns the line of a tournament of two bots. `first`: the ident of the one that the figures are of."""
    rows = sorted(result.rows, key=lambda row: row.ident != first)
    cell = result.cross.get(rows[0].name, {}).get(rows[1].name)
    pairs = [0] * 5 if cell is None else cell.penta or [0] * 5
    return running_line((rows[0].wins, rows[0].draws, rows[0].losses), pairs, per_minute)


def rate(per_minute: float) -> str:
    """Returns, for example, `812 games/min`."""
    return f"{per_minute:,.0f} games/min" if per_minute >= 10 else f"{per_minute:.1f} games/min"


def _elo(pairs: Sequence[int]) -> str:
    """Returns Elo with half of its 95 % interval; a question mark stands for what is not known."""
    if not any(pairs):
        return "Elo ?"
    elo = strength(Sample(tuple(pairs))).elo
    half = None if elo.low is None or elo.high is None else (elo.high - elo.low) / 2
    return f"Elo {number(elo.value, '+.1f')} ± {number(half, '.1f')}"
