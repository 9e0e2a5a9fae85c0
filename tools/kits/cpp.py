"""The C++ bindings: one header a game, on top of `referee/wire.hpp`."""

import re
from collections.abc import Iterator
from typing import Any

from tools.kits.shapes import Binding, Field, Function, Many, Maybe, OneOf, Pair, Record, Ref, Scalar, Type
from tools.kits.text import comment, filled, literal

SCALARS = {"int": "int", "float": "double", "bool": "bool", "str": "std::string", "any": "Json"}
INITIAL = {"int": " = 0", "float": " = 0", "bool": " = false"}


def emit(game: Binding) -> str:
    """The header's text."""
    lines = [
        f"// {game.origin}",
        *comment(game.doc, 0, "// "),
        "",
        "#pragma once",
        "",
        *(f"#include <{header}>" for header in _headers(game)),
        "",
        f"namespace referee::{game.game} {{",
        "",
        *(_constant(name, value) for name, value in game.constants.items()),
        "",
    ]
    for pair, doc in game.pairs.items():
        lines += [*_pair(pair, doc), ""]
    for record in game.records:
        lines += [*_struct(record), ""]
        for union in game.unions_after(record):
            lines += [f"using {union.name} = std::variant<{', '.join([name for _, name in union.choices])}>;", ""]
    for record in game.records:
        lines += [*(_to_json(record) if record.sent else _from_json(record)), ""]
    for union in game.unions:
        lines += [*_one_of(union), ""]
    lines += [*_bot(game), "", f"}}  // namespace referee::{game.game}"]
    for pair in game.pairs:
        lines += ["", *_hash(f"referee::{game.game}::{pair.name}", pair)]
    return "\n".join(lines) + "\n"


def _headers(game: Binding) -> list[str]:
    variants = ["variant"] if game.unions else []
    return ["array", "optional", "referee/wire.hpp", "string", *variants, "vector"]


def _constant(name: str, value: Any) -> str:
    if isinstance(value, list):
        items = ", ".join(map(literal, value))
        return f"constexpr std::array<{_constant_type(value[0])}, {len(value)}> {name} = {{{items}}};"
    return f"constexpr {_constant_type(value)} {name} = {literal(value)};"


def _constant_type(value: Any) -> str:
    return "const char*" if isinstance(value, str) else "int"


def _type(wanted: Type) -> str:
    match wanted:
        case Scalar(kind):
            return SCALARS[kind]
        case Pair(name=name) | Ref(name=name) | OneOf(name=name):
            return name
        case Maybe(item):
            return f"std::optional<{_type(item)}>"
        case Many(item, None):
            return f"std::vector<{_type(item)}>"
        case Many(item, length):
            return f"std::array<{_type(item)}, {length}>"


def _pair(pair: Pair, doc: str) -> Iterator[str]:
    name, (a, b) = pair.name, pair.members
    yield from comment(doc, 0, "// ")
    yield f"struct {name} {{"
    yield f"    int {a} = 0;"
    yield f"    int {b} = 0;"
    yield "};"
    yield f"inline bool operator==({name} one, {name} two) {{ return one.{a} == two.{a} && one.{b} == two.{b}; }}"
    yield f"inline bool operator!=({name} one, {name} two) {{ return !(one == two); }}"
    yield f"inline bool operator<({name} one, {name} two) {{"
    yield f"    return one.{a} != two.{a} ? one.{a} < two.{a} : one.{b} < two.{b};"
    yield "}"
    yield f"inline void to_json(Json& json, const {name}& pair) {{ json = Json::array({{pair.{a}, pair.{b}}}); }}"
    yield f"inline void from_json(const Json& json, {name}& pair) {{"
    yield f"    json.at(0).get_to(pair.{a});"
    yield f"    json.at(1).get_to(pair.{b});"
    yield "}"


def _hash(name: str, pair: Pair) -> Iterator[str]:
    a, b = pair.members
    yield "template <>"
    yield f"struct std::hash<{name}> {{"
    yield f"    std::size_t operator()({name} pair) const noexcept {{"
    yield f"        return std::hash<std::int64_t>()(static_cast<std::int64_t>(pair.{a}) << 32 ^ pair.{b});"
    yield "    }"
    yield "};"


def _struct(record: Record) -> Iterator[str]:
    yield from comment(record.doc, 0, "// ")
    yield f"struct {record.name} {{"
    for field in record.fields:
        # An aggregate that bots write has a value for every member that may be left out: `Move{END}` warns of nothing.
        initial = " = std::nullopt" if record.sent and isinstance(field.type, Maybe) else ""
        if isinstance(field.type, Scalar):
            initial = INITIAL.get(field.type.kind, "")
        line = f"    {_type(field.type)} {field.name}{initial};"
        if field.doc and len(line) + 5 + len(field.doc) <= 120:
            yield f"{line}  // {field.doc}"
        else:
            yield from comment(field.doc, 4, "// ")
            yield line
    yield "};"


def _from_json(record: Record) -> Iterator[str]:
    variable = _snake(record.name)
    yield f"inline void from_json(const Json& json, {record.name}& {variable}) {{"
    for index, field in enumerate(record.fields):
        if record.listed:
            yield f"    json.at({index}).get_to({variable}.{field.name});"
        else:
            yield f'    read(json, "{field.name}", {variable}.{field.name});'
    yield "}"


def _to_json(record: Record) -> Iterator[str]:
    variable = _snake(record.name)
    yield f"inline void to_json(Json& json, const {record.name}& {variable}) {{"
    if record.listed:
        yield f"    json = Json::array({{{', '.join([f'{variable}.{field.name}' for field in record.fields])}}});"
        yield "}"
        return
    yield "    json = Json::object();"
    for field in record.fields:
        yield f'    write(json, "{field.name}", {variable}.{field.name});'
    yield "}"


def _one_of(union: OneOf) -> Iterator[str]:
    yield f"inline void from_json(const Json& json, {union.name}& choice) {{"
    yield f'    const auto& {union.tag} = json.at("{union.tag}").get_ref<const std::string&>();'
    for text, name in union.choices:
        yield f'    if ({union.tag} == "{text}") choice = json.get<{name}>();'
    yield "}"


def _bot(game: Binding) -> Iterator[str]:
    yield f"// A bot for one match of {game.title}; each match gets a new object."
    yield f"class {game.name}Bot : public Bot {{"
    yield "   public:"
    yield f'    static constexpr const char* game = "{game.game}";'
    yield ""
    for function in game.functions:
        yield from comment(function.doc, 4, "// ")
        yield from _method(function)
        yield ""
    yield "    Json answer(const std::string& method, const Json& params) final {"
    for function in game.calls:
        yield from _answer(function)
    yield "        return Bot::answer(method, params);"
    yield "    }"
    events = game.events
    if events:
        yield ""
        yield "    void notice(const std::string& method, const Json& params) final {"
        for event in events:
            yield f'        if (method == "{event.name}") {{'
            yield f"            {event.name}(params.get<{_type(event.params[0].type)}>());"
            yield "        }"
        yield "    }"
    yield "};"


def _method(function: Function) -> list[str]:
    """A function without a result may be left as it is: its parameters are then unused."""
    unused = function.result is None
    returned = "void" if function.result is None else _type(function.result)
    arguments = [_argument(field, unused) for field in function.params]
    return filled(f"    virtual {returned} {function.name}(", arguments, ") {}" if unused else ") = 0;")


def _argument(field: Field, unused: bool) -> str:
    by_value = isinstance(field.type, Scalar) and field.type.kind in INITIAL
    wanted = _type(field.type) if by_value else f"const {_type(field.type)}&"
    return f"{wanted} /*{field.name}*/" if unused else f"{wanted} {field.name}"


def _answer(function: Function) -> Iterator[str]:
    arguments = [f'params.at("{field.name}").get<{_type(field.type)}>()' for field in function.params]
    yield f'        if (method == "{function.name}") {{'
    if function.result is None:
        yield from filled(f"            {function.name}(", arguments, ");")
        yield "            return nullptr;"
    else:
        yield from filled(f"            return {function.name}(", arguments, ");")
    yield "        }"


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
