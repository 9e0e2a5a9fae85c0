"""Prints results on standard output, and a live line on standard error while something is played."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext, suppress
from typing import Any

import msgspec
import trio
from rich.cells import cell_len, set_cell_size
from rich.console import Console, RenderableType
from rich.pager import Pager
from rich.text import Text

from referee.games.contract import Call, Event, State
from referee.harness.cli.reports.text import printable, short
from referee.harness.cli.reports.turns import board, legend, title, turn
from referee.harness.cli.reports.verdict import headline, verdict
from referee.harness.cli.standard_streams import writing
from referee.harness.match.series import Outcome, Series, outcome
from referee.harness.match.verdict import Verdict
from referee.harness.seats.kinds import PERSON
from referee.protocol.text import escaped_json

LIVE_EVERY_S = 0.2
CLEAR = "\r\x1b[K"
LEAST_NAME = 4
"""The live line shows names only if each has this many columns."""
CLEARED_S = 2.0
"""How long to wait for a terminal that accepts no output."""


class _Console(Console):
    """A console that clears the live line first, and raises BrokenPipeError, where rich would exit with 1."""

    def print(self, *objects: Any, **options: Any) -> None:
        live.clear()
        with writing(ignore_errors=self.stderr):
            super().print(*objects, **options)

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


class LiveLine:
    """A line at the bottom of the terminal that changes.

    A thread writes it, so that a slow terminal does not delay a match. A newer line replaces one that waits.
    """

    def __init__(self) -> None:
        self._shown = False
        self._to_show: str | None = None
        self._written = threading.Condition()
        self._thread: threading.Thread | None = None

    def show(self, text: str) -> None:
        """Draws the line if standard error is a terminal that can erase it. Never blocks."""
        if err.is_terminal and not err.is_dumb_terminal:
            line = set_cell_size(text, err.width - 1).rstrip() if cell_len(text) >= err.width else text
            colour, plain = ("", "") if err.no_color or err.color_system is None else ("\x1b[36m", "\x1b[0m")
            self._write(f"{CLEAR}{colour}{line}{plain}")
            self._shown = True

    def clear(self) -> None:
        """Erases the line; gives up after `CLEARED_S`."""
        if self._shown:
            self._shown = False
            self._write(CLEAR)
            with self._written:
                self._written.wait_for(lambda: self._to_show is None, CLEARED_S)

    def _write(self, text: str) -> None:
        with self._written:
            if self._thread is None:
                thread = threading.Thread(target=self._work, daemon=True)
                try:
                    thread.start()
                except RuntimeError:  # no more threads: there is no line
                    return
                self._thread = thread
            self._to_show = text
            self._written.notify_all()

    def _work(self) -> None:
        while True:
            with self._written:
                self._written.wait_for(lambda: self._to_show is not None)
                text = self._to_show or ""
            with suppress(OSError, ValueError):
                os.write(err.file.fileno(), text.encode(getattr(err.file, "encoding", "utf-8"), "replace"))
            with self._written:
                if self._to_show is text:
                    self._to_show = None
                self._written.notify_all()


def _drop_wrong_size() -> None:
    """Removes a size of the terminal that nothing can be printed in: containers and CI may say COLUMNS=0."""
    for name in ("COLUMNS", "LINES"):
        if (text := os.environ.get(name)) is not None and not re.fullmatch("0*[1-9][0-9]{0,4}", text, re.ASCII):
            del os.environ[name]


_drop_wrong_size()
live = LiveLine()
out = _Console(markup=False, emoji=False, highlight=False, soft_wrap=True)
err = _Console(markup=False, emoji=False, highlight=False, soft_wrap=True, stderr=True)


def warn(text: str) -> None:
    """Prints a warning."""
    err.print(Text.assemble(("warning: ", "bold yellow"), printable(text)))


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Yields a function that shows a text on the live line; clears it at the end."""
    try:
        yield live.show
    finally:
        live.clear()


def building(what: str, elapsed_s: float) -> None:
    """Shows what is being built, and for how long."""
    live.show(f"building {what} {elapsed_s:.0f} s")


class _Pager(Pager):
    """$PAGER, by default less, which exits if the text fits a screen."""

    def __init__(self) -> None:
        self.command = shlex.split(os.environ.get("PAGER", "less"))

    def show(self, content: str) -> None:
        env = {"LESS": "FRX", **os.environ}
        subprocess.run(self.command, input=content, env=env, text=True, errors="plain", check=False)


def paged() -> AbstractContextManager[object]:
    """Sends what the block prints on a terminal through the pager."""
    pager = _Pager()
    usable = out.is_terminal and sys.stdin.isatty() and pager.command and shutil.which(pager.command[0])
    return out.pager(pager, styles=True) if usable else nullcontext()


def print_json(value: Any) -> None:
    """Prints an object in one line, always as UTF-8."""
    live.clear()
    with writing():
        sys.stdout.buffer.write(escaped_json(msgspec.json.encode(value)) + b"\n")
        sys.stdout.flush()


def print_result(value: Any, shown: RenderableType, json: bool) -> None:
    """Prints a result as JSON or as people read it."""
    if json:
        print_json(value)
    else:
        out.print(shown)


class Screen:
    """Shows a series: its progress, its verdicts, and its turns with `--verbose`."""

    def __init__(self, series: Series, quiet: bool, verbose: bool) -> None:
        self.series = series
        self.quiet = quiet
        self.verbose = verbose
        self.started = time.monotonic()
        self.turn = 0
        self.results: list[tuple[tuple[int, ...], Verdict]] = []
        """For each match, the entrants by seat and the verdict."""
        self.points = [0.0] * len(series.match.entrants)
        self.people = any(PERSON.plays(entrant) for entrant in series.match.entrants)
        """People use this terminal: turns are shown without hidden information."""

    def so_far(self) -> Outcome | None:
        """Returns the outcome of the matches played so far; None if there are none."""
        return outcome(self.series, self.results) if self.results else None

    @asynccontextmanager
    async def drawn(self) -> AsyncIterator[None]:
        """Draws the live line while the block runs."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._refresh)
            try:
                yield
            finally:
                nursery.cancel_scope.cancel()
                live.clear()

    async def _refresh(self) -> None:
        while not self.quiet and not self.people:  # a person uses the terminal
            live.show(self._line())
            await trio.sleep(LIVE_EVERY_S)

    def turned(self, state: State, calls: Sequence[Call], answers: Mapping[int, Any], events: Sequence[Event]) -> None:
        """Shows a turn."""
        self.turn += 1
        game, names = self.series.match.game, state.setup.names
        if self.people:
            err.print(turn(game, self.turn, names, calls, answers, events, open=False))
        elif self.verbose and not self.quiet:
            if self.turn == 1:
                out.print(title(game, names, state.setup.seed), end="\n\n")
            out.print(turn(game, self.turn, names, calls, answers, events))
            out.print(board(game, state), end="\n\n")

    def played(self, match: Verdict, order: tuple[int, ...]) -> None:
        """Adds a match and shows its verdict."""
        self.results.append((order, match))
        for player, index in enumerate(order):
            self.points[index] += match.result.scores[player]
        if not self.quiet:
            game = self.series.match.game
            if self.verbose and self.turn and not self.people:
                out.print(*legend(game), end="\n\n")
            several = self.series.games > 1 and not match.faults
            out.print(headline(match, game, seated=True) if several else verdict(match, game))
        self.turn = 0

    def _line(self) -> str:
        series = self.series
        number = min(len(self.results) + 1, series.games)
        elapsed = time.monotonic() - self.started
        start, end = f"game {number}/{series.games}  turn {self.turn}", f"{elapsed:.1f} s"
        names = [printable(entrant.name) for entrant in series.match.entrants]
        room = (err.width - len(start) - len(end) - 4) // len(names) - 7
        scores = [f"{name} {points:g}" for name, points in zip(short(names, room), self.points, strict=True)]
        return "  ".join([start, *(scores if room >= LEAST_NAME else ()), end])
