"""A replay from somebody else starts nothing by itself and weakens no isolation."""

import json
import os
import pty
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from modules import bot, saved
from msgspec.structs import fields
from scripted import Arena

from referee.addons.wasm import runner
from referee.addons.wasm.options import TARGET
from referee.games.game import TimeControl
from referee.harness.cli.main import main
from referee.harness.isolation.probe import probe
from referee.harness.isolation.removal import remove
from referee.harness.process.limits import Limits

pytestmark = pytest.mark.slow

REFEREE = (sys.executable, "-m", "referee.harness.cli.main")
ILLEGAL = "greet(); put('NW'); put('NW'); call()"
Edit = Callable[[dict[str, Any]], None]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a match with a fault."""
    folder = tmp_path_factory.mktemp("match")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Arena(folder).bot(ILLEGAL, name="illegal")
        words = ("--game", "tictactoe", "--seed", "5", "illegal.py", "@random", "--replay", "match.jsonl", "--json")
        assert main(words) == 0
    return folder


@pytest.fixture
def match(played: Path, arena: Arena, monkeypatch: pytest.MonkeyPatch) -> Path:
    """That match as if it had been played in the current folder; returns its fault report, next to `match.jsonl`."""
    shutil.copytree(played, arena.folder, dirs_exist_ok=True)
    monkeypatch.chdir(arena.folder)
    for file in (Path("match.jsonl"), *Path("match.seat0.fault1").iterdir()):
        file.write_bytes(file.read_bytes().replace(bytes(played), bytes(arena.folder)))
    return Path("match.seat0.fault1")


def forged(file: Path, edit: Edit) -> None:
    """Edits the first line of a replay, or a fault report's `fault.json`."""
    first, *rest = file.read_bytes().split(b"\n") if file.suffix == ".jsonl" else (file.read_bytes(),)
    header = json.loads(first)
    edit(header)
    file.write_bytes(b"\n".join([json.dumps(header, separators=(",", ":")).encode(), *rest]))


@pytest.fixture
def evil(match: Path, arena: Arena) -> Path:
    """Puts another program into the replay and the fault report; returns the mark that it leaves where it can."""
    mark = arena.folder / "mark"
    program = arena.folder / "evil.sh"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)

    def edit(header: dict[str, Any]) -> None:
        header["limits"]["isolation"] = {"mode": "off", "writable": [str(arena.folder)]}
        if "commands" in header:
            header["commands"] = [[str(program)]] * 2
            header["folders"] = [str(arena.folder)] * 2
        else:
            header["command"], header["folder"] = [str(program)], str(arena.folder)

    for file in (Path("match.jsonl"), match / "match.jsonl", match / "fault.json"):
        forged(file, edit)
    return mark


COMMANDS = (
    ("repro", "match.jsonl"),
    ("repro", "match.seat0.fault1"),
    ("repro", "match.seat0.fault1", "--debug"),
    ("fork", "match.jsonl", "--turn", "1"),
    ("replay", "verify", "match.jsonl", "--play"),
)


@pytest.mark.parametrize("words", COMMANDS)
def test_a_replay_starts_nothing_without_the_user(
    evil: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    told = capsys.readouterr().err
    assert not evil.exists()
    if words[0] != "replay":
        assert "names programs, which do not start by themselves" in told
        assert f"`referee {words[0]} " in told and "evil.sh" in told and "--recorded" in told


@pytest.mark.skipif(probe().namespaces is None, reason="nothing keeps a bot from writing here")
@pytest.mark.parametrize("words", [each for each in COMMANDS[:4] if "--debug" not in each])
def test_what_the_user_starts_from_a_replay_is_isolated_as_the_user_says(evil: Path, words: tuple[str, ...]) -> None:
    """The isolation of the replay, and the folders that it opens, do not count."""
    main([*words, "--recorded"])
    assert not evil.exists()
    main([*words, "--recorded", "--isolation", "off"])
    assert evil.exists()


WIDE = [
    *[("memory_bytes", None), ("memory_bytes", 2 << 30), ("processes", None), ("processes", 5000)],
    *[("file_bytes", None), ("scratch_bytes", 1 << 40), ("frame_bytes", 1 << 40)],
    *[("call_output_bytes", 1 << 40), ("stderr_bytes", 1 << 40)],
]
"""Limits that a stranger may have raised."""


def test_a_replay_widens_no_limit_without_the_user(match: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fork = ("fork", "match.jsonl", "--turn", "1", "--seat", "0=illegal.py", "--json")
    usual = json.loads((match / "fault.json").read_bytes())["limits"]
    for name, value in WIDE:

        def edit(header: dict[str, Any], name: str = name, value: int | None = value) -> None:
            header["limits"] |= usual | {name: value}

        forged(Path("match.jsonl"), edit)
        forged(match / "match.jsonl", edit)
        for words, code in ((("repro", str(match), "illegal.py"), 1), (fork, 0)):
            capsys.readouterr()
            assert main(words) == 2
            (line,) = capsys.readouterr().err.splitlines()
            assert f"allows its bots {name.removesuffix('_bytes')} " in line and "add --recorded-limits" in line
            if value is None:
                assert main([*words, "--recorded-limits"]) == code


@pytest.mark.parametrize("table", ["limits", "time"])
def test_no_number_of_a_replays_header_is_negative_or_without_end(
    match: Path, table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """To the kernel, the size -1 of a file is no limit."""
    types = {"limits": Limits, "time": TimeControl}[table]
    numbers = [each.name for each in fields(types) if re.search("_s$|_bytes$|processes|fuel", each.name)]
    assert len(numbers) > 5
    for name, value in ((name, value) for name in numbers for value in (-1, -(1 << 70), 1 << 70)):

        def edit(header: dict[str, Any], name: str = name, value: int = value) -> None:
            header[table][name] = value

        forged(match / "match.jsonl", edit)
        assert main(["repro", str(match), "illegal.py", "--recorded-limits"]) == 2, (name, value)
        assert "Expected `" in capsys.readouterr().err


@pytest.mark.parametrize("folder", ["/", "/dev", "", ".", "\udcff", "/x" * 3000])
def test_a_replay_whose_bots_played_in_a_strange_folder_is_no_traceback(
    match: Path, folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a list with a folder for each seat; `/` holds everything and was met in containers."""

    def edit(header: dict[str, Any]) -> None:
        if "commands" in header:
            header["folders"] = [folder] * 2
        else:
            header["folder"] = folder

    for file in (Path("match.jsonl"), match / "match.jsonl", match / "fault.json"):
        forged(file, edit)
    for words in (*COMMANDS, ("replay", "show", "match.jsonl"), ("replay", "verify", "match.jsonl")):
        starts = folder in ("/", "\udcff") and words[0] in ("repro", "fork") and "--debug" not in words
        for more in ([], ["--recorded"]) if starts else ([],):
            capsys.readouterr()
            code = main([*words, *more])
            assert code in (0, 1, 2), (words, more)
            assert len(capsys.readouterr().err.splitlines()) <= 3, (words, more)
            if folder == "/" and more:
                assert code == (1 if words[0] == "repro" else 0), words


def typed(answer: str, *words: str) -> tuple[int, str]:
    """Runs a command at a terminal at which somebody types a line; returns the exit code and what was shown."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([*REFEREE, *words], stdin=theirs, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    os.write(ours, f"{answer}\n".encode())
    shown = b""
    try:
        while data := os.read(ours, 1 << 16):
            shown += data
    except OSError:
        pass  # the other side is closed
    os.close(ours)
    return process.wait(timeout=100), shown.decode()


def test_at_a_terminal_the_user_is_asked(match: Path) -> None:
    code, shown = typed("n", "repro", str(match))
    assert code == 2 and "illegal.py" in shown and "nothing was started; name the bots" in " ".join(shown.split())
    assert typed("y", "fork", "match.jsonl", "--turn", "1", "--json")[0] == 0


def test_the_verdict_names_the_command_with_the_bot(match: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, named in (((), "illegal.py"), (("--chaos",), "NAME=illegal.py")):
        capsys.readouterr()
        main(("--game", "tictactoe", "--seed", "5", named, "@random", "--replay", "again.jsonl", *words))
        (line,) = [line for line in capsys.readouterr().out.splitlines() if "referee repro" in line]
        command = line.partition(" (")[2].removesuffix(")").split()
        assert command[-1] == named
        assert main(command[1:]) == 1


def test_built_in_opponents_need_no_question(match: Path) -> None:
    assert main(("fork", "match.jsonl", "--turn", "1", "--seat", "0=illegal.py", "--json")) == 0


@pytest.mark.parametrize("words", [COMMANDS[0], COMMANDS[1], COMMANDS[3]])
def test_a_program_that_is_gone_is_not_at_fault(
    match: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Although the interpreter that ran it is there."""
    Path("illegal.py").unlink()
    assert main([*words, "--recorded"]) == 2
    option = "--seat 0=BOT" if words[0] == "fork" else "BOT"
    assert f"(illegal) cannot be started: its program is gone; name another with {option}" in capsys.readouterr().err


def test_git_bisect_skips_what_cannot_be_built_or_started(match: Path) -> None:
    Path("broken.c").write_text("int main(void) { return")
    assert main(("repro", str(match), "broken.c")) == 125
    Path("nothing").write_text("#!/nowhere/at/all\n")
    Path("nothing").chmod(0o755)
    assert main(("repro", str(match), "./nothing")) == 125
    assert main(("repro", str(match), "./missing")) == 2


def test_a_module_whose_build_left_the_cache_is_compiled_again(
    arena: Arena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(arena.folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(arena.folder / "cache"))
    module = saved(arena.folder, "mine", bot('{"action":"putToken","column":"Z"}'))
    words = ("--game", "connectfour", "--seed", "5", str(module), "@random", "--replay", "match.jsonl", "--json")
    assert main(words) == 0
    remove(arena.folder / "cache" / "referee" / "builds")
    assert main(("repro", "match.seat0.fault1", "--recorded")) == 1
    assert "the same" in capsys.readouterr().out
    module.write_bytes(bot('{"action":"putToken","column":"A"}'))
    assert main(("repro", "match.seat0.fault1", "--recorded")) == 1, "the module that played is still in the cache"
    remove(arena.folder / "cache" / "referee" / "builds")
    assert main(("repro", "match.seat0.fault1", "--recorded")) == 2
    assert "(mine) cannot be started: its program is gone; name another" in capsys.readouterr().err


def test_a_forged_command_of_a_module_starts_nothing(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(arena.folder)
    module = saved(arena.folder, "mine", bot('{"action":"putToken","column":"C"}'))
    words = ("--game", "connectfour", "--seed", "5", str(module), "@random", "--replay", "match.jsonl", "--json")
    assert main(words) == 0
    mark, program = arena.folder / "mark", arena.folder / "evil.sh"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)

    def edit(header: dict[str, Any]) -> None:
        command = header["commands"][0]
        header["commands"][0] = [str(program), *command[1:3], f"{TARGET}pulley64", *command[3:]]

    forged(Path("match.jsonl"), edit)
    assert runner.in_cache(json.loads(Path("match.jsonl").read_bytes().split(b"\n")[0])["commands"][0])
    assert main(("replay", "verify", "match.jsonl", "--play")) == 0
    assert not mark.exists()
