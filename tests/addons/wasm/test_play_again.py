"""Proof of play: `referee replay verify --play` finds every altered answer, count and program."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from modules import SPIN, bot, saved

from referee.addons.wasm import runner
from referee.addons.wasm.kept_modules import kept_module
from referee.harness.cli.main import main

pytestmark = pytest.mark.slow

TOKEN = '{"action":"putToken","column":"C"}'
RANDOM = """(drop (call $random_get (i32.const 512) (i32.const 1)))
    (local.set $i (i32.add (i32.load8_u (i32.const 512)) (i32.const 1)))
    (loop $more (local.set $i (i32.sub (local.get $i) (i32.const 1))) (br_if $more (local.get $i)))"""
"""Computes for as long as a random byte says."""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a match of a metered bot against `@random`, with the module next to it."""
    return played(tmp_path_factory.mktemp("recorded")).parent


@pytest.fixture
def replay(recorded: Path, tmp_path: Path) -> Path:
    """A copy of that match, which a test may alter."""
    return Path(shutil.copytree(recorded, tmp_path, dirs_exist_ok=True)) / "match.jsonl"


def played(folder: Path, *options: str) -> Path:
    module, file = saved(folder, "mine", bot(TOKEN, RANDOM)), folder / "match.jsonl"
    words = ["--game", "connectfour", str(module), "@random", "--seed", "1", "--replay", str(file), "--keep-bots"]
    assert main([*words, *options]) == 0
    return file


def verify(replay: Path, *words: str) -> int:
    return main(["replay", "verify", str(replay), *words, "--play"])


@pytest.mark.parametrize("engine", ["wasmtime", "pulley"])
def test_a_match_is_the_same_by_both_engines(replay: Path, engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify(replay, "--engine", engine) == 0
    assert "played again by mine: 4 calls with the same answers and fuel" in " ".join(capsys.readouterr().out.split())


def test_an_engine_needs_play(replay: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "verify", str(replay), "--engine", "pulley"]) == 2
    assert "--engine pulley needs --play" in capsys.readouterr().err


def altered(replay: Path, start: str, change: Callable[[dict[str, Any]], None]) -> None:
    """Changes the first line that begins so."""
    lines = replay.read_text().splitlines()
    place = next(place for place, line in enumerate(lines) if line.startswith(start))
    line = json.loads(lines[place])
    change(line)
    lines[place] = json.dumps(line, separators=(",", ":"))
    replay.write_text("\n".join([*lines, ""]))


def test_a_replay_shows_the_limit_of_fuel_by_its_own_rate(replay: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def change(line: dict[str, Any]) -> None:
        line["limits"]["fuel"] = 10**9
        line["metered"]["0"]["fuel_per_ms"] = 10**8

    altered(replay, '{"replay":', change)
    capsys.readouterr()
    assert main(["replay", "show", str(replay), "--calls"]) == 0
    assert '"call_ms":10,' in "".join(capsys.readouterr().out.split())


def test_a_replay_without_a_rate_of_fuel_is_refused(replay: Path, capsys: pytest.CaptureFixture[str]) -> None:
    altered(replay, '{"replay":', lambda line: line["metered"]["0"].update(fuel_per_ms=0))
    assert main(["replay", "show", str(replay), "--calls"]) == 2
    assert "Expected `int` >= 1 - at `$.metered[...].fuel_per_ms`" in " ".join(capsys.readouterr().err.split())


def test_a_replay_gives_a_module_no_more_memory_than_the_user_accepts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = played(tmp_path, "--memory", "2G")
    assert verify(file) == 2
    assert "allows its bots memory 2048.0 MiB; expected at most 1024.0 MiB" in " ".join(capsys.readouterr().err.split())
    assert verify(file, "--recorded-limits") == 0


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda line: line["metered"].update({"9": line["metered"]["0"]}), "names seat 9; the seats are 0 to 1"),
        (lambda line: line["metered"].update({"-1": line["metered"]["0"]}), "names seat -1; the seats are 0 to 1"),
        (lambda line: line.update(people=[2]), "names seat 2; the seats are 0 to 1"),
        (lambda line: line.update(functions=[2]), "names seat 2; the seats are 0 to 1"),
        (lambda line: line.update(commands=[]), "has no command of seat 0, which `metered` names"),
        (lambda line: line.update(encodings=["morse"]), "Invalid enum value 'morse'"),
    ],
)
def test_a_header_that_names_what_there_is_not_is_refused(
    replay: Path, change: Callable[[dict[str, Any]], None], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    altered(replay, '{"replay":', change)
    assert verify(replay) == 2
    assert problem in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("start", "change", "words"),
    [
        ('{"turn":1,', lambda line: line["fuel"].update({"0": 1}), "line 3: fuel of seat 0"),
        ('{"turn":1,', lambda line: line["wall_us"].update({"0": 1}), "line 3: time of seat 0"),
        ('{"result":', lambda line: line["seats"][0].update(fuel=1), "fuel of seat 0"),
        ('{"replay":', lambda line: line["setup"].update(seed=2), "line 2:"),
        ('{"replay":', lambda line: line["time"].update(initial_s=5.0), "fuel of seat 0"),
        ('{"replay":', lambda line: line["metered"]["0"].update(sha256="0" * 64), "line 1: the module of mine"),
    ],
    ids=["fuel", "time", "sum of fuel", "seed", "bank", "module's hash"],
)
def test_an_altered_replay_is_found(
    replay: Path, start: str, change: Callable[[dict[str, Any]], None], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    altered(replay, start, change)
    assert verify(replay) == 1
    assert words in " ".join(capsys.readouterr().out.split())


def test_a_replay_of_other_prices_is_refused(replay: Path, capsys: pytest.CaptureFixture[str]) -> None:
    altered(replay, '{"replay":', lambda line: line["metered"]["0"].update(prices=1))
    assert verify(replay) == 2
    assert "fuel had other prices then (1; now 3)" in " ".join(capsys.readouterr().err.split())


def test_a_replay_of_earlier_prices_is_played_again_by_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its fuel is another than today's: version 2 had no price of functions and loops."""
    monkeypatch.setattr(runner.command, "__defaults__", ((), "", 2))
    file = played(tmp_path)
    monkeypatch.undo()
    assert json.loads(file.read_text().splitlines()[0])["metered"]["0"]["prices"] == 2
    for engine in ("wasmtime", "pulley"):
        assert verify(file, "--engine", engine) == 0
    altered(file, '{"replay":', lambda line: line["metered"]["0"].update(prices=3))
    assert verify(file) == 1
    assert "fuel of seat 0" in " ".join(capsys.readouterr().out.split())


def test_another_answer_is_found(replay: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A replay with the answers of another bot verifies by the rules, but not as played."""
    other = tmp_path / "other.jsonl"
    module = saved(tmp_path, "other", bot(TOKEN.replace("C", "D"), RANDOM))
    main(["--game", "connectfour", str(module), "@random", "--seed", "1", "--replay", str(other)])
    hash_of_mine = json.loads(replay.read_text().splitlines()[0])["metered"]["0"]["sha256"]
    altered(other, '{"replay":', lambda line: line["metered"]["0"].update(sha256=hash_of_mine))
    assert main(["replay", "verify", str(other), str(kept_module(replay, 0)), "--play"]) == 1
    assert "answer of seat 0" in " ".join(capsys.readouterr().out.split())


def test_an_altered_module_is_found(replay: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept_module(replay, 0).write_bytes(bot(TOKEN))
    assert verify(replay) == 1
    assert "line 1: the module of mine (seat 0) has the SHA-256" in " ".join(capsys.readouterr().out.split())


def test_a_time_out_is_played_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module, file = saved(tmp_path, "slow", bot(TOKEN, SPIN)), tmp_path / "match.jsonl"
    main(["--game", "connectfour", str(module), "@random", "--call-time", "50ms", "--replay", str(file)])
    assert verify(file) == 0
    altered(file, '{"result":', lambda line: line["faults"][0].update(detail="call 1 used up its 5 units of fuel"))
    assert main(["replay", "verify", str(file), "--play"]) == 1


def test_a_match_without_a_metered_bot_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "match.jsonl"
    main(["--game", "connectfour", "@random", "@random", "--replay", str(file)])
    assert verify(file) == 2
    assert "no bot was metered, so no other run must give the same match" in capsys.readouterr().err


def test_a_missing_module_is_asked_for(replay: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept_module(replay, 0).unlink()
    altered(replay, '{"replay":', lambda line: line["commands"][0].__setitem__(-1, "/tmp/elsewhere/bot.compiled"))
    assert verify(replay) == 2
    assert "name the modules of the metered seats after the replay" in capsys.readouterr().err
    assert verify(replay, str(replay.parent / "mine.wasm")) == 0


@pytest.mark.parametrize("module", [".", "missing.wasm"])
def test_a_module_that_is_no_file_is_refused_in_a_line(
    module: str, replay: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(replay.parent)
    assert verify(replay, module) == 2
    assert f"{module}: there is no such file; expected the module" in capsys.readouterr().err


def test_a_module_of_an_older_match_is_removed(replay: Path) -> None:
    """`replay verify --play` would play it."""
    assert kept_module(replay, 0).exists()
    assert main(["--game", "connectfour", "@random", "@random", "--replay", str(replay)]) == 0
    assert not kept_module(replay, 0).exists()


def test_names_in_a_module_are_printable(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    marks = "\u202e\x9b\x7f\U000e0001"
    name = '$"x{}y"'.format("".join(f"\\u{{{ord(mark):x}}}" for mark in marks))
    module = saved(tmp_path, "mine", bot("1", f"(call {name})", functions=f"(func {name} unreachable)"))
    file = tmp_path / "match.jsonl"
    assert main(["--game", "connectfour", str(module), "@random", "--replay", str(file), "--json"]) == 0
    assert not set(marks) & set(capsys.readouterr().out + file.read_text())


def test_a_match_with_chaos_is_played_again_with_chaos(tmp_path: Path) -> None:
    """Other bytes cost other fuel."""
    module, file = saved(tmp_path, "mine", bot(TOKEN, RANDOM)), tmp_path / "match.jsonl"
    words = ["--game", "connectfour", str(module), "@random", "--seed", "1", "--replay", str(file), "--chaos"]
    assert main([*words, "--keep-bots"]) == 0
    assert verify(file) == 0


@pytest.mark.parametrize("seats", [("1=another_name=@random",), ("0=longer=other.wasm", "1=x=@random")])
def test_a_fork_is_played_again_from_where_it_began(
    replay: Path, seats: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The module may be told other names than in the first match, and may not be the one that played there."""
    monkeypatch.chdir(replay.parent)
    saved(replay.parent, "other", bot(TOKEN.replace("C", "D"), RANDOM))
    words = ["fork", str(replay), "--turn", "3", "--replay", "fork.jsonl", "--recorded"]
    assert main([*words, *(word for seat in seats for word in ("--seat", seat))]) == 0
    assert verify(Path("fork.jsonl")) == 0
    altered(Path("fork.jsonl"), '{"turn":5,', lambda line: line["fuel"].update({"0": 1}))
    assert verify(Path("fork.jsonl")) == 1
    assert "fuel of seat 0" in capsys.readouterr().out
