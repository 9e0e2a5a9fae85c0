"""Bots of the kits as modules of WebAssembly: built as they are, and the same on every machine."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import plain_wire
import pytest
from driving import hold_dialogues
from kits import PROBES, new_bot
from needs import needs

from referee.addons.tournament.store import reader
from referee.addons.wasm import runner
from referee.addons.wasm.build import build_module
from referee.addons.wasm.languages import BY_KIT
from referee.games import registry
from referee.harness.cli.main import main
from referee.harness.common.paths import KITS
from referee.harness.process.limits import Limits
from referee.harness.programs.build_process import BuildContext
from referee.protocol.messages import Encoding

pytestmark = [pytest.mark.kits, pytest.mark.slow]

LONG = ("quoridor", "reantics", "aiarena21")
GAMES = ["tictactoe", *(pytest.param(game, marks=pytest.mark.nightly) for game in LONG)]
TEMPLATES = {
    "c": "my_{game}/bot.c",
    "cpp": "my_{game}/bot.cpp",
    "go": "my_{game}/*.go",
    "javascript": "my_{game}/bot.ts",
    "rust": "my_{game}/src/main.rs",
}
"""The file of an example bot in the kits' folder `examples`."""
LANGUAGES = [pytest.param(kit, marks=needs(f"{kit}-wasm")) for kit in TEMPLATES]
CONFORMANCE = {
    "c": "conformance.c",
    "cpp": "conformance.cpp",
    "go": "conformance/main.go",
    "javascript": "conformance.ts",
    "rust": "conformance.rs",
}
DIALOGUES = ("byte_by_byte", "integers", "megabyte", "nested", "print", "two_matches", "values")
MEASURED = ("at", "by", "ms", "c", "z", "o")
"""Members of a ledger's line that are measured, or say where something is."""


@cache
def module(kit: str, game: str) -> Path:
    """Builds a kit's example bot from its source file alone."""
    (source,) = (KITS / kit / "examples").glob(TEMPLATES[kit].format(game=game))
    return build_module(str(source), BuildContext(Limits()))


@pytest.mark.parametrize("kit", sorted(file.parent.name for file in KITS.glob("*/new.toml")))
def test_a_kit_builds_for_wasm_or_says_why_not(kit: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "mine"
    code = main(["new", "quoridor", str(folder), "--lang", kit, "--target", "wasm"])
    assert (code == 0) is (kit in BY_KIT)
    if code == 0:
        assert '.wasm"]' in (folder / "bot.toml").read_text()
    else:
        assert capsys.readouterr().err.startswith("referee: --target wasm: ")


@pytest.mark.parametrize(
    ("kit", "encoding"),
    [pytest.param(kit, spoken, marks=needs(f"{kit}-wasm")) for kit, spoken in (("c", "json"), ("rust", "msgpack"))],
)
def test_it_plays_in_each_encoding(kit: str, encoding: str, tmp_path: Path) -> None:
    """The dialogues hold every language to both."""
    replay = tmp_path / "match.jsonl"
    words = ["--game", "tictactoe", "--encoding", encoding, str(module(kit, "tictactoe")), "@random"]
    assert main(["--replay", str(replay), "--seed", "7", "--strict", *words]) == 0
    assert json.loads(replay.read_text().splitlines()[-1])["seats"][0]["encoding"] == encoding


def alone(program: Path) -> list[str]:
    """Returns the command of a program whose standard input and output are its wire."""
    return [sys.executable, plain_wire.__file__, *runner.command(program, BuildContext(Limits()))]


@pytest.mark.parametrize("encoding", list(Encoding))
@pytest.mark.parametrize("kit", LANGUAGES)
def test_its_wire_passes_dialogues(kit: str, encoding: Encoding) -> None:
    command = alone(build_module(str(KITS / kit / CONFORMANCE[kit]), BuildContext(Limits())))
    hold_dialogues(command, DIALOGUES, encoding)


@needs("c-wasm")
def test_a_c_program_without_the_kit_has_a_stack_of_8_mib_and_traps_where_it_ends() -> None:
    command = alone(build_module(str(PROBES / "deep.c"), BuildContext(Limits())))

    def recurse(kibibytes: int) -> tuple[bytes, bool]:
        done = subprocess.run(command, input=b"%d\n" % kibibytes, capture_output=True)
        return done.stdout, b"the module trapped: " in done.stderr

    assert recurse(7000) == (b"42\n", False)
    assert recurse(9000) == (b"", True)


@pytest.mark.parametrize("kit", LANGUAGES)
def test_a_new_bot_is_built_as_a_module(kit: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, file = new_bot(kit, registry.game("connectfour")), tmp_path / "mine.wasm"
    assert main(["build", str(folder), "--target", "wasm", "--output", str(file)]) == 0
    assert main(["check", str(file), "--game", "connectfour", "--only", "metered"]) == 0
    assert "units in one" in " ".join(capsys.readouterr().out.split())


@needs("javascript-wasm")
def test_a_module_in_javascript_has_timers_and_recovers_from_recursion(tmp_path: Path) -> None:
    bot = build_module(str(PROBES / "timers.mjs"), BuildContext(Limits()))
    assert main(["--game", "quoridor", "--replay", str(tmp_path / "match.jsonl"), str(bot), "@random"]) == 0
    ending = json.loads((tmp_path / "match.jsonl").read_text().splitlines()[-1])
    assert "from a timer" in ending["faults"][0]["detail"]
    printed = Path(ending["seats"][0]["stderr"]).read_text()
    assert printed.splitlines()[:3] == ["slept 5", "RangeError", "Error: from a timer"]


@contextmanager
def burners(count: int) -> Iterator[None]:
    """Keeps every core busy."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def ledger(folder: Path, game: str, jobs: int) -> dict[str, Any]:
    """Plays a tournament of all languages. Returns what must repeat of its ledger, by key."""
    kits = [kit for kit in TEMPLATES if kit != "javascript" or game not in LONG[1:]]  # elsewhere it takes long
    bots = [f"{kit}={module(kit, game)}" for kit in kits]
    where = folder / f"{game}{jobs}"
    words = ["--game", game, "--games", "1", "--seed", "3", "--ledger", str(where), "--jobs", str(jobs)]
    assert main(["tournament", "run", *bots, *words]) == 0
    lines = {line.k: msgspec.to_builtins(line) for _, line in reader.counted_lines(where)}
    return {key: {name: line[name] for name in line if name not in MEASURED} for key, line in lines.items()}


@needs(*(f"{kit}-wasm" for kit in TEMPLATES))
@pytest.mark.parametrize("game", GAMES)
def test_a_tournament_of_all_languages_is_the_same_on_a_busy_machine(game: str, tmp_path: Path) -> None:
    alone = ledger(tmp_path, game, jobs=1)
    with burners(2):
        assert ledger(tmp_path, game, jobs=4) == alone
    assert alone
