"""The command line of tournaments: every game is played once, and every end is reported."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from clusters import courses
from contests import DRAWS, PLAYER, command, course, drawing_bot, environment, games, referee, table, tournament
from defects import bot

from referee.addons.tournament.plan import read_plan
from referee.addons.tournament.store import ledger, reader
from referee.games.dice import derive_seed
from referee.harness.common import maps

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("forked")]

CRASHES = "def choose():\n    os._exit(3)\n"


@pytest.fixture
def bots(tmp_path: Path) -> list[str]:
    return [drawing_bot(tmp_path / "bots", name, salt) for salt, name in enumerate(("ann", "bob", "cid"))]


def started(folder: Path, *words: str | Path, program: Sequence[str] = ()) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*program, *map(str, words)] if program else command(*words),
        cwd=folder, env=environment(folder), start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def wait_for_games(folder: Path, count: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if (folder / "ledger").exists() and reader.read(folder).count >= count:
            return
        time.sleep(0.02)
    raise AssertionError("no games")


def test_one_worker_and_two_workers_and_two_shards_play_the_same_games(bots: list[str], tmp_path: Path) -> None:
    """Events are the lines of the ledger."""
    start = ["--game", "tictactoe", *bots, "--games", "4", "--seed", "3"]
    said = tournament(tmp_path, *start, "--ledger", tmp_path / "one", "--jobs", "1", "--events")
    tournament(tmp_path, *start, "--ledger", tmp_path / "two", "--jobs", "2", "--no-pin")
    for part in ("1", "2"):
        tournament(tmp_path, *start, "--ledger", tmp_path / f"part{part}", "--shard", f"{part}/2")
    tournament(tmp_path, "merge", tmp_path / "whole", tmp_path / "part1", tmp_path / "part2")
    one = courses(tmp_path / "one")
    assert len(one) == 12 and len({line[1] for line in one.values()}) == 6  # a seed a seed group
    told = [msgspec.json.decode(line, type=ledger.Line) for line in said.splitlines() if line.startswith('{"k"')]
    assert {line.k: course(line) for line in told} == one
    for name in ("two", "whole"):
        assert courses(tmp_path / name) == one
    assert all(0 < len(games(tmp_path / f"part{part}")) < 12 for part in ("1", "2"))


def test_a_hostile_name_does_not_disturb_the_standings(tmp_path: Path) -> None:
    """It has no control characters, one line and a limited length. Equal names get numbers."""
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
        long = "x" * 900
        (folder / "bot.toml").write_text(f'name = "a\\u001b[2J\\n\\u202eb{long}"\nrun = ["true"]\n# {folder}\n')
    found = tournament(tmp_path, "--game", "tictactoe", *folders, "--games", "2", "--ledger", tmp_path / "t")
    assert found.isprintable() or set(filter(lambda c: not c.isprintable(), found)) == {"\n"}
    names = [row["name"] for row in table(tmp_path / "t")["rows"]]
    start = f"a\\x1b[2J\\n\\u202eb{long}"[:100]
    assert sorted(names) == [start, start + " 2"]


def test_adding_a_bot_changes_no_other_games(bots: list[str], tmp_path: Path) -> None:
    """By the command `add`, or named in the same command."""
    start = ["--game", "tictactoe", *bots[:2], "--games", "4", "--seed", "3", "--ledger"]
    tournament(tmp_path, *start, "added")
    shutil.copytree(tmp_path / "added", tmp_path / "named")
    before = games(tmp_path / "added")
    tournament(tmp_path, "add", "added", bots[2])
    tournament(tmp_path, "added")
    for name in ("named", "fresh"):
        tournament(tmp_path, *start[:4], bots[2], *start[4:], name)
    after = games(tmp_path / "added")
    assert len(after) == 12 and before.items() <= after.items()
    assert courses(tmp_path / "named") == courses(tmp_path / "fresh") == courses(tmp_path / "added")


def test_a_signal_keeps_played_games_and_the_run_continues(bots: list[str], tmp_path: Path) -> None:
    """A folder in use is refused, and can be shown."""
    folder, played = tmp_path / "t", 0
    words = ["--game", "tictactoe", *bots, "--games", "100000", "--ledger", folder]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        run = started(tmp_path, *words)
        words = ["--ledger", folder]
        wait_for_games(folder, played + 20)
        if number is signal.SIGINT:
            plan = (folder / "tournament.toml").read_bytes()
            for more in ([], ["--game", "tictactoe", *bots, "--games", "4"]):
                assert "another run" in tournament(tmp_path, "--ledger", folder, *more, code=2)
            assert (folder / "tournament.toml").read_bytes() == plan
            assert 0 < table(folder)["played"] < 300000
        run.send_signal(number)
        said, told = run.communicate(timeout=60)
        assert run.returncode == 130 and "games" in said
        assert "continue with: referee tournament run " in told and told.count("\n") == 1
        before, played = played, len(games(folder))
        assert before + 20 <= played < 300000


def test_a_game_that_is_longer_than_the_time_limit_is_played_to_its_end(tmp_path: Path) -> None:
    """Else it would be thrown away at each start. A signal still drops it."""
    folder, slow = tmp_path / "t", tmp_path / "slow.py"
    slow.write_text(bot("import time\ndef begin(params):\n    time.sleep(6.5)\n"))
    start = ["--game", "tictactoe", slow, "@random", "--games", "50", "--max-minutes", "0.01", "--ledger", folder]
    tournament(tmp_path, *start, code=4)
    assert len(games(folder)) == 1


def test_an_expelled_bot_loses_its_other_games_without_play(bots: list[str], tmp_path: Path) -> None:
    bad = drawing_bot(tmp_path / "bots", "bad", 1, CRASHES)
    folder = tmp_path / "t"
    tournament(tmp_path, "--game", "tictactoe", *bots, bad, "--games", "4", "--ledger", folder, "--expel", "3")
    found = {row["name"]: row for row in table(folder)["rows"]}
    row = found.pop("bad")
    faults, forfeits = row["faults"], row["forfeits"]
    assert row["games"] == 12 and row["rank"] == 4 and row["points"] == 0
    assert faults >= 3 and forfeits > 0 and faults + forfeits == 12
    assert all(row["faults"] == row["forfeits"] == 0 for row in found.values())
    text = tournament(tmp_path, "show", folder, "--output", "markdown")
    (header,) = re.findall(r"^\| # \|.*$", text, re.MULTILINE)
    line = re.findall(r"^.*\| bad\W.*$", text, re.MULTILINE)[-1]
    cells = dict(zip(header.split(" | "), line.split(" | "), strict=True))
    assert (cells["faults"], cells["forfeits"]) == (str(faults), str(forfeits))
    assert "forfeits" in tournament(tmp_path, "show", folder)
    tournament(tmp_path, "page", folder)
    site = (folder / "page-public" / "index.html").read_text()
    assert f">bad</a></td><td>{faults}</td>" in site and f"<td>{forfeits}</td><td>" in site
    assert all(line.z is None and line.why == "forfeit" for line in games(folder).values() if line.forfeit)


@pytest.mark.parametrize("form", ["round-robin", "swiss"])
def test_a_game_between_two_expelled_bots_is_lost_by_both(bots: list[str], tmp_path: Path, form: str) -> None:
    bad = [drawing_bot(tmp_path / "bots", name, salt, CRASHES) for salt, name in enumerate(("bad", "worse"))]
    start = ["--game", "tictactoe", "--format", form, *bots[:2], *bad, "--games", "4", "--expel", "2"]
    tournament(tmp_path, *start, "--ledger", tmp_path / "t")
    found = {row["name"]: row for row in table(tmp_path / "t")["rows"]}
    for row in (found["bad"], found["worse"]):
        assert row["draws"] == 0 and row["losses"] + row["wins"] == row["games"], row
    both = [line for line in games(tmp_path / "t").values() if line.forfeit and not any(line.p)]
    assert form == "swiss" or both
    points, played = (sum(row[column] for row in found.values()) for column in ("points", "games"))
    assert points == played / 2 - len(both)


def test_a_plan_whose_games_cannot_be_read_stays_as_it_is(bots: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "t"
    start = ["--game", "tictactoe", *bots[:2], "--ledger", folder]
    tournament(tmp_path, *start, "--games", "2", "--seed", "1")
    before = (folder / "tournament.toml").read_bytes()
    (file,) = (folder / "ledger").glob("*.jsonl")
    file.write_bytes(file.read_bytes() + b"no line\n")
    for again in (["--ledger", folder], [*start]):
        assert "is damaged" in tournament(tmp_path, *again, "--games", "12", code=3)
        assert (folder / "tournament.toml").read_bytes() == before
    assert "is damaged" in tournament(tmp_path, "add", folder, bots[2], code=3)
    assert (folder / "tournament.toml").read_bytes() == before
    said = tournament(tmp_path, "--ledger", folder, "--first-to", "3", code=2)
    assert "--first-to 3: round-robin with 2 seats does not use it; leave it out, or take series" in said


def test_strict_fails_for_faults_and_a_message_says_once_that_a_bots_games_come_last(
    bots: list[str], tmp_path: Path
) -> None:
    bad = drawing_bot(tmp_path / "bots", "bad", 1, CRASHES)
    start = ["--game", "tictactoe", *bots, bad, "--games", "4", "--replay", "faults", "--strict"]
    said = tournament(tmp_path, *start, "--ledger", tmp_path / "t", code=1)
    assert said.count("bad was at fault in 8 games in a row: its other games come last") == 1
    lines = games(tmp_path / "t").values()
    assert sum(bool(line.z) for line in lines) == 12 and all(bool(line.z) == bool(line.f) for line in lines)
    tournament(tmp_path, "--ledger", tmp_path / "t", "--strict", code=1)  # nothing is left to be played
    out = tournament(tmp_path, *start, "--ledger", tmp_path / "u", "--expel", "3", code=1)
    assert "come last" not in out


def test_byes_stay_with_their_bots_and_are_shown(bots: list[str], tmp_path: Path) -> None:
    start = ["--game", "tictactoe", *bots, "--format", "swiss", "--games", "2", "--seed", "3"]
    before: dict[str, int] = {}
    for rounds in (1, 3):
        folder = tmp_path / str(rounds)
        tournament(tmp_path, *start, "--rounds", str(rounds), "--ledger", folder)
        rows = {row["name"]: row for row in table(folder)["rows"]}
        byes = {name: row["byes"] for name, row in rows.items()}
        assert sum(byes.values()) == rounds and all(byes[name] >= before.get(name, 0) for name in byes)
        before = byes
        for row in rows.values():
            assert row["points"] == row["wins"] + row["draws"] / 2 + 2 * row["byes"]
            assert row["games"] == 2 * (rounds - row["byes"])
    assert set(before.values()) == {1}
    assert "| different | byes |" in tournament(tmp_path, "show", tmp_path / "3", "--output", "markdown")


def test_a_changed_command_names_all_differences_in_a_line_and_changes_nothing(bots: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "t"
    slow = [*(short := ["--game", "tictactoe", *bots]), "--call-time", "3s"]
    tournament(tmp_path, *slow, "--games", "4", "--seed", "3", "--ledger", folder)
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    resume = ["--ledger", folder]
    other = drawing_bot(tmp_path / "bots-of-today", "cid", 2)
    for arguments, words in (
        ([*slow, "--games", "2"], "games are 4, not 2"),
        ([*slow, "--format", "swiss"], "format is round-robin, not swiss"),
        ([*slow, "--seating", "alternate"], "seating is seed-group, not alternate"),
        ([*slow, "--memory", "64MiB"], "limit memory_bytes is 268435456, not 67108864"),
        ([*slow, "--set", "flip=auto"], "option flip is manual, not auto"),
        (short, "time per_call_s is 3.0, not "),
        ([*slow, "--seed", "4", "--games", "2"], "whose seed is 3, not 4, and whose games are 4"),
        (["--game", "connectfour", *slow[2:]], "holds a tournament whose game is tictactoe, not connectfour"),
        ([*short[:-1], *slow[-2:]], "has games of cid, which the command does not name"),
        ([*short[:-1], other, *slow[-2:]], "holds games of an earlier version of cid; `referee tournament add"),
        (["--games", "2"], "games are 4, not 2"),
        (["--seed", "4"], "seed is 3, not 4"),
        (["--format", "gauntlet"], "format is round-robin, not gauntlet"),
        (["--memory", "64MiB"], "need the whole command"),
        (["--games", "0"], "--games 0: expected a number from 1 on"),
    ):
        said = tournament(tmp_path, *arguments, *resume, code=2)
        assert words in said and said.count("\n") == 1, said
    assert {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()} == before
    tournament(tmp_path, *slow, *resume)  # what is not said is as it was
    tournament(tmp_path, *slow, "--games", "6", *resume)
    assert len(games(folder)) == 18
    tournament(tmp_path, "--games", "8", *resume)
    assert len(games(folder)) == 24
    tournament(tmp_path, folder, "--rounds", "3", code=2)


def test_an_absent_bot_stays_absent_until_it_is_added(bots: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "t"
    start = ["--game", "tictactoe", *bots, "--seed", "3", "--ledger", folder]
    tournament(tmp_path, *start, "--absent", "cid")
    assert len(games(folder)) == 2
    before = (folder / "tournament.toml").read_bytes()
    said = tournament(tmp_path, *start, "--absent", "bob", code=2)
    assert "round-robin of tictactoe takes at least 2 bots; there is 1" in said
    assert (folder / "tournament.toml").read_bytes() == before
    said = tournament(tmp_path, *start, errors=True)  # what is not said is as it was
    assert said.endswith("\ncid is absent\n") and said.count("cid is absent") == 1
    assert (folder / "tournament.toml").read_bytes() == before and len(games(folder)) == 2
    assert tournament(tmp_path, "add", folder, bots[2]).endswith("3 bots\n")
    tournament(tmp_path, "--ledger", folder)
    assert len(games(folder)) == 6


def test_a_gauntlet_keeps_its_first_bot_and_a_round_robin_has_no_order(bots: list[str], tmp_path: Path) -> None:
    for format, code in (("round-robin", 0), ("gauntlet", 2)):
        start = ["--game", "tictactoe", "--format", format, "--seed", "3", "--ledger", tmp_path / format]
        tournament(tmp_path, *start, *bots[:2])
        said = tournament(tmp_path, *start, *reversed(bots), code=code)
        assert code == 0 or "the order of the bots matters in this tournament: name them as ann and bob" in said
    assert len(games(tmp_path / "round-robin")) == 6


@pytest.fixture(scope="module")
def two_seeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tournaments `one` of seed 3 and `other` of seed 4, and the bots of both."""
    folder = tmp_path_factory.mktemp("seeds")
    two = [drawing_bot(folder / "bots", name, salt) for salt, name in enumerate(("ann", "bob"))]
    for name, seed in (("one", "3"), ("other", "4")):
        tournament(folder, "--game", "tictactoe", *two, "--seed", seed, "--ledger", name)
    return folder


@pytest.fixture
def foreign(two_seeds: Path, tmp_path: Path) -> Path:
    """A copy of the folder with the two tournaments."""
    return shutil.copytree(two_seeds, tmp_path / "seeds")


OF_SEED_4 = "its seed is 4, not 3"


def test_games_of_another_tournament_are_not_merged(foreign: Path, bots: list[str]) -> None:
    two = [f"{entry.name}={entry.bot}" for entry in read_plan(foreign / "one" / "tournament.toml").bots]
    start = ["--game", "tictactoe", *two]
    tournament(foreign, *start, "--seed", "3", "--call-time", "3s", "--ledger", "slow")
    tournament(foreign, *start, bots[2], "--seed", "3", "--ledger", "more")
    for name, words in (
        ("other", OF_SEED_4),
        ("slow", "it is played under other options, maps, times, limits or rules"),
        ("more", "it has cid@"),
    ):
        said = tournament(foreign, "merge", "one", name, code=2)
        assert words in said and "is part of another tournament than" in said
    (foreign / "other" / "tournament.toml").unlink()  # merge has nothing but the lines to go by
    assert OF_SEED_4 in tournament(foreign, "merge", "one", "other", code=2)
    assert len(games(foreign / "one")) == 2
    tournament(foreign, "merge", "whole", "one", "other", code=2)
    assert not (foreign / "whole").exists()


@pytest.mark.parametrize("spoilt", ["copied", "behind", "damaged", "missing"])
def test_a_file_with_lines_of_another_tournament_is_an_error(foreign: Path, bots: list[str], spoilt: str) -> None:
    """A file of it was copied, or its lines are behind the own ones, or the first line is damaged or missing."""
    (file,), (other,) = ((foreign / name / "ledger").iterdir() for name in ("one", "other"))
    whole = file.read_bytes()
    head, _, rest = whole.partition(b"\n")
    texts = {"behind": whole + other.read_bytes(), "damaged": head[:40] + b"\n" + rest, "missing": rest}
    if spoilt == "copied":
        file = file.with_name(other.name)
    file.write_bytes(texts.get(spoilt, other.read_bytes()))
    words, code = (f"is of another tournament: {OF_SEED_4}", 2)
    if spoilt in ("damaged", "missing"):
        words, code = ("its first line, which says what tournament it is of, is damaged or missing: ", 3)
    before = {path: path.read_bytes() for path in (foreign / "one").rglob("*") if path.is_file()}
    for arguments in (["--ledger"], ["show"], ["page"], ["merge", "both"], ["add"]):
        more = [bots[2]] if arguments == ["add"] else []
        said = tournament(foreign, *arguments, "one", *more, code=code)
        assert file.name in said and words in said and said.count("\n") == 1
    assert {path: path.read_bytes() for path in before} == before


def test_all_build_failures_are_reported_before_the_first_game(bots: list[str], tmp_path: Path) -> None:
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.toml").write_text('run = ["./bot"]\nbuild = "echo this is wrong; false"\n')
    (tmp_path / "z").write_bytes(b"MZ")
    (tmp_path / "z").chmod(0o755)
    start = ["--game", "tictactoe", *bots[:2], *(tmp_path / name for name in "xyz"), "--ledger", tmp_path / "t"]
    said = tournament(tmp_path, *start, code=3)
    assert "3 bots cannot be played" in said and said.count("this is wrong") == 2
    assert "z: cannot be started: it is a program for Windows" in said
    tournament(tmp_path, "--ledger", tmp_path / "t", "--forfeit")
    found = table(tmp_path / "t")
    assert found["played"] == 2 and [row["name"] for row in found["rows"] if row["absent"]] == ["x", "y", "z"]


def test_an_edit_during_a_tournament_changes_nothing(tmp_path: Path) -> None:
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.py").write_text(bot(f"SALT = 1\n{DRAWS}"))
        run = json.dumps([sys.executable, "-I", "-S", "-B", "bot.py"])
        (tmp_path / name / "bot.toml").write_text(f'name = "{name}"\nrun = {run}\n')
    folder = tmp_path / "t"
    tournament(tmp_path, "--game", "tictactoe", tmp_path / "x", tmp_path / "y", "--ledger", folder)
    (tmp_path / "x" / "bot.py").write_text("nonsense")
    (tmp_path / "y" / "bot.py").unlink()
    (folder / "ledger" / os.listdir(folder / "ledger")[0]).unlink()
    tournament(tmp_path, "--ledger", folder, "--strict")
    assert len(games(folder)) == 2, "the packs of the removed file stay, and have names of their own"


def test_equal_programs_have_different_idents(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    said = tournament(tmp_path, "--game", "tictactoe", "@random", "@random", "--ledger", folder, errors=True)
    found, sentence = table(folder), "@random and @random 2 are the same program"
    assert said.endswith(f"\n{sentence}\n") and said.count(sentence) >= 2 and sentence in found["notes"]
    assert [row["games"] for row in found["rows"]] == [2, 2]
    assert {row["name"] for row in found["rows"]} == {"@random", "@random 2"}


def test_a_judged_tournament_pays_what_judge_pays(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    tournament(tmp_path, "--game", "tictactoe", "@advanced", "--format", "judged", "--ledger", folder)
    (row,) = table(folder)["rows"]
    assert row["points"] == 100 and row["games"] == 9


def test_a_tournament_file_describes_everything(bots: list[str], tmp_path: Path) -> None:
    first, final = maps.names("aibg5")[:2]
    (tmp_path / "cup.toml").write_text(
        'game = "aibg5"\nformat = "groups"\ngames = 1\nseed = 7\noptions = { rounds = 2 }\n'
        f'maps = {{ groups = "{first}", final = "{final}" }}\n'
        'bots = [{ path = "@random", name = "Team A" }, "@random", "@trainer", "@trainer", '
        '{ path = "@random", name = "late", absent = true }, "@random", "@random", "@random"]\n'
    )
    folder = tmp_path / "t"
    tournament(tmp_path, "cup.toml", "--ledger", folder)
    played = games(folder)
    assert len(played) == 3 and len({key.partition("/")[0] for key in played}) == 2  # the final has its own map
    found = table(folder)
    assert found["due"] == 3 and found["rows"][-1]["name"] == "late"


def test_the_command_line_overrides_a_file_whose_paths_start_at_its_folder(tmp_path: Path) -> None:
    (tmp_path / "cup" / "bee").mkdir(parents=True)
    (tmp_path / "cup" / "bee" / "bot.toml").write_text('name = "Bee"\nrun = ["/bin/false"]\n')
    (tmp_path / "cup" / "one.py").write_text(bot(DRAWS))
    (tmp_path / "cup" / "cup.toml").write_text(
        'game = "tictactoe"\nseed = 7\ngames = 2\noptions = { opening = 2 }\n'
        'bots = ["Team (A)=one.py", "@random", { path = "bee", absent = true }]\n'
        '[limits]\nmemory = "1GiB"\nprocesses = 10\npause = true\ncall_time = "3s"\nreadable = ["bee"]\n'
        "[build]\noffline = true\n"
    )
    start = ["cup/cup.toml", "--ledger", "t"]
    said = tournament(tmp_path, *start, "--isolation", "required:peers=pigeons", code=5)
    assert "peers" in said and not (tmp_path / "t").exists()
    words = ["--seed", "9", "--memory", "300MiB", "--cpu", "9s", "--clock", "60", "--set", "opening=1"]
    tournament(tmp_path, *start, *words)
    plan = read_plan(tmp_path / "t" / "tournament.toml")
    assert (plan.seed, plan.games, plan.options) == (9, 2, {"opening": 1})
    limits = plan.limits
    assert (limits.memory_bytes, limits.cpu_s, limits.processes, limits.pause) == (300 << 20, 9.0, 10, True)
    assert not limits.build_network and limits.isolation.readable == (str(tmp_path / "cup" / "bee"),)
    assert (plan.time.per_call_s, plan.time.initial_s) == (3.0, 60.0)
    assert [(bot.name, bot.absent) for bot in plan.bots] == [("Team (A)", False), ("@random", False), ("Bee", True)]


@pytest.mark.parametrize(
    ("words", "telling"),
    [
        ("--game tictactoe @random", "at least 2 bots"),
        ("TWO --format cup", "there are round-robin"),
        ("TWO --shard 3/2", "I/N"),
        ("TWO --format swiss --shard 1/2", "swiss cannot be sharded"),
        ("TWO --format series --shard 2/2", "series cannot be sharded"),
        ("--game aibg5 @random --format swiss", "games with two seats"),
        ("--game tictactoe @random nowhere", "no bot at 'nowhere'"),
        ("TWO --rounds 2", "does not use it; leave it out, or take swiss"),
        ("--game aibg5 @random @random @random @random --format gauntlet --rounds 2", "or take round-robin"),
        ("--game tictactoe @random --format self --seating alternate", "self decides the seats itself; leave it out"),
        ("TWO --first-to 3", "--first-to 3: round-robin"),
        ("TWO --absent bob", "no bot of that name"),
        ("TWO --seed=-1", "seed=-1: expected an unsigned integer of 64 bits"),
        ("TWO --cluster 127.0.0.1:1 --jobs 2", "--jobs cannot be combined with --cluster"),
        ("TWO --cluster 127.0.0.1:1 --forfeit", "--forfeit cannot be combined with --cluster"),
        ("TWO --tls-ca ca.pem", "need --cluster"),
        ("show nowhere", "holds no tournament"),
        ("show nowhere --sqlite x --follow", "--follow and --sqlite cannot be combined"),
        ("nowhere.toml", "nowhere.toml"),
        ("cup.toml --game quoridor", "cup.toml names the game and the bots"),
        ("TWO --max-minutes -1", "for --max-minutes. Must be > 0."),
        ("TWO --expel 0", 'Invalid value "0" for --expel. Must be >= 1.'),
        ("TWO --games 10000000000", "--games 10000000000: expected a number from"),
        ("TWO --format series --first-to -1", "--first-to -1: expected a number from"),
        ("TWO --play-off -1", "--play-off -1: expected a number from"),
    ],
)
def test_usage_errors_are_one_line(words: str, telling: str, tmp_path: Path) -> None:
    said = tournament(tmp_path, *shlex.split(words.replace("TWO", "--game tictactoe @random @random")), code=2)
    assert telling in said and said.count("\n") <= 2, said
    assert not (tmp_path / "tournaments").exists()


@pytest.mark.parametrize(
    ("lines", "telling"),
    [
        (
            'bots = [{ path = "@random", name = "R/D" }, "@random"]',
            "'R/D' cannot be a name: expected one without / and =",
        ),
        ('bots = [{ path = "@random", name = "" }, "@random"]', "'' cannot be a name"),
        ("TWO; rounds = 0", "cup.toml: rounds=0: expected a number from 1 on"),
        ('TWO; format = "ladder"; games = -5', "cup.toml: games=-5: expected a number from 0"),
        ("TWO; expel = 10000000000", "cup.toml: expel=10000000000: expected a number from 1 to"),
        ("TWO; first_to = -1", "cup.toml: first_to=-1: expected a number from 1 on"),
        ('TWO; [[stages]]; format = "swiss"; bots = 2; rounds = -2', "rounds=-2: exp"),
        ('TWO; [[stages]]; format = "series"; bots = 2; first_to = -2', "first_to=-2: exp"),
        ('TWO; [limits]; call_time = "soon"', "cup.toml: [limits] call_time=soon: expected a time above zero"),
        ("TWO; [limits]; processes = 0", "cup.toml: [limits] processes=0: expected a whole number from 1"),
        ('TWO; [limits]; isolation = "high"', "cup.toml: [limits] isolation=high: expected off, auto, required"),
        ('TWO; [limits]; readable = "nowhere"', "nowhere: there is no such file or folder"),
        (
            "TWO; [limits]; process = 5",
            "cup.toml: [limits] process: there is no limit 'process'; did you mean processes?",
        ),
        ("TWO; [build]; time = 0", "cup.toml: [build] time=0: expected a time above zero"),
    ],
)
def test_errors_in_a_file_are_one_line(lines: str, telling: str, tmp_path: Path) -> None:
    """A byte order mark, as some editors write it, is allowed."""
    text = lines.replace("TWO", 'bots = ["@random", "@random"]').replace("; ", "\n")
    (tmp_path / "cup.toml").write_text(f'\ufeffgame = "tictactoe"\n{text}\n')
    said = tournament(tmp_path, "cup.toml", code=2)
    assert telling in said and said.count("\n") <= 2, said


def test_games_side_by_side_equal_those_one_after_the_other(bots: list[str], tmp_path: Path) -> None:
    start = ["--game", "tictactoe", *bots[:2], "--games", "5", "--swap", "--seed", "4", "--json", "--replay"]
    found = []
    for name, jobs in (("one", "1"), ("two", "2")):
        (tmp_path / name).mkdir()
        outcome = json.loads(referee(tmp_path, "play", *start, tmp_path / name / "r.jsonl", "--jobs", jobs))
        assert len(list((tmp_path / name).glob("r-*.jsonl"))) == 5
        matches = [(game["result"], game["seed"], game["again"][:-2]) for game in outcome["matches"]]
        names = [[seat["name"] for seat in game["seats"]] for game in outcome["matches"]]
        found.append((outcome["standings"], outcome["seed"], matches, names))
    assert found[0] == found[1] and names[:2] == [["ann", "bob"], ["bob", "ann"]]


HANGS = """
import time
plain = begin
def begin(params):
    plain(params)
    if params["seed"] != {first}: time.sleep(60)
"""
"""Hangs in every game except the one with that seed."""


def test_interrupted_games_side_by_side_keep_their_standings(tmp_path: Path) -> None:
    code = HANGS.format(first=derive_seed(1, "seat", 0))
    start = ["--game", "tictactoe", drawing_bot(tmp_path, "ann", 1, code), drawing_bot(tmp_path, "bob", 2)]
    options = ["--games", "6", "--jobs", "2", "--seed", "1", "--limit", "startup=60s", "--replay", "none"]
    with started(tmp_path, *start, *options, program=[*PLAYER, "play"]) as run:
        assert run.stdout is not None
        told = run.stdout.readline()
        os.killpg(run.pid, signal.SIGINT)
        out, err = run.communicate(timeout=60)
    assert run.returncode == 130 and "(Tic-tac-toe, " in told
    assert "Tic-tac-toe: 1 game of 6, seed 1" in told + out and err.count("\n") == 1


LEARNS = """
import os
with open("learner/weights.txt") as weights:
    depth = int(weights.read())
HERE = os.path.dirname(os.path.abspath(__file__))
def start(*cards):
    pass
def play(*state):
    for place in ("learner", HERE):
        with open(os.path.join(place, "learned.txt"), "a") as file:
            file.write("x")
    return 0, []
def end(victory):
    pass
"""


@pytest.mark.parametrize("isolation", ["auto", "off"])
def test_an_original_agent_finds_its_folder_by_name_and_changes_no_archive(tmp_path: Path, isolation: str) -> None:
    """Agents of the card game work in the folder above their own."""
    folder = tmp_path / "elsewhere" / "learner"
    folder.mkdir(parents=True)
    (folder / "agent.py").write_text(LEARNS)
    (folder / "weights.txt").write_text("3")
    game = ["--game", "cardgame", folder, "@random", "--games", "2", "--seed", "1", "--isolation", isolation]
    tournament(tmp_path, *game, "--ledger", tmp_path / "contest")
    lines = games(tmp_path / "contest").values()
    assert len(lines) == 2 and not any(fault.kind == "crash" for line in lines for fault in line.f), lines
    (bundle,) = {path.parent for path in tmp_path.rglob("bundles/*/*/weights.txt")}
    assert bundle.name == "learner"
    assert sorted(path.name for path in bundle.iterdir() if path.is_file()) == ["agent.py", "weights.txt"]
    assert not (folder / "learned.txt").exists()
