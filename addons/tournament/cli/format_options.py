"""The options that say who meets whom, and how often."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from referee.addons.tournament.format_options import check_counts
from referee.addons.tournament.formats.games import Seating
from referee.addons.tournament.ties import parsed_ties
from referee.harness.cli.options import MORE, MORE_TITLE, NOT_NEGATIVE, given


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class FormatOptions:
    """The pairings, their number and their seats."""

    format: str | None = None
    """FORMAT: the pairings: round-robin (default), gauntlet, swiss, ladder, series, groups, knockout
    or double-elimination.
    Original competitions also need self, judged, two-player and list-order."""
    games: int | None = None
    """Games of each pairing or line-up: in a Swiss of each round, in a series at most, in a ladder altogether
    (0 = without end), in judged test runs. A match of a knockout is the best of them."""
    seats: Annotated[int | None, Parameter(group=MORE_TITLE, validator=NOT_NEGATIVE)] = None
    """Seats of every game, where its rules leave a choice. Default: the fewest."""
    seating: Seating | None = None
    """seed-group: play every seed with the bots at all seats; alternate: a seed per game, rotating seats; fixed: a seed
    per game, seats as named."""
    first_to: Annotated[int | None, MORE] = None
    """Wins needed to decide a series. Default: more than half of the games."""
    rounds: Annotated[int | None, MORE] = None
    """Rounds of a Swiss; in a round-robin at three or more seats, how often each bot plays."""
    ties: Annotated[str | None, MORE] = None
    """What decides between bots with equal points: a list with commas of buchholz, buchholz-cut-1, median-buchholz,
    sonneborn-berger, direct, wins and rating, or none. Default in a Swiss: buchholz-cut-1, buchholz, sonneborn-berger,
    direct; in a round-robin: direct, sonneborn-berger, wins."""
    play_off: Annotated[int | None, MORE] = None
    """Bots with equal points for one of the first N places of a round-robin or Swiss play further game pairs, before
    tie-breaks decide. Default: 0, none."""
    rank_by: Annotated[Literal["points", "score"] | None, MORE] = None
    """score: rank by the mean of what the game itself paid, such as chips, with its interval. A fault costs the most
    that can be lost. In a round-robin, gauntlet, two-player or list-order. Default: points, or Elo."""
    late_points: Annotated[float | None, Parameter(group=MORE_TITLE, validator=NOT_NEGATIVE)] = None
    """Points a game, 0, 0.5 or 1, for each round of a Swiss that a bot missed before it came. Default: 0."""
    absent: Annotated[Sequence[str], MORE] = ()
    """The name of a bot that plays no more, as after `withdraw`. May be given more than once."""

    def changes(self) -> dict[str, Any]:
        """Returns the members of a request that these options set, except the absent bots.

        UsageError for a number that is right for no format.
        """
        check_counts("--", self.format or "ladder", self)
        changes = {name: value for each, value in given(self) if (name := each.name) != "absent"}
        return changes if self.ties is None else changes | {"ties": parsed_ties(self.ties)}
