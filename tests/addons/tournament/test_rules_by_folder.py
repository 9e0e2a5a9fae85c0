"""Games whose rules are a program in a folder, in every command that takes a game or what was made from one."""

import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from clusters import Cluster
from contests import course, games, referee
from cyclopts import App
from rules_games import BOT, COUNTDOWN

from referee.addons.host import contest
from referee.addons.host.cli.team import team_app
from referee.addons.rules.source import SOURCE
from referee.addons.tournament import organise
from referee.addons.tournament.plan import read_plan, write_plan
from referee.addons.tournament.store.ledger import PLAN
from referee.harness.cli.command_line import app
from referee.harness.cli.help import commands
from referee.harness.common.known_games import find_game

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

FILE = """
game = "../hexa"
bots = ["../bots/one.py", "../bots/bad.py"]
games = 2
"""

HERE = (
    (
        "play --game ./hexa bots/one.py bots/bad.py --replay m.jsonl --seed 1",
        0,
        "referee --game ./hexa",
    ),
    ("tournament run organiser/cup.toml --ledger cup --jobs 1", 0, "2 of 2 games"),
    ("gate bots/one.py @random --game ./hexa --ledger gated --max-games 2 --jobs 1", 4, "ledger gated"),
    ("tune bots/one.py --game ./hexa --param A=1:5 --games 2 --jobs 1", 4, "tuned"),
    ("check bots/one.py --game ./hexa --only starts", 0, "passed"),
    ("tournament prepare bots --into prepared --game ./hexa --jobs 1", 1, "1 accepted, 1 refused"),
    ("analyse m.jsonl --game ./hexa --seconds 2", 0, "turn"),
    ("judge bots/one.py --game ./hexa", 2, "countdown has no test run"),
    ("rules ./hexa", 2, "there is no page with the rules of countdown"),
    ("games ./hexa", 0, "the size of the heap"),
    ("new ./hexa --lang python bot", 2, "the Python kit has no template for countdown"),
)
"""With the folder of the rules: the command, its exit code, and what it prints."""
GONE = (
    "the game countdown (version 1, rules {hash:.10}…) is not on this machine; name its folder with --game, or install"
)
THERE = (
    ("tournament show cup", 0, "countdown, round-robin"),
    ("tournament verify cup", 0, "2 games verified, 0 differ"),
    ("tournament page cup --to site", 0, "site"),
    ("tournament similar cup", 0, "2 programs compared"),
    ("tournament run cup --games 4 --jobs 1", 0, "4 of 4 games"),
    ("tournament add cup third=@random", 0, "3 bots"),
    ("tournament withdraw cup third", 0, "2 bots"),
    ("tournament merge whole cup", 0, "copied"),
    ("tournament verify whole", 0, "4 games verified, 0 differ"),
    ("tournament run --game countdown bots/one.py bots/bad.py --ledger whole --games 4 --jobs 1", 0, "4 of 4 games"),
    ("tournament prepare bots --into prepared", 1, "1 accepted, 1 refused"),
    ("gate bots/one.py @random --game countdown --ledger gated --resume --max-games 4 --jobs 1", 4, "ledger gated"),
    ("replay verify m.jsonl", 2, GONE),
    ("replay show m.jsonl", 2, GONE),
    ("analyse m.jsonl --seconds 2", 2, GONE),
    ("replay html m.jsonl m.html", 2, GONE),
    ("replay transcript m.jsonl m.html", 2, GONE),
    ("replay video m.jsonl m.gif", 2, GONE),
    ("replay card m.jsonl m.png", 2, GONE),
    ("replay export pgn m.jsonl m.pgn", 2, GONE),
    ("fork m.jsonl --turn 1 --seat 0=@random --seat 1=@random", 2, GONE),
    ("repro m.jsonl bots/bad.py", 2, GONE),
    ("view m.jsonl --no-browser", 2, GONE),
    ("tournament run organiser/cup.toml", 2, "no game at 'organiser/../hexa': there is no such folder"),
    ("games install cup/rules/{hash}.zip", 0, "countdown is installed"),
    ("replay verify m.jsonl", 0, "verified"),
    ("repro m.jsonl bots/bad.py", 1, "the same"),
    ("fork m.jsonl --turn 1 --seat 0=@random --seat 1=@random", 0, "replay"),
    ("games remove countdown", 0, "countdown is removed"),
)
"""On another machine, which got everything but that folder and then installs the copy."""
ELSEWHERE = {
    *(
        "completion",
        "doctor",
        "help",
        "mcp",
        "serve mcp",
        "serve user",
        "submit",
        "build",
        "tournament archive",
    ),  # they take no game
    *(f"team {name}" for name in commands(team_app)),  # they neither
    *("serve aibg", "serve arena", "serve bridge", "bench"),  # they take installed games
    *("host", "host backup", "host restore", "tournament replay", "export problem"),  # tests of their own
    *(
        f"ladder {name}"
        for name in ("beacon", "check-change", "enter", "new", "play", "publish", "show", "verify", "witness")
    ),
}


@pytest.fixture(autouse=True)
def _forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    yield
    SOURCE.forget()


def leaves(of: App, words: tuple[str, ...] = ()) -> Iterator[str]:
    """Yields the commands that do something."""
    for name, command in commands(of).items():
        yield from leaves(command, (*words, name))
    if of.default_command is not None and words:
        yield " ".join(words)


def test_every_command_has_a_row_for_a_game_in_a_folder_or_takes_none() -> None:
    rows = {command for words, *_ in (*HERE, *THERE) for command in (words.split()[0], " ".join(words.split()[:2]))}
    assert not set(leaves(app)) - rows - ELSEWHERE


def hexa(folder: Path) -> Path:
    """Makes a folder with the rules of a game, two bots, and a file of a tournament in another folder."""
    shutil.copytree(COUNTDOWN, folder / "hexa", ignore=shutil.ignore_patterns("__pycache__"))
    file = folder / "hexa" / "game.toml"
    file.write_text(file.read_text().replace('"python3"', f'"{sys.executable}"'))
    (folder / "bots").mkdir()
    for name, answer in (("one", 1), ("bad", 9)):
        (folder / "bots" / f"{name}.py").write_text(BOT.replace("ANSWER", str(answer)))
    (folder / "organiser").mkdir()
    (folder / "organiser" / "cup.toml").write_text(FILE)
    return folder / "hexa"


def run(folder: Path, words: str, code: int = 0) -> str:
    """Runs a command as in a process of its own."""
    try:
        return " ".join(referee(folder, *shlex.split(words), code=code, errors=True).split())
    finally:
        SOURCE.forget()


def test_rules_by_folder_work_in_every_command_or_are_refused_in_a_helpful_line(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    rules = hexa(here)
    for words, code, said in HERE:
        assert said in run(here, words, code), words
    digits = read_plan(here / "cup" / PLAN).rules
    shutil.rmtree(rules)
    for cache in ("cache", "run"):
        shutil.rmtree(here / cache, ignore_errors=True)
    here.rename(there)
    SOURCE.forget()
    for words, code, said in THERE:
        printed = run(there, words.format(hash=digits), code)
        assert said.format(hash=digits) in printed, (words, printed)


def test_a_tournament_refuses_other_rules_of_the_same_version(tmp_path: Path) -> None:
    rules = hexa(tmp_path)
    start = "tournament run --game ./hexa bots/one.py @random --jobs 1 --seed 3"
    run(tmp_path, f"{start} --ledger cup")
    file = rules / "countdown.py"
    file.write_text(file.read_text().replace('"last"', '"final"'))
    run(tmp_path, f"{start} --ledger other")
    assert "holds a tournament whose rules have the hash" in run(tmp_path, f"{start} --ledger cup --games 4", 2)
    assert "is part of another tournament than cup: its rules have the hash" in run(
        tmp_path, "tournament merge cup other", 2
    )
    assert "4 of 4 games" in run(tmp_path, "tournament run cup --games 4 --jobs 1"), "its own copy plays on"
    assert "4 games verified, 0 differ" in run(tmp_path, "tournament verify cup")


def test_submissions_are_checked_again_by_other_rules(tmp_path: Path) -> None:
    rules = hexa(tmp_path)
    (tmp_path / "handed_in.txt").write_text("bots/bad.py\n")
    command = "tournament prepare handed_in.txt --into cup --game ./hexa --jobs 1"
    assert "bad: refused: illegal" in run(tmp_path, command, 1)
    with (rules / "countdown.py").open("a") as file:
        file.write("# other\n")
    assert "unchanged" not in run(tmp_path, command, 1)


def test_a_copy_of_rules_with_other_files_than_its_name_says_is_refused(tmp_path: Path) -> None:
    rules = hexa(tmp_path)
    run(tmp_path, "tournament run --game ./hexa bots/one.py @random --jobs 1 --ledger cup")
    run(tmp_path, "tournament run --game ./hexa bots/one.py @random --jobs 1 --ledger other --set from=3")
    (copy,) = (tmp_path / "cup" / "rules").iterdir()
    (rules / "countdown.py").write_text("import os")
    packed = shutil.make_archive(str(tmp_path / "false"), "zip", rules)
    shutil.rmtree(tmp_path / "cache")
    shutil.rmtree(rules)
    shutil.move(packed, copy)
    assert "is damaged: its files have the hash" in run(tmp_path, "tournament show cup", 2)
    copy.unlink()
    assert f"rules {copy.stem[:10]}…) is not on this machine; copy cup/rules/{copy.name} back" in run(
        tmp_path, "tournament run cup --games 4", 2
    )
    plan = (tmp_path / "cup" / PLAN).read_text()
    (tmp_path / "cup" / PLAN).write_text(plan.replace(copy.stem, "../../other/rules/x"))
    assert "is no hash of rules" in run(tmp_path, "tournament show cup", 2)


def test_a_contest_goes_on_without_the_folder_of_its_rules_but_not_by_another_version(tmp_path: Path) -> None:
    rules, cup = hexa(tmp_path), tmp_path / "cup"
    SOURCE.in_folder(str(rules))
    plan = organise.plan_without_bots(organise.Request("countdown", (), format="ladder", games=0))
    contest.opened(cup, plan, ()).close()
    SOURCE.forget()
    shutil.rmtree(rules)
    contest.opened(cup, None, ()).close()
    assert find_game("countdown").sha256 == plan.rules
    SOURCE.forget()
    run(tmp_path, "host backup cup cup.tar")
    (copy,) = (cup / "rules").iterdir()
    refusal = "has a game whose rules are a program, countdown; install it with `referee games install FOLDER`"
    assert refusal in run(tmp_path, "host restore cup.tar untrusted", 2)
    run(tmp_path, "host restore cup.tar trusted --trust")
    contest.opened(tmp_path / "trusted", None, ()).close()
    SOURCE.forget()
    run(tmp_path, f"games install cup/rules/{copy.name}")
    run(tmp_path, "host restore cup.tar untrusted")
    assert (tmp_path / "untrusted" / "rules" / copy.name).is_file()
    write_plan(plan.replaced(game="tictactoe", rules="", version=7), cup / PLAN)
    with pytest.raises(Exception, match=r"is played by version 7 of tictactoe; version \d+ is installed"):
        contest.opened(cup, None, ())


@pytest.mark.timeout(280)
def test_rules_travel_to_the_workers_of_a_cluster(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    hexa(tmp_path)
    start = "tournament run --game ./hexa bots/one.py bots/bad.py --games 2 --seed 3"
    run(tmp_path, f"{start} --ledger here --jobs 1")
    cluster = Cluster(tmp_path)
    try:
        cluster.worker("worker")
        run(tmp_path, f"{start} --ledger there --cluster {cluster.address}")
    finally:
        cluster.close()
    here, there = (games(tmp_path / name) for name in ("here", "there"))
    assert {key: course(line) for key, line in there.items()} == {key: course(line) for key, line in here.items()}
