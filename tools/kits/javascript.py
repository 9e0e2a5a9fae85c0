"""The JavaScript bindings: one TypeScript file a game, on top of `wire.ts` and `read.ts`."""

import re
from collections.abc import Iterator, Mapping
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
from referee.tools.kits.text import WIDTH, comment, literal, on_lines

SCALARS = {"int": "number", "float": "number", "bool": "boolean", "str": "string", "any": "unknown"}
READERS = {
    "int": "read.integer",
    "float": "read.number",
    "bool": "read.boolean",
    "str": "read.text",
    "any": "read.anything",
}


def emit(game: Binding) -> str:
    """The file's text."""
    tags, written = game.tags, _written(game)
    lines = [
        f"// {game.origin}",
        *comment(game.doc, 0, "// "),
        "",
        'import * as read from "./read.js";',
        'import { Bot } from "./wire.js";',
        "",
        'export { run } from "./wire.js";',
        "",
        *(_constant(game, name, value) for name, value in game.constants.items()),
        "",
    ]
    for choice in game.choices:
        lines += [*_union([_option(game, *option) for option in choice.options], choice.name), ""]
    for pair, doc in game.pairs.items():
        a, b = pair.members
        lines += [*_doc(doc, indent=0), f"export type {pair.name} = readonly [{a}: number, {b}: number];", ""]
    for record in game.records:
        lines += [*_interface(record, tags), ""]
    for union in game.unions:
        lines += [*_union([name for _, name in union.choices], union.name), ""]
    lines += [*_bot(game, written), ""]
    for record in game.records:
        if not record.sent:
            lines += [*_read_record(record, tags), ""]
        elif record.name in written:
            lines += [*_write_record(record, written), ""]
    for union in game.unions:
        if not game.is_sent(union):
            lines += [*_read_union(union), ""]
        elif union.name in written:
            lines += [*_write_union(union, written), ""]
    readers = "\n".join(lines)
    for choice in game.choices:
        if re.search(rf"\bread{choice.name}\b", readers):
            lines += [*_read_choice(game, choice), ""]
    text = "\n".join(lines[:-1]) + "\n"
    # Prettier indents by two spaces.
    return re.sub("^(?:    )+", lambda indent: indent[0][::2], text, flags=re.MULTILINE)


def _written(game: Binding) -> set[str]:
    """The records and unions that are not sent as they are: the listed ones, and all that such a one is part of."""
    written: set[str] = set()
    for record in game.records:
        if record.sent and (record.listed or any(_holds(field.type, written) for field in record.fields)):
            written.add(record.name)
        written |= {union.name for union in game.unions if written & {name for _, name in union.choices}}
    return written


def _holds(shape: Type, written: set[str]) -> bool:
    match shape:
        case Ref(name=name) | OneOf(name=name):
            return name in written
        case Maybe(item) | Many(item, _):
            return _holds(item, written)
    return False


def _constant(game: Binding, name: str, value: Any) -> str:
    if isinstance(value, list):
        choice = game.choice_of(value)
        kind = choice.name if choice else "string" if isinstance(value[0], str) else "number"
        return f"export const {name}: readonly {kind}[] = [{', '.join(map(literal, value))}];"
    return f"export const {name} = {literal(value)};"


def _option(game: Binding, name: str, value: Any) -> str:
    """The type of an option: a number is called by its constant, a text by itself."""
    return f"typeof {name}" if isinstance(value, int) and game.constants.get(name) == value else literal(value)


def _union(types: list[str], name: str) -> list[str]:
    line = f"export type {name} = {' | '.join(types)};"
    return (
        [line]
        if len(line) <= WIDTH
        else [f"export type {name} =", *[f"    | {each}" for each in types[:-1]], f"    | {types[-1]};"]
    )


def _type(shape: Type, sent: bool = False) -> str:
    match shape:
        case Scalar(kind, choice):
            return choice.name if choice else SCALARS[kind]
        case Pair(name=name) | Ref(name=name) | OneOf(name=name):
            return name
        case Maybe(item):
            return f"{_type(item, sent)} | null"
        case Many(item, _):
            inner = _type(item, sent)
            grouped = isinstance(item, Maybe) or (sent and isinstance(item, Many))
            return f"{'readonly ' if sent else ''}{f'({inner})' if grouped else inner}[]"


def _doc(text: str, indent: int) -> list[str]:
    """Returns a comment that editors show with the name."""
    lines = comment(text, indent, " * ")
    if len(lines) < 2:
        short = [f"{' ' * indent}/** {line.strip()[2:]} */" for line in lines]
        if all(len(line) <= WIDTH for line in short):
            return short
    return [" " * indent + "/**", *lines, " " * indent + " */"]


def _interface(record: Record, tags: Mapping[str, str]) -> Iterator[str]:
    yield from _doc(record.doc, indent=0)
    yield f"export interface {record.name} {{"
    for field in record.fields:
        yield from _doc(field.doc, indent=4)
        yield f"    {_member(field, record, tags)};"
    yield "}"


def _member(field: Field, record: Record, tags: Mapping[str, str]) -> str:
    """What may be null may be absent too; the bot sees neither but undefined."""
    match field.type:
        case _ if field.name == record.tag:
            return f"{field.name}: {literal(tags[record.name])}"
        case Maybe(Scalar("any")):
            return f"{field.name}?: unknown"
        case Maybe(item):
            return f"{field.name}?: {_type(item, record.sent)}{' | null' if record.sent else ''}"
    return f"{field.name}: {_type(field.type, record.sent)}"


def _bot(game: Binding, written: set[str]) -> Iterator[str]:
    answers = game.calls
    events = game.events
    waits = any(function.result and _holds(function.result, written) for function in answers)
    yield f"/** A bot for one match of {game.title}: fill in its methods. Each match gets a new object. */"
    yield f"export abstract class {game.name}Bot extends Bot {{"
    yield f"    static override readonly game: string = {literal(game.game)};"
    yield ""
    for function in game.functions:
        yield from _doc(function.doc, indent=4)
        yield from _method(function)
        yield ""
    asynchronous, returned = ("async ", "Promise<unknown>") if waits else ("", "unknown")
    yield f"    override {asynchronous}answer(method: string, params: read.Members): {returned} {{"
    yield "        switch (method) {"
    for function in answers:
        yield from _answer(function, written)
    yield "        }"
    yield "        return super.answer(method, params);"
    yield "    }"
    if events:
        yield ""
        yield "    override notice(method: string, params: read.Members): unknown {"
        yield "        switch (method) {"
        for event in events:
            yield f"            case {literal(event.name)}:"
            yield f"                return this.{event.name}({_value('params', event.params[0].type)});"
        yield "        }"
        yield "        return super.notice(method, params);"
        yield "    }"
    yield "}"


def _method(function: Function) -> list[str]:
    """A function without a result may be left as it is; any may be answered with a promise."""
    arguments = [f"{field.name}: {_parameter(field.type)}" for field in function.params]
    if function.result is None:
        return on_lines(
            f"    {function.name}(", [f"_{argument}" for argument in arguments], "): void | Promise<void> {}"
        )
    returned = _type(function.result, sent=True)
    return on_lines(f"    abstract {function.name}(", arguments, f"): {returned} | Promise<{returned}>;")


def _parameter(shape: Type) -> str:
    return f"{_type(shape.item)} | undefined" if isinstance(shape, Maybe) else _type(shape)


def _answer(function: Function, written: set[str]) -> Iterator[str]:
    arguments = [_received(f"params.{field.name}", field.type) for field in function.params]
    case = f"            case {literal(function.name)}:"
    if function.result and _holds(function.result, written):
        yield f"{case} {{"
        yield from on_lines(f"                const answer = await this.{function.name}(", arguments, ");")
        yield f"                return {_sent('answer', function.result, written)};"
        yield "            }"
    else:
        yield case
        yield from on_lines(f"                return this.{function.name}(", arguments, ");")


def _received(member: str, shape: Type) -> str:
    """The expression that reads `member`, which may be absent where it may be null."""
    match shape:
        case Maybe(Scalar("any")):
            return member
        case Maybe(item):
            return f"read.maybe({member}, {_reader(item)})"
    return _value(member, shape)


def _value(value: str, shape: Type) -> str:
    return value if shape == Scalar("any") else f"{_reader(shape)}({value})"


def _reader(shape: Type) -> str:
    """The function that reads such a value."""
    match shape:
        case Scalar(_, Choice(name=name)):
            return f"read{name}"
        case Scalar(kind):
            return READERS[kind]
        case Pair():
            return "read.pair"
        case Ref(name=name) | OneOf(name=name):
            return f"read{name}"
        case Maybe(item):
            return f"read.nullable({_reader(item)})"
        case Many(item, _):
            return f"read.list({_reader(item)})"


def _read_choice(game: Binding, choice: Choice) -> list[str]:
    names = [name if game.constants.get(name) == value else literal(value) for name, value in choice.options]
    return on_lines(f"const read{choice.name} = read.oneOf<{choice.name}>([", names, "]);")


def _read_record(record: Record, tags: Mapping[str, str]) -> Iterator[str]:
    yield f"function read{record.name}(value: unknown): {record.name} {{"
    yield f"    const {'items' if record.listed else 'json'} = read.{'items' if record.listed else 'members'}(value);"
    yield "    return {"
    for index, field in enumerate(record.fields):
        member = f"items[{index}]" if record.listed else f"json.{field.name}"
        read = literal(tags[record.name]) if field.name == record.tag else _received(member, field.type)
        yield f"        {field.name}: {read},"
    yield "    };"
    yield "}"


def _read_union(union: OneOf) -> Iterator[str]:
    yield f"function read{union.name}(value: unknown): {union.name} {{"
    yield f"    switch (read.members(value).{union.tag}) {{"
    for text, name in union.choices:
        yield f"        case {literal(text)}:"
        yield f"            return read{name}(value);"
    yield "    }"
    yield f'    return read.wrong("one of {union.name}", read.members(value).{union.tag});'
    yield "}"


def _write_record(record: Record, written: set[str]) -> Iterator[str]:
    members = [(field.name, _sent(f"value.{field.name}", field.type, written)) for field in record.fields]
    yield f"function write{record.name}(value: {record.name}): unknown {{"
    if record.listed:
        yield f"    return [{', '.join([value for _, value in members])}];"
    else:
        yield f"    return {{ {', '.join([f'{name}: {value}' for name, value in members])} }};"
    yield "}"


def _write_union(union: OneOf, written: set[str]) -> Iterator[str]:
    yield f"function write{union.name}(value: {union.name}): unknown {{"
    yield f"    switch (value.{union.tag}) {{"
    for text, name in union.choices:
        yield f"        case {literal(text)}:"
        yield f"            return {_sent('value', Ref(name), written)};"
    yield "    }"
    yield "}"


def _sent(value: str, shape: Type, written: set[str]) -> str:
    """The expression for `value`, itself an expression, as it is on the wire; what is absent stays absent."""
    match shape:
        case Ref(name=name) | OneOf(name=name) if name in written:
            return f"write{name}({value})"
        case Maybe(item) if _holds(item, written):
            return f"{value} && {_sent(value, item, written)}"
        case Many(item, _) if _holds(item, written):
            return f"{value}.map((value) => {_sent('value', item, written)})"
    return value
