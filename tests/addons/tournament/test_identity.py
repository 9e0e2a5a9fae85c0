"""A game's key depends on everything that can change its outcome, and nothing else."""

import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from contests import course, drawing_bot, games, tournament

from referee.addons.tournament.keys import Keys
from referee.addons.tournament.plan import Entry, Plan, read_plan
from referee.games.game import TimeControl
from referee.harness.isolation.plan import Isolation
from referee.harness.process.limits import Limits, OnNoise

OLD = {
    "tournament.toml": """
game = "tictactoe"
format = "round-robin"
seed = 3
time = { "initial_s" = 18.0, "increment_s" = 2.0, "per_call_s" = "none", "match_s" = "none", \
"opening_call_s" = "none", "closing_call_s" = "none" }
limits = { "startup_s" = 10.0, "memory_bytes" = 268435456, "cpu_s" = "none", "processes" = 256, \
"frame_bytes" = 1048576, "call_output_bytes" = 4194304, "stderr_bytes" = 1048576, "file_bytes" = 67108864, \
"scratch_bytes" = 67108864, "exit_s" = 1.0, "isolation" = { "mode" = "auto", "required" = [], "readable" = [], \
"writable" = [] }, "on_noise" = "charge", "pause" = false, "build_s" = 600.0, "build_memory_bytes" = 4294967296, \
"build_processes" = 1024, "build_network" = true }
encodings = ["json", "msgpack"]
version = 2
pairing = 2

[[bots]]
name = "ann"
ident = "5702d8fb87"
hash = "5702d8fb878024f5d7027c96a356f5d730d6af83565ddea3c950f13f91329a95"
bot = "cmd:PYTHON -I -S -B bots/ann.py"
cwd = "FOLDER"

[[bots]]
name = "bob"
ident = "16c99e0be9"
hash = "16c99e0be93a00c1ccc09a18cf566d85a50d77e5298708e13eef7a47096bbaea"
bot = "cmd:PYTHON -I -S -B bots/bob.py"
cwd = "FOLDER"
""",
    "ledger/20260101T000000-vm-1.jsonl": """\
{"ledger":1,"host":"vm","at":1795547219.9304795,"plan":{"game":"tictactoe","seed":3}}
{"k":"0e278f56/16c99e0be9-5702d8fb87/0/0","b":["16c99e0be9","5702d8fb87"],"s":5510461263444270,"r":[2,1],\
"p":[0.0,1.0],"why":"X_WIN","t":8,"ms":541,"w":[821,477],"c":[24969,29820],"a":"d162276579f247d1",\
"at":1795547221.019143,"by":"vm:0"}
{"k":"0e278f56/16c99e0be9-5702d8fb87/0/1","b":["5702d8fb87","16c99e0be9"],"s":5510461263444270,"r":[1,2],\
"p":[1.0,0.0],"why":"O_WIN","t":9,"ms":549,"w":[1084,423],"c":[29839,29977],"a":"0973c1d6dbad7995",\
"at":1795547221.034803,"by":"vm:1"}
""",
}
"""A folder of an earlier version of the referee, with default limits."""

BOTS = tuple(Entry(name, name * 10, name * 64, "@random") for name in "ab")
DEFAULT = Plan("tictactoe", "round-robin", 5, BOTS)


def first_game(plan: Plan) -> tuple[str, int]:
    """Returns the key and the seed of a plan's first game."""
    keys = Keys(plan)
    scheduled_game = next(iter(plan.scheduled_games({})))
    assert scheduled_game is not None
    return keys.key(scheduled_game), keys.seed(scheduled_game)


@pytest.mark.parametrize(
    "limits,conditions,seed",
    [
        ({}, "c3acdff3", 1297009716046327),
        ({"memory_bytes": 1 << 30}, "f707ff7d", 8258640428291095),
        ({"isolation": Isolation("off")}, "37eab31e", 7800754747430360),
        ({"isolation": Isolation("required", (("files", None),))}, "34290481", 7625450178466045),
        ({"pause": True, "on_noise": OnNoise.REPLAY}, "cf73c6dd", 6610879087768679),
    ],
)
def test_keys_and_seeds_are_those_of_earlier_versions(limits: dict[str, Any], conditions: str, seed: int) -> None:
    plan = DEFAULT.replaced(limits=Limits(**limits))
    assert first_game(plan) == (f"{conditions}/aaaaaaaaaa-bbbbbbbbbb/0/0", seed)


DECIDING: dict[str, Any] = dict.fromkeys(("startup_s", "cpu_s"), 9.0)
DECIDING |= dict.fromkeys(("fuel", "frame_bytes", "call_output_bytes"), 9)
DECIDING |= dict.fromkeys(("memory_bytes", "processes", "file_bytes", "scratch_bytes"))
DECIDING |= {"isolation": Isolation("off"), "on_noise": OnNoise.FORGIVE, "model_clock": True, "pause": True}
NEUTRAL: dict[str, Any] = {"stderr_bytes": 9, "exit_s": 9.0, "build_s": 9.0, "build_network": False}
NEUTRAL |= dict.fromkeys(("build_memory_bytes", "build_processes", "build_disk_bytes"))


def test_every_limit_is_in_the_key_or_changes_no_outcome() -> None:
    assert {*DECIDING, *NEUTRAL} == set(Limits.__struct_fields__)
    for name, value in DECIDING.items():
        assert first_game(DEFAULT.replaced(limits=Limits(**{name: value}))) != first_game(DEFAULT), name
    for name, value in NEUTRAL.items():
        assert first_game(DEFAULT.replaced(limits=Limits(**{name: value}))) == first_game(DEFAULT), name
    visible = Limits(isolation=Isolation(readable=("/opt/books",)))
    assert first_game(DEFAULT.replaced(limits=visible)) == first_game(DEFAULT)


@pytest.mark.parametrize("name", TimeControl.__struct_fields__)
def test_every_limit_of_time_is_in_the_key(name: str) -> None:
    time = msgspec.structs.replace(TimeControl(), **{name: 9.0})
    assert first_game(DEFAULT.replaced(time=time)) != first_game(DEFAULT)


def test_a_ledger_of_an_earlier_version_goes_on(tmp_path: Path) -> None:
    for salt, name in enumerate(("ann", "bob")):
        drawing_bot(tmp_path / "bots", name, salt)
    folder = tmp_path / "t"
    for file, text in OLD.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text.replace("PYTHON", sys.executable).replace("FOLDER", str(tmp_path)))
    before, plan = games(folder), folder / "tournament.toml"
    plan.write_text((kept := plan.read_text()).replace("pairing = 2\n", ""))
    assert "pairs otherwise wrote this plan; begin a new tournament" in tournament(tmp_path, folder, code=2)
    plan.write_text(kept)
    tournament(tmp_path, "--ledger", folder, "--games", "4")
    after = games(folder)
    assert len(after) == 4 and before.items() <= after.items()
    assert len({key.partition("/")[0] for key in after}) == 1


def test_shards_of_two_machines_with_other_paths_and_build_limits_merge(tmp_path: Path) -> None:
    bots = [drawing_bot(tmp_path / "bots", name, salt) for salt, name in enumerate(("ann", "bob"))]
    start = ["--game", "tictactoe", *bots, "--games", "4", "--seed", "3"]
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    tournament(tmp_path, *start, "--ledger", tmp_path / "here")
    tournament(tmp_path, *start, "--limit", "readable=one", "--ledger", tmp_path / "part1", "--shard", "1/2")
    more = ["--limit", "readable=two", "--build", "time=20m", "--build", "memory=8GiB"]
    tournament(tmp_path, *start, *more, "--ledger", tmp_path / "part2", "--shard", "2/2")
    tournament(tmp_path, "merge", tmp_path / "whole", tmp_path / "part1", tmp_path / "part2")
    expected, merged = games(tmp_path / "here"), games(tmp_path / "whole")
    assert len(merged) == 4
    assert {key: course(line) for key, line in merged.items()} == {key: course(line) for key, line in expected.items()}


def test_a_tournament_goes_on_with_other_limits_that_change_no_outcome(tmp_path: Path) -> None:
    bots = [drawing_bot(tmp_path / "bots", name, salt) for salt, name in enumerate(("ann", "bob"))]
    start = ["--game", "tictactoe", *bots, "--seed", "3", "--ledger", tmp_path / "t"]
    tournament(tmp_path, *start)
    before = games(tmp_path / "t")
    (tmp_path / "books").mkdir()
    more = ["--build", "time=20m", "--build", "offline=true"]
    more += [word for limit in ("stderr=2MiB", "exit_time=3s", "readable=books") for word in ("--limit", limit)]
    tournament(tmp_path, *start, *more, "--games", "4")
    after = games(tmp_path / "t")
    assert len(after) == 4 and before.items() <= after.items()
    limits = read_plan(tmp_path / "t" / "tournament.toml").limits
    assert (limits.build_s, limits.build_network, limits.stderr_bytes, limits.exit_s) == (1200, False, 2 << 20, 3)
    assert limits.isolation.readable == (str(tmp_path / "books"),)
    said = tournament(tmp_path, *start, "--isolation", "off", "--games", "4", code=2)
    assert "limit isolation is " in said
