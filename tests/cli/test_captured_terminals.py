"""The contents of a real terminal, as tmux captures them: the live line, and a person's match."""

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from needs import skip_without

pytestmark = pytest.mark.slow

REFEREE = (sys.executable, "-m", "referee.harness.cli.main")
LONG_NAMES = ("the_program_of_team_number_one", "the_program_of_team_number_two")


class Terminal:
    """The window of a tmux server."""

    def __init__(self, folder: Path, columns: int, *argv: str) -> None:
        self.tmux = ("tmux", "-S", str(folder / "tmux"), "-f", "/dev/null")
        script = f"cd {shlex.quote(str(folder))}; {shlex.join([*REFEREE, *argv])}; echo THE END; sleep 300"
        size = ("-x", str(columns), "-y", "60")
        env = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        subprocess.run([*self.tmux, "new-session", "-d", *size, script], env=env, check=True, timeout=20)

    def lines(self) -> list[str]:
        shown = subprocess.run([*self.tmux, "capture-pane", "-p"], check=True, stdout=subprocess.PIPE, timeout=20)
        return [line for line in shown.stdout.decode().splitlines() if line]

    def until(self, found: Callable[[str], object], within_s: float = 60.0) -> list[str]:
        """Waits until a line matches, and returns all lines."""
        until = time.monotonic() + within_s
        while not any(map(found, lines := self.lines())):
            assert time.monotonic() < until, lines
            time.sleep(0.02)
        return lines

    def type(self, *keys: str) -> None:
        subprocess.run([*self.tmux, "send-keys", *keys], check=True, timeout=20)

    def close(self) -> None:
        subprocess.run([*self.tmux, "kill-server"], check=True, timeout=20)


Opened = Callable[..., Terminal]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """Opens a terminal of a given width that runs our command line."""
    skip_without("tmux")
    terminals: list[Terminal] = []

    def open_one(columns: int, *argv: str) -> Terminal:
        terminals.append(Terminal(tmp_path, columns, *argv))
        return terminals[-1]

    yield open_one
    for terminal in terminals:
        terminal.close()


def test_the_live_line_is_one_line_and_is_erased(opened: Opened) -> None:
    columns = 40
    names = [f"{name}=@random" for name in LONG_NAMES]
    series = ("--game", "quoridor", *names, "--games", "2", "--seed", "1", "--jobs", "1", "--replay", "none")
    terminal = opened(columns, *series)
    live = re.compile(r"game \d/2  turn \d+  .*\d+\.\d s$")
    shown = terminal.until(live.match)
    assert live.match(shown[-1]) and len(shown[-1]) <= columns, "it is the last, and whole"
    done = terminal.until("THE END".__eq__)
    assert not any(map(re.compile(r"game \d/2|turn \d").search, done))
    text = "".join(done).replace(" ", "")  # the terminal breaks long lines
    assert (text.count("(Quoridor,"), text.count("Quoridor:2games")) == (2, 1), "two matches and the table's title"


def test_no_live_line_overwrites_a_persons_match(opened: Opened) -> None:
    terminal = opened(80, "--game", "tictactoe", "Ada=human", "@random", "--seed", "1", "--replay", "none")
    terminal.until("Ada>".__eq__)
    terminal.type("C", "Enter")
    shown = terminal.until(re.compile(r" +2  @random  X to ").match)
    at = shown.index("Ada> C")
    assert [line.split(None, 1)[1] for line in shown[at + 1 : at + 2]] == ["Ada  O to C"]
    assert not [line for line in shown if "game 1/1" in line or re.search(r"\d\.\d s$", line)]
