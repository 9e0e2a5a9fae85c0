"""numpy, which computes standings and ratings, comes with the extra `tournament`."""

import os
from importlib.util import find_spec

from referee.harness.common.errors import UsageError
from referee.harness.common.installed import extra_command

EXTRA = "tournament"
THREADS = "OPENBLAS_NUM_THREADS"
"""The environment variable that limits the threads of numpy."""


def check_numpy() -> None:
    """Raises UsageError with the command that installs numpy if it is missing. Does not load it."""
    if find_spec("numpy") is None:
        raise UsageError(f"standings need the extra `{EXTRA}`; to install it: {extra_command(EXTRA)}")


def load_numpy() -> None:
    """Loads numpy, which takes 0.1 s, with one thread for its linear algebra: more of them take cores from bots.

    On a busy machine, two threads also waited for each other five times as long as one computed. UsageError as for
    `check_numpy`.
    """
    check_numpy()
    is_set = THREADS in os.environ
    os.environ.setdefault(THREADS, "1")  # read when numpy is loaded
    try:
        import numpy  # noqa: F401
    finally:
        if not is_set:
            os.environ.pop(THREADS, None)  # commands of the user keep theirs
