"""`referee gate` from argv to exit code, with real workers and bots."""

import json
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from contests import drawing_bot

from referee.harness.cli.main import main

pytestmark = pytest.mark.slow

Run = Callable[..., tuple[int, str, str]]
TICTACTOE = ("--game", "tictactoe", "--seed", "3", "--jobs", "1", "--no-pin")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Returns a function that runs `referee gate` and returns exit code, standard output and error."""
    monkeypatch.chdir(tmp_path)

    def run(*argv: str) -> tuple[int, str, str]:
        code = main(("gate", *argv))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_a_better_bot_is_accepted_in_all_reports(run: Run, tmp_path: Path) -> None:
    files = ("--markdown", "deep/pr.md", "--junit", "gate.xml")
    code, out, _ = run("New=@advanced", "Old=@random", *TICTACTOE, "--elo", "0", "100", *files)
    assert code == 0
    first, *figures, folder = out.splitlines()
    assert folder == "ledger  tournaments/tictactoe-gate"
    assert first == "Tic-tac-toe: New against Old: accepted   (seed 3)"
    text = (tmp_path / "deep" / "pr.md").read_text()
    assert text.startswith("Better: +")
    assert text.index("; proven to be above +0 Elo within ") < text.index("\n\n### New")
    assert all(line in text for line in figures)
    assert [line[:5] for line in figures[:3]] == ["Elo  ", "nElo ", "LOS  "] and figures[2] == "LOS   | 100.00 %"
    assert figures[2] in (tmp_path / "gate.xml").read_text()
    assert ElementTree.parse(tmp_path / "gate.xml").getroot().get("failures") == "0"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deep", "gate.xml", "tournaments"]


def test_a_worse_bot_is_rejected(run: Run) -> None:
    code, out, _ = run("@random", "@advanced", *TICTACTOE, "--elo", "0", "100", "--json")
    found: Any = json.loads(out)
    assert (code, found["decision"], found["terms"]["unit"]) == (1, "rejected", "elo")
    assert found["strength"]["score"] < 0.4


def test_a_bot_that_cannot_be_built_is_an_error_in_every_report(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "bot.toml").write_text("run = ['./bot']\nbuild = 'echo no \\`semicolon\\` >&2; exit 1'\n")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    code, out, err = run("mine", "@random", *TICTACTOE, "--markdown", "pr.md", "--junit", "gate.xml")
    assert (code, out) == (3, "")
    assert "::error title=referee gate::Tic-tac-toe: mine against @random: a bot cannot be played" in err
    text = (tmp_path / "pr.md").read_text()
    title = "### mine against \\@random at Tic\\-tac\\-toe: the run failed"
    assert text.startswith(f"{title}\n\n```\na bot cannot be played\nmine: ") and "no 'semicolon'" in text
    root = ElementTree.parse(tmp_path / "gate.xml").getroot()
    assert (root.get("failures"), root.get("errors")) == ("0", "1")
    (error,) = root.iter("error")
    assert error.get("message") == "mine against @random: the run failed" and "semicolon" in str(error.text)


def test_a_gate_says_which_faults_and_how_to_reproduce_the_first(run: Run, tmp_path: Path) -> None:
    """A run that goes on with its ledger says the same, and how many of them machine load has slowed."""
    new = drawing_bot(tmp_path, "clumsy", 1, "def choose(): return 'nowhere'")
    argv = (new, "Old=@random", *TICTACTOE, "--elo", "0", "100", "--max-games", "8")
    code, out, _ = run(*argv, "--json", "--ledger", "kept")
    report = json.loads(out)
    (group,) = report["faults"]
    assert (code, group["count"], report["faults_new"]) == (4, 8, 8)
    assert (group["bot"], group["kind"], group["first_game"]) == ("new", "illegal", 1)
    assert group["reproduce"][:2] == ["referee", "repro"]
    assert main(tuple(group["reproduce"][1:])) == 1
    assert main(tuple(group["look"][1:])) == 0  # the games are kept without being asked
    _, out, _ = run(*argv, "--ledger", "kept", "--resume")
    lines = (tmp_path / "kept" / "faults" / "game-1.jsonl").read_text().splitlines()
    turn = next(json.loads(line)["turn"] for line in lines if '"ruling"' in line)
    assert f"look    referee replay show kept/faults/game-1.jsonl --turn {turn}\n" in out
    assert out.endswith("ledger  kept\n")
    (line,) = [line for line in out.splitlines() if line.startswith("Faults|")]
    assert line.startswith("Faults| new: 8 × illegal ") and "first in game 1, referee repro " in line
    assert main(tuple(shlex.split(line.partition(", referee ")[2]))) == 1
    assert "Start | games begin from varied positions (opening=2)" in out
    assert "machine load slowed" not in out

    slowed = 3
    for file in (tmp_path / "kept" / "ledger").iterdir():  # as if the machine had been busy
        head, *lines = [json.loads(line) for line in file.read_text().splitlines()]
        for fault in [fault for line in lines for fault in line.get("f", ())]:
            if slowed and fault["kind"] == "illegal":
                fault["noise"], slowed = True, slowed - 1
        file.write_text("".join(json.dumps(each) + "\n" for each in (head, *lines)))
    assert slowed == 0
    _, out, _ = run(*argv, "--ledger", "kept", "--resume")
    assert "new: 8 × illegal " in out and ", machine load slowed 3 of 8, first in game 1, referee " in out


REANTICS = ("--game", "reantics", "--set", "draw_after=30", "--max-games", "2", "--jobs", "1")


def test_the_set_up_of_a_bot_is_a_part_of_it_also_where_starts_are_varied(run: Run, tmp_path: Path) -> None:
    """A gate once drew the placements itself, and so found no fault in such a bot."""
    (tmp_path / "raises.py").write_text(RAISES)
    code, out, err = run("./raises.py", "@random", *REANTICS, "--isolation", "off", "--ledger", "kept")
    assert (code, "faults new 2, old 0" in out) == (4, True)
    assert "in the placement" in out and "Start |" not in out and "draws placements" not in err


def test_a_split_tells_the_set_up_from_the_play(run: Run, tmp_path: Path) -> None:
    """The new bot fails when it sets up, and would play like the old one."""
    (tmp_path / "ends.py").write_text(WORKS.replace("        phase = ", "        sys.exit(3)\n        phase = "))
    (tmp_path / "works.py").write_text(WORKS)
    argv = ("./ends.py", "./works.py", *REANTICS, "--isolation", "off", "--ledger", "kept", "--split", "--json")
    _, out, err = run(*argv)
    assert not err.startswith("referee:"), err
    set_up, play = json.loads(out)["split"]
    assert (set_up["part"], set_up["games"], set_up["faults"]) == ("set-up", 2, 2)
    assert (play["part"], play["games"], play["faults"]) == ("play", 2, 0)
    code, _, err = run("a.py", "b.py", *TICTACTOE, "--split")
    assert code == 2 and "--split: at tictactoe, bots do not set up" in err


WORKS = """
import json, sys

for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "initialize":
        answer = {"name": "works"}
    elif message["method"] == "getPlacement":
        phase = message["params"]["currentState"]["phase"]
        free = [[x, y] for y in (range(4) if phase == 1 else range(6, 10)) for x in range(10)]
        answer = free[:11] if phase == 1 else free[:2]
    elif message["method"] == "getMove":
        answer = {"moveType": 2, "coordList": None, "buildType": None}
    else:
        answer = None
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer}), flush=True)
"""
RAISES = """
import json, sys

for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "initialize":
        answer = {"result": {"name": "raises"}}
    else:
        answer = {"error": {"code": -32000, "message": f"in the placement: {message['method']}"}}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
"""


def test_the_first_line_says_what_an_option_takes_away_from_bots(run: Run) -> None:
    argv = ("@random", "@random", *REANTICS, "--set", "random_layout=[true,false]")
    first = run(*argv)[2].splitlines()[0]
    assert first == "random_layout=[true,false]: the referee draws placements, and asks no bot for them"


def test_the_same_seed_gives_the_same_games_and_the_same_decision(run: Run) -> None:
    names = ("decision", "seed_groups", "counts", "llr", "different", "faults_new")
    ends = []
    for jobs in ("1", "2"):
        argv = ("@baseline", "@random", "--game", "tictactoe", "--seed", "9", "--no-pin", "--jobs", jobs, "--json")
        found = json.loads(run(*argv, "--elo", "0", "100")[1])
        ends.append([found[name] for name in names])
    assert ends[0] == ends[1]


@pytest.mark.parametrize("command", ["gate", "tournament run"])
def test_without_a_terminal_a_line_says_how_two_bots_stand(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    length = ("--max-games", "8", "--elo", "0", "1") if command == "gate" else ("--games", "8")
    main((*command.split(), "A=@baseline", "B=@random", *TICTACTOE, *length, "--every", "8"))
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("Games ")]
    found = re.match(
        r"Games 8  W (\d) D (\d) L (\d)  Elo \S+ ± \S+  (LLR .*  )?Ptnml \[([\d, ]+)\]  [\d,.]+ games/min", line
    )
    assert found is not None and sum(map(int, found.groups()[:3])) == 8
    assert sum(map(int, found[5].split(", "))) == 4 and (found[4] is not None) == (command == "gate")
    main((*command.split(), "A=@baseline", "B=@random", *TICTACTOE, *length, "--every", "0"))
    assert "Games 8" not in capsys.readouterr().err


def test_a_limit_makes_a_gate_inconclusive_and_resume_continues_it(run: Run, tmp_path: Path) -> None:
    argv = ("@random", "@baseline", *TICTACTOE, "--elo", "0", "5", "--ledger", "kept")
    code, out, _ = run(*argv, "--max-games", "6", "--json")
    first = json.loads(out)
    assert (code, first["decision"], first["games"], first["surplus"]) == (4, "inconclusive", 6, 0)
    assert run(*argv, "--max-games", "6")[0] == 2  # there is one already
    other = ("@baseline", *argv[1:])
    assert "has games of @random, which the command does not name" in run(*other, "--max-games", "6", "--resume")[2]
    code, out, _ = run(*argv, "--max-games", "12", "--resume", "--json")
    again = json.loads(out)
    assert (code, again["games"]) == (4, 12)
    ledgers = sorted((tmp_path / "kept" / "ledger").iterdir())
    assert [file.read_bytes().count(b'{"k":') for file in ledgers] == [6, 6]  # nothing was played twice


def test_the_time_limit_may_come_first(run: Run) -> None:
    code, out, _ = run("@random", "@baseline", *TICTACTOE, "--elo", "0", "0.5", "--max-minutes", "0.01")
    assert code == 4 and "inconclusive" in out


def test_four_seats_are_one_new_bot_against_three_old_ones(run: Run) -> None:
    argv = ("@trainer", "@random", "--game", "aibg5", "--set", "rounds=2", "--seed", "1", "--jobs", "1", "--no-pin")
    argv += ("--max-games", "8", "--elo", "0", "30", "--ledger", "kept")
    code, out, err = run(*argv, "--json")
    found = json.loads(out)
    assert (code, found["games"], len(found["counts"])) == (4, 8, 25)
    assert found["ahead"] + found["level"] + found["behind"] == 8 * 3
    assert "same program" not in err  # the old one's three are, which is how it is played
    _, out, _ = run(*argv, "--resume")
    games, rivals = (next(line for line in out.splitlines() if line.startswith(word)) for word in ("Games", "Rivals"))
    assert games.startswith("Games | 8: ") and " W " not in games
    ahead, behind, level = (f"{found[name]}" for name in ("ahead", "behind", "level"))
    assert rivals == f"Rivals| 24 met, 3 a game: ahead of {ahead}, behind {behind}, level with {level}"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_gate_with_the_result_so_far(tmp_path: Path, number: signal.Signals) -> None:
    program = [sys.executable, "-m", "referee.harness.cli.main", "gate", "@random", "other=@random"]
    options = ["--game", "tictactoe", "--seed", "3", "--jobs", "1", "--elo", "0", "1"]
    command = [*program, *options, "--ledger", "t", "--markdown", "pr.md"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as gate:
        until = time.monotonic() + 60
        while time.monotonic() < until and not _has_games(tmp_path / "t" / "ledger", 4):
            time.sleep(0.05)
        gate.send_signal(number)
        out, err = gate.communicate(timeout=60)
    why = "interrupted" if number == signal.SIGINT else f"ended by {number.name}"
    assert gate.returncode == 128 + number
    assert err.splitlines() == ["@random and other are the same program", f"referee: {why}"]
    assert out.startswith("Tic-tac-toe: @random against other: inconclusive   (seed 3)\nElo ")
    assert why in (tmp_path / "pr.md").read_text()


def _has_games(folder: Path, count: int) -> bool:
    return any(file.read_bytes().count(b"\n") > count for file in folder.glob("*.jsonl"))


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("--elo", "30", "0"), "--elo 30 0: expected the lower bound first"),
        (("--elo", "0", "30", "--nelo", "0", "30"), "--elo and --nelo cannot be combined"),
        (("--resume",), "--resume needs --ledger"),
        (("--depth", "3"), "Unknown option: --depth"),
    ],
)
def test_usage_errors_are_one_line_and_exit_code_2(run: Run, argv: tuple[str, ...], message: str) -> None:
    code, out, err = run("@random", "@random", "--game", "tictactoe", *argv)
    assert (code, out) == (2, "")
    assert err.startswith(f"referee: {message}") and err.count("\n") == 1
