"""Add-ons: each hook, the page about them, what they import, and a stranger's that is broken."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from importlib import import_module
from inspect import signature
from pathlib import Path

import pytest

from referee.harness import addons
from referee.harness.addons import Hooks, hooks, own

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "reference" / "add-ons.md").read_text("utf-8")
ROWS = dict(re.findall(r"^\| `(\w+)` \|([^|]*)\|[^|]+\|[^|]+\|$", PAGE, re.MULTILINE))
NAMES = sorted(name for name in vars(Hooks) if not name.startswith("_"))
FOLDERS = sorted(path.parent.name for path in (ROOT / "addons").glob("*/__init__.py"))


@pytest.mark.parametrize("name", NAMES)
def test_the_page_has_every_hook_with_its_arguments(name: str) -> None:
    arguments = [each for each in signature(getattr(Hooks, name)).parameters if each != "self"]
    assert re.findall(r"`(\w+)`", ROWS[name]) == arguments


def test_the_page_has_no_other_hook() -> None:
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", PAGE, re.MULTILINE)
    assert {name.strip("`") for row in rows for name in row.split(", ")} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_hook_is_used_by_an_add_on_that_comes_along(name: str) -> None:
    """And so is tried by that add-on's tests, through the public way only."""
    assert any(hasattr(import_module(module), name) for module in own())


def imports(folder: str) -> set[str]:
    """Returns the add-ons that an add-on imports while it runs."""
    found = set()
    for file in (ROOT / "addons" / folder).rglob("*.py"):
        tree = ast.parse(file.read_text("utf-8"))
        for block in ast.walk(tree):
            if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
                block.body = []
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("referee.addons."):
                found.add(str(node.module).split(".")[2])
    return found - {folder}


@pytest.mark.parametrize("folder", FOLDERS)
def test_an_add_on_imports_the_add_ons_that_it_needs(folder: str) -> None:
    module = import_module(f"referee.addons.{folder}.addon")
    assert imports(folder) <= set(module.NEEDS) < set(FOLDERS)


@pytest.mark.parametrize("folder", FOLDERS)
def test_an_add_on_says_in_ten_lines_what_it_is(folder: str) -> None:
    text = (ROOT / "addons" / folder / "README.md").read_text("utf-8")
    assert 5 <= len(text.splitlines()) <= 10
    assert "Where to begin" in text and "contract with the harness" in text


def test_the_harness_has_at_most_fourteen_entries() -> None:
    listed = subprocess.run(["git", "ls-files", "harness"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    entries = {name.split("/")[1] for name in listed.splitlines()}  # a folder that git has left may hold caches
    assert len(entries) <= 14, sorted(entries)


def test_the_version_loads_few_modules() -> None:
    code = (
        "import sys\nfrom referee.harness.cli.main import main\nmain(['--version'])\n"
        "print(sum(name.startswith('referee') for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout.split()[-1]) <= 60


HOOK = "from referee.harness.addons import hook\n@hook\n"
BROKEN = {
    "does not import": ("raise RuntimeError('no luck')", "the add-on strange is left out: RuntimeError: no luck"),
    "names no hook": (f"{HOOK}def nonsense(): ...", "the add-on strange is left out: PluginValidationError"),
    **{
        f"fails at {name}": (
            f"{HOOK}def {name}(): raise ValueError('no kind')",
            f"what the add-on strange adds by {name} is left out: ValueError: no kind",
        )
        for name in ("kinds", "commands", "measures", "options", "series")
    },
    "fails on the way": (
        f"{HOOK}def commands():\n    yield from ()\n    raise ValueError('no word')",
        "what the add-on strange adds by commands is left out: ValueError: no word",
    ),
}


@pytest.fixture
def stranger(tmp_path: Path) -> Iterator[Path]:
    information = tmp_path / "stranger-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[referee]\nstrange = strange\n")
    yield tmp_path


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_add_on_is_named_in_a_line_and_left_out(stranger: Path, name: str) -> None:
    source, why = BROKEN[name]
    (stranger / "strange.py").write_text(source)
    command = [sys.executable, "-m", "referee.harness.cli.main", "--game", "tictactoe", "@random", "@random"]
    path = os.pathsep.join(filter(None, [str(stranger), os.environ.get("PYTHONPATH")]))
    environment = os.environ | {"PYTHONPATH": path}
    done = subprocess.run([*command, "--replay", "none"], capture_output=True, text=True, timeout=60, env=environment)
    assert done.returncode == 0, done.stderr
    (line,) = [each for each in done.stderr.splitlines() if "strange" in each]
    assert line.startswith(f"referee: {why}")


WORDS = {word: folder for folder in FOLDERS for word in import_module(f"referee.addons.{folder}.addon").WORDS}
"""By word, the add-on that it belongs to."""
ALLOWED = {
    ("games/*", "AIBG"): "a game's name",
    ("games/*", "Arena"): "a game's name, and the family of games with its flipped table",
    ("games/*", "HTTP"): "the documents say what the original server refuses",
    ("games/aiarena21/*", "team"): "the documents call the players so",
    ("games/cardgame/*", "token"): "the documents call summoned cards so",
    ("games/connectfour.py", "token"): "the documents call the pieces so",
    ("games/contract.py", "token"): "a kind of fault on the wire",
    ("games/ending.py", "token"): "a kind of fault on the wire",
    ("games/game.py", "model"): "what a package of a game may bring",
    ("games/game.py", "prompt"): "what a package of a game may bring",
    ("protocol/*", "AIBG"): "a game's name",
    ("protocol/*", "Arena"): "a game's name",
    ("protocol/*", "fuel"): "the wire",
    ("protocol/*", "game.toml"): "the second part of the specification is about rules that are programs",
    ("protocol/*", "model"): "the wire",
    ("protocol/*", "prompt"): "what a package of a game may bring",
    ("protocol/*", "token"): "the wire, and a game's pieces",
    ("protocol/*", "tournament"): "the folder that does not belong to a game",
    ("harness/cli/options.py", "token"): "a word of the command line, in its library",
    ("harness/opponents/*", "AIBG"): "a game's name",
    ("harness/opponents/*", "Arena"): "a game's name",
    ("harness/opponents/*", "token"): "a game's pieces",
    ("harness/replay/*", "Arena"): "a game's name",
    ("harness/replay/*", "original competition"): "the file format of a game",
    ("harness/replay/formats/*", "OpenSpiel"): "the game that a format is for",
    ("harness/replay/formats/*", "team"): "a member of a game's file format",
    ("harness/replay/fault_report.py", "model"): "a kind of fault on the wire",
    ("harness/replay/fault_report.py", "prompt"): "a kind of fault on the wire",
    ("harness/replay/fault_report.py", "token"): "a kind of fault on the wire",
    ("harness/common/git.py", "HTTP"): "git's own settings",
    ("harness/common/git.py", "prompt"): "git's own settings",
    ("harness/common/output.py", "token"): "a function of Python's",
    ("harness/cli/command_line.py", "token"): "a class of cyclopts",
    ("harness/cli/help.py", "token"): "a class of cyclopts",
    ("harness/cli/person.py", "prompt"): "that of a terminal",
    ("harness/cli/signals.py", "token"): "a class of trio",
    ("harness/languages/toolchains.py", "HTTP"): "variables of the system",
    ("harness/languages/toolchains.py", "token"): "variables of the system",
    ("harness/cli/doctor.py", "OCI"): "what the layers of this machine are good for",
    ("harness/cli/doctor.py", "docker"): "advice on where to get a Python",
    ("harness/new/write.py", "HTTP"): "an address for pip",
    ("harness/isolation/self_protection.py", "browser"): "a program of the user",
    ("harness/common/paths.py", "tournament"): "folders that no bot may see, and in which nothing may be written",
    ("harness/common/paths.py", "ledger"): "a folder in which nothing may be written",
    ("harness/common/output.py", "tournament"): "a folder in which nothing may be written",
    ("harness/isolation/build_plan.py", "tournament"): "a folder that no bot may see",
    ("harness/seats/starter.py", "tournament"): "a folder that no bot may see",
    # What is left of add-ons.
    ("harness/isolation/hidden_files.py", "wasm"): "a file next to a replay that no bot may see",
    ("harness/cli/limit_options.py", "fuel"): "a limit in the header of every replay",
    ("harness/cli/units.py", "fuel"): "a limit in the header of every replay",
    ("harness/process/limits.py", "fuel"): "a limit in the header of every replay",
    ("harness/cli/limit_options.py", "model"): "a limit in the header of every replay",
    ("harness/process/limits.py", "model"): "a limit in the header of every replay",
    ("harness/cli/match.py", "model"): "the help of --transcripts",
    ("harness/cli/match.py", "prompt"): "the help of --transcripts",
    ("harness/cli/reports/turns.py", "prompt"): "the help of --calls",
    ("harness/cli/repro.py", "model"): "the help of `referee repro`",
    ("harness/cli/repro.py", "tournament"): "the help of `referee repro`",
    ("harness/cli/games.py", "OpenSpiel"): "the help of `referee games`",
    ("harness/cli/replay.py", "Arena"): "the help of `referee replay`",
    ("harness/cli/replay.py", "OpenSpiel"): "the help of `referee replay`",
    ("harness/cli/replay.py", "original competition"): "the file format of a game",
    ("harness/common/game_files.py", "OpenSpiel"): "games with books",
    ("harness/common/game_files.py", "tournament"): "a message about books",
    ("harness/common/known_games.py", "tournament"): "a message about rules",
    ("harness/new/write.py", "game.toml"): "the file that kits write",
    ("harness/programs/folder_toml.py", "game.toml"): "one reader for both files",
    ("harness/programs/bot_file.py", "ladder"): "members of a bot.toml",
    ("harness/programs/bot_file.py", "original competition"): "a member of a bot.toml",
    ("harness/programs/kinds.py", "team"): "an example in the documentation",
    ("harness/programs/kinds.py", "tournament"): "an example in the documentation",
}
"""Where a word may stand, and why."""


def words_of_add_ons() -> set[tuple[str, str]]:
    """Returns each file below the add-ons with each of their words that it has, in whatever case."""
    command = ["git", "ls-files", "games", "harness", "protocol"]
    files = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    texts = {file: (ROOT / file).read_text("utf-8", "replace") for file in files}
    patterns = {word: re.compile(rf"(?<![a-z]){re.escape(word)}(?!s?://|[a-rt-z])s?(?![a-z])", re.I) for word in WORDS}
    return {(file, word) for word, each in patterns.items() for file, text in texts.items() if each.search(text)}


def test_the_harness_has_no_word_of_an_add_on() -> None:
    found = words_of_add_ons()
    used = {(where, word) for where, word in ALLOWED for file, each in found if each == word and fnmatch(file, where)}
    wrong = {(file, word) for file, word in found if not any(fnmatch(file, each) for each, of in ALLOWED if of == word)}
    assert not wrong, f"these words belong to add-ons: {sorted(wrong)}"
    assert used == ALLOWED.keys(), f"no longer needed: {sorted(ALLOWED.keys() - used)}"


LAPS = """
from referee.harness.addons import hook

@hook
def measures():
    from referee.harness.common.measures import Measure, Record

    class Laps(Measure):
        name, place, value = "laps", 5, int

        def members(self, record):
            found = {Record.TURN: ("laps", dict[int, int], {}), Record.SEAT: ("laps", int | None, None)}
            return [found[record]] if record in found else []

    return [Laps()]
"""
COUNTED = """
import msgspec
from referee.harness.replay.lines import SeatSummary, Turn
turn = msgspec.json.decode(b'{"turn":1,"answers":{},"laps":{"0":5},"fuel":{"1":2}}', type=Turn)
print(turn.laps, turn.fuel, SeatSummary.__struct_fields__[-4:-1], msgspec.json.encode(turn))
"""


def test_a_measure_of_a_stranger_is_a_member_of_replays(stranger: Path) -> None:
    (stranger / "strange.py").write_text(LAPS)
    path = os.pathsep.join(filter(None, [str(stranger), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-c", COUNTED]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path})
    members = "('laps', 'fuel', 'model')"
    line = """b'{"turn":1,"answers":{},"laps":{"0":5},"fuel":{"1":2}}'"""
    assert done.stdout.split("\n")[0] == f"{{0: 5}} {{1: 2}} {members} {line}", done.stderr


def test_hooks_are_found_once() -> None:
    assert hooks() is hooks()
    assert addons.own() == [f"referee.addons.{folder}.addon" for folder in FOLDERS]
