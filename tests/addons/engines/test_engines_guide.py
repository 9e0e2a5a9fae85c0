"""docs/how-to/engines.md, followed to the letter, with Stockfish, GNU Go and Fairy-Max as Debian has them."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import chess
import pytest
from contests import environment
from guides import DOCS, commands, run
from needs import needs
from scripted import PREAMBLE

from referee.harness.languages import toolchains

pytestmark = [pytest.mark.slow, pytest.mark.nightly, pytest.mark.timeout(580), needs("engines")]

GUIDE = DOCS / "how-to" / "engines.md"
BOT = f"""{PREAMBLE}
greet(name="My bot", reuse=True)
while True:
    asked = call()
    answer(asked, {{}} if asked["method"] == "initialize" else {{"action": asked["params"]["legal"][0]["action"]}})
"""
STOCKFISH = f"""
import os
os.execv({toolchains.find("stockfish")!r}, ["stockfish"])
"""
BLUNDERS = """
import chess, random, sys

for line in sys.stdin:
    words = line.split()
    if words[0] == "uci":
        print("id name Old\\nuciok", flush=True)
    elif words[0] == "isready":
        print("readyok", flush=True)
    elif words[0] == "ucinewgame":
        moved = False
    elif words[0] == "position":
        board = chess.Board() if words[1] == "startpos" else chess.Board(" ".join(words[2:8]))
        for move in words[words.index("moves") + 1 :] if "moves" in words else ():
            board.push_uci(move)
    elif words[0] == "go":
        print("bestmove", "(none)" if moved else random.choice([*board.legal_moves]), flush=True)
        moved = True
"""
"""An engine that plays one move at random, so that games differ, and then none, so that they are short."""
BREAKTHROUGH = """
import pyspiel, sys

for line in sys.stdin:
    words = line.split()
    if words[0] == "ugi":
        print("id name Walker\\nugiok", flush=True)
    elif words[0] == "isready":
        print("readyok", flush=True)
    elif words[0] == "position":
        state = pyspiel.load_game("breakthrough").new_initial_state()
        for move in words[words.index("moves") + 1 :] if "moves" in words else ():
            state.apply_action(state.string_to_action(move))
    elif words[0] == "go":
        print("bestmove", state.action_to_string(state.legal_actions()[0]), flush=True)
"""
PGN = '[Event "One"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 *\n\n[Event "Two"]\n\n1. d4 d5 2. c4 e6 3. Nc3 *\n'
EPD = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Returns a folder with what the page's reader has: a bot, three engines and two books."""
    for name, source in {"mybot": BOT, "new": STOCKFISH, "old": BLUNDERS, "engine": BREAKTHROUGH}.items():
        (tmp_path / name).write_text(f"#!{sys.executable}\n{source}")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "8moves_v3.pgn").write_text(PGN)
    (tmp_path / "book.epd").write_text(EPD)
    return tmp_path


SEATS, BOOK, EXPORTED, EARLY, BRIDGE = commands(GUIDE)


def test_the_engines_of_the_guide_play_and_a_match_is_exported(folder: Path) -> None:
    shown = [run(line, folder) for line in re.split(r"\n(?=referee)", SEATS)]
    assert "stockfish wins" in shown[0]
    assert "fairymax" in shown[1]
    assert "gnugo wins" in shown[2]
    assert "engine" in shown[3]
    run(EXPORTED.splitlines()[0], folder)
    assert "%clk" in (folder / "game.pgn").read_text()


@pytest.mark.parametrize("command", [BOOK, EXPORTED.splitlines()[1], EARLY], ids=["book", "export", "early"])
def test_the_gates_of_the_guide_accept_the_better_engine(command: str, folder: Path) -> None:
    assert "accepted" in run(command, folder)
    assert "--export" not in command or "[White " in (folder / "games.pgn").read_text()


def test_another_program_plays_the_bot_as_the_guide_starts_it(folder: Path) -> None:
    """Starts the second engine of the page's cutechess-cli as that does, and asks it for a move."""
    words = shlex.split(BRIDGE.split("-engine")[2].split("-each")[0].replace("\\\n", " "))
    (program,) = (word.removeprefix("cmd=") for word in words if word.startswith("cmd="))
    arguments = [word.removeprefix("arg=") for word in words if word.startswith("arg=")]
    command = [str(Path(sys.executable).parent / program), *arguments]
    with subprocess.Popen(
        command, cwd=folder, env=environment(folder), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as engine:
        assert engine.stdin is not None and engine.stdout is not None
        engine.stdin.write("uci\nisready\nposition startpos\ngo wtime 10000 btime 10000 winc 100 binc 100\n")
        engine.stdin.flush()
        move = next(line.split()[1] for line in engine.stdout if line.startswith("bestmove"))
        engine.communicate("quit\n")
    assert engine.returncode == 0
    assert chess.Move.from_uci(move) in chess.Board().legal_moves
