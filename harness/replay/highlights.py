"""What people want to find again in a match, turn by turn, without playing on from its positions."""

from collections.abc import Mapping, Sequence
from typing import Any

from referee.games.contract import Player, State
from referee.games.ending import unique
from referee.games.game import Game, Highlight, Score


class Highlights:
    """Follows a match: deaths and captures, in the game's own words, and changes of the lead."""

    def __init__(self, game: Game, names: Sequence[str]) -> None:
        self._presentation, self._names = game.presentation, unique(names)
        self._view: Any = None
        self._leader: Player | None = None

    def take(self, state: State, view: Any, events: Sequence[Mapping[str, Any]]) -> list[Highlight]:
        """Returns what the last turn brought. `view`: everything, after it; `events`: its own, as plain values."""
        before, self._view = self._view, view
        found = [] if before is None else [*self._presentation.highlights(before, view, events, self._names)]
        score = self._presentation.score
        return found if score is None else found + self._new_leader(score, score.count(state))

    def _new_leader(self, score: Score, counts: Sequence[float]) -> list[Highlight]:
        """Says that another seat than before has the most. The first lead of a match, and a tie, change nothing."""
        best = min(counts) if score.fewest else max(counts)
        if len(counts) < 2 or counts.count(best) > 1:
            return []
        before, self._leader = self._leader, counts.index(best)
        if before in (None, self._leader):
            return []
        numbers = " to ".join(f"{count:g}" for count in sorted(counts, reverse=not score.fewest))
        return [Highlight("lead", f"{self._names[self._leader]} takes the lead, {numbers} {score.unit}")]
