"""The ways in which a run fails that are not a bot's fault. Each message is one line for the user."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

Kind = TypeVar("Kind", bound=BaseException)


class UsageError(Exception):
    """The request is invalid: an unknown game, a missing path, a bad option. Exit code 2."""


class NoRoom(Exception):
    """The system allows too few file descriptors. Exit code 6."""


class RunError(Exception):
    """The run itself failed: a build, a program that cannot be started, a file that cannot be written. Exit code 3."""


class NotIsolated(RunError):
    """This machine cannot keep a required guarantee, so no bot is started. Exit code 5."""


class NotTested(RunError):
    """The bot to be tested cannot be built or started. Exit code 125, with which `git bisect run` skips a commit."""


FOR_USERS = (UsageError, NoRoom, RunError)
"""All of them, with those that are derived from these."""


def leaves(error: BaseException) -> Iterator[BaseException]:
    """Yields the exceptions in nested groups; an exception that is no group alone."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from leaves(inner)
    else:
        yield error


def first_of(error: BaseException, *kinds: type[Kind]) -> Kind | None:
    """Returns the first exception of these kinds, also inside of groups."""
    return next((leaf for leaf in leaves(error) if isinstance(leaf, kinds)), None)


def reason(error: Exception) -> str:
    """Returns why something failed, without the number and the file that Python puts around the system's words."""
    return getattr(error, "strerror", None) or str(error)


@contextmanager
def writing(what: object) -> Iterator[None]:
    """Turns an OSError of the block into a RunError: `what`, such as a path, cannot be written."""
    try:
        yield
    except OSError as error:
        raise RunError(f"{what} cannot be written: {reason(error)}") from error
