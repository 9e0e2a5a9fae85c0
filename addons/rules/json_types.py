"""JSON Schemas of a stranger's game as types: SPEC.md, 31.

Answers, params and views are decoded with these types. `referee.games.schemas` makes the game's schema from them, so
that kits, pages and `referee games` see the same as for a game in Python.
"""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal, get_origin

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, defstruct

from referee.addons.rules.game_file import control_character
from referee.harness.common.errors import UsageError
from referee.harness.common.paths import read_limited
from referee.harness.isolation.visible_paths import is_inside

Schema = Mapping[str, Any]

MAX_FILE_BYTES = 1 << 20
MAX_DEPTH = 32
"""How deep types may be nested, through references too."""
MAX_TYPES, MAX_PARTS = 1000, 20_000
"""How many named types a game may have, and of how many parts all its types may consist, references spelled out."""
ANYWHERE = {"title", "description", "default", "$schema", "$comment", "$defs"}
KEYWORDS: Mapping[str, set[str]] = {
    "null": set(),
    "boolean": set(),
    "integer": {"minimum", "maximum", "enum", "x-enum-varnames"},
    "number": {"minimum", "maximum"},
    "string": {"minLength", "maxLength", "enum"},
    "array": {"items", "prefixItems", "minItems", "maxItems"},
    "object": {"properties", "required", "additionalProperties"},
}
"""The keywords besides `type`, by type."""
PLAIN = {"null": None, "boolean": bool, "integer": int, "number": float, "string": str}
BOUNDS = {
    "minimum": "ge",
    "maximum": "le",
    "minLength": "min_length",
    "maxLength": "max_length",
    "minItems": "min_length",
    "maxItems": "max_length",
}


class JsonTypes:
    """The types of one game, in a module of their own."""

    def __init__(self, folder: Path, module: str, shown: str) -> None:
        """`folder`: the game's, by its real path. `shown`: how the user names its `game.toml`."""
        self.module = ModuleType(module, "")
        self.module.__file__ = str(folder / "game.toml")
        sys.modules[module] = self.module
        self._folder, self._shown = folder, shown
        self._files: dict[str, Any] = {}
        self._made: dict[tuple[str, str], tuple[Any, int]] = {}  # by file and name in `$defs`, with its parts
        self._open: list[tuple[str, str]] = []  # being made
        self._names: dict[str, Any] = {}  # the schema of each named type
        self._tags: dict[tuple[str, str], tuple[str, str]] = {}
        self._level = self._parts = 0

    def of(self, value: Any, place: str, name: str) -> Any:
        """Returns the type that a value of `game.toml` describes. UsageError that says what is wrong with it.

        `name`: that of a record without one.
        """
        if isinstance(value, str):
            path, hash_sign, pointer = value.partition("#")
            if path:
                name = _camel(Path(path).stem) or name
            return self._at(path, pointer if hash_sign else "", place, name)
        if not isinstance(value, dict):
            raise self.wrong(place, "expected a JSON Schema or the path of one")
        return self._type(value, "", place, name)

    def record(self, value: Any, place: str, name: str) -> type:
        """Returns the type of a record, as params and views are. UsageError for any other."""
        made = self.of(value, place, name)
        if not (isinstance(made, type) and issubclass(made, Struct)) or made.__struct_config__.array_like:
            raise self.wrong(place, "expected a schema with type object and properties")
        return made

    def struct(self, name: str, fields: list[Any], doc: str, **options: Any) -> type[Struct]:
        """Makes a record in the game's module. UsageError for a name that another type has."""
        if name in self._names:
            raise self.wrong(name, "two types have this name; give one of them another title")
        return self._struct(name, fields, doc, {"struct": name}, **options)

    # Files.

    def _at(self, path: str, pointer: str, place: str, name: str) -> Any:
        schema = self._file(path, place)
        if pointer in ("", "/"):
            return self._named(path, "", schema, place, name)
        found = pointer.removeprefix("/$defs/")
        defs = schema.get("$defs")
        if found == pointer or not isinstance(defs, dict) or found not in defs:
            raise self.wrong(place, f"there is no {pointer!r} in {path or 'it'}; expected #/$defs/NAME")
        return self._named(path, found, defs[found], place, found)

    def _file(self, path: str, place: str) -> Any:
        if path not in self._files:
            file = self._folder / path
            try:
                if not is_inside(str(file.resolve()), [str(self._folder)]):
                    raise self.wrong(place, f"{path} leads out of the game's folder")
                schema = msgspec.json.decode(read_limited(file, MAX_FILE_BYTES))
            except (OSError, ValueError, RecursionError) as error:
                reason = getattr(error, "strerror", None) or error
                raise self.wrong(place, f"{path} cannot be read: {reason}") from error
            if (text := control_character(schema)) is not None:
                raise self.wrong(place, f"the text {text} of {path} has a control character")
            self._files[path] = schema
            self._collect_tags(path, schema)
        if not isinstance(self._files[path], dict):
            raise self.wrong(place, f"{path} is no JSON Schema, which is an object")
        return self._files[path]

    def _collect_tags(self, path: str, part: Any, depth: int = 0) -> None:
        """Notes which records a member tells apart: such a record is made with its tag."""
        if depth > MAX_DEPTH:
            raise self.wrong(path, f"it is nested deeper than {MAX_DEPTH} levels")
        if isinstance(part, dict):
            match part.get("discriminator"):
                case {"propertyName": str(member), "mapping": dict(mapping)}:
                    for text, ref in mapping.items():
                        self._tags[path, str(ref).removeprefix("#/$defs/")] = member, text
            for inner in part.values():
                self._collect_tags(path, inner, depth + 1)
        elif isinstance(part, list):
            for inner in part:
                self._collect_tags(path, inner, depth + 1)

    def _named(self, path: str, key: str, schema: Any, place: str, name: str) -> Any:
        """Returns a type of a file, made once."""
        where, before = (path, key), self._parts
        if where in self._made:
            made, parts = self._made[where]
            self._count(parts, place)
            return made
        if where in self._open:
            raise self.wrong(place, f"{key or path} contains itself")
        if not isinstance(schema, dict):
            raise self.wrong(place, f"{key or path} is no JSON Schema, which is an object")
        self._open.append(where)
        made = self._type(schema, path, f"{place}, {key}" if key else place, name, self._tags.get(where))
        self._open.pop()
        self._made[where] = made, self._parts - before
        if key and key.isidentifier() and get_origin(made) is not None:
            setattr(self.module, key, made)  # choices and pairs get their name in the game's schema from here
        return made

    # Types.

    def _count(self, parts: int, place: str) -> None:
        """Counts the parts of a type. What hashes, decodes and writes types follows each reference again."""
        self._parts += parts
        if self._parts > MAX_PARTS:
            raise self.wrong(place, f"with references spelled out, the types have more than {MAX_PARTS:,} parts")

    def _type(self, schema: Schema, path: str, place: str, name: str, tag: tuple[str, str] | None = None) -> Any:
        self._count(1, place)
        if self._level >= MAX_DEPTH:
            raise self.wrong(place, f"it is nested deeper than {MAX_DEPTH} levels")
        self._level += 1
        made = self._of_schema(schema, path, place, name, tag)
        self._level -= 1
        return made

    def _of_schema(self, schema: Schema, path: str, place: str, name: str, tag: tuple[str, str] | None) -> Any:
        if isinstance(ref := schema.get("$ref"), str):
            self._only(schema, {"$ref"}, place)
            made = self._at(path, ref.removeprefix("#"), place, name) if ref.startswith("#") else None
            if made is None:
                raise self.wrong(place, f"$ref is {ref!r}; expected #/$defs/NAME")
        elif "anyOf" in schema:
            made = self._union(schema, path, place, name)
        elif "type" not in schema and "enum" not in schema:
            self._only(schema, set(), place)
            made = Any
        else:
            made = self._of_kind(schema, path, place, name, tag)
        if isinstance(made, type) and issubclass(made, Struct):
            return made
        return _described(made, schema)

    def _of_kind(self, schema: Schema, path: str, place: str, name: str, tag: tuple[str, str] | None) -> Any:
        kind = schema.get("type", "integer" if _integers(schema.get("enum")) else "string")
        if not isinstance(kind, str) or kind not in KEYWORDS:
            raise self.wrong(place, f"type is {kind!r}; expected one of {', '.join(KEYWORDS)}")
        self._only(schema, {"type", *KEYWORDS[kind]}, place)
        if kind == "object":
            return self._object(schema, path, place, name, tag)
        if kind == "array":
            return self._array(schema, path, place, name)
        if "enum" in schema:
            return self._choice(schema, kind, place)
        return self._bounded(PLAIN[kind], schema, place)

    def _bounded(self, made: Any, schema: Schema, place: str) -> Any:
        bounds = {BOUNDS[key]: schema[key] for key in BOUNDS if key in schema}
        for value in bounds.values():
            whole = type(value) is int or (made is float and type(value) is float)
            if not whole or abs(value) >= 1 << 63:
                raise self.wrong(place, f"a bound is {value!r}; expected a number within 64 bits")
        try:
            return Annotated[made, Meta(**bounds)] if bounds else made
        except (TypeError, ValueError) as error:
            raise self.wrong(place, str(error)) from error

    def _choice(self, schema: Schema, kind: str, place: str) -> Any:
        values, names = schema["enum"], schema.get("x-enum-varnames")
        right = _integers(values) if kind == "integer" else _texts(values)
        if not right or len(set(values)) != len(values):
            raise self.wrong(place, f"enum is {str(values)[:100]}; expected different values of type {kind}")
        made = Literal[tuple(values)]  # type: ignore[valid-type]
        more: dict[str, Any] = {"type": "integer"} if kind == "integer" else {}
        if names is not None:
            if not (_texts(names) and all(map(_is_name, names)) and len({*names}) == len(names) == len(values)):
                raise self.wrong(place, "x-enum-varnames: expected a different name for each value of enum")
            more |= {"enum": values, "x-enum-varnames": names}
        return Annotated[made, Meta(extra_json_schema=more)] if more else made

    def _union(self, schema: Schema, path: str, place: str, name: str) -> Any:
        self._only(schema, {"anyOf", "discriminator"}, place)
        parts = schema["anyOf"]
        if not isinstance(parts, list) or not parts or not all(isinstance(part, dict) for part in parts):
            raise self.wrong(place, "anyOf: expected a list of schemas")
        nothing = [part for part in parts if part.get("type") == "null"]
        rest = [self._type(part, path, place, name) for part in parts if part not in nothing]
        if len(rest) > 1 and "discriminator" not in schema:
            raise self.wrong(place, "anyOf: expected a schema and null, or records with a discriminator")
        if not rest:
            raise self.wrong(place, "anyOf: expected a schema that is not null")
        if len(rest) > 1 and not _maps(schema["discriminator"], [part for part in parts if part not in nothing]):
            raise self.wrong(place, "discriminator: expected propertyName, and a mapping to the $ref of each record")
        made = rest[0]
        for each in rest[1:]:
            made = made | each
        return made | None if nothing else made

    def _array(self, schema: Schema, path: str, place: str, name: str) -> Any:
        prefix, items = schema.get("prefixItems"), schema.get("items", {})
        if prefix is None:
            if not isinstance(items, dict):
                raise self.wrong(place, "items: expected a schema")
            item = self._type(items, path, f"{place}, items", f"{name}Item")
            return self._bounded(tuple[item, ...], schema, place)  # type: ignore[valid-type]
        if not isinstance(prefix, list) or not prefix or not all(isinstance(item, dict) for item in prefix):
            raise self.wrong(place, "prefixItems: expected a list of schemas")
        made = [self._type(item, path, f"{place}, item {at}", f"{name}{at}") for at, item in enumerate(prefix)]
        if not isinstance(schema.get("title"), str):
            return tuple[tuple(made)]  # type: ignore[misc]
        fields = []
        for at, (item, of_item) in enumerate(zip(prefix, made, strict=True)):
            title = item.get("title")
            if not isinstance(title, str) or not _is_name(title):
                raise self.wrong(place, f"item {at} has no title that is a name")
            fields.append((title, of_item, *self._default(item, of_item, f"{place}, {title}")))
        return self._struct(schema["title"], fields, str(schema.get("description", "")), schema, array_like=True)

    def _object(self, schema: Schema, path: str, place: str, name: str, tag: tuple[str, str] | None) -> Any:
        properties, more = schema.get("properties"), schema.get("additionalProperties", True)
        if properties is None and isinstance(more, dict):
            return dict[str, self._type(more, path, place, name)]  # type: ignore[misc]
        if properties is None:
            return dict[str, Any]
        if not isinstance(properties, dict) or not isinstance(more, bool):
            raise self.wrong(place, "expected properties with a schema each, and additionalProperties true or false")
        required, renamed, fields, optional = schema.get("required", []), {}, [], []
        if not isinstance(required, list) or not all(isinstance(each, str) and each in properties for each in required):
            raise self.wrong(place, "required: expected names of properties")
        for at, (member, part) in enumerate(properties.items()):
            if not isinstance(part, dict):
                raise self.wrong(place, f"{member}: expected a schema")
            if tag is not None and member == tag[0]:
                continue
            of_member = self._type(part, path, f"{place}, {member}", name + _camel(member))
            field = member if _is_name(member) else f"member_{at}"
            renamed[field] = member
            if member in required:
                fields.append((field, of_member))
            elif "default" in part:
                optional.append((field, of_member, *self._default(part, of_member, f"{place}, {member}")))
            else:
                optional.append((field, _or_unset(of_member), UNSET))
        options: dict[str, Any] = {"forbid_unknown_fields": not more, "rename": renamed}
        if tag is not None:
            options |= {"tag_field": tag[0], "tag": tag[1]}
        title = schema.get("title", name)
        return self._struct(str(title), fields + optional, str(schema.get("description", "")), schema, **options)

    def _struct(self, name: str, fields: list[Any], doc: str, schema: Any, **options: Any) -> type[Struct]:
        if not _is_name(name):
            raise self.wrong(name, "a record's title is a name: letters, digits and _, a letter first")
        if name in self._names:
            if self._names[name] == schema and isinstance(known := getattr(self.module, name, None), type):
                return known
            raise self.wrong(name, "two types have this name; give one of them another title")
        if len(self._names) >= MAX_TYPES:
            raise self.wrong(name, f"there are more than {MAX_TYPES} types")
        try:
            made = defstruct(
                name,
                fields,
                module=self.module.__name__,
                namespace={"__doc__": doc or f"{name}."},
                frozen=True,
                omit_defaults=any(field[2] is UNSET for field in fields if len(field) > 2),
                **options,
            )
            msgspec.json.Decoder(made)  # msgspec looks at the types now
        except (TypeError, ValueError) as error:
            raise self.wrong(name, str(error)) from error
        self._names[name] = schema
        setattr(self.module, name, made)
        return made

    def _default(self, schema: Schema, kind: Any, place: str) -> Iterator[Any]:
        """Yields the default of a member, if it has one. UsageError for one that the member's schema refuses."""
        if "default" not in schema:
            return
        default = schema["default"]
        try:
            value = msgspec.convert(default, kind)
        except (msgspec.ValidationError, RecursionError) as error:
            raise self.wrong(place, f"the default does not fit: {error}") from error
        yield msgspec.field(default_factory=lambda: value) if isinstance(default, dict | list) else default

    def _only(self, schema: Schema, known: set[str], place: str) -> None:
        if strange := schema.keys() - known - ANYWHERE:
            raise self.wrong(place, f"{min(strange)} is no keyword that Referee checks here (SPEC.md, 31)")

    def wrong(self, place: str, problem: str) -> UsageError:
        """Returns the error about a place in the game's file."""
        return UsageError(f"{self._shown}: {place}: {problem}")


def _maps(discriminator: Any, parts: list[Schema]) -> bool:
    """Returns whether a discriminator names each of these records by a text."""
    match discriminator:
        case {"propertyName": str(), "mapping": dict(mapping)}:
            refs = [part.get("$ref") for part in parts]
            return len(mapping) == len(refs) and all(ref in refs for ref in mapping.values())
    return False


def _described(made: Any, schema: Schema) -> Any:
    words = {key: schema[key] for key in ("title", "description") if isinstance(schema.get(key), str)}
    return Annotated[made, Meta(**words)] if words else made


def _or_unset(made: Any) -> Any:
    """Returns the type of a member that may be absent, with its description outside."""
    return made | UnsetType


def _integers(values: Any) -> bool:
    return (
        isinstance(values, list)
        and bool(values)
        and all(type(each) is int and -(1 << 63) <= each < 1 << 63 for each in values)
    )


def _texts(values: Any) -> bool:
    return isinstance(values, list) and bool(values) and all(type(each) is str for each in values)


def _is_name(text: str) -> bool:
    return text.isascii() and text.isidentifier() and not text.startswith("_")


def _camel(text: str) -> str:
    words = "".join(each if each.isascii() and each.isalnum() else " " for each in text).split()
    name = "".join(word[0].upper() + word[1:] for word in words)
    return name if name[:1].isalpha() else ""
