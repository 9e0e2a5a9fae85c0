"""The Rust kit: its own checks, failing bots, its bindings and its build.

test_every_kit.py tests what all kits have in common.
"""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from driving import NAMES, Bot
from kits import WriteBot, built
from needs import skip_without

from referee.games import registry
from referee.harness.common.paths import KITS
from referee.protocol.messages import Encoding, ErrorObject
from referee.tools.kits import rust
from referee.tools.kits.shapes import Binding

KIT = KITS / "rust"

pytestmark = pytest.mark.usefixtures("rust_kit")


def cargo(*words: str | Path, cwd: Path | None = None, timeout: float = 200) -> None:
    """Runs cargo offline, with what the kit's build has fetched."""
    done = subprocess.run(
        ["cargo", *words, "--offline"], cwd=cwd or built("rust"), capture_output=True, text=True, timeout=timeout
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_librarys_own_tests_pass() -> None:
    cargo("test", "--quiet", "--release", "--lib")


ODD = """
use referee_kit::{json, run, Bot, Error, Match, Params, Value};
use std::io::Read;
use std::process::Command;

struct Odd(Match);

impl Bot for Odd {
    const GAME: &'static str = "odd";
    const VERSION: &'static str = "2.1";

    fn new(info: Match) -> Self {
        assert!(info.seat != 7, "no seat {}", info.seat);
        Odd(info)
    }

    fn answer(&mut self, method: &str, params: &Params) -> Result<Value, Error> {
        match method {
            "match" => {
                let limits = &self.0.limits;
                let limits = json!([limits.startup_ms, limits.processes, limits.scratch_bytes]);
                Ok(json!([self.0.game, self.0.seat, self.0.names, self.0.seed, limits]))
            }
            "error" => Ok(json!("x".parse::<i64>()?)),
            "index" => Ok(json!([1][params.get::<usize>("at")?])),
            "number" => std::panic::panic_any(5),
            "stdin" => Ok(json!(std::io::stdin().read(&mut [0])?)),
            "child" => Ok(json!(Command::new("sh").args(["-c", "echo from a child; ls /proc/$$/fd"]).status()?.code())),
            _ => Err(Error::UnknownMethod(method.to_owned())),
        }
    }

    fn notice(&mut self, method: &str, _params: &Params) -> Result<(), Error> {
        panic!("in {method}");
    }
}

impl Drop for Odd {
    fn drop(&mut self) {
        println!("dropped seat {}", self.0.seat);
    }
}

fn main() {
    print!("before run, ");
    run::<Odd>("Odd");
}
"""


def test_a_failing_bot_goes_on_answering(encoding: Encoding, written: WriteBot, tmp_path: Path) -> None:
    with Bot(written("rust", "odd", ODD), encoding, tmp_path / "log") as bot:
        hello = bot.initialize("odd", seat=1, seed=2**64 - 1)
        assert (hello.name, hello.version, hello.encoding, hello.reuse) == ("Odd", "2.1", encoding, True)
        assert bot.call("match") == ["odd", 1, [*NAMES], 2**64 - 1, [10_000, 7, 1 << 33]]
        assert bot.call("error") == ErrorObject(-32000, "invalid digit found in string")
        out_of_bounds = "index out of bounds: the len is 1 but the index is 3"
        assert bot.call("index", {"at": 3}) == ErrorObject(-32000, out_of_bounds)
        assert bot.call("index") == ErrorObject(-32000, "there is no parameter at")
        assert bot.call("number") == ErrorObject(-32000, "panicked")
        assert bot.call("surprise") == ErrorObject(-32601, "unknown method surprise")
        bot.notify("trouble", {})
        assert bot.call("stdin") == 0  # frames are not for the bot
        assert bot.exit() == 0
        log = bot.stderr()
    assert log.startswith("before run, ")
    assert log.endswith("dropped seat 1\n")
    for words in ("odd.rs:", out_of_bounds, "in trouble\n"):
        assert words in log


def test_a_child_process_does_not_inherit_the_wire(encoding: Encoding, written: WriteBot, tmp_path: Path) -> None:
    with Bot(written("rust", "odd", ODD), encoding, tmp_path / "log") as bot:
        bot.initialize("odd")
        assert bot.call("child") == 0
        assert bot.stderr().split("from a child\n")[1].split() == ["0", "1", "2"]


def test_the_last_matchs_bot_ends_before_the_next_begins(written: WriteBot, tmp_path: Path) -> None:
    with Bot(written("rust", "odd", ODD), Encoding.JSON, tmp_path / "log") as bot:
        bot.initialize("odd", seat=0)
        bot.initialize("odd", seat=1)
        assert bot.stderr() == "before run, dropped seat 0\n"


def test_a_match_that_a_bot_cannot_play_is_refused(written: WriteBot, encoding: Encoding, tmp_path: Path) -> None:
    for seat, game, words in (
        (0, "quoridor", "this bot plays odd, not quoridor"),
        (7, "odd", "no seat 7"),
    ):
        with Bot(written("rust", "odd", ODD), encoding, tmp_path / "log") as bot:
            assert bot.initialize(game, seat) == ErrorObject(-32000, words)


# The bindings.


def pair(first: str, second: str) -> dict[str, Any]:
    items = [{"type": "integer", "title": first}, {"type": "integer", "title": second}]
    return {"description": f"[{first}, {second}]", "type": "array", "prefixItems": items, "items": False}


def record(needed: dict[str, Any], may_be_absent: dict[str, Any] | None = None, title: str = "R") -> dict[str, Any]:
    properties = needed | (may_be_absent or {})
    return {"title": title, "description": title, "type": "object", "properties": properties, "required": [*needed]}


def ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def many(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item}


def one_of(tag: str, **choices: str) -> dict[str, Any]:
    mapping = {text: ref(name)["$ref"] for text, name in choices.items()}
    return {"anyOf": [*map(ref, choices.values())], "discriminator": {"propertyName": tag, "mapping": mapping}}


INT, FLOAT, BOOL, TEXT = ({"type": kind} for kind in ("integer", "number", "boolean", "string"))
NULL = {"type": "null"}
SCHEMA = {
    "title": "Made-up",
    "description": "A game with every shape.",
    "game": "madeup",
    "constants": {
        "SIZE": -3,
        "RATE": 0.5,
        "YES": True,
        "NAME": "n",
        "SIDES": ["b", "a"],
        "STEPS": [1, 2],
        "TURN_LEFT": -1,
        "STAY": 0,
        "OLD": 9,
    },
    "methods": {
        "look": {"kind": "call", "description": "Looks.", "params": ref("Look"), "result": ref("Deed")},
        "move": {"kind": "call", "description": "Moves.", "params": ref("Step"), "result": ref("Listed")},
        "rest": {"kind": "call", "description": "Rests.", "params": ref("Nothing"), "result": NULL},
        "heard": {"kind": "event", "description": "Hears.", "params": ref("Heard"), "result": None},
        "shown": {"kind": "viewer", "description": "For viewers.", "params": ref("Nothing"), "result": None},
    },
    "$defs": {
        "Nothing": record({}),
        "Tile": pair("row", "col"),
        "Side": {"enum": ["a", "b"]},
        "Turn": {"type": "integer", "enum": [-1, 0], "x-enum-varnames": ["TURN_LEFT", "STAY"]},
        "Mood": {"enum": ["", "self", "quite well", "N"]},
        "Ship": record({"kind": {"enum": ["ship"]}, "mass": FLOAT}, title="Ship"),
        "Rock": record({"kind": {"enum": ["rock"]}, "at": ref("Tile")}, {"type": INT}, title="Rock"),
        "Thing": one_of("kind", ship="Ship", rock="Rock"),
        "View": record(
            {
                "side": ref("Side"),
                "moods": many(ref("Mood")),
                "grid": many(many({"anyOf": [ref("Thing"), NULL]})),
                "both": {"type": "array", "prefixItems": [ref("Tile"), ref("Tile")], "items": False},
                "long": {"type": "array", "prefixItems": [FLOAT] * 40, "items": False},
                "extra": {},
            },
            {"deep": many(many(many(FLOAT))), "rock": ref("Rock"), "alive": BOOL, "note": TEXT, "odd": {}},
            title="View",
        ),
        "Look": record({"view": ref("View"), "loud": BOOL}, {"hint": ref("Tile")}),
        "Run": record({"do": {"enum": ["run"]}, "to": many(ref("Tile"))}, {"speed": FLOAT}, title="Run"),
        "Say": record({"do": {"enum": ["say"]}, "text": TEXT}, {"mood": ref("Mood")}, title="Say"),
        "Stay": record({"do": {"enum": ["stay"]}}, {"turns": INT}, title="Stay"),
        "Deed": one_of("do", run="Run", say="Say", stay="Stay"),
        "Step": record({"type": INT}, {"turn": ref("Turn")}),
        "Listed": {
            "title": "Listed",
            "description": "A list.",
            "type": "array",
            "prefixItems": [INT | {"title": "action"}, {"title": "arguments", "anyOf": [many(INT), NULL]}],
            "items": False,
        },
        "Heard": record({}, {"who": ref("Side"), "what": {}, "where": ref("Tile"), "times": many(INT)}, title="Heard"),
    },
}

MADE_UP = """
use super::*;
use crate::wire::{Encoding, Raw};
use crate::{json, Bot, Match, Params, Value};

#[derive(Default)]
struct Mine {
    heard: Vec<Heard>,
}

impl MadeUpBot for Mine {
    fn new(_info: Match) -> Self {
        Mine::default()
    }

    fn look(&mut self, view: View, loud: bool, hint: Option<Tile>) -> Deed {
        let ship = match &view.grid[0][0] {
            Some(Thing::Ship(ship)) => ship.clone(),
            other => panic!("{other:?}"),
        };
        let rock = match &view.grid[0][2] {
            Some(Thing::Rock(rock)) => rock.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!((view.side, ship.mass, rock.at, rock.r#type), (Side::A, 2.0, Tile { row: 3, col: 4 }, Some(5)));
        assert_eq!(view.moods, Mood::ALL);
        assert!(view.grid[0][1].is_none() && view.grid[1].is_empty());
        assert_eq!((view.both, view.long.len()), ([Tile::new(0, 1), Tile::new(2, 3)], 40));
        assert_eq!(view.extra, json!({"a": []}));
        assert_eq!((view.deep, view.rock), (Some(vec![vec![vec![0.5, 1.0]]]), None));
        assert_eq!((view.alive, view.note, view.odd), (None, None, Some(Value::Null)));
        match (loud, hint) {
            (true, Some(to)) => Run { speed: Some(0.5), ..Run::new(vec![to]) }.into(),
            (true, None) => Say { mood: Some(Mood::Self_), ..Say::new("no hint") }.into(),
            (false, _) => Stay::default().into(),
        }
    }

    fn r#move(&mut self, r#type: i64, turn: Option<Turn>) -> Listed {
        assert_eq!(turn, Turn::try_from(r#type).ok());
        let arguments = if r#type == 0 { None } else { Some(vec![r#type, SIZE]) };
        Listed { arguments, ..Listed::new(r#type) }
    }

    fn heard(&mut self, heard: Heard) {
        self.heard.push(heard);
    }
}

fn in_both(value: &Value, check: impl Fn(&Params)) {
    for encoding in [Encoding::Json, Encoding::MessagePack] {
        let bytes = encoding.encode(value).unwrap();
        check(&Params::new(Raw { bytes: &bytes, encoding }).unwrap());
    }
}

fn answer(method: &str, params: Value, wanted: Value) {
    in_both(&params, |params| {
        assert_eq!(Typed(Mine::default()).answer(method, params).unwrap(), wanted);
    });
}

#[test]
fn constants_keep_their_names() {
    assert_eq!((SIZE, RATE, YES, NAME, STEPS, OLD), (-3, 0.5, true, "n", [1, 2], 9));
    assert_eq!((SIDES, Side::ALL, Turn::ALL), ([Side::B, Side::A], [Side::B, Side::A], [Turn::TurnLeft, Turn::Stay]));
    assert_eq!(Mood::ALL, [Mood::None, Mood::Self_, Mood::QuiteWell, Mood::N]);
}

#[test]
fn every_shape_is_read_and_every_choice_is_written() {
    let ship = json!({"kind": "ship", "mass": 2, "newer": 1});
    let rock = json!({"at": [3, 4], "type": 5, "kind": "rock"});
    let moods = json!(["", "self", "quite well", "N"]);
    let view = json!({"side": "a", "moods": moods, "grid": [[ship, null, rock], []], "both": [[0, 1], [2, 3]],
        "long": vec![0.5; 40], "extra": {"a": []}, "deep": [[[0.5, 1]]], "rock": {"at": [3]}, "alive": "yes",
        "odd": null});
    let run = json!({"do": "run", "to": [[8, 9]], "speed": 0.5});
    let said = json!({"do": "say", "text": "no hint", "mood": "self"});
    answer("look", json!({"view": view, "loud": true, "hint": [8, 9]}), run);
    answer("look", json!({"view": view, "loud": true, "hint": null}), said.clone());
    answer("look", json!({"view": view, "loud": true, "hint": "x"}), said);
    answer("look", json!({"view": view, "loud": false}), json!({"do": "stay"}));
}

#[test]
fn a_record_that_is_a_list_is_written_as_one() {
    answer("move", json!({"type": 3}), json!([3, [3, -3]]));
    answer("move", json!({"type": 3, "turn": 3}), json!([3, [3, -3]]));
    answer("move", json!({"type": 0, "turn": 0}), json!([0, null]));
    answer("move", json!({"type": -1, "turn": -1}), json!([-1, [-1, -3]]));
    answer("rest", json!({}), json!(null));
}

#[test]
fn a_choice_that_is_none_and_a_missing_member_are_errors() {
    for params in [json!({"view": {}, "loud": true}), json!({"loud": true})] {
        in_both(&params, |params| assert!(Typed(Mine::default()).answer("look", params).is_err()));
    }
    for thing in [json!({"kind": "tree"}), json!({"kind": "ship"}), json!({})] {
        assert!(serde_json::from_value::<Thing>(thing).is_err());
    }
}

#[test]
fn an_event_reads_nonsense_as_absent() {
    let shown = json!({"who": 5, "what": {"who": "a"}, "where": [1, 2, 3], "times": [1, "2"]});
    in_both(&shown, |params| {
        let mut bot = Typed(Mine::default());
        bot.notice("heard", params).unwrap();
        bot.notice("unheard of", params).unwrap();
        let what = Some(json!({"who": "a"}));
        assert_eq!(bot.0.heard, [Heard { who: None, what, r#where: None, times: None }]);
    });
}
"""


def test_every_shape_of_a_schema_is_bound() -> None:
    """Tests the kit with a made-up game, always in the same folder for cargo's cache."""
    folder = built("rust") / "target" / "madeup"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(KIT / "src", folder / "src")
    manifest = (KIT / "Cargo.toml").read_text("utf-8").replace('"examples/*"', "")
    manifest = manifest.replace("[features]\ndefault = [", '[features]\nmadeup = []\ndefault = ["madeup", ')
    (folder / "Cargo.toml").write_text(manifest, "utf-8")
    for name in ("Cargo.lock", "conformance.rs"):
        shutil.copy(KIT / name, folder)
    (folder / "src" / "tests.rs").write_text("", "utf-8")
    games = folder / "src" / "games"
    (games / "mod.rs").write_text(rust.modules([*registry.names(), "madeup"]), "utf-8")
    binding = rust.emit(Binding.read(json.dumps(SCHEMA), "here"))
    (games / "madeup.rs").write_text(f"{binding}\n#[cfg(test)]\nmod checks {{{MADE_UP}}}\n", "utf-8")
    cargo("test", "--quiet", "--release", "--lib", "--target-dir", built("rust") / "target", cwd=folder)


def test_the_sources_are_formatted() -> None:
    skip_without("rustfmt")
    cargo_fmt = subprocess.run(
        ["cargo", "fmt", "--all", "--check"], cwd=KIT, capture_output=True, text=True, timeout=60
    )
    assert (cargo_fmt.returncode, cargo_fmt.stdout) == (0, "")


# The build.


def test_a_second_build_without_changes_builds_nothing() -> None:
    for name in ("reantics", "my_quoridor", "my_reantics", "my_tictactoe"):
        folder = built("rust") / "examples" / name
        command = f"cargo build --quiet --release --package {name}_bot"
        assert f'build = "{command}"' in (folder / "bot.toml").read_text("utf-8")
        program = built("rust") / "target" / "release" / f"{name}_bot"
        made = program.stat().st_mtime_ns
        cargo(*command.split()[1:], cwd=folder, timeout=60)
        assert program.stat().st_mtime_ns == made
