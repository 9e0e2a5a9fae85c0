"""Says in plain words which value of a file or of an option has the wrong type, or which key does not exist."""

import re
from difflib import get_close_matches
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

T = TypeVar("T", bound=inspect.Type)
_UNKNOWN = re.compile(r"Object contains unknown field `(.+?)`(?: - at `\$\.?(.*)`)?", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(.+?)`(?: - at `\$\.?(.*)`)?", re.DOTALL)
_EXPECTED = re.compile(r"Expected `([^`]*)`(.*?)(?:, got `([^`]*)`)?(?: - at `\$\.?(.*)`)?", re.DOTALL)
_CHOICE = re.compile(r"Invalid (?:enum )?value (.+?)(?: - at `\$\.?(.*)`)?", re.DOTALL)
_FROM = re.compile(r" >= (-?\d+)(?:\.0)?$")
_STEP = re.compile(r"\.?([^.\[\]]+)|(\[[^\]]*\])")
_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
    "null": "nothing",
}


def in_words(error: Exception, kind: Any) -> str:
    """Returns the message of msgspec's error about a value that should be a `kind`. Any other error as it is."""
    text = str(error)
    if not isinstance(error, msgspec.ValidationError):
        return text
    if found := _UNKNOWN.fullmatch(text):
        key, place = found[1], found[2] or ""
        keys = sorted({field.encode_name for each in _types(kind, place, inspect.StructType) for field in each.fields})
        near = get_close_matches(key, keys, 1)
        advice = f"did you mean {near[0]}?" if near else f"the keys are {', '.join(keys)}"
        return f"{_prefix(place)}there is no key {key!r}" + (f"; {advice}" if keys else "")
    if found := _MISSING.fullmatch(text):
        return f"{_prefix(found[2] or '')}the key {found[1]!r} is missing"
    if found := _CHOICE.fullmatch(text):
        value, place = found[1], found[2] or ""
        choices = [repr(each) for of in _types(kind, place, inspect.LiteralType) for each in of.values]
        choices += [repr(each.value) for of in _types(kind, place, inspect.EnumType) for each in of.cls]
        return f"{_prefix(place)}there is no {value}" + (f"; expected {' or '.join(choices)}" if choices else "")
    if found := _EXPECTED.fullmatch(text):
        wanted, more, given, place = found.groups()
        what = " or ".join(_KINDS.get(each, each) for each in wanted.split(" | ") if each != "null" or given is None)
        more = _FROM.sub(r" from \1 on", more)
        return f"{_prefix(place or '')}expected {what}{more}" + (f", got {_KINDS.get(given, given)}" if given else "")
    return text


def _prefix(place: str) -> str:
    return f"{place}: " if place else ""


def _types(kind: Any, place: str, of: type[T]) -> list[T]:
    """Returns the types `of` a sort that the value at a place may have, such as the place `stages[0]`."""
    found = _plain(inspect.type_info(kind))
    for name, _ in _STEP.findall(place):
        found = [plain for each in found for inner in _inside(each, name) for plain in _plain(inner)]
    return [each for each in found if isinstance(each, of)]


def _plain(kind: inspect.Type) -> list[inspect.Type]:
    """Returns a type without its description, or its alternatives."""
    if isinstance(kind, inspect.Metadata):
        return _plain(kind.type)
    return [each for one in kind.types for each in _plain(one)] if isinstance(kind, inspect.UnionType) else [kind]


def _inside(kind: inspect.Type, name: str) -> list[inspect.Type]:
    """Returns the types of the member `name`, or of the items if that is empty."""
    if isinstance(kind, inspect.StructType):
        return [field.type for field in kind.fields if field.encode_name == name]
    if isinstance(kind, inspect.DictType):
        return [kind.value_type]
    return [item] if isinstance(item := getattr(kind, "item_type", None), inspect.Type) else []
