"""Programs as opponents in a vector environment: one process each, asked together, under the usual limits."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

import referee
from referee.harness.isolation.plan import Isolation

pytestmark = pytest.mark.slow

MEETING = """
import os, sys, time
from pathlib import Path
from referee_kit.tictactoe import CELLS, Action, TicTacToeBot, run

class Bot(TicTacToeBot):
    def __init__(self):
        self.free, self.name = list(CELLS), os.urandom(8).hex()
    def event(self, event):
        if event.position in self.free:
            self.free.remove(event.position)
    def play(self, id):
        {play}
        return Action("putSymbol", self.free[-1])

run(Bot, name="theirs")
"""
GAMES = [pytest.param(name, marks=() if name == "reantics" else pytest.mark.nightly) for name in referee.game_names()]


def bot(folder: Path, play: str = "pass") -> Path:
    path = folder / "theirs.py"
    path.write_text(MEETING.format(play=play))
    return path


@contextmanager
def opened(*arguments: Any, **options: Any) -> Iterator[Any]:
    env = referee.rl.vector(*arguments, **options)
    try:
        yield env
    finally:
        env.close()


def first(seen: Any) -> Any:
    return seen["action_mask"].argmax(axis=1)


def running(folder: Path) -> int:
    """How many processes run a file of that folder."""
    processes = psutil.Process().children(recursive=True)
    return sum(str(folder) in " ".join(each.cmdline()) for each in processes if each.is_running())


def history(env: Any, seed: int, steps: int = 12) -> list[Any]:
    seen, _ = env.reset(seed=seed)
    found = []
    for _ in range(steps):
        seen, gains, over, cut, infos = env.step(first(seen))
        told = infos["final_info"]["reason"][over].tolist() if over.any() else []
        found.append((seen["observation"].tobytes(), gains.tolist(), over.tolist(), cut.tolist(), told))
    return found


@pytest.mark.parametrize("name", GAMES)
def test_matches_are_those_of_an_environment_for_each(name: str) -> None:
    options = dict(referee.game(name).ending)
    others = ["@random"] * (referee.game(name).seats.start - 1)
    with opened(name, 2, "@random", seat=None, max_cycles=8, **options) as env:
        together = history(env, 5)
        assert together == history(env, 5)
    for seat in (0, 1):
        alone = referee.rl.gym(name, others, seat, max_cycles=8, **options)
        seen, _ = alone.reset(seed=5 + seat)
        for _, gains, over, cut, _ in together:
            seen, *ends, _ = alone.step(seen["action_mask"].argmax())
            assert ends == [gains[seat], over[seat], cut[seat]]
            if over[seat] or cut[seat]:
                seen, _ = alone.reset()
        alone.close()


def test_each_match_has_a_process_that_lives_on_and_close_ends_all(tmp_path: Path) -> None:
    with opened("tictactoe", 3, bot(tmp_path), seat=None) as env:
        played = history(env, 1)
        assert sum(sum(over) for _, _, over, _, _ in played) > 3
        before = running(tmp_path)
        history(env, 2)
        assert running(tmp_path) == before >= 3
    assert running(tmp_path) == 0


def test_all_programs_are_asked_at_once(tmp_path: Path) -> None:
    """Each answers when three have been asked, so that one after the other would be late."""
    meeting = tmp_path / "meeting"
    meeting.mkdir()
    wait = (
        f"met = Path({str(meeting)!r}); (met / self.name).touch()\n"
        "        while len(list(met.iterdir())) < 3: time.sleep(0.01)"
    )
    off = referee.Limits(isolation=Isolation("off"))
    patient = referee.TimeControl(per_call_s=60.0)
    with opened("tictactoe", 3, bot(tmp_path, wait), seat=0, limits=off, time=patient) as env:
        seen, _ = env.reset(seed=1)
        seen, *_ = env.step(first(seen))
        assert (seen["observation"][:, 1].sum(axis=(1, 2)) == 1).all()
        assert len(list(meeting.iterdir())) == 3


def test_a_late_program_loses_alone_and_the_end_counts_its_faults(tmp_path: Path) -> None:
    with opened("tictactoe", 2, [bot(tmp_path, "time.sleep(9)")], time=referee.TimeControl(per_call_s=0.2)) as env:
        seen, _ = env.reset(seed=1)
        for _ in range(2):
            seen, gains, over, _, infos = env.step(first(seen))
            if over.any():
                break
        assert over.all() and gains.tolist() == [1.0, 1.0]
        assert (infos["final_info"]["faults"] >= 1).all()
        assert infos["final_info"]["reason"][0].startswith("FLIPPED: You ran out of time")


def test_policies_and_programs_share_a_pool() -> None:
    with opened("connectfour", 6, ["@random", first], seat=None) as env:
        seen, _ = env.reset(seed=3)
        met: set[int] = set()
        for _ in range(40):
            seen, _, over, _, infos = env.step(first(seen))
            met |= set(infos["final_info"]["opponent"][over].tolist()) if over.any() else set()
        assert met == {0, 1}


def test_a_program_that_never_starts_ends_with_a_line(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("raise SystemExit(3)")
    with opened("tictactoe", 2, broken) as env:
        for _ in range(2):
            with pytest.raises(referee.RunError, match=r"10 matches ended before the first decision.*broken: crash"):
                env.reset(seed=1)
    with pytest.raises(referee.UsageError, match="no bot at"):
        referee.rl.vector("tictactoe", 2, tmp_path / "none.py")


def test_after_an_error_in_one_match_reset_begins_all_again(tmp_path: Path) -> None:
    """The bots of the other matches have answered meanwhile, and nobody has read it."""
    with opened("tictactoe", 3, bot(tmp_path), seat=None) as env:
        fresh = history(env, 4, 5)
        env.reset(seed=4)
        with pytest.raises(ValueError, match="action 99"):
            env.step([0, 0, 99])
        assert history(env, 4, 5) == fresh
