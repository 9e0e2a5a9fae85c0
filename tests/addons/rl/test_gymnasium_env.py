"""A seat against bots in processes: they live on between episodes, under the usual limits."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import psutil
import pytest

import referee

pytestmark = pytest.mark.slow

BOT = """
import os, sys, time
from referee_kit.tictactoe import CELLS, Action, TicTacToeBot, run

class Bot(TicTacToeBot):
    def __init__(self):
        self.free = list(CELLS)
    def event(self, event):
        if event.position in self.free:
            self.free.remove(event.position)
    def play(self, id):
        {play}
        return Action("putSymbol", self.free[-1])

run(Bot, name=os.urandom(8).hex())
"""


def bot(folder: Path, play: str = "pass") -> Path:
    path = folder / "theirs.py"
    path.write_text(BOT.format(play=play))
    return path


@contextmanager
def opened(*arguments: Any, **options: Any) -> Iterator[Any]:
    env = referee.rl.gym("tictactoe", *arguments, **options)
    try:
        yield env
    finally:
        env.close()


def first(seen: dict[str, Any]) -> Any:
    return np.flatnonzero(seen["action_mask"])[0]


def episode(env: Any, seed: int | None = None) -> tuple[float, dict[str, Any]]:
    seen, _ = env.reset(seed=seed)
    while True:
        seen, gain, over, cut, info = env.step(first(seen))
        if over or cut:
            return gain, info


def test_a_process_lives_on_between_episodes_also_after_one_that_was_left(tmp_path: Path) -> None:
    with opened([bot(tmp_path)], seat=1) as env:
        processes = set()
        for seed in range(3):
            gain, info = episode(env, seed)
            assert (gain, info["reason"], info["rank"]) == (-1.0, "O_WIN", 2)
            processes.add(env.verdict.seats[0].program)
            env.reset(seed=9)
            env.step(first(env.reset()[0]))
        assert len(processes) == 1, "its name is drawn at its start"
        assert running(tmp_path)
    assert not running(tmp_path), "close ends the bots"


def running(folder: Path) -> list[psutil.Process]:
    """The processes of a bot in that folder."""
    processes = psutil.Process().children(recursive=True)
    return [each for each in processes if each.is_running() and str(folder) in " ".join(each.cmdline())]


def test_a_late_opponent_loses_and_the_next_episode_has_a_new_process(tmp_path: Path) -> None:
    slow = bot(tmp_path, "time.sleep(9 if len(self.free) < 8 else 0)")
    with opened([slow], seat=1, time=referee.TimeControl(per_call_s=0.2)) as env:
        for _ in range(2):
            gain, info = episode(env)
            assert gain == 1.0 and info["reason"].startswith("FLIPPED: You ran out of time")
            assert [fault.kind for fault in env.verdict.faults] == [referee.FaultKind.TIMEOUT]


def test_an_opponent_that_always_fails_at_the_start_ends_with_a_line(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("raise SystemExit(3)")
    with opened([broken]) as env, pytest.raises(referee.RunError, match="10 matches ended before the first decision"):
        env.reset()
    with pytest.raises(referee.UsageError, match="no bot at"):
        referee.rl.gym("tictactoe", [tmp_path / "none.py"])


def test_episodes_repeat_with_the_seed_and_go_on_from_it(tmp_path: Path) -> None:
    def history() -> list[Any]:
        with opened(["@random"]) as env:
            return [episode(env, seed)[1] for seed in (4, None, None, 4)]

    first_time = history()
    assert first_time == history()
    assert first_time[0] == first_time[3]


def test_functions_and_programs_play_side_by_side() -> None:
    env = referee.rl.gym("aibg5", ["@random", lambda decision: decision.sample(), "@random"], seat=2, rounds=3)
    seen, _ = env.reset(seed=1)
    steps, over = 0, False
    while not over:
        seen, _, over, _, info = env.step(first(seen))
        steps += 1
    env.close()
    assert (steps, info["reason"]) == (3, "rounds")
    assert [seat.function for seat in env.verdict.seats] == [False, True, True, False]
    assert env.verdict.seats[2].name == "learner"


def test_what_is_no_action_leaves_the_decision_open(tmp_path: Path) -> None:
    with opened([bot(tmp_path)], seat=1) as env:
        env.reset()
        with pytest.raises(ValueError, match="action 99: expected 0 to 9"):
            env.step(99)
        env.step(env.legal()[0])


def test_steps_outside_of_an_episode_are_refused() -> None:
    with opened(["@random"], max_cycles=1, render_mode="ansi") as env:
        with pytest.raises(gymnasium.error.ResetNeeded):
            env.step(0)
        assert env.render() is None
        seen, _ = env.reset(seed=1)
        assert env.render() == "...\n...\n..."
        _, gain, over, cut, _ = env.step(first(seen))
        assert (gain, over, cut) == (0.0, False, True)
        with pytest.raises(gymnasium.error.ResetNeeded):
            env.step(0)
    with pytest.raises(referee.RunError, match="this environment is closed"):
        env.reset()
