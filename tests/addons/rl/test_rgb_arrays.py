"""`render_mode="rgb_array"`: the viewer's painters draw positions as arrays."""

import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest

import referee
from referee.addons.web import browser, pictures

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("viewer")]


def changed(one: Any, other: Any) -> tuple[slice, slice]:
    """The rectangle outside of which two pictures are the same."""
    rows, columns = np.nonzero((one != other).any(axis=2))
    return slice(rows.min(), rows.max() + 1), slice(columns.min(), columns.max() + 1)


def test_a_token_changes_the_picture_where_it_falls_and_a_seed_repeats_it() -> None:
    env = referee.rl.aec("connectfour", render_mode="rgb_array")
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.render()
    env.reset(seed=1)
    empty = env.render()
    assert isinstance(empty, np.ndarray)
    assert (empty.shape, empty.dtype) == ((pictures.SIZE, pictures.SIZE, 3), np.uint8)
    env.step(6)
    first = env.render()
    rows, columns = changed(empty, first)
    assert columns.start > pictures.SIZE * 5 / 7, "the last of seven columns"
    assert rows.start > pictures.SIZE / 2, "its lowest cell"
    env.step(0)
    assert changed(first, env.render())[1].stop < pictures.SIZE * 2 / 7
    env.reset(seed=2)
    assert np.array_equal(env.render(), empty)
    env.close()
    env.close()


@pytest.mark.parametrize("name", ["cardgame", "openspiel:leduc_poker"])
def test_a_seat_is_shown_what_it_may_see_and_a_table_everything(name: str) -> None:
    """A page of HTML, and a drawing as text."""
    table = referee.rl.parallel(name, render_mode="rgb_array")
    seat = referee.rl.gym(name, [lambda decision: decision.sample()], render_mode="rgb_array")
    table.reset(seed=3)
    seat.reset(seed=3)
    everything, own = table.render(), seat.render()
    assert len(np.unique(own)) > 10, "something is drawn"
    assert not np.array_equal(everything, own)
    table.close()
    seat.close()


def test_wrappers_of_gymnasium_collect_the_pictures() -> None:
    env = referee.rl.gym("reantics", [lambda decision: decision.sample()], render_mode="rgb_array")
    collected = gymnasium.wrappers.RenderCollection(env)
    collected.reset(seed=1)
    for _ in range(2):
        collected.step(env.legal()[0])
    frames = collected.render()
    assert isinstance(frames, list) and len(frames) == 3
    assert not np.array_equal(frames[0], frames[2])
    collected.close()


RUNNING = """
import asyncio, psutil, referee
from referee.harness.isolation.self_protection import guarded
async def main():
    env = referee.rl.aec("tictactoe", render_mode="rgb_array")
    with guarded():
        env.reset(seed=1)
        print(env.render().shape)
        assert len(psutil.Process().children(recursive=True)) > 3
        env.close()
        print(psutil.Process().children(recursive=True))
asyncio.run(main())
"""


def test_a_picture_is_drawn_in_a_running_loop_and_no_process_of_the_browser_is_left_after_it() -> None:
    """As in a notebook, and while matches are played."""
    done = subprocess.run([sys.executable, "-c", RUNNING], capture_output=True, text=True, timeout=120)
    assert done.stdout == "(640, 640, 3)\n[]\n", done.stderr


def test_what_is_missing_is_said_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "BROWSERS", ("false",))
    with pytest.raises(referee.RunError, match="pictures need Chromium, which does not start") as error:
        referee.rl.aec("tictactoe", render_mode="rgb_array")
    assert "\n" not in str(error.value)
    monkeypatch.delitem(sys.modules, browser.__name__)
    monkeypatch.setitem(sys.modules, "playwright.async_api", None)
    with pytest.raises(referee.RunError, match=r"pictures need the extra `pictures` \(.*\); .*: .*\[pictures\]"):
        referee.rl.aec("tictactoe", render_mode="rgb_array")
