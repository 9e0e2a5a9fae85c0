"""A bot's process follows its table of states, whatever happens in whatever order."""

import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.games.contract import Fault
from referee.harness.common.errors import RunError
from referee.harness.isolation.process_tree import descendants
from referee.harness.isolation.spawner import Ends, Spawner, open_spawner
from referee.harness.process.bot_process import TRANSITIONS, BotProcess, Program, State
from referee.harness.process.limits import Limits
from referee.protocol.errors import LocalProtocolError

EVENTS = sorted({event for row in TRANSITIONS.values() for event in row})
ENV = {"PATH": os.environ["PATH"]}
BOT = ["sh", "-c", "sleep 100 & while read line; do echo $line; done"]
"""Echoes lines, leaves a process behind, and exits at the end of its input."""


@given(st.lists(st.sampled_from(EVENTS)))
def test_a_state_follows_by_the_table_or_the_event_is_a_bug_of_ours(events: list[str]) -> None:
    program, state = Program(), State.STARTING
    program.state = state
    for event in events:
        if event in TRANSITIONS[state]:
            state = TRANSITIONS[state][event]
            program.happens(event)
        else:
            with pytest.raises(LocalProtocolError, match=event):
                program.happens(event)
        assert program.state is state


def test_every_state_leads_to_the_end() -> None:
    for state, row in TRANSITIONS.items():
        assert "end" in row or state is State.STARTING
        assert state in (State.ENDING, State.GONE) or row["end"] is State.ENDING
    assert "gone" in TRANSITIONS[State.ENDING]
    assert set(TRANSITIONS[State.GONE].values()) == {State.GONE}


Act = Callable[[BotProcess], Awaitable[object]]


async def call(process: BotProcess) -> None:
    process.call()


async def answer(process: BotProcess) -> None:
    process.answer()


async def leave(process: BotProcess) -> None:
    process.expect_exit()
    await process.leave(0.05)


async def kill(process: BotProcess) -> None:
    process.kill()


async def end(process: BotProcess) -> None:
    await process.end()


async def end_twice_at_once(process: BotProcess) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(process.end)
        nursery.start_soon(process.end)
    assert process.state is State.GONE


async def end_in_a_cancelled_task(process: BotProcess) -> None:
    with trio.move_on_after(0):
        await process.end()
    assert process.state is State.GONE


async def look(process: BotProcess) -> None:
    process.measure()
    process.status()
    process.status(brief=True)
    await trio.sleep(0.001)


async def play(process: BotProcess) -> None:
    process.end_match()
    process.start_match(lambda: None)


def signalled(process: BotProcess, pid: int, number: int) -> None:
    if process.state < State.ENDING:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


async def bot_dies(process: BotProcess) -> None:
    signalled(process, process.pid, signal.SIGKILL)
    await trio.sleep(0.01)


async def supervisor_dies(process: BotProcess) -> None:
    signalled(process, process.link.pid, signal.SIGKILL)
    await trio.sleep(0.01)


async def supervisor_is_stopped(process: BotProcess) -> None:
    signalled(process, process.link.pid, signal.SIGSTOP)


async def bot_is_silent(process: BotProcess) -> None:
    assert isinstance(await process.why_silent("output"), Fault)


ACTS = [
    call,
    answer,
    leave,
    kill,
    end,
    end_twice_at_once,
    end_in_a_cancelled_task,
    look,
    play,
    bot_dies,
    supervisor_dies,
    supervisor_is_stopped,
    bot_is_silent,
]


def legal(act: Act, state: State) -> bool:
    return act.__name__ not in ("call", "answer", "leave") or act.__name__ in TRANSITIONS[state]


async def carry_out(spawner: Spawner, folder: Path, acts: list[Act], watched: bool) -> None:
    """Starts a bot, acts, and ends it. Nothing may be left but an idle supervisor."""
    process = await spawner.start(BOT, folder, ENV, lambda ends: BotProcess(ends, Limits(pause=True), folder))
    process.start_match(lambda: None)
    faults: list[Fault] = []
    async with trio.open_nursery() as nursery:
        if watched:
            nursery.start_soon(process.watch, faults.append)
        for act in acts:
            if legal(act, process.state):
                await act(process)
            else:
                with pytest.raises(LocalProtocolError):
                    await act(process)
        await process.end()
        nursery.cancel_scope.cancel()
    assert process.state is State.GONE
    await process.end()
    assert descendants(process.link.pid) == []


@pytest.mark.parametrize(("argv", "patience_s"), [(BOT, 0.0), (BOT, 0.002), (["/no/such/program"], 1.0)])
def test_a_start_that_fails_or_is_cancelled_leaves_nothing(argv: list[str], patience_s: float) -> None:
    made: list[BotProcess] = []

    def make(ends: Ends) -> BotProcess:
        made.append(BotProcess(ends, Limits()))
        return made[-1]

    async def main() -> None:
        async with open_spawner() as spawner:
            with suppress(RunError), trio.move_on_after(patience_s):
                process = await spawner.start(argv, Path(__file__).parent, ENV, make)
                await process.end()  # this machine was faster than the patience
            assert {process.state for process in made} == {State.GONE}
            assert all(descendants(process.link.pid) == [] for process in made if process.link.pid)

    before = psutil.Process().num_fds()
    trio.run(main)
    assert psutil.Process().num_fds() == before


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.sampled_from(ACTS), max_size=8), min_size=1, max_size=3), st.booleans())
def test_a_bot_ends_once_whatever_happened_before(sequences: list[list[Act]], watched: bool) -> None:
    folder = Path(__file__).parent

    async def main() -> None:
        async with open_spawner() as spawner:
            for acts in sequences:
                await carry_out(spawner, folder, acts, watched)

    before = psutil.Process().num_fds()
    children = {child.pid for child in psutil.Process().children()}
    trio.run(main)
    assert psutil.Process().num_fds() == before, "each descriptor is given back once"
    assert {child.pid for child in psutil.Process().children()} <= children
