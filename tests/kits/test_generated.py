"""The schemas and the kits' bindings, generated from the games' types."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pytest
from jsonschema import Draft202012Validator, ValidationError

from referee.games import registry, tictactoe
from referee.games.contract import Method, Notice, Setup
from referee.games.dice import Dice
from referee.games.game import Game
from referee.games.schemas import DIALECT, game_schema, on_the_wire
from referee.harness.new.write import write
from referee.protocol.messages import Clock, Encoding, Initialize, Limits
from referee.tools import generated
from referee.tools.__main__ import main
from referee.tools.helpers import vector_files
from referee.tools.kit_pages import kit_pages
from referee.tools.kits import python
from referee.tools.kits.__main__ import binding_files
from referee.tools.kits.files import LANGUAGES
from referee.tools.kits.shapes import Binding, Many, Maybe, Pair, Ref, Scalar, class_name
from referee.tools.pages import page_files
from referee.tools.schemas import dump, schema_files
from referee.tools.viewer import viewer_files

pytestmark = pytest.mark.slow

GAMES = registry.own_names()
COORD = Pair("Coord", ("x", "y"))


def schema(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((generated.ROOT / f"protocol/schemas/{name}.json").read_text("utf-8"))
    return loaded


def validator(root: Mapping[str, Any], part: Mapping[str, Any]) -> Draft202012Validator:
    return Draft202012Validator({"$schema": DIALECT, **part, "$defs": root["$defs"]})


def as_sent(value: Any) -> Any:
    return json.loads(msgspec.json.encode(value))


def test_the_generated_files_are_up_to_date() -> None:
    made = {**schema_files(), **binding_files(), **page_files(), **viewer_files(), **vector_files(), **kit_pages()}
    for path, content in made.items():
        assert (generated.ROOT / path).read_bytes() == content.encode(), f"{path} is stale: make it again"


def test_a_constant_with_one_item_is_a_tuple_in_python() -> None:
    made = schema("tictactoe")
    made["constants"] |= {"ONE": [5], "TWO": ["a", "b"]}
    lines = python.emit(Binding.read(json.dumps(made), "here")).splitlines()
    assert "ONE = (5,)" in lines and 'TWO = ("a", "b")' in lines


def test_every_schema_has_a_game() -> None:
    names = {path.stem for path in (generated.ROOT / "protocol/schemas").glob("*.json")}
    assert names == {*GAMES, "wire"}


def test_check_names_a_stale_file_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(generated, "ROOT", tmp_path)
    files = {Path("a/one.json"): "1\n", Path("a/two.json"): "2\n"}
    assert generated.main(files, []) == 0
    assert generated.main(files, ["--check"]) == 0
    (tmp_path / "a/two.json").write_text("3\n")
    assert generated.main(files, ["--check"]) == 1
    assert capsys.readouterr().err == "stale: a/two.json\n"
    assert (tmp_path / "a/two.json").read_text() == "3\n"
    assert generated.main(files, ["--chekc"]) == 2


@pytest.mark.parametrize("name", [*GAMES, "wire"])
def test_every_type_is_a_valid_schema(name: str) -> None:
    root = schema(name)
    Draft202012Validator.check_schema(root)
    for ref in refs(root):
        assert ref.removeprefix("#/$defs/") in root["$defs"]


def refs(node: Any) -> list[str]:
    if isinstance(node, list):
        return [ref for item in node for ref in refs(item)]
    if isinstance(node, dict):
        here = [node["$ref"]] if "$ref" in node else []
        return here + [ref for item in node.values() for ref in refs(item)]
    return []


@pytest.mark.parametrize("name", GAMES)
def test_the_messages_of_a_match_fit_the_schema(name: str) -> None:
    game, dice = registry.game(name), Dice(1)
    options = game.options(**game.ending)
    state = game.new(Setup(1, ("a", "b", "c", "d")[: game.seats.start], options))
    checker = _Checker(schema(name))
    events = state.opening()
    for _ in range(400):
        for event in events:
            if isinstance(event, Notice):
                checker.fits(event.method, "params", event.params)
        if not state.awaited:
            break
        answers = {}
        for call in state.calls():
            checker.fits(call.method.name, "params", call.params)
            answers[call.player] = None if call.method.result is type(None) else state.sample(call.player, dice)
            checker.fits(call.method.name, "result", answers[call.player])
        events = state.apply(answers)
    methods = {method for method, _ in checker.count}
    heard = {method.name for method in game.methods.values() if not method.viewers}
    assert methods >= ({"getPlacement", "getMove"} if name == "reantics" else heard)


class _Checker:
    """Checks messages against a schema: the first ten of each kind, then every twentieth, since some are large."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self.validators = {
            (method, part): validator(root, members[part] or {})
            for method, members in root["methods"].items()
            for part in ("params", "result")
        }
        self.count: Counter[tuple[str, str]] = Counter()

    def fits(self, method: str, part: str, value: Any) -> None:
        self.count[method, part] += 1
        if self.count[method, part] <= 10 or self.count[method, part] % 20 == 0:
            self.validators[method, part].validate(as_sent(value))


WRONG = [
    ("reantics", "Move", {"moveType": 4}),
    ("reantics", "Move", {"moveType": 0, "coordList": [[1, 10]]}),
    ("reantics", "Move", {"moveType": 0, "coordList": [[1, 2, 3]]}),
    ("reantics", "Move", {"coordList": None}),
    ("reantics", "Options", {"worker_helth": 4}),
    ("tictactoe", "Action", {"action": "putSymbol", "position": "nw"}),
    ("tictactoe", "Action", {"action": "flip"}),
]


@pytest.mark.parametrize(("name", "kind", "value"), WRONG)
def test_a_wrong_value_does_not_fit(name: str, kind: str, value: Any) -> None:
    root = schema(name)
    with pytest.raises(ValidationError):
        validator(root, {"$ref": f"#/$defs/{kind}"}).validate(value)


def test_the_messages_of_the_wire_fit_their_schema() -> None:
    root = schema("wire")
    initialize = Initialize(1, "reantics", {}, 0, ("a", "b"), tuple(Encoding), Limits(10_000), 4711)
    validator(root, root["methods"]["initialize"]["params"]).validate(as_sent(initialize))
    validator(root, root["methods"]["initialize"]["result"]).validate({})
    validator(root, root["clock"]).validate(as_sent(Clock(1000, None, None)))


def test_coordinates_cells_and_symbols_are_named_once() -> None:
    move = schema("reantics")["$defs"]["Move"]["properties"]["coordList"]["anyOf"][0]
    assert move == {"type": "array", "items": {"$ref": "#/$defs/Coord"}}
    event = schema("tictactoe")["$defs"]["ArenaEvent"]["properties"]
    assert event["player"] == {"description": "the side that answered", "$ref": "#/$defs/Symbol"}


def test_the_kits_know_every_shape_of_the_schemas() -> None:
    binding = Binding.read(dump(game_schema(registry.game("reantics"))), "here")
    assert [record.name for record in binding.records] == [
        "Ant",
        "Construction",
        "Inventory",
        "Cell",
        "GameState",
        "Move",
    ]
    board = next(field for field in binding.records[4].fields if field.name == "board")
    assert board.type == Maybe(Many(Many(Maybe(Ref("Cell")), None), None))
    assert [function.result for function in binding.functions] == [
        Many(COORD, None),
        Ref("Move"),
        COORD,
        None,
    ]
    assert binding.functions[3].params[0].type == Scalar("bool")


def test_a_shape_that_no_kit_knows_is_refused() -> None:
    root = game_schema(tictactoe.GAME)
    root["$defs"]["Play"]["properties"]["id"] = {"type": "map"}
    with pytest.raises(ValueError, match=r'no kit knows the shape \{"type": "map"\}'):
        Binding.read(dump(root), "here")


class Pile(msgspec.Struct, frozen=True):
    """A pile of stones."""

    stones: Annotated[int, msgspec.Meta(description="how many")]


class PileAnswer(Pile, frozen=True):
    """An answer to `move`."""


def pile_game(answer: type[Pile]) -> Game:
    """Returns a game whose function `move` gets a list of piles and returns an `answer`."""

    class Piles(msgspec.Struct, frozen=True):
        """Parameters of `move`."""

        piles: Annotated[tuple[Pile, ...], msgspec.Meta(description="all piles")]

    return msgspec.structs.replace(tictactoe.GAME, methods={"move": Method("move", Piles, answer, "Move.", rules="1")})


def test_a_record_that_is_sent_and_received_is_refused_with_a_way_out() -> None:
    """The advice in the message is the way out."""
    with pytest.raises(ValueError, match=r"with a class of its own: `class PileAnswer\(Pile\)`"):
        Binding.read(dump(game_schema(pile_game(Pile))), "here")
    binding = Binding.read(dump(game_schema(pile_game(PileAnswer))), "here")
    assert [(record.name, record.sent) for record in binding.records] == [("Pile", False), ("PileAnswer", True)]


@pytest.mark.parametrize("name", GAMES)
def test_a_page_shows_every_function_event_and_member_and_a_frame_of_each_function(name: str) -> None:
    text, root = (generated.ROOT / f"docs/reference/games/{name}.md").read_text("utf-8"), schema(name)
    for method, members in root["methods"].items():
        section = text.split(f"\n### {method}\n")[1].split("\n### ")[0]
        assert members["description"] in section
        if members["kind"] == "call":
            assert '-> {"jsonrpc":"2.0","id":' in section, f"{method} has no example"
            assert f'"method":"{method}"' in section
    for kind in on_the_wire(root):
        for member in root["$defs"][kind].get("properties", ()):
            assert f"| `{member}` |" in text


@pytest.mark.parametrize("name", [*GAMES, "wire"])
def test_every_member_has_a_description(name: str) -> None:
    """Its type may have the description. A union's tag needs none."""
    defs = schema(name)["$defs"]
    silent = [
        f"{kind}.{member}"
        for kind, part in defs.items()
        for member, shape in part.get("properties", {}).items()
        if not shape.get("description")
        and not defs.get(shape.get("$ref", "").rpartition("/")[2], {}).get("description")
        and len(shape.get("enum", ())) != 1
    ]
    assert silent == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_binding_for_the_starters_of_a_game_goes_where_a_new_bot_has_it(language: str, tmp_path: Path) -> None:
    starters, bot = tmp_path / "starters" / language, tmp_path / "bot"
    assert main(["bindings", "connectfour", "--lang", language, str(starters)]) == 0
    write(registry.game("connectfour"), language, bot)
    written = [file.relative_to(starters) for file in starters.rglob("*") if file.is_file()]
    assert written and [file for file in written if not (bot / file).is_file()] == []


def test_a_title_with_an_apostrophe_is_a_class_name() -> None:
    assert class_name("Liar's Dice") == class_name("Liar’s Dice") == "LiarsDice"
