"""The C++ kit: its own checks, its build, and the benchmarks' bots, which do not use the kit.

test_every_kit.py tests what all kits have in common.
"""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from driving import Bot, play, reason
from kits import built, readme_bot

from referee.games import reantics, tictactoe
from referee.games.game import Game
from referee.harness.common.paths import KITS
from referee.harness.programs.spec import entrant
from referee.protocol.messages import Encoding

KIT = KITS / "cpp"
BENCHMARKS = KITS.parent / "benchmarks" / "bots"
WARNINGS = ("-Wall", "-Wextra", "-Werror")

pytestmark = pytest.mark.usefixtures("cpp_kit")


def test_the_librarys_own_tests_pass() -> None:
    done = subprocess.run([built("cpp") / "build" / "kit_test"], capture_output=True, text=True, timeout=20)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "[  PASSED  ] " in done.stdout


def test_the_readmes_bot_compiles_without_a_warning(tmp_path: Path) -> None:
    source = tmp_path / "mybot.cpp"
    source.write_text(readme_bot("cpp"), "utf-8")
    command = ["g++", "-std=c++17", *WARNINGS, "-fsyntax-only", "-I", KIT / "include", source]
    subprocess.run(command, check=True, timeout=120)


@pytest.mark.parametrize(
    ("game", "options", "ending"),
    [
        (reantics.GAME, reantics.Options(draw_after=50), "draw_limit"),
        (tictactoe.GAME, tictactoe.Options(), "O_WIN"),  # both take the first free cell
    ],
)
def test_the_benchmarks_bots_play_each_other(
    game: Game, options: Any, ending: str, encoding: Encoding, tmp_path: Path
) -> None:
    program = entrant(str(BENCHMARKS / f"{game.name}_instant.cpp"))
    with Bot(program, encoding, tmp_path / "log") as one, Bot(program, encoding, tmp_path / "log 2") as two:
        for _ in range(2):
            assert reason(play(game, (one, two), 1, options)) == ending
        assert (one.exit(), two.exit()) == (0, 0)
