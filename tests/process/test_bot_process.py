"""A bot's process follows its table of states, whatever happens in whatever order."""

import json
import os
import signal
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from trio.testing import MockClock

from referee.games.contract import Fault
from referee.harness.common.errors import RunError
from referee.harness.isolation.layers.cgroups import Group
from referee.harness.isolation.process_tree import descendants
from referee.harness.isolation.spawner import Ends, Spawner, open_spawner
from referee.harness.isolation.supervisor_link import SupervisorLink
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


NOBODY = (1 << 22) + 7
"""No process has this pid: it is above the largest one of Linux."""


class AnyOrder(RuleBasedStateMachine):
    """A bot's process whose pipes and supervisor are ours: every order of events, without a process."""

    @initialize(pause=st.booleans())
    def begin(self, pause: bool) -> None:
        self.descriptors = psutil.Process().num_fds()
        control, self.supervisor = socket.socketpair()
        for end in (control, self.supervisor):
            end.setblocking(False)
        self.bots_ends, ours = [], []
        for our_end in (1, 0, 0):  # input, output, errors
            pipe = os.pipe()
            os.set_blocking(pipe[our_end], False)
            ours.append(pipe[our_end])
            self.bots_ends.append(pipe[1 - our_end])
        self.idle: list[socket.socket] = []
        link = SupervisorLink(control, self.idle.append)
        link.kill = self.supervisor_ends  # type: ignore[method-assign]
        self.process = BotProcess(Ends(link, *ours, {}, None, Group.remove), Limits(pause=pause))
        self.state, self.pause = State.STARTING, pause
        self.has_begun, self.has_ended, self.is_open = False, False, True

    def happens(self, event: str) -> None:
        """Takes an event in the model."""
        self.state = TRANSITIONS[self.state][event]

    def says(self, **message: object) -> None:
        with suppress(OSError):  # it has been closed, here or there
            self.supervisor.send(json.dumps(message).encode() + b"\n")

    def run(self, act: Callable[[], Awaitable[object]]) -> Any:
        return trio.run(act, clock=MockClock(autojump_threshold=0))

    @invariant()
    def the_state_is_that_of_the_table(self) -> None:
        process = self.process
        assert process.state is self.state
        gone = [process.stdin, process.stdout, process.stderr] == [-1] * 3 and process.link.control.fileno() < 0
        assert gone == (self.state is State.GONE)
        assert len(self.idle) == (self.state is State.GONE and process.link.idle)

    @precondition(lambda self: self.state in (State.STARTING, State.ENDED) and not self.process.pid and self.is_open)
    @rule(told=st.sampled_from(["started", "started", "nothing", "an error", "nonsense", "lost"]))
    def start(self, told: str) -> None:
        if told != "nothing" and told != "lost":
            self.says(supervisor=NOBODY)
        if told == "started":
            self.says(pid=NOBODY + 1, root=NOBODY)
        elif told == "nonsense":
            self.says(pid=-1)
        elif told == "an error":
            self.says(error="no such program")
            with pytest.raises(RunError, match="no such program"):
                self.run(partial(self.process.started, 1))
            return
        if self.run(partial(self.process.started, 1)):
            self.happens("started")
            self.process.start_match(lambda: None)
            self.has_begun = True
        elif told == "lost" and self.state is State.STARTING:
            self.process.lost()
            self.happens("lost")

    @precondition(lambda self: self.process.pid and self.is_open and not self.has_ended)
    @rule(code=st.sampled_from([0, 3, -9]))
    def bot_exits(self, code: int) -> None:
        self.says(exit=code)
        known = self.run(partial(self.process.exited, 0.1))
        self.has_ended = True
        if self.state is not State.GONE and not self.process.link.idle:
            assert known == code
            self.happens("exit")

    @rule()
    def supervisor_ends(self) -> None:
        self.supervisor.close()
        self.is_open = False

    @rule(event=st.sampled_from(["call", "answer", "leave", "kill"]))
    def the_seat_acts(self, event: str) -> None:
        act = self.process.expect_exit if event == "leave" else getattr(self.process, event)
        if event not in TRANSITIONS[self.state]:
            with pytest.raises(LocalProtocolError, match=event):
                act()
            return
        act()
        self.happens(event)
        if event == "answer" and self.pause and self.state is State.RUNNING:
            self.happens("pause")

    @precondition(lambda self: self.has_begun)
    @rule()
    def look(self) -> None:
        self.process.measure()
        self.process.status(brief=self.state is State.GONE)

    @precondition(lambda self: self.has_begun)
    @rule()
    def bot_is_silent(self) -> None:
        assert isinstance(self.run(partial(self.process.why_silent, "output")), Fault)

    @rule(answers=st.sampled_from(["idle", "nothing", "closes"]), times=st.integers(1, 2), cancelled=st.booleans())
    def end(self, answers: str, times: int, cancelled: bool) -> None:
        """The supervisor answers at once, never, or by its end. A cancelled task ends the bot, too."""

        async def ends() -> None:
            async with trio.open_nursery() as nursery:
                for _ in range(times):
                    nursery.start_soon(self.process.end)
                if cancelled:
                    nursery.cancel_scope.cancel()
                await trio.lowlevel.cancel_shielded_checkpoint()
                if answers == "idle":
                    self.says(idle=True, cpu_s=0.5)
                elif answers == "closes":
                    self.supervisor_ends()

        was_gone = self.state is State.GONE
        self.run(ends)
        self.happens("end")
        if not was_gone:
            self.happens("gone")

    def teardown(self) -> None:
        self.end("nothing", 1, False)
        self.the_state_is_that_of_the_table()
        for each in (self.supervisor, *self.idle):
            each.close()
        for descriptor in self.bots_ends:
            os.close(descriptor)
        assert psutil.Process().num_fds() == self.descriptors, "each descriptor is given back once"


AnyOrder.TestCase.settings = settings(max_examples=60, stateful_step_count=15, deadline=None)
TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.__doc__ = "A bot ends once, and gives everything back, whatever happens in whatever order."


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


ORDERS: list[list[Act]] = [
    [call, answer, play, look, leave, end],
    [call, bot_dies, look, bot_is_silent, answer, kill, end_twice_at_once, kill],
    [supervisor_dies, call, answer, leave, end_in_a_cancelled_task, answer],
    [supervisor_is_stopped, kill, call, answer, look, end, end],
    [leave, leave, kill, call],
    [call, kill, kill, answer, play, bot_is_silent],
    [answer, call, call, leave, supervisor_dies],
]
"""Each transition of the table, and what no table allows, once with real processes."""


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
    with trio.move_on_after(0 if process.link.idle else 10):  # the spawner ends what a killed supervisor leaves
        while descendants(process.link.pid):
            await trio.sleep(0.01)
    assert descendants(process.link.pid) == [], [act.__name__ for act in acts]


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


def test_real_processes_follow_the_table_and_nothing_of_them_is_left() -> None:
    folder = Path(__file__).parent

    async def main() -> None:
        async with open_spawner() as spawner:
            for number, acts in enumerate(ORDERS):
                await carry_out(spawner, folder, acts, watched=number % 2 == 0)

    before = psutil.Process().num_fds()
    children = {child.pid for child in psutil.Process().children()}
    trio.run(main)
    assert psutil.Process().num_fds() == before, "each descriptor is given back once"
    left = [child for child in psutil.Process().children() if child.pid not in children]
    assert [child.as_dict(["pid", "name", "status", "cmdline"]) for child in left] == []
