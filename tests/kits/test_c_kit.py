"""The C kit: its own checks, memory, its build, and every shape of a schema.

test_every_kit.py tests what all kits have in common.
"""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from driving import Bot, Rival, play, seated
from kits import PROBES, built, example, readme_bot

from referee.games import aiarena21, quoridor, reantics, tictactoe
from referee.games.game import Game
from referee.harness.common.paths import KITS
from referee.harness.programs.entrant import Entrant
from referee.protocol.messages import Encoding, ErrorObject
from referee.tools.kits import c
from referee.tools.kits.shapes import Binding

KIT = KITS / "c"
WARNINGS = ("-Wall", "-Wextra", "-Werror")

pytestmark = pytest.mark.usefixtures("c_kit")


def compiled(source: Path, *flags: str | Path) -> Entrant:
    """Compiles one source file, without warnings."""
    program = source.with_suffix("")
    command = ["gcc", "-std=c11", *WARNINGS, *flags, "-I", KIT / "include", "-o", program, source]
    subprocess.run([*command, built("c") / "build" / "libreferee.a", "-ljson-c"], check=True, timeout=120)
    return Entrant(program.name, (str(program),), program.parent)


def test_the_librarys_own_tests_pass() -> None:
    done = subprocess.run([built("c") / "build" / "kit_test"], stderr=subprocess.PIPE, text=True, timeout=20)
    assert (done.returncode, "FAILED" in done.stderr) == (0, False)
    assert "[  PASSED  ] " in done.stderr


def test_the_library_and_the_readmes_bot_compile_without_a_warning(tmp_path: Path) -> None:
    source = tmp_path / "mybot.c"
    source.write_text(readme_bot("c"), "utf-8")
    command = ["gcc", "-std=c11", *WARNINGS, "-fsyntax-only", "-I", KIT / "include"]
    subprocess.run([*command, *(KIT / "src").glob("*.c")], check=True, timeout=60)
    subprocess.run([*command, "-Wno-unused-parameter", source], check=True, timeout=60)


def declared(header: Path) -> set[str]:
    """Returns the names that a header defines: macros, types, tags, constants, variables and functions."""
    command = ["gcc", "-std=c11", "-E", "-dD", "-I", KIT / "include", header]
    own, names, text = False, set[str](), ""
    for line in subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.splitlines():
        if place := re.match(r'# \d+ "(.*?)"', line):
            own = Path(place[1]) == header
        elif own and (macro := re.match(r"#define (\w+)", line)):
            names.add(macro[1])
        elif own and not line.startswith("#"):
            text += line + "\n"
    text = re.sub(r'"(\\.|[^"\\])*"', "0", re.sub(r"__attribute__\(\(.*?\)\)\)", "", text))
    names |= set(re.findall(r"\b(?:struct|union|enum)\s+(\w+)", text))
    for constants in re.findall(r"\benum\b[^{;]*\{(.*?)\}", text, re.DOTALL):
        names |= set(re.findall(r"(?:^|,)\s*(\w+)", constants))
    while "{" in text:
        text = re.sub(r"\{[^{}]*\}", "@", text)
    for declaration in re.split(r";|\)\s*@", text):
        head = declaration if "typedef" in declaration else re.split(r"[(=[]", declaration)[0]
        names |= set(re.findall(r"\w+", head)[-1:]) - {"enum"}
    return names


HEADERS = {path.stem: path for path in (KIT / "include" / "referee").glob("*.h")}
PREFIXES = {name: name for name in HEADERS} | {
    "wire": "referee",
    "ants": "reantics",
    "grid": "aiarena21",
    "hexgrid": "aibg5",
}
"""The prefix of all names of a header."""


@pytest.mark.parametrize("name", sorted(HEADERS))
def test_every_name_of_a_header_begins_with_its_prefix(name: str) -> None:
    prefix, found = PREFIXES[name], declared(HEADERS[name])
    assert len(found) > 5
    assert [each for each in sorted(found) if not each.startswith((f"{prefix}_", f"{prefix.upper()}_"))] == []


def test_a_program_may_include_all_headers(tmp_path: Path) -> None:
    source = tmp_path / "all.c"
    source.write_text("".join([f"#include <referee/{name}.h>\n" for name in sorted(HEADERS)]), "utf-8")
    command = ["gcc", "-std=c11", *WARNINGS, "-Wno-unused-const-variable", "-fsyntax-only", "-I", KIT / "include"]
    subprocess.run([*command, source], check=True, timeout=60)


@pytest.mark.parametrize(
    ("name", "game", "options", "encoding"),
    [
        ("reantics", reantics.GAME, reantics.Options(draw_after=6), "json"),
        ("my_tictactoe", tictactoe.GAME, tictactoe.Options(), "msgpack"),
        ("my_quoridor", quoridor.GAME, quoridor.Options(max_turns=6), "msgpack"),
        ("my_aiarena21", aiarena21.GAME, aiarena21.Options(map="S....\n..#..\n.#...\n....S\n", turns=32), "json"),
    ],
    ids=["reantics", "my_tictactoe", "my_quoridor", "my_aiarena21"],
)
def test_the_examples_have_no_memory_errors(name: str, game: Game, options: Any, encoding: str, tmp_path: Path) -> None:
    bot = example("c", name)
    watched = Entrant(bot.name, ("valgrind", "-q", "--leak-check=full", "--error-exitcode=9", *bot.argv), bot.cwd)
    with Bot(watched, Encoding(encoding), tmp_path / "log") as one:
        for seat in (0, 1):
            play(game, seated(seat, one, Rival()), 3, options)
        assert (one.exit(), one.stderr()) == (0, "")


# The bindings of a game that has every shape.


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> Entrant:
    folder = tmp_path_factory.mktemp("shapes")
    binding = Binding.read((PROBES / "shapes_c.json").read_text("utf-8"), "here")
    (folder / "referee").mkdir()
    (folder / "referee" / "shapes.h").write_text(c.emit(binding), "utf-8")
    (folder / "binding.c").write_text(c.emit_source(binding), "utf-8")
    shutil.copy(PROBES / "shapes.c", folder)
    return compiled(folder / "shapes.c", "-I", folder, folder / "binding.c")


STATE = {
    "here": [1, -2],
    "goal": [3, 4],
    "pieces": [{"kind": "dot", "place": [5, 6]}, {"kind": "the bank", "coins": 1}],
    "own": {"coins": 10, "kind": "the bank", "open": None},
    "grid": [[1, 2.5], []],
    "holes": [[[7, 8], None]],
    "three": [1.0, 2.0, 3],
}
ANSWER = {
    "at": [1, -2],
    "goal": [3, 4],
    "rich": True,
    "far": [[5, 6], [7, 8]],
    "grid": [[2.0, 5.0], []],
    "note": "w",
    "thing": {"a": [None]},
    "few": 7,
    "rate": 3.0,
    "sure": True,
    "size": -1,
    "paint": "dark red",
}


def test_every_shape_is_read_and_written(shapes: Entrant, encoding: Encoding, tmp_path: Path) -> None:
    with Bot(shapes, encoding, tmp_path / "log") as bot:
        bot.initialize("shapes")
        more = {"factor": 2, "word": "w", "thing": {"a": [None]}, "few": 7, "size": 4, "colours": ["blue"]}
        assert bot.call("play", {"state": STATE, **more}) == ANSWER
        least = {key: STATE[key] for key in ("here", "pieces", "grid", "three")}
        state = {**least, "holes": 5, "own": {"kind": "no"}}
        answer = bot.call("play", {"state": state, "factor": 2.0, "word": "", "size": -1, "colours": ["pink"]})
        assert answer == {
            **{key: ANSWER[key] for key in ("at", "grid", "rate", "sure")},
            "rich": False,
            "far": [[5, 6]],
            "note": "",
        }
        assert bot.call("choose", {"places": []}) is None
        assert bot.call("choose", {"places": [[1, 2]]}) == {"kind": "wait"}
        go = {"kind": "go", "places": [[1, 2], [3, 4]], "why": 'a"b'}
        assert bot.call("choose", {"places": [[1, 2], [3, 4]]}) == go
        assert bot.call("list", {"pairing": [4, ["x", "y"], "newer"]}) == [4, ["x", "y"], [3, 2]]
        assert bot.call("list", {"pairing": [4, []]}) == [4, None, [3, 2]]
        assert bot.call("end", {"pairing": [4, []]}) is None


def test_an_event_may_hold_any_value(shapes: Entrant, encoding: Encoding, tmp_path: Path) -> None:
    events = [
        ({"piece": {"kind": "dot", "place": [1, 2]}, "count": 3, "rate": 2, "value": 5}, "dot 3 2 2"),
        ({"piece": {"kind": "the bank", "coins": 2, "open": False}, "value": None}, "open -1 -1 0"),
        ({"piece": {"kind": "the bank", "coins": "2"}, "count": 1.5, "rate": "x"}, "- -1 -1 -1"),
        ({"piece": {"kind": ["dot"]}, "count": True, "rate": 0.5, "value": {}}, "- -1 0.5 7"),
        ({"piece": [], "count": 2**40}, "- -1 -1 -1"),
    ]
    with Bot(shapes, encoding, tmp_path / "log") as bot:
        bot.initialize("shapes")
        for event, _ in events:
            bot.notify("heard", event)
        assert bot.exit() == 0
        assert bot.stderr().splitlines() == [heard for _, heard in events]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"state": {**STATE, "three": [1.0, 2.0]}}, "play: parameter state has a wrong type or value"),
        ({"state": {**STATE, "pieces": [{"kind": "no"}]}}, "play: parameter state has a wrong type or value"),
        ({"word": 5}, "play: parameter word has a wrong type or value"),
        ({"size": 0}, "play: parameter size has a wrong type or value"),
    ],
    ids=["a list of another length", "a choice that is none", "a text that is none", "a number that is none"],
)
def test_a_wrong_value_of_a_required_member_is_an_error_that_names_it(
    shapes: Entrant, change: dict[str, Any], words: str, encoding: Encoding, tmp_path: Path
) -> None:
    with Bot(shapes, encoding, tmp_path / "log") as bot:
        bot.initialize("shapes")
        answer = bot.call("play", {"state": STATE, "factor": 2.0, "word": "w", "size": 4, **change})
        assert answer == ErrorObject(-32000, words)
