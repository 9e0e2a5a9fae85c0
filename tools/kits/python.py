"""The Python bindings: one module a game, on top of `referee_kit.wire`. They run on Python 3.11 and newer.

Numbered constants are `IntEnum`s, texts are `Literal`s, and names are in snake_case; only the wire has the documents'.
"""

import re
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from referee.tools.kits.shapes import (
    Binding,
    Choice,
    Field,
    Function,
    Many,
    Maybe,
    OneOf,
    Pair,
    Record,
    Ref,
    Scalar,
    Type,
)
from referee.tools.kits.text import WIDTH, comment, literal, noted, on_lines

SCALARS = {"int": "int", "float": "float", "bool": "bool", "str": "str", "any": "Any"}


def emit(game: Binding) -> str:
    """The module's text."""
    game = _with_docs_in_snake_case(game)
    enums = [choice for choice in game.choices if _numbered(choice)]
    numbered = [option for choice in enums for option in choice.options]
    classes = "\n".join(_classes(game))
    body = [line for choice in game.choices if not _numbered(choice) for line in _literals(choice)]
    body += [
        *([""] if body else []),
        *(_constant(game, *each) for each in game.constants.items() if each not in numbered),
    ]
    for pair, doc in game.pairs.items():
        body += ["", *comment(doc, 0, "# "), f"{pair.name} = tuple[int, int]"]
    for choice in enums:
        body += ["", "", f"class {choice.name}(IntEnum):"]
        body += [f"    {name} = {value}" for name, value in choice.options]
        if _members(choice) in classes:
            table = f"{_members(choice)}: dict[Any, {choice.name}]"
            body += ["", "", f"{table} = {{each.value: each for each in {choice.name}}}"]
    body += classes.splitlines()
    lines = [
        f"# {game.origin}",
        *_docstring(game.doc, indent=0),
        "",
        *_imports("\n".join(body)),
        "",
        *body,
    ]
    return "\n".join(lines) + "\n"


def _classes(game: Binding) -> Iterator[str]:
    for record in game.records:
        yield from ["", "", *_dataclass(record, game.tags)]
        for union in game.unions_after(record):
            yield from _union(union)
    yield from ["", "", *_bot(game)]


def _members(choice: Choice) -> str:
    """The name of the dictionary of an enum: number -> member. It is faster than a call of the class."""
    return f"_{snake_case(choice.name).upper()}_MEMBERS"


def snake_case(name: str) -> str:
    """`getMove` as `get_move`: the name in Python of what is called so on the wire."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _with_docs_in_snake_case(game: Binding) -> Binding:
    """The same binding, whose descriptions call members and methods as Python does."""
    fields = [field.name for record in game.records for field in record.fields]
    fields += [field.name for function in game.functions for field in function.params]
    names = {name for name in [*fields, *(function.name for function in game.functions)] if snake_case(name) != name}
    if not names:
        return game
    pattern = re.compile(rf"\b({'|'.join(sorted(names))})\b")

    def renamed(text: str) -> str:
        return pattern.sub(lambda match: snake_case(match[0]), text)

    records = []
    for record in game.records:
        members = tuple([replace(field, doc=renamed(field.doc)) for field in record.fields])
        records.append(replace(record, doc=renamed(record.doc), fields=members))
    functions = [replace(function, doc=renamed(function.doc)) for function in game.functions]
    return replace(game, records=tuple(records), functions=tuple(functions))


def _numbered(choice: Choice) -> bool:
    return isinstance(choice.options[0][1], int)


def _literals(choice: Choice) -> list[str]:
    return on_lines(f"{choice.name} = Literal[", [_literal(value) for _, value in choice.options], "]")


def _constant(game: Binding, name: str, value: Any) -> str:
    if isinstance(value, list):
        choice = game.choice_of(value)
        return f"{name}{f': tuple[{choice.name}, ...]' if choice else ''} = {_literal(value)}"
    return f"{name}{': Final' if isinstance(value, str) else ''} = {_literal(value)}"


def _imports(body: str) -> Iterator[str]:
    yield "from dataclasses import dataclass"
    if "(IntEnum)" in body:
        yield "from enum import IntEnum"
    typing = [name for name in ("Any", "Final", "Literal", "Self") if re.search(rf"\b{name}\b", body)]
    yield f"from typing import {', '.join(typing)}"
    yield ""
    readers = [name for name in ("maybe", "one_of", "optional") if f"{name}(" in body]
    yield f"from referee_kit.wire import {', '.join(['Bot', *readers])}"
    yield "from referee_kit.wire import run as run"


def _docstring(text: str, indent: int) -> list[str]:
    text += "" if text.endswith(".") else "."  # so it never ends with a quotation mark
    first, *rest = comment(f'"""{text}', indent, "", WIDTH - len('"""'))
    if not rest:
        return [f'{first}"""']
    return [first, *rest, " " * indent + '"""']


def _literal(value: Any) -> str:
    if isinstance(value, list):
        return f"({', '.join(map(_literal, value))}{',' if len(value) == 1 else ''})"
    return literal(value) if isinstance(value, str) else str(value)


def _type(shape: Type) -> str:
    match shape:
        case Scalar(kind, choice):
            return choice.name if choice else SCALARS[kind]
        case Pair(name=name) | Ref(name=name) | OneOf(name=name):
            return name
        case Maybe(Scalar("any")):
            return "Any"
        case Maybe(item):
            return f"{_type(item)} | None"
        case Many(item, _):
            return f"list[{_type(item)}]"


def _dataclass(record: Record, tags: dict[str, str]) -> Iterator[str]:
    yield "@dataclass"
    yield f"class {record.name}:"
    yield from _docstring(record.doc, indent=4)
    yield ""
    needed = max([index for index, field in enumerate(record.fields) if not isinstance(field.type, Maybe)], default=-1)
    for index, field in enumerate(record.fields):
        # Python wants the members with defaults behind all others.
        kind = f'Literal["{tags[record.name]}"]' if field.name == record.tag else _type(field.type)
        line = f"    {snake_case(field.name)}: {kind}{' = None' if index > needed else ''}"
        yield from noted(line, field.doc, "# ")
    yield ""
    yield from _to_json(record) if record.sent else _from_json(record)


def _union(union: OneOf) -> Iterator[str]:
    yield ""
    yield ""
    yield f"{union.name} = {' | '.join([name for _, name in union.choices])}"
    choices = ", ".join([f"{literal(text)}: {name}" for text, name in union.choices])
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
        case Maybe(Scalar("int", Choice() as choice)):
            return f'{_members(choice)}.get(json.get("{name}"))'
        case Maybe(Scalar("str", Choice(options=options))):
            return f'one_of(json, "{name}", {_literal([value for _, value in options])})'
        case Maybe(Scalar(kind)):
            return f'optional(json, "{name}", {SCALARS[kind]})'
        case Maybe(item):
            return f'maybe(json, "{name}", lambda value: {_value("value", item)})'
    return _value(f'json["{name}"]', shape)


def _value(value: str, shape: Type, depth: int = 0) -> str:
    """Returns the expression that reads `value`, itself an expression. The loops inside run over `a`, `b`, …."""
    match shape:
        case Scalar("int", Choice() as choice):
            return f"{_members(choice)}[{value}]"
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
        yield f"        return [{', '.join([f'self.{snake_case(field.name)}' for field in record.fields])}]"
        return
    yield "    def to_json(self) -> dict[str, Any]:"
    required = [field.name for field in record.fields if not isinstance(field.type, Maybe)]
    always = [f'"{name}": self.{snake_case(name)}' for name in required]
    yield f"        json: dict[str, Any] = {{{', '.join(always)}}}"
    for field in record.fields:
        if isinstance(field.type, Maybe):
            yield f"        if self.{snake_case(field.name)} is not None:"
            yield f'            json["{field.name}"] = self.{snake_case(field.name)}'
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
            yield f"            self.{snake_case(event.name)}({_value('params', event.params[0].type)})"


def _method(function: Function) -> Iterator[str]:
    returned = "None" if function.result is None else _type(function.result)
    name = snake_case(function.name)
    arguments = ["self", *(f"{snake_case(field.name)}: {_type(field.type)}" for field in function.params)]
    yield from on_lines(f"    def {name}(", arguments, f") -> {returned}:")
    yield from _docstring(function.doc, indent=8)
    if function.result is not None:
        yield f'        raise NotImplementedError("{name}")'


def _argument(field: Field) -> str:
    """A parameter; one that may be null may be absent as well."""
    given = f'params["{field.name}"]'
    if not isinstance(field.type, Maybe):
        return _value(given, field.type)
    value, read = _value(given, field.type.item), f'params.get("{field.name}")'
    return read if value == given else f"None if {read} is None else {value}"


def _answer(function: Function) -> Iterator[str]:
    arguments = [_argument(field) for field in function.params]
    yield f'        if method == "{function.name}":'
    if function.result is None:
        yield from on_lines(f"            self.{snake_case(function.name)}(", arguments, ")")
        yield "            return None"
    else:
        yield from on_lines(f"            return self.{snake_case(function.name)}(", arguments, ")")
