"""Engines of other protocols at a seat: what they are asked, and the verdict on each of their faults."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from scripted import Arena

from referee.addons.engines.board import Board
from referee.games.contract import FaultKind
from referee.games.game import TimeControl
from referee.harness.common.errors import UsageError
from referee.harness.isolation.plan import OFF
from referee.harness.match.verdict import Verdict
from referee.harness.process.limits import Limits
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.spec import entrant
from referee.harness.replay.lines import FaultReport

pytestmark = pytest.mark.slow

CHESS, GO, BREAKTHROUGH = "openspiel:chess", "openspiel:go", "openspiel:breakthrough"
CALL = TimeControl(per_call_s=5.0)
SHORT, SLACK = TimeControl(per_call_s=0.6), "--overhead 400"
"""A limit of 0.6 s, and time enough to note what happens on a busy machine."""

UCI = """
import os, signal, sys, time

def say(*lines):
    for line in lines:
        print(line, flush=True)

def greet():
    say("id name Scripted 1.0", "option name Hash type spin default 1", "uciok", "ugiok")

def ready():
    say("readyok")

def first():
    # The first move of either side is legal after any other first move.
    return "e2e4" if len(moves) % 2 == 0 else "e7e5"

def go(asked):
    say("bestmove " + first())

def stop():
    pass

{body}

moves = []
for line in sys.stdin:
    print("got " + line.strip(), file=sys.stderr, flush=True)
    word, _, rest = line.strip().partition(" ")
    if word in ("uci", "ugi"):
        greet()
    elif word == "isready":
        ready()
    elif word == "position":
        moves = rest.split()[2:]
    elif word == "go":
        go(rest)
    elif word == "stop":
        stop()
    elif word == "quit":
        break
"""

GTP = """
import sys

def reply(word, rest):
    if word == "list_commands":
        return "= genmove\\nplay\\ntime_left\\ntime_settings"
    return "= Scripted" if word == "name" else "="

{body}

for line in sys.stdin:
    print("got " + line.strip(), file=sys.stderr, flush=True)
    word, _, rest = line.strip().partition(" ")
    print(reply(word, rest) + "\\n", flush=True)
    if word == "quit":
        break
"""

CECP = """
import sys

def say(*lines):
    for line in lines:
        print(line, flush=True)

def greet():
    say('feature ping=1 usermove=1 san=1 myname="Scripted 1.0" option="Depth -spin 1 1 9" done=1')

def go():
    say("move e2e4" if not moves else "move e7e5")

{body}

moves = []
for line in sys.stdin:
    print("got " + line.strip(), file=sys.stderr, flush=True)
    word, _, rest = line.strip().partition(" ")
    if word == "protover":
        greet()
    elif word == "new":
        moves = []
    elif word == "usermove":
        moves.append(rest)
    elif word == "ping":
        say("pong " + rest)
    elif word == "go":
        go()
    elif word == "quit":
        break
"""
PREAMBLES = {"uci": UCI, "ugi": UCI, "gtp": GTP, "cecp": CECP}

Play = Callable[..., "Played"]


class Engines:
    """Writes scripted engines, and plays them against `@random`."""

    def __init__(self, arena: Arena) -> None:
        self.arena = arena

    def engine(self, protocol: str, body: str = "", options: str = "", game: str = CHESS) -> Entrant:
        script = self.arena.folder / "engine.py"
        script.write_text(PREAMBLES[protocol].replace("{body}", body))
        return entrant(f"{protocol}:{options} {script}", game)

    async def play(
        self,
        protocol: str,
        body: str = "",
        options: str = "",
        *,
        game: str = CHESS,
        time: TimeControl = CALL,
        startup_s: float = 10.0,
        granted_s: float = 10.0,
        **rules: object,
    ) -> "Played":
        match = self.arena.match(
            self.engine(protocol, body, options, game), entrant("@random"), game=game, time=time, **rules
        )
        limits = Limits(startup_s=startup_s, isolation=OFF)
        return Played(await self.arena.play(match, limits, granted_s))


class Played:
    """The outcome of a match of a scripted engine."""

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict
        log = verdict.seats[0].stderr
        self.stderr = "" if log is None else Path(log).read_text()
        self.got = [line.removeprefix("got ") for line in self.stderr.splitlines() if line.startswith("got ")]

    @property
    def fault(self) -> FaultReport:
        (fault,) = self.verdict.faults
        assert fault.player == 0 and self.verdict.result.ranks == (2, 1)
        return fault


@pytest.fixture
def engines(arena: Arena) -> Engines:
    return Engines(arena)


# Faults. Each verdict is the one that any bot gets, and quotes the engine's line.


@pytest.mark.trio
async def test_a_late_engine_is_stopped_and_then_times_out(engines: Engines) -> None:
    body = "def go(asked): say('info depth 7')"
    played = await engines.play("uci", body, SLACK, time=SHORT)
    assert played.fault.kind is FaultKind.TIMEOUT
    assert played.got[-1] == "stop"
    assert "has not moved 400 ms after 'go movetime 200'; its last line: 'info depth 7'" in played.fault.last_words[-1]


@pytest.mark.trio
async def test_an_engine_that_answers_stop_is_in_time(engines: Engines) -> None:
    body = "def go(asked): pass\ndef stop(): say('bestmove ' + (first() if len(moves) < 2 else 'a1a1'))"
    played = await engines.play("uci", body, SLACK, time=SHORT)
    assert (played.fault.kind, played.fault.call) == (FaultKind.ILLEGAL, 2)


CRASHES = {
    "def go(asked): say('info string oh no'); os._exit(3)": (
        "exited with code 3 before answering",
        "exited with code 3; its last line: 'info string oh no'",
    ),
    "def go(asked): sys.exit(0)": ("exited with code 0 before answering", ""),
    "def go(asked): os.kill(os.getpid(), signal.SIGSEGV)": (
        "SIGSEGV",
        "was killed by SIGSEGV; its last line: 'readyok'",
    ),
    "def go(asked): os.close(1); time.sleep(60)": ("", "closed its standard output; its last line: 'readyok'"),
    "def go(asked):\n  while True: os.write(1, b'x' * 65536)": (
        "",
        "wrote a line of more than 1048576 bytes; its last line: 'readyok'",
    ),
}


@pytest.mark.trio
@pytest.mark.parametrize("body", CRASHES)
async def test_a_crash_is_the_engines_own(engines: Engines, body: str) -> None:
    detail, last_words = CRASHES[body]
    played = await engines.play("uci", body)
    assert played.fault.kind is FaultKind.CRASH and detail in played.fault.detail
    assert last_words in played.fault.last_words[-1]


@pytest.mark.trio
@pytest.mark.parametrize("line", ["bestmove e2e5", "bestmove (none)", "bestmove"])
async def test_an_illegal_move_is_quoted_in_the_engines_own_line(engines: Engines, line: str) -> None:
    played = await engines.play("uci", f"def go(asked): say({line!r})")
    assert played.fault.kind is FaultKind.ILLEGAL and line in played.fault.detail


@pytest.mark.trio
async def test_an_engine_that_never_says_uciok_times_out_at_the_start(engines: Engines) -> None:
    played = await engines.play("uci", "def greet(): say('Hello, I speak no UCI')", startup_s=3.0)
    assert played.fault.kind is FaultKind.TIMEOUT
    assert played.fault.method == "initialize"
    assert "has not answered 'uci' yet; its last line: 'Hello, I speak no UCI'" in played.fault.last_words[-1]


@pytest.mark.trio
async def test_a_silent_engine_is_said_to_have_written_nothing(engines: Engines) -> None:
    played = await engines.play("ugi", "def greet(): pass", game=BREAKTHROUGH, startup_s=3.0)
    assert "has not answered 'ugi' yet; it has written nothing" in played.fault.last_words[-1]


@pytest.mark.trio
async def test_what_an_engine_says_unasked_is_thrown_away(engines: Engines) -> None:
    """The bestmove before `go` comes in one piece with `readyok`: later, nobody could tell it from an answer."""
    body = """
def ready(): say("info string " + "x" * 5000, "readyok\\nbestmove a1a1")
def go(asked):
    say("string bestmove a1a1", "info pv bestmove a1a1", "", "bestmove " + (first() if len(moves) < 2 else "x"))
"""
    played = await engines.play("uci", body)
    assert (played.fault.call, played.fault.kind) == (2, FaultKind.ILLEGAL) and "bestmove x" in played.fault.detail


@pytest.mark.trio
async def test_lines_without_end_are_no_answer(engines: Engines) -> None:
    body = "def go(asked):\n  while True: say('info nodes 1')"
    played = await engines.play("uci", body, SLACK, time=SHORT)
    assert played.fault.kind is FaultKind.TIMEOUT and "'info nodes 1'" in played.fault.last_words[-1]


@pytest.mark.trio
async def test_an_option_that_the_engine_does_not_offer_is_an_error(engines: Engines) -> None:
    played = await engines.play("uci", options="--option Hsh=64")
    assert played.fault.kind is FaultKind.ERROR
    assert "has no option 'Hsh'; it offers Hash" in played.fault.detail


@pytest.mark.trio
async def test_an_engine_without_any_limit_is_refused(engines: Engines) -> None:
    played = await engines.play("uci", time=TimeControl())
    assert played.fault.kind is FaultKind.ERROR and "add --clock or --nodes" in played.fault.detail


@pytest.mark.parametrize(
    ("spec", "game", "message"),
    [
        ("gtp:gnugo", CHESS, "gtp: plays openspiel:go, not openspiel:chess"),
        ("cecp:phalanx", BREAKTHROUGH, "cecp: plays openspiel:chess, not openspiel:breakthrough"),
        ("uci:stockfish", GO, "uci: plays openspiel:chess, not openspiel:go; for other games there is ugi:"),
    ],
)
def test_a_protocol_of_another_game_is_a_usage_error(spec: str, game: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        entrant(spec, game)


@pytest.mark.trio
async def test_an_engine_of_uci_may_resign(engines: Engines) -> None:
    played = await engines.play("uci", "def go(asked): say('bestmove Resign')")
    assert played.fault.kind is FaultKind.ERROR and "the engine resigns: 'bestmove Resign'" in played.fault.detail


# Notations.


WHITE_CASTLES = ["e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "f8c5", "b1c3", "g8f6", "d2d3", "d7d6"]
WHITE_CASTLES += ["c1e3", "c8e6", "d1d2", "d8d7"]


def board(moves: list[str]) -> Board:
    position = Board(CHESS, {})
    for move in moves:
        position.advance([*position.actions, position.legal()[move]])
    return position


@pytest.mark.parametrize(
    ("texts", "move"),
    [
        ("e1g1 e1h1 O-O o-o 0-0 O-O! OO 00 E1G1", "e1g1"),
        ("e1c1 e1a1 O-O-O 0-0-0 O-O-O+ OOO 000 o-o-o#", "e1c1"),
        ("c4e6 Bxe6 Bc4xe6 Bc4-e6 c4xe6 B4e6 C4E6 Bxe6!?", "c4e6"),
        ("h2h3 h3 h2-h3 Ph3", "h2h3"),
        ("c3b5 Nb5 Ncb5 N3b5", "c3b5"),
    ],
)
def test_a_legal_move_is_read_in_every_notation_that_engines_use(texts: str, move: str) -> None:
    position = board(WHITE_CASTLES)
    assert {text: position.action_of(text) for text in texts.split()} == dict.fromkeys(
        texts.split(), position.legal()[move]
    )


@pytest.mark.parametrize(
    "text", ["0000", "(none)", "", "b5", "Ke2e4", "e1f1h1", "Bxe5", "O-O-O-O", "e6", "h3h2", "be6"]
)
def test_what_names_no_legal_move_or_several_is_none(text: str) -> None:
    assert board(WHITE_CASTLES).action_of(text) is None


@pytest.mark.parametrize(
    "text", ["a7b8q", "a7b8Q", "a7b8=Q", "a7b8/Q", "axb8=Q", "axb8Q+", "axb8=q#", "a7xb8(Q)", "A7B8Q"]
)
def test_a_promotion_is_read_in_capitals_and_with_signs(text: str) -> None:
    position = board(["a2a4", "b7b5", "a4b5", "a7a6", "b5a6", "h7h6", "a6a7", "h6h5"])
    assert position.in_notation(text) == "a7b8q"
    assert position.in_notation("axb8=N") == "a7b8n"
    assert position.action_of("a7b8") is None


@pytest.mark.trio
async def test_a_tab_is_a_blank(engines: Engines) -> None:
    played = await engines.play("uci", "def go(asked): say('bestmove\\t' + first() + '\\tponder\\ta7a6')")
    assert played.fault.call > 1


# What the engine is asked.


@pytest.mark.trio
async def test_uci_tells_the_whole_game_and_the_seats_own_clock(engines: Engines) -> None:
    clock = TimeControl(initial_s=60.0, increment_s=0.5)
    played = await engines.play("uci", options="--option Hash=3", time=clock)
    assert played.got[:4] == ["uci", "setoption name Hash value 3", "isready", "ucinewgame"]
    asked = [line.split() for line in played.got if line.startswith("go ")]
    assert asked[0][:3] == ["go", "wtime", "59990"] and asked[0][3:5] == ["btime", "59990"]
    assert asked[0][5:] == ["winc", "500", "binc", "500"]
    assert 59990 < int(asked[1][2]) <= 60490
    positions = [line.split()[3:] for line in played.got if line.startswith("position startpos moves ")]
    second = positions[-1]
    assert second[len(second) - 2] in ("e2e4", "e7e5"), "the engine's own first move is in the list"


@pytest.mark.trio
@pytest.mark.parametrize(
    ("protocol", "periods", "told"),
    [
        ("uci", {"answers": 40}, ["movestogo 40", "movestogo 39"]),
        ("uci", {"answers": 1, "final_s": 30.0}, ["movestogo 1", "binc 500"]),
        ("cecp", {"answers": 40}, ["level 40 1:00 0.5"]),
        ("cecp", {"answers": 1, "final_s": 30.0}, ["level 1 1:00 0.5", "level 0 1:"]),
    ],
)
async def test_an_engine_is_told_its_periods_in_the_terms_of_its_protocol(
    engines: Engines, protocol: str, periods: dict[str, float], told: list[str]
) -> None:
    clock = TimeControl(initial_s=60.0, increment_s=0.5, **periods)
    got = (await engines.play(protocol, time=clock)).got
    asked = [line for line in got if line.startswith("go w")] or [line for line in got if line.startswith("level")][1:]
    assert len(asked) >= len(told) and all(end in line for line, end in zip(asked, told, strict=False))


@pytest.mark.trio
@pytest.mark.parametrize("late", [1, 2, 3, 4])
async def test_an_engine_that_is_late_loses_in_whichever_period_it_is_and_whatever_time_it_says(
    engines: Engines, late: int
) -> None:
    body = (
        "count = 0; MINE = 'g8f6', 'f6g8', 'g8f6', 'f6g8'\n"
        "def go(asked):\n"
        "    global count; count += 1\n"
        f"    if count == {late}: say('info time 1 depth 1'); return\n"
        "    say('info time 999999 depth 1'); say('bestmove ' + MINE[count - 1])"
    )
    clock = TimeControl(initial_s=0.4, answers=2)
    played = await engines.play("uci", body, SLACK, time=clock)
    assert (played.fault.kind, played.fault.call) == (FaultKind.TIMEOUT, late)


@pytest.mark.trio
@pytest.mark.parametrize(
    ("protocol", "game", "bank_s", "told"),
    [
        ("uci", CHESS, 60.0, ("go wtime 4990 btime 4990 winc 500 binc 500",)),
        ("cecp", CHESS, 3.0, ("level 0 0:03 0.5", "time 299", "otim 299")),
        ("gtp", GO, 60.0, ("time_settings 0 4 1", "time_left b 4 1")),
        ("gtp", GO, 3.0, ("time_settings 3 0 0", "time_left b 2 0")),
    ],
)
async def test_an_engine_with_a_bank_and_a_limit_of_a_call_is_told_the_smaller(
    engines: Engines, protocol: str, game: str, bank_s: float, told: tuple[str, ...]
) -> None:
    clock = TimeControl(initial_s=bank_s, increment_s=0.5, per_call_s=5.0)
    played = await engines.play(protocol, game=game, time=clock, **({"board_size": 9} if game == GO else {}))
    assert {*told} <= {*played.got}


@pytest.mark.trio
@pytest.mark.parametrize(
    ("options", "asked"),
    [
        ("--depth 3 --nodes 9", "go nodes 9 depth 3"),
        ("--movetime 20", "go movetime 20"),
        ("--overhead 30", "go movetime 4970"),
    ],
)
async def test_options_of_the_seat_bound_the_search(engines: Engines, options: str, asked: str) -> None:
    played = await engines.play("uci", options=options)
    assert asked in played.got


@pytest.mark.trio
async def test_ugi_plays_a_game_with_its_texts(engines: Engines) -> None:
    body = """
def go(asked):
    assert asked.startswith("p1time "), asked
    say("bestmove " + ("a2a3" if len(moves) % 2 else "a7a6") if len(moves) < 2 else "bestmove enough")
"""
    played = await engines.play("ugi", body, game=BREAKTHROUGH, time=TimeControl(initial_s=9.0))
    assert (played.fault.kind, played.fault.call) == (FaultKind.ILLEGAL, 2)
    assert "bestmove enough" in played.fault.detail
    assert played.got[:3] == ["ugi", "isready", "uginewgame"]


@pytest.mark.trio
async def test_gtp_sets_up_the_board_and_plays_what_is_new(engines: Engines) -> None:
    body = """
def reply(word, rest, ask=reply, count=[0]):
    if word == "genmove":
        count[0] += 1
        return "= E5" if count[0] == 1 else "= resign"
    return ask(word, rest)
"""
    played = await engines.play("gtp", body, game=GO, board_size=9, seed=11)
    assert played.got[:6] == ["list_commands", "name", "boardsize 9", "clear_board", "komi 7.5", "time_settings 0 4 1"]
    asked = ["time_left", "genmove", "play", "time_left", "genmove", "quit"]
    assert [line.split()[0] for line in played.got[6:]] == asked
    assert played.fault.kind is FaultKind.ERROR and "resigns: '= resign'" in played.fault.detail


@pytest.mark.trio
@pytest.mark.parametrize(("answer", "kind"), [("? cannot think", FaultKind.ERROR), ("= Z99", FaultKind.ILLEGAL)])
async def test_gtp_answers_that_are_no_move_are_quoted(engines: Engines, answer: str, kind: FaultKind) -> None:
    body = f"def reply(word, rest, ask=reply): return {answer!r} if word == 'genmove' else ask(word, rest)"
    played = await engines.play("gtp", body, game=GO, board_size=9)
    assert played.fault.kind is kind and answer in played.fault.detail


@pytest.mark.trio
async def test_gtp_reads_a_move_in_small_letters_and_after_the_number_of_its_command(engines: Engines) -> None:
    body = """
answers = iter(["= c3", "=1 C5\\t", "=G7 \\r", "= Pass", "=12  PASS", "=2 resign"])
def reply(word, rest, ask=reply):
    return next(answers) if word == "genmove" else ask(word, rest)
"""
    played = await engines.play("gtp", body, game=GO, board_size=9, seed=11)
    assert played.fault.call == 6 and "resigns: '=2 resign'" in played.fault.detail


@pytest.mark.trio
async def test_cecp_sends_features_clock_and_moves(engines: Engines) -> None:
    body = "def go(): say('move e2e4' if not moves else 'move e7e5' if len(moves) == 1 else 'resign')"
    played = await engines.play("cecp", body, "--option Depth=4", time=TimeControl(initial_s=90.0, increment_s=2))
    assert played.got[:2] == ["xboard", "protover 2"]
    assert {"accepted usermove", "rejected san", "option Depth=4", "level 0 1:30 2", "force"} <= {*played.got}
    assert "time 8999" in played.got and "otim 8999" in played.got
    assert played.fault.kind is FaultKind.ERROR and "wrote 'resign' instead of a move" in played.fault.detail


@pytest.mark.trio
async def test_an_old_cecp_engine_knows_no_features_and_no_ping(engines: Engines) -> None:
    body = "def greet(): pass\ndef go(): say('Illegal move: castling')"
    played = await engines.play("cecp", body)
    assert "'Illegal move: castling'" in played.fault.detail
    assert [line for line in played.got if line.startswith(("usermove", "ping"))] == []


@pytest.mark.trio
async def test_debug_shows_the_dialogue(engines: Engines) -> None:
    played = await engines.play("uci", "def go(asked): say('bestmove no')", "--debug")
    shown = [line.split(" ", 1)[1] for line in played.stderr.splitlines() if line[:1].isdigit()]
    assert shown[:2] == ["> uci", "< id name Scripted 1.0"] and shown[-1] == "< bestmove no"


@pytest.mark.trio
async def test_the_name_of_the_program_is_the_engines(engines: Engines) -> None:
    played = await engines.play("uci", "def go(asked): say('bestmove no')")
    assert played.verdict.seats[0].program == "Scripted 1.0"
    assert sys.executable in played.verdict.seats[0].command
