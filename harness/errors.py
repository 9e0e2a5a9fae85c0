"""The ways in which a run fails that are no bot's fault. Each message is one line for the person who ran it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

told_to_end: ContextVar[Sequence[str]] = ContextVar("told_to_end", default=())
"""By which signals this run was told to end, in words. What is cancelled may have been told otherwise: by a deadline of
its own that came at the same moment."""


class UsageError(Exception):
    """What was asked for cannot be: an unknown game, a missing path, a bad option. Exit code 2."""


class NoRoom(Exception):
    """The system gives us too few file descriptors to run with. Exit code 6."""


class RunError(Exception):
    """The run itself failed: a build, a program that cannot be started, a file that cannot be written. Exit code 3."""


class NotIsolated(RunError):
    """A guarantee was required that nothing on this machine keeps for a bot, which is not started. Exit code 5."""


@contextmanager
def ungrouped() -> Iterator[None]:
    """Around a nursery: a run that fails in a task of it fails by a `RunError`, not by a group with one in it."""
    try:
        yield
    except BaseExceptionGroup as group:
        failure = _only(group)
        if failure is None:
            raise
        raise failure from None


def _only(error: BaseException) -> RunError | None:
    """The first failure of a run, if there is nothing but such in a group."""
    if isinstance(error, BaseExceptionGroup):
        found = [_only(part) for part in error.exceptions]
        return None if None in found else found[0]
    return error if isinstance(error, RunError) else None
