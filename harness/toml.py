"""Reads TOML, which a stranger may have written."""

import re
import tomllib
from typing import Any

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
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except ValueError as error:  # Python converts no number of more than 4,300 digits
        raise ValueError("a number has too many digits") from error
