"""The Go starter kit's own: its checks, bots in trouble, its build, and the bindings of a game that has every shape.

test_every_kit.py tests what all kits have in common.
"""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from driving import NAMES, Bot
from kits import WriteBot, readme_bot, work

from referee.harness.common.paths import KITS
from referee.harness.isolation.plan import Isolation
from referee.harness.process.limits import Limits
from referee.harness.programs.spec import entrant
from referee.protocol.messages import Encoding, ErrorObject
from referee.tools.kits import go
from referee.tools.kits.shapes import Binding

KIT = KITS / "go"
BUILD = "go build -C ../.. -buildvcs=false -o build/ ./examples/{}"

pytestmark = pytest.mark.usefixtures("go_kit")


def run_go(*args: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["go", *args], cwd=KIT, capture_output=True, text=True, timeout=250)


def test_the_librarys_own_tests_pass() -> None:
    done = run_go("test", "./...")
    assert done.returncode == 0, done.stdout + done.stderr


def test_all_go_code_is_formatted_and_vetted(tmp_path: Path) -> None:
    (tmp_path / "mybot.go").write_text(readme_bot("go"), "utf-8")
    done = subprocess.run(["gofmt", "-l", KIT, tmp_path], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    for what in ("./...", str(tmp_path / "mybot.go")):
        done = run_go("vet", what)
        assert done.returncode == 0, done.stderr


ODD = """
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"

	referee "github.com/OWNER/referee/starter_kits/go"
)

var _, _ = fmt.Println("before main")

type odd struct {
	match *referee.Match
	luck  *rand.Rand
}

func (o *odd) Answer(method string, params json.RawMessage) (any, error) {
	switch method {
	case "match":
		m := o.match
		limits := []any{m.Limits.StartupMs, m.Limits.CallMs, m.Limits.Processes, m.Limits.ScratchBytes}
		return []any{m.Game, m.Seat, m.Names, m.Options, limits, m.Seed}, nil
	case "luck":
		return o.luck.Uint64(), nil
	case "child":
		child := exec.Command("sh", "-c", "echo a child; exit 3")
		child.Stdout = os.Stdout
		return child.Run() != nil, nil
	case "stdin":
		text, err := io.ReadAll(os.Stdin)
		return string(text), err
	case "nil":
		var nobody *odd
		return nobody.match.Seat, nil
	case "odd":
		panic(o.match.Limits)
	case "background":
		go func() { select {} }()
		return nil, nil
	}
	return nil, referee.ErrUnknownMethod
}

func (o *odd) Notice(method string, params json.RawMessage) error { return fmt.Errorf("in %s", method) }

func fresh(match *referee.Match) referee.Bot {
	if match.Seat == 7 {
		panic("no seat 7")
	}
	return &odd{match, rand.New(rand.NewPCG(match.Seed, 0))}
}

func main() {
	println("in main")
	referee.Run(referee.Program{Name: "Odd", Version: "2.1", Game: "odd"}, fresh)
}
"""


def test_a_failing_bot_goes_on_answering(encoding: Encoding, written: WriteBot, tmp_path: Path) -> None:
    with Bot(written("go", "odd", ODD), encoding, tmp_path / "log") as bot:
        hello = bot.initialize("odd", seat=1, seed=2**64 - 1, options={"board": False})
        assert (hello.name, hello.version, hello.encoding, hello.reuse) == ("Odd", "2.1", encoding, True)
        assert bot.call("match") == ["odd", 1, [*NAMES], {"board": False}, [10_000, None, 7, 1 << 33], 2**64 - 1]
        assert bot.call("nil") == ErrorObject(
            -32000, "runtime error: invalid memory address or nil pointer dereference"
        )
        failure = bot.call("odd")
        assert isinstance(failure, ErrorObject)
        assert bot.call("surprise") == ErrorObject(-32601, "unknown method surprise")
        bot.notify("trouble", {})
        assert bot.call("stdin") == ""  # frames are not for the bot
        assert bot.call("child") is True
        assert bot.call("background") is None
        assert bot.exit() == 0
        log = bot.stderr()
    assert log.startswith("before main\nin main\nnil: panic: runtime error: ")
    assert "\tin main.(*odd).Answer, " in log
    assert "trouble: in trouble\n" in log
    assert log.endswith("a child\n")


def test_each_match_has_a_fresh_bot_and_the_seed_repeats_its_luck(
    encoding: Encoding, written: WriteBot, tmp_path: Path
) -> None:
    with Bot(written("go", "odd", ODD), encoding, tmp_path / "log") as bot:
        draws = []
        for seed in (7, 7, 8):
            assert bot.initialize("odd", seed=seed).encoding is encoding
            draws.append(bot.call("luck"))
    assert draws[0] == draws[1] != draws[2]


def test_a_match_that_a_bot_cannot_play_is_refused(encoding: Encoding, written: WriteBot, tmp_path: Path) -> None:
    with Bot(written("go", "odd", ODD), encoding, tmp_path / "log") as bot:
        assert bot.initialize("odd", seat=7) == ErrorObject(-32000, "no seat 7")


def test_a_build_without_changes_is_quick_and_writes_nothing() -> None:
    entrant(str(KIT / "examples" / "reantics"))
    program = work("go") / "build" / "reantics"
    made = program.stat().st_ino  # Go updates the time of unchanged files too
    subprocess.run(
        ["/bin/sh", "-c", BUILD.format("reantics")], cwd=work("go") / "examples" / "reantics", check=True, timeout=5
    )
    assert program.stat().st_ino == made


def test_bot_toml_has_the_same_build() -> None:
    settings = (KIT / "examples" / "reantics" / "bot.toml").read_text("utf-8")
    assert f'build = "{BUILD.format("reantics")}"' in settings


def test_a_template_plays_from_any_copy_of_the_kit(tmp_path: Path) -> None:
    shutil.copytree(KIT, tmp_path / "kit", ignore=shutil.ignore_patterns("build"))
    copied = str(tmp_path / "kit" / "examples" / "my_tictactoe")
    shown = Limits(isolation=Isolation(readable=(str(tmp_path / "kit"),)))
    with Bot(entrant(copied, limits=shown), Encoding.JSON, tmp_path / "log") as bot:
        assert bot.initialize("tictactoe").name == "My tic-tac-toe bot"


# The bindings of a game that has every shape.


def ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def maybe(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


def many(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": schema}


def record(doc: str, required: str = "", **properties: Any) -> dict[str, Any]:
    return {"type": "object", "description": doc, "properties": properties, "required": required.split()}


def union(tag: str, **choices: str) -> dict[str, Any]:
    mapping = {text: f"#/$defs/{name}" for text, name in choices.items()}
    return {
        "anyOf": [ref(name) for name in choices.values()],
        "discriminator": {"propertyName": tag, "mapping": mapping},
    }


INT, FLOAT, BOOL, STR = ({"type": kind} for kind in ("integer", "number", "boolean", "string"))
SHAPES: dict[str, Any] = {
    "title": "Every shape",
    "description": "A game of shapes.",
    "game": "shapes",
    "constants": {"SIZE": 3, "RATE": 0.5, "NAME": "a", "SIZES": [4, 5], "NAMES": ["a", "b"], "RATES": [0.5]},
    "methods": {
        "look": {
            "kind": "call",
            "description": "Look.",
            "params": ref("Look"),
            "result": many(maybe(ref("Order"))),
        },
        "range": {"kind": "call", "description": "Range.", "params": ref("Range"), "result": ref("Listed")},
        "end": {"kind": "call", "description": "End.", "params": ref("Range"), "result": {"type": "null"}},
        "heard": {"kind": "event", "description": "Heard.", "params": ref("Everything"), "result": None},
        "drawn": {"kind": "viewer", "description": "Drawn.", "params": ref("Range"), "result": None},
    },
    "$defs": {
        "Tile": {
            "description": "a tile",
            "type": "array",
            "prefixItems": [{"type": "integer", "title": "row"}, {"type": "integer", "title": "col"}],
        },
        "Minion": record("A minion.", "type health", type={"enum": ["minion"]}, health={"description": "left", **INT}),
        "Spell": record("A spell.", "type", type={"enum": ["spell"]}, at=maybe(ref("Tile"))),
        "Speed": {"description": "a speed", "type": "integer", "enum": [1, 2], "x-enum-varnames": ["FAST", "R_SLOW"]},
        "Side": {"description": "a side", "enum": ["X", "draw"]},
        "Card": union("type", minion="Minion", spell="Spell"),
        "Go": record("Goes.", "kind to", kind={"enum": ["go"]}, to=ref("Tile"), why=maybe(STR)),
        "Wait": record(
            "Waits.",
            "kind",
            kind={"enum": ["wait"]},
            rate=maybe(FLOAT),
            speed=maybe(ref("Speed")),
            extra={"description": "anything"},
        ),
        "Order": union("kind", go="Go", wait="Wait"),
        "Point": {
            "description": "A point in space.",
            "title": "Point",
            "type": "array",
            "prefixItems": [{"title": "name", **STR}, {"title": "place", **many(FLOAT)}],
        },
        "Listed": {
            "description": "An answer.",
            "title": "Listed",
            "type": "array",
            "prefixItems": [
                {"title": "action", **INT},
                {"title": "arguments", **maybe(many(INT))},
                {"title": "tile", **ref("Tile")},
            ],
        },
        "Everything": record(
            "All of it.",
            "number rate truth text",
            number=INT,
            rate=FLOAT,
            truth=BOOL,
            text=STR,
            value={"description": "anything"},
            tile=maybe(ref("Tile")),
            card=maybe(ref("Card")),
            hand=maybe(many(maybe(ref("Card")))),
            grid=maybe(many(many(maybe(ref("Tile"))))),
            three={"type": "array", "prefixItems": [FLOAT, FLOAT, FLOAT]},
            point=maybe(ref("Point")),
            left=maybe(INT),
            speeds=maybe(many(ref("Speed"))),
            side=maybe(ref("Side")),
        ),
        "Look": record("Look.", "all cards", all=ref("Everything"), cards=many(ref("Card")), type=maybe(INT)),
        "Range": record("Range.", "map", map=many(many(FLOAT))),
    },
}

SHAPES_TEST = """
package shapes

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	referee "github.com/OWNER/referee/starter_kits/go"
)

type bot struct{ Base }

func (bot) Look(all Everything, cards []Card, type_ *int) []Order {
	orders := []Order{nil, Wait{}}
	for _, card := range cards {
		switch card := card.(type) {
		case Minion:
			rate, speed := float64(card.Health), RSlow
			orders = append(orders, Wait{Rate: &rate, Speed: &speed, Extra: []any{card.Type}})
		case Spell:
			orders = append(orders, Go{To: *card.At, Why: referee.Some("why")})
		}
	}
	return orders
}

func (bot) Range(map_ [][]float64) Listed {
	if len(map_) == 0 {
		return Listed{Action: Size}
	}
	return Listed{int(map_[0][0]), []int{}, Tile{Row: 1, Col: 2}}
}

const everything = `{"number":1,"rate":2,"truth":true,"text":"x","value":{"a":null},"tile":[3,4],
	"card":{"health":5,"type":"minion"},"hand":[null,{"type":"spell","at":[6,7]},{"type":"spell"}],"grid":[[null,[8,9]],[]],"three":[0.5,1,1.5],
	"point":["p",[1,2.5]],"left":null,"speeds":[2,1,7],"side":"draw","newer":[1]}`

const nonsense = `{"NUMBER":7,"number":1,"rate":"x","truth":true,"text":"x","tile":[3],"card":{"type":"dragon"},
	"hand":[{"type":"minion","health":0.5}],"grid":[[["a"]]],"point":{"name":1},"left":0.5,"speeds":["x"],"side":4}`

func TestEverythingIsRead(t *testing.T) {
	var all Everything
	if err := referee.ReadEvent([]byte(everything), &all); err != nil {
		t.Fatal(err)
	}
	equal(t, "1 2 true x map[a:<nil>]", all.Number, all.Rate, all.Truth, all.Text, all.Value)
	equal(t, "{3 4} {minion 5} {8 9}", *all.Tile, all.Card, *all.Grid[0][1])
	equal(t, "[0.5 1 1.5] {p [1 2.5]}", all.Three, *all.Point)
	equal(t, "[RSlow Fast Speed(7)] draw true", all.Speeds, *all.Side, *all.Side == SideDraw)
	first, second, third := all.Hand[0], all.Hand[1].(Spell), all.Hand[2].(Spell)
	equal(t, "<nil> {6 7} true true", first, *second.At, third.At == nil, all.Left == nil)
	equal(t, "true 1", all.Grid[0][0] == nil, map[Tile]int{*all.Tile: 1}[Tile{Row: 3, Col: 4}])
}

func TestNonsenseInAnEventReadsAsAbsent(t *testing.T) {
	var all Everything
	if err := referee.ReadEvent([]byte(nonsense), &all); err != nil {
		t.Fatal(err)
	}
	equal(t, "1 0 <nil> <nil> [] true", all.Number, all.Rate, all.Value, all.Card, all.Hand, all.Three == nil)
	equal(t, "true true true true", all.Tile == nil, all.Point == nil, all.Left == nil, all.Grid == nil)
	equal(t, "true true", all.Speeds == nil, all.Side == nil)
}

// listening answers a call with what it sees.
type listening struct{ bot }

func (listening) Look(all Everything, cards []Card, type_ *int) []Order {
	panic(fmt.Sprint(all.Card, cards, *type_))
}

func TestACallIsReadWithItsUnions(t *testing.T) {
	defer func() { equal(t, "{minion 5} [{spell <nil>} {minion 2}] 3", recover()) }()
	look := `{"all":` + everything + `,"cards":[{"type":"spell"},{"health":2,"type":"minion"}],"type":3}`
	_, err := untyped{listening{}}.Answer("look", []byte(look))
	t.Error(err)
}

func TestNonsenseInACallIsAnError(t *testing.T) {
	for params, words := range map[string]string{
		`{"type":"x"}`:                  "json: cannot unmarshal string into Go struct field .type of type int",
		`{"cards":[{"type":"dragon"}]}`: `no Card has the type "dragon"`,
		`{"all":{"point":["p"]}}`:       "a list of 1 items; expected 2",
	} {
		if _, err := (untyped{bot{}}).Answer("look", []byte(params)); err == nil || err.Error() != words {
			t.Errorf("%s: %v", params, err)
		}
	}
}

func TestAnswersAreWritten(t *testing.T) {
	cards := []Card{Minion{Type: "minion", Health: 7}, Spell{At: &Tile{Row: 1, Col: 2}}}
	orders := (bot{}).Look(Everything{}, cards, nil)
	text, err := json.Marshal([]any{orders, bot{}.Range(nil), bot{}.Range([][]float64{{4}})})
	if err != nil {
		t.Fatal(err)
	}
	wanted := `null,{"kind":"wait"},{"kind":"wait","rate":7,"speed":2,"extra":["minion"]},` +
		`{"kind":"go","to":[1,2],"why":"why"}`
	equal(t, "[["+wanted+`],[3,null,[0,0]],[4,[],[1,2]]]`, string(text))
	equal(t, "3 0.5 a [4 5] [a b] [0.5]", Size, Rate, Name, Sizes, Names, Rates)
}

func equal(t *testing.T, wanted string, got ...any) {
	t.Helper()
	if text := strings.TrimSuffix(fmt.Sprintln(got...), "\\n"); text != wanted {
		t.Errorf("got %s, wanted %s", text, wanted)
	}
}

var _ Bot = bot{}
"""


def test_the_bindings_of_every_shape_are_formatted_compile_and_work(tmp_path: Path) -> None:
    (tmp_path / "shapes.go").write_text(go.emit(Binding.read(json.dumps(SHAPES), "here")), "utf-8")
    (tmp_path / "shapes_test.go").write_text(SHAPES_TEST.lstrip(), "utf-8")
    (tmp_path / "go.mod").write_text("module shapes\n\ngo 1.23\n")
    (tmp_path / "go.work").write_text(f"go 1.23\n\nuse (\n\t.\n\t{KIT}\n)\n")
    for command in (["gofmt", "-d", "."], ["go", "vet", "."], ["go", "test", "."]):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=250)
        assert done.returncode == 0, done.stdout + done.stderr
        assert command[0] == "go" or done.stdout == ""
