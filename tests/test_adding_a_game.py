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
from needs import skip_without

from referee.harness.new.write import kits

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


PLACES = {
    language: (re.findall("`([^`]+)`", bindings.partition(";")[0]), bot)
    for language, bindings, bot in re.findall(r"^\| `(\w+)` \| (.+) \| `([^`]+)` \|$", PAGE, re.MULTILINE)
}
"""For each language, the page's paths of the binding and of the bot below `starters/LANG`."""

NIM = {
    "c": """#include <referee/misere_nim.h>

static misere_nim_take take(referee_match* match, misere_nim_int_list heaps) {
    (void)match;
    int heap = 0;
    while (heaps.items[heap] == 0) ++heap;
    return (misere_nim_take){heap, 1};
}

int main(void) { return misere_nim_run(&(misere_nim_bot){.name = "first", .take = take}); }
""",
    "cpp": """#include <referee/misere_nim.hpp>

using namespace referee;
using namespace referee::misere_nim;

class First : public MisereNimBot {
   public:
    using MisereNimBot::MisereNimBot;

    Take take(const std::vector<int>& heaps) override {
        int heap = 0;
        while (heaps[heap] == 0) ++heap;
        return {heap, 1};
    }
};

int main() { return run<First>("first"); }
""",
    "go": """package main

import (
	referee "github.com/OWNER/referee/starter_kits/go"
	"github.com/OWNER/referee/starter_kits/go/misere_nim"
)

type first struct{}

func (first) Take(heaps []int) misere_nim.Take {
	heap := 0
	for heaps[heap] == 0 {
		heap++
	}
	return misere_nim.Take{Heap: heap, Count: 1}
}

func main() {
	misere_nim.Run("first", "1", func(*referee.Match) misere_nim.Bot { return first{} })
}
""",
    "java": """import java.util.List;
import referee.kit.Match;
import referee.kit.misere_nim.MisereNimBot;

public class MyMisereNim extends MisereNimBot {
    public MyMisereNim(Match match) {
        super(match);
    }

    public static void main(String[] args) {
        run(MyMisereNim::new);
    }

    @Override
    public Take take(List<Integer> heaps) {
        int heap = 0;
        while (heaps.get(heap) == 0) heap++;
        return new Take(heap, 1);
    }
}
""",
    "javascript": """import { MisereNimBot, run, type Take } from "referee-kit/misere_nim";

class First extends MisereNimBot {
  take(heaps: number[]): Take {
    return { heap: heaps.findIndex((size) => size > 0), count: 1 };
  }
}

run(First);
""",
    "rust": """use referee_kit::misere_nim::*;
use referee_kit::Match;

struct First;

impl MisereNimBot for First {
    fn new(_info: Match) -> Self {
        First
    }

    fn take(&mut self, heaps: Vec<i64>) -> Take {
        Take::new(heaps.iter().position(|&size| size > 0).unwrap() as i64, 1)
    }
}

fn main() {
    run::<First>("first");
}
""",
}
"""For each compiled language, a bot that takes one object from the first heap."""

DICE = {
    "c": """#include <referee/openspiel_liars_dice.h>

static openspiel_liars_dice_action act(referee_match* match, const char* observation,
                                       openspiel_liars_dice_legal_list legal, int player,
                                       openspiel_liars_dice_int_list history) {
    (void)match, (void)observation, (void)player, (void)history;
    return (openspiel_liars_dice_action){referee_some(legal.items[0].action), legal.items[0].text};
}

int main(void) { return openspiel_liars_dice_run(&(openspiel_liars_dice_bot){.name = "first", .act = act}); }
""",
    "cpp": """#include <referee/openspiel_liars_dice.hpp>

using namespace referee;
using namespace referee::openspiel_liars_dice;

class First : public LiarsDiceBot {
   public:
    using LiarsDiceBot::LiarsDiceBot;

    Action act(const std::string&, const std::vector<Legal>& legal, int, const std::vector<int>&) override {
        return {legal[0].action, legal[0].text};
    }
};

int main() { return run<First>("first"); }
""",
    "go": """package main

import (
	referee "github.com/OWNER/referee/starter_kits/go"
	dice "github.com/OWNER/referee/starter_kits/go/openspiel_liars_dice"
)

type first struct{}

func (first) Act(observation string, legal []dice.Legal, player int, history []int) dice.Action {
	return dice.Action{Action: &legal[0].Action, Text: &legal[0].Text}
}

func main() {
	dice.Run("first", "1", func(*referee.Match) dice.Bot { return first{} })
}
""",
    "java": """import java.util.List;
import referee.kit.Match;
import referee.kit.openspiel_liars_dice.LiarsDiceBot;

public class MyMisereNim extends LiarsDiceBot {
    public MyMisereNim(Match match) {
        super(match);
    }

    public static void main(String[] args) {
        run(MyMisereNim::new);
    }

    @Override
    public Action act(String observation, List<Legal> legal, int player, List<Integer> history) {
        return new Action(legal.get(0).action(), legal.get(0).text());
    }
}
""",
    "javascript": """import { type Action, type Legal, LiarsDiceBot, run } from "referee-kit/openspiel_liars_dice";

class First extends LiarsDiceBot {
  act(_observation: string, legal: Legal[]): Action {
    return { action: legal[0]!.action, text: legal[0]!.text };
  }
}

run(First);
""",
    "python": """from referee_kit.openspiel_liars_dice import Action, LiarsDiceBot, run


class First(LiarsDiceBot):
    def act(self, observation, legal, player, history):
        return Action(legal[0].action, legal[0].text)


run(First)
""",
    "rust": """use referee_kit::openspiel_liars_dice::*;
use referee_kit::Match;

struct First;

impl LiarsDiceBot for First {
    fn new(_info: Match) -> Self {
        First
    }

    fn act(&mut self, _observation: String, legal: Vec<Legal>, _player: i64, _history: Vec<i64>) -> Action {
        Action { action: Some(legal[0].action), text: Some(legal[0].text.clone()), ..Default::default() }
    }
}

fn main() {
    run::<First>("first");
}
""",
}
"""For each language, a bot that takes the first legal action. Java's class has the name that the bot's build starts."""

MODULES = Path("referee_kit/src/games/mod.rs")
"""Where a Rust bot names its games."""


def write_binding(reader: Reader, game: str, language: str, folder: str) -> list[str]:
    """Writes a binding, and names it where Rust needs that. Returns the paths below the folder."""
    output = reader.run(f"python -m referee.tools bindings {game} --lang {language} {folder}")
    if language == "rust":
        (reader.folder / folder / MODULES).write_text(f"pub mod {game.replace(':', '_')};\n")
    return [line.removeprefix(f"wrote {folder}/") for line in output.splitlines()]


@pytest.fixture(scope="module")
def starters(reader: Reader) -> None:
    """A bot in every language below `starters`, where the page puts it, in the installed package."""
    for language, (bindings, bot) in PLACES.items():
        folder = f"nim/misere_nim/starters/{language}"
        written = write_binding(reader, "misere_nim", language, folder)
        assert len(written) == len(bindings)
        assert all(PurePath(path).match(pattern) for path, pattern in zip(written, bindings, strict=True))
        if language in NIM:
            (reader.folder / folder / bot).parent.mkdir(parents=True, exist_ok=True)
            (reader.folder / folder / bot).write_text(NIM[language])
    reader.install()


def test_the_page_names_a_place_for_the_binding_of_every_kit() -> None:
    assert set(PLACES) == set(kits()) == set(DICE) == {*NIM, "python"}


@pytest.mark.timeout(600)
@pytest.mark.usefixtures("starters")
@pytest.mark.parametrize("language", sorted(PLACES))
def test_bots_with_a_binding_play_an_added_game_and_one_of_openspiel(reader: Reader, language: str) -> None:
    if language != "python":
        skip_without(language)
    bot = f"bot_{language}"
    reader.run(f"referee new misere_nim --lang {language} {bot}")
    reader.run(f"referee --game misere_nim {bot} @random --seed 7 --strict", timeout_s=280)
    pytest.importorskip("pyspiel")
    write_binding(reader, "openspiel:liars_dice", language, bot)
    (reader.folder / bot / PLACES[language][1]).write_text(DICE[language])
    reader.run(f"referee --game openspiel:liars_dice {bot} @random --seed 7 --strict", timeout_s=280)


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


@pytest.mark.parametrize(("source", "why"), [("GAME = \n", "SyntaxError: "), ("GAMES = 1\n", "AttributeError: ")])
def test_a_broken_package_of_a_game_breaks_no_other_command(tmp_path: Path, source: str, why: str) -> None:
    info = tmp_path / "broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[referee.games]\nbroken = broken_game:GAME\n")
    (tmp_path / "broken_game.py").write_text(source)
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
    assert code == 0 and err.startswith(f"the game broken cannot be loaded from its package: {why}")
