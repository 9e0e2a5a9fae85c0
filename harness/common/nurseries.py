"""Errors that come out of trio's nurseries."""

from collections.abc import Iterator
from contextlib import contextmanager

import trio

from referee.harness.common.errors import FOR_USERS, leaves


@contextmanager
def ungrouped() -> Iterator[None]:
    """Unwraps a group that holds our errors, and nothing else but cancelled tasks. To be put around a nursery.

    If the nursery was being cancelled from outside, the error takes precedence.
    """
    try:
        yield
    except BaseExceptionGroup as group:
        failures = [leaf for leaf in leaves(group) if not isinstance(leaf, trio.Cancelled)]
        if not failures or not all(isinstance(failure, FOR_USERS) for failure in failures):
            raise
        raise failures[0] from None
