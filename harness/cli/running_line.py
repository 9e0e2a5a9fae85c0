"""Shows how a run of two bots stands: live on a terminal, elsewhere in a line after every so many games."""

import time
from collections.abc import Callable
from typing import Annotated

from cyclopts import Parameter

from referee.harness.cli.options import MORE_TITLE, NOT_NEGATIVE
from referee.harness.cli.reports.text import printable
from referee.harness.cli.screen import LIVE_EVERY_S, err, live

EVERY = 100
"""Games between two lines where there is no terminal."""
Every = Annotated[int, Parameter(group=MORE_TITLE, validator=NOT_NEGATIVE)]


class RunningLine:
    """The line of one run."""

    def __init__(self, every: int, before: int) -> None:
        """`every`: games between two lines without a terminal, 0 = none. `before`: games of earlier runs."""
        self._every, self._before = every, before
        self._is_live = err.is_terminal and not err.is_dumb_terminal
        self._started, self._shown_at = time.monotonic(), 0.0
        self._next = before + every

    def is_due(self, games: int) -> bool:
        """Whether a line is due after so many games, where there is no terminal."""
        return not self._is_live and self._every > 0 and games >= self._next

    def show(self, games: int, text: Callable[[float], str]) -> None:
        """Shows the line if it is due after so many games. `text` makes it, from the games a minute."""
        now = time.monotonic()
        if self._is_live:
            if now - self._shown_at >= LIVE_EVERY_S:
                self._shown_at = now
                live.show(text(self.rate(games, now)))
        elif self.is_due(games):
            self._next = games - (games - self._before) % self._every + self._every
            err.print(printable(text(self.rate(games, now))))

    def rate(self, games: int, now: float) -> float:
        """Returns the games a minute of this run."""
        return 60 * (games - self._before) / max(now - self._started, 1e-3)
