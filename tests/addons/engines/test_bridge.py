"""`referee serve bridge`: a bot plays as a UCI or UGI engine."""

import json
import random
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from scripted import PREAMBLE

from referee.addons.engines.board import Board
from referee.harness.cli.main import main

pytestmark = pytest.mark.slow

COMMAND = (sys.executable, "-m", "referee.harness.cli.main", "serve", "bridge")
FIRST = """
heard = open(sys.argv[1], "a")
def note(message):
    heard.write(json.dumps(message) + "\\n")
    heard.flush()
def first(message):
    answer(message, {"action": message["params"]["legal"][0]["action"]})
def play(message):
    first(message)
note(greet(reuse=True))
{body}
while True:
    message = call()
    note(message["params"])
    if message["method"] == "initialize":
        answer(message, {"reuse": True})
    else:
        play(message)
"""
"""A bot that writes down what it gets, and plays the first legal action."""


class Gui:
    """Starts the bridge as a program for games between engines does."""

    def __init__(self, folder: Path, body: str, *options: str, protocol: str = "uci") -> None:
        bot = folder / "bot.py"
        bot.write_text(PREAMBLE + FIRST.replace("{body}", body))
        self.heard_in = folder / "heard"
        spec = f"mine=cmd:{sys.executable} {bot} {self.heard_in}"
        command = [*COMMAND, protocol, spec, "--isolation", "off", *options]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, bufsize=1)

    def say(self, *lines: str) -> None:
        assert self.process.stdin is not None
        for line in lines:
            self.process.stdin.write(line + "\n")

    def ask(self, *lines: str, word: str) -> str:
        """Returns the line that begins with a word."""
        assert self.process.stdout is not None
        self.say(*lines)
        return next(line.strip() for line in self.process.stdout if line.split()[:1] == [word])

    def heard(self) -> list[Any]:
        return [json.loads(line) for line in self.heard_in.read_text().splitlines()]

    def ended(self) -> tuple[int, str]:
        """Returns the exit code and standard error, without closing the engine's input."""
        assert self.process.stderr is not None
        return self.process.wait(timeout=20), self.process.stderr.read()


Start = Callable[..., Gui]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[Gui] = []

    def gui(body: str = "", *options: str, protocol: str = "uci") -> Gui:
        started.append(Gui(tmp_path, body, *options, protocol=protocol))
        return started[-1]

    yield gui
    for each in started:
        each.process.kill()
        each.process.communicate()


def test_the_bot_gets_the_position_and_the_clock_of_its_side(start: Start) -> None:
    gui = start()
    assert gui.ask("uci", word="id") == "id name mine"
    gui.ask("isready", "ucinewgame", "isready", word="readyok")
    go = "go wtime 3000 btime 2000 winc 30 binc 20"
    move = gui.ask("position startpos moves e2e4", go, word="bestmove")
    assert move == "bestmove a7a6"
    gui.ask("position startpos moves e2e4 a7a6 d2d4", "go movetime 70", word="bestmove")
    greeting, first, second = gui.heard()
    assert greeting["limits"]["initial_ms"] == 2000 and greeting["limits"]["increment_ms"] == 20
    assert greeting["seat"] == first["player"]
    assert (first["clock"]["call_ms"], first["clock"]["remaining_ms"]) == (None, 2000)
    assert len(first["history"]) == 1 and {"action", "text"} == {*first["legal"][0]}
    assert (second["clock"]["call_ms"], second["clock"]["remaining_ms"]) == (70, None)
    assert len(second["history"]) == 3 and second["clock"]["last_ms"] is not None
    gui.say("quit")
    assert gui.ended() == (0, "")


def test_a_new_game_and_another_side_are_new_matches(start: Start) -> None:
    gui = start()
    gui.ask("isready", "position startpos", "go movetime 50", word="bestmove")
    gui.ask("ucinewgame", "isready", "position startpos moves e2e4", "go movetime 50", word="bestmove")
    gui.ask("position startpos moves d2d4", "go movetime 50", word="bestmove")
    greetings = [heard for heard in gui.heard() if "seat" in heard]
    assert [each["seat"] for each in greetings] == [greetings[0]["seat"], *[1 - greetings[0]["seat"]] * 2]


def test_a_whole_game_has_legal_moves_only(start: Start) -> None:
    gui, luck, board = start(), random.Random(0), Board("openspiel:chess", {})
    gui.ask("uci", word="uciok")
    while not board.state.is_terminal() and len(board.moves) < 60:
        position = " ".join(["position startpos moves", *board.moves]) if board.moves else "position startpos"
        move = gui.ask(position, "go wtime 100000 btime 100000", word="bestmove").split()[1]
        board.advance([*board.actions, board.legal()[move]])
        if not board.state.is_terminal():
            board.advance([*board.actions, luck.choice([*board.legal().values()])])
    assert len(board.moves) > 4
    gui.say("quit")
    assert gui.ended()[0] == 0


def test_ugi_answers_questions_about_the_position(start: Start) -> None:
    gui = start("", "--game", "openspiel:tic_tac_toe", protocol="ugi")
    assert gui.ask("ugi", word="ugiok") == "ugiok"

    def asked(*moves: str) -> list[str]:
        gui.say(" ".join(["position startpos moves", *moves]) if moves else "position startpos")
        return [gui.ask(f"query {each}", word="response").split()[1] for each in ("p1turn", "gameover", "result")]

    assert asked() == ["true", "false", "none"]
    assert asked("x(0,0)") == ["false", "false", "none"]
    assert gui.ask("go p1time 1000 p2time 1000", word="bestmove") == "bestmove o(0,1)"
    assert asked("x(0,0)", "o(0,1)", "x(1,1)", "o(0,2)", "x(2,2)")[1:] == ["true", "p1win"]
    assert asked("x(1,0)", "o(0,0)", "x(1,1)", "o(0,1)", "x(2,2)", "o(0,2)")[1:] == ["true", "p2win"]
    assert gui.ask("go movetime 10", word="bestmove") == "bestmove (none)"


def test_isready_is_answered_while_the_bot_thinks_and_quit_ends_it(start: Start) -> None:
    gui = start("def play(message): time.sleep(60)")
    gui.ask("isready", word="readyok")
    gui.ask("position startpos", "go infinite", "isready", word="readyok")
    children = psutil.Process(gui.process.pid).children(recursive=True)
    gui.say("quit")
    assert gui.ended()[0] == 0
    assert psutil.wait_procs(children, timeout=5)[1] == []


@pytest.mark.parametrize("lines", [["quit"], ["isready", "quit"]])
def test_an_engine_that_is_not_asked_ends_in_order(start: Start, lines: list[str]) -> None:
    gui = start()
    gui.say(*lines)
    assert gui.ended() == (0, "")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("def play(message): print('oh no', file=sys.stderr); os._exit(3)", "mine: crash: exited with code 3"),
        ("def play(message): answer(message, {'action': -5})", "mine: illegal: "),
        ("def play(message): time.sleep(60)", "mine: timeout: no answer within 0.2 s"),
    ],
)
def test_a_bot_at_fault_ends_the_engine(start: Start, body: str, message: str) -> None:
    gui = start(body, "--call-time", "200ms")
    gui.say("position startpos", "go movetime 100")
    code, said = gui.ended()
    assert code == 3 and message in said
    assert ("oh no" in said) is ("oh no" in body)


@pytest.mark.parametrize(
    ("position", "message"),
    [
        ("startpos moves e2e4 e2e4", "e2e4 is not legal after e2e4"),
        ("startpos moves e2e5", "e2e5 is not legal at the start"),
        ("fen 8/8/8/8/8/8/8/k1K5 w - - 0 1", "nobody can move"),
        ("fen 8/8/8/8/8/8/8/8 w - - 0 1", "expected one king of each side"),
        (f"fen {'x' * 500}", "length <= 120"),
        ("middle", "position middle: games begin at the usual position here"),
    ],
)
def test_a_position_that_cannot_be_reached_ends_the_engine(start: Start, position: str, message: str) -> None:
    gui = start()
    gui.say(f"position {position}")
    code, said = gui.ended()
    assert code == 3 and message in said


@pytest.mark.parametrize(
    ("options", "fen", "moves", "move"),
    [
        ([], "4k3/8/8/8/8/8/4P3/4K3 b - - 3 40", "", "e8e7"),
        ([], "4k3/8/8/8/8/8/4P3/4K3 b - -", " moves e8d8", "e1d1"),
        (["setoption name UCI_Chess960 value true"], "k6r/8/8/8/8/8/8/1K3R2 w F - 0 1", " moves b1f1", "a8a7"),
    ],
)
def test_a_game_may_begin_from_a_position(start: Start, options: list[str], fen: str, moves: str, move: str) -> None:
    """As programs for games between engines send it with a book in EPD."""
    gui = start()
    gui.ask("uci", *options, "ucinewgame", word="uciok")
    said = gui.ask(f"position fen {fen}{moves}", "go movetime 500", word="bestmove")
    greeting = next(each for each in gui.heard() if "seat" in each)
    assert greeting["options"]["fen"].startswith(fen) and said.startswith("bestmove ")
    assert len(gui.heard()[-1]["history"]) == len(moves.split()[1:])
    assert said == f"bestmove {move}"


def test_a_castling_of_chess960_names_the_option_that_it_needs(start: Start) -> None:
    gui = start()
    gui.say("position fen k6r/8/8/8/8/8/8/1K3R2 w F - 0 1")
    code, said = gui.ended()
    assert code == 3 and "which needs `setoption name UCI_Chess960 value true` first" in said and "--set" not in said


def test_another_position_is_another_match(start: Start) -> None:
    gui = start()
    for fen in ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "4k3/8/8/8/8/8/3P4/4K3 w - - 0 1"):
        gui.ask("ucinewgame", f"position fen {fen}", "go movetime 500", word="bestmove")
    assert len({each["options"]["fen"] for each in gui.heard() if "seat" in each}) == 2


def test_a_position_that_came_before_the_option_of_chess960_is_set_up_anew(start: Start) -> None:
    gui, fen = start(), "k6r/8/8/8/8/8/8/1K3R2 w - - 0 1"
    gui.say(f"position fen {fen}", "setoption name UCI_Chess960 value true")
    assert gui.ask(f"position fen {fen} moves b1a1", "go movetime 500", word="bestmove") == "bestmove a8a7"


def test_the_usual_position_may_come_as_fen(start: Start) -> None:
    fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    assert start().ask(f"position fen {fen} moves e2e4", "go movetime 50", word="bestmove") == "bestmove a7a6"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["uci", "@random", "--clock", "5+1"], "--clock: the program that runs the games keeps the clock"),
        (["uci", "@random", "--game", "tictactoe"], "engines play OpenSpiel's games"),
    ],
)
def test_what_cannot_be_bridged_is_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "bridge", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_after_go_infinite_and_go_ponder_the_move_waits_for_stop_or_ponderhit(start: Start) -> None:
    gui, moves = start(), "e2e4"
    gui.ask("uci", word="uciok")
    assert gui.process.stdout is not None
    for asked, release, following in (
        ("go infinite", "stop", "d2d4"),
        ("go ponder", "stop", "c2c4"),
        ("go ponder", "ponderhit", "g1f3"),
    ):
        gui.ask(f"position startpos moves {moves}", asked, "isready", word="readyok")
        assert not select.select([gui.process.stdout], [], [], 0.5)[0]
        moves = f"{moves} {gui.ask(release, word='bestmove').split()[1]} {following}"
    assert gui.ask(f"position startpos moves {moves}", "go movetime 20000", word="bestmove")
    games = [message for message in gui.heard() if "protocol" in message]
    assert len(games) <= 2


def test_the_bridge_reads_castling_as_king_takes_rook(start: Start) -> None:
    gui = start()
    gui.ask("uci", word="uciok")
    moves = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1h1"
    assert gui.ask(f"position startpos moves {moves}", "go movetime 500", word="bestmove")


def test_a_time_that_is_no_number_or_below_zero_does_not_end_the_bridge(start: Start) -> None:
    gui = start()
    for text, remaining_ms in (("-40", 0), ("0", 0), ("\u00b2", None), ("9" * 5000, None)):
        assert gui.ask("ucinewgame", "position startpos", f"go wtime {text} btime 9", word="bestmove")
        assert gui.heard()[-1]["clock"]["remaining_ms"] == remaining_ms
