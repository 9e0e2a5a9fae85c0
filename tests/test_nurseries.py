"""Errors that come out of trio's nurseries: a failed run is one `RunError`, not a group."""

import pytest
import trio

from referee.harness.common import errors
from referee.harness.common.errors import RunError
from referee.harness.common.nurseries import ungrouped


async def fail(error: Exception) -> None:
    raise error


async def failing(*errors: Exception) -> None:
    with ungrouped():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)
            for error in errors:
                nursery.start_soon(fail, error)


@pytest.mark.trio
async def test_run_errors_are_unwrapped_and_bugs_are_not() -> None:
    with pytest.raises(RunError, match="no disk"):
        await failing(RunError("no disk"))
    for kind in (each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, Exception)):
        with pytest.raises(kind, match="no such seed"):
            await failing(kind("no such seed"))
    with pytest.raises(ExceptionGroup):
        await failing(RunError("no disk"), ValueError("a bug"))


@pytest.mark.trio
async def test_a_run_that_fails_while_it_is_cancelled_still_fails_by_its_error() -> None:
    with pytest.raises(RunError, match="no disk"), trio.CancelScope() as scope:
        scope.cancel()
        await failing(RunError("no disk"))
