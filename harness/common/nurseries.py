"""Errors that come out of trio's nurseries."""

from collections.abc import Iterator
from contextlib import contextmanager

import trio

from referee.harness.common.errors import FOR_USERS


@contextmanager
def ungrouped() -> Iterator[None]:
    """Unwraps a group that holds our errors, and nothing else but cancelled tasks. To be put around a nursery.

    If the nursery was being cancelled from outside, the error takes precedence.
    """
    try:
        yield
    except BaseExceptionGroup as group:
        failures, others = group.split(FOR_USERS)
        if failures is None or (others is not None and others.split(trio.Cancelled)[1] is not None):
            raise
        failure: BaseException = failures
        while isinstance(failure, BaseExceptionGroup):
            failure = failure.exceptions[0]
        raise failure from None
