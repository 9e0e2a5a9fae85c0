"""Standard streams that are closed, full, or in another encoding; widths, colours and live lines of terminals."""

import io
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.harness.cli.main import main
from referee.harness.cli.reports.text import short
from referee.harness.cli.screen import _drop_wrong_size

pytestmark = pytest.mark.slow

REFEREE = (sys.executable, "-m", "referee.harness.cli.main")
MATCH = ("--game", "tictactoe", "@random", "@random", "--seed", "1")
NAMES = ("my_long_named_bot_of_tuesday", "my_long_named_bot_of_wednesday")

Printed = Callable[..., str]


def shell(folder: Path, redirection: str, *argv: str) -> subprocess.CompletedProcess[str]:
    """Runs the command line with a shell redirection."""
    command = ["/bin/sh", "-c", f'"$@" {redirection}', "sh", *REFEREE, *argv]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.fixture
def printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Printed:
    """Runs a command with this number of columns, and returns what it prints."""
    monkeypatch.chdir(tmp_path)

    def run(columns: object, *argv: str) -> str:
        monkeypatch.setenv("COLUMNS", str(columns))
        assert main(argv) == 0
        return capsys.readouterr().out

    return run


@pytest.mark.parametrize("argv", [MATCH, (*MATCH, "--json"), ("--help",), ("--version",)])
def test_a_full_disk_behind_standard_output_is_one_line(tmp_path: Path, argv: tuple[str, ...]) -> None:
    done = shell(tmp_path, "> /dev/full", *argv)
    assert done.returncode == 3
    assert done.stderr == "referee: standard output cannot be written: No space left on device\n"


def test_a_closed_standard_output_is_one_line_and_nothing_is_played(tmp_path: Path) -> None:
    done = shell(tmp_path, ">&-", *MATCH, "--json")
    assert (done.returncode, done.stderr) == (3, "referee: standard output is closed\n")
    assert list(tmp_path.iterdir()) == []


def test_standard_input_and_error_may_be_closed(tmp_path: Path) -> None:
    done = shell(tmp_path, "<&- 2>&-", *MATCH, "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["seed"] == 1


@pytest.mark.parametrize("redirection", ["2> /dev/full", "2>&-"])
def test_an_error_that_cannot_be_printed_keeps_its_exit_code(tmp_path: Path, redirection: str) -> None:
    assert shell(tmp_path, redirection, "games", "chess").returncode == 2


# Encodings.


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_output_and_errors_work_in_every_encoding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    monkeypatch.chdir(tmp_path)

    def said(code: int, *argv: str) -> str:
        streams = [io.TextIOWrapper(io.BytesIO(), encoding=encoding) for _ in range(2)]
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", streams[0])
            patch.setattr(sys, "stderr", streams[1])
            assert main(argv) == code
        for stream in streams:
            stream.flush()
        return b"".join(stream.buffer.getvalue() for stream in streams).decode(encoding)  # type: ignore[attr-defined]

    shown = said(0, "--game", "tictactoe", "@random", "Zoë 王=@random", "--best-of", "3", "--seed", "4", "--jobs", "1")
    assert "Zoë 王" in shown if encoding == "utf-8" else "\\u738b" in shown
    assert re.search(r"\S–\S+ after " if encoding == "utf-8" else r"\S-\S+ after ", shown)
    for argv in (("--help",), ("games",), ("rules", "tictactoe"), ("replay", "show", "replays/tictactoe-1.jsonl")):
        assert said(0, *argv)
    assert said(2, "games", "schäch王").startswith("referee: unknown game 'sch")


def test_output_works_in_the_c_locale_and_json_is_utf_8_there_too(tmp_path: Path) -> None:
    env = os.environ | {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    done = subprocess.run([*REFEREE, "rules", "quoridor"], cwd=tmp_path, env=env, capture_output=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.isascii()
    argv = ("--game", "tictactoe", "@random", "Zoë=@random", "--json")
    env = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run([*REFEREE, *argv], cwd=tmp_path, env=env, capture_output=True, timeout=120)
    assert json.loads(done.stdout)["standings"][1]["name"] == "Zoë"


# Widths.


def test_a_terminal_without_a_usable_width_shows_the_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Containers and CI give COLUMNS=0."""
    env = os.environ | {"COLUMNS": "0"}
    done = subprocess.run([*REFEREE, *MATCH, "--replay", "none"], env=env, cwd=tmp_path, capture_output=True)
    assert done.returncode == 0 and b"seat  bot" in done.stdout and len(done.stdout) < 2000
    for columns, stays in (("0", 0), ("-1", 0), ("", 0), ("²", 0), ("9" * 20, 0), ("wide", 0), ("040", 1)):
        monkeypatch.setenv("COLUMNS", columns)
        _drop_wrong_size()
        assert ("COLUMNS" in os.environ) == stays


@pytest.mark.parametrize("columns", [40, 100])
def test_a_narrow_table_cuts_no_name_and_no_number(printed: Printed, columns: int) -> None:
    bots = [f"{name}=@random" for name in NAMES]
    shown = printed(columns, "--game", "tictactoe", *bots, "--seed", "1", "--games", "2", "--jobs", "1")
    table = shown[shown.index("Tic-tac-toe: 2 games") :].replace("\n", " ")
    for word in (*NAMES, "played", "wins", "draws", "losses", "points", "faults"):
        assert word in table, "no name and no heading is cut"
    assert "…" not in table


def test_a_tournaments_table_and_the_doctors_report_cut_no_word(printed: Printed) -> None:
    run = "tournament run --game tictactoe @random @baseline --games 2 --jobs 1 --ledger t"
    printed(80, *run.split())
    sentences = ("tictactoe", "note", "ranked", "not shown", "The machine")  # not wrapped without a terminal
    for columns in (40, 60, 120):
        shown = printed(columns, "tournament", "show", "t").splitlines()
        lines = [line for line in shown if not line.startswith(sentences)]
        table = "\n".join(lines)
        for word in ("@random", "@baseline", "points", "faults"):
            assert word in table
        for word in ("Elo [low, high]", "P(#1)", "different"):
            assert (word in table) != any(line.startswith("not shown") and word in line for line in shown)
        assert ("different" in table) == (columns == 120)
        assert len(lines) == 3, "columns are left out rather than wrapped"
        assert max(map(len, lines)) <= columns and "…" not in table
    report = printed(40, "doctor")
    assert "…" not in report and "seccomp" in report and "processes" in report


def test_the_live_line_shortens_names_so_that_they_still_differ() -> None:
    names = [*NAMES, "my_long_bot_of_tuesday", "ann", "ann"]
    for width in (4, 5, 8, 12, 40):
        cut = short(names, width)
        assert all(len(name) <= max(width, 4) for name in cut)
        assert len(set(cut[:4])) == 4 and cut[3] == cut[4] == "ann", "equal names stay equal"
    assert short(names, 12)[0] == "my_lo…uesday"


# Real terminals.


def run_on_a_terminal(folder: Path, *argv: str, code: int = 0, **env: str) -> str:
    """Returns what a command writes to a real terminal."""
    ours, theirs = pty.openpty()
    settings = os.environ | {"TERM": "xterm", "COLUMNS": "100", "NO_COLOR": "1"} | env
    settings = {name: value for name, value in settings.items() if value or name == "PAGER"}
    process = subprocess.Popen([*REFEREE, *argv], cwd=folder, env=settings, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    data = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not chunk:
            break
        data += chunk
    os.close(ours)
    assert process.wait(30) == code
    return data.decode().replace("\r\n", "\n")


@pytest.mark.parametrize(("settings", "colour"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_a_terminal_has_colours_unless_they_are_switched_off(
    tmp_path: Path, settings: dict[str, str], colour: bool
) -> None:
    usual = {"TERM": "xterm-256color", "COLUMNS": "40", "NO_COLOR": ""}
    said = run_on_a_terminal(tmp_path, "games", "chess", code=2, **usual | settings)
    assert ("\x1b[1;31m" in said) is colour
    assert "unknown game 'chess'" in said


def test_on_a_terminal_the_live_line_is_cleared_before_anything_else_is_printed(tmp_path: Path) -> None:
    """Applies carriage returns and erasures, and looks at the lines that remain."""
    text = run_on_a_terminal(tmp_path, *MATCH, "--games", "2")
    assert "game 1/2  turn" in text, "it was shown"
    left = [line.rpartition("\r\x1b[K")[2] for line in text.split("\n")]
    assert not [line for line in left if "turn " in line and "game " in line]
    assert "(Tic-tac-toe, " in left[0]


def test_the_live_line_shows_a_build_with_the_bots_name_language_and_seconds(tmp_path: Path) -> None:
    folder = tmp_path / "bot"
    folder.mkdir()
    (folder / "bot.cpp").touch()
    (folder / "bot.toml").write_text('name = "tardy"\nbuild = "sleep 1.3"\nrun = ["true"]\n')
    text = run_on_a_terminal(
        tmp_path, "--game", "tictactoe", "bot", "@random", "--replay", "none", XDG_CACHE_HOME=str(tmp_path / "cache")
    )
    assert "building tardy (C++) 0 s" in text and "building tardy (C++) 1 s" in text
    assert "building" not in text.rpartition("\r\x1b[K")[2], "and the line is gone"


def test_a_blocked_terminal_delays_no_match_and_costs_no_bot(tmp_path: Path) -> None:
    """The terminal's buffer is full and nobody reads it."""
    ours, theirs = pty.openpty()
    os.set_blocking(theirs, False)
    with pytest.raises(BlockingIOError):
        while True:
            os.write(theirs, b"x" * 4096)
    os.set_blocking(theirs, True)
    env = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
    command = [*REFEREE, "--game", "quoridor", "@random", "@random", "--seed", "1", "--json", "--call-time", "1s"]
    with open(tmp_path / "out", "wb") as out:
        process = subprocess.Popen(command, cwd=tmp_path, env=env, stdin=theirs, stdout=out, stderr=theirs)
        os.close(theirs)
        assert process.wait(60) == 0
    (match,) = json.loads((tmp_path / "out").read_bytes())["matches"]
    os.close(ours)
    assert match["faults"] == []


def test_on_a_terminal_a_replay_goes_through_the_pager(printed: Printed, tmp_path: Path) -> None:
    printed(100, *MATCH, "--replay", "match.jsonl")
    show = ("replay", "show", "match.jsonl")
    whole = printed(100, *show)
    paged = re.sub(r"\x1b\[[0-9;]*m", "", run_on_a_terminal(tmp_path, *show, PAGER="sed s/^/|/"))
    assert paged == "".join(f"|{line}\n" for line in whole.splitlines())
    assert run_on_a_terminal(tmp_path, *show, PAGER="head -n 1").count("\n") == 1, "the pager may exit early"
