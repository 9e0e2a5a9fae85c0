"""The how-to about other libraries: its code runs, that with PyTorch where it is installed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import gymnasium
import pytest
from needs import skip_without

import referee

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "train-with-other-libraries.md").read_text("utf-8")
STEPS = "1200"
"""Of the training in the test: 6 s."""


def blocks(folder: Path) -> dict[str, str]:
    """Writes the files that the page has, in its words `Save this as`. Returns them by name."""
    saved = r"[Ss]ave (?:this|it|the bot)\s+as\s+`([\w/.]+)`[^`]*?:\n\n```(?:python|toml)\n(.*?)^```$"
    found = re.findall(saved, PAGE, re.DOTALL | re.MULTILINE)
    for name, text in found:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return dict(found)


def commands() -> list[str]:
    return [
        line for text in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE) for line in text.splitlines()
    ]


def test_the_page_has_these_files(tmp_path: Path) -> None:
    names = ["poker/agent.py", "poker/bot.toml", "sb3/train.py", "sb3/bot.py", "sb3/bot.toml"]
    names += ["torch_bot/bot.py", "torch_bot/bot.toml"]
    assert [*blocks(tmp_path)] == names
    assert PAGE.count("```python") + PAGE.count("```toml") == len(names)


def with_python() -> str:
    return f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def run(command: str, folder: Path) -> str:
    """Runs a command with this Python as `python3`, and one thread for its arithmetic."""
    env = os.environ | {"PATH": with_python(), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "COLUMNS": "140"}
    done = subprocess.run(command, shell=True, cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_single_file_learns_to_win_chips_in_a_tournament(tmp_path: Path) -> None:
    blocks(tmp_path)
    train, play = commands()
    run(train.replace(" 4000", f" {STEPS}"), tmp_path)
    shown = run(play.replace("--games 200", "--games 60"), tmp_path)
    rows = re.findall(r"^(\d) +(\S+) +(\d+) +(-?[\d.]+) \[", shown, re.MULTILINE)
    assert [(rank, bot, faults) for rank, bot, faults, _ in rows][:1] == [("1", "poker", "0")], shown
    assert "1  poker" in PAGE and float(rows[0][3]) > 0.2


def test_a_policy_without_the_observations_that_it_learned_with_is_told_what_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", with_python())
    blocks(tmp_path)
    run(commands()[0].replace(" 4000", " 20"), tmp_path)
    (fault,) = referee.play("openspiel:leduc_poker", [tmp_path / "poker", "@first"], seed=1).faults
    assert "start it with --set observation=information_state" in fault.detail


def test_wrappers_find_what_maskable_ppo_asks_for() -> None:
    """sb3-contrib calls `env.get_wrapper_attr("action_masks")()`, through its own and Gymnasium's wrappers."""
    env = referee.rl.gym("connectfour", [lambda decision: decision.sample()])
    wrapped = gymnasium.wrappers.TimeLimit(gymnasium.wrappers.RecordEpisodeStatistics(env), 100)
    seen, _ = wrapped.reset(seed=1)
    masks = wrapped.get_wrapper_attr("action_masks")()
    assert masks.tolist() == (seen["action_mask"] == 1).tolist()
    wrapped.close()


def test_a_policy_of_pytorch_plays_within_the_limits_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_without("torch")
    monkeypatch.setenv("PATH", with_python())
    blocks(tmp_path)
    limits = referee.Limits(memory_bytes=1 << 30, startup_s=60.0)
    verdict = referee.play("connectfour", [tmp_path / "torch_bot", "@random"], seed=1, limits=limits)
    assert verdict.faults == () and verdict.turns > 6


def test_stable_baselines_trains_a_bot_that_plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_without("sb3_contrib")
    blocks(tmp_path)
    monkeypatch.setenv("PATH", with_python())
    run("python3 sb3/train.py 600", tmp_path)
    limits = referee.Limits(memory_bytes=2 << 30, startup_s=120.0)
    verdict = referee.play("connectfour", [tmp_path / "sb3", "@random"], seed=1, limits=limits)
    assert verdict.faults == () and verdict.turns > 6
