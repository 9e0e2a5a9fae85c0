"""What is shown while something is played: a line that changes on standard error, results on standard output."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import trio
from rich.console import Console
from rich.live import Live
from rich.text import Text

from games.api import Call, Event, State
from harness import report
from harness.series import Series
from harness.verdict import Verdict

LIVE_EVERY_S = 0.2


class _Console(Console):
    """Leaves it to the command line to end when nobody reads on: rich would exit with 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


out = _Console(highlight=False, soft_wrap=True)
err = Console(highlight=False, soft_wrap=True, stderr=True)


def _live() -> Live:
    """Refreshed by us alone: a thread of rich's would take the interpreter in the middle of somebody's call."""
    return Live(console=err, auto_refresh=False, transient=True)


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Shows the last text that it was given, if standard error is a terminal."""
    with _live() as live:
        yield lambda text: live.update(Text(text, style="cyan"), refresh=err.is_terminal)


class Screen:
    """Follows a series: how far it is, its verdicts, and its turns if asked for."""

    def __init__(self, series: Series, quiet: bool, verbose: bool) -> None:
        self.series = series
        self.quiet = quiet
        self.verbose = verbose
        self.started = time.monotonic()
        self.turn = 0
        self.matches = 0
        self.points = [0.0] * len(series.match.entrants)
        self.live = _live()

    def __enter__(self) -> "Screen":
        if not self.quiet and not self.series.debug and err.is_terminal:  # a debugger has the terminal to itself
            self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.live.stop()

    async def refresh(self) -> None:
        """Draws the line, a few times a second."""
        while self.live.is_started:
            self.live.update(self._line(), refresh=True)
            await trio.sleep(LIVE_EVERY_S)

    def turned(self, state: State, calls: Sequence[Call], answers: Mapping[int, Any], events: Sequence[Event]) -> None:
        """A turn was played."""
        self.turn += 1
        if self.verbose and not self.quiet:
            out.print(report.turn(self.turn, state.setup.names, answers, events))

    def played(self, match: Verdict, order: tuple[int, ...]) -> None:
        """A match was played."""
        self.matches += 1
        self.turn = 0
        for player, index in enumerate(order):
            self.points[index] += match.result.scores[player]
        if not self.quiet:
            title = self.series.match.game.title
            several = self.series.games > 1 and not match.faults
            out.print(report.headline(match, title) if several else report.verdict(match, title))

    def _line(self) -> Text:
        series = self.series
        score = "  ".join(
            f"{report.printable(entrant.name)} {points:g}"
            for entrant, points in zip(series.match.entrants, self.points, strict=True)
        )
        number = min(self.matches + 1, series.games)
        elapsed = time.monotonic() - self.started
        return Text(f"game {number}/{series.games}  turn {self.turn}  {score}  {elapsed:.1f} s", style="cyan")
