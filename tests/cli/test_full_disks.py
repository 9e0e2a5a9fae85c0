"""Full disks, and folders and caches that cannot be written: one line, and nothing that was played is lost."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from needs import skip_without

pytestmark = pytest.mark.slow

REFEREE = (sys.executable, "-m", "referee.harness.cli.main")


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
    said = [line for line in done.stderr.splitlines() if not line.startswith("warning: ")]
    assert said[0].startswith("referee: ") and len(said) <= 2, said  # the bot is named in a line of its own
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
    series = "$R --game tictactoe @random @random --games 30 --jobs 1 --seed 1 --isolation off"
    done = mounted("size=100k", f"{series}; echo $?; {series} --json --replay x/1.jsonl; echo $?", tmp_path)
    words = done.stdout.splitlines()
    assert any(line.startswith("Tic-tac-toe: ") and " games of 30, seed 1" in line for line in words)
    assert words[-1] == "3" and "3" in words[:-1]
    full = "No space left on device; choose another place with --replay FILE, or keep none with --replay none"
    assert done.stderr.splitlines()[0].endswith(full)
    failure = json.loads(words[-2])
    assert failure["exit_code"] == 3 and "No space left on device" in failure["error"]


def test_a_tournament_on_a_full_disk_keeps_its_games(tmp_path: Path) -> None:
    tournament = "$R tournament run --game tictactoe @random @baseline --games 100 --seed 1 --ledger t --jobs 1"
    done = mounted("size=100k", f"{tournament} --isolation off; echo $?; $R tournament show t", tmp_path)
    code, *shown = done.stdout.split("\n", 1)
    assert code == "3"
    failed, kept = done.stderr.splitlines()
    assert failed == "referee: t: the ledger cannot be written: the disk is full; make room, then go on"
    assert kept.endswith(" games so far are kept; continue with: referee tournament run t")
    assert "@baseline" in shown[0] and "@random" in shown[0], "the table of what was played"


def test_a_new_bot_on_a_full_disk_leaves_no_files(tmp_path: Path) -> None:
    new = "$R new tictactoe --lang python"
    done = mounted("size=40k", f"mkdir empty; {new} a/b; echo $?; {new} empty; echo $?; find", tmp_path)
    assert done.stdout.split() == ["3", "3", ".", "./empty"]
    first, second = done.stderr.splitlines()
    for line, folder in ((first, "a/b"), (second, "empty")):
        assert line.startswith(f"referee: {folder} cannot be written: ") and "No space left on device" in line
