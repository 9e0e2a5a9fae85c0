"""Ends a run in order after SIGINT, SIGTERM or SIGHUP: bots and builds end, the replay says that it was aborted.

The second signal ends the process at once, after the last line of open replays.
"""

import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

import trio

from referee.harness.replay.writer import end_all_writers

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
T = TypeVar("T")


class Ended(BaseException):
    """A signal asked the run to end."""

    def __init__(self, number: int) -> None:
        super().__init__(_words(number))
        self.number = number


def _words(number: int) -> str:
    return "interrupted" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"


@contextmanager
def obeyed() -> Iterator[None]:
    """Raises `Ended` in the block after SIGTERM or SIGHUP, as Ctrl-C raises KeyboardInterrupt.

    `run` and `on_screen` replace this while they run.
    """

    def end(number: int) -> None:
        raise Ended(number)

    with _handled(ENDING[1:], end):
        yield


@contextmanager
def on_screen(leave: Callable[[], None]) -> Iterator[None]:
    """Calls `leave` after SIGTERM or SIGHUP, which must end the block soon; then raises `Ended`.

    The event loop of a full-screen library would swallow an exception raised by a signal handler.
    """
    numbers: list[int] = []

    def end(number: int) -> None:
        if callable(signal.getsignal(signal.SIGCONT)):  # `timeout` and systemd also send SIGCONT
            signal.signal(signal.SIGCONT, lambda number, frame: None)
        numbers.append(number)
        leave()

    with _handled(ENDING[1:], end):
        yield
    if numbers:
        raise Ended(numbers[0])


def run(function: Callable[..., Awaitable[T]], *args: object) -> T:
    """Runs an async function with trio; a signal cancels it, then `Ended` is raised."""

    async def main() -> T:
        numbers: list[int] = []
        token = trio.lowlevel.current_trio_token()
        with trio.CancelScope() as scope:

            def end(number: int) -> None:
                numbers.append(number)
                token.run_sync_soon(scope.cancel, _words(number))

            with _handled(ENDING, end):
                return await function(*args)
        raise Ended(numbers[0])

    return trio.run(main)


@contextmanager
def _handled(numbers: tuple[signal.Signals, ...], end: Callable[[int], None]) -> Iterator[None]:
    """Calls `end` for the first of these signals; the second writes the last lines of open replays and ends us.

    A third one has its default effect. An ignored signal stays ignored, as SIGHUP under nohup.
    """
    before = {number: signal.getsignal(number) for number in numbers}
    handled = [number for number, handler in before.items() if handler not in (signal.SIG_IGN, None)]

    why = ""

    def first(number: int, frame: FrameType | None) -> None:
        nonlocal why
        why = _words(number)
        for each in handled:
            signal.signal(each, second)
        end(number)

    def second(number: int, frame: FrameType | None) -> None:
        for each in handled:
            signal.signal(each, signal.SIG_DFL)
        end_all_writers(why)
        os.kill(os.getpid(), number)

    try:
        for number in handled:
            signal.signal(number, first)
    except ValueError:  # not in the main thread, where signals cannot be handled
        handled.clear()
    try:
        yield
    finally:
        for number in handled:
            if signal.getsignal(number) is first:
                signal.signal(number, before[number])
            elif signal.getsignal(number) is second:
                signal.signal(number, signal.SIG_DFL)
