"""The schemas and the kits' bindings follow from the types of the games."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator, ValidationError

from games import registry, tictactoe
from games.api import Notice, Setup
from games.dice import Dice
from protocol.messages import Clock, Encoding, Initialize, Limits
from tools import generated
from tools.kits.__main__ import binding_files
from tools.kits.shapes import Binding, Many, Maybe, Pair, Ref, Scalar
from tools.schemas import CONSTANTS, DIALECT, dump, game_schema, schema_files

GAMES = sorted(CONSTANTS)


def schema(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((generated.ROOT / f"protocol/schemas/{name}.json").read_text("utf-8"))
    return loaded


def validator(root: Mapping[str, Any], part: Mapping[str, Any]) -> Draft202012Validator:
    return Draft202012Validator({"$schema": DIALECT, **part, "$defs": root["$defs"]})


def as_sent(value: Any) -> Any:
    return json.loads(msgspec.json.encode(value))


def test_the_checked_in_files_are_what_the_types_give() -> None:
    for path, content in {**schema_files(), **binding_files()}.items():
        assert (generated.ROOT / path).read_bytes() == content.encode(), f"{path} is stale: make it again"


def test_every_game_of_ours_has_a_schema() -> None:
    ours = [name for name in registry.names() if registry.game(name).new.__module__.startswith("games.")]
    assert ours == GAMES


def test_no_schema_is_left_over() -> None:
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
@pytest.mark.parametrize("seed", range(3))
def test_what_a_match_says_fits_the_schema(name: str, seed: int) -> None:
    game, root, dice = registry.game(name), schema(name), Dice(seed)
    methods = {
        method: {part: validator(root, members[part] or {}) for part in ("params", "result")}
        for method, members in root["methods"].items()
    }
    state = game.new(Setup(seed, ("a", "b"), game.options()))
    events, asked = state.opening(), set()
    for _ in range(400):
        for event in events:
            if isinstance(event, Notice):
                asked.add(event.method)
                methods[event.method]["params"].validate(as_sent(event.params))
        if not state.awaited:
            break
        answers = {}
        for call in state.calls():
            asked.add(call.method.name)
            methods[call.method.name]["params"].validate(as_sent(call.params))
            answers[call.player] = None if call.method.result is type(None) else state.sample(call.player, dice)
            methods[call.method.name]["result"].validate(as_sent(answers[call.player]))
        events = state.apply(answers)
    assert asked >= {"getPlacement", "getMove"} if name == "reantics" else asked == set(methods)


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
    assert event["player"] == {"description": "who answered", "$ref": "#/$defs/Symbol"}


def test_the_kits_read_every_shape_of_the_schemas() -> None:
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
        Many(Pair("Coord"), None),
        Ref("Move"),
        Pair("Coord"),
        None,
    ]
    assert binding.functions[3].params[0].type == Scalar("bool")


def test_a_shape_that_no_kit_knows_is_refused() -> None:
    root = game_schema(tictactoe.GAME)
    root["$defs"]["Play"]["properties"]["id"] = {"type": "number"}
    with pytest.raises(ValueError, match=r'no kit knows the shape \{"type": "number"\}'):
        Binding.read(dump(root), "here")
