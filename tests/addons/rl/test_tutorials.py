"""The tutorial and the notebook about training: every command and every cell, with a shorter training."""

import os
import re
import subprocess
import sys
from pathlib import Path

import nbclient
import nbformat
import pytest
from browsers import in_a_loop
from needs import needs

TUTORIALS = Path(__file__).parents[3] / "docs" / "tutorials"
SHORTER = (
    ("20000", "1500"),  # steps of the training: 5 s, after which the agent wins eight of ten games
    ("--games 20 --seed 7 --set", "--games 8 --seed 7 --set"),
    ("60 of 60 games", "24 of 24 games"),
)
"""Texts of the page that the test changes, each with its new one."""
STANDING = re.compile(r"^(\d) +(\S+) +(\d+) +[\d.½]+ +(\d+) +(\d+) +(\d+) +(\d+)", re.MULTILINE)


def pages() -> tuple[str, str]:
    """Returns the part about Connect Four with what comes before, and that about ReAntics."""
    page = (TUTORIALS / "train-and-compete.md").read_text("utf-8")
    before, _, after = page.partition("## Learn a game of many moves\n")
    return before, after


@pytest.mark.slow
@needs("cpp")
def test_the_tutorial_trains_an_agent_that_beats_a_bot_in_cpp(tmp_path: Path) -> None:
    page, _ = pages()
    for long, short in SHORTER:
        assert long in page
        page = page.replace(long, short)
    files = iter(["learner/agent.py", "spar.py"])
    names = {"toml": "learner/bot.toml", "cpp": "rival.cpp"}
    printed, standings = "", 0
    for kind, text in re.findall(r"^```(\w*)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        if kind == "sh":
            if ".venv/bin" not in text:
                printed = run(text, tmp_path)
        elif kind:
            (tmp_path / (names.get(kind) or next(files))).write_text(text)
        elif found := STANDING.findall(text):
            shown, now = ([(bot, faults) for _, bot, faults, *_ in each] for each in (found, STANDING.findall(printed)))
            assert shown == now, printed
            standings += 1
        else:
            assert all(line in printed for line in text.splitlines()), (text, printed)
    assert standings == 1 and next(files, None) is None


def run(command: str, folder: Path) -> str:
    """Runs a command with this Python as `python3`."""
    env = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "120"}
    done = subprocess.run(command, shell=True, cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("windows", "games", "percent"),
    [(16, 16, 50), pytest.param(40, 200, 90, marks=[pytest.mark.nightly, pytest.mark.timeout(1800)])],
)
def test_the_tutorial_trains_an_agent_for_reantics(windows: int, games: int, percent: int, tmp_path: Path) -> None:
    """Daily with less training and fewer games, at night as the page says."""
    _, page = pages()
    (tmp_path / "ants").mkdir()
    for kind, name in {"python": "ants/agent.py", "toml": "ants/bot.toml"}.items():
        (text,) = re.findall(rf"^```{kind}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
        (tmp_path / name).write_text(text)
    mkdir, train, measure, play = re.findall(r"^```sh\n(.*?)\n```$", page, re.DOTALL | re.MULTILINE)
    assert (mkdir, train[-8:], measure[-11:], play[:7]) == ("mkdir ants", "train 40", "measure 200", "referee")
    assert "games, won" in run(train.replace("40", str(windows)), tmp_path)
    shown = re.compile(r"won ([\d.]+)% of (\d+) games")
    said = shown.search(page)
    assert said is not None and float(said[1]) >= 90 and said[2] == "200"
    found = shown.search(run(measure.replace("200", str(games)), tmp_path))
    assert found is not None and float(found[1]) >= percent and found[2] == str(games)
    table = run(play.replace("--games 10", "--games 2"), tmp_path) if windows < 40 else run(play, tmp_path)
    (row,) = [line.split() for line in table.splitlines() if line.startswith("ants  ")]
    assert int(row[1]) == (2 if windows < 40 else 10)


@pytest.mark.slow
def test_the_notebook_learns_a_game_that_it_then_does_not_lose(tmp_path: Path) -> None:
    book = nbformat.read(TUTORIALS / "train-in-a-notebook.ipynb", as_version=4)
    assert all(not cell.get("outputs") for cell in book.cells), "the file holds no outputs"
    in_a_loop(
        nbclient.NotebookClient(book, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).async_execute()
    )
    by_hand, learned, match, series, episodes = [cell.outputs[-1] for cell in book.cells if cell.cell_type == "code"]
    assert len(by_hand.text.split()) == 3
    assert int(learned.data["text/plain"]) > 1000, "positions"
    assert "policy: in this process, without a clock, limits or isolation" in match.data["text/html"]
    won, drawn, lost = eval(series.data["text/plain"])[0][1:]
    assert (won + drawn, lost) == (10, 0)
    assert float(episodes.data["text/plain"]) > 8
