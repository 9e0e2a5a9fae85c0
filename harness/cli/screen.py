"""What is shown while something is played: a line that changes on standard error, results on standard output."""

import os
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import msgspec
import trio
from rich.cells import cell_len, set_cell_size
from rich.console import Console

from referee.games.contract import Call, Event, State
from referee.harness.cli.reports.text import printable, short
from referee.harness.cli.reports.turns import board, title, turn
from referee.harness.cli.reports.verdict import headline, verdict
from referee.harness.cli.standard_streams import unwritable
from referee.harness.match.series import Outcome, Series, outcome
from referee.harness.match.verdict import Verdict

LIVE_EVERY_S = 0.2
CLEAR = "\r\x1b[K"
LEAST_NAME = 4
"""A terminal that has less room for each name shows none in its live line."""
CLEARED_S = 2.0
"""A terminal that has taken nothing for so long is left as it is."""


class _Console(Console):
    """Clears the live line before anything else is printed, and leaves it to the command line to end when nobody takes
    what is printed: rich would exit with 1."""

    def print(self, *objects: Any, **options: Any) -> None:
        live.clear()
        try:
            super().print(*objects, **options)
        except BrokenPipeError:
            raise
        except OSError as error:
            if not self.stderr:
                raise unwritable(error) from error

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


class LiveLine:
    """A line at the bottom of the terminal that changes.

    A thread of its own writes it, and does nothing else: a terminal that takes nothing, or little, must not keep the
    match from hearing a bot. What is shown before that has been written is replaced, never queued.
    """

    def __init__(self) -> None:
        self._shown = False
        self._to_show: str | None = None
        self._written = threading.Condition()
        self._thread: threading.Thread | None = None

    def show(self, text: str) -> None:
        """Draws it, where standard error is a terminal that can take it back. Never waits."""
        if err.is_terminal and not err.is_dumb_terminal:
            line = set_cell_size(text, err.width - 1).rstrip() if cell_len(text) >= err.width else text
            colour, plain = ("", "") if err.no_color or err.color_system is None else ("\x1b[36m", "\x1b[0m")
            self._write(f"{CLEAR}{colour}{line}{plain}")
            self._shown = True

    def clear(self) -> None:
        """Takes it back before anything else is printed; gives up on a terminal that takes nothing for a while."""
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
                except RuntimeError:  # the system has no room for a thread: the line is left out
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


live = LiveLine()
out = _Console(highlight=False, soft_wrap=True)
err = _Console(highlight=False, soft_wrap=True, stderr=True)


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Shows the last text that it was given, on the live line."""
    try:
        yield live.show
    finally:
        live.clear()


def building(what: str, taken_s: float) -> None:
    """Shows what is being built, and for how long."""
    live.show(f"building {what} {taken_s:.0f} s")


@contextmanager
def paged() -> Iterator[None]:
    """What the block prints on a terminal goes through $PAGER, or less, which leaves by itself if it fits a screen."""
    pager = shlex.split(os.environ.get("PAGER", "less"))
    if not out.is_terminal or not pager or shutil.which(pager[0]) is None or not sys.stdin.isatty():
        yield
        return
    reader = subprocess.Popen(
        pager, stdin=subprocess.PIPE, env={"LESS": "FRX", **os.environ}, text=True, errors="plain"
    )
    assert reader.stdin is not None
    before, out.file = out.file, reader.stdin
    try:
        with suppress(BrokenPipeError):  # the person has left the pager
            yield
    except BaseException:
        reader.terminate()  # the error is printed on the terminal, not into the pager
        raise
    finally:
        out.file = before
        with suppress(BrokenPipeError):
            reader.stdin.close()
        reader.wait()


def print_json(value: Any) -> None:
    """One object in one line, UTF-8 whatever the terminal speaks."""
    live.clear()
    try:
        sys.stdout.buffer.write(msgspec.json.encode(value) + b"\n")
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise unwritable(error) from error


class Screen:
    """Follows a series: how far it is, its verdicts, and its turns if asked for."""

    def __init__(self, series: Series, quiet: bool, verbose: bool) -> None:
        self.series = series
        self.quiet = quiet
        self.verbose = verbose
        self.started = time.monotonic()
        self.turn = 0
        self.results: list[tuple[tuple[int, ...], Verdict]] = []
        """Each match that was played, with the entrants at its seats."""
        self.points = [0.0] * len(series.match.entrants)
        self.people = any(entrant.human for entrant in series.match.entrants)
        """Then it is they who have the terminal, and each turn is told without what one of them may not see."""

    def so_far(self) -> Outcome | None:
        """What was played, if that is more than nothing."""
        return outcome(self.series, self.results) if self.results else None

    @asynccontextmanager
    async def drawn(self) -> AsyncIterator[None]:
        """The live line is drawn while the block runs."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._refresh)
            try:
                yield
            finally:
                nursery.cancel_scope.cancel()
                live.clear()

    async def _refresh(self) -> None:
        """Draws the live line, a few times a second."""
        while not self.quiet and not self.series.debug and not self.people:  # a debugger has the terminal to itself
            live.show(self._line())
            await trio.sleep(LIVE_EVERY_S)

    def turned(self, state: State, calls: Sequence[Call], answers: Mapping[int, Any], events: Sequence[Event]) -> None:
        """A turn was played."""
        self.turn += 1
        if self.people:
            err.print(turn(self.series.match.game, self.turn, state.setup.names, calls, answers, events, open=False))
        elif self.verbose and not self.quiet:
            game, setup = self.series.match.game, state.setup
            if self.turn == 1:
                out.print(title(game, setup.names, setup.seed), end="\n\n")
            out.print(turn(game, self.turn, setup.names, calls, answers, events))
            out.print(board(game, state), end="\n\n")

    def played(self, match: Verdict, order: tuple[int, ...]) -> None:
        """A match was played."""
        self.results.append((order, match))
        self.turn = 0
        for player, index in enumerate(order):
            self.points[index] += match.result.scores[player]
        if not self.quiet:
            title = self.series.match.game.title
            several = self.series.games > 1 and not match.faults
            out.print(headline(match, title, seated=True) if several else verdict(match, title))

    def _line(self) -> str:
        series = self.series
        number = min(len(self.results) + 1, series.games)
        elapsed = time.monotonic() - self.started
        start, end = f"game {number}/{series.games}  turn {self.turn}", f"{elapsed:.1f} s"
        names = [printable(entrant.name) for entrant in series.match.entrants]
        room = (err.width - len(start) - len(end) - 4) // len(names) - 7
        scores = [f"{name} {points:g}" for name, points in zip(short(names, room), self.points, strict=True)]
        return "  ".join([start, *(scores if room >= LEAST_NAME else ()), end])
