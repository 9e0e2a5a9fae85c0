"""What a submission says in its folder shows it no file of this machine, and costs it no layer."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from contests import DRAWS, PLAYER, environment
from defects import bot

from referee.addons.engines import command as engines
from referee.addons.originals import command as originals
from referee.harness.common.paths import HOME
from referee.harness.isolation.plan import isolation as parsed
from referee.harness.isolation.plan import layer_by_guarantee

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(layer_by_guarantee(parsed("auto"))["files"] == "none", reason="nothing hides files here"),
]
SPY = """
for place in {places}:
    try:
        with open(place, "rb") as file:
            sys.stderr.write(f"READ {{place}} {{file.read(20)}}\\n")
    except OSError as error:
        sys.stderr.write(f"CLOSED {{place}} {{error}}\\n")
sys.stderr.write(f"ACCOUNT {{os.getuid()}}\\n")
sys.stderr.flush()
"""
PYTHON = json.dumps([sys.executable, "-I", "-S", "-B", "bot.py"])[1:-1]


class Contest:
    """A folder with a hostile bot, and with files that it must not read."""

    def __init__(self, folder: Path) -> None:
        folder.chmod(0o755)
        self.folder = folder
        self.bot = folder / "teams" / "theirs"
        self.secret = folder / "private" / "bin" / "secret"
        self.rival = folder / "teams" / "rival" / "bot.py"
        self.ledger = folder / "cup" / "games.jsonl"
        self.cached = folder / "cache" / "referee" / "builds" / "0123" / "tree" / "rival.c"
        self.secrets = [self.secret, self.rival, self.ledger, self.cached]
        self.bot.mkdir(parents=True)
        for file in self.secrets:
            file.parent.mkdir(parents=True)
            file.write_text("a secret")
        self.secret.chmod(0o600)

    def write(self, toml: str) -> None:
        """Writes a bot that tries to read all secrets, also by the paths that its build may have given them."""
        places = [*map(str, self.secrets), "copied", "lib/secret", "build/secret"]
        (self.bot / "bot.py").write_text(bot(SPY.format(places=places) + f"SALT = 1\n{DRAWS}"))
        (self.bot / "bot.toml").write_text(toml)

    def run(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """Runs the command line in the folder."""
        return subprocess.run(
            [*PLAYER, *map(str, words)], cwd=self.folder, env=environment(self.folder), capture_output=True, text=True,
            timeout=120,
        )  # fmt: skip

    def play(self, *options: str) -> tuple[str, dict[str, str]]:
        """Plays a match. Returns what the bot wrote, and its layers."""
        command = ("--game", "tictactoe", "teams/theirs", "@random", "--replay", "out/match.jsonl", *options)
        done = self.run(*command)
        assert done.returncode == 0, done.stdout + done.stderr
        header = json.loads((self.folder / "out" / "match.jsonl").read_bytes().splitlines()[0])
        return (self.folder / "out" / "match.seat0.stderr").read_text(), header["isolation"]


@pytest.fixture
def contest(tmp_path: Path) -> Contest:
    return Contest(tmp_path)


ARGUMENTS: dict[str, Callable[[Contest], list[str]]] = {
    "files": lambda contest: [*map(str, contest.secrets)],
    "folders": lambda contest: [str(file.parent) for file in contest.secrets],
    "a class path": lambda contest: [":".join(map(str, contest.secrets)), f"@{contest.secret}"],
    "everything": lambda contest: ["/"],
    "the runner of original bots": lambda contest: [
        str(originals.RUNNER), f"--root={contest.secret.parent}", f"--module={contest.rival}"
    ],
    "the runner of engines": lambda contest: [
        str(engines.RUNNER), "--option", f"A={contest.secret}", "--", str(contest.secret)
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", ARGUMENTS)
def test_an_argument_in_bot_toml_shows_no_file_and_costs_no_account(contest: Contest, name: str) -> None:
    contest.write("run = [" + PYTHON + "]")
    said, plain = contest.play()
    arguments = json.dumps(ARGUMENTS[name](contest))[1:-1]
    contest.write(f"run = [{PYTHON}, {arguments}]")
    said, layers = contest.play()
    assert layers == plain
    assert "READ" not in said and said.count("CLOSED") == 7
    assert (os.getuid() != 0) or ("ACCOUNT 0\n" not in said) == (plain["account"] == "own")


def test_the_runner_of_modules_in_bot_toml_does_not_choose_the_clock(contest: Contest) -> None:
    """A module's clock is its fuel, which the runner itself reports."""
    runner = str(HOME / "addons" / "wasm" / "run.py")
    contest.write(f'run = ["{sys.executable}", "-P", "{runner}"]')
    contest.run("--game", "tictactoe", "teams/theirs", "@random", "--replay", "out/match.jsonl")
    assert not json.loads((contest.folder / "out" / "match.jsonl").read_bytes().splitlines()[0])["metered"]


PROGRAMS: dict[str, Callable[[Contest], str]] = {
    "a program elsewhere": lambda contest: f'run = ["{contest.secret}"]',
    "a path that leads out": lambda contest: 'run = ["../../private/bin/secret"]',
    "a link to a program": lambda contest: 'run = ["./linked"]',
    "a module of a rival": lambda contest: f'run = ["{contest.rival.with_suffix(".wasm")}"]',
    "a link to a module": lambda contest: 'run = ["linked.wasm"]',
    "a wide bundle": lambda contest: f'run = [{PYTHON}]\nbuild = "true"\nbundle = "../../.."',
    "the whole disk": lambda contest: f'run = [{PYTHON}]\nbuild = "true"\nbundle = "/"\nexclude = ["[!e]*"]',
    "a link that a build follows": lambda contest: f'run = [{PYTHON}]\nbuild = "true"',
    "an original elsewhere": lambda contest: f'original = "{contest.rival}"',
    "an original's Python": lambda contest: f'original = "--python {contest.secret} bot.py"',
    "an original's folder": lambda contest: 'original = "--folder .. bot.py"',
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_submission_that_names_what_lies_outside_is_refused_in_one_line(contest: Contest, name: str) -> None:
    contest.write(PROGRAMS[name](contest))
    contest.secret.chmod(0o700)
    contest.rival.with_suffix(".wasm").write_bytes(b"\0asm\1\0\0\0")
    if "link" in name:
        (contest.bot / "linked").symlink_to(contest.secret)
        (contest.bot / "linked.wasm").symlink_to(contest.rival.with_suffix(".wasm"))
    game = "reantics" if "original" in name else "tictactoe"
    done = contest.run("--game", game, "teams/theirs", "@random")
    assert done.returncode in (2, 3) and "Traceback" not in done.stderr, done.stdout + done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert any(words in done.stderr for words in ("outside", "out of", "only the user")), done.stderr
    assert not [file for file in (contest.folder / "cache").rglob("*") if file.is_file() and file.name == "linked"]


def test_links_with_the_names_of_build_folders_belong_to_no_bot(contest: Contest) -> None:
    contest.write(f'run = [{PYTHON}]\nbuild = "cp -r build copied; cp .git copied; true"')
    for name in ("build", "target", "node_modules", "__pycache__", ".venv"):
        (contest.bot / name).symlink_to(contest.secret.parent)
    (contest.bot / ".git").symlink_to(contest.secret)
    said, _ = contest.play()
    assert "READ" not in said


def test_closed_files_in_a_submission_do_not_cost_it_its_account(contest: Contest) -> None:
    contest.write(f"run = [{PYTHON}]")
    _, plain = contest.play()
    (contest.bot / "closed").write_text("mine")
    (contest.bot / "closed").chmod(0o600)
    for number in range(4100):
        (contest.bot / f"file{number}").touch()
    said, layers = contest.play()
    assert layers == plain and "READ" not in said


def test_what_the_user_names_is_shown(contest: Contest) -> None:
    contest.write(f"run = [{PYTHON}]")
    said, _ = contest.play("--limit", f"readable={contest.rival}")
    assert f"READ {contest.rival}" in said and said.count("READ") == 1
    done = contest.run("--game", "tictactoe", f"cmd:{sys.executable} -I -S {contest.bot / 'bot.py'} {contest.rival}",
                       "@random", "--replay", "out/match.jsonl")  # fmt: skip
    assert done.returncode == 0
    assert f"READ {contest.rival}" in (contest.folder / "out" / "match.seat0.stderr").read_text()
