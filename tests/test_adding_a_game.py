"""Builds, installs and uses the package in docs/tutorials/game-of-your-own.md exactly as the page says."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "tutorials" / "game-of-your-own.md").read_text("utf-8")
FILES = dict(re.findall(r"^`([\w./]+)`:\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
COMMANDS = [
    line for block in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL) for line in block.splitlines()
]


class Reader:
    """A person who follows the page in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.site = folder, folder / "site"
        bin_folder = Path(sys.executable).parent
        self.environment = {
            **os.environ,
            "PYTHONPATH": str(self.site),
            "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
        }

    def run(self, command: str, timeout_s: float = 120) -> str:
        """Runs a command that must succeed, and returns its standard output."""
        done = subprocess.run(
            shlex.split(command),
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=timeout_s,
        )
        assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def install(self) -> None:
        """Installs the package from its wheel, without a network."""
        assert COMMANDS.count("pip install ./nim") == 2
        offline = "--quiet --no-deps --no-build-isolation --no-index --upgrade"
        self.run(f"{sys.executable} -m pip install {offline} --target {self.site} ./nim")


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    reader = Reader(tmp_path_factory.mktemp("reader"))
    for path, text in FILES.items():
        (reader.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (reader.folder / path).write_text(text, "utf-8")
    reader.install()
    (bindings,) = commands("python -m referee.tools bindings")
    reader.run(bindings)
    reader.install()
    yield reader


def commands(start: str) -> list[str]:
    """The page's commands that begin with `start`; at least one."""
    found = [command for command in COMMANDS if command.startswith(start)]
    assert found, start
    return found


def test_the_module_of_the_game_is_short() -> None:
    assert len(FILES["nim/misere_nim/__init__.py"].splitlines()) < 60


def test_the_game_is_listed_and_played_and_its_replay_verifies(reader: Reader) -> None:
    (listing,) = commands("referee games")
    assert "Misere Nim" in reader.run(listing)
    (match,) = commands("referee --game misere_nim @random @random")
    assert " wins: " in reader.run(f"{match} --replay match.jsonl")
    assert re.search("identical|verified", reader.run("referee replay verify match.jsonl"))
    lines = (reader.folder / "match.jsonl").read_text("utf-8").splitlines()
    assert json.loads(lines[-1])["result"]["reason"] == "last_object"
    reader.run("referee --game misere_nim @random @random --seed 7 --set heaps=[1,2,3] --replay given.jsonl")
    assert json.loads((reader.folder / "given.jsonl").read_text("utf-8").splitlines()[0])["setup"]["options"] == {
        "heaps": [1, 2, 3]
    }


def test_it_has_a_schema_and_a_page(reader: Reader) -> None:
    schema, page = [reader.run(command) for command in commands("python -m referee.tools") if "bindings" not in command]
    made = json.loads(schema)
    jsonschema.Draft202012Validator.check_schema(made)
    assert (made["game"], set(made["methods"])) == ("misere_nim", {"take"})
    assert made["view"] == {"$ref": "#/$defs/FullView"}
    assert page.startswith("# Misere Nim\n")
    assert "### take" in page
    assert '-> {"jsonrpc":"2.0"' in page


def test_a_new_bot_passes_the_check_and_wins(reader: Reader) -> None:
    (new,) = commands("referee new")
    reader.run(new)
    (check,) = commands("referee check")
    reader.run(check)
    (series,) = commands("referee --game misere_nim nimbot")
    table = json.loads(reader.run(f"{series} --seed 3 --json"))
    wins = sum(match["result"]["ranks"][0] == 1 for match in table["matches"])
    assert wins >= 7, "perfect play against chance, from random heaps"


def test_the_package_brings_rules_and_an_opponent(reader: Reader) -> None:
    (rules,) = commands("referee rules")
    assert "Take one or more objects" in reader.run(rules)
    (match,) = commands("referee --game misere_nim @greedy_nim @random --seed 3")
    (played,) = json.loads(reader.run(f"{match} --json"))["matches"]
    assert played["result"]["reason"] == "last_object", played


@pytest.mark.parametrize("language", ["python", "c", "cpp", "go", "java", "javascript", "rust"])
def test_every_kit_can_have_a_binding(reader: Reader, language: str) -> None:
    kit = reader.folder / f"kit_{language}"
    output = reader.run(f"python -m referee.tools bindings misere_nim --lang {language} {kit}")
    written = [path for path in kit.rglob("*") if path.is_file()]
    assert sorted(output.splitlines()) == sorted(f"wrote {path}" for path in written)
    assert any("heaps" in path.read_text("utf-8") for path in written)


@pytest.mark.parametrize(
    ("language", "place"),
    [
        ("python", "referee_kit/misere_nim.py"),
        ("c", "referee/misere_nim.c"),
        ("cpp", "src/misere_nim.cpp"),
        ("go", "referee/misere_nim/misere_nim.go"),
        ("java", "src/main/java/referee/kit/misere_nim/MisereNimBot.java"),
        ("javascript", "referee-kit/src/misere_nim.ts"),
        ("rust", "referee_kit/src/games/misere_nim.rs"),
    ],
)
def test_a_binding_lies_with_the_kit_in_a_new_bot(reader: Reader, language: str, place: str) -> None:
    bot = reader.folder / f"bot_{language}"
    bot.mkdir()
    (bot / "bot.toml").write_text("")
    reader.run(f"python -m referee.tools bindings misere_nim --lang {language} {bot}")
    assert (bot / place).is_file()


def test_an_unknown_game_is_refused_in_one_line(reader: Reader) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "referee.tools", "schema", "chess"],
        cwd=reader.folder,
        env=reader.environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("python -m referee.tools: error: unknown game 'chess'; there are ")


def test_it_has_the_properties_of_every_engine(reader: Reader) -> None:
    (command,) = commands("pytest")
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(command), "-q", "-p", "no:cacheprovider"],
        cwd=ROOT,
        env=reader.environment,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout
