"""The C kit: its own checks, failing bots, memory, its build, and every shape of a schema.

test_every_kit.py tests what all kits have in common.
"""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from driving import NAMES, Bot, Rival, play, seated
from kits import built, example, readme_bot

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


def test_the_names_of_a_header_are_found(tmp_path: Path) -> None:
    header = tmp_path / "bare.h"
    header.write_text(
        """
#pragma once
#include <referee/wire.h>
#define MACRO(x) x
enum { ONE = 1, TWO };
typedef struct Tag Alias;
struct Tag {
    enum { INNER } is;
    struct Inside* member;
};
typedef enum { RED, GREEN, } Colour;
static const int LIST[2] = {1, 2};
int prototype(int number, const char* words) __attribute__((format(printf, 2, 1)));
static inline int function(void) {
    for (;;) { return 0; }
}
static inline const char* last(const char* text) { return text ? "{;" : text; }
""",
        "utf-8",
    )
    names = "Alias Colour GREEN INNER Inside LIST MACRO ONE RED TWO Tag function last prototype"
    assert " ".join(sorted(declared(header))) == names


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


ODD = """
#include <referee/wire.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint64_t luck;
    int calls;
} odd_bot;

__attribute__((constructor(65535))) static void early(void) { puts("before main"); }

static void begin(referee_match* match) {
    if (match->seat == 7) referee_fail(match, "no seat %d", match->seat);
    ((odd_bot*)match->memory)->luck = match->seed * 6364136223846793005u + 1442695040888963407u;
}

static bool answer(referee_match* match, const char* method, const referee_value* params, referee_value* result) {
    odd_bot* self = match->memory;
    ++self->calls;
    if (strcmp(method, "match") == 0) {
        *result = referee_new_list();
        referee_append(match, result, referee_new_text(match->game));
        referee_append(match, result, referee_new_int(match->seat));
        for (size_t i = 0; i < match->names.count; ++i)
            referee_append(match, result, referee_new_text(match->names.items[i]));
        referee_append(match, result, (referee_value){REFEREE_VALUE_LARGE, 0, {.large = match->seed}});
        referee_append(match, result, referee_new_int(match->limits.startup_ms));
        referee_append(match, result, referee_new_int(match->limits.call_ms));
        referee_append(match, result, referee_new_int(match->limits.processes));
        referee_append(match, result, referee_new_int(match->limits.scratch_bytes));
        referee_append(match, result, *referee_member(match->options, "deep"));
        return true;
    }
    if (strcmp(method, "luck") == 0) return *result = referee_new_int((int64_t)(self->luck >> 1)), true;
    if (strcmp(method, "calls") == 0) return *result = referee_new_int(self->calls), true;
    if (strcmp(method, "bytes") == 0) return *result = referee_new_text("a\\xff" "b"), true;
    if (strcmp(method, "badWords") == 0) referee_fail(match, "\\xff");
    if (strcmp(method, "stdin") == 0) return *result = referee_new_int(getchar()), true;
    if (strcmp(method, "child") == 0)
        return *result = referee_new_int(system("echo from a child; ls /dev/fd/ | wc -l")), true;
    if (strcmp(method, "large") == 0)
        return *result = referee_new_int(((char*)referee_allocate(match, 1 << 25))[1 << 24]), true;
    return (void)params, false;
}

static void notice(referee_match* match, const char* method, const referee_value* params) {
    (void)params;
    referee_fail(match, "in %s", method);
}

int main(void) {
    return referee_serve(&(referee_bot){.name = "Odd",
                                        .version = "2.1",
                                        .game = "odd",
                                        .memory = sizeof(odd_bot),
                                        .begin = begin,
                                        .answer = answer,
                                        .notice = notice});
}
"""


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Entrant:
    source = tmp_path_factory.mktemp("odd") / "odd.c"
    source.write_text(ODD, "utf-8")
    return compiled(source)


def test_a_failing_bot_goes_on_answering(odd: Entrant, encoding: Encoding, tmp_path: Path) -> None:
    with Bot(odd, encoding, tmp_path / "log") as bot:
        hello = bot.initialize("odd", seat=1, seed=2**64 - 1, options={"deep": [{"a": "b"}]})
        assert (hello.name, hello.version, hello.encoding, hello.reuse) == ("Odd", "2.1", encoding, True)
        assert bot.call("match") == ["odd", 1, *NAMES, 2**64 - 1, 10_000, -1, 7, 1 << 33, [{"a": "b"}]]
        assert bot.call("bytes") == "a\ufffdb"
        assert bot.call("badWords") == ErrorObject(-32000, "\ufffd")
        assert bot.call("surprise") == ErrorObject(-32601, "unknown method surprise")
        bot.notify("trouble", {})
        assert bot.call("stdin") == -1  # frames are not for the bot
        assert bot.call("child") == 0
        assert bot.call("large") == 0
        assert bot.exit() == 0
        log = bot.stderr().splitlines()
    assert log[0] == "before main"
    assert any(line.endswith("in notice: in trouble") for line in log)
    assert log[-2:] == ["from a child", "4"]  # 0, 1, 2 and the listed folder: not the pipes


def test_each_match_has_fresh_memory_and_the_seed_repeats_its_luck(
    odd: Entrant, encoding: Encoding, tmp_path: Path
) -> None:
    with Bot(odd, encoding, tmp_path / "log") as bot:
        draws = []
        for seed in (7, 7, 8):
            assert bot.initialize("odd", seed=seed, options={"deep": 1}).encoding is encoding
            draws.append(bot.call("luck"))
            assert bot.call("calls") == 2
    assert draws[0] == draws[1] != draws[2]


def test_a_match_that_a_bot_cannot_play_is_refused(odd: Entrant, encoding: Encoding, tmp_path: Path) -> None:
    for seat, game, words in ((0, "quoridor", "this bot plays odd, not quoridor"), (7, "odd", "no seat 7")):
        with Bot(odd, encoding, tmp_path / "log") as bot:
            assert bot.initialize(game, seat) == ErrorObject(-32000, words)
            assert bot.exit() == 0


@pytest.mark.parametrize(
    ("name", "game", "options"),
    [
        ("reantics", reantics.GAME, reantics.Options(draw_after=6)),
        ("my_tictactoe", tictactoe.GAME, tictactoe.Options()),
        ("my_quoridor", quoridor.GAME, quoridor.Options(max_turns=6)),
        ("my_aiarena21", aiarena21.GAME, aiarena21.Options(map="S....\n..#..\n.#...\n....S\n", turns=32)),
    ],
    ids=["reantics", "my_tictactoe", "my_quoridor", "my_aiarena21"],
)
def test_the_examples_have_no_memory_errors(
    name: str, game: Game, options: Any, encoding: Encoding, tmp_path: Path
) -> None:
    bot = example("c", name)
    watched = Entrant(bot.name, ("valgrind", "-q", "--leak-check=full", "--error-exitcode=9", *bot.argv), bot.cwd)
    with Bot(watched, encoding, tmp_path / "log") as one:
        for seat in (0, 1):
            play(game, seated(seat, one, Rival()), 3, options)
        assert (one.exit(), one.stderr()) == (0, "")


def test_a_second_build_without_changes_is_quick() -> None:
    for name in ("reantics", "my_quoridor", "my_reantics", "my_tictactoe"):
        folder, command = built("c") / "examples" / name, f"make -s -C ../.. build/{name}_bot"
        assert f'build = "{command}"' in (folder / "bot.toml").read_text("utf-8")
        program = built("c") / "build" / f"{name}_bot"
        made = program.stat().st_mtime_ns
        subprocess.run(["/bin/sh", "-c", command], cwd=folder, check=True, timeout=5)
        assert program.stat().st_mtime_ns == made


# The bindings of a game that has every shape.


def ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def many(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item}


def maybe(item: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [item, {"type": "null"}]}


def record(required: str, **members: Any) -> dict[str, Any]:
    return {"type": "object", "description": "A record.", "properties": members, "required": required.split()}


def listed(**members: Any) -> dict[str, Any]:
    items = [{**schema, "title": name} for name, schema in members.items()]
    return {"type": "array", "title": "Listed", "description": "A list.", "prefixItems": items}


def union(tag: str, **choices: str) -> dict[str, Any]:
    mapping = {text: f"#/$defs/{name}" for text, name in choices.items()}
    return {"anyOf": [], "discriminator": {"propertyName": tag, "mapping": mapping}}


def call(params: str, result: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "call", "description": "A call.", "params": ref(params), "result": result}


INT, FLOAT, BOOL, STR = ({"type": kind} for kind in ("integer", "number", "boolean", "string"))
ANY = {"description": "anything"}
SHAPES: dict[str, Any] = {
    "title": "Shapes",
    "description": "A game of shapes.",
    "game": "shapes",
    "constants": {"SIZE": 3, "RATE": 0.5, "NAME": 'a"b', "SIZES": [1, 2], "NAMES": ["a", "b"], "RATES": [1, 2.5]},
    "methods": {
        "play": call("Play", ref("Answer")),
        "choose": call("Choose", maybe(ref("Order"))),
        "list": call("Lists", ref("Row")),
        "end": call("Lists", {"type": "null"}),
        "heard": {"kind": "event", "description": "An event.", "params": ref("Heard"), "result": None},
    },
    "$defs": {
        "Place": {
            "description": "a place",
            "type": "array",
            "prefixItems": [{"type": "integer", "title": "row"}, {"type": "integer", "title": "col"}],
        },
        "Colour": {"enum": ["dark red", "blue"]},
        "Size": {"enum": [-1, 4], "type": "integer", "x-enum-varnames": ["SMALL", "LARGE"]},
        "Dot": record("kind place", kind={"enum": ["dot"]}, place=ref("Place")),
        "Bank": record("kind coins", kind={"enum": ["the bank"]}, coins=INT, open=maybe(BOOL)),
        "Piece": union("kind", **{"dot": "Dot", "the bank": "Bank"}),
        "State": record(
            "here pieces grid three",
            here=ref("Place"),
            goal=maybe(ref("Place")),
            pieces=many(ref("Piece")),
            own=maybe(ref("Piece")),
            grid=many(many(FLOAT)),
            holes=maybe(many(many(maybe(ref("Place"))))),
            three={"type": "array", "prefixItems": [FLOAT, FLOAT, FLOAT]},
        ),
        "Play": record(
            "state factor word size",
            state=ref("State"),
            factor=FLOAT,
            word=STR,
            thing=ANY,
            few=maybe(INT),
            size=ref("Size"),
            colours=many(ref("Colour")),
        ),
        "Answer": record(
            "at rich far grid",
            at=ref("Place"),
            goal=maybe(ref("Place")),
            rich=BOOL,
            far=many(ref("Place")),
            grid=many(many(FLOAT)),
            note=maybe(STR),
            thing=ANY,
            few=maybe(INT),
            rate=maybe(FLOAT),
            sure=maybe(BOOL),
            size=maybe(ref("Size")),
            paint=maybe(ref("Colour")),
        ),
        "Choose": record("places", places=many(ref("Place"))),
        "Go": record("kind places", kind={"enum": ["go"]}, places=many(ref("Place")), why=maybe(STR)),
        "Wait": record("kind", kind={"enum": ["wait"]}),
        "Order": union("kind", go="Go", wait="Wait"),
        "Pairing": {**listed(first=INT, words=many(STR)), "title": "Pairing"},
        "Lists": record("pairing", pairing=ref("Pairing")),
        "Row": {**listed(number=INT, words=maybe(many(STR)), place=ref("Place")), "title": "Row"},
        "Heard": record("", piece=maybe(ref("Piece")), count=maybe(INT), rate=maybe(FLOAT), value=ANY),
    },
}
SHAPES_BOT = """
#include <stdio.h>

#include <referee/shapes.h>

static shapes_answer play(referee_match* match, const shapes_state* state, double factor, const char* word,
                          const referee_value* thing, referee_maybe_int few, shapes_size size,
                          shapes_colour_list colours) {
    shapes_answer answer = {.at = state->here,
                            .goal = state->goal,
                            .note = word,
                            .thing = thing,
                            .few = few,
                            .rate = referee_some(SHAPES_RATE + SHAPES_RATES[1]),
                            .sure = referee_some(state->three.items[2] > SHAPES_SIZES[1])};
    if (size == SHAPES_LARGE) answer.size = (shapes_maybe_size){true, SHAPES_SMALL};
    if (colours.count) answer.paint = (shapes_maybe_colour){true, SHAPES_COLOUR_COUNT - 1 - colours.items[0]};
    answer.grid = shapes_new_float_list_list(match, state->grid.count);
    for (size_t i = 0; i < state->grid.count; ++i) {
        const shapes_float_list from = state->grid.items[i];
        shapes_float_list row = shapes_new_float_list(match, from.count);
        for (size_t j = 0; j < from.count; ++j) row.items[row.count++] = from.items[j] * factor;
        answer.grid.items[answer.grid.count++] = row;
    }
    answer.rich = state->own && state->own->kind == SHAPES_PIECE_BANK && state->own->bank.coins > 9;
    answer.far = shapes_new_place_list(match, state->pieces.count + 1);
    for (size_t i = 0; i < state->pieces.count; ++i) {
        const shapes_piece* piece = &state->pieces.items[i];
        if (piece->kind == SHAPES_PIECE_DOT) answer.far.items[answer.far.count++] = piece->dot.place;
    }
    if (state->holes.items && state->holes.items[0].items[0].present && !state->holes.items[0].items[1].present) {
        answer.far.items[answer.far.count++] = state->holes.items[0].items[0].value;
    }
    return answer;
}

static const shapes_order* choose(referee_match* match, shapes_place_list places) {
    shapes_order* order = referee_allocate(match, sizeof *order);
    if (places.count == 0) return NULL;
    if (places.count == 1) *order = (shapes_order){.kind = SHAPES_ORDER_WAIT};
    if (places.count > 1) *order = (shapes_order){.kind = SHAPES_ORDER_GO, .go = {places, .why = SHAPES_NAME}};
    return order;
}

static shapes_row list(referee_match* match, const shapes_pairing* pairing) {
    (void)match;
    return (shapes_row){pairing->first,
                        pairing->words.count ? pairing->words : (referee_text_list){NULL, 0},
                        {SHAPES_SIZE, SHAPES_NAMES_COUNT}};
}

static void heard(referee_match* match, const shapes_heard* heard) {
    (void)match;
    const shapes_piece* piece = heard->piece;
    printf("%s %d %g %d\\n",
           !piece                          ? "-"
           : piece->kind == SHAPES_PIECE_DOT ? "dot"
           : piece->bank.open.present      ? "open"
                                           : "bank",
           heard->count.present ? heard->count.value : -1, heard->rate.present ? heard->rate.value : -1,
           heard->value ? (int)heard->value->kind : -1);
}

int main(void) {
    return shapes_run(&(shapes_bot){.name = "Shapes", .play = play, .choose = choose, .list = list, .heard = heard});
}
"""


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> Entrant:
    folder = tmp_path_factory.mktemp("shapes")
    binding = Binding.read(json.dumps(SHAPES), "here")
    (folder / "referee").mkdir()
    (folder / "referee" / "shapes.h").write_text(c.emit(binding), "utf-8")
    (folder / "binding.c").write_text(c.emit_source(binding), "utf-8")
    (folder / "shapes.c").write_text(SHAPES_BOT, "utf-8")
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
