"""The Java bindings: one class a game, on top of `referee.kit.Bot`, with its types inside."""

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
from referee.tools.kits.text import WIDTH, comment, literal, same_kind

SCALARS = {"int": "int", "float": "double", "bool": "boolean", "str": "String", "any": "Object"}
BOXED = {"int": "Integer", "float": "Double", "bool": "Boolean"}


def emit(game: Binding) -> str:
    """The class's text."""
    lines = [
        f"// {game.origin}",
        f"package referee.kit.{game.module};",
        "",
        *_imports(game),
        "",
        *_doc(
            f"{game.title}. Extend this class and fill in its methods; the types and constants inside are yours by "
            "inheritance.",
            [],
            indent=0,
        ),
        f"public abstract class {game.name}Bot extends Bot {{",
    ]
    for name, value in game.loose_constants.items():
        lines += _constant(game, name, value)
    lines += [""]
    for choice in game.choices:
        lines += [*_enum(choice), ""]
    for pair, doc in game.pairs.items():
        lines += [*_pair(pair, doc), ""]
    for union in game.unions:
        lines += [*_union(union), ""]
    for record in game.records:
        unions = [union.name for union in game.unions if record.name in dict(union.choices).values()]
        lines += [*_record(record, unions), ""]
    for function in game.functions:
        lines += [*_method(function), ""]
    lines += [f"    protected {game.name}Bot(Match match) {{", "        super(match);", "    }", ""]
    lines += ["    @Override", "    public String game() {", f'        return "{game.game}";', "    }", ""]
    lines += [*_call(game), *_notice(game), "}"]
    return "\n".join(lines) + "\n"


def _imports(game: Binding) -> Iterator[str]:
    if game.pairs or any(record.listed for record in game.records):
        yield "import com.fasterxml.jackson.annotation.JsonFormat;"
        yield "import com.fasterxml.jackson.annotation.JsonPropertyOrder;"
    if game.unions:
        yield "import com.fasterxml.jackson.annotation.JsonSubTypes;"
        yield "import com.fasterxml.jackson.annotation.JsonTypeInfo;"
    if not all(_is_plain(choice) for choice in game.choices):
        yield "import com.fasterxml.jackson.annotation.JsonValue;"
    lists = [_list(field) for call in game.functions for field in call.params]
    if any(shape is not None and _nested(shape) for shape in lists):
        yield "import com.fasterxml.jackson.core.type.TypeReference;"
    yield "import java.util.List;"
    if any(isinstance(value, str) for choice in game.choices for _, value in choice.options):
        yield "import java.util.stream.Stream;"
    yield "import referee.kit.Bot;"
    yield "import referee.kit.Match;"
    yield "import referee.kit.Params;"


def _constant(game: Binding, name: str, value: Any) -> list[str]:
    if isinstance(value, list):
        choice = game.choice_of(value)
        plain = same_kind(value)
        kinds = {str: "String", float: "Double", bool: "Boolean"}
        item = choice.name if choice else kinds.get(type(plain[0]), "Integer")
        items = [f"{item}.{option}" for option, _ in choice.options] if choice else [literal(each) for each in plain]
        return _wrapped(f"    public static final List<{item}> {name} = List.of(", items, ");")
    kind = {str: "String", float: "double", bool: "boolean"}.get(type(value), "int")
    return [f"    public static final {kind} {name} = {literal(value)};"]


def _wrapped(head: str, items: list[str], tail: str) -> list[str]:
    """`head` + items + `tail`: on one line, else the items below it, as many a line as there is room for."""
    line = head + ", ".join(items) + tail
    if len(line) <= WIDTH:
        return [line]
    space = " " * (len(head) - len(head.lstrip()) + 8)
    lines = [head.rstrip()]
    for number, item in enumerate(items, start=1):
        piece = item + (tail if number == len(items) else ",")
        if number > 1 and len(lines[-1]) + 1 + len(piece) <= WIDTH:
            lines[-1] += f" {piece}"
        else:
            lines.append(space + piece)
    return lines


def _is_plain(choice: Choice) -> bool:
    """Its options are called in Java as they are on the wire."""
    return all(option == value for option, value in choice.options)


def _enum(choice: Choice) -> Iterator[str]:
    """Jackson writes and reads options by their names, or by what `JsonValue` says. Texts can be looked up."""
    is_text = isinstance(choice.options[0][1], str)
    yield f"    public enum {choice.name} {{"
    if _is_plain(choice):
        yield from _wrapped("        ", [option for option, _ in choice.options], ";")
    else:
        yield from _wrapped("        ", [f"{option}({literal(value)})" for option, value in choice.options], ";")
        kind = "String" if is_text else "int"
        yield ""
        yield "        /** On the wire. */"
        yield "        @JsonValue"
        yield f"        public final {kind} value;"
        yield ""
        yield f"        {choice.name}({kind} value) {{"
        yield "            this.value = value;"
        yield "        }"
    if is_text:
        match = f"each.{'name()' if _is_plain(choice) else 'value'}.equals(text)"
        yield ""
        yield "        /** The one that is this text on the wire; null for anything else. */"
        yield f"        public static {choice.name} of(Object text) {{"
        yield f"            return Stream.of(values()).filter(each -> {match}).findFirst().orElse(null);"
        yield "        }"
    yield "    }"


def _type(shape: Type, boxed: bool = False) -> str:
    match shape:
        case Scalar(choice=Choice(name=name)):
            return name
        case Scalar(kind):
            return BOXED.get(kind, SCALARS[kind]) if boxed else SCALARS[kind]
        case Pair(name=name) | Ref(name=name) | OneOf(name=name):
            return name
        case Maybe(item):
            return _type(item, boxed=True)
        case Many(item, _):
            return f"List<{_type(item, boxed=True)}>"


def _doc(text: str, params: list[str], indent: int = 4) -> Iterator[str]:
    """A documentation comment: on one line where it fits."""
    space = " " * indent
    text += "" if text.endswith(".") else "."
    if not params and indent + len(text) + len("/**  */") <= WIDTH:
        yield f"{space}/** {text} */"
        return
    yield f"{space}/**"
    yield from comment(text, indent, " * ", WIDTH)
    if params:
        yield f"{space} *"
        for param in params:
            yield from comment(f"@param {param}", indent, " * ", WIDTH)
    yield f"{space} */"


def _param_docs(fields: tuple[Field, ...]) -> list[str]:
    docs = []
    for field in fields:
        parts = [field.doc] if field.doc else []
        parts += ["may be null"] if isinstance(field.type, Maybe) else []
        docs += [f"{field.name} {'; '.join(parts)}"] if parts else []
    return docs


def _listed(members: list[str]) -> Iterator[str]:
    """The annotations of a record that is a list on the wire."""
    yield "    @JsonFormat(shape = JsonFormat.Shape.ARRAY)"
    yield f"    @JsonPropertyOrder({{{', '.join([literal(member) for member in members])}}})"


def _pair(pair: Pair, doc: str) -> Iterator[str]:
    yield from _doc(doc, [])
    yield from _listed(list(pair.members))
    yield f"    public record {pair.name}({', '.join([f'int {member}' for member in pair.members])}) {{}}"


def _union(union: OneOf) -> Iterator[str]:
    names = [name for _, name in union.choices]
    yield from _doc(f"{' or '.join(names)}; {union.tag} tells which", [])
    yield "    @JsonTypeInfo("
    yield "        use = JsonTypeInfo.Id.NAME,"
    yield "        include = JsonTypeInfo.As.EXISTING_PROPERTY,"
    yield f'        property = "{union.tag}",'
    yield "        visible = true)"
    yield "    @JsonSubTypes({"
    for text, name in union.choices:
        yield f'        @JsonSubTypes.Type(value = {name}.class, name = "{text}"),'
    yield "    })"
    yield f"    public sealed interface {union.name} permits {', '.join(names)} {{}}"


def _arguments(fields: tuple[Field, ...]) -> list[str]:
    return [f"{_type(field.type)} {field.name}" for field in fields]


def _record(record: Record, unions: list[str]) -> Iterator[str]:
    yield from _doc(record.doc, _param_docs(record.fields))
    if record.listed:
        yield from _listed([field.name for field in record.fields])
    implements = f" implements {', '.join(unions)}" if unions else ""
    tail = f"){implements} {{" if record.sent else f"){implements} {{}}"
    yield from _wrapped(f"    public record {record.name}(", _arguments(record.fields), tail)
    if not record.sent:
        return
    # What may be left out at the end is left out by a shorter constructor.
    needed = sum(not isinstance(field.type, Maybe) for field in record.fields)
    for count in range(needed, len(record.fields)):
        given = [field.name for field in record.fields[:count]]
        if count > needed:
            yield ""
        yield from _wrapped(f"        public {record.name}(", _arguments(record.fields[:count]), ") {")
        yield f"            this({', '.join(given + ['null'] * (len(record.fields) - count))});"
        yield "        }"
    yield "    }"


def _method(function: Function) -> Iterator[str]:
    yield from _doc(function.doc, [] if function.is_event else _param_docs(function.params))
    arguments = _arguments(function.params)
    if function.result is None:
        yield from _wrapped(f"    public void {function.name}(", arguments, ") throws Exception {}")
    else:
        head = f"    public abstract {_type(function.result)} {function.name}("
        yield from _wrapped(head, arguments, ") throws Exception;")


def _call(game: Binding) -> Iterator[str]:
    yield "    @Override"
    yield "    public final Object call(String method, Params params) throws Exception {"
    yield "        return switch (method) {"
    for function in game.calls:
        yield from _case(function)
    yield "            default -> super.call(method, params);"
    yield "        };"
    yield "    }"


def _case(function: Function) -> Iterator[str]:
    arguments = [_argument(field) for field in function.params]
    label = f'            case "{function.name}" ->'
    if function.result is None:
        yield f"{label} {{"
        yield f"                {function.name}({', '.join(arguments)});"
        yield "                yield null;"
        yield "            }"
    elif len(arguments) == 1:
        yield f"{label} {function.name}({arguments[0]});"
    else:
        yield f"{label} {function.name}("
        for number, argument in enumerate(arguments, start=1):
            yield f"                {argument}{');' if number == len(arguments) else ','}"


def _nested(shape: Many) -> bool:
    return isinstance(shape.item, Many)


def _list(field: Field) -> Many | None:
    """The list that a parameter is, or may be; None if it is none."""
    shape = field.type.item if isinstance(field.type, Maybe) else field.type
    return shape if isinstance(shape, Many) else None


def _argument(field: Field) -> str:
    shape = _list(field)
    if shape is not None and _nested(shape):
        return f'params.get("{field.name}", new TypeReference<{_type(shape)}>() {{}})'
    if shape is not None:
        return f'params.list("{field.name}", {_type(shape.item, boxed=True)}.class)'
    return f'params.get("{field.name}", {_type(field.type, boxed=True)}.class)'


def _notice(game: Binding) -> Iterator[str]:
    events = game.events
    if not events:
        return
    yield ""
    yield "    @Override"
    yield "    public final void notice(String method, Params params) throws Exception {"
    yield "        switch (method) {"
    for event in events:
        yield f'            case "{event.name}" -> {event.name}(params.event({_type(event.params[0].type)}.class));'
    yield "            default -> super.notice(method, params);"
    yield "        }"
    yield "    }"
