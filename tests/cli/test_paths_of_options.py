"""Every option and argument that names a file or folder, found by its type, is tried with paths that cannot be used.

These are a path below a file, a missing folder, a folder with files, a file, an endless device, a pipe, a name that is
too long, and one that is not UTF-8. In the same way, every number is tried with one below zero."""

import os
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from contests import environment, tournament
from hosted import contest
from ladders import Cup
from typed_options import found

from referee.addons.host.backup import backup
from referee.addons.host.store import Store
from referee.harness.cli.main import main

pytestmark = pytest.mark.slow

GAME = "--game tictactoe"
LADDER = "--folder clone"
AWAY = "--to http://127.0.0.1:9"
BASES = {
    "analyse": "match.jsonl --seconds 1",
    "bench": "'llm:--url http://127.0.0.1:9 stub' --game tictactoe --against @random --games 2",
    "play": f"@random @baseline {GAME}",
    "build": "bot.py --target wasm",
    "check": f"bot.py {GAME} --only exit",
    "export problem": f"{GAME} --against @random --into new",
    "fork": "match.jsonl --turn 1 --seat 0=@random --seat 1=@random",
    "games install": "game",
    "gate": f"@random @baseline {GAME} --max-games 2 --jobs 1",
    "host": f"new {GAME} --bind 127.0.0.1:PORT",
    "host backup": "contest backup.tar",
    "host restore": "contest.tar new",
    "judge": "@random --game cardgame",
    "ladder beacon": "new --key key --bind 127.0.0.1:PORT",
    "ladder check-change": f"HEAD HEAD --author ada {LADDER}",
    "ladder enter": f"bot.py --owner ada {LADDER}",
    "ladder new": f"new {GAME} --install git+https://example.org/referee@{40 * 'a'}",
    "ladder play": f"--runner one --games 1 {LADDER}",
    "ladder publish": f"new {LADDER}",
    "ladder show": LADDER,
    "ladder verify": LADDER,
    "ladder witness": f"--key key --name cleo {LADDER}",
    "mcp": "",
    "serve mcp": "",
    "new": "tictactoe new --lang python",
    "replay export": "aiarena21-replay match.jsonl new",
    "replay html": "match.jsonl new",
    "replay show": "match.jsonl",
    "replay transcript": "match.jsonl new",
    "replay verify": "match.jsonl --play",
    "replay card": "match.jsonl new.png",
    "replay video": "match.jsonl new.gif",
    "repro": "match.jsonl @random",
    "serve aibg": "--users users --bind 127.0.0.1:PORT",
    "serve arena": "--bind 127.0.0.1:PORT",
    "serve bridge": "uci @random",
    "serve user": "ada --users new",
    "team analyse": AWAY,
    "team games": AWAY,
    "team practice": f"@random {AWAY}",
    "team replay": f"NAME {AWAY}",
    "team status": AWAY,
    "team stderr": f"1 {AWAY}",
    "team use": f"1 {AWAY}",
    "team versions": AWAY,
    "tournament add": "cup @random",
    "tournament archive": "cup new.zip",
    "tournament merge": "new cup",
    "tournament page": "cup --viewed 0",
    "tournament prepare": f"in {GAME} --into new",
    "tournament replay": "cup KEY new",
    "tournament run": f"@random @baseline {GAME} --games 2 --jobs 1",
    "tournament show": "cup --output csv",
    "tournament similar": "cup",
    "tournament verify": "cup",
    "tournament withdraw": "cup @random",
    "tune": f"cmd:true {GAME} --param a=1:2 --games 2",
    "view": "match.jsonl --port PORT --no-browser",
}
"""A command line for each command. A path is added to it, or replaces an argument."""
WORDS = {"--export": ("aiarena21-replay",)}
"""The words of an option before the path."""
WAITS = {"host", "ladder beacon", "mcp", "serve aibg", "serve arena", "serve bridge", "serve mcp", "view"}
"""Commands that would go on if they began."""
PATHS = ("full", "text.txt", "pipe", "\udcff")
RARE_PATHS = ("text.txt/x", "no/where", "zero", "x" * 300)
"""Tried at night alone: they fail where the system opens them, as a folder or a file does."""

OPTIONS = list(found((Path,)))
BELOW_ZERO = {"--elo", "--nelo"}
"""The options for which a number below zero means something: a bot may be weaker by so much."""
NUMBERS = [each for each in found((int, float)) if each[1] not in BELOW_ZERO]
DEAR = {"ladder enter", "replay card", "replay video", "tournament run", *WAITS}
DEAR |= {"build", "check", "gate", "judge", "play", "tune"}
"""Commands that build and play, tried at night alone: the others go the same ways to a file."""


def cases(names: Iterable[tuple[Any, ...]]) -> list[Any]:
    return [
        pytest.param(*each, id=" ".join(map(str, each[:2])), marks=[pytest.mark.nightly] if each[0] in DEAR else [])
        for each in names
    ]


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder in which the commands run: what they read, and every path that cannot be."""
    folder = tmp_path_factory.mktemp("there")
    match = ("--game", "tictactoe", "@random", "@baseline")
    tournament(folder, *match, "--games", "2", "--seed", "1", "--ledger", folder / "cup")
    with Cup(folder / "clone") as cup:
        cup.add_bots("ada bob")
    Store(contest(folder / "contest")).close()
    backup(folder / "contest", folder / "contest.tar")
    for name in ("in", "full"):
        (folder / name).mkdir()
    for name in ("bot.py", "text.txt", "full/text.txt"):
        (folder / name).write_text("hello\n")
    for name, target in (("zero", "/dev/zero"), ("null", "/dev/null")):
        (folder / name).symlink_to(target)
    os.mkfifo(folder / "pipe")
    with chdir(folder), pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "environ", environment(folder))
        assert main([*match, "--replay", "match.jsonl"]) == 0
        yield folder


@pytest.mark.parametrize("paths", [PATHS, pytest.param(RARE_PATHS, marks=pytest.mark.nightly)], ids=["often", "rare"])
@pytest.mark.parametrize(("command", "option", "index"), cases(OPTIONS))
def test_a_path_that_cannot_be_used_is_one_line(
    there: Path,
    command: str,
    option: str,
    index: int | None,
    paths: tuple[str, ...],
    capfd: pytest.CaptureFixture[str],
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:  # servers that would begin end with it
        base = shlex.split(BASES[command].replace("PORT", str(taken.getsockname()[1])))
        for path in paths:
            words = [*command.split(), *with_path(base, option, index, path)]
            code = ended(words) if command in WAITS else main(words)
            said = capfd.readouterr().err
            assert "Traceback" not in said, words
            if code in (2, 3):
                assert (said.count("referee: ") == 1 and said.isascii()) or path.isascii(), words
            assert code in (0, 1, 2, 3, 4), words
    for name, target in (("zero", "/dev/zero"), ("null", "/dev/null")):
        assert os.readlink(there / name) == target
    assert (there / "full" / "text.txt").read_text() == "hello\n"


@pytest.mark.parametrize(("command", "option", "index"), NUMBERS, ids=map(" ".join, (each[:2] for each in NUMBERS)))
def test_a_number_below_zero_is_refused_in_a_line_and_begins_nothing(
    there: Path, command: str, option: str, index: int | None, capfd: pytest.CaptureFixture[str]
) -> None:
    before = sorted(os.listdir(there))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        base = shlex.split(BASES[command].replace("PORT", str(taken.getsockname()[1])))
        code = main([*command.split(), *with_path(base, option, index, "-5")])
    said = capfd.readouterr().err
    assert (code, said.count("referee: ")) == (2, 1) and "-5" in said, said
    assert "Traceback" not in said and sorted(os.listdir(there)) == before


def with_path(base: list[str], option: str, index: int | None, path: str) -> list[str]:
    """Returns a command line in which a path replaces an argument, or is added as an option."""
    if index is not None:
        count = next((place for place, word in enumerate(base) if word.startswith("--")), len(base))
        return [*base[: min(index, count)], path, *base[index + 1 if index < count else count :]]
    if option in base:
        place = base.index(option)
        base = base[:place] + base[place + 2 :]
    return [*base, option, *WORDS.get(option, ()), path]


def ended(words: list[str]) -> int:
    """Returns the exit code of a command. It runs in another process, because it could wait without end."""
    command = [sys.executable, "-m", "referee.harness.cli.main", *words]
    return subprocess.run([os.fsencode(word) for word in command], stdin=subprocess.DEVNULL, timeout=120).returncode


@pytest.mark.parametrize("command", cases((each,) for each in BASES))
def test_a_removed_current_folder_is_one_line(there: Path, command: str, capfd: pytest.CaptureFixture[str]) -> None:
    with TemporaryDirectory(dir=there) as gone, chdir(gone):
        os.rmdir(gone)
        words = [str(there / word) if (there / word).exists() else word for word in BASES[command].split()]
        if command not in WAITS:
            main([*command.split(), *words])
        os.mkdir(gone)
    said = capfd.readouterr().err
    assert "Traceback" not in said and said.count("referee: ") < 2


def test_a_folder_named_none_does_not_change_what_none_means(there: Path) -> None:
    (there / "none").mkdir()
    assert main(["--game", "tictactoe", "@random", "@baseline", "--replay", "none"]) == 0
    assert list((there / "none").iterdir()) == []


def test_secret_links_begin_with_the_address_of_the_site(there: Path) -> None:
    assert main(["tournament", "page", "cup", "--viewed", "0", "--address", "https://cup.example.org/site/"]) == 0
    rows = (there / "cup" / "author-links.csv").read_text().splitlines()[1:]
    assert rows and all("https://cup.example.org/site/author/" in row for row in rows)
    assert main(["tournament", "page", "cup", "--address", "cup.example.org"]) == 2
