"""The C bindings: one header a game, on top of `referee/wire.h`.

C has one name space for all of a program: every name of a header begins with its game's, and every one of `wire.h` with
`referee_`.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from referee.tools.kits.shapes import Binding, Field, Function, Many, Maybe, OneOf, Pair, Record, Ref, Scalar, Type
from referee.tools.kits.text import WIDTH, comment, filled, literal, noted

SCALARS = {"int": "int", "float": "double", "bool": "bool", "str": "const char*", "any": "const referee_value*"}
NAMES = {"int": "int", "float": "float", "bool": "bool", "str": "text", "any": "any"}
TEXTS = "referee_text_list"
"""The one list that `wire.h` has already."""
VALUE = "const referee_value* value"
NOTHING = "(referee_value){.kind = REFEREE_VALUE_NULL}"


class _Names:
    """The names of a game's types, functions and constants."""

    def __init__(self, game: str) -> None:
        self.game = game

    def of(self, name: str) -> str:
        """A type or a function: `CoordList` is `reantics_coord_list`."""
        return f"{self.game}_{_snake(name)}"

    def constant(self, name: str) -> str:
        return f"{self.game}_{name}".upper()

    def type(self, shape: Type) -> str:
        """How a variable of a type is declared."""
        match shape:
            case Scalar(kind):
                return SCALARS[kind]
            case Pair(name=name) | Ref(name=name) | OneOf(name=name):
                return self.of(name)
            case Many(Scalar("str")):
                return TEXTS
            case Many(item):
                return self.of(f"{_name(item, lengths=False)}_list")
            case Maybe(Scalar("str" | "any") | Many() as item):
                return self.type(item)
            case Maybe(Ref(name=name) | OneOf(name=name)):
                return f"const {self.of(name)}*"
            case Maybe(Scalar()):
                return f"referee_{_name(shape)}"
            case Maybe():
                return self.of(_name(shape))

    def reader(self, shape: Type) -> str:
        return self._function("read", shape)

    def writer(self, shape: Type) -> str:
        """Those that are pointers already say by NULL that they are absent, and have one writer."""
        match shape:
            case Maybe(Scalar("str" | "any") as item):
                return self._function("write", item)
        return self._function("write", shape)

    def _function(self, verb: str, shape: Type) -> str:
        match shape:
            case Scalar() | Maybe(Scalar()):
                return f"referee_{verb}_{_name(shape)}"
        return self.of(f"{verb}_{_name(shape)}")


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def _name(shape: Type, lengths: bool = True) -> str:
    """As in `read_name`. Without `lengths` lists that must have one are named like those that need not."""
    match shape:
        case Scalar(kind):
            return NAMES[kind]
        case Many(item, length):
            return f"{_name(item, lengths)}_list{length if length and lengths else ''}"
        case Maybe(item):
            return f"maybe_{_name(item, lengths)}"
        case _:
            return _snake(shape.name)


def emit(game: Binding) -> str:
    """The header's text."""
    names = _Names(game.game)
    types = _Types(game, names)
    lines = [
        f"// {game.origin}",
        *comment(game.doc, 0, "// "),
        "",
        "#pragma once",
        "",
        "#include <referee/wire.h>",
        "#include <string.h>",
        "",
        *_constants(game.constants, names),
        "",
        *types.declarations,
        *_bot(game, names),
        "",
        "// What bots need not know: how all of this crosses the wire.",
        "",
        *types.functions,
        *_serving(game, names),
    ]
    return "\n".join(lines) + "\n"


def _constants(constants: dict[str, Any], names: _Names) -> Iterator[str]:
    for kind, run in groupby(constants.items(), lambda item: type(item[1])):
        if kind is int:
            yield "enum {"
            yield from (f"    {names.constant(name)} = {value}," for name, value in run)
            yield "};"
        for name, value in () if kind is int else run:
            if kind is list:
                number = "double" if any(isinstance(item, float) for item in value) else "int"
                array = "const char* const" if isinstance(value[0], str) else f"const {number}"
                yield f"enum {{ {names.constant(name)}_COUNT = {len(value)} }};"
                head = f"static {array} {names.constant(name)}[{len(value)}] = {{"
                yield from filled(head, [*map(literal, value)], "};")
            else:
                yield f"#define {names.constant(name)} {literal(value)}"


class _Types:
    """The declarations and functions of all types of a game, each after those that it is made of."""

    def __init__(self, game: Binding, names: _Names) -> None:
        self.game = game
        self.names = names
        self.declarations: list[str] = []
        self.functions: list[str] = []
        self.written = {TEXTS}
        for pair in game.pairs:
            self.need(pair, sent=False)
        for record in game.records:
            self.need(Ref(record.name), record.sent)
        for function in game.functions:
            for field in function.params:
                self.need(field.type, sent=False)
            if function.result is not None:
                self.need(function.result, sent=True)

    def need(self, shape: Type, sent: bool) -> None:
        """Writes what is not there yet of a type: its declaration, and the function that reads or writes it."""
        names = self.names
        match shape:
            case Pair():
                self.declare(names.of(shape.name), _pair(shape, self.game.pairs[shape], names))
                self.function(shape, False, _read_pair(shape))
                self.function(shape, True, _write_pair(shape))
            case Ref(name):
                record = next(record for record in self.game.records if record.name == name)
                for field in record.fields:
                    self.need(field.type, sent)
                self.declare(names.of(name), _struct(record, names))
                written = (
                    _write_record(record, self.game.tags.get(name, ""), names) if sent else _read_record(record, names)
                )
                self.function(shape, sent, written)
            case OneOf():
                for _, choice in shape.choices:
                    self.need(Ref(choice), sent)
                self.declare(names.of(shape.name), _union(shape, names))
                self.function(shape, sent, _write_union(shape, names) if sent else _read_union(shape, names))
            case Many(item, length):
                self.need(item, sent)
                self.declare(names.type(shape), _list(shape, names))
                if sent:
                    self.declare(_new(shape, names), _new_list(shape, names))
                elif length:
                    self.need(Many(item, None), sent)
                self.function(shape, sent, _write_list(shape, names) if sent else _read_list(shape, names))
            case Maybe(item) if not isinstance(item, Scalar):
                self.need(item, sent)
                if isinstance(item, Pair):
                    self.declare(names.type(shape), _maybe(shape, names))
                self.function(shape, sent, _write_maybe(shape, names) if sent else _read_maybe(shape, names))

    def declare(self, name: str, lines: Iterable[str]) -> None:
        if name not in self.written:
            self.written.add(name)
            self.declarations += [*lines, ""]

    def function(self, shape: Type, sent: bool, body: Iterable[str]) -> None:
        name, kind = (self.names.writer(shape), "referee_value") if sent else (self.names.reader(shape), "bool")
        if name not in self.written:
            self.written.add(name)
            parameters = _writes(shape, self.names) if sent else [VALUE, f"{self.names.type(shape)}* into"]
            head = filled(f"static inline {kind} {name}(", ["referee_match* match", *parameters], ") {")
            self.functions += [*head, *(f"    {line}" for line in body), "}", ""]


def _writes(shape: Type, names: _Names) -> list[str]:
    declared = names.type(shape)
    return [f"{declared} const* from" if declared.endswith("*") else f"const {declared}* from"]


def _pair(pair: Pair, doc: str, names: _Names) -> Iterator[str]:
    name, (a, b) = names.of(pair.name), pair.members
    yield from comment(doc, 0, "// ")
    yield "typedef struct {"
    yield f"    int {a};"
    yield f"    int {b};"
    yield f"}} {name};"
    yield ""
    yield f"static inline bool {names.of(f'equal_{_snake(pair.name)}')}({name} one, {name} two) {{"
    yield f"    return one.{a} == two.{a} && one.{b} == two.{b};"
    yield "}"
    yield ""
    yield f"// For qsort and bsearch: by {a}, then {b}."
    yield f"static inline int {names.of(f'compare_{_snake(pair.name)}')}(const void* one, const void* two) {{"
    yield f"    const {name} *a = one, *b = two;"
    yield f"    if (a->{a} != b->{a}) return a->{a} < b->{a} ? -1 : 1;"
    yield f"    return (a->{b} > b->{b}) - (a->{b} < b->{b});"
    yield "}"
    yield ""
    yield f"static inline size_t {names.of(f'hash_{_snake(pair.name)}')}({name} pair) {{"
    yield f"    return ((size_t)(unsigned)pair.{a} << 16 ^ (unsigned)pair.{b}) * 0x9e3779b1u;"
    yield "}"


def _read_pair(pair: Pair) -> list[str]:
    a, b = pair.members
    return [
        f"return referee_read_int(match, referee_item(value, 0), &into->{a}) &&",
        f"       referee_read_int(match, referee_item(value, 1), &into->{b});",
    ]


def _write_pair(pair: Pair) -> list[str]:
    appended = [f"referee_append(match, &list, referee_new_int(from->{name}));" for name in pair.members]
    return ["referee_value list = referee_new_list();", *appended, "return list;"]


def _struct(record: Record, names: _Names) -> Iterator[str]:
    yield from comment(record.doc, 0, "// ")
    yield "typedef struct {"
    if not _members(record):
        yield "    char empty;  // C wants a member"
    for field in _members(record):
        line = f"    {names.type(field.type)} {field.name};"
        yield from noted(line, field.doc, "// ")
    yield f"}} {names.of(record.name)};"


def _members(record: Record) -> list[Field]:
    """The union that a record is sent in knows which it is: the record need not say so itself."""
    return [field for field in record.fields if not (record.sent and field.name == record.tag)]


def _read_record(record: Record, names: _Names) -> Iterator[str]:
    for index, field in enumerate(record.fields):
        place = f"referee_item(value, {index})" if record.listed else f'referee_member(value, "{field.name}")'
        start, end = "return " if index == 0 else "       ", " &&" if field is not record.fields[-1] else ";"
        arguments = ["match", place, f"&into->{field.name}"]
        yield from filled(f"{start}{names.reader(field.type)}(", arguments, f"){end}", WIDTH - 4)
    if not record.fields:
        yield "return (void)match, (void)into, !referee_is_null(value);"


def _write_record(record: Record, tag: str, names: _Names) -> Iterator[str]:
    kind = "list" if record.listed else "object"
    yield f"referee_value {kind} = referee_new_{kind}();"
    if record.tag is not None:
        yield f'referee_put(match, &object, "{record.tag}", referee_new_text({literal(tag)}));'
    if not _members(record):
        yield "(void)from;"
    for field in _members(record):
        value = f"{names.writer(field.type)}(match, &from->{field.name})"
        if record.listed:
            yield f"referee_append(match, &list, {value});"
        else:
            put = "referee_put_some" if isinstance(field.type, Maybe) else "referee_put"
            yield from filled(f"{put}(", ["match", "&object", f'"{field.name}"', value], ");", WIDTH - 4)
    yield f"return {kind};"


def _union(union: OneOf, names: _Names) -> Iterator[str]:
    kinds = [_kind(union, name, names) for _, name in union.choices]
    yield f"// One of these; `{union.tag}` on the wire says which."
    yield "typedef struct {"
    yield from filled("    enum { ", kinds, " } is;")
    yield "    union {"
    yield from (f"        {names.of(name)} {_snake(name)};" for _, name in union.choices)
    yield "    };"
    yield f"}} {names.of(union.name)};"


def _kind(union: OneOf, choice: str, names: _Names) -> str:
    """What `is` says when it is that record."""
    return names.constant(f"{_snake(union.name)}_{_snake(choice)}")


def _read_union(union: OneOf, names: _Names) -> list[str]:
    lines = [f'const referee_value* tag = referee_member(value, "{union.tag}");']
    for text, name in union.choices:
        lines += [f"if (referee_is_text(tag, {literal(text)})) {{", f"    into->is = {_kind(union, name, names)};"]
        lines += [f"    return {names.reader(Ref(name))}(match, value, &into->{_snake(name)});", "}"]
    return [*lines, "return false;"]


def _write_union(union: OneOf, names: _Names) -> list[str]:
    lines = ["switch (from->is) {"]
    for _, name in union.choices:
        lines += [
            f"    case {_kind(union, name, names)}:",
            f"        return {names.writer(Ref(name))}(match, &from->{_snake(name)});",
        ]
    return [*lines, "}", f"return {NOTHING};"]


def _list(shape: Many, names: _Names) -> list[str]:
    declared = names.type(shape.item)
    return ["typedef struct {", f"    {declared}* items;", "    size_t count;", f"}} {names.type(shape)};"]


def _new(shape: Many, names: _Names) -> str:
    """The function that makes a list. One of texts is the library's, but this is the game's."""
    return names.of(f"new_{_name(shape, lengths=False)}")


def _new_list(shape: Many, names: _Names) -> list[str]:
    name = names.type(shape)
    return [
        "// A list with room for `most` items, of which none is there yet.",
        f"static inline {name} {_new(shape, names)}(referee_match* match, size_t most) {{",
        f"    return ({name}){{referee_allocate(match, most * sizeof({names.type(shape.item)})), 0}};",
        "}",
    ]


def _read_list(shape: Many, names: _Names) -> list[str]:
    if shape.length is not None:
        plain = names.reader(Many(shape.item, None))
        return [f"return {plain}(match, value, into) && into->count == {shape.length};"]
    return [
        "if (!value || value->kind != REFEREE_VALUE_LIST) return false;",
        f"*into = ({names.type(shape)}){{referee_allocate(match, value->count * sizeof *into->items), value->count}};",
        "for (size_t i = 0; i < value->count; ++i) {",
        f"    if (!{names.reader(shape.item)}(match, &value->items[i], &into->items[i])) return false;",
        "}",
        "return true;",
    ]


def _write_list(shape: Many, names: _Names) -> list[str]:
    item = f"{names.writer(shape.item)}(match, &from->items[i])"
    return [
        "referee_value list = referee_new_list();",
        f"for (size_t i = 0; i < from->count; ++i) referee_append(match, &list, {item});",
        "return list;",
    ]


def _maybe(shape: Maybe, names: _Names) -> list[str]:
    item = names.type(shape.item)
    return ["typedef struct {", "    bool present;", f"    {item} value;", f"}} {names.type(shape)};"]


def _read_maybe(shape: Maybe, names: _Names) -> list[str]:
    read = f"{names.reader(shape.item)}(match, value, "
    match shape.item:
        case Pair():
            return [f"into->present = {read}&into->value);", "return true;"]
        case Many():
            return [f"if (!{read}into)) *into = ({names.type(shape)}){{NULL, 0}};", "return true;"]
    return [
        f"{names.type(shape.item)}* there = referee_is_null(value) ? NULL : referee_allocate(match, sizeof *there);",
        f"*into = there && {read}there) ? there : NULL;",
        "return true;",
    ]


def _write_maybe(shape: Maybe, names: _Names) -> list[str]:
    write = names.writer(shape.item)
    match shape.item:
        case Pair():
            return [f"return from->present ? {write}(match, &from->value) : {NOTHING};"]
        case Many():
            return [f"return from->items ? {write}(match, from) : {NOTHING};"]
    return [f"return *from ? {write}(match, *from) : {NOTHING};"]


# The bot.


def _bot(game: Binding, names: _Names) -> Iterator[str]:
    yield f"// A bot for {game.title}. A function that returns nothing may be left out."
    yield "typedef struct {"
    yield "    const char* name;"
    yield '    const char* version;                  // NULL = "1"'
    yield "    size_t memory;                        // bytes of `match->memory`"
    yield "    void (*begin)(referee_match* match);  // a match begins; may be left out"
    for function in game.functions:
        yield ""
        yield from comment(function.doc, 4, "// ")
        returned = "void" if function.result is None else names.type(function.result)
        parameters = ["referee_match* match", *[_parameter(field, names) for field in function.params]]
        yield from filled(f"    {returned} (*{function.name})(", parameters, ");")
    yield f"}} {names.of('bot')};"


def _serving(game: Binding, names: _Names) -> Iterator[str]:
    bot, run = names.of("bot"), names.of("run")
    answer, notice = names.of("answer_call"), names.of("notice_event")
    request = ["referee_match* match", "const char* method", "const referee_value* params"]
    calls = game.calls
    events = game.events
    yield from filled(f"static inline bool {answer}(", [*request, "referee_value* result"], ") {")
    yield f"    const {bot}* bot = match->bot;"
    for function in calls:
        yield from _answer(function, names)
    yield "    return (void)params, (void)result, false;"
    yield "}"
    if events:
        yield ""
        yield from filled(f"static inline void {notice}(", request, ") {")
        yield f"    const {bot}* bot = match->bot;"
        for function in events:
            yield from _notice(function, names)
        yield "}"
    yield ""
    yield f"// Plays matches until the referee ends the program: `int main(void) {{ return {run}(&bot); }}`."
    yield f"static inline int {run}(const {bot}* bot) {{"
    yield "    return referee_serve(&(referee_bot){.name = bot->name,"
    members = [("version", "bot->version"), ("game", f'"{game.game}"'), ("memory", "bot->memory")]
    members += [("begin", "bot->begin"), ("answer", answer)]
    members += [("notice", notice)] if events else []
    yield from (f"                                        .{member} = {value}," for member, value in members)
    yield "                                        .bot = bot});"
    yield "}"


def _parameter(field: Field, names: _Names) -> str:
    is_big = isinstance(field.type, Ref | OneOf)
    return f"const {names.type(field.type)}* {field.name}" if is_big else f"{names.type(field.type)} {field.name}"


def _answer(function: Function, names: _Names) -> Iterator[str]:
    needed = "" if function.result is None else f" && bot->{function.name}"
    yield f'    if (strcmp(method, "{function.name}") == 0{needed}) {{'
    places = [(field, f'referee_member(params, "{field.name}")') for field in function.params]
    yield from _read_parameters(places, names)
    arguments = ["match", *map(_argument, function.params)]
    if function.result is None:
        yield from filled(f"        if (bot->{function.name}) bot->{function.name}(", arguments, ");")
    else:
        head = f"        {names.type(function.result)} given = bot->{function.name}("
        yield from filled(head, arguments, ");")
        yield f"        *result = {names.writer(function.result)}(match, &given);"
    yield "        return true;"
    yield "    }"


def _notice(function: Function, names: _Names) -> Iterator[str]:
    yield f'    if (strcmp(method, "{function.name}") == 0 && bot->{function.name}) {{'
    yield from _read_parameters([(field, "params") for field in function.params], names)
    yield from filled(f"        bot->{function.name}(", ["match", *map(_argument, function.params)], ");")
    yield "    }"


def _read_parameters(fields: list[tuple[Field, str]], names: _Names) -> Iterator[str]:
    """In a struct of their own, so that a parameter may have any name."""
    if fields:
        yield "        struct {"
        yield from (f"            {names.type(field.type)} {field.name};" for field, _ in fields)
        yield "        } in;"
    for field, place in fields:
        yield f"        if (!{names.reader(field.type)}(match, {place}, &in.{field.name})) {{"
        yield f'            referee_fail(match, "%s: {field.name} is not what the rules say", method);'
        yield "        }"


def _argument(field: Field) -> str:
    return f"&in.{field.name}" if isinstance(field.type, Ref | OneOf) else f"in.{field.name}"
