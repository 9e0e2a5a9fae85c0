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

from referee.harness.common.errors import UsageError
from referee.harness.common.paths import expanded


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


WORD = re.compile(r"""(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"\\])+""", re.DOTALL)
"""A word as a shell has it: pieces in quotes, characters after a backslash, and all others but blanks."""


def _word(text: str, where: str) -> tuple[str, str]:
    """Splits off the first word, which may have quotes and backslashes."""
    match = WORD.match(text)
    rest = text[match.end() :] if match else text
    if rest.startswith(("'", '"', "\\")):
        raise UsageError(f"{where}: a quote is not closed, or nothing comes after a backslash")
    if match is None:
        raise UsageError(f"{where}: expected a value after it")
    return "".join(shlex.split(match[0])), rest.lstrip()


def path(text: str, base: Path, spec: str, known: Iterable[str]) -> Path:
    """Finds the file or folder, from the folder `base`. UsageError if there is none."""
    if not text:
        prefix = spec.partition(":")[0]
        raise UsageError(f"{spec}: expected a file, as in {prefix}:'My Agent.py'")
    names = [text, text.strip("'\"")]
    with suppress(ValueError):
        names.append(" ".join(shlex.split(text)))  # with backslashes before spaces
    for name in names:
        if name and (found := existing(base, name)) is not None:
            return found.resolve()
    if text.startswith("-"):
        raise UsageError(f"{spec}: there is no option {text.split()[0]}; there are {', '.join(known)}")
    misplaced = next((option for option in known if f" {option}" in text), None)
    if misplaced is not None:
        raise UsageError(f"{spec}: {misplaced} must come before the file")
    raise UsageError(f"{spec}: there is no such file or folder: {text}")


def existing(base: Path, text: str) -> Path | None:
    """Returns the file or folder of this name, from the folder `base`; None if there is none, or if that is no name."""
    try:
        found = base / expanded(text)
        return found if found.exists() else None
    except (ValueError, OSError):  # a NUL, or too long
        return None


def named_paths(spec: str, path: Path | None = None) -> list[Path]:
    """Returns the files and folders among the words of a bot spec, and `path`, which has blanks that are not in quotes.

    They are relative to the working folder.
    """
    words: list[str] = []
    with suppress(ValueError):  # a quote is part of the path
        words = shlex.split(spec.partition(":")[2])
    paths = [found for word in words if (found := existing(Path(), word)) is not None]
    if path is not None and not {path.resolve(), path.resolve().parent} & {each.resolve() for each in paths}:
        paths.append(path)
    return paths


def seed(options: Mapping[str, str], spec: str) -> int | None:
    """Returns the value of `--seed`; None if it is not given. UsageError if it is no whole number."""
    text = options.get("--seed")
    if text is not None and not re.fullmatch(r"-?[0-9]{1,18}", text):
        raise UsageError(f"{spec}: --seed {text}: expected a whole number")
    return None if text is None else int(text)


def interpreter(options: Mapping[str, str], base: Path, spec: str) -> str:
    """Returns the program of `--python`; this Python if it is not given. UsageError if there is no such program."""
    name = options.get("--python", sys.executable)
    found = None if "\0" in name else shutil.which(name)
    if "/" in name:
        path = existing(base, name)
        found = None if path is None else str(path.absolute())
    if found is None or not Path(found).is_file():
        raise UsageError(f"{spec}: --python {name}: there is no such program")
    return found
