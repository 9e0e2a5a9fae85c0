"""Usage of a bot's processes: how it is read, and that no call waits for the reading."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
import trio
from scripted import Arena

from referee.games.contract import FaultKind
from referee.games.game import TimeControl
from referee.harness.isolation import supervisor
from referee.harness.process.limits import Limits
from referee.harness.process.usage import Curve, Meter, Usage

pytestmark = pytest.mark.alone

SHARING = """
held = b'x' * (200 << 20)
workers = []
for _ in range(200):
    workers.append(os.fork())
    if workers[-1] == 0:
        signal.pause()
"""


@contextmanager
def tree(source: str) -> Iterator[tuple[int, int]]:
    """Runs a Python program, which then waits, below a process of its own. Yields both pids, the program's first.

    Other children of the tests, such as a browser, are not below that process.
    """
    code = f"import os, signal, sys\npid = os.getpid()\n{source}\nprint(pid, flush=True); signal.pause()"
    command = ["sh", "-c", '"$@"; :', "sh", sys.executable, "-I", "-S", "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as above:
        assert above.stdout is not None
        try:
            yield int(above.stdout.readline()), above.pid
        finally:
            os.killpg(above.pid, 9)


@pytest.mark.slow
@pytest.mark.trio
async def test_a_tree_of_200_processes_that_share_200_mib_is_read_in_a_thread() -> None:
    """The CPU time of the loop between two of its turns counts, so that machine load does not matter."""
    longest_s = 0.0

    async def beat() -> None:
        nonlocal longest_s
        while True:
            before = time.thread_time()
            await trio.sleep(0.001)
            longest_s = max(longest_s, time.thread_time() - before)

    with tree(SHARING) as pids:
        meter = Meter(*pids)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(beat)
            await meter.read()
            await meter.read()
            nursery.cancel_scope.cancel()
    assert meter.usage.processes == 201
    assert 200 << 20 < meter.usage.memory_bytes < 600 << 20, "pages that all of them share count once"
    assert longest_s < 0.02, "it was 0.2 to 0.5 s when it was read on the loop"


@pytest.mark.trio
async def test_a_tree_that_has_used_no_time_rests_until_one_of_its_processes_does() -> None:
    with tree("signal.signal(signal.SIGUSR1, lambda *_: signal.pause()); child = os.fork()") as pids:
        meter = Meter(*pids)
        assert not meter.rests(), "it was never read"
        while not meter.rests():  # the child is on its way to its own pause
            assert (await meter.read()).processes <= 2
        assert meter.usage.processes == 2
        (child,) = psutil.Process(pids[0]).children()
        child.send_signal(signal.SIGUSR1)
        while meter.rests():
            await trio.sleep(0.001)
        await meter.read()
        meter.start_match()
        assert not meter.rests(), "what a match has used is counted from its beginning"


@pytest.mark.slow
@pytest.mark.trio
async def test_the_rival_of_a_bot_with_200_children_loses_no_call(arena: Arena) -> None:
    forker = arena.bot(
        f"greet(); throw('rock')\n{SHARING}for _ in range(9): throw('rock')\nanswer(call(), None); call()"
    )
    body = "greet()\nfor _ in range(10): asked = call(); time.sleep(0.03); answer(asked, 'paper')\n"
    rival = arena.bot(f"{body}answer(call(), None); call()", name="rival")
    match = arena.match(forker, rival, game="rounds", rounds=10, turns=True, time=TimeControl(per_call_s=0.3))
    verdict = await arena.play(match, Limits(memory_bytes=None), granted_s=20.0)
    assert [fault for fault in verdict.faults if fault.player == 1] == []


@pytest.mark.slow
@pytest.mark.trio
async def test_a_glance_at_a_tree_that_is_too_large_for_it_leaves_the_last_reading() -> None:
    with tree(SHARING) as pids:
        meter = Meter(*pids)
        before = time.thread_time()
        assert meter.glance().processes == 0
        assert time.thread_time() - before < 0.02
        await meter.read()
        assert meter.glance().processes == 201


@pytest.mark.trio
async def test_what_a_short_lived_bot_held_last_is_its_peak(arena: Arena) -> None:
    """It lives for less than the time between two readings; the kernel reports the peak to its parent."""
    duel = await arena.duel("held = b'x' * (100 << 20); os._exit(3)")
    assert duel.fault.kind is FaultKind.CRASH
    assert 100 << 20 < duel.verdict.seats[0].peak_memory_bytes < 130 << 20


@pytest.mark.trio
async def test_a_short_lived_bot_that_held_too_much_is_a_memory_fault(arena: Arena) -> None:
    duel = await arena.duel("held = b'x' * (100 << 20); os._exit(3)", Limits(memory_bytes=64 << 20))
    assert duel.fault.kind is FaultKind.MEMORY
    assert duel.fault.detail.endswith(" MiB of memory; the limit is 64.0 MiB")


@pytest.mark.parametrize(("counted", "at_least"), [((7.5, 1 << 40), (7.5, 1 << 40)), ((None, None), (0.0, 1 << 20))])
def test_what_a_control_group_has_counted_is_the_usage_of_its_bot(
    counted: tuple[float | None, int | None], at_least: tuple[float, int]
) -> None:
    """A group that cannot be read counts nothing."""
    group: Any = SimpleNamespace(cpu_s=lambda: counted[0], memory_bytes=lambda: counted[1])
    with tree("") as pids:
        usage = Meter(*pids, group=group).read_now()
    assert at_least[0] <= usage.cpu_s < at_least[0] + 5
    assert at_least[1] <= usage.memory_bytes < at_least[1] + (1 << 30)


def test_the_last_moment_of_a_bot_that_has_ended_shows_its_most_memory() -> None:
    meter: Any = SimpleNamespace(usage=Usage(memory_bytes=0, peak_memory_bytes=9), read_at=3.5)
    assert [(moment.at_s, moment.memory_bytes) for moment in Curve(meter, 3.0).moments()] == [(0.5, 9)]
    meter.usage.memory_bytes = 4
    assert Curve(meter, 3.0).moments()[0].memory_bytes == 4


def test_without_the_kernels_lists_of_children_the_same_processes_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    with tree("for _ in range(2): os.fork()") as (pid, _):
        while len(supervisor.descendants(pid)) < 3:
            time.sleep(0.001)
        parents_first = supervisor.descendants(pid)
        monkeypatch.setattr(supervisor, "CHILDREN_FILES", False)
        assert sorted(supervisor.descendants(pid)) == sorted(parents_first)
        assert len(parents_first) == 3
        assert not set(parents_first[:1]) & set(supervisor.descendants(pid, survivors=parents_first[:1]))


@pytest.mark.trio
async def test_without_the_kernels_lists_of_children_psutil_finds_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.harness.isolation.process_tree.CHILDREN_FILES", False)
    with tree("os.fork()") as pids:
        meter = Meter(*pids)
        assert (await meter.read()).processes == 1 + len(psutil.Process(pids[0]).children(recursive=True))


def test_a_control_socket_that_was_closed_with_unread_data_is_no_error() -> None:
    """The kernel reports that by an error instead of the end of the stream."""
    ours, theirs = socket.socketpair()
    with ours:
        supervisor.send(ours.fileno(), {"rests": True})
        theirs.close()
        assert supervisor.receive(ours) == (None, [])
