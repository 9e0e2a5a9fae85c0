"""Games whose rules are a program: SPEC.md, 18 to 31."""

import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import modules
import msgspec
import pytest
import trio
from jinja2.exceptions import SecurityError
from rules_games import COUNTDOWN, SERVE, STEADY, write_game
from scripted import PREAMBLE

from referee.addons.llm.prompts import Prompts
from referee.addons.rules.program import request_frame
from referee.addons.rules.source import SOURCE, VARIABLE
from referee.addons.web.page import painters
from referee.games import registry
from referee.games.contract import Fault, FaultKind, Notice, Result, Ruling, Setup
from referee.games.dice import Dice
from referee.games.game import Game
from referee.games.schemas import game_schema
from referee.harness.cli.main import main
from referee.harness.common.errors import RunError, UsageError
from referee.harness.process.stall_clock import stall_clock
from referee.protocol.messages import Encoding
from referee.tools.kits.files import LANGUAGES, binding_files
from referee.tools.kits.shapes import Binding
from referee.tools.schemas import dump

pytestmark = pytest.mark.slow


STEP_SAYS = """
steady = step
def step(position, **rest):
    sys.stderr.write(f'{position} left\\n')
    sys.stderr.flush()
    return steady(position, **rest)
"""


def countdown(tmp_path: Path, encoding: str = "json") -> Game:
    folder = tmp_path / "countdown"
    folder.mkdir()
    for file in COUNTDOWN.iterdir():
        if file.is_file():
            text = file.read_text().replace('"countdown.py"]', f'"countdown.py", "{encoding}"]')
            (folder / file.name).write_text(text.replace('"python3"', json.dumps(sys.executable)))
    return registry.in_folder(str(folder))


def begun(game: Game, seed: int = 7, **options: Any) -> Any:
    return game.new(Setup(seed, ("a", "b"), game.options(**options)))


@pytest.mark.parametrize("encoding", Encoding)
def test_a_match_follows_from_options_luck_and_answers(tmp_path: Path, encoding: Encoding) -> None:
    game = countdown(tmp_path, encoding.value)
    state = begun(game, **{"from": 4})
    assert [event.method for event in state.opening()] == ["began"]
    assert list(state.legal(0)) == [1, 2, 3]
    assert state.apply({0: 3}) == [Notice("taken", _taken(game, 0, 3), (0, 1))]
    assert state.calls()[0].params.left == 1
    state.apply({1: 1})
    assert state.result == Result((2, 1), (0.0, 1.0), "last")
    assert not state.awaited


def _taken(game: Game, seat: int, count: int) -> Any:
    return game.methods["taken"].params(seat, count)


def test_both_encodings_lead_to_the_same_keys(tmp_path: Path) -> None:
    keys = []
    for encoding in Encoding:
        (tmp_path / encoding).mkdir()
        state = begun(countdown(tmp_path / encoding, encoding.value))
        keys.append([state.key()])
        while state.awaited:
            (player,) = state.awaited
            state.apply({player: state.sample(player, Dice(5))})
            keys[-1].append(state.key())
        SOURCE.forget()
    assert keys[0] == keys[1]


def test_luck_decides_what_the_options_leave_open(tmp_path: Path) -> None:
    game = countdown(tmp_path)
    assert len({str(begun(game, seed)) for seed in range(20)}) > 3
    assert begun(game, 5).key() == begun(game, 5).key()


def test_copies_pickles_and_positions_from_views_go_on_alike(tmp_path: Path) -> None:
    game = countdown(tmp_path)
    state = begun(game)
    state.apply({0: 1})
    view = msgspec.json.decode(msgspec.json.encode(state.view(None)))
    twins = [state.copy(), pickle.loads(pickle.dumps(state)), game.position(state.setup, view)]
    for twin in twins:
        assert twin.key() == state.key()
        twin.apply({1: 2})
    state.apply({1: 2})
    assert {twin.key() for twin in twins} == {state.key()}


def test_an_answer_is_typed_strictly_and_judged_by_the_rules(tmp_path: Path) -> None:
    state = begun(countdown(tmp_path), **{"from": 7})
    before = state.key()
    assert state.check(0, 2) is None
    for answer in ("2", 2.0, True, None, [2]):
        fault = state.check(0, answer)
        assert fault is not None and fault.kind is FaultKind.ILLEGAL and fault.answer is answer
    assert state.check(0, 4) == Fault(FaultKind.ILLEGAL, "cannot take 4 of 7; expected 1 to 3", 4)
    assert state.key() == before
    (ruling,) = state.apply({0: 4})
    assert ruling == Ruling(0, Fault(FaultKind.ILLEGAL, "cannot take 4 of 7; expected 1 to 3", 4), "loses")


def test_a_fault_reaches_the_rules_and_a_dead_bot_is_out(tmp_path: Path) -> None:
    game = countdown(tmp_path)
    for kind in (FaultKind.TIMEOUT, FaultKind.CRASH):
        state = begun(game)
        (ruling,) = state.apply({0: Fault(kind, "why")})
        assert ruling == Ruling(0, Fault(kind, "why"), "loses", kind is FaultKind.CRASH)
        assert state.result == Result((2, 1), (0.0, 1.0), kind.value)


def test_without_requests_of_its_own_a_forfeit_loses_and_a_stop_is_a_draw(tmp_path: Path) -> None:
    game = countdown(tmp_path)
    state = begun(game)
    assert state.forfeit({1: Fault(FaultKind.CRASH, "gone")}) == [
        Ruling(1, Fault(FaultKind.CRASH, "gone"), "loses", True)
    ]
    assert state.result == Result((1, 2), (1.0, 0.0), "crash")
    state = begun(game)
    state.stop("enough")
    assert state.result == Result((1, 1), (0.5, 0.5), "enough")


def test_options_that_the_rules_refuse_are_the_users_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    game = countdown(tmp_path)
    with pytest.raises(ValueError, match="from is 1001; expected 0 to 1000"):
        begun(game, **{"from": 1001})
    monkeypatch.chdir(tmp_path)
    assert main(["--game", "./countdown", "@random", "@random", "--set", "from=1001"]) == 2
    assert "options of countdown: from is 1001; expected 0 to 1000" in capsys.readouterr().err


def test_the_bytes_of_a_request_are_those_of_the_vectors() -> None:
    for path in (COUNTDOWN.parents[3] / "protocol" / "vectors" / "rules").glob("*.json"):
        vector = json.loads(path.read_text("utf-8"))
        asked = vector["request"]
        frame = request_frame(Encoding.JSON, asked["id"], asked["method"], asked["params"])
        assert frame == vector["request_frame"]["json"].encode()
        if packed := vector["request_frame"].get("msgpack"):
            assert request_frame(Encoding.MSGPACK, asked["id"], asked["method"], asked["params"]).hex() == packed


# What rules may not do: a match ends without a result, and nobody has lost.


WRONG = {
    "a position of more than 1 MiB": ("awaits('x' * (1 << 20))", "the position has 1,048,578 bytes"),
    "no calls and no result": ("{'position': 1, 'calls': {}}", "nobody, and there is no result"),
    "a seat that is not there": ("awaits(1, 2)", 'it names seat "2"'),
    "a method that is not there": ("{'position': 1, 'calls': {'0': {'method': 'jump'}}}", 'it calls "jump"'),
    "a member that is not there": ("awaits(1, notice=[])", "unknown field `notice`"),
    "a notice that is not there": ("awaits(1, notices=[{'method': 'boo'}])", 'it sends "boo"'),
    "ranks for three": ("over(1, (1, 2, 2))", "the result has 3 ranks; expected 2"),
    "nobody first": ("over(1, (2, 2))", "the ranks are [2, 2]"),
    "a ruling about nobody": (
        "awaits(1, rulings=[{'seat': 1, 'penalty': 'x', 'detail': 'y'}])",
        "which gave no answer",
    ),
    "two rulings": ("awaits(1, rulings=[{'seat': 0, 'penalty': 'x', 'detail': 'y'}] * 2)", "two rulings about seat 0"),
    "no position": ("{'calls': {}}", "missing required field `position`"),
    "a list": ("[]", "Expected `object`, got `array`"),
    "a number beyond 64 bits": ("awaits(1 << 70)", "beyond -2^63 .. 2^64-1"),
    "a deep position": ("awaits(json.loads('[' * 300 + ']' * 300))", "nested deeper than 256 levels"),
}


def test_an_option_may_have_a_list_as_its_default(tmp_path: Path) -> None:
    numbers = {"type": "array", "items": {"type": "integer"}, "default": [1, 2]}
    game = registry.in_folder(str(write_game(tmp_path / "small", STEADY + SERVE, options={"numbers": numbers})))
    assert game.options().numbers == (1, 2) and begun(game).awaited


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_turn_ends_the_match_as_a_failed_run(tmp_path: Path, name: str) -> None:
    turn, words = WRONG[name]
    program = (
        STEADY
        + f"""
ruling = {{"seat": 0, "penalty": "x", "detail": "y"}}
def step(position, answers, faults, luck):
    return {turn}
"""
        + SERVE
    )
    game = registry.in_folder(str(write_game(tmp_path / "small", program)))
    state = begun(game)
    with pytest.raises(RunError, match="the rules of small failed in step: ") as caught:
        state.apply({0: 3})
    assert words in str(caught.value)
    again = begun(game)  # the next match starts the program anew
    assert again.awaited and list(again.legal(0)) == [3]


def test_a_fault_without_a_ruling_is_a_bug_of_the_rules(tmp_path: Path) -> None:
    program = STEADY + "\ndef step(position, answers, faults, luck):\n    return awaits(1)\n" + SERVE
    state = begun(registry.in_folder(str(write_game(tmp_path / "small", program))))
    with pytest.raises(RunError, match="there is no ruling about the fault of seat 0"):
        state.apply({0: Fault(FaultKind.TIMEOUT, "late")})


def test_an_answer_that_is_huge_or_deep_never_reaches_the_rules(tmp_path: Path) -> None:
    methods = {"move": {"doc": "Move.", "result": {}}}
    program = STEADY + "\ndef step(position, answers, faults, luck):\n    return over(1, rulings=["
    program += "{'seat': 0, 'penalty': json.dumps(faults)[:200]}])\n" + SERVE
    game = registry.in_folder(str(write_game(tmp_path / "small", program, methods=methods)))
    for answer, words in (
        ("x" * 70_000, "more than 65,536 bytes"),
        (json.loads("[" * 80 + "]" * 80), "deeper than 64"),
    ):
        (ruling,) = begun(game).apply({0: answer})
        assert words in ruling.fault.detail
        assert '"answer": null' in ruling.penalty


def test_a_program_that_crashes_is_named_with_its_last_line(tmp_path: Path) -> None:
    program = (
        STEADY + "\ndef step(**_):\n    print('no ant left', file=sys.stderr, flush=True)\n    os._exit(3)\n" + SERVE
    )
    state = begun(registry.in_folder(str(write_game(tmp_path / "small", program))))
    with pytest.raises(RunError, match=r"failed in step: exited with code 3.*no ant left"):
        state.apply({0: 3})


def test_standard_error_of_rules_is_kept_next_to_the_replay_and_a_failure_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = STEADY + STEP_SAYS + SERVE
    write_game(tmp_path / "small", program)
    monkeypatch.chdir(tmp_path)
    words = ["--game", "./small", "@random", "@random", "--seed", "7", "--replay"]
    assert main([*words, "a.jsonl"]) == 0
    assert main([*words, "b.jsonl"]) == 0
    for name in "ab":  # one process, and a file for each match
        assert Path(f"{name}.rules.stderr").read_text() == "3 left\n2 left\n1 left\n0 left\n"
    SOURCE.forget()
    hangs = "    position or time.sleep(99)\n    sys.stderr.write("
    write_game(tmp_path / "small", program.replace("    sys.stderr.write(", hangs))
    monkeypatch.setattr("referee.addons.rules.program.CALL_S", 1.0)
    assert main([*words, "b.jsonl"]) == 3
    assert "no answer within 1 s; see b.rules.stderr" in " ".join(capsys.readouterr().err.split())
    assert "see b.rules.stderr" in json.loads(Path("b.jsonl").read_text().splitlines()[-1])["aborted"]
    assert Path("b.rules.stderr").read_text() == "3 left\n2 left\n1 left\n"
    SOURCE.forget()
    write_game(tmp_path / "small", STEADY + SERVE)
    assert main([*words, "b.jsonl"]) == 0
    assert not Path("b.rules.stderr").exists(), "a match that writes nothing leaves no file of an earlier one"


def test_standard_error_of_rules_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noise = "sys.stderr.write('x' * (1 << 19) + '\\n')"
    write_game(tmp_path / "small", STEADY + STEP_SAYS.replace("sys.stderr.write(f'{position} left\\n')", noise) + SERVE)
    monkeypatch.chdir(tmp_path)
    assert main(["--game", "./small", "@random", "@random", "--seed", "7", "--replay", "a.jsonl"]) == 0
    assert Path("a.rules.stderr").stat().st_size == 1 << 20


# Files of strangers.


UNION = {
    "anyOf": [{"type": "object", "title": name, "properties": {}} for name in "AB"],
    "discriminator": {"mapping": 3},
}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "Small"}, "name is 'Small'; expected lower-case letters"),
        ({"name": "tictactoe"}, "which is the name of another game"),
        ({"seats": [0, 2]}, "seats is [0, 2]"),
        ({"colour": "red"}, "there is no key 'colour'; the keys are "),
        ({"painter": "../painter.js"}, "painter is '../painter.js', which leads out of the game's folder"),
        ({"rules_page": "rules.md"}, "which is not there"),
        ({"options": {"width": {"type": "integer"}}}, "options.width has no default"),
        (
            {"options": {"width": {"type": "integer", "maximum": 3, "default": 4}}},
            "the default does not fit: Expected `int` <= 3",
        ),
        (
            {"methods": {"move": {"doc": "", "result": {"type": "string", "pattern": "(a+)+$"}}}},
            "pattern is no keyword",
        ),
        ({"methods": {"move": {"doc": "", "params": "/etc/passwd"}}}, "leads out of the game's folder"),
        ({"methods": {"move": {"doc": "", "params": {"type": "integer"}}}}, "expected a schema with type object"),
        ({"methods": {"exit": {"doc": ""}}}, "exit is a name of the protocol"),
        ({"time": {"call": "soon"}}, "time.call is 'soon'"),
        ({"methods": {"move": {"doc": "", "result": UNION}}}, "expected propertyName, and a mapping to the $ref"),
        ({"title": "a \x1b[31mred game"}, r"the text 'a \x1b[31mred game' has a control character"),
        ({"methods": {"move": {"doc": "", "result": {"description": "\u202e"}}}}, r"the text '\u202e' has a control"),
    ],
)
def test_a_wrong_game_file_is_refused_in_a_line(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    folder = write_game(tmp_path / "small", STEADY + SERVE, **{"name": "small", **change})
    with pytest.raises(UsageError) as caught:
        registry.in_folder(str(folder))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_schema_that_contains_itself_is_refused(tmp_path: Path) -> None:
    folder = write_game(tmp_path / "small", STEADY, methods={"move": {"doc": "", "params": "types.json#/$defs/A"}})
    tree = {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}}
    (folder / "types.json").write_text(json.dumps({"$defs": {"A": tree}}))
    with pytest.raises(UsageError, match="A contains itself"):
        registry.in_folder(str(folder))


# Folders and names.


def test_a_replay_names_the_files_of_the_rules_and_never_where_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    game = countdown(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["--game", "./countdown", "@random", "@random", "--seed", "7"]) == 0
    (replay,) = (tmp_path / "replays").glob("*.jsonl")
    header = json.loads(replay.read_text().splitlines()[0])
    assert (header["game"], header["game_version"], header["game_sha256"]) == ("countdown", 1, game.sha256)
    assert str(tmp_path / "countdown") not in replay.read_text()
    SOURCE.forget()
    assert main(["replay", "verify", str(replay)]) == 2
    assert "name its folder with --game" in capsys.readouterr().err
    assert main(["replay", "verify", str(replay), "--game", "countdown"]) == 0
    SOURCE.forget()
    (tmp_path / "countdown" / "notes.txt").write_text("another file")
    assert main(["replay", "verify", str(replay), "--game", "countdown"]) == 0
    assert "files differ" in capsys.readouterr().out.replace("\n", " ")


def test_what_is_played_in_the_folder_of_a_game_does_not_change_the_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_game(tmp_path / "small", STEADY + SERVE)
    monkeypatch.chdir(tmp_path / "small")
    assert main(["--game", ".", "@random", "@random", "--seed", "7"]) == 0
    assert main(["tournament", "run", "--game", ".", "@random", "@random", "--seed", "7"]) == 0
    assert Path("replays/small.jsonl").exists() and list(Path("tournaments").iterdir())
    SOURCE.forget()
    assert main(["games", "install", "."]) == 0
    assert main(["replay", "verify", "replays/small.jsonl"]) == 0
    assert "whose files differ" not in capsys.readouterr().out
    assert {path.name for path in (tmp_path / "data/referee/games/small").iterdir()} == {"game.toml", "rules.py"}


def test_only_a_game_with_a_page_of_rules_is_said_to_have_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_game(tmp_path / "small", STEADY + SERVE)
    assert main(["games", str(folder)]) == 0
    assert "referee rules" not in capsys.readouterr().out


def test_a_fork_goes_on_with_the_rules_that_the_user_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    countdown(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["--game", "./countdown", "@random", "@random", "--seed", "7", "--replay", "a.jsonl"]) == 0
    SOURCE.forget()
    seats = ["--seat", "0=@random", "--seat", "1=@random"]
    words = ["fork", "a.jsonl", "--turn", "2", *seats, "--replay", "b.jsonl"]
    assert main(words) == 2
    assert main([*words, "--game", "countdown"]) == 0
    assert main(["replay", "verify", "b.jsonl"]) == 0


def test_no_file_names_rules_by_their_path(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A replay and a bot's bot.toml come from strangers."""
    game = countdown(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["--game", "./countdown", "@random", "@random", "--seed", "7", "--replay", "a.jsonl"]) == 0
    SOURCE.forget()
    for name in ("./countdown", str(tmp_path / "countdown"), "../countdown", "countdown/"):
        replay = Path("a.jsonl").read_text().replace('"game":"countdown"', f'"game":{json.dumps(name)}')
        Path("b.jsonl").write_text(replay)
        assert main(["replay", "verify", "b.jsonl"]) == 2
        (tmp_path / "bot").mkdir(exist_ok=True)
        (tmp_path / "bot" / "bot.toml").write_text(f'run = ["true"]\ngame = {json.dumps(name)}\n')
        assert main(["play", "./bot", "./bot"]) == 2
        assert "unknown game" in capsys.readouterr().err
    assert not SOURCE.names() and game.name == "countdown"


@pytest.mark.slow
def test_workers_and_tournaments_play_a_game_that_was_named_by_its_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    countdown(tmp_path)
    monkeypatch.chdir(tmp_path)
    bots = ["@random", "other=@random"]
    assert main(["--game", "./countdown", *bots, "--games", "4", "--jobs", "2", "--seed", "7"]) == 0
    words = ["tournament", "run", *bots, "--game", "./countdown", "--games", "4", "--jobs", "2", "--ledger", "t"]
    assert main(words) == 0
    SOURCE.forget()
    assert main(["games", "install", "./countdown"]) == 0
    assert main(["tournament", "verify", "t"]) == 0
    assert "4 games verified, 0 differ" in capsys.readouterr().out


def test_a_command_that_repeats_a_match_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    countdown(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["--game", "./countdown", "@random", "@random", "--seed", "7", "--replay", "a.jsonl"]) == 0
    header = json.loads(Path("a.jsonl").read_text().splitlines()[0])
    assert header["again"][:3] == ["referee", "--game", "./countdown"]


def test_an_installed_game_is_known_by_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    countdown(tmp_path)
    SOURCE.forget()
    monkeypatch.chdir(tmp_path)
    assert main(["games", "install", "./countdown"]) == 0
    assert "countdown" in registry.names()
    assert main(["--game", "countdown", "@random", "@random"]) == 0
    assert main(["games"]) == 0
    assert main(["games", "remove", "countdown"]) == 0
    assert "countdown" not in registry.names()
    assert main(["games", "remove", ".."]) == 2
    assert "no game '..' is installed" in capsys.readouterr().err


def zipped(path: Path, files: Mapping[str, bytes | int]) -> str:
    """Writes a zip file. A number stands for a link: the mode bits of its entry."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (content if isinstance(content, int) else 0o100644) << 16
            archive.writestr(entry, b"/etc/passwd" if isinstance(content, int) else content, zipfile.ZIP_DEFLATED)
    return str(path)


def small_game(folder: Path, **members: Any) -> dict[str, bytes]:
    write_game(folder, STEADY + SERVE, **members)
    return {f"small/{path.name}": path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_a_zip_file_of_a_game_is_installed_with_all_that_it_brings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "rules.md").write_text("# Small\n\n## 1. Moves\n\nMove what is asked.\n")
    (folder / "painter.js").write_text("refereePainters.small = { draw() {} }")
    (folder / "last.py").write_text(
        PREAMBLE + "greet()\nwhile True:\n    asked = call()\n    answer(asked, asked['params']['left'])\n"
    )
    params = {"type": "object", "properties": {"left": {"type": "integer"}}, "required": ["left"]}
    methods = {"move": {"doc": "Move.", "params": params, "result": {"type": "integer"}}}
    program = STEADY.replace('"params": {}', '"params": {"left": position}') + SERVE
    brought: dict[str, Any] = {"rules_page": "rules.md", "painter": "painter.js", "opponents": {"last": "last.py"}}
    brought["time"] = {"call": "20s"}  # also on a busy machine
    write_game(folder, program, methods=methods, **brought)
    files = {f"small/{path.name}": path.read_bytes() for path in folder.iterdir()}
    assert main(["games", "install", zipped(tmp_path / "small.zip", files)]) == 0
    shutil.rmtree(folder)
    assert main(["--game", "small", "@last", "@random", "--seed", "7", "--strict", "--replay", "a.jsonl"]) == 0
    assert main(["replay", "verify", "a.jsonl"]) == 0
    assert main(["rules", "small", "1"]) == 0
    assert "Move what is asked." in capsys.readouterr().out
    assert "refereePainters.small" in painters([registry.game("small")])


HOSTILE_ZIPS: dict[str, tuple[Mapping[str, bytes | int], str]] = {
    "a path upwards": ({"../../escaped.py": b""}, "leads outside"),
    "an absolute path": ({"/tmp/escaped.py": b""}, "leads outside"),
    "a link": ({"small/rules_page.md": 0o120777}, "is a link"),
    "a device": ({"small/null": 0o020666}, "is neither a file nor a folder"),
    "a bomb": ({"small/zeros": bytes(3 << 20)}, "unpacks to"),
    "many files": ({f"small/{number}": b"" for number in range(60)}, "holds 6"),
    "deep folders": ({"small/" + "a/" * 400 + "x": b""}, "nest them less deeply"),
    "a file and a folder": ({"small/a": b"", "small/a/b": b""}, "is both a file and a folder"),
}


@pytest.mark.parametrize("name", HOSTILE_ZIPS)
def test_a_hostile_zip_file_is_not_installed(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("referee.addons.rules.install.USER_BYTES", 2 << 20)
    monkeypatch.setattr("referee.addons.rules.install.USER_FILES", 50)
    files, words = HOSTILE_ZIPS[name]
    file = zipped(tmp_path / "small.zip", small_game(tmp_path / "sound") | dict(files))
    assert main(["games", "install", file]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert words in line
    assert "small" not in registry.names()
    assert not list(tmp_path.rglob("escaped.py"))


@pytest.mark.parametrize(
    ("link", "target", "words"),
    [
        ("game.toml", "../outside", "is a link that leads outside of the folder"),
        ("painter.js", "/etc/passwd", "leads out of the game's folder"),
        ("notes", "/etc/passwd", "notes is a link that leads outside"),
        ("more", "/etc", "more is a link to a folder"),
        ("again", ".", "again is a link to a folder"),
    ],
)
def test_a_folder_with_links_is_not_installed(
    tmp_path: Path, link: str, target: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "small"
    small_game(folder, **({"painter": "painter.js"} if link == "painter.js" else {}))
    if link == "game.toml":
        (folder / link).rename(tmp_path / "outside")
    (folder / link).symlink_to(target)
    assert main(["games", "install", str(folder)]) == 2
    assert words in " ".join(capsys.readouterr().err.split())
    assert "small" not in registry.names()


def test_texts_of_rules_reach_no_terminal_as_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    escape = "\x1b[31mred"
    program = (
        STEADY
        + f"""
evil = {escape!r}
def start(options, seats, luck):
    return awaits(3) | {{"text": evil, "warnings": [evil]}}

def step(position, answers, faults, luck):
    ruling = {{"seat": 0, "penalty": evil, "detail": evil}}
    return over(position, rulings=[ruling]) | {{
        "text": evil, "result": {{"ranks": [2, 1], "scores": [0, 1], "reason": evil}}
    }}
"""
    )
    write_game(tmp_path / "small", program + SERVE)
    monkeypatch.chdir(tmp_path)
    words = ["--game", "./small", "@random", "@random", "--seed", "7"]
    for more in (["--replay", "a.jsonl"], ["--verbose"]):
        assert main([*words, *more]) == 0
        shown = capsys.readouterr()
        assert "red" in shown.out and "red" in shown.err
        assert "\x1b" not in shown.out + shown.err


def test_an_installed_game_that_is_broken_harms_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "data" / "referee" / "games" / "broken"
    folder.mkdir(parents=True)
    (folder / "game.toml").write_text("name = 7")
    assert main(["games"]) == 0
    assert main(["games", "tictactoe"]) == 0
    assert main(["games", "broken"]) == 2
    assert "name: expected text, got a whole number" in capsys.readouterr().err


def test_an_installed_game_for_three_is_advised_for_three(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_game(tmp_path / "small", STEADY + SERVE, seats=[3, 3])
    assert main(["games", "install", str(folder)]) == 0
    assert "Next: referee --game small @random @random @random" in " ".join(capsys.readouterr().out.split())


# What else a folder brings.


def test_a_folder_brings_opponents_a_painter_and_a_page_of_rules(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    brought: dict[str, Any] = {"rules_page": "rules.md", "painter": "painter.js", "opponents": {"taker": "taker"}}
    brought["time"] = {"call": "20s"}  # also on a busy machine
    folder = write_game(tmp_path / "small", "", name="before")
    (folder / "rules.md").write_text("# Small\n\n## 1. Moves\n\nMove what is asked.\n")
    (folder / "painter.js").write_text(
        "refereePainters.small = { draw(board, view) { board.textContent = view.left } }"
    )
    (folder / "taker").mkdir()
    bot = PREAMBLE + "greet()\nwhile True:\n    asked = call()\n    answer(asked, asked['params']['left'])\n"
    (folder / "taker" / "bot.py").write_text(bot)
    (folder / "taker" / "bot.toml").write_text(f"run = [{json.dumps(sys.executable)}, 'bot.py']\n")
    params = {"type": "object", "properties": {"left": {"type": "integer"}}, "required": ["left"]}
    methods = {"move": {"doc": "Move.", "params": params, "result": {"type": "integer"}}}
    program = STEADY.replace('"params": {}', '"params": {"left": position}') + SERVE
    write_game(folder, program, methods=methods, **brought)
    monkeypatch.chdir(tmp_path)
    assert main(["--game", "./small", "@taker", "@random", "--seed", "7", "--strict", "--replay", "a.jsonl"]) == 0
    assert main(["rules", "./small", "1"]) == 0
    assert "Move what is asked." in capsys.readouterr().out
    assert "refereePainters.small" in painters([registry.game("small")])


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_kit_has_bindings_from_the_schemas(tmp_path: Path, language: str) -> None:
    game = countdown(tmp_path)
    binding = Binding.read(dump(game_schema(game)), source="a test")
    assert [function.name for function in binding.functions] == ["take", "began", "taken"]
    assert binding_files(binding, language)


def test_a_template_for_prompts_reaches_nothing_of_ours() -> None:
    with pytest.raises(SecurityError):
        Prompts(["{% block system %}{{ ''.__class__.__mro__ }}{% endblock %}", "{% block system %}{% endblock %}"], {})


def module_game(folder: Path, content: bytes) -> Game:
    write_game(folder, "", run=["rules.wasm"])
    (folder / "rules.wasm").write_bytes(content)
    return registry.in_folder(str(folder))


TURN = '{"position":1,"calls":{"0":{"method":"move"}},"text":"one"}'


def test_rules_may_be_a_module_which_fuel_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = begun(module_game(tmp_path / "small", modules.bot(TURN)))
    for _ in range(3):
        state.apply({0: 7})
    assert str(state) == "one" and list(state.awaited) == [0]
    SOURCE.forget()
    monkeypatch.setattr("referee.addons.rules.program.CALL_S", 0.05)
    game = module_game(tmp_path / "endless", modules.bot(TURN, work=modules.SPIN))
    with pytest.raises(RunError, match=r"failed in start: no answer within 0\.05 s"):
        begun(game)


def test_the_clocks_of_other_matches_leave_out_what_rules_take(tmp_path: Path) -> None:
    program = STEADY + "\nsteady = step\ndef step(*a, **b):\n    time.sleep(0.3)\n    return steady(*a, **b)\n" + SERVE
    state = begun(registry.in_folder(str(write_game(tmp_path / "small", program))))

    async def asked() -> tuple[float, float]:
        clock = stall_clock()
        before, away_s = clock.now(), clock.stalled_s - clock.left_out_s
        state.apply({0: 3})
        return clock.now() - before, clock.stalled_s - clock.left_out_s - away_s

    passed_s, away_s = trio.run(asked)
    assert passed_s < 0.2
    assert abs(away_s) < 0.001


@pytest.mark.slow
def test_a_game_whose_rules_are_a_program_has_the_properties_of_every_game() -> None:
    """Copies, views, pickles, faults, junk as answers: `tests/games/test_every_game.py`, in a process of its own."""
    words = ["-m", "pytest", "-q", "tests/games/test_every_game.py", "-k", "countdown", "-p", "no:cacheprovider"]
    env = {**os.environ, VARIABLE: str(COUNTDOWN)}
    env.pop("CI", None)  # the game has no luck, so a test of luck is skipped
    done = subprocess.run(
        [sys.executable, *words, "--hypothesis-profile", "quick"],
        cwd=COUNTDOWN.parents[3],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert int(re.findall(r"(\d+) passed", done.stdout)[0]) >= 30
