"""The bodies of the C bindings' functions: how values cross the wire, and how calls reach a bot."""

from collections.abc import Iterator
from typing import Any

from referee.tools.kits.c_names import Names, snake
from referee.tools.kits.shapes import Binding, Choice, Field, Function, Many, Maybe, OneOf, Pair, Record, Ref, Scalar
from referee.tools.kits.text import WIDTH, filled, literal

NOTHING = "(referee_value){.kind = REFEREE_VALUE_NULL}"


def constants(game: Binding, names: Names) -> Iterator[str]:
    """The definitions of a game's arrays."""
    for name, value in game.loose_constants.items():
        if is_array(game, value):
            yield from filled(f"{array(names, name, value)} = {{", [*map(literal, value)], "};")
            yield ""


def is_array(game: Binding, value: Any) -> bool:
    """Whether a constant is an array. A list of all options of a choice is the enumeration itself."""
    return isinstance(value, list) and game.choice_of(value) is None


def array(names: Names, name: str, value: list[Any]) -> str:
    """An array's declaration, without `extern`."""
    number = "double" if any(isinstance(item, float) for item in value) else "int"
    item = "const char* const" if isinstance(value[0], str) else f"const {number}"
    return f"{item} {names.constant(name)}[{len(value)}]"


# Choices.


def is_text(choice: Choice) -> bool:
    return isinstance(choice.options[0][1], str)


def option(choice: Choice, name: str, names: Names) -> str:
    """An option's constant. Numbers have the rules' own names, texts begin with their type's name."""
    return names.constant(f"{snake(choice.name)}_{name}" if is_text(choice) else name)


def texts_of(choice: Choice, names: Names) -> Iterator[str]:
    """The array of a choice's texts, and the function that looks one up."""
    name, count = snake(choice.name), names.constant(f"{snake(choice.name)}_COUNT")
    yield from filled(
        f"static const char* const {name}_texts[] = {{", [literal(text) for _, text in choice.options], "};"
    )
    yield ""
    yield f"const char* {names.of(f'{name}_text')}({names.of(name)} {name}) {{"
    yield f"    return (size_t){name} < {count} ? {name}_texts[{name}] : NULL;"
    yield "}"


def read_choice(choice: Choice, names: Names) -> Iterator[str]:
    if is_text(choice):
        yield "(void)match;"
        yield f"for (size_t i = 0; i < {names.constant(f'{snake(choice.name)}_COUNT')}; ++i) {{"
        yield f"    if (!referee_is_text(value, {snake(choice.name)}_texts[i])) continue;"
        yield f"    *into = ({names.of(choice.name)})i;"
        yield "    return true;"
        yield "}"
        yield "return false;"
        return
    yield "int number;"
    yield "if (!referee_read_int(match, value, &number)) return false;"
    yield f"*into = ({names.of(choice.name)})number;"
    yield "switch (*into) {"
    yield from (f"    case {option(choice, name, names)}:" for name, _ in choice.options)
    yield "        return true;"
    yield "}"
    yield "return false;"


def write_choice(choice: Choice, names: Names) -> list[str]:
    text = f"referee_new_text({names.of(f'{snake(choice.name)}_text')}(*from))"
    return [f"return (void)match, {text if is_text(choice) else 'referee_new_int(*from)'};"]


# Pairs.


def pair_functions(pair: Pair, names: Names) -> Iterator[str]:
    """The comparison and the hash of a coordinate."""
    a, b = pair.members
    equal, compare, hashed = pair_heads(pair, names)
    yield f"{equal} {{"
    yield f"    return one.{a} == two.{a} && one.{b} == two.{b};"
    yield "}"
    yield ""
    yield f"{compare} {{"
    yield f"    const {names.of(pair.name)} *a = one, *b = two;"
    yield f"    if (a->{a} != b->{a}) return a->{a} < b->{a} ? -1 : 1;"
    yield f"    return (a->{b} > b->{b}) - (a->{b} < b->{b});"
    yield "}"
    yield ""
    yield f"{hashed} {{"
    yield f"    return ((size_t)(unsigned)pair.{a} << 16 ^ (unsigned)pair.{b}) * 0x9e3779b1u;"
    yield "}"
    yield ""


def pair_heads(pair: Pair, names: Names) -> tuple[str, str, str]:
    """The heads of the functions that compare for equality, compare for order, and hash."""
    name = names.of(pair.name)
    return (
        f"bool {names.of(f'equal_{snake(pair.name)}')}({name} one, {name} two)",
        f"int {names.of(f'compare_{snake(pair.name)}')}(const void* one, const void* two)",
        f"size_t {names.of(f'hash_{snake(pair.name)}')}({name} pair)",
    )


def read_pair(pair: Pair) -> list[str]:
    a, b = pair.members
    return [
        f"return referee_read_int(match, referee_item(value, 0), &into->{a}) &&",
        f"       referee_read_int(match, referee_item(value, 1), &into->{b});",
    ]


def write_pair(pair: Pair) -> list[str]:
    appended = [f"referee_append(match, &list, referee_new_int(from->{name}));" for name in pair.members]
    return ["referee_value list = referee_new_list();", *appended, "return list;"]


# Records and unions.


def members(record: Record) -> list[Field]:
    """A record that is sent in a union has no member for its tag: the union knows it."""
    return [field for field in record.fields if not (record.sent and field.name == record.tag)]


def read_record(record: Record, names: Names) -> Iterator[str]:
    for index, field in enumerate(record.fields):
        place = f"referee_item(value, {index})" if record.listed else f'referee_member(value, "{field.name}")'
        start, end = "return " if index == 0 else "       ", " &&" if field is not record.fields[-1] else ";"
        arguments = ["match", place, f"&into->{snake(field.name)}"]
        yield from filled(f"{start}{names.reader(field.type)}(", arguments, f"){end}", WIDTH - 4)
    if not record.fields:
        yield "return (void)match, (void)into, !referee_is_null(value);"


def write_record(record: Record, tag: str, names: Names) -> Iterator[str]:
    kind = "list" if record.listed else "object"
    yield f"referee_value {kind} = referee_new_{kind}();"
    if record.tag is not None:
        yield f'referee_put(match, &object, "{record.tag}", referee_new_text({literal(tag)}));'
    if not members(record):
        yield "(void)from;"
    for field in members(record):
        value = f"{names.writer(field.type)}(match, &from->{snake(field.name)})"
        if record.listed:
            yield f"referee_append(match, &list, {value});"
        else:
            put = "referee_put_some" if isinstance(field.type, Maybe) else "referee_put"
            yield from filled(f"{put}(", ["match", "&object", f'"{field.name}"', value], ");", WIDTH - 4)
    yield f"return {kind};"


def kind_of(union: OneOf, choice: str, names: Names) -> str:
    """The value of `kind` for that record."""
    return names.constant(f"{snake(union.name)}_{snake(choice)}")


def read_union(union: OneOf, names: Names) -> list[str]:
    lines = [f'const referee_value* tag = referee_member(value, "{union.tag}");']
    for text, name in union.choices:
        lines += [f"if (referee_is_text(tag, {literal(text)})) {{", f"    into->kind = {kind_of(union, name, names)};"]
        lines += [f"    return {names.reader(Ref(name))}(match, value, &into->{snake(name)});", "}"]
    return [*lines, "return false;"]


def write_union(union: OneOf, names: Names) -> list[str]:
    lines = ["switch (from->kind) {"]
    for _, name in union.choices:
        lines += [
            f"    case {kind_of(union, name, names)}:",
            f"        return {names.writer(Ref(name))}(match, &from->{snake(name)});",
        ]
    return [*lines, "}", f"return {NOTHING};"]


# Lists, and values that may be absent.


def new_list(shape: Many, names: Names) -> list[str]:
    name, item = names.type(shape), names.type(shape.item)
    return [
        f"{name} {names.new_list(shape)}(referee_match* match, size_t capacity) {{",
        f"    return ({name}){{referee_allocate(match, capacity * sizeof({item})), 0}};",
        "}",
        "",
    ]


def read_list(shape: Many, names: Names) -> list[str]:
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


def write_list(shape: Many, names: Names) -> list[str]:
    item = f"{names.writer(shape.item)}(match, &from->items[i])"
    return [
        "referee_value list = referee_new_list();",
        f"for (size_t i = 0; i < from->count; ++i) referee_append(match, &list, {item});",
        "return list;",
    ]


def read_maybe(shape: Maybe, names: Names) -> list[str]:
    read = f"{names.reader(shape.item)}(match, value, "
    match shape.item:
        case Pair() | Scalar():
            return [f"into->present = {read}&into->value);", "return true;"]
        case Many():
            return [f"if (!{read}into)) *into = ({names.type(shape)}){{NULL, 0}};", "return true;"]
    return [
        f"{names.type(shape.item)}* found = referee_is_null(value) ? NULL : referee_allocate(match, sizeof *found);",
        f"*into = found && {read}found) ? found : NULL;",
        "return true;",
    ]


def write_maybe(shape: Maybe, names: Names) -> list[str]:
    write = names.writer(shape.item)
    match shape.item:
        case Pair() | Scalar():
            return [f"return from->present ? {write}(match, &from->value) : {NOTHING};"]
        case Many():
            return [f"return from->items ? {write}(match, from) : {NOTHING};"]
    return [f"return *from ? {write}(match, *from) : {NOTHING};"]


# The bot.


def serving(game: Binding, names: Names) -> Iterator[str]:
    """The functions that pass calls and events to a bot, and the one that plays matches."""
    request = ["referee_match* match", "const char* method", "const referee_value* params"]
    yield from filled("static bool answer(", [*request, "referee_value* result"], ") {")
    yield f"    const {names.of('bot')}* bot = match->bot;"
    for function in game.calls:
        yield from _answer(function, names)
    yield "    return (void)params, (void)result, false;"
    yield "}"
    if game.events:
        yield ""
        yield from filled("static void notice(", request, ") {")
        yield f"    const {names.of('bot')}* bot = match->bot;"
        for function in game.events:
            yield from _notice(function, names)
        yield "}"
    pairs = [("name", "bot->name"), ("version", "bot->version"), ("game", f'"{game.game}"')]
    pairs += [("memory", "bot->memory"), ("begin", "bot->begin"), ("answer", "answer")]
    pairs += [("notice", "notice")] if game.events else []
    yield ""
    yield f"int {names.of('run')}(const {names.of('bot')}* bot) {{"
    yield "    return referee_serve(&(referee_bot){"
    yield from (f"        .{member} = {value}," for member, value in pairs)
    yield "        .bot = bot,"
    yield "    });"
    yield "}"


def _answer(function: Function, names: Names) -> Iterator[str]:
    name = snake(function.name)
    needed = "" if function.result is None else f" && bot->{name}"
    yield f'    if (strcmp(method, "{function.name}") == 0{needed}) {{'
    places = [(field, f'referee_member(params, "{field.name}")') for field in function.params]
    yield from _read_parameters(places, names)
    arguments = ["match", *map(_argument, function.params)]
    if function.result is None:
        yield from filled(f"        if (bot->{name}) bot->{name}(", arguments, ");")
    else:
        head = f"        {names.type(function.result)} given = bot->{name}("
        yield from filled(head, arguments, ");")
        yield f"        *result = {names.writer(function.result)}(match, &given);"
    yield "        return true;"
    yield "    }"


def _notice(function: Function, names: Names) -> Iterator[str]:
    name = snake(function.name)
    yield f'    if (strcmp(method, "{function.name}") == 0 && bot->{name}) {{'
    yield from _read_parameters([(field, "params") for field in function.params], names)
    yield from filled(f"        bot->{name}(", ["match", *map(_argument, function.params)], ");")
    yield "    }"


def _read_parameters(fields: list[tuple[Field, str]], names: Names) -> Iterator[str]:
    """Reads into a struct of its own, so that a parameter may have any name."""
    if fields:
        yield "        struct {"
        yield from (f"            {names.type(field.type)} {snake(field.name)};" for field, _ in fields)
        yield "        } in;"
    for field, place in fields:
        yield f"        if (!{names.reader(field.type)}(match, {place}, &in.{snake(field.name)})) {{"
        yield f'            referee_fail(match, "%s: parameter {field.name} has a wrong type or value", method);'
        yield "        }"


def is_passed_by_address(field: Field) -> bool:
    return isinstance(field.type, Ref | OneOf)


def _argument(field: Field) -> str:
    return f"&in.{snake(field.name)}" if is_passed_by_address(field) else f"in.{snake(field.name)}"
