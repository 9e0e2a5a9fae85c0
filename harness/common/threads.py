"""Work in threads, so that other tasks do not wait for it. If the system starts no thread, the caller does the work.

A bot can use up the tasks of a container or of a service. The referee must go on then, since it has to end that bot.
"""

from collections.abc import Callable, Generator
from time import perf_counter
from typing import TypeVar

import trio

SLICE_S = 0.0005
"""How long work in steps may keep other tasks waiting."""
T = TypeVar("T")
Steps = Generator[bool, None, T]
"""Work in short steps. It yields True when the next step may be long."""


async def finish(steps: Steps[T]) -> T:
    """Runs work in steps: for `SLICE_S` here, the rest in a thread. Returns its result."""
    done = _within(steps) or await _in_thread(lambda: finish_now(steps), abandon=True)
    while done is None:
        await trio.lowlevel.checkpoint()
        done = _within(steps)
    return done[0]


def glance(steps: Steps[T]) -> T | None:
    """Runs work in steps for `SLICE_S`. Returns its result; None if there was not enough time."""
    done = _within(steps)
    return None if done is None else done[0]


def finish_now(steps: Steps[T]) -> T:
    """Runs work in steps, however long that takes. Returns its result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: T = end.value
            return result


async def run(work: Callable[[], T], abandon: bool = False) -> T:
    """Runs `work` in a thread, if the system starts one. Returns its result.

    With `abandon`, a cancelled caller does not wait for the thread.
    """
    done = await _in_thread(work, abandon)
    return work() if done is None else done[0]


async def _in_thread(work: Callable[[], T], abandon: bool = False) -> tuple[T] | None:
    """Returns the result; None if the system starts no thread, and nothing has been done."""
    started = False

    def run() -> T:
        nonlocal started
        started = True
        return work()

    try:
        return (await trio.to_thread.run_sync(run, abandon_on_cancel=abandon),)
    except RuntimeError:
        if started:
            raise
        return None


def _within(steps: Steps[T]) -> tuple[T] | None:
    until = perf_counter() + SLICE_S
    try:
        while not next(steps) and perf_counter() < until:
            pass
    except StopIteration as end:
        return (end.value,)
    return None
