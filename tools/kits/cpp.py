"""The C++ bindings: a header and a source a game, on top of `referee/wire.hpp` and `referee/json.hpp`.

The header has what bots see, and is quick to compile; all that crosses the wire is compiled once, in the source.
"""

import re
from collections.abc import Iterator
from typing import Any

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
from referee.tools.kits.text import comment, filled, literal, noted, same_kind

SCALARS = {"int": "int", "float": "double", "bool": "bool", "str": "std::string", "any": "Anything"}
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
        f"namespace referee::{game.module} {{",
        "",
    ]
    for choice in game.choices:
        lines += [*_enum(choice), ""]
    for name, value in game.loose_constants.items():
        lines += _constant(game, name, value)
    lines.append("")
    for pair, doc in game.pairs.items():
        lines += [*_pair(pair, doc), ""]
    for record in game.records:
        lines += [*_struct(record), ""]
        for union in game.unions_after(record):
            lines += [f"using {union.name} = std::variant<{', '.join([name for _, name in union.choices])}>;", ""]
    lines += [*_bot(game), "", "// How all of this crosses the wire: for tests, with <referee/json.hpp>."]
    for pair in game.pairs:
        lines += [
            f"void to_json(Json& json, const {pair.name}& pair);",
            f"void from_json(const Json& json, {pair.name}& pair);",
        ]
    lines += [f"{_head(record)};" for record in game.records]
    lines += ["", f"}}  // namespace referee::{game.module}"]
    for pair in game.pairs:
        lines += ["", *_hash(f"referee::{game.module}::{pair.name}", pair)]
    return "\n".join(lines) + "\n"


def emit_source(game: Binding) -> str:
    """The source's text."""
    lines = [
        f"// {game.origin}",
        f"#include <referee/{game.module}.hpp>",
        "#include <referee/json.hpp>",
        "",
        f"namespace referee::{game.module} {{",
        "",
    ]
    for choice in game.choices:
        lines += [*_enum_json(choice), ""]
    for pair in game.pairs:
        lines += [*_pair_json(pair), ""]
    for union in game.unions:
        lines += [f"static void from_json(const Json& json, {union.name}& choice);"]
    for record in game.records:
        lines += [*(_to_json(record) if record.sent else _from_json(record)), ""]
    for union in game.unions:
        lines += [*_one_of(union), ""]
    lines += [*_serving(game), "", f"}}  // namespace referee::{game.module}"]
    return "\n".join(lines) + "\n"


def _headers(game: Binding) -> list[str]:
    variants = ["variant"] if game.unions else []
    return ["array", "optional", "referee/wire.hpp", "string", "string_view", *variants, "vector"]


def _is_text(choice: Choice) -> bool:
    return isinstance(choice.options[0][1], str)


def _enum(choice: Choice) -> Iterator[str]:
    """Numbers are those of the rules; texts are counted, and `to_text` and `from_text` know them."""
    name, count = choice.name, len(choice.options)
    items = [option if _is_text(choice) else f"{option} = {value}" for option, value in choice.options]
    yield from filled(f"enum class {name} {{ ", items, " };")
    if _is_text(choice):
        yield f"constexpr const char* to_text({name} option) {{"
        texts = [literal(value) for _, value in choice.options]
        yield from filled(f"    constexpr const char* texts[{count}] = {{", texts, "};")
        yield "    return texts[static_cast<int>(option)];"
        yield "}"
        yield "// False if the text is not an option."
        yield f"constexpr bool from_text(std::string_view text, {name}& option) {{"
        yield f"    for (int i = 0; i < {count}; ++i) {{"
        yield f"        if (text == to_text(static_cast<{name}>(i))) return option = static_cast<{name}>(i), true;"
        yield "    }"
        yield "    return false;"
        yield "}"


def _enum_json(choice: Choice) -> Iterator[str]:
    """Numbers cross the wire as nlohmann's library writes every enumeration."""
    if _is_text(choice):
        yield f"[[maybe_unused]] static void to_json(Json& json, {choice.name} option) {{ json = to_text(option); }}"
        yield f"[[maybe_unused]] static void from_json(const Json& json, {choice.name}& option) {{"
        yield "    const auto& text = json.get_ref<const std::string&>();"
        yield f'    if (!from_text(text, option)) throw std::runtime_error("{choice.name} is not " + text);'
        yield "}"


def _constant(game: Binding, name: str, value: Any) -> list[str]:
    if isinstance(value, list):
        choice = game.choice_of(value)
        plain = same_kind(value)
        items = [f"{choice.name}::{option}" for option, _ in choice.options] if choice else map(literal, plain)
        kind = choice.name if choice else _constant_type(plain[0])
        return filled(f"constexpr std::array<{kind}, {len(value)}> {name} = {{", [*items], "};")
    return [f"constexpr {_constant_type(value)} {name} = {literal(value)};"]


def _constant_type(value: Any) -> str:
    return {str: "const char*", float: "double", bool: "bool"}.get(type(value), "int")


def _type(shape: Type) -> str:
    match shape:
        case Scalar(kind, choice):
            return choice.name if choice else SCALARS[kind]
        case Pair(name=name) | Ref(name=name) | OneOf(name=name):
            return name
        case Maybe(Scalar("any")):
            return "Anything"
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


def _pair_json(pair: Pair) -> Iterator[str]:
    name, (a, b) = pair.name, pair.members
    yield f"void to_json(Json& json, const {name}& pair) {{ json = Json::array({{pair.{a}, pair.{b}}}); }}"
    yield f"void from_json(const Json& json, {name}& pair) {{"
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
        initial = ""
        if record.sent and isinstance(field.type, Maybe):
            initial = "{}" if field.type == Maybe(Scalar("any")) else " = std::nullopt"
        if isinstance(field.type, Scalar):
            initial = "{}" if field.type.choice else INITIAL.get(field.type.kind, "")
        line = f"    {_type(field.type)} {field.name}{initial};"
        yield from noted(line, field.doc, "// ")
    yield "};"


def _head(record: Record) -> str:
    variable = _snake(record.name)
    if record.sent:
        return f"void to_json(Json& json, const {record.name}& {variable})"
    return f"void from_json(const Json& json, {record.name}& {variable})"


def _from_json(record: Record) -> Iterator[str]:
    variable = _snake(record.name)
    yield f"{_head(record)} {{"
    for index, field in enumerate(record.fields):
        if record.listed:
            yield f"    json.at({index}).get_to({variable}.{field.name});"
        else:
            yield f'    read(json, "{field.name}", {variable}.{field.name});'
    yield "}"


def _to_json(record: Record) -> Iterator[str]:
    variable = _snake(record.name)
    yield f"{_head(record)} {{"
    if record.listed:
        yield f"    json = Json::array({{{', '.join([f'{variable}.{field.name}' for field in record.fields])}}});"
        yield "}"
        return
    yield "    json = Json::object();"
    for field in record.fields:
        yield f'    write(json, "{field.name}", {variable}.{field.name});'
    yield "}"


def _one_of(union: OneOf) -> Iterator[str]:
    yield f"static void from_json(const Json& json, {union.name}& choice) {{"
    yield f'    const auto& {union.tag} = json.at("{union.tag}").get_ref<const std::string&>();'
    for text, name in union.choices:
        yield f'    if ({union.tag} == "{text}") choice = json.get<{name}>();'
    yield "}"


def _bot(game: Binding) -> Iterator[str]:
    yield f"// A bot for one match of {game.title}; each match gets a new object, which is handed the match:"
    yield f"// `using {game.name}Bot::{game.name}Bot;`, or a constructor of your own."
    yield f"class {game.name}Bot : public Bot {{"
    yield "   public:"
    yield f'    static constexpr const char* game = "{game.game}";'
    yield ""
    yield "    using Bot::Bot;"
    for function in game.functions:
        yield ""
        yield from comment(function.doc, 4, "// ")
        yield from _method(function)
    yield ""
    yield "    Json answer(const std::string& method, const Json& params) final;"
    if game.events:
        yield "    void notice(const std::string& method, const Json& params) final;"
    yield "};"


def _serving(game: Binding) -> Iterator[str]:
    yield f"Json {game.name}Bot::answer(const std::string& method, const Json& params) {{"
    for function in game.calls:
        yield from _answer(function)
    yield "    return Bot::answer(method, params);"
    yield "}"
    if game.events:
        yield ""
        yield f"void {game.name}Bot::notice(const std::string& method, const Json& params) {{"
        for event in game.events:
            declared = _type(event.params[0].type)
            yield f'    if (method == "{event.name}") {event.name}(params.get<{declared}>());'
        yield "}"


def _method(function: Function) -> list[str]:
    """A function without a result may be left as it is: its parameters are then unused."""
    unused = function.result is None
    returned = "void" if function.result is None else _type(function.result)
    arguments = [_argument(field, unused) for field in function.params]
    return filled(f"    virtual {returned} {function.name}(", arguments, ") {}" if unused else ") = 0;")


def _argument(field: Field, unused: bool) -> str:
    by_value = isinstance(field.type, Scalar) and field.type.kind in INITIAL
    declared = _type(field.type) if by_value else f"const {_type(field.type)}&"
    return f"{declared} /*{field.name}*/" if unused else f"{declared} {field.name}"


def _answer(function: Function) -> Iterator[str]:
    arguments = [f'params.at("{field.name}").get<{_type(field.type)}>()' for field in function.params]
    yield f'    if (method == "{function.name}") {{'
    if function.result is None:
        yield from filled(f"        {function.name}(", arguments, ");")
        yield "        return nullptr;"
    else:
        yield from filled(f"        return {function.name}(", arguments, ");")
    yield "    }"


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
