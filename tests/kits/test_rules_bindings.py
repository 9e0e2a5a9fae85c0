"""Bindings that are made from the schemas of a game's folder: they compile in every language, and bots play with them.

The author of the folder is a stranger: texts try to end comments, and names are words of languages.
"""

import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from kits import PROBES, built, need, new_bot, run
from rules_games import COUNTDOWN, toml

from referee.addons.rules.source import SOURCE
from referee.games import registry
from referee.harness.cli.main import main
from referee.tools.__main__ import main as tools
from referee.tools.kits.files import LANGUAGES, binding_files
from referee.tools.kits.shapes import Binding

GAME = "count_down"
EVIL = 'first */ int evil; /* """ evil \\ \n evil\\u002a/ //'
"""A description that would end a comment or a docstring."""


def record(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "description": EVIL, "required": required, "properties": properties}


def ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def or_null(schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}], **more}


def listed(item: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": item, "description": EVIL, **more}


INTEGER = {"type": "integer", "description": EVIL}
SHAPES = {
    "Colour": {"type": "string", "enum": ["red", "dark blue"]},
    "Level": {"type": "integer", "enum": [1, 2, 5], "x-enum-varnames": ["LOW", "MIDDLE", "HIGH"]},
    "Point": {"type": "array", "title": "Point", "prefixItems": [{"title": at, "type": "integer"} for at in "xy"]},
    "Item": record(
        ["id", "at"],
        id=INTEGER,
        at=ref("Point"),
        colour=ref("Colour"),
        weight=or_null({"type": "number"}, default=None),
    ),
    "Walk": record(["type", "to"], type=INTEGER, to=listed(INTEGER, minItems=2, maxItems=2)),
    "Pause": record([], turns={**INTEGER, "default": 1}, why=ref("Colour")),
    "Everything": record(
        ["items", "flag", "name", "grid", "level", "near"],
        items=listed(ref("Item")),
        flag={"type": "boolean"},
        name={"type": "string", "maxLength": 20},
        grid=listed(listed(or_null(ref("Item")))),
        level=ref("Level"),
        near=or_null(ref("Item")),
    ),
    "Plan": record(
        ["moves"],
        moves=listed(ref("Walk")),
        pause=or_null(ref("Pause"), default=None),
        note=or_null({"type": "string"}, default=None),
        anything={"description": EVIL},
    ),
    "Said": record(["what"], what={"description": EVIL}),
}
"""Every shape of SPEC.md, 31, that kits have a type for."""


@pytest.fixture
def game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Countdown with a name of two words, a title with an apostrophe, and a call and a notice of every shape.

    These are never sent.
    """
    folder = tmp_path / GAME
    folder.mkdir()
    (folder / "shapes.json").write_text(json.dumps({"$defs": SHAPES}))
    names = {'"python3"': json.dumps(sys.executable), '"countdown"': f'"{GAME}"', '"Countdown"': '"Liar\'s Countdown"'}
    for file in COUNTDOWN.iterdir():
        if file.is_file():
            text = file.read_text()
            for word, replacement in names.items():
                text = text.replace(word, replacement)
            (folder / file.name).write_text(text)
    plan = {"doc": EVIL, "params": "shapes.json#/$defs/Everything", "result": "shapes.json#/$defs/Plan"}
    more = {"methods.plan": plan, "notices.seen": {"doc": EVIL, "params": "shapes.json#/$defs/Everything"}}
    more["methods.say"] = {"doc": EVIL, "params": "shapes.json#/$defs/Said", "result": {}}
    more["constants"] = {"LARGEST": 3, "COLOURS": ["red", "dark blue"], "QUOTE": 'a"; evil'}
    tables = [f"[{name}]\n" + "".join(f"{key} = {toml(each)}\n" for key, each in more[name].items()) for name in more]
    text = (folder / "game.toml").read_text()
    (folder / "game.toml").write_text("\n".join([text, *tables]))
    monkeypatch.chdir(tmp_path)
    yield folder
    SOURCE.forget()


PLACES = {
    "c": "bot.c",
    "cpp": "bot.cpp",
    "go": "main.go",
    "java": "src/main/java/First.java",
    "javascript": "bot.ts",
    "python": "bot.py",
    "rust": "src/main.rs",
}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_new_bot_of_a_packages_starter_with_a_binding_compiles_and_plays(
    game: Path, language: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The kit of such a bot has no types of a game of ours."""
    need(language)
    starter = tmp_path / "starters" / language
    assert tools(["bindings", f"./{GAME}", "--lang", language, str(starter)]) == 0
    (starter / PLACES[language]).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(PROBES / f"first{Path(PLACES[language]).suffix}", starter / PLACES[language])
    if language == "rust":
        (starter / "referee_kit/src/games/mod.rs").write_text(f"pub mod {GAME};\n")
    ours = msgspec.structs.replace(registry.game("tictactoe"), starters=str(tmp_path / "starters"))
    words = ["--game", f"./{GAME}", str(new_bot(language, ours)), "@random", "--seed", "7", "--set", "from=21"]
    assert main([*words, "--strict"]) == 0, capsys.readouterr()
    assert "bot wins" in capsys.readouterr().out


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_name_that_no_program_can_use_is_refused_in_a_line(
    game: Path, language: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shapes = (game / "shapes.json").read_text()
    for name, words in (("a b", "no kit has a name for"), ("x; evil()", "no kit has a name for")):
        (game / "shapes.json").write_text(shapes.replace('"flag"', json.dumps(name)))
        SOURCE.forget()
        assert tools(["bindings", f"./{GAME}", "--lang", language, "out"]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert words in line and json.dumps(name) in line
    word = {"go": "range", "rust": "crate"}.get(language, "if")
    (game / "shapes.json").write_text(shapes.replace('"flag"', json.dumps(word)))
    SOURCE.forget()
    code = tools(["bindings", f"./{GAME}", "--lang", language, "out"])
    assert code == (0 if language == "go" else 1)
    assert language == "go" or f"is a reserved word of {language}" in capsys.readouterr().err


COMPILE = {
    "cpp": "g++ -std=c++17 -Werror -fsyntax-only -Iinclude -I$KIT/include -include referee/shapes.hpp -xc++ /dev/null",
    "java": "javac -J-XX:TieredStopAtLevel=1 -d . -cp $KIT/target/referee-kit.jar $(find src -name '*.java')",
    "python": "PYTHONPATH=$KIT:. python3 call.py",
}
"""How a binding is compiled, of C++ its header. The other languages have a test of every shape in their kits' files."""
CALL = """import referee_kit
referee_kit.__path__.append("referee_kit")
from referee_kit.shapes import RATES, ShapesBot

class Bot(ShapesBot):
    def play(self, *given):
        return given[1:]

state = {"here": [1, 2], "pieces": [], "grid": [], "three": [1, 2, 3]}
print(Bot().call("play", {"state": state, "factor": 0.5, "word": "w", "size": 4}), RATES)
"""


@pytest.mark.parametrize("language", COMPILE)
def test_constants_of_every_type_compile_and_a_parameter_that_may_be_null_may_be_absent(
    language: str, tmp_path: Path
) -> None:
    need(language)
    binding = Binding.read((PROBES / "shapes_c.json").read_text("utf-8"), "here")
    (tmp_path / "call.py").write_text(CALL)
    for path, text in binding_files(binding, language).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    said = run(COMPILE[language], tmp_path, os.environ | {"KIT": str(built(language))})
    assert language != "python" or said == "(0.5, 'w', None, None, <Size.LARGE: 4>, None) (1, 2.5)\n"
