"""The tutorial and the notebook about training: every command and every cell, with a shorter training."""

import os
import re
import subprocess
import sys
from pathlib import Path

import nbclient
import nbformat
import pytest
from needs import needs

TUTORIALS = Path(__file__).parents[3] / "docs" / "tutorials"
SHORTER = (
    ("20000", "1500"),  # steps of the training: 5 s, after which the agent wins eight of ten games
    ("--games 20 --seed 7 --set", "--games 8 --seed 7 --set"),
    ("60 of 60 games", "24 of 24 games"),
)
"""Texts of the page that the test changes, each with its new one."""
STANDING = re.compile(r"^(\d) +(\S+) +(\d+) +[\d.½]+ +(\d+) +(\d+) +(\d+) +(\d+)", re.MULTILINE)


@pytest.mark.slow
@needs("cpp")
def test_the_tutorial_trains_an_agent_that_beats_a_bot_in_cpp(tmp_path: Path) -> None:
    page = (TUTORIALS / "train-and-compete.md").read_text("utf-8")
    for long, short in SHORTER:
        assert long in page
        page = page.replace(long, short)
    files = iter(["learner/agent.py", "spar.py"])
    names = {"toml": "learner/bot.toml", "cpp": "rival.cpp"}
    env = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "120"}
    printed, standings = "", 0
    for kind, text in re.findall(r"^```(\w*)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        if kind == "sh":
            if ".venv/bin" not in text:
                done = subprocess.run(text, shell=True, cwd=tmp_path, env=env, capture_output=True, text=True)
                printed = done.stdout + done.stderr
                assert done.returncode == 0, printed
        elif kind:
            (tmp_path / (names.get(kind) or next(files))).write_text(text)
        elif found := STANDING.findall(text):
            shown, now = ([(bot, faults) for _, bot, faults, *_ in each] for each in (found, STANDING.findall(printed)))
            assert shown == now, printed
            standings += 1
        else:
            assert all(line in printed for line in text.splitlines()), (text, printed)
    assert standings == 1 and next(files, None) is None


@pytest.mark.slow
def test_the_notebook_learns_a_game_that_it_then_does_not_lose(tmp_path: Path) -> None:
    book = nbformat.read(TUTORIALS / "train-in-a-notebook.ipynb", as_version=4)
    assert all(not cell.get("outputs") for cell in book.cells), "the file holds no outputs"
    nbclient.NotebookClient(book, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    by_hand, learned, match, series, episodes = [cell.outputs[-1] for cell in book.cells if cell.cell_type == "code"]
    assert len(by_hand.text.split()) == 3
    assert int(learned.data["text/plain"]) > 1000, "positions"
    assert "policy: in this process, without a clock, limits or isolation" in match.data["text/html"]
    won, drawn, lost = eval(series.data["text/plain"])[0][1:]
    assert (won + drawn, lost) == (10, 0)
    assert float(episodes.data["text/plain"]) > 8
