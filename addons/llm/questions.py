"""Collects what the prompts for a language model are made from. It runs in the referee, which knows the position."""

from collections.abc import Collection, Mapping
from functools import cache
from types import NoneType
from typing import Any

import msgspec
from msgspec import Struct

from referee.addons.llm import spec as llm_spec
from referee.games.contract import Call, Fault, Method, Player, State, in_json, typed
from referee.games.dice import Dice
from referee.games.game import Game
from referee.harness.common import rules
from referee.harness.seats.answer_text import Answers

MAX_LISTED = 200
"""Most legal answers in a prompt."""
DRAWN = 5
"""How many legal answers a prompt shows if there are more."""
MOVES = 300
"""Most moves of the history in a prompt. The last ones are shown."""
OPTION_CHARACTERS = 200
"""A longer option, such as the content of a map file, is left out: the position shows it."""
DECIMALS = "decimals"
"""The name in `Meta(extra=…)` of a field by which a type says how many decimals of its numbers a model needs."""


def match_variables(game: Game, seat: Player, seats: int, options: Any, prompt: str = "") -> dict[str, Any]:
    """Returns the templates, and the variables of all prompts of a match. `prompt`: the user's file, if any."""
    is_template = llm_spec.is_template(prompt)
    return {
        "templates": [*([prompt] if is_template else []), *reversed(llm_spec.templates(game))],
        "added": "" if is_template else prompt.strip(),
        "title": game.title,
        "about": " ".join(game.doc.split("\n\n")[0].split()),
        "seat": seat,
        "seats": seats,
        "options": {
            name: value
            for name, value in msgspec.to_builtins(options, str_keys=True).items()
            if not (isinstance(value, str) and len(value) > OPTION_CHARACTERS)
        },
        "rules": rules.for_players(game.name),
        "members": members(game),
        "frame": game.presentation.frame,
        "legend": game.presentation.legend_line(),
    }


def turn_variables(
    game: Game, state: State, call: Call, dice: Dice, show: Collection[str] = llm_spec.SHOWN
) -> dict[str, Any]:
    """Returns the variables of the prompt for a call. `dice` draw examples of legal answers. `show`: see `--show`."""
    player, method = call.player, call.method
    answers = Answers(game, state, player)
    complete = answers.complete and len(answers.legal) <= MAX_LISTED
    examples = [] if complete and len(answers.legal) <= DRAWN else [state.sample(player, dice) for _ in range(DRAWN)]
    moves = list(game.presentation.history(state, player)) if "history" in show else []
    return {
        "show": list(show),
        "start": game.presentation.start(state, player) if "history" in show else "",
        "moves": [*([f"({len(moves) - MOVES:,} moves)"] if len(moves) > MOVES else []), *moves[-MOVES:]],
        "board": _board(state, player) if "board" in show else "",
        "view": _plain(state.view(player), state.setup.names),
        "params": _plain(call.params, state.setup.names),
        "function": {
            "name": method.name,
            "doc": method.doc,
            "rules": method.rules,
            "schema": schema_for_models(method),
        },
        "legal": _with_words(answers, answers.legal if complete else examples) if "legal" in show else [],
        "legal_complete": complete,
        "examples": _with_words(answers, examples) if "legal" in show else [],
    }


def shown_refusal(method: Method, answer: Any, refused: Fault, show: Collection[str]) -> str:
    """Returns why an answer was refused, for the model. `show`: see `--show`.

    The game's reason may name legal answers and say where pieces stand. Without `legal`, the model learns only what is
    wrong with the form of its answer, which every question describes.
    """
    if "legal" in show:
        return refused.detail
    try:
        typed(answer, method.result)
    except msgspec.ValidationError as error:
        return str(error)
    except UnicodeEncodeError:  # a key with half a character
        return refused.detail
    return f"{in_json(answer)} is not legal now"


def _with_words(answers: Answers, shown: list[Any]) -> list[dict[str, Any]]:
    return [{"answer": each, "words": answers.in_words(each)} for each in shown]


def answer_schema(answer_type: Any) -> dict[str, Any]:
    """Returns the JSON Schema of an answer. A type of its own is spelled out at the top, as services need it."""
    schema = msgspec.json.schema(answer_type)
    name = schema.get("$ref", "").rpartition("/")[2]
    defs = schema.pop("$defs", {})
    if name:
        schema = defs.pop(name)
    return {**schema, "$defs": defs} if defs else schema


def schema_for_models(method: Method) -> dict[str, Any]:
    """Returns the JSON Schema of an answer without its remarks, which play no part in the rules."""
    schema = answer_schema(method.result)
    if not method.remarks:
        return schema
    members = {name: each for name, each in schema["properties"].items() if name not in method.remarks}
    without = {**schema, "properties": members}
    if "$ref" not in str(members):
        without.pop("$defs", None)
    return without


@cache
def members(game: Game) -> str:
    """Returns what the members of a seat's view and of the parameters mean, a line for each type."""
    view = game.seat_view or game.view
    asked = [each.params for each in game.methods.values() if each.result not in (None, NoneType)]
    types = [each for each in (view, *asked) if each is not None]
    _, found = msgspec.json.schema_components(types)
    lines = []
    for name, schema in found.items():
        described = [
            f"`{member}` {text}" for member, each in schema.get("properties", {}).items() if (text := _meaning(each))
        ]
        if described:
            lines.append(f"- {name}: {'; '.join(described)}.")
    return "\n".join(lines)


def _meaning(schema: Mapping[str, Any]) -> str:
    return str(schema.get("description", ""))


# The position, without the names of the players: a rival chooses its own, and could give orders by it.


def _board(state: State, player: Player) -> str:
    drawn = state.shown_to(player)
    if any(name in drawn for name in state.setup.names):
        state = state.copy()
        seats = tuple(f"player {seat}" for seat in range(len(state.setup.names)))
        state.setup = msgspec.structs.replace(state.setup, names=seats)
        drawn = state.shown_to(player)
    return drawn


def _plain(value: Any, names: tuple[str, ...]) -> Any:
    """Returns plain JSON values, with the decimals that the types declare."""
    return _unnamed(_rounded(value, msgspec.to_builtins(value, str_keys=True)), names)


def _rounded(value: Any, plain: Any) -> Any:
    kind: Any = type(value)
    for name, decimals in _declared(kind).items():
        plain = {**plain, name: _round(plain[name], decimals)}
    return plain


@cache
def _declared(kind: type) -> dict[str, int]:
    """Returns the decimals of the fields that declare some."""
    if not issubclass(kind, Struct):
        return {}
    fields: tuple[Any, ...] = getattr(msgspec.inspect.type_info(kind), "fields", ())
    found = {each.encode_name: getattr(each.type, "extra", None) or {} for each in fields}
    return {name: extra[DECIMALS] for name, extra in found.items() if DECIMALS in extra}


def _round(value: Any, decimals: int) -> Any:
    if isinstance(value, list | tuple):
        return [_round(each, decimals) for each in value]
    return round(value, decimals) if isinstance(value, float) else value


def _unnamed(value: Any, names: tuple[str, ...]) -> Any:
    """Puts `player 0` for the name of a player, wherever a member `name` has it."""
    if isinstance(value, dict):
        return {
            key: f"player {names.index(each)}" if key == "name" and each in names else _unnamed(each, names)
            for key, each in value.items()
        }
    return [_unnamed(each, names) for each in value] if isinstance(value, list | tuple) else value
