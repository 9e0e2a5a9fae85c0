"""The C bindings: one header a game, on top of `referee/wire.h`."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from referee.tools.kits.shapes import Binding, Field, Function, Many, Maybe, OneOf, Pair, Record, Ref, Scalar, Type
from referee.tools.kits.text import comment, filled, literal

SCALARS = {"int": "int", "float": "double", "bool": "bool", "str": "const char*", "any": "const Value*"}
NAMES = {"int": "Int", "float": "Float", "bool": "Bool", "str": "Text", "any": "Any"}
OF_THE_LIBRARY = {"TextList"}
"""Types that are named like a game's, and that `wire.h` has already."""


def emit(game: Binding) -> str:
    """The header's text."""
    types = _Types(game)
    lines = [
        f"// {game.origin}",
        *comment(game.doc, 0, "// "),
        "",
        "#pragma once",
        "",
        "#include <referee/wire.h>",
        "#include <string.h>",
        "",
        *_constants(game.constants),
        "",
        *types.declarations,
        *_bot(game),
        "",
        "// What bots need not know: how all of this crosses the wire.",
        "",
        *types.functions,
        *_serving(game),
    ]
    return "\n".join(lines) + "\n"


def _constants(constants: dict[str, Any]) -> Iterator[str]:
    for kind, run in groupby(constants.items(), lambda item: type(item[1])):
        if kind is int:
            yield "enum {"
            yield from (f"    {name} = {value}," for name, value in run)
            yield "};"
        for name, value in () if kind is int else run:
            if kind is list:
                number = "double" if any(isinstance(item, float) for item in value) else "int"
                wanted = "const char* const" if isinstance(value[0], str) else f"const {number}"
                yield f"enum {{ {name}_COUNT = {len(value)} }};"
                yield from filled(f"static {wanted} {name}[{len(value)}] = {{", [*map(literal, value)], "};")
            else:
                yield f"#define {name} {literal(value)}"


# Types: how a variable of one is declared, and what its functions are called.


def _type(wanted: Type) -> str:
    match wanted:
        case Scalar(kind):
            return SCALARS[kind]
        case Pair(name=name) | Ref(name=name) | OneOf(name=name):
            return name
        case Many(item):
            return f"{_name(item, lengths=False)}List"
        case Maybe(Scalar("str" | "any") | Many() as item):
            return _type(item)
        case Maybe(Ref(name=name) | OneOf(name=name)):
            return f"const {name}*"
        case Maybe(item):
            return f"Maybe{_name(item)}"


def _function(verb: str, name: str) -> str:
    """Every function that bots see begins with `referee_`: C has no other name spaces."""
    return f"referee_{verb}_{re.sub(r'(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])', '_', name).lower()}"


def _name(wanted: Type, lengths: bool = True) -> str:
    """As in `readName`. Without `lengths` lists that must have one are named like those that need not."""
    match wanted:
        case Scalar(kind):
            return NAMES[kind]
        case Many(item, length):
            return f"{_name(item, lengths)}List{length if length and lengths else ''}"
        case Maybe(item):
            return f"Maybe{_name(item, lengths)}"
        case _:
            return wanted.name


def _writer(wanted: Type) -> str:
    """Those that are pointers already say by NULL that they are absent, and have one writer."""
    plain = isinstance(wanted, Maybe) and isinstance(wanted.item, Scalar) and wanted.item.kind in ("str", "any")
    return f"{_function('write', _name(wanted.item if plain and isinstance(wanted, Maybe) else wanted))}"


class _Types:
    """The declarations and functions of all types of a game, each after those that it is made of."""

    def __init__(self, game: Binding) -> None:
        self.game = game
        self.declarations: list[str] = []
        self.functions: list[str] = []
        self.written = set(OF_THE_LIBRARY)
        for pair in game.pairs:
            self.need(pair, sent=False)
        for record in game.records:
            self.need(Ref(record.name), record.sent)
        for function in game.functions:
            for field in function.params:
                self.need(field.type, sent=False)
            if function.result is not None:
                self.need(function.result, sent=True)

    def need(self, wanted: Type, sent: bool) -> None:
        """Writes what is not there yet of a type: its declaration, and the function that reads or writes it."""
        match wanted:
            case Pair():
                self.declare(wanted.name, _pair(wanted, self.game.pairs[wanted]))
                self.function(wanted, False, _read_pair(wanted))
                self.function(wanted, True, _write_pair(wanted))
            case Ref(name):
                record = next(record for record in self.game.records if record.name == name)
                for field in record.fields:
                    self.need(field.type, sent)
                self.declare(name, _struct(record))
                self.function(wanted, sent, _write_record(record, self.tag(record)) if sent else _read_record(record))
            case OneOf():
                for _, choice in wanted.choices:
                    self.need(Ref(choice), sent)
                self.declare(wanted.name, _union(wanted))
                self.function(wanted, sent, _write_union(wanted) if sent else _read_union(wanted))
            case Many(item, length):
                self.need(item, sent)
                self.declare(_type(wanted), _list(wanted))
                if sent:
                    self.declare(_function("new", _type(wanted)), _new_list(wanted))
                elif length:
                    self.need(Many(item, None), sent)
                self.function(wanted, sent, _write_list(wanted) if sent else _read_list(wanted))
            case Maybe(item) if not isinstance(item, Scalar):
                self.need(item, sent)
                if isinstance(item, Pair):
                    self.declare(_type(wanted), _maybe(wanted))
                self.function(wanted, sent, _write_maybe(wanted) if sent else _read_maybe(wanted))

    def declare(self, name: str, lines: Iterable[str]) -> None:
        if name not in self.written:
            self.written.add(name)
            self.declarations += [*lines, ""]

    def function(self, wanted: Type, sent: bool, body: Iterable[str]) -> None:
        head = _write_head(wanted) if sent else _read_head(wanted)
        if head not in self.written:
            self.written.add(head)
            self.functions += [head, *(f"    {line}" for line in body), "}", ""]

    def tag(self, record: Record) -> str:
        """The text that tells the record from the other choices of a union; empty if it is in none."""
        texts = {name: text for union in self.game.unions for text, name in union.choices}
        return texts.get(record.name, "")


def _read_head(wanted: Type) -> str:
    name = _function("read", _name(wanted))
    return f"static inline bool {name}(Match* match, const Value* value, {_type(wanted)}* into) {{"


def _write_head(wanted: Type) -> str:
    declared = _type(wanted)
    pointer = f"{declared} const* from" if declared.endswith("*") else f"const {declared}* from"
    return f"static inline Value {_function('write', _name(wanted))}(Match* match, {pointer}) {{"


def _pair(pair: Pair, doc: str) -> Iterator[str]:
    name, (a, b) = pair.name, pair.members
    yield from comment(doc, 0, "// ")
    yield "typedef struct {"
    yield f"    int {a};"
    yield f"    int {b};"
    yield f"}} {name};"
    yield ""
    yield f"static inline bool equal{name}({name} one, {name} two) {{"
    yield f"    return one.{a} == two.{a} && one.{b} == two.{b};"
    yield "}"
    yield ""
    yield f"// For qsort and bsearch: by {a}, then {b}."
    yield f"static inline int compare{name}(const void* one, const void* two) {{"
    yield f"    const {name} *a = one, *b = two;"
    yield f"    if (a->{a} != b->{a}) return a->{a} < b->{a} ? -1 : 1;"
    yield f"    return (a->{b} > b->{b}) - (a->{b} < b->{b});"
    yield "}"
    yield ""
    yield f"static inline size_t hash{name}({name} pair) {{"
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
    return ["Value list = referee_new_list();", *appended, "return list;"]


def _struct(record: Record) -> Iterator[str]:
    yield from comment(record.doc, 0, "// ")
    yield "typedef struct {"
    if not _members(record):
        yield "    char empty;  // C wants a member"
    for field in _members(record):
        line = f"    {_type(field.type)} {field.name};"
        if field.doc and len(line) + 5 + len(field.doc) <= 120:
            yield f"{line}  // {field.doc}"
        else:
            yield from comment(field.doc, 4, "// ")
            yield line
    yield f"}} {record.name};"


def _members(record: Record) -> list[Field]:
    """The union that a record is sent in knows which it is: the record need not say so itself."""
    return [field for field in record.fields if not (record.sent and field.name == record.tag)]


def _read_record(record: Record) -> Iterator[str]:
    for index, field in enumerate(record.fields):
        place = f"referee_item(value, {index})" if record.listed else f'referee_member(value, "{field.name}")'
        start, end = "return " if index == 0 else "       ", " &&" if field is not record.fields[-1] else ";"
        yield f"{start}{_function('read', _name(field.type))}(match, {place}, &into->{field.name}){end}"
    if not record.fields:
        yield "return (void)match, (void)into, !referee_is_null(value);"


def _write_record(record: Record, tag: str) -> Iterator[str]:
    kind = "list" if record.listed else "object"
    yield f"Value {kind} = referee_new_{kind}();"
    if record.tag is not None:
        yield f'referee_put(match, &object, "{record.tag}", referee_new_text({literal(tag)}));'
    if not _members(record):
        yield "(void)from;"
    for field in _members(record):
        value = f"{_writer(field.type)}(match, &from->{field.name})"
        if record.listed:
            yield f"referee_append(match, &list, {value});"
        else:
            put = "referee_put_some" if isinstance(field.type, Maybe) else "referee_put"
            yield f'{put}(match, &object, "{field.name}", {value});'
    yield f"return {kind};"


def _union(union: OneOf) -> Iterator[str]:
    kinds = ", ".join([f"{union.name}_{name}" for _, name in union.choices])
    yield f"// One of these, told apart by `{union.tag}` on the wire."
    yield "typedef struct {"
    yield f"    enum {{ {kinds} }} is;"
    yield "    union {"
    yield from (f"        {name} {_lower(name)};" for _, name in union.choices)
    yield "    };"
    yield f"}} {union.name};"


def _read_union(union: OneOf) -> list[str]:
    lines = [f'const Value* tag = referee_member(value, "{union.tag}");']
    for text, name in union.choices:
        lines += [f"if (referee_is_text(tag, {literal(text)})) {{", f"    into->is = {union.name}_{name};"]
        lines += [f"    return {_function('read', name)}(match, value, &into->{_lower(name)});", "}"]
    return [*lines, "return false;"]


def _write_union(union: OneOf) -> list[str]:
    lines = ["switch (from->is) {"]
    for _, name in union.choices:
        lines += [
            f"    case {union.name}_{name}:",
            f"        return {_function('write', name)}(match, &from->{_lower(name)});",
        ]
    return [*lines, "}", "return (Value){.kind = VALUE_NULL};"]


def _list(wanted: Many) -> list[str]:
    declared = _type(wanted.item)
    return ["typedef struct {", f"    {declared}* items;", "    size_t count;", f"}} {_type(wanted)};"]


def _new_list(wanted: Many) -> list[str]:
    name = _type(wanted)
    return [
        "// A list with room for `most` items, of which none is there yet.",
        f"static inline {name} {_function('new', name)}(Match* match, size_t most) {{",
        f"    return ({name}){{referee_allocate(match, most * sizeof({_type(wanted.item)})), 0}};",
        "}",
    ]


def _read_list(wanted: Many) -> list[str]:
    if wanted.length is not None:
        plain = _name(Many(wanted.item, None))
        return [f"return {_function('read', plain)}(match, value, into) && into->count == {wanted.length};"]
    return [
        "if (!value || value->kind != VALUE_LIST) return false;",
        f"*into = ({_type(wanted)}){{referee_allocate(match, value->count * sizeof *into->items), value->count}};",
        "for (size_t i = 0; i < value->count; ++i) {",
        f"    if (!{_function('read', _name(wanted.item))}(match, &value->items[i], &into->items[i])) return false;",
        "}",
        "return true;",
    ]


def _write_list(wanted: Many) -> list[str]:
    item = f"{_writer(wanted.item)}(match, &from->items[i])"
    return [
        "Value list = referee_new_list();",
        f"for (size_t i = 0; i < from->count; ++i) referee_append(match, &list, {item});",
        "return list;",
    ]


def _maybe(wanted: Maybe) -> list[str]:
    return ["typedef struct {", "    bool present;", f"    {_type(wanted.item)} value;", f"}} {_type(wanted)};"]


def _read_maybe(wanted: Maybe) -> list[str]:
    read = f"{_function('read', _name(wanted.item))}(match, value, "
    match wanted.item:
        case Pair():
            return [f"into->present = {read}&into->value);", "return true;"]
        case Many():
            return [f"if (!{read}into)) *into = ({_type(wanted)}){{NULL, 0}};", "return true;"]
    return [
        f"{_type(wanted.item)}* there = referee_is_null(value) ? NULL : referee_allocate(match, sizeof *there);",
        f"*into = there && {read}there) ? there : NULL;",
        "return true;",
    ]


def _write_maybe(wanted: Maybe) -> list[str]:
    nothing, write = "(Value){.kind = VALUE_NULL}", _writer(wanted.item)
    match wanted.item:
        case Pair():
            return [f"return from->present ? {write}(match, &from->value) : {nothing};"]
        case Many():
            return [f"return from->items ? {write}(match, from) : {nothing};"]
    return [f"return *from ? {write}(match, *from) : {nothing};"]


# The bot.


def _bot(game: Binding) -> Iterator[str]:
    name = f"{game.name}Bot"
    yield f"// A bot for {game.title}. A function that returns nothing may be left out."
    yield "typedef struct {"
    yield "    const char* name;"
    yield '    const char* version;          // NULL = "1"'
    yield "    size_t memory;                // bytes of `match->memory`"
    yield "    void (*begin)(Match* match);  // a match begins; may be left out"
    for function in game.functions:
        yield ""
        yield from comment(function.doc, 4, "// ")
        returned = "void" if function.result is None else _type(function.result)
        yield from filled(
            f"    {returned} (*{function.name})(", ["Match* match", *map(_parameter, function.params)], ");"
        )
    yield f"}} {name};"


def _serving(game: Binding) -> Iterator[str]:
    name = f"{game.name}Bot"
    calls = game.calls
    events = game.events
    yield f"static inline bool answer{name}(Match* match, const char* method, const Value* params, Value* result) {{"
    yield f"    const {name}* bot = match->bot;"
    for function in calls:
        yield from _answer(function)
    yield "    return (void)params, (void)result, false;"
    yield "}"
    if events:
        yield ""
        yield f"static inline void notice{name}(Match* match, const char* method, const Value* params) {{"
        yield f"    const {name}* bot = match->bot;"
        for function in events:
            yield from _notice(function)
        yield "}"
    yield ""
    yield "// Plays matches until the referee ends the program: `int main(void) { return referee_run(&bot); }`."
    yield f"static inline int referee_run(const {name}* bot) {{"
    yield "    return referee_serve(&(Bot){.name = bot->name,"
    members = [("version", "bot->version"), ("game", f'"{game.game}"'), ("memory", "bot->memory")]
    members += [("begin", "bot->begin"), ("answer", f"answer{name}")]
    members += [("notice", f"notice{name}")] if events else []
    yield from (f"                        .{member} = {value}," for member, value in members)
    yield "                        .bot = bot});"
    yield "}"


def _parameter(field: Field) -> str:
    is_big = isinstance(field.type, Ref | OneOf)
    return f"const {_type(field.type)}* {field.name}" if is_big else f"{_type(field.type)} {field.name}"


def _answer(function: Function) -> Iterator[str]:
    needed = "" if function.result is None else f" && bot->{function.name}"
    yield f'    if (strcmp(method, "{function.name}") == 0{needed}) {{'
    yield from _read_parameters([(field, f'referee_member(params, "{field.name}")') for field in function.params])
    arguments = ["match", *map(_argument, function.params)]
    if function.result is None:
        yield from filled(f"        if (bot->{function.name}) bot->{function.name}(", arguments, ");")
    else:
        head = f"        {_type(function.result)} given = bot->{function.name}("
        yield from filled(head, arguments, ");")
        yield f"        *result = {_writer(function.result)}(match, &given);"
    yield "        return true;"
    yield "    }"


def _notice(function: Function) -> Iterator[str]:
    yield f'    if (strcmp(method, "{function.name}") == 0 && bot->{function.name}) {{'
    yield from _read_parameters([(field, "params") for field in function.params])
    yield from filled(f"        bot->{function.name}(", ["match", *map(_argument, function.params)], ");")
    yield "    }"


def _read_parameters(fields: list[tuple[Field, str]]) -> Iterator[str]:
    """In a struct of their own, so that a parameter may have any name."""
    if fields:
        yield "        struct {"
        yield from (f"            {_type(field.type)} {field.name};" for field, _ in fields)
        yield "        } in;"
    for field, place in fields:
        yield f"        if (!{_function('read', _name(field.type))}(match, {place}, &in.{field.name})) {{"
        yield f'            referee_fail(match, "%s: {field.name} is not what the rules say", method);'
        yield "        }"


def _argument(field: Field) -> str:
    return f"&in.{field.name}" if isinstance(field.type, Ref | OneOf) else f"in.{field.name}"


def _lower(name: str) -> str:
    return name[0].lower() + name[1:]
