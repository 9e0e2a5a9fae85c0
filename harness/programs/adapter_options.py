"""The options in bot specs of foreign bots, such as `original:--python PATH --seed 5 My Agent.py`.

The path comes last, so that names with spaces need no quotes.
"""

import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from referee.harness.errors import UsageError


def split(text: str, known: Mapping[str, bool], spec: str) -> tuple[dict[str, str], str]:
    """Splits the options from the path that follows them. UsageError for an option without its value.

    `known`: the options, each with whether it has a value. `spec`: what the user typed, for messages.
    """
    pairs, rest = split_all(text, known, spec)
    return dict(pairs), rest


def split_all(text: str, known: Mapping[str, bool], spec: str) -> tuple[list[tuple[str, str]], str]:
    """Does the same for options that may come several times, and keeps their order."""
    option = re.compile(rf"\s*({'|'.join(known)})(?:=|\s+|$)")
    options: list[tuple[str, str]] = []
    while match := option.match(text):
        text, value = text[match.end() :], ""
        if known[match[1]]:
            value, text = _word(text, f"{spec}: {match[1]}")
        options.append((match[1], value))
    return options, text.strip()


def _word(text: str, where: str) -> tuple[str, str]:
    """Splits off the first word, which may be quoted."""
    match = re.match(r"('[^']*'|\"[^\"]*\"|\S+)\s*", text)
    if match is None:
        raise UsageError(f"{where}: expected a value after it")
    return "".join(shlex.split(match[1])), text[match.end() :]


def path(text: str, base: Path, spec: str, known: Iterable[str]) -> Path:
    """Finds the file or folder, from the folder `base`. UsageError if there is none."""
    if not text:
        prefix = spec.partition(":")[0]
        raise UsageError(f"{spec}: expected a file, as in {prefix}:'My Agent.py'")
    names = [text, text.strip("'\"")]
    with suppress(ValueError):
        names.append(" ".join(shlex.split(text)))  # with backslashes before spaces
    for name in names:
        found = (base / Path(name).expanduser()).resolve()
        if name and found.exists():
            return found
    if text.startswith("-"):
        raise UsageError(f"{spec}: there is no option {text.split()[0]}; there are {', '.join(known)}")
    misplaced = next((option for option in known if f" {option}" in text), None)
    if misplaced is not None:
        raise UsageError(f"{spec}: {misplaced} must come before the file")
    raise UsageError(f"{spec}: there is no such file or folder: {text}")


def seed(options: Mapping[str, str], spec: str) -> int | None:
    """Returns the value of `--seed`; None if it is not given. UsageError if it is no whole number."""
    text = options.get("--seed")
    if text is not None and not re.fullmatch(r"-?\d+", text):
        raise UsageError(f"{spec}: --seed {text}: expected a whole number")
    return None if text is None else int(text)


def interpreter(options: Mapping[str, str], base: Path, spec: str) -> str:
    """Returns the program of `--python`; this Python if it is not given. UsageError if there is no such program."""
    name = options.get("--python", sys.executable)
    program = shutil.which(name) if "/" not in name else str((base / Path(name).expanduser()).absolute())
    if program is None or not Path(program).is_file():
        raise UsageError(f"{spec}: --python {name}: there is no such program")
    return program
