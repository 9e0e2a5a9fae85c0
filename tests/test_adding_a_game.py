"""docs/adding-a-game.md, followed to the letter: what stands there is built, installed beside the referee, and used."""

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
PAGE = (ROOT / "docs" / "adding-a-game.md").read_text("utf-8")
FILES = dict(re.findall(r"^`([\w./]+)`:\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
COMMANDS = [
    line for block in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL) for line in block.splitlines()
]


class Follower:
    """Somebody who reads the page, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.site = folder, folder / "site"
        bin_folder = Path(sys.executable).parent
        self.environment = {
            **os.environ,
            "PYTHONPATH": str(self.site),
            "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
        }

    def write(self, path: str) -> None:
        target = self.folder / path if "/" in path else self.folder / "misere_nim" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(FILES[path], "utf-8")

    def run(self, command: str, timeout_s: float = 120) -> str:
        """Standard output of a command that succeeds."""
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


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Follower]:
    """The package is installed from its wheel into a folder of its own, with nothing fetched."""
    follower = Follower(tmp_path_factory.mktemp("nim"))
    follower.write("pyproject.toml")
    follower.write("misere_nim.py")
    assert "pip install ./misere_nim" in COMMANDS
    offline = "--quiet --no-deps --no-build-isolation --no-index"
    follower.run(f"{sys.executable} -m pip install {offline} --target {follower.site} ./misere_nim")
    yield follower


def commands(start: str) -> list[str]:
    """The page's commands that begin so; one at least."""
    found = [command for command in COMMANDS if command.startswith(start)]
    assert found, start
    return found


def test_the_game_is_listed_and_played_and_its_record_verifies(reader: Follower) -> None:
    (listing,) = commands("referee games")
    assert "Misere Nim" in reader.run(listing)
    (match,) = commands("referee --game misere_nim @random @random")
    assert "beats" in reader.run(f"{match} --replay match.jsonl")
    assert "identical" in reader.run("referee replay verify match.jsonl")
    lines = (reader.folder / "match.jsonl").read_text("utf-8").splitlines()
    assert json.loads(lines[-1])["result"]["reason"] == "last_object"
    reader.run("referee --game misere_nim @random @random --seed 7 --set heaps=[1,2,3] --replay given.jsonl")
    assert json.loads((reader.folder / "given.jsonl").read_text("utf-8").splitlines()[0])["setup"]["options"] == {
        "heaps": [1, 2, 3]
    }


def test_it_has_a_schema_and_a_page(reader: Follower) -> None:
    schema, page = [reader.run(command) for command in commands("python -m referee.tools") if "bindings" not in command]
    made = json.loads(schema)
    jsonschema.Draft202012Validator.check_schema(made)
    assert (made["game"], made["constants"]) == ("misere_nim", {"HEAPS": 3, "MOST_OBJECTS": 7})
    assert set(made["methods"]) == {"take", "taken"}
    assert page.startswith("# Misere Nim\n")
    assert "### take" in page
    assert '-> {"jsonrpc":"2.0"' in page


def test_a_bot_with_its_binding_passes_the_check_and_wins(reader: Follower) -> None:
    for command in (*commands("referee new"), *[c for c in COMMANDS if "bindings" in c]):
        reader.run(command)
    reader.write("nimbot/bot.py")
    (check,) = commands("referee check")
    reader.run(check)
    (series,) = commands("referee --game misere_nim nimbot")
    table = json.loads(reader.run(f"{series} --seed 3 --json"))
    wins = sum(match["result"]["ranks"][0] == 1 for match in table["matches"])
    assert wins >= 7, "perfect play against chance, from random heaps"


@pytest.mark.parametrize("language", ["python", "c", "cpp", "go", "java", "javascript", "rust"])
def test_every_kit_can_have_a_binding(reader: Follower, language: str) -> None:
    kit = reader.folder / f"kit_{language}"
    told = reader.run(f"python -m referee.tools bindings misere_nim --lang {language} {kit}")
    written = [path for path in kit.rglob("*") if path.is_file()]
    assert sorted(told.splitlines()) == sorted(f"wrote {path}" for path in written)
    assert any("MOST_OBJECTS" in path.read_text("utf-8") for path in written)


def test_a_game_that_there_is_not_is_refused_in_a_line(reader: Follower) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "referee.tools", "schema", "chess"],
        cwd=reader.folder,
        env=reader.environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("python -m referee.tools: error: unknown game 'chess'; there are ")


@pytest.mark.slow
def test_it_has_the_properties_of_every_engine(reader: Follower) -> None:
    (command,) = commands("pytest")
    environment = {**reader.environment, "PYTHONPATH": str(reader.site)}
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(command), "-q", "-p", "no:cacheprovider"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout
