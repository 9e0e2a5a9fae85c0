"""Reads TOML, which a stranger may have written."""

import re
import tomllib
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from referee.harness.common.type_errors import in_words

T = TypeVar("T")

MAX_DOTS = 500
"""Limit for one line, without strings: reading `a.a.a…` takes a time that grows with the square of its length."""
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|' + r"'[^'\n]*'")


def parsed(text: str) -> dict[str, Any]:
    """Returns the tables of a text. ValueError that says what is wrong."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > MAX_DOTS and _STRING.sub("", line).count(".") > MAX_DOTS:
            raise ValueError(f"line {number} has more than {MAX_DOTS} dots")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        advice = "; put text in quotation marks" if str(error).startswith("Invalid value") else ""
        raise ValueError(f"it is not TOML: {error}{advice}") from error
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except ValueError as error:  # Python converts no number of more than 4,300 digits
        raise ValueError("a number has too many digits") from error


def read_as(text: str, kind: type[T]) -> T:
    """Returns the content of a text as a `kind`. ValueError that says what is wrong."""
    return converted(parsed(text), kind)


def converted(values: Mapping[str, Any], kind: type[T]) -> T:
    """Returns tables that were parsed as a `kind`. ValueError that names the key that is wrong."""
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        raise ValueError(in_words(error, kind)) from error
