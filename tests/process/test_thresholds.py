"""Where a limit or a rule begins to hold: one step below it, at it, and one above."""

import os
import signal
from math import inf

import pytest
import trio

from referee.games.contract import FaultKind
from referee.harness.process.core_wait import LACKED_PERCENT, UNEVEN_PERCENT, _Standing, is_uneven, lacked_time
from referee.harness.process.limits import FULL_BYTES, Limits, kernel_fault, passed_limit
from referee.harness.process.stall_clock import stall_clock
from referee.harness.process.usage import Usage

LIMITS = Limits(memory_bytes=1000, cpu_s=2.0, processes=3, file_bytes=100, scratch_bytes=1 << 20)
NO_LIMITS = Limits(memory_bytes=None, cpu_s=None, processes=None, file_bytes=None, scratch_bytes=None)


@pytest.mark.parametrize(
    ("usage", "kind"),
    [
        (Usage(peak_memory_bytes=1000, cpu_s=2.0, processes=3), None),
        (Usage(peak_memory_bytes=1001), FaultKind.MEMORY),
        (Usage(cpu_s=2.001), FaultKind.CPU),
        (Usage(processes=4), FaultKind.PROCESSES),
    ],
)
def test_a_bot_may_use_exactly_its_limits(usage: Usage, kind: FaultKind | None) -> None:
    fault = passed_limit(usage, LIMITS)
    assert (fault and fault.kind) == kind
    assert passed_limit(usage, NO_LIMITS) is None


@pytest.mark.parametrize(
    ("code", "room_bytes", "kind"),
    [
        (1, FULL_BYTES - 1, FaultKind.FILES),
        (1, 0, FaultKind.FILES),
        (1, FULL_BYTES, None),
        (1, -1, None),  # unknown
        (0, 0, None),  # a bot that exits well may have filled its folder
        (-signal.SIGXFSZ, -1, FaultKind.FILES),
        (-signal.SIGXCPU, -1, FaultKind.CPU),
        (-signal.SIGKILL, -1, None),
    ],
)
def test_the_end_of_a_bot_shows_a_limit_of_the_kernel(code: int, room_bytes: int, kind: FaultKind | None) -> None:
    fault = kernel_fault(code, room_bytes, LIMITS)
    assert (fault and fault.kind) == kind
    assert kernel_fault(code, room_bytes, NO_LIMITS) is None


def test_a_bot_lacked_time_beyond_a_tenth_of_its_limit() -> None:
    assert LACKED_PERCENT == 10 and not lacked_time(2.0, 0.2) and lacked_time(2.0, 0.201)
    assert UNEVEN_PERCENT == 1 and is_uneven(2.0, 0.02) and not is_uneven(2.0, 0.0199)


@pytest.mark.skipif(not hasattr(os, "SCHED_BATCH"), reason="Linux alone has these policies")
def test_a_thread_stands_below_another_by_priority_or_by_policy() -> None:
    usual, batch = _Standing(), _Standing(policy=os.SCHED_BATCH)
    assert not usual.is_below(usual)
    assert _Standing(nice=1).is_below(usual) and not _Standing(nice=-1).is_below(usual)
    assert batch.is_below(usual) and not batch.is_below(batch) and not usual.is_below(batch)


@pytest.mark.trio
async def test_the_stall_clock_runs_on_when_its_last_beat_has_ended() -> None:
    clock = stall_clock()

    async def beat(task_status: trio.TaskStatus[trio.CancelScope]) -> None:
        with trio.CancelScope() as scope:
            task_status.started(scope)
            await clock.beat()

    async with trio.open_nursery() as nursery:
        first, second = [await nursery.start(beat) for _ in range(2)]
        await trio.sleep(0.001)
        first.cancel()
        await trio.sleep(0.001)
        assert clock.stop < inf, "one beat is left"
        second.cancel()
    assert clock.stop == inf
