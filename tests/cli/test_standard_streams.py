"""Standard streams that are closed, full, or in another encoding; help and live line on a terminal."""

import json
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from referee.harness.cli.command_line import app
from referee.harness.cli.help import manual
from referee.harness.cli.reports.text import short

pytestmark = pytest.mark.slow

REFEREE = (sys.executable, "-m", "referee.harness.cli.main")
MATCH = ("--game", "tictactoe", "@random", "@random", "--seed", "1")


def shell(folder: Path, redirection: str, *argv: str) -> subprocess.CompletedProcess[str]:
    """Runs the command line with a shell redirection."""
    command = ["/bin/sh", "-c", f'"$@" {redirection}', "sh", *REFEREE, *argv]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    "argv", [MATCH, (*MATCH, "--json"), ("games",), ("--help",), ("--version",), ("rules", "tictactoe"), ()]
)
def test_a_full_disk_behind_standard_output_is_one_line(tmp_path: Path, argv: tuple[str, ...]) -> None:
    done = shell(tmp_path, "> /dev/full", *argv)
    assert done.returncode == 3
    assert done.stderr == "referee: standard output cannot be written: No space left on device\n"


@pytest.mark.parametrize("json", [(), ("--json",)])
def test_a_closed_standard_output_is_one_line_and_nothing_is_played(tmp_path: Path, json: tuple[str, ...]) -> None:
    done = shell(tmp_path, ">&-", *MATCH, *json)
    assert (done.returncode, done.stderr) == (3, "referee: standard output is closed\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("columns", ["0", "-1", "", "²", "99999999999999999999", "wide"])
def test_a_terminal_without_a_usable_width_shows_the_verdict(tmp_path: Path, columns: str) -> None:
    """Containers and CI give COLUMNS=0."""
    done = subprocess.run(
        [*REFEREE, *MATCH, "--replay", "none"], env=os.environ | {"COLUMNS": columns}, cwd=tmp_path, capture_output=True
    )
    assert done.returncode == 0 and b"seat  bot" in done.stdout and len(done.stdout) < 2000


def test_standard_input_and_error_may_be_closed(tmp_path: Path) -> None:
    done = shell(tmp_path, "<&- 2>&-", *MATCH, "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["seed"] == 1


@pytest.mark.parametrize("redirection", ["2> /dev/full", "2>&-"])
def test_an_error_that_cannot_be_printed_keeps_its_exit_code(tmp_path: Path, redirection: str) -> None:
    assert shell(tmp_path, redirection, "games", "chess").returncode == 2


def plain(folder: Path, encoding: str, *argv: str) -> str:
    """Returns what a command prints in an encoding."""
    env = os.environ | {"PYTHONIOENCODING": encoding}
    done = subprocess.run([*REFEREE, *argv], cwd=folder, env=env, capture_output=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode(encoding)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_output_works_in_every_encoding(tmp_path: Path, encoding: str) -> None:
    shown = plain(
        tmp_path, encoding, "--game", "tictactoe", "@random", "Zoë 王=@random", "--best-of", "3", "--seed", "4"
    )
    assert "Zoë 王" in shown if encoding == "utf-8" else "\\u738b" in shown
    assert ("–" if encoding == "utf-8" else "-") in shown.partition(" after ")[0]
    for argv in (("--help",), ("games",), ("rules", "tictactoe"), ("replay", "show", "replays/tictactoe-1.jsonl")):
        assert plain(tmp_path, encoding, *argv)


def test_output_works_in_the_c_locale(tmp_path: Path) -> None:
    env = os.environ | {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    done = subprocess.run([*REFEREE, "rules", "quoridor"], cwd=tmp_path, env=env, capture_output=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.isascii()


def test_json_is_utf_8_in_every_locale(tmp_path: Path) -> None:
    env = os.environ | {"PYTHONIOENCODING": "ascii"}
    argv = ("--game", "tictactoe", "@random", "Zoë=@random", "--json")
    done = subprocess.run([*REFEREE, *argv], cwd=tmp_path, env=env, capture_output=True, timeout=120)
    assert json.loads(done.stdout)["standings"][1]["name"] == "Zoë"


def run_on_a_terminal(folder: Path, *argv: str, **env: str) -> str:
    """Returns what a command writes to a real terminal."""
    ours, theirs = pty.openpty()
    settings = os.environ | {"TERM": "xterm", "COLUMNS": "100", "NO_COLOR": "1"} | env
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
    assert process.wait(30) == 0
    return data.decode().replace("\r\n", "\n")


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


@pytest.mark.parametrize("columns", [40, 60, 100])
def test_a_narrow_table_cuts_no_name_and_no_number(tmp_path: Path, columns: int) -> None:
    names = ("my_long_named_bot_of_tuesday", "my_long_named_bot_of_wednesday")
    bots = [f"{name}=@random" for name in names]
    env = os.environ | {"COLUMNS": str(columns)}
    command = [*REFEREE, "--game", "tictactoe", *bots, "--seed", "1", "--games", "2"]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
    table = done.stdout[done.stdout.index("Tic-tac-toe: 2 games") :].replace("\n", " ")
    assert all(name in table for name in names)
    for word in ("played", "wins", "draws", "losses", "points", "faults"):
        assert word in table, "no heading is cut"
    assert "…" not in table


@pytest.mark.parametrize("columns", [40, 60, 120])
def test_a_tournaments_table_and_the_doctors_report_cut_no_word(tmp_path: Path, columns: int) -> None:
    env = os.environ | {"COLUMNS": str(columns)}

    def printed(*arguments: str) -> str:
        done = subprocess.run(
            [*REFEREE, *arguments], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120
        )
        return done.stdout

    play = [
        *REFEREE,
        "tournament",
        "run",
        "--game",
        "tictactoe",
        "@random",
        "@baseline",
        "--games",
        "2",
        "--ledger",
        "t",
    ]
    subprocess.run(play, cwd=tmp_path, check=True, timeout=120)
    sentences = ("tictactoe", "note", "ranked", "not shown", "The machine")  # not wrapped without a terminal
    shown = printed("tournament", "show", "t").splitlines()
    table = "\n".join(line for line in shown if not line.startswith(sentences))
    for word in ("@random", "@baseline", "points", "faults"):
        assert word in table
    for word in ("Elo [low, high]", "P(#1)", "different"):
        assert (word in table) != any(line.startswith("not shown") and word in line for line in shown)
    assert ("different" in table) == (columns == 120)
    assert len(table.splitlines()) == 3, "columns are left out rather than wrapped"
    report = printed("doctor")
    assert max(map(len, table.splitlines())) <= columns
    assert "…" not in table + report
    assert "seccomp" in report and "processes" in report


def test_the_live_line_shortens_names_so_that_they_still_differ() -> None:
    names = ["my_long_named_bot_of_tuesday", "my_long_named_bot_of_wednesday", "my_long_bot_of_tuesday", "ann", "ann"]
    for width in (4, 5, 8, 12, 40):
        cut = short(names, width)
        assert all(len(name) <= max(width, 4) for name in cut)
        assert len(set(cut[:4])) == 4 and cut[3] == cut[4] == "ann", "equal names stay equal"
    assert short(names, 12)[0] == "my_lo…uesday"


def test_the_overview_fits_a_screen_and_help_all_has_every_option(tmp_path: Path) -> None:
    env = os.environ | {"COLUMNS": "80"}
    shown = [
        subprocess.run([*REFEREE, *argv], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120).stdout
        for argv in (("--help",), ("--help", "--all"), ("help", "replay", "show"))
    ]
    lines = shown[0].splitlines()
    assert len(lines) <= 40 and max(map(len, lines)) <= 80
    assert all(word in shown[0] for word in ("--game", "play", "tournament", "`referee COMMAND --help`"))
    assert "on_noise=charge" in shown[1] and "no core" in " ".join(shown[1].split())
    assert "--last" in shown[2]


def test_the_man_page_is_valid_troff_and_has_every_command() -> None:
    page = manual(app)
    for word in ("replay show", "tournament", "\\-\\-best\\-of", "EXIT STATUS", "had no core"):
        assert word in page.replace("\n", " "), word
    if shutil.which("groff"):
        told = subprocess.run(
            ["groff", "-man", "-ww", "-Tutf8"], input=page, capture_output=True, text=True, timeout=30
        )
        assert (told.returncode, told.stderr) == (0, "")


def test_on_a_terminal_a_replay_goes_through_the_pager(tmp_path: Path) -> None:
    shell(tmp_path, "", *MATCH, "--replay", "match.jsonl")
    show = ("replay", "show", "match.jsonl")
    whole = run_on_a_terminal(tmp_path, *show, PAGER="")
    paged = run_on_a_terminal(tmp_path, *show, PAGER="sed s/^/|/")
    assert paged == "".join(f"|{line}\n" for line in whole.splitlines())
    assert run_on_a_terminal(tmp_path, *show, PAGER="head -n 1").count("\n") == 1, "the pager may exit early"
