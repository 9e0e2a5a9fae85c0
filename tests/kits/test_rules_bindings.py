"""Bindings that are made from the schemas of a game's folder: they compile in every language, and bots play with them.

The author of the folder is a stranger: texts try to end comments, and names are words of languages.
"""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from kits import need
from rules_games import COUNTDOWN, toml

from referee.addons.rules.source import SOURCE
from referee.games import registry
from referee.harness.cli.main import main
from referee.harness.new import write as new
from referee.tools.__main__ import main as tools
from referee.tools.kits.files import LANGUAGES

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
def game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Countdown, with a call and a notice of every shape, which are never sent."""
    folder = tmp_path / "countdown"
    folder.mkdir()
    (folder / "shapes.json").write_text(json.dumps({"$defs": SHAPES}))
    for file in COUNTDOWN.iterdir():
        if file.is_file():
            (folder / file.name).write_text(file.read_text().replace('"python3"', json.dumps(sys.executable)))
    plan = {"doc": EVIL, "params": "shapes.json#/$defs/Everything", "result": "shapes.json#/$defs/Plan"}
    more = {"methods.plan": plan, "notices.seen": {"doc": EVIL, "params": "shapes.json#/$defs/Everything"}}
    more["methods.say"] = {"doc": EVIL, "params": "shapes.json#/$defs/Said", "result": {}}
    more["constants"] = {"LARGEST": 3, "COLOURS": ["red", "dark blue"], "QUOTE": 'a"; evil'}
    tables = [f"[{name}]\n" + "".join(f"{key} = {toml(each)}\n" for key, each in more[name].items()) for name in more]
    text = (folder / "game.toml").read_text()
    (folder / "game.toml").write_text("\n".join([text, *tables]))
    monkeypatch.chdir(tmp_path)
    return folder


BOTS = {
    "c": """#include <referee/countdown.h>

static int take(referee_match* match, int left) {
    (void)match;
    return left % 4 ? left % 4 : 1;
}

static countdown_plan plan(referee_match* match, countdown_item_list items, bool flag, const char* name,
                           countdown_maybe_item_list_list grid, countdown_level level, const countdown_item* near) {
    (void)items, (void)flag, (void)name, (void)grid, (void)level, (void)near;
    return (countdown_plan){.moves = countdown_new_walk_list(match, 0)};
}

static const referee_value* say(referee_match* match, const referee_value* what) {
    (void)match;
    return what;
}

int main(void) {
    return countdown_run(&(countdown_bot){.name = "first", .take = take, .plan = plan, .say = say});
}
""",
    "cpp": """#include <referee/countdown.hpp>

using namespace referee;
using namespace referee::countdown;

class First : public CountdownBot {
   public:
    using CountdownBot::CountdownBot;

    int take(int left) override { return left % 4 ? left % 4 : 1; }

    Plan plan(const std::vector<Item>&, bool, const std::string&, const std::vector<std::vector<std::optional<Item>>>&,
              Level, const std::optional<Item>&) override {
        return {};
    }

    Anything say(const Anything& what) override { return what; }
};

int main() { return run<First>("first"); }
""",
    "go": """package main

import (
	referee "github.com/OWNER/referee/starter_kits/go"
	"github.com/OWNER/referee/starter_kits/go/countdown"
)

type first struct{ countdown.Base }

func (first) Take(left int) int {
	if left%4 == 0 {
		return 1
	}
	return left % 4
}

func (first) Plan(_ []countdown.Item, _ bool, _ string, _ [][]*countdown.Item, _ countdown.Level,
	_ *countdown.Item) countdown.Plan {
	return countdown.Plan{}
}

func (first) Say(what any) any { return what }

func main() {
	countdown.Run("first", "1", func(*referee.Match) countdown.Bot { return first{} })
}
""",
    "java": """import java.util.List;
import referee.kit.Match;
import referee.kit.countdown.CountdownBot;

public class MyTicTacToe extends CountdownBot {
    public MyTicTacToe(Match match) {
        super(match);
    }

    public static void main(String[] args) {
        run(MyTicTacToe::new);
    }

    @Override
    public int take(int left) {
        return left % 4 == 0 ? 1 : left % 4;
    }

    @Override
    public Plan plan(List<Item> items, boolean flag, String name, List<List<Item>> grid, Level level, Item near) {
        return new Plan(List.of());
    }

    @Override
    public Object say(Object what) {
        return what;
    }
}
""",
    "javascript": """import { CountdownBot, type Plan, run } from "referee-kit/countdown";

class First extends CountdownBot {
  take(left: number): number {
    return left % 4 || 1;
  }

  plan(): Plan {
    return { moves: [] };
  }

  say(what: unknown): unknown {
    return what;
  }
}

run(First);
""",
    "python": """from referee_kit.countdown import CountdownBot, Plan, run


class First(CountdownBot):
    def take(self, left):
        return left % 4 or 1

    def plan(self, *_):
        return Plan([])

    def say(self, what):
        return what


run(First)
""",
    "rust": """use referee_kit::countdown::*;
use referee_kit::Match;

struct First;

impl CountdownBot for First {
    fn new(_info: Match) -> Self {
        First
    }

    fn take(&mut self, left: i64) -> i64 {
        if left % 4 == 0 { 1 } else { left % 4 }
    }

    fn plan(
        &mut self, _: Vec<Item>, _: bool, _: String, _: Vec<Vec<Option<Item>>>, _: Level, _: Option<Item>,
    ) -> Plan {
        Plan::new(vec![])
    }

    fn say(&mut self, what: referee_kit::Value) -> referee_kit::Value {
        what
    }
}

fn main() {
    run::<First>("first");
}
""",
}
"""For each language, a bot of the game. Java's class has the name that the bot's build starts."""
PLACES = {
    "c": "bot.c",
    "cpp": "bot.cpp",
    "go": "main.go",
    "java": "src/main/java/MyTicTacToe.java",
    "javascript": "bot.ts",
    "python": "bot.py",
    "rust": "src/main.rs",
}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_bot_with_a_binding_from_a_folder_compiles_and_plays(
    game: Path, language: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if language != "python":
        need(language)
    bot = tmp_path / "bot"
    new.write(registry.game("tictactoe"), language, bot)
    assert (bot / PLACES[language]).is_file()
    assert tools(["bindings", "./countdown", "--lang", language, str(bot)]) == 0
    (bot / PLACES[language]).write_text(BOTS[language])
    if language == "rust":
        (bot / "referee_kit/src/games/mod.rs").write_text("pub mod countdown;\n")
    try:
        words = ["--game", "./countdown", "./bot", "@random", "--seed", "7", "--set", "from=21", "--strict"]
        assert main(words) == 0, capsys.readouterr()
        assert "bot wins" in capsys.readouterr().out
    finally:
        SOURCE.forget()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_name_that_no_program_can_use_is_refused_in_a_line(
    game: Path, language: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shapes = (game / "shapes.json").read_text()
    for name, words in (("a b", "no kit has a name for"), ("x; evil()", "no kit has a name for")):
        (game / "shapes.json").write_text(shapes.replace('"flag"', json.dumps(name)))
        SOURCE.forget()
        assert tools(["bindings", "./countdown", "--lang", language, "out"]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert words in line and json.dumps(name) in line
    word = {"go": "range", "rust": "crate"}.get(language, "if")
    (game / "shapes.json").write_text(shapes.replace('"flag"', json.dumps(word)))
    SOURCE.forget()
    code = tools(["bindings", "./countdown", "--lang", language, "out"])
    assert code == (0 if language == "go" else 1)
    assert language == "go" or f"is a reserved word of {language}" in capsys.readouterr().err
    SOURCE.forget()
