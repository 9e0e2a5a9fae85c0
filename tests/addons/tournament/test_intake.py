"""Submissions, sound and broken, become a tournament."""

import json
import os
import re
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from xml.etree import ElementTree

import images
import pytest
from busy_core import busy_core
from contests import DRAWS, PLAYER, environment, games, table, tournament
from defects import bot
from submissions import IDENTITY, RUN, endless_server, folder_of, prepared, repository, zip_of, zipped

from referee.addons.tournament.cli.prepare import write_report
from referee.addons.tournament.intake import intake, snapshot
from referee.addons.tournament.intake.fetching import fetch
from referee.addons.tournament.intake.record import read_record
from referee.addons.tournament.intake.submissions import Submission, check_folder, submissions
from referee.addons.tournament.plan import read_plan
from referee.addons.tournament.store.bot_archives import Found, finding, store
from referee.games import registry
from referee.harness.common.errors import RunError, UsageError
from referee.harness.process.limits import Limits

pytestmark = pytest.mark.slow


def test_every_broken_submission_is_one_line_and_the_others_play(tmp_path: Path) -> None:
    teams = tmp_path / "teams"
    zipped(teams / "ann.zip", 1)
    zipped(teams / "bob.zip", 2, RUN + 'name = "ann"\nbuild = "cp bot.py built.py"\n')
    folder_of(teams / "cid", 3)
    (teams / "torn.zip").write_bytes(b"PK\x03\x04 and no more")
    with zipfile.ZipFile(teams / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("bot.toml", RUN)
        bomb.writestr("zeros", bytes(65 << 20))
    zip_of(folder_of(tmp_path / "plain" / "a", toml=""), teams / "nothing.zip")
    folder_of(tmp_path / "plain" / "b")
    (tmp_path / "plain" / "b" / "bot.toml").unlink()
    zip_of(tmp_path / "plain" / "b", teams / "bare.zip")
    zipped(teams / "twice.zip", 4)
    folder_of(teams / "twice", 5)
    zipped(teams / "fails.zip", 6, RUN + 'build = "echo no compiler of mine; exit 1"\n')
    zipped(teams / "hangs.zip", 7, RUN + 'build = "sleep 1000"\n')
    zipped(teams / "mute.zip", 8, f'run = ["{sys.executable}", "-c", "import time; time.sleep(1000)"]\n')
    folder_of(teams / "linked", 9)
    (teams / "linked" / "passwords").symlink_to("/etc/passwd")
    folder_of(teams / "wide", 10, RUN + 'bundle = ".."\n')
    limits = ("--build", "time=3s", "--limit", "startup=2s")
    result = prepared(tmp_path, teams, "--game", "tictactoe", "--into", "cup", *limits, "--games", "4", code=1)
    assert sorted(result["accepted"]) == ["ann", "bob", "cid"]
    why = result["refused"]
    expected = {
        "torn": "is cut off or damaged",
        "bomb": "unpacks to 68,157",
        "nothing": "run is empty",
        "bare": "no bot.toml",
        "twice": "rename one of them",
        "fails": "the build failed",
        "hangs": "3 s",
        "mute": "initialize",
        "linked": "leads outside",
        "wide": "bundle",
    }
    assert why.keys() == expected.keys()
    for name, words in expected.items():
        assert words in why[name] and "\n" not in why[name], (name, why[name])
    reports = tmp_path / "cup" / "reports"
    for name in (*expected, "ann", "bob", "cid"):
        text = (reports / f"{name}.txt").read_text()
        assert ("refused" in text) == (name in expected), text
        failures = ElementTree.parse(reports / f"{name}.xml").findall(".//failure")
        assert bool(failures) == (name in expected)
    assert "no compiler of mine" in (reports / "fails.txt").read_text()
    tournament(tmp_path, "cup")
    assert len(games(tmp_path / "cup")) == 3 * 4
    assert sorted(row["name"] for row in table(tmp_path / "cup")["rows"]) == ["ann", "bob", "cid"]


def test_a_list_names_repositories_of_git(tmp_path: Path) -> None:
    address = repository(tmp_path / "gitta", 1)
    broken = repository(tmp_path / "gerda", 3, "def choose():\n    return nonsense\n")
    zipped(tmp_path / "hand" / "ins" / "zoe.zip", 2)
    with endless_server() as endless:
        (tmp_path / "hand" / "list.txt").write_text(
            f"# the teams\n\n{address}\n{broken}\nGreat=ins/zoe.zip\nfile://{tmp_path}/nowhere\n{endless}\nins/gone.zip\n"
            f"ext::sh -c touch% {tmp_path}/owned\n"
        )
        result = prepared(
            tmp_path, "hand/list.txt", "--game", "tictactoe", "--into", "cup", "--build", "time=9s", code=1
        )
    assert sorted(result["accepted"]) == ["Great", "gitta"]
    why = result["refused"]
    assert "cannot be cloned" in why["nowhere"] and "cannot be cloned within 9 s" in why["bot"]
    assert "there is no file or folder" in why["gone"]
    assert len(why) == 5 and not (tmp_path / "owned").exists()
    report = (tmp_path / "cup" / "reports" / "gerda.txt").read_text()
    assert "'nonsense' is not defined" in report and "referee-" not in report
    (archive,) = [
        file for file in (tmp_path / "cup" / "bots").iterdir() if "passwords" in zipfile.ZipFile(file).namelist()[-1]
    ]
    assert zipfile.ZipFile(archive).read("bot/passwords") == b"/etc/passwd", "a link is a text file, not what it names"


def tree(repository: Path, entries: Iterable[str]) -> str:
    """Makes a tree object from lines as `git ls-tree` prints them. Returns its name."""
    lines = "".join(f"{entry}\n" for entry in entries)
    made = subprocess.run(["git", "mktree"], cwd=repository, input=lines, capture_output=True, text=True, check=True)
    return made.stdout.strip()


@pytest.mark.trio
@pytest.mark.parametrize("is_the_machines", [True, False])
async def test_a_check_that_gets_no_core_until_its_end_decides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_the_machines: bool
) -> None:
    """A check that sleeps beside a busy core has no excuse, once it has started: `sleep` starts sooner than ours."""
    monkeypatch.setattr(intake, "CHECK_S", 10.0)
    with busy_core() as core:
        bot = json.dumps(["taskset", "-c", str(core), "sh", "-c", "while :; do :; done"])
        if not is_the_machines:
            monkeypatch.setattr(intake, "PROGRAM", ["taskset", "-c", str(core), "sh", "-c", "exec sleep 77"])
        source = str(folder_of(tmp_path / "slow", toml=f"run = {bot}\n"))
        terms = intake.Intake(registry.game("tictactoe"), tmp_path, Limits(build_s=0.0), ("--limit", "startup=60s"), 1)
        outcome = await intake.checked(terms, Submission("slow", source), None, "slow", write_report)
    assert (outcome.accepted, outcome.undecided) == (False, is_the_machines)
    assert outcome.reason.startswith("not decided: the machine" if is_the_machines else "the check did not end within")
    report = (tmp_path / "reports" / "slow.txt").read_text()
    assert ("but no core was free for" in report) == is_the_machines
    report += (tmp_path / "reports" / "slow.xml").read_text()
    assert str(tmp_path) not in report, "authors read no path of the organiser"


@pytest.mark.trio
@pytest.mark.parametrize("leaves", ["files", "folders", "bytes"])
async def test_a_repository_that_grows_when_it_is_checked_out_is_refused(tmp_path: Path, leaves: str) -> None:
    """Ten small objects can stand for ten billion files."""
    address, home = repository(tmp_path / "bomb", 1), tmp_path / "bomb"
    (home / "zeros").write_bytes(bytes(1 << 20 if leaves == "bytes" else 0))
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    blob = subprocess.run([*git, "hash-object", "-w", "zeros"], cwd=home, capture_output=True, text=True).stdout.strip()
    inner = tree(home, [] if leaves == "folders" else [f"100644 blob {blob}\tleaf"])
    for _ in range(2 if leaves == "bytes" else 9):
        inner = tree(home, [f"040000 tree {inner}\t{number}" for number in range(10)])
    commit = [*git, "commit-tree", inner, "-m", "bomb"]
    made = subprocess.run(commit, cwd=home, capture_output=True, text=True, check=True).stdout.strip()
    subprocess.run([*git, "reset", "--soft", made], cwd=home, check=True)
    with pytest.raises(UsageError, match="which are allowed") as refusal:
        await fetch(address, tmp_path / "here", 64 << 20, 2000, 30.0)
    assert ("bytes" in str(refusal.value)) == (leaves == "bytes")
    assert not (tmp_path / "here").exists() and [path.name for path in tmp_path.iterdir()] == ["bomb"]


@pytest.mark.trio
async def test_an_earlier_commit_a_branch_and_a_tag_can_be_fetched(tmp_path: Path) -> None:
    address, home = repository(tmp_path / "bot", 1), tmp_path / "bot"
    git = ["git", "-C", str(home), "-c", "user.name=a", "-c", "user.email=a@example.org"]

    def run(*words: str) -> str:
        return subprocess.run([*git, *words], capture_output=True, text=True, check=True).stdout.strip()

    first = run("rev-parse", "HEAD")
    run("tag", "week-1")
    (home / "newer").touch()
    run("add", ".")
    run("commit", "--quiet", "--message", "newer")
    run("branch", "side")
    for number, (commit, is_newer) in enumerate({first: False, "week-1": False, "side": True, "HEAD": True}.items()):
        await fetch(address, tmp_path / f"{number}", 64 << 20, 2000, 30.0, commit)
        assert (tmp_path / f"{number}" / "newer").exists() == is_newer, commit
        assert (tmp_path / f"{number}" / "bot.py").exists()
    with pytest.raises(UsageError, match="cannot be cloned"):
        await fetch(address, tmp_path / "none", 64 << 20, 2000, 30.0, "0" * 40)


def test_an_image_is_a_submission(tmp_path: Path) -> None:
    (tmp_path / "teams").mkdir()
    content = images.layer(images.file("bot.py", bot(f"SALT = 3\n{DRAWS}").encode()))
    images.save(
        tmp_path / "teams" / "boxed.tar", [images.python(), content], ["python3", "/bot.py"], env=images.PYTHON_ENV
    )
    (tmp_path / "teams" / "torn.tar").write_bytes(b"no image")
    zipped(tmp_path / "teams" / "ann.zip", 1)
    result = prepared(tmp_path, "teams", "--game", "tictactoe", "--into", "cup", "--games", "2", code=1)
    assert result["accepted"] == ["ann", "boxed"] and "torn" in result["refused"]
    tournament(tmp_path, "cup")
    assert len(games(tmp_path / "cup")) == 2
    assert all(row["faults"] == 0 for row in table(tmp_path / "cup")["rows"])


def test_a_team_hands_in_again(tmp_path: Path) -> None:
    """A new version replaces one without games. One with games keeps them and plays no more."""
    teams, cup = tmp_path / "teams", tmp_path / "cup"
    for salt, name in enumerate(("ann", "bob", "cid")):
        zipped(teams / f"{name}.zip", salt)
    start = (teams, "--game", "tictactoe", "--into", "cup", "--games", "2", "--seed", "7")
    assert len(prepared(tmp_path, *start, code=0)["accepted"]) == 3
    again = prepared(tmp_path, *start, code=0)
    assert sorted(again["unchanged"]) == ["ann", "bob", "cid"]

    first = {entry.name: entry.ident for entry in read_plan(cup / "tournament.toml").bots}
    zipped(teams / "bob.zip", 11)
    assert sorted(prepared(tmp_path, teams, "--into", "cup", code=0)["unchanged"]) == ["ann", "cid"]
    second = {entry.name: entry.ident for entry in read_plan(cup / "tournament.toml").bots}
    assert second["bob"] != first["bob"] and len(second) == 3 == len(read_plan(cup / "tournament.toml").bots)

    tournament(tmp_path, "cup")
    assert len(games(cup)) == 6
    zipped(teams / "bob.zip", 12)
    zipped(teams / "ann.zip", 13, "run = []\n")
    result = prepared(tmp_path, teams, "--into", "cup", code=1)
    assert list(result["refused"]) == ["ann"]
    bots = read_plan(cup / "tournament.toml").bots
    assert [(entry.name, entry.absent) for entry in bots] == [
        ("ann", False), ("bob", True), ("cid", False), ("bob", False),
    ]  # fmt: skip
    before = games(cup)
    tournament(tmp_path, "cup")
    assert before.items() <= games(cup).items() and len(games(cup)) == 6 + 4


def test_an_intake_that_was_killed_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It first removes what it had left among temporary files."""
    teams, cup, temporary = tmp_path / "teams", tmp_path / "cup", tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))  # the second one runs in this process
    for salt in range(8):
        zipped(teams / f"team{salt}.zip", salt)
    command = [*PLAYER, "tournament", "prepare", str(teams), "--game", "tictactoe", "--into", "cup", "--jobs", "1"]
    with subprocess.Popen(command, cwd=tmp_path, env=environment(tmp_path), stdout=subprocess.DEVNULL) as process:
        record = cup / "submissions.json"
        while not (record.exists() and b"team" in record.read_bytes()) and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    result = prepared(tmp_path, teams, "--game", "tictactoe", "--into", "cup", code=0)
    assert len(result["accepted"]) == 8 and 1 <= len(result["unchanged"]) < 8
    assert [*temporary.glob("referee-prepare-*")] == []


def test_names_of_files_cannot_harm(tmp_path: Path) -> None:
    teams = tmp_path / "teams"
    names = ["@random", "cmd:touch owned", "a=b", "-rf", "--json", "\x1b[31mred", "é 1"]
    for salt, name in enumerate(names):
        zipped(teams / "x.zip", salt).rename(teams / f"{name}.zip")
    result = prepared(tmp_path, teams, "--game", "tictactoe", "--into", "cup", code=0)
    assert len(result["accepted"]) == len(names)
    assert not (tmp_path / "owned").exists()
    assert len(list((tmp_path / "cup" / "reports").iterdir())) == 2 * len(names)
    assert {entry.name for entry in read_plan(tmp_path / "cup" / "tournament.toml").bots} == set(result["accepted"])


def test_no_name_and_no_folder_ends_the_intake(tmp_path: Path) -> None:
    """Each is one refused line, which does not begin with a temporary folder."""
    teams = tmp_path / "teams"
    zipped(teams / "good.zip", 1)
    (folder_of(teams / "badname", 2) / os.fsdecode(b"fran\xe7ois")).touch()
    os.rename(zipped(teams / "x.zip", 3), os.fsencode(teams) + b"/fr\xe7.zip")
    folder = os.open(folder_of(teams / "deep", 4), os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d", dir_fd=folder)
        inner = os.open("d", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)
    (folder_of(teams / "loop", 5) / "loop").symlink_to("loop")
    (teams / "itself").symlink_to("itself")
    folder_of(teams / "nested", 6, "a = " + "[" * 3000)
    folder_of(teams / "empty", 7, RUN + 'exclude = ["*"]\n')
    zipped(teams / "wide.zip", 8, RUN + 'build = "true"\nbundle = "/"\n')
    with zipfile.ZipFile(teams / "long.zip", "w") as packed:
        packed.writestr("d/" * 1200 + "x", "")
    try:
        result = prepared(tmp_path, teams, "--game", "tictactoe", "--into", "cup", code=1)
    finally:  # too deep for pytest, which removes the other folders
        subprocess.run(["rm", "-rf", str(teams / "deep")], check=True)
    assert sorted(result["accepted"]) == ["good", "loop"]
    assert len(result["refused"]) == 8, result["refused"]
    for name, why in result["refused"].items():
        assert "\n" not in why and not why.startswith("/") and "Traceback" not in why, (name, why)


def test_only_the_organiser_learns_which_bots_are_the_same_program(tmp_path: Path) -> None:
    for name in ("ann", "bob"):
        zipped(tmp_path / "teams" / f"{name}.zip", 1)
    words = "ann and bob are the same program"
    said = tournament(tmp_path, "prepare", "teams", "--game", "tictactoe", "--into", "cup", "--games", "2")
    assert words in said
    tournament(tmp_path, "cup")
    for reader in ("public", "organiser"):
        tournament(tmp_path, "page", "cup", "--to", reader, "--reader", reader)
        assert any(words in file.read_text() for file in (tmp_path / reader).rglob("*.html")) == (reader != "public")


@pytest.mark.parametrize("separator", ["/", "\\"])
def test_a_zip_file_from_windows_has_folders_and_programs(tmp_path: Path, separator: str) -> None:
    (tmp_path / "teams").mkdir()
    with zipfile.ZipFile(tmp_path / "teams" / "red.zip", "w") as packed:
        source = f"#!{sys.executable}\n" + bot(f"SALT = 1\n{DRAWS}")
        for name, text in (("red/bot.toml", 'run = ["lib/bot"]\n'), ("red/lib/bot", source)):
            entry = zipfile.ZipInfo(name)
            entry.filename, entry.create_system, entry.external_attr = name.replace("/", separator), 0, 0x20
            packed.writestr(entry, text)
    assert prepared(tmp_path, "teams", "--game", "tictactoe", "--into", "cup", code=0)["accepted"] == ["red"]


def test_a_folder_without_submissions_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for named, words in (("empty", "has no submission"), ("gone", "No such file")):
        said = tournament(tmp_path, "prepare", named, "--game", "tictactoe", "--into", "cup", code=2)
        assert words in said
    (tmp_path / "empty" / "a").mkdir()
    assert "--game" in tournament(tmp_path, "prepare", "empty", "--into", "cup", code=2)


def test_single_files_and_kaggle_archives_play_and_any_other_file_is_a_refused_line(tmp_path: Path) -> None:
    """A single file sees and imports no other team's files."""
    teams = tmp_path / "teams"
    teams.mkdir()
    (teams / "ann.py").write_text(bot(f"SALT = 1\n{DRAWS}"))
    (teams / "bob.py").write_text(bot(f"import ann\nSALT = 2\n{DRAWS}"))
    agent = "def agent(observation, configuration):\n    return observation.board.index(0)\n"
    (tmp_path / "main.py").write_text(agent)
    with tarfile.open(teams / "cid.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "main.py", "main.py")
    (teams / "dan").mkdir()
    (teams / "dan" / "main.py").write_text(f"{agent}# dan\n")
    (teams / "eve.tar.gz").write_bytes(b"no archive")
    (teams / "notes.txt").write_text("hello")
    (teams / "own.py").symlink_to(teams / "ann.py")
    os.mkfifo(teams / "pipe.py")
    result = prepared(tmp_path, "teams", "--game", "tictactoe", "--into", "cup", "--games", "2", code=1)
    assert result["accepted"] == ["ann", "cid", "dan"]
    why = result["refused"]
    assert why.keys() == {"bob", "eve", "notes", "own", "pipe"}
    assert (
        "crash" in why["bob"] and "cannot be unpacked" in why["eve"] and "link" in why["own"] and "link" in why["pipe"]
    )
    assert "neither executable nor a source file" in why["notes"] and "/tmp" not in why["notes"], why["notes"]
    tournament(tmp_path, "cup")
    assert {row["name"]: row["faults"] for row in table(tmp_path / "cup")["rows"]} == {"ann": 0, "cid": 0, "dan": 0}


def test_what_lost_its_mode_or_a_file_on_the_way_plays_or_is_named(tmp_path: Path) -> None:
    """As `referee submit`, a page and a forge hand it on: mode 644, pointers instead of files."""
    teams, script = tmp_path / "teams", f"#!{sys.executable} -IB\n" + bot(f"SALT = 1\n{DRAWS}")
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 5\n"
    found = {
        "bare": {"": script},
        "folder": {"bot.toml": 'run = ["./bot"]\n', "bot": script + "# 2\n"},
        "lfs": {"bot.toml": RUN, "bot.py": script, "weights.bin": pointer},
        "modules": {"bot.toml": RUN, "bot.py": script, ".gitmodules": '[submodule "a"]\npath = a\n', "a/": ""},
        "pointed": {"": pointer},
    }
    for name, files in found.items():
        for path, text in files.items():
            file = teams / name / path if path else teams / name
            (file if path.endswith("/") else file.parent).mkdir(parents=True, exist_ok=True)
            if not path.endswith("/"):
                file.write_text(text)
    repository = ["init", "--quiet"], ["add", "."], [*IDENTITY, "commit", "--quiet", "--message", "bot"]
    for arguments in repository:
        subprocess.run(["git", *arguments], cwd=teams / "lfs", check=True)
    (tmp_path / "list.txt").write_text("\n".join(f"teams/{name}" for name in found) + f"\nforge=file://{teams}/lfs\n")
    result = prepared(tmp_path, "list.txt", "--game", "tictactoe", "--into", "cup", "--games", "2", code=1)
    assert result["accepted"] == ["bare", "folder"]
    lfs = "is a pointer of git LFS; include the file itself"
    words = {"lfs": f"weights.bin {lfs}", "forge": f"weights.bin {lfs}", "modules": "a is a submodule", "pointed": lfs}
    for name, expected in words.items():
        assert expected in result["refused"][name], result["refused"]


def test_a_tournament_without_accepted_bots_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "teams").mkdir()
    (tmp_path / "teams" / "torn.zip").write_bytes(b"no zip")
    (tmp_path / "list.txt").write_text("Gpt=llm:gpt\n@random\nhuman\n")
    result = prepared(tmp_path, "list.txt", "--game", "tictactoe", "--into", "cup", code=1)
    assert list(result["refused"]) == ["Gpt", "_random", "human"]
    assert all("not a submission" in why and "tournament add" in why for why in result["refused"].values())
    prepared(tmp_path, "teams", "--into", "cup", code=1)
    said = tournament(tmp_path, "--game", "tictactoe", "@random", "@baseline", "--ledger", "cup", code=2)
    assert "cup already holds a tournament; name another folder, or continue: " in said
    said = tournament(tmp_path, "cup", code=2)
    assert "no bot" in said and "prepare" in said and len(said.strip().splitlines()) == 1
    tournament(tmp_path, "add", "cup", "@random", "@baseline")
    tournament(tmp_path, "cup", "--games", "2")


NO_SUBMISSIONS = [".DS_Store", "._red.zip", ".git", "LICENSE", "README.md", "Thumbs.db", "notes.rst", "readme.txt"]


def test_notes_and_files_of_the_system_are_skipped_by_name_and_nothing_else_is(tmp_path: Path) -> None:
    zipped(tmp_path / "teams" / "red.zip")
    for name in NO_SUBMISSIONS:
        (tmp_path / "teams" / name).touch()
    result = prepared(tmp_path, "teams", "--into", "cup", "--game", "tictactoe", code=0)
    assert result["accepted"] == ["red"] and result["skipped"] == sorted(NO_SUBMISSIONS)
    said = tournament(tmp_path, "prepare", "teams", "--into", "cup")
    for name in NO_SUBMISSIONS:
        assert re.search(rf"^{re.escape(name)} +skipped: a note or a file of the system$", said, re.MULTILINE), said

    teams = ["a.tar.gz", "b.py", "c.wasm", "d.tar", "e", "f.txt", "g.zip", "h.exe", "i.rar", "readme.py", "README.zip"]
    (tmp_path / "more").mkdir()
    for name in teams:
        (tmp_path / "more" / name).touch()
    (tmp_path / "more" / "team.md").mkdir()
    (tmp_path / "more" / "run.md").touch(0o755)
    found = submissions(tmp_path / "more")
    assert {Path(each.source).name for each in found} == {*teams, "team.md", "run.md"}


# A run that fails before its first game.


def test_a_run_that_failed_before_its_first_game_does_not_stand_in_the_way(tmp_path: Path) -> None:
    for salt, name in enumerate(("ann", "bob")):
        folder_of(tmp_path / name, salt)
    bad = tmp_path / "bob" / "bot.toml"
    bad.write_text(RUN + 'build = "exit 1"\n')
    for where in (("--ledger", "cup"), ()):
        start = ("--game", "tictactoe", "ann", "bob", *where)
        bad.write_text(RUN + 'build = "exit 1"\n')
        said = tournament(tmp_path, *start, code=3)
        assert "fix them and repeat the command, or play without them: --forfeit" in said
        bad.write_text(RUN)
        tournament(tmp_path, *start, "--games", "2", "--seed", "3")
    assert len(games(tmp_path / "cup")) == 2
    assert [path.name for path in (tmp_path / "tournaments").iterdir()] == ["tictactoe-round-robin"]
    tournament(tmp_path, "--game", "tictactoe", "ann", "bob", "--ledger", "cup")
    assert len(games(tmp_path / "cup")) == 2, "all are played, and nothing begins anew"


def test_a_changed_bot_without_games_replaces_the_old_one(tmp_path: Path) -> None:
    for salt, name in enumerate(("ann", "bob", "cid")):
        folder_of(tmp_path / name, salt)
    start = ("--game", "tictactoe", "ann", "bob", "--games", "2", "--seed", "3", "--ledger", "cup")
    tournament(tmp_path, *start)
    tournament(tmp_path, "add", "cup", "cid")
    (tmp_path / "cid" / "bot.py").write_text(bot(f"SALT = 99\n{DRAWS}"))
    tournament(tmp_path, *start[:4], "cid", *start[4:])
    assert len(games(tmp_path / "cup")) == 6
    (tmp_path / "cid" / "bot.py").write_text(bot(f"SALT = 98\n{DRAWS}"))
    said = tournament(tmp_path, *start[:4], "cid", *start[4:], code=2)
    assert "an earlier version of cid" in said and "`referee tournament add cup BOT`" in said


def test_a_hard_link_puts_no_file_of_the_organiser_into_an_archive(tmp_path: Path) -> None:
    """Its content is read as root, whatever the rights of the file are."""
    secret, teams = tmp_path / "secret", tmp_path / "teams"
    secret.write_text("a secret")
    secret.chmod(0o600)
    folder_of(teams / "thief", 1)
    (teams / "thief" / "data.txt").hardlink_to(secret)
    folder_of(teams / "twin", 2)
    (teams / "twin" / "one").write_text("1")
    (teams / "twin" / "two").hardlink_to(teams / "twin" / "one")  # both names are its own
    (teams / "alone.py").hardlink_to(secret)
    zipped(tmp_path / "theirs.zip", 3)
    (teams / "linked.zip").hardlink_to(tmp_path / "theirs.zip")
    result = prepared(tmp_path, teams, "--game", "tictactoe", "--into", "cup", code=1)
    assert result["accepted"] == ["twin"]
    assert sorted(result["refused"]) == ["alone", "linked", "thief"]
    assert "data.txt is a hard link to a file outside of the folder; include a copy" in result["refused"]["thief"]
    for archive in (tmp_path / "cup" / "bots").glob("*.zip"):
        with zipfile.ZipFile(archive) as packed:
            assert not any(b"a secret" in packed.read(name) for name in packed.namelist())


def test_a_submission_is_checked_as_it_is_packed(tmp_path: Path) -> None:
    """A bot that needs what its archive leaves out would be accepted, and lose all its games."""
    teams = tmp_path / "teams"
    needing = RUN + 'exclude = ["data.txt"]\n'
    for name, toml, file in (
        ("excluded", needing, "data.txt"),
        ("tools", RUN, "build/data.txt"),
        ("sound", RUN, "data.txt"),
    ):
        folder_of(teams / name, 1, toml)
        place = teams / name / file
        place.parent.mkdir(exist_ok=True)
        place.write_text("needed")
        program = teams / name / "bot.py"
        program.write_text(f"open({file!r}).close()\n{program.read_text()}")
    result = prepared(tmp_path, teams, "--game", "tictactoe", "--into", "cup", code=1)
    assert result["accepted"] == ["sound"]
    assert sorted(result["refused"]) == ["excluded", "tools"]


def test_an_absolute_link_within_a_submission_is_packed(tmp_path: Path) -> None:
    teams = tmp_path / "teams"
    folder_of(teams / "ann", 1)
    (teams / "ann" / "data.txt").write_text("x")
    (teams / "ann" / "link.txt").symlink_to(teams / "ann" / "data.txt")
    assert prepared(tmp_path, teams, "--game", "tictactoe", "--into", "cup", code=0)["accepted"] == ["ann"]


def test_a_file_that_changes_while_it_is_packed_is_refused(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "ann", 1)
    with finding([str(folder)], "tictactoe") as (found,):
        (folder / "bot.py").write_text("# another program\n")
        with pytest.raises(UsageError, match=r"bot\.py changed while it was read; repeat the command"):
            store(found, tmp_path / "cup")
    assert not [*(tmp_path / "cup" / "bots").glob("*.zip")]


def test_copies_of_a_bot_that_come_at_the_same_time_are_one_archive(tmp_path: Path) -> None:
    folder, begin = folder_of(tmp_path / "ann", 1), Barrier(4)
    (folder / "weights").write_bytes(os.urandom(1 << 20))

    def keep(found: Found) -> None:
        begin.wait()
        store(found, tmp_path / "cup")

    with finding([str(folder)], "tictactoe") as (found,), ThreadPoolExecutor(4) as pool:
        list(pool.map(keep, [found] * 4))
    (kept,) = (tmp_path / "cup" / "bots").iterdir()
    assert zipfile.is_zipfile(kept)


def test_a_link_that_replaces_a_file_is_not_followed(tmp_path: Path) -> None:
    """The author of a submission swaps a file between the check and the reading."""
    secret, folder = tmp_path / "secret", folder_of(tmp_path / "ann", 1)
    secret.write_text("a secret")
    (folder / "data").symlink_to(secret)
    copy = snapshot.copy_folder(folder, tmp_path / "copy", "ann", 1 << 20, 100)
    assert (copy / "data").is_symlink()
    with pytest.raises(UsageError, match="is a link"):
        snapshot.copy_file(folder / "data", tmp_path / "one", 1 << 20)
    with pytest.raises(UsageError, match="leads outside"):
        check_folder(copy, "ann", 1 << 20, 100)


def test_a_record_below_a_file_is_not_called_damaged() -> None:
    with pytest.raises(RunError, match=r"submissions\.json cannot be read: Not a directory"):
        read_record(Path("/dev/null/cup"))
