"""The advice of the verdict about common mistakes in bots."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from model_service import serving
from scripted import Arena

from referee.addons.wasm.runner import PYTHON, RUNNER
from referee.games.contract import FaultKind
from referee.harness.cli.main import main
from referee.harness.cli.reports.advice import advice
from referee.harness.programs.spec import entrant
from referee.harness.replay.lines import FaultReport

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
    program, words = MISTAKES[mistake]
    Path("mine.py").write_text(program)
    if mistake == "a module of Python's name":
        Path("random.py").write_text("import random\nrandom.seed\n")
    assert main(["--game", "tictactoe", "mine.py", "@random", "--clock", "1+0"]) == 0
    out = capsys.readouterr().out
    assert words in out or ("so it" in words and "slowed by machine load" in out)


@pytest.mark.parametrize("more", [("--timeout 0.2", []), ("", ["--limit", "model_clock=on", "--call-time", "0.2"])])
def test_a_late_service_of_a_model_is_no_loop_and_no_lock(
    more: tuple[str, list[str]], arena: Arena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(arena.folder)
    options, words = more
    with serving(lambda request: request.wait(60)) as service:
        assert main(["--game", "tictactoe", service.spec(options), "@random", *words]) == 0
    out = capsys.readouterr().out
    assert "timeout by seat 0 (stub)" in out
    assert "advice: give the model more time: --timeout in its bot spec" in out
    assert "so it computed" not in out and "so it waited" not in out


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("./mybot",), "so it computed: look for a loop without end"),
        (entrant("uci:cat", "openspiel:chess").argv, "keep more of each limit for the call: --overhead MS"),
        ((*PYTHON, RUNNER, "code"), None),
    ],
    ids=["program", "engine", "module"],
)
def test_the_time_of_a_process_says_something_about_programs_only(command: Sequence[str], words: str | None) -> None:
    """An engine is another's program, and the time of a module is its fuel."""
    late = FaultReport(0, "a", FaultKind.TIMEOUT, "no answer", "loses", 1, 1, "play", "", 1.0, 1.0, 0, None, ())
    found = advice(late, command)
    assert found is None if words is None else found is not None and words in found
