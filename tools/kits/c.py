"""The C bindings: a header and a source for each game, on top of `referee/wire.h`.

The header has what bots see. The source is compiled once, into the kit's library.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby

from referee.tools.kits import c_source
from referee.tools.kits.c_names import TEXTS, Names, snake
from referee.tools.kits.shapes import Binding, Choice, Field, Many, Maybe, OneOf, Pair, Record, Ref, Scalar, Type
from referee.tools.kits.text import comment, filled, literal, noted


def emit(game: Binding) -> str:
    """The header's text."""
    names = Names(game.module)
    types = _Types(game, names)
    lines = [
        f"// {game.origin}",
        *comment(game.doc, 0, "// "),
        "",
        "#pragma once",
        "",
        "#include <referee/wire.h>",
        "",
        *_constants(game, names),
        *types.declarations,
        *_bot(game, names),
        "",
        f"// Plays matches until the referee ends the program: `int main(void) {{ return {names.of('run')}(&bot); }}`.",
        f"int {names.of('run')}(const {names.of('bot')}* bot);",
        "",
        "// Conversions, for tests.",
        *types.conversions,
    ]
    return "\n".join(lines) + "\n"


def emit_source(game: Binding) -> str:
    """The source's text."""
    names = Names(game.module)
    lines = [
        f"// {game.origin}",
        "",
        f"#include <referee/{game.module}.h>",
        "#include <string.h>",
        "",
        *c_source.constants(game, names),
        *_Types(game, names).functions,
        *c_source.serving(game, names),
    ]
    return "\n".join(lines) + "\n"


def _constants(game: Binding, names: Names) -> Iterator[str]:
    for kind, run in groupby(game.loose_constants.items(), lambda item: type(item[1])):
        if kind is int:
            yield "enum {"
            yield from (f"    {names.constant(name)} = {value}," for name, value in run)
            yield "};"
            yield ""
            continue
        for name, value in run:
            if c_source.is_array(game, value):
                yield f"enum {{ {names.constant(name)}_COUNT = {len(value)} }};"
                yield f"extern {c_source.array(names, name, value)};"
                yield ""
            elif kind is not list:
                yield f"#define {names.constant(name)} {literal(value)}"
        if kind is not list:
            yield ""


class _Types:
    """The declarations and functions of all types of a game, each after those that it needs."""

    def __init__(self, game: Binding, names: Names) -> None:
        self.game = game
        self.names = names
        self.declarations: list[str] = []
        self.conversions: list[str] = []
        """The prototypes of the functions that read and write records."""
        self.functions: list[str] = []
        self.written = {TEXTS}
        for choice in game.choices:
            self.need(Scalar("str" if c_source.is_text(choice) else "int", choice), sent=False)
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
        """Writes the missing parts of a type: its declaration, and the function that reads or writes it."""
        names = self.names
        match shape:
            case Scalar(choice=choice) if choice is not None:
                self.declare(names.of(choice.name), _enum(choice, names), self.choice_functions(choice))
                if sent:
                    self.function(shape, sent, c_source.write_choice(choice, names))
            case Pair():
                declared = _pair(shape, self.game.pairs[shape], names)
                self.declare(names.of(shape.name), declared, c_source.pair_functions(shape, names))
                self.function(shape, False, c_source.read_pair(shape))
                self.function(shape, True, c_source.write_pair(shape))
            case Ref(name):
                record = next(record for record in self.game.records if record.name == name)
                for field in record.fields:
                    self.need(field.type, sent)
                self.declare(names.of(name), _struct(record, names))
                tag = self.game.tags.get(name, "")
                write, read = c_source.write_record(record, tag, names), c_source.read_record(record, names)
                self.function(shape, sent, write if sent else read)
            case OneOf():
                for _, choice_name in shape.choices:
                    self.need(Ref(choice_name), sent)
                self.declare(names.of(shape.name), _union(shape, names))
                body = c_source.write_union(shape, names) if sent else c_source.read_union(shape, names)
                self.function(shape, sent, body)
            case Many(item, length):
                self.need(item, sent)
                self.declare(names.type(shape), _list(shape, names))
                if sent:
                    self.declare(names.new_list(shape), _new_list(shape, names), c_source.new_list(shape, names))
                elif length:
                    self.need(Many(item, None), sent)
                self.function(shape, sent, (c_source.write_list if sent else c_source.read_list)(shape, names))
            case Maybe(item) if not isinstance(item, Scalar) or item.choice is not None:
                self.need(item, sent)
                if isinstance(item, Pair | Scalar):
                    self.declare(names.type(shape), _maybe(shape, names))
                self.function(shape, sent, (c_source.write_maybe if sent else c_source.read_maybe)(shape, names))

    def declare(self, name: str, lines: Iterable[str], functions: Iterable[str] = ()) -> None:
        if name not in self.written:
            self.written.add(name)
            self.declarations += [*lines, ""]
            self.functions += functions

    def choice_functions(self, choice: Choice) -> Iterator[str]:
        """A choice's functions, which are for bots too."""
        if c_source.is_text(choice):
            yield from c_source.texts_of(choice, self.names)
            yield ""
        yield from _head(Scalar("str", choice), False, self.names, " {")
        yield from (f"    {line}" for line in c_source.read_choice(choice, self.names))
        yield "}"
        yield ""

    def function(self, shape: Type, sent: bool, body: Iterable[str]) -> None:
        name = self.names.writer(shape) if sent else self.names.reader(shape)
        if name in self.written:
            return
        self.written.add(name)
        is_public = isinstance(shape, Pair | Ref)
        if is_public:
            self.conversions += _head(shape, sent, self.names, ";")
        head = _head(shape, sent, self.names, " {", "" if is_public else "static ")
        self.functions += [*head, *(f"    {line}" for line in body), "}", ""]


def _head(shape: Type, sent: bool, names: Names, end: str, start: str = "") -> list[str]:
    """The head of the function that reads or writes a type."""
    declared = names.type(shape)
    if sent:
        source = f"{declared} const* from" if declared.endswith("*") else f"const {declared}* from"
        return filled(f"{start}referee_value {names.writer(shape)}(", ["referee_match* match", source], f"){end}")
    parameters = ["referee_match* match", "const referee_value* value", f"{declared}* into"]
    return filled(f"{start}bool {names.reader(shape)}(", parameters, f"){end}")


def _enum(choice: Choice, names: Names) -> Iterator[str]:
    name, is_text = snake(choice.name), c_source.is_text(choice)
    yield "typedef enum {"
    for option, value in choice.options:
        number = "" if is_text else f" = {value}"
        yield f"    {c_source.option(choice, option, names)}{number},"
    yield f"}} {names.of(name)};"
    if is_text:
        yield f"#define {names.constant(f'{name}_COUNT')} {len(choice.options)}"
        yield ""
        yield "// The text on the wire; NULL for a number that is no option."
        yield f"const char* {names.of(f'{name}_text')}({names.of(name)} {name});"
    yield ""
    yield "// False if the value is no option."
    yield from _head(Scalar("str", choice), False, names, ";")


def _pair(pair: Pair, doc: str, names: Names) -> Iterator[str]:
    name, (a, b) = names.of(pair.name), pair.members
    equal, compare, hashed = c_source.pair_heads(pair, names)
    yield from comment(doc, 0, "// ")
    yield "typedef struct {"
    yield f"    int {a};"
    yield f"    int {b};"
    yield f"}} {name};"
    yield ""
    yield f"{equal};"
    yield f"{compare};  // for qsort and bsearch: by {a}, then {b}"
    yield f"{hashed};"


def _struct(record: Record, names: Names) -> Iterator[str]:
    yield from comment(record.doc, 0, "// ")
    yield "typedef struct {"
    if not c_source.members(record):
        yield "    char empty;  // C requires a member"
    for field in c_source.members(record):
        yield from noted(f"    {names.type(field.type)} {snake(field.name)};", field.doc, "// ")
    yield f"}} {names.of(record.name)};"


def _union(union: OneOf, names: Names) -> Iterator[str]:
    kinds = [c_source.kind_of(union, name, names) for _, name in union.choices]
    yield "// `kind` says which member is valid."
    yield "typedef struct {"
    yield from filled("    enum { ", kinds, " } kind;")
    yield "    union {"
    yield from (f"        {names.of(name)} {snake(name)};" for _, name in union.choices)
    yield "    };"
    yield f"}} {names.of(union.name)};"


def _list(shape: Many, names: Names) -> list[str]:
    declared = names.type(shape.item)
    return ["typedef struct {", f"    {declared}* items;", "    size_t count;", f"}} {names.type(shape)};"]


def _new_list(shape: Many, names: Names) -> list[str]:
    return [
        "// An empty list with room for `capacity` items, until the call is answered.",
        f"{names.type(shape)} {names.new_list(shape)}(referee_match* match, size_t capacity);",
    ]


def _maybe(shape: Maybe, names: Names) -> list[str]:
    item = names.type(shape.item)
    return ["typedef struct {", "    bool present;", f"    {item} value;", f"}} {names.type(shape)};"]


def _bot(game: Binding, names: Names) -> Iterator[str]:
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
        yield from filled(f"    {returned} (*{snake(function.name)})(", parameters, ");")
    yield f"}} {names.of('bot')};"


def _parameter(field: Field, names: Names) -> str:
    name, declared = snake(field.name), names.type(field.type)
    return f"const {declared}* {name}" if c_source.is_passed_by_address(field) else f"{declared} {name}"
