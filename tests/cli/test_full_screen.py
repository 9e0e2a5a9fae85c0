"""`replay show` on a whole terminal: the viewer's keys, every position, faults, what each seat sees."""

import asyncio
import io
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import referee
from referee.harness.cli.full_screen import KEYS, Viewer, read
from referee.harness.replay.simulate import positions

pytestmark = pytest.mark.slow

Steered = Callable[[Viewer, Any], Awaitable[None]]


def steered(path: Path, steer: Steered) -> None:
    """Runs the viewer without a terminal, with somebody at its keys."""

    async def run() -> None:
        viewer = Viewer(referee.read_replay(path))
        async with viewer.run_test(size=(100, 40)) as pilot:
            await steer(viewer, pilot)

    asyncio.run(run())


def shown(viewer: Viewer) -> str:
    console = Console(width=100, file=io.StringIO(), record=True)
    console.print(viewer.position())
    return console.export_text()


@pytest.fixture
def match(tmp_path: Path) -> Path:
    path = tmp_path / "match.jsonl"
    referee.play("tictactoe", ["@advanced", "@C_AI_OUT_OF_BOUND"], seed=5, replay=path)
    return path


def test_every_position_is_that_of_the_record(match: Path) -> None:
    replay = referee.read_replay(match)
    boards = [step.whole.plain for step in read(replay)]
    assert boards == [str(state) for _, state, _ in positions(replay)]


@pytest.mark.parametrize("key", ["q", "ctrl+c"])
def test_a_key_leaves_at_once(match: Path, key: str) -> None:
    async def steer(viewer: Viewer, pilot: Any) -> None:
        await pilot.press(key)
        await pilot.pause()
        assert not viewer.is_running

    steered(match, steer)


@pytest.mark.slow
def test_the_keys_do_what_the_help_says(match: Path) -> None:
    async def steer(viewer: Viewer, pilot: Any) -> None:
        last = len(viewer.steps) - 1
        for keys, at in (
            (["right"], 1), (["right", "left"], 1), (["home"], 0), (["shift+right"], min(10, last)), (["end"], last),
            (["home", "f"], next(i for i, step in enumerate(viewer.steps) if step.fault)),
            (["home", "F"], max(i for i, step in enumerate(viewer.steps) if step.fault)),
            (["home", "g", "2", "enter"], next(i for i, step in enumerate(viewer.steps) if step.turn == 2)),
        ):  # fmt: skip
            await pilot.press(*keys)
            await pilot.pause()
            assert viewer.at == at, keys
        await pilot.press("home", "s", "s", "n")
        assert viewer.seat == 1 and 1 in viewer.steps[viewer.at].answered
        await pilot.press("plus", "plus", "minus")
        assert viewer.speed == 2
        await pilot.press("b")
        assert shown(viewer).count("@advanced") >= 1 and viewer.all_seats
        await pilot.press("question_mark")
        assert all(words in shown(viewer) for _, _, words in KEYS)
        await pilot.press("question_mark", "home", "space")
        await pilot.pause(1.2)
        assert viewer.at > 0, "it plays"

    steered(match, steer)


def test_a_seat_is_not_shown_what_it_may_not_see(tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    referee.play("cardgame", ["@random", "@random"], seed=5, replay=path)

    async def steer(viewer: Viewer, pilot: Any) -> None:
        await pilot.press("right", "right", "s")
        assert viewer.seat == 0
        drawn = shown(viewer)
        assert drawn.count(" cards") == 3 and "  hand  " in drawn

    steered(path, steer)


def pressed_q(process: subprocess.Popen[bytes], terminal: int) -> None:
    os.write(terminal, b"q")


def ended(process: subprocess.Popen[bytes], terminal: int) -> None:
    """As `timeout` and systemd do it."""
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGCONT)


def ended_while_it_draws(process: subprocess.Popen[bytes], terminal: int) -> None:
    """The signal may come at any moment of the screen's event loop."""
    os.write(terminal, b"?")


SHOW = """
import asyncio, os, signal, sys
from referee.harness.cli.full_screen import Viewer
from referee.harness.cli.main import main

Viewer.action_explain = lambda viewer: asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGTERM)
sys.exit(main(["replay", "show", sys.argv[1]]))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("leave", "code"),
    [(pressed_q, 0), (ended, 128 + signal.SIGTERM), (ended_while_it_draws, 128 + signal.SIGTERM)],
)
def test_on_a_terminal_it_opens_and_gives_it_back(
    match: Path, leave: Callable[[subprocess.Popen[bytes], int], None], code: int
) -> None:
    ours, theirs = pty.openpty()
    env = os.environ | {"TERM": "xterm-256color", "COLUMNS": "90", "LINES": "30"}
    command = [sys.executable, "-c", SHOW, str(match)]
    process = subprocess.Popen(command, env=env, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    seen = b""
    try:
        while b"help" not in seen:
            seen += os.read(ours, 65536)
        leave(process, ours)
        while True:
            try:
                seen += os.read(ours, 65536)
            except OSError:
                break
        assert process.wait(30) == code
        assert b"\x1b[?1049l" in seen, "the terminal is given back"
        assert b"Traceback" not in seen
    finally:
        process.kill()
        process.wait()
        os.close(ours)
