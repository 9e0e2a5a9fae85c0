"""Every way in which the command line fails: exit code and message.

A table lists command lines; each is tried at three widths. Tests below try other encodings, full disks, folders without
write permission, signals and closed pipes.
"""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from needs import skip_without
from scripted import Arena

from referee.harness.cli.main import main

pytestmark = pytest.mark.slow

REFEREE = (sys.executable, "-m", "referee.harness.cli.main")
MATCH = ("--game", "tictactoe", "@random", "@random")
CHECK = ("check", "bot.py", "--game", "tictactoe")
NEW = ("new", "tictactoe")

PATHS: list[tuple[tuple[str, ...], int, str]] = [
    # games
    (("@random", "@random"), 2, "no game is named: use --game GAME (`referee games` lists them)"),
    (("--game", "chess", "@random", "@random"), 2, "unknown game 'chess'; there are "),
    (("--game", "tictactoo", "@random", "@random"), 2, "did you mean tictactoe?"),
    (("gmaes",), 2, "did you mean `referee games`?"),
    (("verify", "match.jsonl"), 2, "there is no command 'verify'; `referee --help` lists the commands"),
    (("--game", "tictactoe", "@random"), 2, "is played by 2 bots; 1 was named"),
    # bots
    (("--game", "tictactoe", "@random", "no/bot.py"), 2, "no such file or folder; there is no folder no"),
    (("--game", "tictactoe", "@random", "bto.py"), 2, "no bot at 'bto.py': there is no such file or folder; did you"),
    (("--game", "tictactoe", "@random", "./bot"), 2, "did you mean ./bot.py?"),
    (("--game", "tictactoe", "@random", "zzz"), 2, "paths start at the current folder, /"),
    (("--game", "tictactoe", "@random", "@rando"), 2, "did you mean @random?"),
    (("--game", "tictactoe", "@random", "text.txt"), 2, "neither executable nor a source file of a known language"),
    (("--game", "tictactoe", "@random", "empty"), 2, "name the program itself, or write a bot.toml with a line"),
    (("--game", "tictactoe", "@random", "wrong"), 2, "wrong/bot.toml: "),
    (("--game", "tictactoe", "@random", "fails"), 3, "fails: the build failed with exit code 7"),
    (("--game", "tictactoe", "@random", "slow", "--build", "time=200ms"), 3, "--build time changes that limit"),
    (("--game", "tictactoe", "@random", "lacks"), 3, "run names './nothing', which is no program here"),
    (("--game", "tictactoe", "@random", ""), 2, "no bot is named"),
    (("--game", "tictactoe", "@random", "mine="), 2, "no bot is named"),
    (("--game", "tictactoe", "@random", "O'Neil/1=@random"), 2, "a name in front of = is not empty and has no /"),
    (("--game", "tictactoe", "@random", "plain"), 3, "is not executable; name its interpreter, as in run = "),
    (("--game", "tictactoe", "@random", "cmd:nothing-here"), 2, "there is no program 'nothing-here'"),
    (("--game", "tictactoe", "@random", "cmd:"), 2, "needs a command line, as in cmd:'python3 mybot.py'"),
    (("--game", "tictactoe", "@random", "script:none.txt"), 2, "cannot be read: No such file or directory"),
    (("--game", "quoridor", "@random", "@BASE_AI_O"), 2, "@BASE_AI_O plays tictactoe, not quoridor"),
    # options
    ((*MATCH, "--game"), 2, "--game"),
    ((*MATCH, "--gmaes", "2"), 2, "Unknown option: --gmaes. Did you mean --games?"),
    ((*MATCH, "--games", "0"), 2, 'Invalid value "0" for --games. Must be >= 1.'),
    ((*MATCH, "--games", "x"), 2, 'Invalid value for --games: unable to convert "x" into int.'),
    ((*MATCH, "--swap"), 2, "it needs --games 2 or more"),
    ((*MATCH, "--best-of", "3", "--games", "2"), 2, "--games and --best-of cannot be combined"),
    ((*MATCH, "--jobs", "2", "--games", "2", "--chaos"), 2, "--jobs cannot be combined with --chaos"),
    ((*MATCH, "--seed", "x"), 2, "seed"),
    ((*MATCH, "--set", "flip"), 2, "expected KEY=VALUE; options of tictactoe: flip, opening"),
    ((*MATCH, "--set", "flip=never"), 2, "expected 'auto' or 'manual' (manual: the opponent must flip"),
    ((*MATCH, "--map", "x"), 2, "tictactoe has no maps"),
    (("--game", "aiarena21", "@random", "@random", "--map", "99"), 2, "bundled maps of aiarena21: 1, 2, 3"),
    ((*MATCH, "--call-time", "soon"), 2, "a time above zero, such as 1s, 250ms or 2m, or none"),
    ((*MATCH, "--clock", "x"), 2, "seconds and an increment, such as 60+2 or 300, or none"),
    ((*MATCH, "--memory", "x"), 2, "a size such as 256MiB or 1G, up to 1 PiB, or none"),
    ((*MATCH, "--limit", "processes=x"), 2, "a whole number from 1 to 4194304, or none"),
    ((*MATCH, "--limit", "processes=" + "9" * 5000), 2, "a whole number from 1 to 4194304, or none"),
    ((*MATCH, "--limit", "readable=/no/such"), 2, "there is no such file or folder"),
    ((*MATCH, "--isolation", "maybe"), 2, "--isolation maybe"),
    ((*MATCH, "--paused"), 2, "--paused requires --watch"),
    (("serve", "arena", "--token-time", "3h"), 2, "Unknown option: --token-time."),
    ((*MATCH, "--encoding", "xml"), 2, "encoding"),
    ((*MATCH, "--export", "text", "x"), 2, "there are aiarena21-replay"),
    ((*MATCH, "--replay", "none", "--export", "aiarena21-replay", "x"), 2, "is a format for aiarena21 matches"),
    (
        (*MATCH, "--replay", "/proc/nowhere/x.jsonl"),
        3,
        "choose another place with --replay FILE, or keep none with --replay none",
    ),
    (
        ("tournament", "run", *MATCH, "--replay", "none", "--export", "pgn", "x"),
        2,
        "--replay none cannot be combined with --export",
    ),
    # the other commands
    (("replay", "show", "none.jsonl"), 2, "cannot be read: No such file or directory"),
    (("replay", "show", "text.txt"), 2, "is not a replay: line 1: "),
    (("replay", "verify", "empty.jsonl"), 2, "is empty, not a replay"),
    (("replay", "export", "x", "none.jsonl", "to"), 2, "cannot be read"),
    (("games", "chess"), 2, "there are "),
    (("help", "replya"), 2, "there is no command replya; did you mean replay?"),
    (("tournament", "run", "--game", "tictactoe", "@random", "@random", "--leger", "x"), 2, "Did you mean --ledger?"),
    (("rules", "chess"), 2, "there are "),
    (("rules", "tictactoe", "99.9"), 2, "99.9"),
    ((*NEW,), 2, "choose a language with --lang: c, cpp, go, java, javascript, python, rust"),
    ((*NEW, "--lang", "cobol"), 2, "there are c, cpp, go, java, javascript, python, rust"),
    ((*NEW, "full", "--lang", "python"), 2, "exists and is not an empty folder"),
    ((*NEW, "/proc/nowhere/bot", "--lang", "python"), 3, "cannot be written"),
    (("judge", "@random", "--game", "reantics"), 2, "reantics"),
    (("check", "bot.py"), 2, "--game"),
    ((*CHECK, "--only", "x"), 2, "the rules are builds, starts, "),
    (("tournament", "run", "--game", "tictactoe", "@random", "--ledger", "t"), 2, ""),
    (("new", "tictactoo"), 2, "did you mean tictactoe?"),
    (("tournament", "show", "none"), 2, "none"),
    (("tournament", "run", "none"), 2, "none: there is no such tournament; name its file or its folder"),
    (
        ("tournament", "run", "--game", "tictactoe", "@random", "@random", "--ledger", "text.txt"),
        3,
        "text.txt cannot be written",
    ),
    (("gate", "@random", "@random"), 2, "--game"),
    (("completion", "tcsh"), 2, "bash"),
]


@pytest.fixture
def folder(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the table uses."""
    monkeypatch.chdir(arena.folder)
    arena.bot("greet(); call()", name="bot")
    for name, text in (("text.txt", "hello\n"), ("empty.jsonl", ""), ("text.zip", "hello"), ("full/x", "")):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    Path("empty").mkdir()
    for name, toml in (
        ("wrong", "run = 3"),
        ("fails", 'run = ["./x"]\nbuild = "exit 7"'),
        ("slow", 'run = ["./x"]\nbuild = "sleep 60"'),
        ("lacks", 'run = ["./nothing"]'),
        ("plain", 'run = ["./bot.toml"]'),
    ):
        Path(name).mkdir()
        Path(name, "bot.toml").write_text(toml)
    return arena.folder


@pytest.mark.parametrize(("argv", "code", "words"), PATHS, ids=[" ".join(argv) for argv, _, _ in PATHS])
def test_an_error_is_one_line_that_says_what_to_do(
    folder: Path,
    argv: tuple[str, ...],
    code: int,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = set()
    for columns in ("40", "60", "100"):
        monkeypatch.setenv("COLUMNS", columns)
        assert main(argv) == code
        out, err = capsys.readouterr()
        assert out == ""
        told.add(err)
    assert len(told) == 1, "no terminal is too narrow for it"
    (err,) = told
    first, *rest = err.splitlines()
    assert first.startswith("referee: ") and all(line.startswith("  ") for line in rest)
    assert not rest or code == 3, "only what a build said comes on more lines"
    assert words in err and "Traceback" not in err and "\x1b" not in err


@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "utf-8"])
def test_an_error_is_printed_in_every_encoding(folder: Path, encoding: str) -> None:
    env = os.environ | {"PYTHONIOENCODING": encoding, "NO_COLOR": "1"}
    done = subprocess.run([*REFEREE, "games", "schäch王"], env=env, capture_output=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.decode(encoding).startswith("referee: unknown game 'sch")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize(("settings", "colour"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_a_terminal_has_colours_unless_they_are_switched_off(
    folder: Path, settings: dict[str, str], colour: bool
) -> None:
    ours, theirs = pty.openpty()
    env = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    env |= {"TERM": "xterm-256color", "COLUMNS": "40"} | settings
    process = subprocess.Popen([*REFEREE, "games", "chess"], env=env, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    said = os.read(ours, 4096)
    assert process.wait(30) == 2
    os.close(ours)
    assert (b"\x1b[1;31m" in said) is colour
    assert b"unknown game 'chess'" in said


# Pipes, devices and folders where a file is expected.

PIPED = "it is a named pipe; expected a file"
SPECIAL = "is a pipe or a device; expected a file or a folder"
FOUR = ("--game", "aibg5", "@random", "@random", "@random", "@random")
FILES: list[tuple[tuple[str, ...], str]] = [
    ((*FOUR, "--map", "pipe"), PIPED),
    ((*FOUR, "--map", "/dev/zero"), "it has more than 4 MiB"),
    (("--game", "tictactoe", "@random", "script:pipe"), PIPED),
    (("--game", "tictactoe", "@random", "script:/dev/zero"), "it has more than 16 MiB"),
    *[(("--game", "tictactoe", "@random", bot), SPECIAL) for bot in ("pipe", "pipe.py", "pipe.wasm", "/dev/zero")],
    (("gate", "pipe.py", "@random", "--game", "tictactoe"), SPECIAL),
    (("gate", "@random", "@random", "--game", "tictactoe", "--ledger", "plan", "--resume"), PIPED),
    (("export", "problem", "--game", "tictactoe", "--against", "/dev/zero", "--into", "po"), SPECIAL),
    (
        ("export", "problem", "--game", "tictactoe", "--against", "@random", "--solution", "pipe", "--into", "po"),
        SPECIAL,
    ),
    (("tournament", "run", "--game", "tictactoe", "@random", "/dev/zero"), SPECIAL),
    (("tournament", "run", "pipe.toml"), PIPED),
    *[(("tournament", command, "plan"), PIPED) for command in ("show", "verify", "page")],
    (("tournament", "add", "plan", "@random"), PIPED),
    (("tournament", "prepare", "pipe", "--into", "into", "--game", "tictactoe"), PIPED),
    (("serve", "aibg", "--users", "pipe"), PIPED),
    ((*MATCH, "--replay", "/", "--games", "2"), "it is a folder; expected a file"),
    ((*MATCH, "--replay", ".", "--games", "2"), "it is a folder; expected a file"),
    (("--game", "aiarena21", "@random", "@random", "--export", "aiarena21-replay", "/"), "it is a folder"),
]


@pytest.mark.parametrize(("argv", "words"), FILES, ids=[" ".join(argv) for argv, _ in FILES])
def test_what_is_no_file_is_refused_in_a_line(
    folder: Path, argv: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Opening a pipe would wait for a writer, and a device has no end."""
    Path("plan").mkdir()
    for name in ("pipe", "pipe.py", "pipe.wasm", "pipe.toml", "plan/tournament.toml"):
        os.mkfifo(name, 0o600)
    assert main(argv) == 2
    said = capsys.readouterr().err
    assert words in " ".join(said.split()) and "Traceback" not in said


def test_a_pipe_that_is_handed_in_is_one_refused_line(folder: Path) -> None:
    Path("in").mkdir()
    names = ("a.py", "b.wasm", "c.zip", "d.tar", "e.tar.gz")
    for name in names:
        os.mkfifo(Path("in", name))
    command = [*REFEREE, "tournament", "prepare", "in", "--into", "into", "--game", "tictactoe"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stdout.count("no ordinary file") == len(names), done.stdout


# Disks and folders.


def mounted(options: str, script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a shell script in a small new file system; $R is our command line."""
    skip_without("unshare")
    mount = f"mount -t tmpfs -o {options} none {folder}/disk && cd {folder}/disk"
    (folder / "disk").mkdir()
    if subprocess.run(["unshare", "-rm", "sh", "-c", mount], capture_output=True).returncode != 0:
        pytest.skip("no file system can be mounted here")
    env = os.environ | {"R": " ".join(REFEREE), "TMPDIR": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    command = ["unshare", "-rm", "sh", "-c", f"{mount} && {script}"]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=200)


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    done = mounted("size=8k,ro", "$R --game tictactoe @random @random --isolation off", tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    expected = "the replay replays cannot be written: Read-only file system; choose another place with --replay FILE"
    assert done.stderr == f"referee: {expected}, or keep none with --replay none\n"


def test_a_cache_that_cannot_be_written_is_one_line_in_a_tournament(tmp_path: Path) -> None:
    (tmp_path / "bot.sh").write_text("read line\n")
    bots = f"@random {tmp_path}/bot.sh"
    command = f"XDG_CACHE_HOME=$PWD $R tournament run --game tictactoe {bots} --games 2 --ledger {tmp_path}/cup"
    done = mounted("size=8k,ro", command, tmp_path)
    assert done.returncode == 3
    assert done.stderr.count("\n") == 2 and "Traceback" not in done.stderr
    assert done.stderr.endswith(
        f".zip cannot be unpacked: the cache {tmp_path}/disk/referee/bundles cannot be written "
        "(Read-only file system); set XDG_CACHE_HOME\n"
    )


@pytest.mark.parametrize(("size", "code"), [("1m", 3), ("1g", 1)])
def test_a_build_on_a_full_disk_is_not_the_bots_fault(tmp_path: Path, size: str, code: int) -> None:
    """A build that claims so with enough room left is at fault."""
    (tmp_path / "bot").mkdir()
    build = "head -c 4000000 /dev/zero > x || exit 1; echo No space left on device; exit 1"
    (tmp_path / "bot" / "bot.toml").write_text(f'run = ["true"]\nbuild = "{build}"\n')
    done = mounted(
        f"size={size}", f"TMPDIR=$PWD XDG_CACHE_HOME=$PWD $R check {tmp_path}/bot --game tictactoe", tmp_path
    )
    assert done.returncode == code, done.stderr
    told = f"the build was ended, since the disk of {tmp_path}/disk"
    assert (told in done.stderr) is (code == 3) and "Traceback" not in done.stderr
    assert done.stderr.endswith(" left; make room\n") is (code == 3)


def test_advice_names_only_options_of_the_command(tmp_path: Path) -> None:
    done = mounted("size=8k,ro", "$R judge --game tictactoe @baseline", tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.endswith("Read-only file system; choose another place with --replay FOLDER\n")


def test_a_series_on_a_full_disk_keeps_its_standings(tmp_path: Path) -> None:
    series = "$R --game tictactoe @random @random --games 60 --seed 1 --isolation off"
    done = mounted("size=160k", f"{series}; echo $?; {series} --json --replay x/1.jsonl; echo $?", tmp_path)
    words = done.stdout.splitlines()
    assert any(line.startswith("Tic-tac-toe: ") and " games of 60, seed 1" in line for line in words)
    assert words[-1] == "3" and "3" in words[:-1]
    full = "No space left on device; choose another place with --replay FILE, or keep none with --replay none"
    assert done.stderr.splitlines()[0].endswith(full)
    failure = json.loads(words[-2])
    assert failure["exit_code"] == 3 and "No space left on device" in failure["error"]


def test_a_tournament_on_a_full_disk_keeps_its_games(tmp_path: Path) -> None:
    tournament = "$R tournament run --game tictactoe @random @baseline --games 300 --seed 1 --ledger t --jobs 1"
    done = mounted("size=100k", f"{tournament} --isolation off; echo $?; $R tournament show t", tmp_path)
    code, *shown = done.stdout.split("\n", 1)
    assert code == "3"
    assert done.stderr.startswith(
        "referee: t: the ledger cannot be written: the disk is full. Games written so far are kept; "
    )
    assert "make room, then continue: a tournament with `referee tournament run t`" in done.stderr
    assert done.stderr.count("\n") == 1
    assert "@baseline" in shown[0] and "@random" in shown[0], "the table of what was played"


def test_a_new_bot_on_a_full_disk_leaves_no_files(tmp_path: Path) -> None:
    new = "$R new tictactoe --lang python"
    done = mounted("size=40k", f"mkdir empty; {new} a/b; echo $?; {new} empty; echo $?; find", tmp_path)
    assert done.stdout.split() == ["3", "3", ".", "./empty"]
    first, second = done.stderr.splitlines()
    for line, folder in ((first, "a/b"), (second, "empty")):
        assert line.startswith(f"referee: {folder} cannot be written: ") and "No space left on device" in line


# Signals and closed pipes.


@pytest.mark.parametrize(("number", "words"), [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "ended by SIGTERM")])
@pytest.mark.parametrize("argv", [("--game", "tictactoe", "bot.py", "@random"), (*CHECK, "--only", "exit")])
def test_a_signal_gives_one_line_and_its_exit_code(
    folder: Path, argv: tuple[str, ...], number: signal.Signals, words: str
) -> None:
    Path("bot.py").write_text("import time\nopen('begun', 'w').close()\ntime.sleep(100)\n")
    process = subprocess.Popen(
        [*REFEREE, *argv, "--limit", "startup=100s", "--isolation", "off"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not Path("begun").exists() and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (128 + number, "", f"referee: {words}\n")


LONG = (*MATCH, "--games", "40", "--replay", "none", "-v")


@pytest.mark.parametrize("argv", [("games",), ("help",), ("rules", "reantics"), LONG])
def test_a_closed_pipe_ends_a_command_silently(folder: Path, argv: tuple[str, ...]) -> None:
    script = '"$@" | head -c 1 >/dev/null; echo ${PIPESTATUS[0]}'
    done = subprocess.run(["bash", "-c", script, "x", *REFEREE, *argv], capture_output=True, text=True, timeout=100)
    assert (done.stdout, done.stderr) == ("0\n", "")


@pytest.mark.parametrize("module", ["cyclopts", "referee.harness.cli.match", "trio"])
def test_ctrl_c_while_the_program_loads_is_one_line(tmp_path: Path, module: str) -> None:
    hook = (
        "import os, signal, sys\n"
        "class Hook:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Hook())\n"
        "from referee.harness.cli.main import main; sys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", hook, "games"], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (130, "referee: interrupted\n")
