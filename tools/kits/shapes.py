"""A game's schema read into what the emitters need: constants, records and functions, in the order to write them.

Only the shapes that the games use are known; anything else is a ValueError, so that a new shape is noticed here and
not as a wrong binding.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Literal
from unicodedata import normalize

from msgspec import Struct
from msgspec.structs import replace

Schema = dict[str, Any]


class Choice(Struct, frozen=True):
    """One of a few named numbers or texts: an enumeration, in languages that have them."""

    name: str
    options: tuple[tuple[str, int | str], ...]
    """Each option's name, such as `R_SOLDIER`, and its value on the wire."""


class Scalar(Struct, frozen=True):
    """A number, a truth value, a text or any JSON value."""

    kind: Literal["int", "float", "bool", "str", "any"]
    choice: Choice | None = None
    """None = any of that kind."""


class Pair(Struct, frozen=True):
    """A coordinate, such as `[x, y]` on the wire."""

    name: str
    members: tuple[str, str]


class Ref(Struct, frozen=True):
    """A record, by name."""

    name: str


class OneOf(Struct, frozen=True):
    """One of several records, which a member of theirs tells apart: its text is the key here."""

    name: str
    tag: str
    choices: tuple[tuple[str, str], ...]
    """Pairs of the tag's text and the record's name."""


class Many(Struct, frozen=True):
    """A list."""

    item: "Type"
    length: int | None
    """None = any."""


class Maybe(Struct, frozen=True):
    """A value that may be null; as a member it may be absent as well."""

    item: "Type"


Type = Scalar | Pair | Ref | OneOf | Many | Maybe


class Field(Struct, frozen=True):
    """A member of a record or a parameter of a function."""

    name: str
    type: Type
    doc: str


class Record(Struct, frozen=True):
    """A type with named members; those that may be absent are `Maybe`."""

    name: str
    doc: str
    fields: tuple[Field, ...]
    sent: bool
    """True: bots send it. False: bots receive it."""
    listed: bool
    """True: on the wire it is a list of its members, in their order."""
    tag: str | None
    """The member that tells it from the other choices of a `OneOf`."""


class Function(Struct, frozen=True):
    """A documented function, or an event when `is_event`: then its one parameter is the whole event."""

    name: str
    doc: str
    params: tuple[Field, ...]
    result: Type | None
    """None: nothing is returned."""
    is_event: bool


def class_name(text: str) -> str:
    """Returns a title or a game's name as the name of a class, in ASCII; empty if it would not begin with a letter."""
    ascii_text = normalize("NFKD", text).encode("ascii", "ignore").decode().replace("'", "")
    name = "".join(word[0].upper() + word[1:] for word in re.split(r"[\W_]+", ascii_text) if word)
    return name if name[:1].isalpha() else ""


class Binding(Struct, frozen=True):
    """All of one game."""

    game: str
    """As on the wire: `tictactoe`."""
    name: str
    """As a class: `TicTacToe`."""
    title: str
    doc: str
    source: str
    constants: dict[str, Any]
    choices: tuple[Choice, ...]
    pairs: dict[Pair, str]
    """The coordinate types, with their descriptions."""
    unions: tuple[OneOf, ...]
    records: tuple[Record, ...]
    """Each after those that it is made of."""
    functions: tuple[Function, ...]

    @property
    def module(self) -> str:
        """The name in files and identifiers: `openspiel_chess` for `openspiel:chess`."""
        return self.game.replace(":", "_")

    @classmethod
    def read(cls, text: str, source: str) -> "Binding":
        """The binding of the schema in `text`. ValueError for a shape that is not known."""
        schema = json.loads(text)
        reader = _Reader(schema["$defs"], schema["constants"])
        functions = tuple(
            [reader.function(name, method) for name, method in schema["methods"].items() if method["kind"] != "viewer"]
        )
        return cls(
            game=schema["game"],
            name=class_name(schema["title"]) or class_name(schema["game"]) or class_name(f"game {schema['game']}"),
            title=_words(schema["title"]),
            doc=_words(schema["description"]),
            source=source,
            constants=schema["constants"],
            choices=tuple(reader.choices.values()),
            pairs=reader.pairs,
            unions=tuple(reader.unions.values()),
            records=tuple(reader.records.values()),
            functions=functions,
        )

    @property
    def loose_constants(self) -> dict[str, Any]:
        """The constants that are no option of a choice."""
        options = [option for choice in self.choices for option in choice.options]
        return {name: value for name, value in self.constants.items() if (name, value) not in options}

    def choice_of(self, values: list[Any]) -> Choice | None:
        """The choice that a constant lists all options of."""
        texts = sorted(map(str, values))
        return next((each for each in self.choices if sorted(str(value) for _, value in each.options) == texts), None)

    @property
    def calls(self) -> list[Function]:
        """The functions that are answered."""
        return [function for function in self.functions if not function.is_event]

    @property
    def events(self) -> list[Function]:
        """The notifications."""
        return [function for function in self.functions if function.is_event]

    @property
    def tags(self) -> dict[str, str]:
        """By the name of a record that is a choice of a union: the text that tells it from the others."""
        return {name: text for union in self.unions for text, name in union.choices}

    def is_sent(self, union: OneOf) -> bool:
        """Whether bots send it; they receive the others."""
        return any(record.sent for record in self.records if record.name == union.choices[0][1])

    def unions_after(self, record: Record) -> list[OneOf]:
        """The unions whose choices have all been written when `record` has been, and not before it."""
        written = [each.name for each in self.records]
        last = {union: max([name for _, name in union.choices], key=written.index) for union in self.unions}
        return [union for union in self.unions if last[union] == record.name]

    @property
    def origin(self) -> str:
        """Returns the first line of a binding."""
        return f"Generated by `python -m referee.tools.kits` from {self.source}. Do not edit."


class _Reader:
    """Reads functions, and collects the types that they use."""

    def __init__(self, defs: dict[str, Schema], constants: dict[str, Any]) -> None:
        self.defs = defs
        self.constants = constants
        self.choices: dict[str, Choice] = {}
        self.pairs: dict[Pair, str] = {}
        self.unions: dict[str, OneOf] = {}
        self.records: dict[str, Record] = {}

    def function(self, name: str, method: Schema) -> Function:
        is_event = method["kind"] == "event"
        params = self.defs[_name(method["params"])]
        return Function(
            name=name,
            doc=_words(method["description"]),
            params=(Field(name, self.type(method["params"], sent=False), ""),)
            if is_event
            else tuple(self.fields(params, sent=False)),
            result=None if is_event or method["result"] == {"type": "null"} else self.type(method["result"], sent=True),
            is_event=is_event,
        )

    def fields(self, schema: Schema, sent: bool) -> Iterator[Field]:
        for name, member in schema["properties"].items():
            shape = self.type(member, sent)
            if name not in schema["required"] and not isinstance(shape, Maybe):
                shape = Maybe(shape)
            yield Field(_identifier(name), shape, _words(member.get("description", "")))

    def type(self, schema: Schema, sent: bool) -> Type:
        match schema:
            case {"$ref": _}:
                return self.named(_name(schema), sent)
            case {"anyOf": [some, {"type": "null"}]}:
                return Maybe(self.type(some, sent))
            case {"type": "array", "prefixItems": [first, *rest]} if all(item == first for item in rest):
                return Many(self.type(first, sent), length=1 + len(rest))
            case {"type": "array", "items": items}:
                return Many(self.type(items, sent), length=None)
            case {"type": "integer"}:
                return Scalar("int")
            case {"type": "number"}:
                return Scalar("float")
            case {"type": "boolean"}:
                return Scalar("bool")
            case {"type": "string"} | {"enum": [str(), *_]}:
                return Scalar("str")
            case _ if schema.keys() <= {"description", "title"}:
                return Scalar("any")
        raise ValueError(f"no kit knows the shape {json.dumps(schema)}")

    def named(self, name: str, sent: bool) -> Type:
        schema = self.defs[name]
        if "enum" in schema:
            self.choices[name] = self.choice(name, schema)
            kind: Literal["int", "str"] = "int" if schema.get("type") == "integer" else "str"
            return Scalar(kind, self.choices[name])
        if "discriminator" in schema:
            return self.union(name, schema["discriminator"], sent)
        if "prefixItems" in schema and "title" not in schema:
            return self.pair(name, schema)
        if name not in self.records:
            self.records[name] = self.record(name, schema, sent)
        if self.records[name].sent != sent:
            raise ValueError(
                f"{name} is both sent and received, and the kits know one direction for a record; "
                f"answer with a class of its own: `class {name}Answer({name})`"
            )
        return Ref(name)

    def choice(self, name: str, schema: Schema) -> Choice:
        """Texts are called like the constants that they are, else in capitals, in the order of a list of them."""
        values = schema["enum"]
        if "x-enum-varnames" in schema:
            return Choice(name, tuple(zip(schema["x-enum-varnames"], values, strict=True)))
        lists = [each for each in self.constants.values() if isinstance(each, list)]
        ordered = next((each for each in lists if sorted(map(str, each)) == sorted(values)), values)
        constants = {value: name for name, value in self.constants.items() if isinstance(value, str)}
        options = tuple([(_identifier(constants.get(value) or _capitals(value)), value) for value in ordered])
        if len(dict(options)) < len(options):
            raise ValueError(f"{name}: two of {json.dumps(values)} would have the same name in a kit")
        return Choice(name, options)

    def pair(self, name: str, schema: Schema) -> Pair:
        match schema["prefixItems"]:
            case [{"type": "integer", "title": str(first)}, {"type": "integer", "title": str(second)}]:
                pair = Pair(name, (first, second))
                self.pairs[pair] = _words(schema["description"])
                return pair
        raise ValueError(f"{name}: the kits know named lists of two titled whole numbers only, as coordinates")

    def union(self, name: str, discriminator: Schema, sent: bool) -> OneOf:
        choices = {text: _name({"$ref": ref}) for text, ref in discriminator["mapping"].items()}
        for choice in choices.values():
            self.named(choice, sent)
            self.records[choice] = replace(self.records[choice], tag=discriminator["propertyName"])
        self.unions[name] = OneOf(name, discriminator["propertyName"], tuple(choices.items()))
        return self.unions[name]

    def record(self, name: str, schema: Schema, sent: bool) -> Record:
        listed = "prefixItems" in schema
        fields = self.items(schema, sent) if listed else self.fields(schema, sent)
        return Record(name, _words(schema["description"]), tuple(fields), sent, listed, tag=None)

    def items(self, schema: Schema, sent: bool) -> Iterator[Field]:
        """The members of a record that is a list on the wire: their names are the items' titles."""
        for item in schema["prefixItems"]:
            yield Field(_identifier(item["title"]), self.type(item, sent), _words(item.get("description", "")))


def _words(text: str) -> str:
    """A description in one line that ends no comment and no docstring, in any language: a stranger may have written it.

    Java and Python read escapes there.
    """
    return " ".join(text.split()).replace("\\", "/").replace("*/", "* /").replace('"""', "'''")


def _identifier(name: str) -> str:
    """A name, checked: a schema may have any text there."""
    if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError(f"no kit has a name for {json.dumps(name)}; expected letters, digits and _, no digit first")
    return name


def _capitals(text: str) -> str:
    """`putSymbol` as PUT_SYMBOL; nothing as NONE."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text)
    return re.sub(r"\W+", "_", words).upper() or "NONE"


def _name(schema: Schema) -> str:
    return str(schema["$ref"]).rpartition("/")[2]
