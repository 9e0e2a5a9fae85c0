"""The JavaScript kit: prints, promises, TypeScript, its unit tests and its build.

test_every_kit.py tests what all kits have in common.
"""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from driving import NAMES, Bot
from kits import WriteBot, built, readme_bot

from referee.games.tictactoe import CELLS
from referee.games.tictactoe import GAME as TICTACTOE
from referee.harness.common.errors import RunError
from referee.harness.common.paths import KITS
from referee.harness.isolation.plan import Isolation
from referee.harness.new import write as new
from referee.harness.process.limits import Limits
from referee.harness.programs.spec import entrant
from referee.protocol.messages import Encoding, ErrorObject
from referee.tools.kits import javascript
from referee.tools.kits.shapes import Binding

KIT = KITS / "javascript"

pytestmark = pytest.mark.usefixtures("javascript_kit")


def test_its_unit_tests_pass() -> None:
    command = ["node", "--test", *(built("javascript") / "dist" / "tests").glob("*.test.js")]
    done = subprocess.run(command, cwd=built("javascript"), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout
    assert "\n# fail 0\n" in done.stdout
    assert "\n# pass 0\n" not in done.stdout


@pytest.mark.parametrize("package", ["package.json", "new/package.json"])
def test_npm_scripts_are_single_commands_that_need_no_shell(package: str) -> None:
    scripts = json.loads((KIT / package).read_text("utf-8"))["scripts"]
    for name, command in scripts.items():
        filled_in = command.replace("@artifact@", "bot")
        assert re.fullmatch(r"(node|tsc)( [\w./-]+)*", filled_in), f"{name}: {command}"


ODD = """
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Bot, run } from "referee-kit";

console.log("while the file is read");

class Odd extends Bot {
    drawn = [this.match.random(), this.match.seat];

    answer(method, params) {
        switch (method) {
            case "prints":
                process.stdout.write("stdout\\n");
                fs.writeSync(1, "descriptor 1\\n");
                spawnSync("sh", ["-c", "echo child; ls /proc/self/fd | wc -l"], { stdio: "inherit" });
                console.error("stderr");
                return null;
            case "input":
                return fs.readFileSync(0, "utf8") + execFileSync("cat", { stdio: ["inherit", "pipe", "inherit"] });
            case "match": {
                const { game, seat, names, options, limits, seed } = this.match;
                return [game, seat, names, options, limits.startup_ms, limits.processes, limits.scratch_bytes, seed];
            }
            case "draw":
                return [...this.drawn, this.match.random()];
            case "later":
                return sleep(20, "later");
            case "rejected":
                return sleep(1).then(() => { throw new RangeError("too late"); });
            case "in a timer":
                setTimeout(() => { throw new Error("nobody caught this"); }, 1);
                return new Promise(() => {});
            case "after the answer":
                setTimeout(() => { throw new Error("nobody heard this"); }, 1);
                return null;
            case "busy":
                Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20); // timers are late for it
                return null;
            case "never":
                setInterval(() => {}, 1000);
                return null;
            case "cycle": {
                const cycle = {};
                cycle.cycle = cycle;
                return cycle;
            }
            case "deep":
                return this.answer(method, params);
            case "bare":
                throw new TypeError();
            case "word":
                throw "a word";
            case "nan":
                return [NaN, 2n ** 63n, "\\ud83d"];
            case "leave":
                process.exit(3);
        }
        return super.answer(method, params);
    }
}

run(Odd);
"""


@pytest.fixture
def odd(written: WriteBot, encoding: Encoding, tmp_path: Path) -> Any:
    with Bot(written("javascript", "odd", ODD), encoding, tmp_path / "log") as bot:
        assert bot.initialize("any", seat=1, seed=2**64 - 1, options={"board": False}).name == "Odd"
        yield bot


def test_no_print_reaches_the_wire_and_children_do_not_inherit_it(odd: Bot) -> None:
    assert odd.call("prints") is None
    printed = ["while the file is read", "stdout", "descriptor 1", "child", "4", "stderr"]  # 0, 1, 2 and the folder
    assert odd.stderr().split("\n") == [*printed, ""]


def test_standard_input_is_empty_for_the_bot_and_its_children(odd: Bot) -> None:
    assert odd.call("input") == ""


def test_the_bot_knows_the_match(odd: Bot) -> None:
    assert odd.call("match") == ["any", 1, [*NAMES], {"board": False}, 10_000, 7, 1 << 33, 2**64 - 1]


def test_the_same_seed_gives_the_same_luck_and_each_match_a_new_bot(odd: Bot) -> None:
    draws = []
    for seed in (4, 5, 4):
        odd.initialize("any", seed=seed)
        draws.append(odd.call("draw"))
    assert draws[0] == draws[2] != draws[1]


def test_a_promise_is_awaited_and_its_error_is_reported(odd: Bot) -> None:
    assert odd.call("later") == "later"
    assert odd.call("rejected") == ErrorObject(-32000, "too late")
    assert odd.call("later") == "later"


def test_an_uncaught_error_fails_the_open_call_and_the_bot_goes_on(odd: Bot) -> None:
    assert odd.call("in a timer") == ErrorObject(-32000, "nobody caught this")
    assert odd.call("after the answer") is None
    assert odd.call("busy") is None
    assert odd.call("later") == "later"
    assert "Error: nobody heard this\n" in odd.stderr()


def test_values_outside_of_json_are_converted_or_an_error_in_both_encodings(odd: Bot) -> None:
    assert odd.call("nan") == [None, 2**63, "\ufffd"]
    for method, words in {"cycle": "circular", "deep": "call stack", "bare": "TypeError", "word": "a word"}.items():
        failure = odd.call(method)
        assert isinstance(failure, ErrorObject)
        assert failure.code == -32000
        assert words in failure.message
    assert odd.call("later") == "later"


def test_exit_does_not_wait_for_timers_and_a_bot_may_have_its_own_exit_code(odd: Bot) -> None:
    assert odd.call("never") is None
    assert odd.exit() == 0


def test_a_bot_may_exit_with_its_own_code(odd: Bot) -> None:
    with pytest.raises(AssertionError, match="the bot ended"):
        odd.call("leave")
    assert odd.process.wait(10) == 3


def test_no_key_that_a_rival_sends_ends_the_bot(odd: Bot) -> None:
    odd.notify("event", {"position": {"__proto__": {"a": 1}, "constructor": None}})
    assert odd.call("later") == "later"


def test_a_bot_runs_with_files_instead_of_pipes(tmp_path: Path) -> None:
    """Frames go to standard output, prints do not."""
    frames = [
        {"id": 0, "method": "initialize", "params": {"protocol": 1, "game": "conformance"}},
        {"id": 1, "method": "print", "params": {"text": "x = 5"}},
    ]
    (tmp_path / "in").write_text("".join(json.dumps(frame) + "\n" for frame in frames))
    with (tmp_path / "in").open() as given, (tmp_path / "out").open("w") as answers:
        command = ["node", built("javascript") / "dist" / "conformance.js"]
        done = subprocess.run(command, stdin=given, stdout=answers, stderr=subprocess.PIPE, text=True, timeout=10)
    assert (done.returncode, done.stderr) == (0, "x = 5\n")
    assert [json.loads(line)["id"] for line in (tmp_path / "out").read_text().splitlines()] == [0, 1]


# TypeScript.

TYPED = """
import { type Coord, END, type Ant, type GameState, type Move, ReAnticsBot, run } from "referee-kit/reantics";
import { place } from "./places.js";

class Typed extends ReAnticsBot {
    getPlacement(state: GameState): Coord[] { return [place(state.phase)]; }
    async getMove(): Promise<Move> { return { moveType: END }; }
    getAttack(_state: GameState, ant: Ant): Coord { return ant.coords; }
}

run(Typed);
"""
PLACES = """
import { type Coord } from "referee-kit/reantics";

export function place(phase: number): Coord { return [phase, 7]; }
"""


def test_a_typescript_file_is_a_bot_with_what_it_imports(encoding: Encoding, tmp_path: Path) -> None:
    (tmp_path / "typed.ts").write_text(TYPED)
    (tmp_path / "places.ts").write_text(PLACES)
    with Bot(entrant(str(tmp_path / "typed.ts")), encoding, tmp_path / "log") as bot:
        assert bot.initialize("reantics").name == "Typed"
        state = {"phase": 2, "whoseTurn": 0, "inventories": []}
        assert bot.call("getPlacement", {"currentState": state}) == [[2, 7]]
        assert bot.call("getMove", {"currentState": state}) == {"moveType": 2}


def test_a_wrong_type_fails_the_build_with_the_compilers_words(tmp_path: Path) -> None:
    (tmp_path / "typed.ts").write_text(TYPED.replace("moveType: END", "moveTyp: END"))
    (tmp_path / "places.ts").write_text(PLACES)
    with pytest.raises(RunError, match=r"typed\.ts\(7,\d+\): error TS2\d+: .*moveTyp"):
        entrant(str(tmp_path / "typed.ts"))


def test_the_trace_of_an_error_names_the_line_of_the_typescript(encoding: Encoding, tmp_path: Path) -> None:
    (tmp_path / "typed.ts").write_text(TYPED)
    fails = PLACES.replace("return", "// Two lines more.\n\nthrow new Error(); return")
    (tmp_path / "places.ts").write_text(fails)
    with Bot(entrant(str(tmp_path / "typed.ts")), encoding, tmp_path / "log") as bot:
        bot.initialize("reantics")
        bot.call("getPlacement", {"currentState": {"phase": 2, "whoseTurn": 0, "inventories": []}})
    trace = (tmp_path / "log").read_text()
    assert re.search(r"/places\.ts:6:\d+", trace) and re.search(r"/typed\.ts:6:\d+", trace), trace


def test_a_package_that_cannot_be_fetched_fails_the_build_with_npms_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new.write(TICTACTOE, "javascript", tmp_path / "bot")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "built"))  # an empty cache
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9")
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    with pytest.raises(RunError, match=r"the build failed with exit code \d+\n(?s:.*)npm (error|ERR!).* ECONNREFUSED"):
        entrant(str(tmp_path / "bot"))


def test_a_template_plays_from_any_copy_of_the_kit(tmp_path: Path) -> None:
    made = shutil.ignore_patterns("build", "dist", "node_modules")
    shutil.copytree(KIT, tmp_path / "kit", ignore=made)
    copied = str(tmp_path / "kit" / "examples" / "my_tictactoe")
    shown = Limits(isolation=Isolation(readable=(str(tmp_path / "kit"),)))
    with Bot(entrant(copied, limits=shown), Encoding.MSGPACK, tmp_path / "log") as bot:
        bot.initialize("tictactoe")
        assert bot.call("play", {"id": "battle"})["position"] in CELLS


def test_a_file_without_the_kit_needs_only_node(tmp_path: Path) -> None:
    (tmp_path / "plain.js").write_text("")
    assert [Path(word).name for word in entrant(str(tmp_path / "plain.js")).argv] == ["node", "plain.js"]


def test_a_build_without_changes_is_quick_and_writes_nothing() -> None:
    made = (built("javascript") / "dist" / "made").stat().st_mtime_ns
    subprocess.run([built("javascript") / "build.sh"], check=True, timeout=2)
    assert (built("javascript") / "dist" / "made").stat().st_mtime_ns == made


def test_the_lock_file_names_no_host() -> None:
    assert "resolved" not in (KIT / "package-lock.json").read_text("utf-8")


# The bindings.


def _record(title: str, members: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {
        "title": title,
        "description": f"A {title}.",
        "type": "object",
        "properties": members,
        "required": required,
    }


def _tagged(title: str, tag: str, members: dict[str, Any]) -> dict[str, Any]:
    return _record(title, {"kind": {"enum": [tag]}, **members}, ["kind", *members])


def _choice(**names: str) -> dict[str, Any]:
    mapping = {tag: f"#/$defs/{name}" for tag, name in names.items()}
    refs = [{"$ref": ref} for ref in mapping.values()]
    return {"anyOf": refs, "discriminator": {"propertyName": "kind", "mapping": mapping}}


def _list(of: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": of}


def _maybe(some: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [some, {"type": "null"}]}


INTEGER, TEXT, NUMBER = {"type": "integer"}, {"type": "string"}, {"type": "number"}
EVERY_SHAPE = {
    "title": "Every shape",
    "description": "A game that nobody plays.",
    "game": "shapes",
    "constants": {"SIDES": ["left", "right"], "TOP": 3, "NAME": 'a "name"'},
    "methods": {
        "look": {
            "kind": "call",
            "description": "Looks.",
            "params": {"$ref": "#/$defs/Look"},
            "result": _list({"$ref": "#/$defs/Answer"}),
        },
        "pick": {
            "kind": "call",
            "description": "Picks.",
            "params": {"$ref": "#/$defs/Look"},
            "result": {"$ref": "#/$defs/Pick"},
        },
        "heard": {"kind": "event", "description": "Hears.", "params": {"$ref": "#/$defs/Heard"}, "result": None},
    },
    "$defs": {
        "Hex": {
            "description": "[q, r]: a hexagon",
            "type": "array",
            "prefixItems": [{"title": "q", **INTEGER}, {"title": "r", **INTEGER}],
        },
        "Grown": _tagged("Grown", "grown", {"at": {"$ref": "#/$defs/Hex"}, "size": NUMBER}),
        "Gone": _tagged("Gone", "gone", {}),
        "Thing": _choice(grown="Grown", gone="Gone"),
        "Row": {
            "title": "Row",
            "description": "A Row.",
            "type": "array",
            "prefixItems": [{"title": "name", **TEXT}, {"title": "weight", **_maybe(NUMBER)}],
        },
        "Look": _record(
            "Look",
            {
                "things": _list({"$ref": "#/$defs/Thing"}),
                "grid": _list(_list(_maybe({"$ref": "#/$defs/Row"}))),
                "goal": _maybe({"$ref": "#/$defs/Hex"}),
                "ends": {"type": "array", "prefixItems": [{"$ref": "#/$defs/Hex"}, {"$ref": "#/$defs/Hex"}]},
            },
            ["things", "grid", "goal", "ends"],
        ),
        "Answer": {
            "title": "Answer",
            "description": "An Answer.",
            "type": "array",
            "prefixItems": [
                {"title": "to", "$ref": "#/$defs/Hex"},
                {"title": "sum", **NUMBER},
                {"title": "names", **_maybe(_list(TEXT))},
            ],
        },
        "One": _tagged("One", "one", {"answer": {"$ref": "#/$defs/Answer"}}),
        "None": _tagged("None", "none", {}),
        "Pick": _choice(one="One", none="None"),
        "Heard": _record("Heard", {"thing": {"$ref": "#/$defs/Thing"}, "said": {}, "loud": {"type": "boolean"}}, []),
    },
}
SHAPES_BOT = """
import { type Answer, type Heard, type Hex, NAME, type Pick, type Row, EveryShapeBot, run, SIDES, type Thing, TOP }
    from "./shapes.js";

class Shapes extends EveryShapeBot {
    heardLast: Heard = {};

    look(things: Thing[], grid: (Row | null)[][], goal: Hex | undefined, ends: Hex[]): Answer[] {
        let sum = grid.flat().reduce((total, row) => total + (row?.weight ?? 100), 0);
        for (const thing of things) sum += thing.kind === "grown" ? thing.size : 0;
        const names = grid.flat().flatMap((row) => row === null ? [] : [row.name]);
        const grown = things.flatMap((thing) => thing.kind === "grown" ? [thing.at] : []);
        return [{ to: goal ?? ends[1], sum, names }, { to: grown[0], sum: TOP }];
    }

    pick(things: Thing[], _grid: unknown, goal: Hex | undefined, ends: Hex[]): Pick {
        if (things.length === 0) return { kind: "none" };
        const names = [NAME, SIDES[1], JSON.stringify(this.heardLast)];
        return { kind: "one", answer: { to: goal?.[0] === ends[0][0] ? ends[1] : [0, 0], sum: 0.5, names } };
    }

    heard(event: Heard): void { this.heardLast = event; }
}

run(Shapes);
"""


def test_the_bindings_know_every_shape(encoding: Encoding, tmp_path: Path) -> None:
    binding = javascript.emit(Binding.read(json.dumps(EVERY_SHAPE), "made/up.json"))
    for module in ("read", "wire"):
        binding = binding.replace(f'"./{module}.js"', f'"referee-kit/{module}"')
    (tmp_path / "shapes.ts").write_text(binding)
    (tmp_path / "bot.ts").write_text(SHAPES_BOT)
    grown = {"kind": "grown", "at": [-2, 5], "size": 0.25, "new": 1}
    shown = {
        "things": [grown, {"kind": "gone"}],
        "grid": [[["a", 2], None], [["b"]]],
        "goal": None,
        "ends": [[1, 1], [2, 2]],
    }
    with Bot(entrant(str(tmp_path / "bot.ts")), encoding, tmp_path / "log") as bot:
        bot.initialize("shapes")
        assert bot.call("look", shown) == [[[2, 2], 202.25, ["a", "b"]], [[-2, 5], 3, None]]
        assert bot.call("look", {**shown, "goal": [3, 4]})[0][0] == [3, 4]
        assert bot.call("pick", {**shown, "things": []}) == {"kind": "none"}
        heard = [
            (
                {"thing": grown, "said": [1], "loud": True},
                '{"thing":{"kind":"grown","at":[-2,5],"size":0.25},"said":[1],"loud":true}',
            ),
            ({"thing": {"kind": "unheard"}, "said": None, "loud": 1}, '{"said":null}'),
            ({"thing": {"kind": "grown", "at": [1, "x"], "size": 1}}, "{}"),
        ]
        for event, words in heard:
            bot.notify("heard", event)
            picked = {"kind": "one", "answer": [[2, 2], 0.5, ['a "name"', "right", words]]}
            assert bot.call("pick", {**shown, "goal": [1, 1]}) == picked
        assert bot.stderr() == ""


def test_the_npm_package_is_installed_into_a_clean_folder_and_used(tmp_path: Path) -> None:
    pack = ["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", str(tmp_path)]
    subprocess.run(pack, cwd=built("javascript"), check=True, capture_output=True, timeout=120)
    (made,) = tmp_path.glob("*.tgz")
    clean = tmp_path / "clean"
    clean.mkdir()
    (clean / "package.json").write_text('{"type": "module"}')
    install = ["npm", "install", "--silent", "--prefer-offline", "--no-audit", "--no-fund", str(made)]
    subprocess.run(install, cwd=clean, check=True, timeout=120)
    (clean / "sleeper.js").write_text(readme_bot("javascript"))
    frames = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocol": 1, "game": "reantics", "seed": 1}},
        {"jsonrpc": "2.0", "method": "exit"},
    ]
    text = "".join(json.dumps(frame) + "\n" for frame in frames)
    done = subprocess.run(["node", "sleeper.js"], cwd=clean, input=text, capture_output=True, text=True, timeout=30)
    assert json.loads(done.stdout)["result"]["name"] == "Sleeper", done.stderr
