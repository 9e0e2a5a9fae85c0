"""The Python bindings: one module a game, on top of `referee_kit.wire`. They run on Python 3.11 and newer."""

from collections.abc import Iterator
from typing import Any

from referee.harness.paths import KITS
from referee.tools.kits.shapes import Binding, Function, Many, Maybe, OneOf, Pair, Record, Ref, Scalar, Type
from referee.tools.kits.text import WIDTH, comment, noted, on_lines

SCALARS = {"int": "int", "float": "float", "bool": "bool", "str": "str", "any": "Any"}


def emit(game: Binding) -> str:
    """The module's text."""
    body = [f"{name} = {_literal(value)}" for name, value in game.constants.items()]
    for pair, doc in game.pairs.items():
        body += ["", *comment(doc, 0, "# "), f"{pair.name} = tuple[int, int]"]
    for record in game.records:
        body += ["", "", *_dataclass(record)]
        body += [line for union in game.unions_after(record) for line in _union(union)]
    body += ["", "", *_bot(game)]
    lines = [
        f"# {game.origin}",
        *_docstring(game.doc, indent=0),
        "",
        *_imports("\n".join(body)),
        "",
        *body,
        *_helpers(game.game),
    ]
    return "\n".join(lines) + "\n"


def _helpers(game: str) -> Iterator[str]:
    """Exports what is written by hand for a game, too."""
    if (KITS / "python" / "referee_kit" / f"_{game}.py").is_file():
        yield from ("", "")
        yield f"from referee_kit._{game} import *  # noqa: E402, F403"


def _imports(body: str) -> Iterator[str]:
    yield "from dataclasses import dataclass"
    yield "from typing import Any, Self" if "Self" in body else "from typing import Any"
    yield ""
    readers = [name for name in ("maybe", "optional") if f"{name}(" in body]
    yield f"from referee_kit.wire import {', '.join(['Bot', *readers])}"
    yield "from referee_kit.wire import run as run"


def _docstring(text: str, indent: int) -> list[str]:
    text += "" if text.endswith(".") else "."
    first, *rest = comment(f'"""{text}', indent, "", WIDTH - len('"""'))
    if not rest:
        return [f'{first}"""']
    return [first, *rest, " " * indent + '"""']


def _literal(value: Any) -> str:
    if isinstance(value, list):
        return f"({', '.join(map(_literal, value))}{',' if len(value) == 1 else ''})"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _type(shape: Type) -> str:
    match shape:
        case Scalar(kind):
            return SCALARS[kind]
        case Pair(name=name) | Ref(name=name) | OneOf(name=name):
            return name
        case Maybe(Scalar("any")):
            return "Any"
        case Maybe(item):
            return f"{_type(item)} | None"
        case Many(item, _):
            return f"list[{_type(item)}]"


def _dataclass(record: Record) -> Iterator[str]:
    yield "@dataclass"
    yield f"class {record.name}:"
    yield from _docstring(record.doc, indent=4)
    yield ""
    needed = max([index for index, field in enumerate(record.fields) if not isinstance(field.type, Maybe)], default=-1)
    for index, field in enumerate(record.fields):
        # Python wants the members with defaults behind all others.
        line = f"    {field.name}: {_type(field.type)}{' = None' if index > needed else ''}"
        yield from noted(line, field.doc, "# ")
    yield ""
    yield from _to_json(record) if record.sent else _from_json(record)


def _union(union: OneOf) -> Iterator[str]:
    yield ""
    yield ""
    yield f"{union.name} = {' | '.join([name for _, name in union.choices])}"
    choices = ", ".join([f'"{text}": {name}' for text, name in union.choices])
    yield f"_{union.name.upper()}: dict[str, Any] = {{{choices}}}  # by `{union.tag}`"


def _from_json(record: Record) -> Iterator[str]:
    yield "    @classmethod"
    yield f"    def from_json(cls, json: {'list[Any]' if record.listed else 'dict[str, Any]'}) -> Self:"
    yield "        return cls("
    for index, field in enumerate(record.fields):
        member = _value(f"json[{index}]", field.type) if record.listed else _member(field.name, field.type)
        yield f"            {member},"
    yield "        )"


def _member(name: str, shape: Type) -> str:
    """The expression that reads a member of `json`."""
    match shape:
        case Maybe(Scalar("any")):
            return f'json.get("{name}")'
        case Maybe(Scalar("float")):
            return f'maybe(json, "{name}", float)'
        case Maybe(Scalar(kind)):
            return f'optional(json, "{name}", {SCALARS[kind]})'
        case Maybe(item):
            return f'maybe(json, "{name}", lambda value: {_value("value", item)})'
    return _value(f'json["{name}"]', shape)


def _value(value: str, shape: Type, depth: int = 0) -> str:
    """Returns the expression that reads `value`, itself an expression. The loops inside run over `a`, `b`, …."""
    match shape:
        case Scalar():
            return value
        case Pair():
            return f"({value}[0], {value}[1])"
        case Ref(name=name):
            return f"{name}.from_json({value})"
        case OneOf(name=name, tag=tag):
            return f'_{name.upper()}[{value}["{tag}"]].from_json({value})'
        case Maybe(item):
            return f"None if {value} is None else {_value(value, item, depth)}"
        case Many(item, _):
            each = "abcdef"[depth]
            return f"[{_value(each, item, depth + 1)} for {each} in {value}]"


def _to_json(record: Record) -> Iterator[str]:
    if record.listed:
        yield "    def to_json(self) -> list[Any]:"
        yield f"        return [{', '.join([f'self.{field.name}' for field in record.fields])}]"
        return
    yield "    def to_json(self) -> dict[str, Any]:"
    always = [f'"{field.name}": self.{field.name}' for field in record.fields if not isinstance(field.type, Maybe)]
    yield f"        json: dict[str, Any] = {{{', '.join(always)}}}"
    for field in record.fields:
        if isinstance(field.type, Maybe):
            yield f"        if self.{field.name} is not None:"
            yield f'            json["{field.name}"] = self.{field.name}'
    yield "        return json"


def _bot(game: Binding) -> Iterator[str]:
    yield f"class {game.name}Bot(Bot):"
    yield f'    """A bot for one match of {game.title}: fill in its methods. Each match gets a new object."""'
    yield ""
    yield f'    game = "{game.game}"'
    yield ""
    for function in game.functions:
        yield from _method(function)
        yield ""
    yield "    def call(self, method: str, params: dict[str, Any]) -> Any:"
    for function in game.calls:
        yield from _answer(function)
    yield "        return super().call(method, params)"
    events = game.events
    if events:
        yield ""
        yield "    def notice(self, method: str, params: dict[str, Any]) -> None:"
        for event in events:
            yield f'        if method == "{event.name}":'
            yield f"            self.{event.name}({_value('params', event.params[0].type)})"


def _method(function: Function) -> Iterator[str]:
    returned = "None" if function.result is None else _type(function.result)
    arguments = ["self", *(f"{field.name}: {_type(field.type)}" for field in function.params)]
    yield from on_lines(f"    def {function.name}(", arguments, f") -> {returned}:")
    yield from _docstring(function.doc, indent=8)
    if function.result is not None:
        yield f'        raise NotImplementedError("{function.name}")'


def _answer(function: Function) -> Iterator[str]:
    arguments = [_value(f'params["{field.name}"]', field.type) for field in function.params]
    yield f'        if method == "{function.name}":'
    if function.result is None:
        yield from on_lines(f"            self.{function.name}(", arguments, ")")
        yield "            return None"
    else:
        yield from on_lines(f"            return self.{function.name}(", arguments, ")")
