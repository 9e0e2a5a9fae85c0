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
from driving import Bot
from kits import PROBES, built, probe, readme_bot

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


@pytest.fixture
def odd(tmp_path: Path) -> Any:
    with Bot(probe("javascript", "odd"), Encoding.JSON, tmp_path / "log") as bot:
        bot.initialize("odd", seed=2**64 - 1, options={"deep": 7})
        yield bot


def test_no_print_reaches_the_wire(odd: Bot) -> None:
    assert odd.call("prints") is None
    assert odd.stderr().split("\n") == ["early", "stdout", "descriptor 1", "stderr", ""]


def test_the_largest_seed_is_no_rounded_number(odd: Bot) -> None:
    assert odd.call("match")[-1] == 2**64 - 1


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


def test_the_lock_file_names_no_host() -> None:
    assert "resolved" not in (KIT / "package-lock.json").read_text("utf-8")


# The bindings.


def test_the_bindings_know_every_shape(encoding: Encoding, tmp_path: Path) -> None:
    binding = javascript.emit(Binding.read((PROBES / "shapes_javascript.json").read_text("utf-8"), "here"))
    for module in ("read", "wire"):
        binding = binding.replace(f'"./{module}.js"', f'"referee-kit/{module}"')
    (tmp_path / "shapes.ts").write_text(binding)
    shutil.copy(PROBES / "shapes.ts", tmp_path / "bot.ts")
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
