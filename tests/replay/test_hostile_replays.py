"""Replays that are damaged, forged, huge or no files: every command that reads one says so in a line."""

import gzip
import json
import os
import random
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scripted import Arena

import referee
from referee.addons.web.replay_list import FileSource, replay_list
from referee.games import registry
from referee.harness.cli.main import main
from referee.harness.replay import reader
from referee.tools.changed_addons import ADDONS

REFEREE = (sys.executable, "-m", "referee.harness.cli.main")
GAMES = {
    "tictactoe": (),
    "connectfour": (),
    "reantics": (),
    "cardgame": (),
    "quoridor": (),
    "aiarena21": ("--set", "turns=3"),
    "aibg5": ("--set", "rounds=3"),
}
VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 7, 10**6, 10**20, 1e308, 0.5, "", "x", "/", "\u202e\x9b\0", [], {}, [[]], {"a": 1}),
    *("😀" * 50, [None] * 3, -(10**12), [1, 2, 3, 4, 5, 6, 7]),
)
MUTATIONS = 4
"""For each game. More seeds find more, and were tried."""


def commands() -> Iterator[tuple[str, ...]]:
    """Yields every command that reads a replay and does not go on for long."""
    yield ("replay", "verify", "match.jsonl")
    if "wasm" in ADDONS:
        yield ("replay", "verify", "match.jsonl", "--play")
    yield ("replay", "show", "match.jsonl")
    yield ("replay", "show", "match.jsonl", "--calls")
    yield ("replay", "html", "match.jsonl", "page.html")
    yield ("replay", "export", "aiarena21-replay", "match.jsonl", "replay.txt")
    yield ("repro", "match.jsonl")
    yield ("fork", "match.jsonl", "--turn", "99999")


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yields the path to every value in JSON."""
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield from paths(each, (*path, key))


def mutated(line: bytes, luck: random.Random) -> bytes:
    """Changes, removes or adds a value of a line."""
    value = json.loads(line)
    path = luck.choice([*paths(value)])
    holder = value
    for key in path[:-1]:
        holder = holder[key]
    how = luck.random()
    if how < 0.6:
        holder[path[-1]] = luck.choice(VALUES)
    elif how < 0.75:
        del holder[path[-1]]
    elif isinstance(holder, list):
        holder.append(holder[path[-1]])
    else:
        holder[luck.choice(["0", "1", "9", "-1", "x"])] = holder[path[-1]]
    return json.dumps(value, separators=(",", ":")).encode()


def changed(lines: list[bytes], luck: random.Random) -> bytes:
    """Changes a replay: mostly a value, else a whole line or a byte."""
    lines, how = list(lines), luck.random()
    if how < 0.8:
        places = [0, 0, 0, 1, len(lines) - 1, len(lines) - 1, luck.randrange(len(lines))]
        for _ in range(luck.choice([1, 1, 2])):
            place = luck.choice(places)
            lines[place] = mutated(lines[place], luck)
    elif how < 0.9:
        del lines[luck.randrange(len(lines))]
    elif how < 0.95:
        lines.insert(luck.randrange(len(lines)), luck.choice(lines))
    content = bytearray(b"\n".join(lines) + b"\n")
    if how >= 0.95:
        content[luck.randrange(len(content))] = luck.randrange(256)
    return bytes(content)


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_a_changed_replay_ends_no_command_in_a_traceback(
    viewer: None, game: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    bots = ["@random"] * registry.game(game).seats.start
    words = ("--game", game, "--seed", "3", *bots, "--replay", "match.jsonl", *GAMES[game])
    assert main(words) == 0
    lines = Path("match.jsonl").read_bytes().splitlines()
    luck = random.Random(game)
    for _ in range(MUTATIONS):
        content = changed(lines, luck)
        Path("match.jsonl").write_bytes(content)
        for command in commands():
            capsys.readouterr()
            assert main(command) in (0, 1, 2), command
            assert len(capsys.readouterr().err.splitlines()) <= 4, command


def test_a_turn_that_measures_another_seat_is_a_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(("--game", "tictactoe", "@random", "@random", "--replay", "match.jsonl")) == 0
    text = Path("match.jsonl").read_text()
    Path("match.jsonl").write_text(text.replace('"wall_us":{"0"', '"wall_us":{"7"', 1))
    for command in (("verify", "match.jsonl"), ("html", "match.jsonl", "page.html"), ("show", "match.jsonl")):
        main(("replay", *command))
    shown = " ".join(capsys.readouterr().out.split())
    assert "it measures seat 7, which was not asked" in shown


@pytest.mark.parametrize("content", [bytes(1 << 20), b"\n" * (1 << 20)])
@pytest.mark.parametrize("compressed", [True, False])
def test_a_replay_that_would_fill_the_memory_is_refused(
    content: bytes,
    compressed: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(reader, "MAX_BYTES", 1 << 19)
    monkeypatch.setattr(reader, "MAX_LINES", 1 << 18)
    Path("match.jsonl").write_bytes(gzip.compress(content) if compressed else content)
    for command in commands():
        assert main(command) == 2
        assert "the replay match.jsonl cannot be read: it has more than" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("file", [".", "missing.jsonl"])
def test_what_is_no_file_is_refused_in_a_line(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in commands():
        assert main([file if word == "match.jsonl" else word for word in command]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_fault_of_a_seat_that_does_not_exist_is_refused_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "match.jsonl"
    main(["--game", "connectfour", "cmd:true", "@random", "--replay", str(file)])
    *lines, ending = file.read_text().splitlines()
    for seat in (2**64, 2, -1):
        changed = json.loads(ending)
        changed["faults"][0]["player"] = seat
        file.write_text("\n".join([*lines, json.dumps(changed), ""]))
        capsys.readouterr()
        assert main(["repro", str(file)]) == 2
        assert capsys.readouterr().err.count("\n") <= 2


def test_a_named_pipe_is_no_replay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Opening it would wait for a writer."""
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    Path("match.jsonl").symlink_to("pipe")
    Path("report").mkdir()
    os.mkfifo("report/fault.json")
    for command in (*commands(), ("repro", "report")):
        assert main(command) == 2
        assert "it is a named pipe; expected a file" in " ".join(capsys.readouterr().err.split())


@pytest.mark.slow
def test_a_pipe_of_the_shell_is_a_replay(tmp_path: Path) -> None:
    file = tmp_path / "match.jsonl"
    assert main(("--game", "tictactoe", "@random", "@random", "--replay", str(file))) == 0
    command = f"{shlex.join(REFEREE)} replay verify <(sleep 0.3; cat {file})"
    assert subprocess.run(["bash", "-c", command], stdout=subprocess.DEVNULL, timeout=60).returncode == 0


def test_a_pipe_that_nobody_reads_takes_no_replay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pipe = tmp_path / "match.jsonl"
    os.mkfifo(pipe)
    assert main(("--game", "tictactoe", "@random", "@random", "--replay", str(pipe))) == 3
    assert "match.jsonl cannot be written: it is a pipe that nobody reads" in capsys.readouterr().err


@pytest.mark.slow
def test_a_pipe_that_somebody_reads_takes_a_replay_of_any_size(tmp_path: Path) -> None:
    pipe, kept = tmp_path / "pipe", tmp_path / "kept.jsonl"
    os.mkfifo(pipe)
    with kept.open("wb") as file:
        copy = subprocess.Popen(["cat", str(pipe)], stdout=file)
    words = ("--game", "reantics", "@random", "@random", "--seed", "3", "--replay", str(pipe))
    assert main(words) == 0
    assert copy.wait(timeout=60) == 0
    assert main(("replay", "verify", str(kept))) == 0


@pytest.mark.slow
def test_a_pipe_in_a_folder_of_replays_is_not_opened(tmp_path: Path) -> None:
    assert main(("--game", "tictactoe", "@random", "@random", "--replay", str(tmp_path / "match.jsonl"))) == 0
    for name in ("pipe.jsonl", "pipe.jsonl.gz", "pipe.txt"):
        os.mkfifo(tmp_path / name)
    assert [each.title for each in replay_list(tmp_path).entries()] == ["match.jsonl"]


@pytest.mark.parametrize("words", [("--game", "tictactoe", "BOT", "@random"), ("replay", "show", "BOT")])
def test_a_path_that_is_not_utf8_is_refused_in_a_line(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name = os.fsdecode(os.fsencode(tmp_path) + b"/fran\xe7ois")
    os.mkdir(name)
    for where, bot_name in ((tmp_path, name), (name, "bot.py")):
        monkeypatch.chdir(where)
        assert main([bot_name if word == "BOT" else word for word in words]) == 2
        shown = capsys.readouterr().err
        assert len(shown.splitlines()) == 1 and r"fran\udce7ois" in shown


MARKS = "\u202e\x9b\x7f\U000e0001"
"""Turn the writing around, control a terminal, and are invisible."""


def test_nothing_that_a_terminal_would_obey_stands_in_a_replay_or_in_json(
    arena: Arena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also not in the answers of bots, which keep their meaning."""
    monkeypatch.chdir(arena.folder)
    arena.bot(f"greet(name={MARKS!r}); put({MARKS!r}); call()", name="marks")
    words = ("--game", "tictactoe", f"A{MARKS}B=marks.py", "@random", "--replay", "match.jsonl", "--json")
    assert main(words) == 0
    shown = capsys.readouterr().out
    (fault,) = Path(".").glob("*.fault1")
    for text in (
        shown,
        *[path.read_text() for path in (Path("match.jsonl"), *fault.iterdir()) if path.name != "answer"],
    ):
        if not text.startswith('{"jsonrpc"'):  # `sent` and `received` are kept byte for byte
            assert not set(MARKS) & set(text)
    turn = json.loads(Path("match.jsonl").read_bytes().splitlines()[2])
    assert MARKS in json.dumps(turn, ensure_ascii=False)
    assert main(("replay", "verify", "match.jsonl")) == 0


def test_fault_reports_of_an_older_match_are_removed_also_by_a_match_that_writes_none(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(arena.folder)
    arena.bot("greet(); put('nowhere'); call()", name="faulty")
    assert main(("--game", "tictactoe", "faulty.py", "@random", "--replay", "match.jsonl")) == 0
    assert Path("match.seat0.fault1").is_dir()
    referee.play("tictactoe", ["@random", "@random"], replay="match.jsonl")
    assert not Path("match.seat0.fault1").exists()


def test_standard_error_of_an_older_match_is_removed(
    arena: Arena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(arena.folder)
    arena.bot("greet(); print('SECRET', file=sys.stderr); put('NW'); call()", name="loud")
    arena.bot("greet(); put('NW'); call()", name="quiet")
    for name in ("loud", "quiet"):
        assert main(("--game", "tictactoe", f"{name}.py", "@random", "--replay", "match.jsonl")) == 0
    assert FileSource(Path("match.jsonl")).stderr(0) == b""
    os.mkfifo("match.seat0.stderr")
    assert FileSource(Path("match.jsonl")).stderr(0) == b""
