"""Explains the command line: on one screen, in full, and as a man page.

All three are made from the same `Topic`, which comes from a command's docstring and signature.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from textwrap import shorten, wrap
from typing import Any, get_args

from cyclopts import App
from msgspec import Struct

from referee.harness.cli.exit_codes import MEANINGS
from referee.harness.errors import UsageError

FILES = {
    "./replays": "Replays of matches.",
    "bot.toml": "In a bot's folder: how to build and run the bot, and its game.",
    "~/.cache/referee": "Built bots.",
}
COLUMN = 24
"""Explanations start here, to the right of the options."""


class Topic(Struct, frozen=True):
    """The explanation of a command."""

    name: str
    """As it is typed, such as `referee replay show`."""
    usage: tuple[str, ...]
    paragraphs: list[str]
    groups: dict[str, dict[str, str]]
    """By title: each option or argument as it is typed, with its explanation."""
    commands: dict[str, str]
    """The commands inside this one, with a sentence each."""


def topic(app: App, words: Sequence[str]) -> Topic:
    """Returns the topic of the command with this name; UsageError if there is none."""
    command = app
    for word in words:
        names = commands(command)
        if word not in names:
            near = get_close_matches(word, names, 1)
            advice = f"there are {', '.join(names)}" if names else f"{words[0]} has no commands"
            raise UsageError(f"there is no command {word}; " + (f"did you mean {near[0]}?" if near else advice))
        command = names[word]
    name = " ".join(["referee", *words])
    inner = {name: re.split(r"\. |:|\.$", _paragraphs(each)[0])[0] for name, each in commands(command).items()}
    return Topic(name, tuple(_usage(name, command)), _paragraphs(command), _groups(command), inner)


def commands(app: App) -> dict[str, App]:
    """Returns the commands of an app by name, in alphabetical order."""
    return {name: app[name] for name in sorted(app) if not name.startswith("-")}


def summary(app: App, width: int) -> str:
    """Returns an overview: commands and names of options, at most a screen."""
    main = topic(app, ())
    text = " ".join([*main.paragraphs, "A BOT is PATH, @random or cmd:'COMMAND LINE'; NAME= before it names it."])
    lines = [_usage_text(main), "", *wrap(text, width), ""]
    for name, sentence in main.commands.items():
        lines.append(f"  {name:12}{shorten(sentence, width - 14, placeholder=' …')}")
    lines.append("")
    for title, entries in main.groups.items():
        flags = [entry.split(", ")[-1].split()[0] for entry in entries if entry.startswith("-")]
        if flags:
            lines += wrap(f"  {title:17}{' '.join(flags)}", width, subsequent_indent=" " * 19)
    return "\n".join([*lines, "", "referee help explains every option, referee help COMMAND those of a command."])


def explained(of: Topic, width: int) -> str:
    """Returns a full explanation."""
    lines = [_usage_text(of)]
    for paragraph in of.paragraphs:
        lines += ["", *wrap(paragraph, width)]
    for title, entries in (of.groups | ({"Commands": of.commands} if of.commands else {})).items():
        lines += ["", f"{title}:"]
        for entry, text in entries.items():
            first, *rest = wrap(text, max(width - COLUMN, 20)) or [""]
            if len(entry) + 4 <= COLUMN:
                lines.append(f"  {entry:{COLUMN - 2}}{first}")
            else:
                lines += [f"  {entry}", " " * COLUMN + first]
            lines += [" " * COLUMN + line for line in rest]
    return "\n".join(lines)


def manual(app: App) -> str:
    """Returns the man page, in troff's man macros. Options that a command shares with a match are listed once."""
    main = topic(app, ())
    lines = ['.TH REFEREE 1 "" "referee" "User Commands"', ".SH NAME"]
    lines += [f"referee \\- {_escaped(main.paragraphs[0].rstrip('.').lower())}", ".SH SYNOPSIS"]
    lines += "\n.br\n".join(f".B {_escaped(usage)}" for usage in main.usage).split("\n")
    lines += [".SH DESCRIPTION", *_prose(main.paragraphs), ".SH OPTIONS"]
    for title, entries in main.groups.items():
        lines += [f".SS {_escaped(title)}", *_listed(entries)]
    lines.append(".SH COMMANDS")
    for command in _topics(app):
        lines += [f".SS {_escaped(command.name.removeprefix('referee '))}"]
        lines += [f".B {_escaped(command.usage[0])}", *_prose(command.paragraphs)]
        shared = []
        for title, entries in command.groups.items():
            if entries.items() <= main.groups.get(title, {}).items():
                shared.append(title)
            else:
                lines += _listed(entries)
        if shared:
            lines += _prose([f"Takes the options above under {', '.join(shared)} too."])
    lines += [".SH EXIT STATUS", *_listed(MEANINGS), ".SH FILES", *_listed(FILES)]
    return "\n".join(lines) + "\n"


def _topics(app: App, *words: str) -> Iterator[Topic]:
    for name in topic(app, words).commands:
        yield topic(app, (*words, name))
        yield from _topics(app, *words, name)


def _usage(name: str, command: App) -> Iterator[str]:
    if name == "referee":
        yield "referee --game GAME BOT BOT [OPTIONS]"
    elif command.default_command is not None:
        takes = [_positional(argument) for argument in _arguments(command) if argument.index is not None]
        needed = [argument.name for argument in _arguments(command) if argument.index is None and argument.required]
        yield " ".join([name, *takes, *(f"{flag} {flag[2:].upper()}" for flag in needed), "[OPTIONS]"])
    if commands(command):
        yield f"{name} COMMAND ..."


def _usage_text(of: Topic) -> str:
    return "Usage: " + "\n       ".join(of.usage)


def _arguments(command: App) -> list[Any]:
    if command.default_command is None:
        return []
    return [argument for argument in command.assemble_argument_collection(parse_docstring=True) if argument.show]


def _groups(command: App) -> dict[str, dict[str, str]]:
    groups: dict[str, dict[str, str]] = {}
    for argument in _arguments(command):
        title = argument.parameter.group[0].name
        if title in ("Parameters", "Arguments"):
            title = "Options" if argument.index is None else "Arguments"
        groups.setdefault(title, {})[_typed(argument)] = _text(argument)
    return groups


def _positional(argument: Any) -> str:
    name = _name(argument) + ("..." if argument.token_count()[1] else "")
    return name if argument.required else f"[{name}]"


def _name(argument: Any) -> str:
    return str(argument.name).lstrip("-").upper()


def _typed(argument: Any) -> str:
    """Returns what a user types, such as `--encoding json|msgpack`."""
    if argument.index is not None:
        return _name(argument)
    flags = ", ".join(sorted(argument.positives, key=len)).replace("[KEYWORD]", "KEY")
    hints = {argument.hint, *get_args(argument.hint)}
    value = "N" if hints & {int, float} else "PATH" if Path in hints else "VALUE"
    value = "|".join(argument.get_choices() or ()) or value
    return " ".join([flags, *[value] * argument.token_count()[0]])


def _text(argument: Any) -> str:
    text = " ".join(str(argument.parameter.help or "").split())
    default = argument.field_info.default
    has_default = isinstance(default, str | int | float) and not isinstance(default, bool) and "Default:" not in text
    return f"{text} Default: {default}." if has_default else text


def _paragraphs(command: App) -> list[str]:
    prose = re.split(r"\n\s*Args:\n", command.help or "")[0]
    return [" ".join(block.split()) for block in prose.strip().split("\n\n")]


# Troff.


def _prose(paragraphs: Iterable[str]) -> Iterator[str]:
    for paragraph in paragraphs:
        yield from (".PP", _escaped(paragraph))


def _listed(entries: dict[str, str]) -> Iterator[str]:
    for entry, text in entries.items():
        yield from (".TP", f".B {_escaped(entry)}", _escaped(text) or "\\&")


def _escaped(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "")
    text = "".join(sign if sign.isascii() else f"\\[u{ord(sign):04X}]" for sign in text)
    return f"\\&{text}" if text.startswith((".", "'")) else text
