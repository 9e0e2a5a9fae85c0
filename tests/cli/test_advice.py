"""The advice of the verdict about common mistakes in bots."""

from pathlib import Path

import pytest
from scripted import Arena

from referee.harness.cli.main import main

pytestmark = pytest.mark.slow

KIT = """
from referee_kit.tictactoe import Action, TicTacToeBot, run
class Mine(TicTacToeBot):
    def play(self, id):
"""
PLAYS = "        return Action('putSymbol', 'C')\n"
RUN = "\nrun(Mine)\n"
MISTAKES = {
    "no run": (KIT + PLAYS, "with a kit, call run(…) at the end of the program"),
    "no return": (KIT + "        Action('putSymbol', 'C')" + RUN, "a function without return gives null"),
    "no such module": ("import numpyy\n" + KIT + PLAYS + RUN, "put numpyy.py into the bot's folder"),
    "a module of Python's name": ("import random\n" + KIT + PLAYS + RUN, "rename random.py: it is loaded instead of"),
    "a log file": (KIT + "        open('/usr/log.txt', 'w')\n" + RUN, "writes to $HOME and $TMPDIR only"),
    "an endless loop": (KIT + "        while True: pass" + RUN, "so it computed: look for a loop without end"),
    "a sleep": ("import time\n" + KIT + "        time.sleep(60)" + RUN, "so it waited: for input, a lock, a sleep"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_verdict_says_what_to_do_about_a_mistake(
    mistake: str, arena: Arena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(arena.folder)
    program, advice = MISTAKES[mistake]
    Path("mine.py").write_text(program)
    if mistake == "a module of Python's name":
        Path("random.py").write_text("import random\nrandom.seed\n")
    assert main(["--game", "tictactoe", "mine.py", "@random", "--clock", "1+0"]) == 0
    out = capsys.readouterr().out
    assert advice in out or ("so it" in advice and "slowed by machine load" in out)
