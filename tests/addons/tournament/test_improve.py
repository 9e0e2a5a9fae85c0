"""`referee improve` with real bots, workers and a scripted author."""

import json
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from contests import DRAWS, INPUTS, PLAYER, environment, games, referee, table, tournament
from defects import bot
from model_service import serving

from referee.addons.tournament.store import ledger
from referee.harness.common.paths import KITS

pytestmark = [pytest.mark.slow, pytest.mark.depends_on(*INPUTS)]

RUN = f'run = ["{sys.executable}", "-I", "-S", "-B", "bot.py"]\n'
TOML = f'{RUN}build = "{sys.executable} -m py_compile bot.py"\n'
RANDOM = bot(f"SALT = 1\n{DRAWS}")
UNBUILDABLE = f"{RANDOM}this is no Python\n"
WORSE = bot(
    """
def choose():
    if seed % 8 == 0 and len(free) < 5:
        return cell("nowhere")
    return cell(next(name for name in "N W E S NW SE NE SW C".split() if name in free))
"""
)
"""Begins at the edges, and in some games it gives an illegal answer, which the few games of a check may not show."""
BETTER = bot(
    """
LINES = [line.split() for line in "NW N NE|W C E|SW S SE|NW W SW|N C S|NE E SE|NW C SE|NE C SW".split("|")]
me, taken = "", {}

def hear(event):
    global me
    if "youAre" in event:
        me, taken[""] = event["youAre"], taken.clear()
    elif event.get("position") in free:
        free.remove(event["position"])
        taken[event["position"]] = event["player"]

def choose():
    for mine in (True, False):
        for line in LINES:
            missing = [name for name in line if name in free]
            if len(missing) == 1 and all((taken[name] == me) is mine for name in line if name != missing[0]):
                return cell(missing[0])
    return cell(next(name for name in "C NW SE NE SW N W E S".split() if name in free))
"""
)
"""Completes a line, else stops one, else takes the best cell."""
AUTHOR = """
import json, os, pathlib, shutil
report = pathlib.Path(os.environ["REFEREE_IMPROVE"])
number = len(json.loads(report.read_bytes())["versions"])
versions = pathlib.Path(__file__).parent
shutil.copy(report, versions / f"seen{number}.json")
for file in (versions / str(number)).glob("*"):
    shutil.copy(file, file.name)
"""
"""Copies the files of its next version over the bot, and keeps each report."""
OPTIONS = ("--game", "tictactoe", "--seed", "3", "--jobs", "2", "--no-pin")


def prepared(folder: Path, *versions: dict[str, str]) -> str:
    """Writes a bot, its next versions, and the author who hands these in. Returns the author's command."""
    (folder / "mine").mkdir()
    (folder / "mine" / "bot.py").write_text(RANDOM)
    (folder / "mine" / "bot.toml").write_text(TOML)
    author = folder / "author"
    for number, files in enumerate(versions, 1):
        (author / str(number)).mkdir(parents=True)
        for name, text in files.items():
            (author / str(number) / name).write_text(text)
    author.mkdir(exist_ok=True)
    (author / "author.py").write_text(AUTHOR)
    return shlex.join([sys.executable, str(author / "author.py")])


def command(author: str, *more: str) -> list[str]:
    defaults = {"--against": "@random", "--ledger": "kept"}
    words = [word for option in defaults.items() if option[0] not in more for word in option]
    return [*PLAYER, "improve", "mine", *OPTIONS, "--command", author, *words, *more]


def improve(folder: Path, author: str, *more: str, code: int) -> str:
    """Runs `referee improve`. Returns what it printed."""
    return referee(folder, *command(author, *more)[len(PLAYER) :], code=code, errors=True)


def history(folder: Path) -> Any:
    return json.loads((folder / "kept" / "improve.json").read_bytes())


def test_only_a_version_that_builds_and_is_better_is_accepted_in_three_rounds(tmp_path: Path) -> None:
    author = prepared(tmp_path, {"bot.py": UNBUILDABLE}, {"bot.py": WORSE}, {"bot.py": BETTER})
    rules = ("--set", "flip=auto")  # else a bot that does not flip loses by the rival's illegal answer
    printed = improve(tmp_path, author, "--rounds", "3", "--elo", "0", "200", *rules, code=0)
    found = history(tmp_path)
    accepted = [version["accepted"] for version in found["versions"]]
    assert (accepted, found["accepted"]) == ([True, False, False, True], 3)
    reasons = [version["reason"] for version in found["versions"]]
    worse = "it is worse than mine v0", "it is not better than mine v0"  # it depends on how many games were under way
    assert reasons[2] in worse
    assert [*reasons[:2], *reasons[3:]] == [
        "it is the first version that passes the check",
        "builds: the build failed with exit code 1",
        "it is better than mine v0",
    ]
    assert all(f"mine v{number}: " in printed and reason in printed for number, reason in enumerate(reasons))
    jsonschema.validate(found, json.loads((tmp_path / "kept" / "improve.schema.json").read_bytes()))

    # The author of each version reads what became of those before it.
    seen = [json.loads((tmp_path / "author" / f"seen{number}.json").read_bytes()) for number in (1, 2, 3)]
    assert [each["versions"] for each in seen] == [found["versions"][:number] for number in (1, 2, 3)]
    assert [gate["opponent"] for gate in seen[0]["versions"][0]["gates"]] == ["@random"]
    (builds, *_) = seen[1]["versions"][1]["check"]["checks"]
    assert any("this is no Python" in line for line in builds["findings"][0]["last_words"])
    worse = seen[2]["versions"][2]
    assert [(gate["opponent"], gate["decision"]) for gate in worse["gates"]] == [
        ("@random", "rejected"),
        ("mine v0", "rejected"),
    ]
    assert worse["gates"][1]["score"] < 0.5 and any(line.startswith("LOS") for line in worse["gates"][1]["table"])
    (fault,) = worse["faults"]
    assert fault["report"]["kind"] == "illegal" and "nowhere" in fault["report"]["answer"]

    # Every version is kept: its games are in the standings, and it can be played again.
    rows = {row["name"]: row for row in table(tmp_path / "kept")["rows"]}
    assert next(iter(rows)) == "mine v3" and set(rows) == {"@random", *(f"mine v{number}" for number in range(4))}
    assert table(tmp_path / "kept")["due"] is None
    assert [rows[f"mine v{number}"]["absent"] for number in range(4)] == [False, True, False, False]
    assert rows["mine v1"]["games"] == 0 < rows["mine v2"]["faults"]
    archives = {Path(version["archive"]).name for version in found["versions"]}
    assert archives == {file.name for file in (tmp_path / "kept" / "bots").iterdir()} and len(archives) == 4
    again = [*fault["reproduce"][1:-3], found["versions"][2]["archive"], *fault["reproduce"][-2:]]
    (tmp_path / "old").mkdir()
    subprocess.run([sys.executable, "-m", "zipfile", "-e", again[-3], "old"], cwd=tmp_path, check=True)
    again[-3] = str(tmp_path / "old" / "bot")
    assert "nowhere" in referee(tmp_path, *again, code=1, errors=False)
    tournament(tmp_path, "kept")


def test_an_interrupted_run_is_resumed_without_losing_a_game(tmp_path: Path) -> None:
    author = prepared(tmp_path, {"bot.py": BETTER})
    close, wide = ("--rounds", "1", "--elo", "0", "2"), ("--rounds", "1", "--elo", "0", "200")
    with subprocess.Popen(
        command(author, *close), cwd=tmp_path, env=environment(tmp_path), stderr=subprocess.PIPE, text=True
    ) as run:
        until = time.monotonic() + 60
        while run.poll() is None and time.monotonic() < until and _played(tmp_path) < 30:
            time.sleep(0.02)
        run.send_signal(signal.SIGINT)
        _, said = run.communicate(timeout=60)
    assert run.returncode == 130 and "--resume" in said
    before = games(tmp_path / "kept")
    assert len(before) >= 30
    assert "mine v0: accepted" in improve(tmp_path, author, *wide, "--resume", code=0)
    after = games(tmp_path / "kept")
    assert before.items() <= after.items()
    assert table(tmp_path / "kept")["copies_of_lines"] == 0
    assert [version["accepted"] for version in history(tmp_path)["versions"]] == [True, True]


def _played(folder: Path) -> int:
    files = ledger.files(folder / "kept")
    return sum(file.read_bytes().count(b'{"k":') for file in files)


FEW = ("--max-games", "2")


def test_versions_without_a_bot_are_refused_and_an_old_version_keeps_its_games(tmp_path: Path) -> None:
    author = prepared(tmp_path, {"bot.toml": "run = ["}, {"bot.toml": TOML}, {"bot.py": WORSE}, {"bot.py": RANDOM})
    improve(tmp_path, author, *FEW, "--rounds", "3", code=1)
    assert "is another" not in improve(tmp_path, author, *FEW, "--rounds", "4", "--resume", code=1)
    found = history(tmp_path)["versions"]
    assert [version["name"] for version in found] == ["mine v0", "mine v1", "mine v0", "mine v3", "mine v0"]
    assert found[1]["reason"].startswith("builds: mine/bot.toml: ") and Path(found[1]["archive"]).is_file()
    assert [found[number]["reason"] for number in (2, 4)] == ["it is the last accepted version again"] * 2
    assert found[3]["reason"] == "it is not proven to be better than mine v0"
    assert len(games(tmp_path / "kept")) == 6


def test_a_command_that_changes_nothing_or_fails_ends_the_run(tmp_path: Path) -> None:
    prepared(tmp_path)
    printed = improve(tmp_path, "true", *FEW, code=1)
    assert "round 1: the command changed nothing" in printed
    assert "use another folder" in improve(tmp_path, "true", *FEW, "--resume", "--against", "@advanced", code=2)
    assert "--resume continues it" in improve(tmp_path, "true", *FEW, code=2)
    printed = improve(tmp_path, "rm bot.py; exit 9", *FEW, "--resume", code=3)
    assert "round 1: the command ended with exit code 9: rm bot.py; exit 9" in printed
    printed = improve(tmp_path, "kill -INT $$", *FEW, "--resume", code=130)
    assert "mine v1: not accepted: builds" in printed
    assert len(history(tmp_path)["versions"]) == 2


def test_a_signal_ends_the_command_too(tmp_path: Path) -> None:
    prepared(tmp_path)
    words = command("echo $$ > ../pid; sleep 60; true", *FEW)
    with subprocess.Popen(words, cwd=tmp_path, env=environment(tmp_path), stderr=subprocess.PIPE, text=True) as run:
        until = time.monotonic() + 60
        while run.poll() is None and time.monotonic() < until and not (tmp_path / "pid").exists():
            time.sleep(0.02)
        run.terminate()
        _, said = run.communicate(timeout=20)  # `sleep` has this pipe too
    assert run.returncode == 128 + signal.SIGTERM and "--resume" in said
    assert len(history(tmp_path)["versions"]) == 1


def test_four_seats_are_one_version_against_three_copies(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    example = (KITS / "python" / "examples" / "aibg5" / "bot.py").read_text()
    (tmp_path / "mine" / "bot.py").write_text(example)
    game = ("--game", "aibg5", "--set", "rounds=2", "--max-games", "4", "--rounds", "1", "--against", "@random")
    options = ("--command", "echo pass >> bot.py", "--seed", "1", "--ledger", "kept", "--no-pin")
    referee(tmp_path, "improve", "mine/bot.py", *game, *options, code=1)
    found = history(tmp_path)["versions"]
    assert [len(version["gates"]) for version in found] == [1, 2]
    assert [gate["games"] for version in found for gate in version["gates"]] == [4, 4, 4]
    rows = {row["name"]: row for row in table(tmp_path / "kept")["rows"]}
    assert {name: row["games"] for name, row in rows.items()} == {"@random": 24, "bot v0": 16, "bot v1": 8}
    tournament(tmp_path, "page", "kept", "--to", "site")
    assert "bot v0 2" not in (tmp_path / "site" / "index.html").read_text()


def test_a_language_model_is_the_opponent_of_all_versions(tmp_path: Path) -> None:
    author = prepared(tmp_path, {"bot.py": BETTER})
    with serving() as service:
        improve(tmp_path, author, "--max-games", "4", "--rounds", "1", "--against", f"Ours={service.spec()}", code=1)
    assert [len(version["gates"]) for version in history(tmp_path)["versions"]] == [1, 2]
    rows = {row["name"]: row["model"] for row in table(tmp_path / "kept")["rows"]}
    assert rows.pop("Ours")["completions"] == len(service.requests) and set(rows.values()) == {None}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--ledger", "mine/kept"), "is inside of the bot's folder; choose another one with --ledger"),
        (("--against", "nobody.py"), "no bot at 'nobody.py'"),
        (("--rounds", "0"), "--rounds 0: expected a number from 1 on"),
        (("--ledger", "gone", "--resume"), "gone holds no tournament"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_written(
    tmp_path: Path, more: tuple[str, ...], message: str
) -> None:
    prepared(tmp_path)
    printed = improve(tmp_path, "true", *more, code=2)
    assert message in printed and not any(tmp_path.rglob("tournament.toml"))
