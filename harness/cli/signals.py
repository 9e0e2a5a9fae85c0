"""A signal to end is obeyed in order: bots and builds are ended, the record says that the match was aborted.

The second signal ends the process at once; before that, Referee writes the last line of open replays.
"""

import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

import trio

from referee.harness.errors import told_to_end
from referee.harness.replay.writer import end_all_at_once

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
T = TypeVar("T")


class Ended(BaseException):
    """We were told to end by a signal."""

    def __init__(self, number: int) -> None:
        super().__init__(_words(number))
        self.number = number


def _words(number: int) -> str:
    return "interrupted" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"


@contextmanager
def obeyed() -> Iterator[None]:
    """While the block runs, SIGTERM and SIGHUP raise `Ended` in it, as Ctrl-C raises KeyboardInterrupt. Not while `run`
    plays, which has its own way, nor in a block of `on_screen`."""

    def end(number: int) -> None:
        raise Ended(number)

    with _handled(ENDING[1:], end):
        yield


@contextmanager
def on_screen(leave: Callable[[], None]) -> Iterator[None]:
    """While the block runs, SIGTERM and SIGHUP call `leave`, upon which the block is to end soon; then it raises
    `Ended`. An exception out of nowhere would be lost in the loop of a full screen's library, and the screen stay."""
    numbers: list[int] = []

    def end(number: int) -> None:
        if callable(signal.getsignal(signal.SIGCONT)):  # the screen's; `timeout` and systemd send that signal along
            signal.signal(signal.SIGCONT, lambda number, frame: None)
        numbers.append(number)
        leave()

    with _handled(ENDING[1:], end):
        yield
    if numbers:
        raise Ended(numbers[0])


def run(function: Callable[..., Awaitable[T]], *args: object, interrupts: bool = True) -> T:
    """`trio.run`, which a signal cancels: what the tasks clean up, they clean up. Raises `Ended` then.

    `interrupts` False: Ctrl-C is left to whoever has the terminal, such as a debugger.
    """

    async def main() -> T:
        numbers: list[int] = []
        words: list[str] = []
        told_to_end.set(words)
        token = trio.lowlevel.current_trio_token()
        with trio.CancelScope() as scope:

            def end(number: int) -> None:
                numbers.append(number)
                words.append(_words(number))
                token.run_sync_soon(scope.cancel, words[0])

            with _handled(ENDING if interrupts else ENDING[1:], end):
                return await function(*args)
        raise Ended(numbers[0])

    return trio.run(main)


@contextmanager
def _handled(numbers: tuple[signal.Signals, ...], end: Callable[[int], None]) -> Iterator[None]:
    """Calls `end` for the first of these signals. The second one writes the last lines of open replays and ends the
    process, and after that they do what they do to any program.

    One that is ignored stays ignored, as SIGHUP under nohup.
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
        end_all_at_once(why)
        os.kill(os.getpid(), number)

    try:
        for number in handled:
            signal.signal(number, first)
    except ValueError:  # not in the main thread: signals are somebody else's
        handled.clear()
    try:
        yield
    finally:
        for number in handled:
            if signal.getsignal(number) is first:
                signal.signal(number, before[number])
            elif signal.getsignal(number) is second:
                signal.signal(number, signal.SIG_DFL)
