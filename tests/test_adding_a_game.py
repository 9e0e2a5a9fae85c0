"""Builds, installs and uses the package in docs/tutorials/game-of-your-own.md exactly as the page says."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path, PurePath

import jsonschema
import pytest

from referee.harness.new.write import kits
from referee.tools.__main__ import main as tools

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

    def python(self, module: str, argvs: list[list[str]]) -> str:
        """Runs several commands of a module, all in one process, and returns their standard output."""
        code = f"from referee.{module} import main\nfor argv in {argvs!r}:\n    assert main(argv) == 0"
        return self.run(shlex.join([sys.executable, "-c", code]))

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


PLACES = {
    language: (re.findall("`([^`]+)`", bindings.partition(";")[0]), bot)
    for language, bindings, bot in re.findall(r"^\| `(\w+)` \| (.+) \| `([^`]+)` \|$", PAGE, re.MULTILINE)
}
"""For each language, the page's paths of the binding and of the bot below `starters/LANG`."""

DICE = """from referee_kit.openspiel_liars_dice import Action, LiarsDiceBot, run


class First(LiarsDiceBot):
    def act(self, observation, legal, player, history):
        return Action(legal[0].action, legal[0].text)


run(First)
"""
"""A bot that takes the first legal action."""


def test_the_page_names_the_places_of_the_binding_and_of_the_bot_in_every_language(
    reader: Reader, tmp_path: Path
) -> None:
    """That such bots compile and play is shown where the bindings of all languages are tested."""
    assert set(PLACES) == set(kits())
    starters = reader.folder / "nim/misere_nim/starters"
    written = reader.python(
        "tools.__main__", [["bindings", "misere_nim", "--lang", lang, f"{starters}/{lang}"] for lang in PLACES]
    )
    paths = [line.removeprefix(f"wrote {starters}/") for line in written.splitlines()]
    expected = [f"{lang}/{pattern}" for lang, (patterns, _) in PLACES.items() for pattern in patterns]
    assert len(paths) == len(expected)
    assert all(PurePath(path).match(pattern) for path, pattern in zip(paths, expected, strict=True))
    for language, (_, bot) in PLACES.items():
        (starters / language / bot).parent.mkdir(parents=True, exist_ok=True)
        (starters / language / bot).touch()
    reader.install()
    reader.python("harness.cli.main", [["new", "misere_nim", f"{tmp_path}/{lang}", "--lang", lang] for lang in PLACES])
    for path in [path.relative_to(starters) for path in starters.rglob("*") if path.is_file()]:
        assert (tmp_path / path).is_file(), path


def test_a_bot_with_a_binding_plays_a_game_of_openspiel(reader: Reader) -> None:
    pytest.importorskip("pyspiel")
    reader.run("referee new misere_nim --lang python dicebot")
    reader.run("python -m referee.tools bindings openspiel:liars_dice --lang python dicebot")
    (reader.folder / "dicebot" / "bot.py").write_text(DICE)
    reader.run("referee --game openspiel:liars_dice dicebot @random --seed 7 --strict")


def test_an_unknown_game_is_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        tools(["schema", "chess"])
    assert ended.value.code == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith("python -m referee.tools: error: unknown game 'chess'; there are ")


def test_it_has_the_properties_of_every_engine(reader: Reader) -> None:
    (command,) = commands("pytest")
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(command), "-q", "-p", "no:cacheprovider", "--hypothesis-profile=quick"],
        cwd=ROOT,
        env=reader.environment,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout


def test_a_broken_package_of_a_game_breaks_no_other_command(tmp_path: Path) -> None:
    for name, source in (("broken", "GAME = \n"), ("empty", "GAMES = 1\n")):
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[referee.games]\n{name} = {name}_game:GAME\n")
        (tmp_path / f"{name}_game.py").write_text(source)
    env = os.environ | {"PYTHONPATH": str(tmp_path), "COLUMNS": "500"}

    def said(*words: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "referee.harness.cli.main", *words]
        done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert "Traceback" not in done.stderr
        return done.returncode, done.stderr

    assert said("--game", "broken", "@random", "@random")[0] == 3
    assert said("--game", "tictactoe", "@random", "@random", "--sed", "3")[0] == 2
    assert said("new")[0] == 0
    code, err = said("games")
    assert code == 0
    assert "the game broken cannot be loaded from its package: SyntaxError: " in err
    assert "the game empty cannot be loaded from its package: AttributeError: " in err
