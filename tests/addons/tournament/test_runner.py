"""The command line of tournaments: every game is played once, and every end is reported."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest
from contests import DRAWS, PLAYER, command, course, drawing_bot, environment, games, table, tournament
from defects import bot

from referee.addons.tournament.plan import read_plan
from referee.addons.tournament.store import ledger, reader
from referee.games.dice import derive_seed
from referee.harness.common import maps

pytestmark = pytest.mark.slow

CRASHES = "def choose():\n    os._exit(3)\n"


@pytest.fixture
def bots(tmp_path: Path) -> list[str]:
    return [drawing_bot(tmp_path / "bots", name, salt) for salt, name in enumerate(("ann", "bob", "cid"))]


def started(folder: Path, *arguments: str | Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        command(*arguments), cwd=folder, env=environment(folder),
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
    start = ["--game", "tictactoe", *bots, "--games", "6", "--seed", "3"]
    tournament(tmp_path, *start, "--ledger", tmp_path / "one", "--jobs", "1")
    tournament(tmp_path, *start, "--ledger", tmp_path / "two", "--jobs", "2", "--no-pin")
    for part in ("1", "2"):
        tournament(tmp_path, *start, "--ledger", tmp_path / f"part{part}", "--shard", f"{part}/2")
    tournament(tmp_path, "merge", tmp_path / "whole", tmp_path / "part1", tmp_path / "part2")
    one = {key: course(line) for key, line in games(tmp_path / "one").items()}
    assert len(one) == 18 and len({line[1] for line in one.values()}) == 9  # a seed a seed group
    for name in ("two", "whole"):
        assert {key: course(line) for key, line in games(tmp_path / name).items()} == one
    assert all(0 < len(games(tmp_path / f"part{part}")) < 18 for part in ("1", "2"))


def test_games_of_another_tournament_are_not_merged(bots: list[str], tmp_path: Path) -> None:
    start = ["--game", "tictactoe", *bots[:2], "--games", "2"]
    tournament(tmp_path, *start, "--seed", "3", "--ledger", tmp_path / "one")
    tournament(tmp_path, *start, "--seed", "4", "--ledger", tmp_path / "other")
    tournament(tmp_path, *start, "--seed", "3", "--call-time", "3s", "--ledger", tmp_path / "slow")
    tournament(tmp_path, *start, bots[2], "--seed", "3", "--ledger", tmp_path / "more")
    for name, words in (
        ("other", "its seed is 4, not 3"),
        ("slow", "it is played under other options, maps, times, limits or rules"),
        ("more", "it has cid@"),
    ):
        said = tournament(tmp_path, "merge", tmp_path / "one", tmp_path / name, code=2)
        assert words in said and "is part of another tournament than" in said
    assert len(games(tmp_path / "one")) == 2
    tournament(tmp_path, "merge", tmp_path / "whole", tmp_path / "one", tmp_path / "other", code=2)
    assert not (tmp_path / "whole").exists()


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
    folder = tmp_path / "t"
    tournament(tmp_path, "--game", "tictactoe", *bots[:2], "--games", "4", "--seed", "3", "--ledger", folder)
    before = games(folder)
    tournament(tmp_path, "add", folder, bots[2])
    tournament(tmp_path, "--ledger", folder)
    after = games(folder)
    assert len(after) == 12 and all(after[key] == line for key, line in before.items())
    tournament(tmp_path, "--game", "tictactoe", *bots, "--games", "4", "--seed", "3", "--ledger", tmp_path / "fresh")
    assert {key: course(line) for key, line in games(tmp_path / "fresh").items()} == {
        key: course(line) for key, line in after.items()
    }


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_keeps_played_games_and_resume_continues(
    bots: list[str], tmp_path: Path, number: signal.Signals
) -> None:
    folder = tmp_path / "t"
    run = started(tmp_path, "--game", "tictactoe", *bots, "--games", "2000", "--ledger", folder)
    wait_for_games(folder, 20)
    run.send_signal(number)
    said, told = run.communicate(timeout=60)
    assert run.returncode == 130 and "games" in said
    assert "continue with: referee tournament run " in told and told.count("\n") == 1
    played = len(games(folder))
    assert 20 <= played < 6000
    again = started(tmp_path, "--ledger", folder, "--max-minutes", "0.05")
    assert again.wait(60) in (0, 4) and len(games(folder)) > played
    again.communicate()


def test_a_game_that_is_longer_than_the_time_limit_is_played_to_its_end(tmp_path: Path) -> None:
    """Else it would be thrown away at each start. A signal still drops it."""
    folder, slow = tmp_path / "t", tmp_path / "slow.py"
    slow.write_text(bot("import time\ndef begin(params):\n    time.sleep(6.5)\n"))
    run = started(tmp_path, "--game", "tictactoe", slow, "@random", "--games", "50", "--max-minutes", "0.01", "--jobs",
                  "1", "--ledger", folder)  # fmt: skip
    told = run.communicate(timeout=60)[1]
    assert run.returncode == 4 and len(games(folder)) == 1, told


def test_a_folder_in_use_is_refused_and_can_be_shown(bots: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "t"
    run = started(tmp_path, "--game", "tictactoe", *bots, "--games", "100000", "--ledger", folder)
    wait_for_games(folder, 1)
    plan = (folder / "tournament.toml").read_bytes()
    for more in ([], ["--game", "tictactoe", *bots, "--games", "4"]):
        assert "another run" in tournament(tmp_path, "--ledger", folder, *more, code=2)
    assert (folder / "tournament.toml").read_bytes() == plan
    assert 0 < table(folder)["played"] < 300000
    run.send_signal(signal.SIGTERM)
    run.communicate(timeout=60)


def test_an_expelled_bot_loses_its_other_games_without_play(bots: list[str], tmp_path: Path) -> None:
    bad = drawing_bot(tmp_path / "bots", "bad", 1, CRASHES)
    folder = tmp_path / "t"
    tournament(tmp_path, "--game", "tictactoe", *bots, bad, "--games", "10", "--ledger", folder, "--expel", "5")
    found = {row["name"]: row for row in table(folder)["rows"]}
    assert found["bad"]["games"] == 30 and found["bad"]["rank"] == 4 and found["bad"]["points"] == 0
    assert found["bad"]["faults"] >= 5 and found["bad"]["forfeits"] > 0
    assert found["bad"]["faults"] + found["bad"]["forfeits"] == 30
    assert all(row["faults"] == row["forfeits"] == 0 for name, row in found.items() if name != "bad")
    text = tournament(tmp_path, "show", folder, "--output", "markdown")
    (header,) = re.findall(r"^\| # \|.*$", text, re.MULTILINE)
    faults, forfeits = (header.split(" | ").index(name) for name in ("faults", "forfeits"))
    rest = {name: line for name in found for line in text.splitlines() if re.search(rf"\| {name}\W", line)}
    rows = {name: (line.split(" | ")[faults], line.split(" | ")[forfeits]) for name, line in rest.items()}
    expected = {name: (str(row["faults"]), str(row["forfeits"])) for name, row in found.items()}
    assert rows == expected
    assert "forfeits" in tournament(tmp_path, "show", folder)
    tournament(tmp_path, "page", folder)
    site = (folder / "page-public" / "index.html").read_text()
    assert f">bad</a></td><td>{found['bad']['faults']}</td>" in site
    assert f"<td>{found['bad']['forfeits']}</td><td>" in site
    lines = [line for line in games(folder).values() if line.forfeit]
    assert all(line.z is None and line.why == "forfeit" for line in lines)


def test_a_game_between_two_expelled_bots_is_lost_by_both(bots: list[str], tmp_path: Path) -> None:
    bad = [drawing_bot(tmp_path / "bots", name, salt, CRASHES) for salt, name in enumerate(("bad", "worse"))]
    for form in ("round-robin", "swiss"):
        folder = tmp_path / form
        start = ["--game", "tictactoe", "--format", form, *bots[:2], *bad, "--games", "6", "--expel", "2"]
        tournament(tmp_path, *start, "--ledger", folder)
        found = {row["name"]: row for row in table(folder)["rows"]}
        for name in ("bad", "worse"):
            row = found[name]
            assert row["draws"] == 0 and row["losses"] + row["wins"] == row["games"], row
        both = [line for line in games(folder).values() if line.forfeit and not any(line.p)]
        assert form == "swiss" or both
        assert sum(row["points"] for row in found.values()) == sum(row["games"] for row in found.values()) / 2 - len(
            both
        )


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


def test_a_message_says_once_that_a_bots_games_come_last(bots: list[str], tmp_path: Path) -> None:
    bad = drawing_bot(tmp_path / "bots", "bad", 1, CRASHES)
    start = ["--game", "tictactoe", *bots, bad, "--games", "10", "--replay", "faults", "--strict"]
    said = tournament(tmp_path, *start, "--ledger", tmp_path / "t", code=1)
    assert said.count("bad was at fault in 8 games in a row: its other games come last") == 1
    out = tournament(tmp_path, *start, "--ledger", tmp_path / "u", "--expel", "3", code=1)
    assert "come last" not in out


def test_byes_stay_with_their_bots_and_are_shown(tmp_path: Path) -> None:
    bots = [drawing_bot(tmp_path / "bots", name, salt) for salt, name in enumerate("abcde")]
    start = ["--game", "tictactoe", *bots, "--format", "swiss", "--games", "2", "--seed", "3"]
    before: dict[str, int] = dict.fromkeys("abcde", 0)
    for rounds in range(1, 6):
        folder = tmp_path / str(rounds)
        tournament(tmp_path, *start, "--rounds", str(rounds), "--ledger", folder)
        rows = {row["name"]: row for row in table(folder)["rows"]}
        byes = {name: row["byes"] for name, row in rows.items()}
        assert sum(byes.values()) == rounds and all(byes[name] >= before[name] for name in byes)
        before = byes
        for row in rows.values():
            assert row["points"] == row["wins"] + row["draws"] / 2 + 2 * row["byes"]
            assert row["games"] == 2 * (rounds - row["byes"])
    assert set(before.values()) == {1}
    assert "| different | byes |" in tournament(tmp_path, "show", tmp_path / "5", "--output", "markdown")


def test_strict_fails_for_faults_and_only_replays_with_faults_are_kept(bots: list[str], tmp_path: Path) -> None:
    bad = drawing_bot(tmp_path / "bots", "bad", 1, CRASHES)
    start = ["--game", "tictactoe", *bots[:2], bad, "--ledger", tmp_path / "t", "--replay", "faults", "--strict"]
    tournament(tmp_path, *start, code=1)
    for line in games(tmp_path / "t").values():
        assert bool(line.z) == bool(line.f)
    assert sum(bool(line.z) for line in games(tmp_path / "t").values()) == 4
    tournament(tmp_path, "--ledger", tmp_path / "t", "--strict", code=1)  # nothing is left to be played


def test_resume_refuses_changes_that_would_orphan_games(bots: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "t"
    tournament(tmp_path, "--game", "tictactoe", *bots, "--seed", "3", "--ledger", folder)
    plan, resume = (folder / "tournament.toml").read_bytes(), ["--ledger", folder]
    other = drawing_bot(tmp_path / "bots-of-today", "cid", 2)
    for arguments, words in (
        (["--game", "tictactoe", *bots, "--seed", "4"], "holds a tournament whose seed is 3, not 4"),
        (["--game", "connectfour", *bots], "holds a tournament whose game is tictactoe, not connectfour"),
        (["--game", "tictactoe", *bots[:2]], "has games of cid, which the command does not name"),
        (
            ["--game", "tictactoe", *bots[:2], other],
            "holds games of an earlier version of cid; `referee tournament add",
        ),
    ):
        assert words in tournament(tmp_path, *arguments, *resume, code=2)
    assert (folder / "tournament.toml").read_bytes() == plan
    tournament(tmp_path, "--game", "tictactoe", *bots, "--games", "4", *resume)
    assert len(games(folder)) == 12


def test_resume_names_all_differences_in_a_line_and_changes_nothing(bots: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "t"
    start = ["--game", "tictactoe", *bots[:2]]
    tournament(tmp_path, *start, "--games", "4", "--seed", "3", "--call-time", "3s", "--ledger", folder)
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    resume = ["--ledger", folder]
    slow = [*start, "--call-time", "3s"]
    for arguments, words in (
        ([*slow, "--games", "2"], "games are 4, not 2"),
        ([*slow, "--format", "swiss"], "format is round-robin, not swiss"),
        ([*slow, "--seating", "alternate"], "seating is seed-group, not alternate"),
        ([*slow, "--memory", "64MiB"], "limit memory_bytes is 268435456, not 67108864"),
        ([*slow, "--set", "flip=auto"], "option flip is manual, not auto"),
        (start, "time per_call_s is 3.0, not "),
        ([*start, "--call-time", "3s", "--seed", "4", "--games", "2"], "whose seed is 3, not 4, and whose games are 4"),
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
    tournament(tmp_path, "--games", "6", *resume)
    assert len(games(folder)) == 6


def test_an_absent_bot_stays_absent_until_it_is_added(bots: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "t"
    start = ["--game", "tictactoe", *bots, "--seed", "3", "--ledger", folder]
    tournament(tmp_path, *start, "--absent", "cid")
    assert len(games(folder)) == 2
    before = (folder / "tournament.toml").read_bytes()
    said = tournament(tmp_path, *start, "--absent", "bob", code=2)
    assert "round-robin of tictactoe takes at least 2 bots; there is 1" in said
    assert (folder / "tournament.toml").read_bytes() == before
    again = subprocess.run(
        command(*start), cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, check=True
    )
    assert again.stderr.splitlines() == ["cid is absent"]  # what is not said is as it was
    assert (folder / "tournament.toml").read_bytes() == before and len(games(folder)) == 2
    assert tournament(tmp_path, "add", folder, bots[2]).endswith("3 bots\n")
    tournament(tmp_path, "--ledger", folder)
    assert len(games(folder)) == 6


def test_a_gauntlet_keeps_its_first_bot_and_a_round_robin_has_no_order(bots: list[str], tmp_path: Path) -> None:
    for format in ("round-robin", "gauntlet"):
        start = ["--game", "tictactoe", "--format", format, "--seed", "3", "--ledger", tmp_path / format]
        tournament(tmp_path, *start, *bots[:2])
        code = 2 if format == "gauntlet" else 0
        said = tournament(tmp_path, *start, bots[2], bots[1], bots[0], code=code)
        assert code == 0 or "the order of the bots matters in this tournament: name them as ann and bob" in said
    assert len(games(tmp_path / "round-robin")) == 6


def test_copied_lines_of_another_seed_are_an_error(bots: list[str], tmp_path: Path) -> None:
    start = ["--game", "tictactoe", *bots[:2]]
    for name, seed in (("one", "3"), ("other", "4")):
        tournament(tmp_path, *start, "--seed", seed, "--ledger", tmp_path / name)
    (foreign,) = (tmp_path / "other" / "ledger").iterdir()
    (tmp_path / "other" / "tournament.toml").unlink()  # merge has nothing but the lines to go by
    assert "its seed is 4, not 3" in tournament(tmp_path, "merge", tmp_path / "one", tmp_path / "other", code=2)
    assert len(games(tmp_path / "one")) == 2
    (part,) = (tmp_path / "one" / "ledger").iterdir()
    (tmp_path / "both" / "ledger").mkdir(parents=True)
    (tmp_path / "both" / "ledger" / "part.jsonl").write_bytes(part.read_bytes() + foreign.read_bytes())
    assert "its seed is 4, not 3" in tournament(tmp_path, "merge", tmp_path / "one", tmp_path / "both", code=2)
    assert list((tmp_path / "one" / "ledger").iterdir()) == [part], "nothing was copied"
    (tmp_path / "one" / "ledger" / foreign.name).write_bytes(foreign.read_bytes())
    files = sorted((tmp_path / "one").rglob("*"))
    for arguments in (["--ledger"], ["show"], ["page"]):
        said = tournament(tmp_path, *arguments, tmp_path / "one", code=2)
        assert f"{foreign.name} is of another tournament: its seed is 4, not 3" in said and said.count("\n") == 1
    assert sorted((tmp_path / "one").rglob("*")) == files


@pytest.mark.parametrize("spoilt", ["behind", "damaged", "missing"])
def test_a_file_with_lines_of_two_tournaments_is_an_error(bots: list[str], tmp_path: Path, spoilt: str) -> None:
    start = ["--game", "tictactoe", *bots[:2]]
    for name, seed in (("one", "3"), ("other", "4")):
        tournament(tmp_path, *start, "--seed", seed, "--ledger", tmp_path / name)
    (file,), (foreign,) = ((tmp_path / name / "ledger").iterdir() for name in ("one", "other"))
    whole = file.read_bytes()
    head, _, rest = whole.partition(b"\n")
    file.write_bytes(
        {"behind": whole + foreign.read_bytes(), "damaged": head[:40] + b"\n" + rest, "missing": rest}[spoilt]
    )
    words, code = ("its first line, which says what tournament it is of, is damaged or missing: ", 3)
    if spoilt == "behind":
        words, code = ("is of another tournament: its seed is 4, not 3", 2)
    plan = (tmp_path / "one" / "tournament.toml").read_bytes()
    for arguments in (["--ledger"], ["show"], ["page"], ["merge", tmp_path / "both"], ["add"]):
        more = [bots[2]] if arguments == ["add"] else []
        said = tournament(tmp_path, *arguments, tmp_path / "one", *more, code=code)
        assert file.name in said and words in said and said.count("\n") == 1
    assert (tmp_path / "one" / "tournament.toml").read_bytes() == plan


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


def test_a_bot_that_the_sandbox_cannot_start_is_absent_like_one_that_cannot_be_built(
    bots: list[str], tmp_path: Path
) -> None:
    hidden, broken = tmp_path / "venv" / "interpreter", tmp_path / "venv" / "broken"
    hidden.parent.mkdir()
    hidden.symlink_to("/bin/sh")
    broken.write_text("#!/no/such/program\n")
    broken.chmod(0o755)
    interpreters = {"hidden": hidden, "closed": "/etc/passwd", "broken": broken}
    for name, interpreter in interpreters.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.toml").write_text('run = ["./bot"]\n')
        (tmp_path / name / "bot").write_text(f"#!{interpreter}\n")
        (tmp_path / name / "bot").chmod(0o755)
    folder = tmp_path / "t"
    tournament(tmp_path, "--game", "tictactoe", *bots[:2], "--ledger", folder)
    tournament(tmp_path, "add", folder, *(tmp_path / name for name in interpreters))
    said = tournament(tmp_path, folder, code=3)
    assert "3 bots cannot be played; fix them and repeat the command, or play without them: --forfeit" in said
    for name, interpreter in interpreters.items():
        assert re.search(f"{name}: cannot be started: .*it needs '{interpreter}', which bots cannot see, or", said)
    tournament(tmp_path, folder, "--forfeit")
    found = table(folder)
    assert found["played"] == 2 and {row["name"] for row in found["rows"] if row["absent"]} == interpreters.keys()


def test_folders_whose_bot_toml_cannot_be_read_are_all_named_or_absent(bots: list[str], tmp_path: Path) -> None:
    for name, content in (("x", b"run = [\n"), ("y", b'run = ["\xff"]\n')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.toml").write_bytes(content)
    start = ["--game", "tictactoe", *bots[:2], tmp_path / "x", tmp_path / "y", "--ledger", tmp_path / "t"]
    said = tournament(tmp_path, *start, code=2)
    assert "2 bots are wrong: " in said and "x/bot.toml: it is not TOML" in said and "y/bot.toml: 'utf-8' codec" in said
    said = tournament(tmp_path, *start, "--forfeit")
    found = table(tmp_path / "t")
    assert found["played"] == 2 and {row["name"] for row in found["rows"] if row["absent"]} == {"x", "y"}
    tournament(tmp_path, "--ledger", tmp_path / "t", "--games", "4")
    assert table(tmp_path / "t")["played"] == 4


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
    twice = command("--game", "tictactoe", "@random", "@random", "--games", "4", "--ledger", folder)
    done = subprocess.run(twice, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, check=True)
    found, sentence = table(folder), "@random and @random 2 are the same program"
    assert done.stderr.splitlines() == [sentence] and sentence in done.stdout and sentence in found["notes"]
    assert [row["games"] for row in found["rows"]] == [4, 4]
    assert {row["name"] for row in found["rows"]} == {"@random", "@random 2"}


def test_a_judged_tournament_pays_what_judge_pays(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    tournament(tmp_path, "--game", "tictactoe", "@advanced", "--format", "judged", "--ledger", folder)
    (row,) = table(folder)["rows"]
    assert row["points"] == 100 and row["games"] == 9


def test_a_tournament_file_describes_everything(bots: list[str], tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text(
        'game = "aibg5"\nformat = "groups"\ngames = 1\nseed = 7\noptions = { rounds = 2 }\n'
        'maps = { groups = "FirstRoundTopicAIBGaziBre", final = "FinalMapTopicAIBGaziBre" }\n'
        'bots = [{ path = "@random", name = "Team A" }, "@random", "@trainer", "@trainer", '
        '{ path = "@random", name = "late", absent = true }, "@random", "@random", "@random"]\n'
    )
    first, final = maps.names("aibg5")[:2]
    text = (tmp_path / "cup.toml").read_text()
    text = text.replace("FirstRoundTopicAIBGaziBre", first).replace("FinalMapTopicAIBGaziBre", final)
    (tmp_path / "cup.toml").write_text(text)
    folder = tmp_path / "t"
    tournament(tmp_path, "cup.toml", "--ledger", folder)
    played = games(folder)
    assert len(played) == 3 and len({key.partition("/")[0] for key in played}) == 2  # the final has its own map
    found = table(folder)
    assert found["due"] == 3 and found["rows"][-1]["name"] == "late"


def test_the_command_line_overrides_the_file(tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text(
        'game = "tictactoe"\nseed = 7\ngames = 2\noptions = { opening = 2 }\nbots = ["@random", "@random"]\n'
        '[limits]\nmemory = "1GiB"\nprocesses = 10\npause = true\ncall_time = "3s"\n[build]\noffline = true\n'
    )
    folder = tmp_path / "t"
    start = ["cup.toml", "--ledger", folder]
    said = tournament(tmp_path, *start, "--isolation", "required:peers=pigeons", code=5)
    assert "peers" in said and not folder.exists()
    tournament(
        tmp_path, *start, "--seed", "9", "--memory", "300MiB", "--cpu", "9s", "--clock", "60", "--set", "opening=1"
    )
    plan = read_plan(folder / "tournament.toml")
    assert (plan.seed, plan.games, plan.options) == (9, 2, {"opening": 1})
    limits = plan.limits
    assert (limits.memory_bytes, limits.cpu_s, limits.processes, limits.pause) == (300 << 20, 9.0, 10, True)
    assert not limits.build_network
    assert (plan.time.per_call_s, plan.time.initial_s) == (3.0, 60.0)


def test_paths_in_a_file_are_relative_to_its_folder(tmp_path: Path) -> None:
    (tmp_path / "cup" / "bee").mkdir(parents=True)
    (tmp_path / "cup" / "bee" / "bot.toml").write_text('name = "Bee"\nrun = ["/bin/false"]\n')
    (tmp_path / "cup" / "one.py").write_text(bot(DRAWS))
    (tmp_path / "cup" / "cup.toml").write_text(
        'game = "tictactoe"\ngames = 2\nlimits = { readable = ["bee"] }\n'
        'bots = ["Team (A)=one.py", "@random", { path = "bee", absent = true }]\n'
    )
    tournament(tmp_path, "cup/cup.toml", "--ledger", tmp_path / "t")
    plan = read_plan(tmp_path / "t" / "tournament.toml")
    assert [(bot.name, bot.absent) for bot in plan.bots] == [("Team (A)", False), ("@random", False), ("Bee", True)]
    assert plan.limits.isolation.readable == (str(tmp_path / "cup" / "bee"),)


@pytest.mark.parametrize(
    "arguments,words",
    [
        (["--game", "tictactoe", "@random"], "at least 2 bots"),
        (["--game", "tictactoe", "@random", "@random", "--format", "cup"], "there are round-robin"),
        (["--game", "tictactoe", "@random", "@random", "--shard", "3/2"], "I/N"),
        (
            ["--game", "tictactoe", "@random", "@random", "--format", "swiss", "--shard", "1/2"],
            "swiss cannot be sharded",
        ),
        (
            ["--game", "tictactoe", "@random", "@random", "--format", "series", "--shard", "2/2"],
            "series cannot be sharded",
        ),
        (["--game", "aibg5", "@random", "--format", "swiss"], "games with two seats"),
        (["--game", "tictactoe", "@random", "nowhere"], "no bot at 'nowhere'"),
        *[
            (["--game", game, "@random", *["@baseline"] * 3, "--format", format, option, value], words)
            for game, format, option, value, words in [
                (
                    "tictactoe",
                    "round-robin",
                    "--rounds",
                    "2",
                    "does not use it; leave it out, or take swiss",
                ),
                ("tictactoe", "gauntlet", "--rounds", "2", "gauntlet with 2 seats does not use it"),
                (
                    "aibg5",
                    "gauntlet",
                    "--rounds",
                    "2",
                    "4 seats does not use it; leave it out, or take round-robin",
                ),
                ("tictactoe", "self", "--seating", "alternate", "self decides the seats itself; leave it out"),
                ("tictactoe", "judged", "--seating", "fixed", "judged decides the seats itself"),
                (
                    "tictactoe",
                    "swiss",
                    "--first-to",
                    "2",
                    "does not use it; leave it out, or take series",
                ),
            ]
        ],
        (["--game", "tictactoe", "@random", "@random", "--absent", "bob"], "no bot of that name"),
        (
            ["--game", "tictactoe", "@random", "@random", "--seed=-1"],
            "seed=-1: expected an unsigned integer of 64 bits",
        ),
        (
            ["--game", "tictactoe", "@random", "@random", "--cluster", "127.0.0.1:1", "--jobs", "2"],
            "--jobs cannot be combined with --cluster",
        ),
        (
            ["--game", "tictactoe", "@random", "@random", "--cluster", "127.0.0.1:1", "--forfeit"],
            "--forfeit cannot be combined with --cluster",
        ),
        (["--game", "tictactoe", "@random", "@random", "--tls-ca", "ca.pem"], "need --cluster"),
        (["show", "nowhere"], "holds no tournament"),
        (["show", "nowhere", "--sqlite", "x", "--follow"], "--follow and --sqlite cannot be combined"),
        (["nowhere.toml"], "nowhere.toml"),
        (["cup.toml", "--game", "quoridor"], "cup.toml names the game and the bots"),
        (["cup.toml", "@random"], "cup.toml names the game and the bots"),
        (["--game", "tictactoe", "@random", "@random", "--max-minutes", "-1"], "for --max-minutes. Must be > 0."),
        (["--game", "tictactoe", "@random", "@random", "--expel", "0"], 'Invalid value "0" for --expel. Must be >= 1.'),
        *(
            (["--game", "tictactoe", "@random", "@random", *words], f"{words[-2]} {words[-1]}: expected a number from")
            for words in (
                ("--format", "ladder", "--games", "-5"),
                ("--games", "10000000000"),
                ("--format", "swiss", "--rounds", "10000000000"),
                ("--format", "series", "--first-to", "-1"),
                ("--expel", "10000000000"),
                ("--play-off", "-1"),
            )
        ),
        (["--game", "tictactoe", "@random", "@random", "--first-to", "3"], "--first-to 3: round-robin"),
    ],
)
def test_usage_errors_are_one_line(arguments: list[str], words: str, tmp_path: Path) -> None:
    said = tournament(tmp_path, *arguments, code=2)
    assert words in said and said.count("\n") <= 2, said
    assert not (tmp_path / "tournaments").exists()


@pytest.mark.parametrize(
    "more,words",
    [
        (
            'bots = [{ path = "@random", name = "R/D" }, "@random"]',
            "'R/D' cannot be a name: expected one without / and =",
        ),
        ('bots = [{ path = "@random", name = "" }, "@random"]', "'' cannot be a name"),
        ('bots = ["@random", "@random"]\nrounds = 0', "cup.toml: rounds=0: expected a number from 1 on"),
        (
            'bots = ["@random", "@random"]\nformat = "ladder"\ngames = -5',
            "cup.toml: games=-5: expected a number from 0",
        ),
        (
            'bots = ["@random", "@random"]\nexpel = 10000000000',
            "cup.toml: expel=10000000000: expected a number from 1 to",
        ),
        *(
            (
                f'bots = ["@random", "@random"]\n[[stages]]\nformat = "{format}"\nbots = 2\n{line} = -2',
                f"{line}=-2: exp",
            )
            for format, line in (("swiss", "rounds"), ("series", "first_to"))
        ),
        ('bots = ["@random", "@random"]\nfirst_to = -1', "cup.toml: first_to=-1: expected a number from 1 on"),
        (
            'bots = ["@random", "@random"]\n[limits]\ncall_time = "soon"',
            "cup.toml: [limits] call_time=soon: expected a time above zero",
        ),
        (
            'bots = ["@random", "@random"]\n[limits]\nprocesses = 0',
            "cup.toml: [limits] processes=0: expected a whole number from 1",
        ),
        (
            'bots = ["@random", "@random"]\n[limits]\nisolation = "high"',
            "cup.toml: [limits] isolation=high: expected off, auto, required",
        ),
        (
            'bots = ["@random", "@random"]\n[limits]\nreadable = "nowhere"',
            "nowhere: there is no such file or folder",
        ),
        (
            'bots = ["@random", "@random"]\n[limits]\nprocess = 5',
            "cup.toml: [limits] process: there is no limit 'process'; did you mean processes?",
        ),
        (
            'bots = ["@random", "@random"]\n[build]\ntime = 0',
            "cup.toml: [build] time=0: expected a time above zero",
        ),
    ],
)
def test_errors_in_a_file_are_one_line(more: str, words: str, tmp_path: Path) -> None:
    """A byte order mark, as some editors write it, is allowed."""
    (tmp_path / "cup.toml").write_text(f'\ufeffgame = "tictactoe"\n{more}\n')
    said = tournament(tmp_path, "cup.toml", code=2)
    assert words in said and said.count("\n") <= 2, said


def test_events_are_the_ledgers_lines(bots: list[str], tmp_path: Path) -> None:
    said = tournament(tmp_path, "--game", "tictactoe", *bots, "--events", "--ledger", tmp_path / "t")
    told = [msgspec.json.decode(line, type=ledger.Line) for line in said.splitlines() if line.startswith('{"k"')]
    assert {line.k: course(line) for line in told} == {key: course(line) for key, line in games(tmp_path / "t").items()}


def test_games_side_by_side_equal_those_one_after_the_other(bots: list[str], tmp_path: Path) -> None:
    start = ["--game", "tictactoe", *bots[:2], "--games", "9", "--swap", "--seed", "4", "--json", "--replay"]
    match = [*PLAYER, "play", *map(str, start)]
    outcomes = []
    for name, more in (("one", ["--jobs", "1"]), ("two", ["--jobs", "2"])):
        (tmp_path / name).mkdir()
        done = subprocess.run(
            [*match, tmp_path / name / "r.jsonl", *more], env=environment(tmp_path), capture_output=True, check=True
        )
        outcomes.append(msgspec.json.decode(done.stdout))
        assert len(list((tmp_path / name).glob("r-*.jsonl"))) == 9
    one, two = outcomes
    assert one["standings"] == two["standings"] and one["seed"] == two["seed"]
    assert [game["result"] for game in one["matches"]] == [game["result"] for game in two["matches"]]
    assert [game["seed"] for game in one["matches"]] == [game["seed"] for game in two["matches"]]
    assert [game["again"][:-2] for game in one["matches"]] == [game["again"][:-2] for game in two["matches"]]
    assert [[seat["name"] for seat in game["seats"]] for game in two["matches"][:2]] == [["ann", "bob"], ["bob", "ann"]]


def obey_interrupts() -> None:
    """A shell makes the children of a background job ignore interrupts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


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
    with subprocess.Popen(
        [*PLAYER, "play", *start, *options],
        cwd=tmp_path, env=environment(tmp_path), start_new_session=True, preexec_fn=obey_interrupts,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as run:  # fmt: skip
        assert run.stdout is not None
        told = run.stdout.readline()
        os.killpg(run.pid, signal.SIGINT)
        out, err = run.communicate(timeout=60)
    assert run.returncode == 130 and "(Tic-tac-toe, " in told
    assert "Tic-tac-toe: 1 game of 6, seed 1" in told + out
    assert err.count("\n") == 1


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


def test_the_same_command_continues(bots: list[str], tmp_path: Path) -> None:
    start = ["--game", "tictactoe", *bots[:2], "--ledger", tmp_path / "t"]
    tournament(tmp_path, *start, "--games", "2")
    for again in ([*start, "--games", "4"], ["--ledger", tmp_path / "t", "--games", "6"]):
        tournament(tmp_path, *again)
        assert len(games(tmp_path / "t")) == int(again[-1])
    tournament(tmp_path, *start, bots[2], "--games", "6")
    assert len(games(tmp_path / "t")) == 18
    tournament(tmp_path, tmp_path / "t", "--rounds", "3", code=2)
