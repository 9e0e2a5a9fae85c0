"""A ladder whose rules are a program keeps a copy of them, and needs nothing else."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ladders import INSTALL
from rules_games import COUNTDOWN, TAKES_ONE


@pytest.mark.slow
def test_a_ladder_with_rules_by_folder_needs_only_its_repository(tmp_path: Path) -> None:
    def run(folder: str, *words: str, code: int = 0, machine: str = "one") -> str:
        homes = {f"XDG_{name}_HOME": str(tmp_path / machine / name) for name in ("DATA", "CACHE", "CONFIG")}
        command = [sys.executable, "-m", "referee.harness.cli.main", *words]
        env = {**os.environ, **homes, "GIT_CONFIG_GLOBAL": os.devnull}
        done = subprocess.run(command, cwd=tmp_path / folder, env=env, capture_output=True, text=True)
        assert done.returncode == code, done.stdout + done.stderr
        return " ".join((done.stdout + done.stderr).split())

    shutil.copytree(COUNTDOWN, tmp_path / "hexa", ignore=shutil.ignore_patterns("__pycache__"))
    file = tmp_path / "hexa" / "game.toml"
    file.write_text(file.read_text().replace('"python3"', f'"{sys.executable}"'))
    new = ("ladder", "new", "cup", "--game", "./hexa", "--games", "2", "--witnesses", "1", "--beacon", "merge")
    run(".", *new, "--install", INSTALL, machine="organiser")
    shutil.rmtree(tmp_path / "hexa")
    for name in ("red", "blue"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.py").write_text(TAKES_ONE + f"# {name}")
        (tmp_path / name / "bot.toml").write_text('run = ["python3", "bot.py"]\ndeterministic = true\n')
        assert "is committed" in run("cup", "ladder", "enter", f"../{name}", "--owner", name)
    run("cup", "ladder", "play", "--runner", "r", "--owner", "ann")
    commit = ["git", "-C", "cup", "-c", "user.name=a", "-c", "user.email=a@a", "commit", "-qm", "r"]
    subprocess.run(["git", "-C", "cup", "add", "runners"], cwd=tmp_path, check=True)
    subprocess.run(commit, cwd=tmp_path, check=True)
    assert "2 games of r: claim 1 of r: committed" in run(
        "cup", "ladder", "play", "--runner", "r", "--replays", "../replays"
    )
    seen = run("cup", "ladder", "verify", "--replays", "../replays", machine="two")
    assert "1 claim, 1 batch, 2 replays checked; verified" in seen
    assert "2 games" in run("cup", "ladder", "show", machine="two")
    (copy,) = (tmp_path / "cup" / "rules").iterdir()
    copy.write_bytes(copy.read_bytes()[:-9] + b"x" * 9)
    subprocess.run([*commit, "-a"], cwd=tmp_path, check=True)
    assert "rules" in run("cup", "ladder", "show", "--no-cache", code=2, machine="three")
