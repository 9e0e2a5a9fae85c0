"""Explains the command line: in short, in full, and as a man page.

All are made from the same `Topic`, which comes from a command's docstring and signature. Cyclopts's own help has no
sentences about commands that load on use, nothing that only `--all` shows, and no man page.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from textwrap import wrap
from typing import Any, get_args

import msgspec
from cyclopts import App
from msgspec import Struct

from referee.harness.cli.exit_codes import MEANINGS
from referee.harness.cli.limit_options import NAMES
from referee.harness.cli.nested import GROUPS
from referee.harness.cli.options import MORE_TITLE
from referee.harness.common.errors import UsageError
from referee.harness.programs.kinds import options_help

FILES = {
    "./replays": "Replays of matches.",
    "bot.toml": "In a bot's folder: how to build and run the bot, and its game.",
    "~/.cache/referee": "Built bots.",
}
VALUES = re.compile(r"([A-Z]+(?:[=/: ][A-Z]+)*): ")
"""The values of an option, which its explanation begins with."""
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
    more: dict[str, dict[str, str]]
    """The same for what only `--help --all` explains: options, the names that options take, and options of bots."""
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
    arguments = _arguments(command) if words else []
    groups = _groups(arguments)
    more = {MORE_TITLE: groups.pop(MORE_TITLE)} if MORE_TITLE in groups else {}
    for flag, limits in NAMES.items():
        if any(entry.startswith(f"{flag} ") for group in groups.values() for entry in group):
            more[f"Names of {flag}"] = {f"{each.name}={each.default}": each.text for each in limits}
    if words == ("play",):  # other commands name bots as this one
        more |= options_help()
    return Topic(name, tuple(_usage(name, command, arguments)), _paragraphs(command), groups, more, inner)


def commands(app: App) -> dict[str, App]:
    """Returns the commands of an app by name, in alphabetical order."""
    return {name: app[name] for name in sorted(app) if not name.startswith("-")}


def overview(app: App, width: int, all: bool) -> str:
    """Returns the explanation of the whole program: its commands, or everything about each."""
    main = topic(app, ())
    grouped = {
        title: {name: main.commands[name] for name in names if name in main.commands} for title, names in GROUPS.items()
    }
    text = explained(
        msgspec.structs.replace(main, commands={}, groups={t: c for t, c in grouped.items() if c}), width, all
    )
    if not all:
        return f"{text}\n\n`referee COMMAND --help` explains a command."
    return "\n\n\n".join([text, *(explained(each, width, all) for each in topics(app))])


def explained(of: Topic, width: int, all: bool) -> str:
    """Returns the explanation of a command, in short or with all that it takes."""
    lines = [_usage_text(of)]
    for paragraph in of.paragraphs:
        lines += ["", *wrap(paragraph, width)]
    groups = of.groups | (of.more if all else {}) | ({"Commands": of.commands} if of.commands else {})
    for title, entries in groups.items():
        lines += ["", f"{title}:"]
        for entry, text in entries.items():
            first, *rest = wrap(text, max(width - COLUMN, 20)) or [""]
            if len(entry) + 4 <= COLUMN:
                lines.append(f"  {entry:{COLUMN - 2}}{first}")
            else:
                lines += [f"  {entry}", " " * COLUMN + first]
            lines += [" " * COLUMN + line for line in rest]
    if of.more and not all:
        *most, last = _counted(of.more)
        listed = f"{', '.join(most)} and {last}" if most else last
        lines += ["", *wrap(f"`{of.name} --help --all` explains {listed}.", width)]
    return "\n".join(lines)


def _counted(more: dict[str, dict[str, str]]) -> Iterator[str]:
    for title, entries in more.items():
        yield f"{len(entries)} more options" if title == MORE_TITLE else f"the {title[0].lower()}{title[1:]}"


def manual(app: App) -> str:
    """Returns the man page, in troff's man macros. Options that a command shares with a match are listed once."""
    main, match = topic(app, ()), topic(app, ("play",))
    shared_groups = match.groups | match.more
    lines = ['.TH REFEREE 1 "" "referee" "User Commands"', ".SH NAME"]
    lines += [f"referee \\- {_escaped(main.paragraphs[0].rstrip('.').lower())}", ".SH SYNOPSIS"]
    lines += "\n.br\n".join(f".B {_escaped(usage)}" for usage in main.usage).split("\n")
    lines += [".SH DESCRIPTION", *_prose(main.paragraphs), ".SH OPTIONS"]
    for title, entries in shared_groups.items():
        lines += [f".SS {_escaped(title)}", *_listed(entries)]
    lines.append(".SH COMMANDS")
    for command in topics(app):
        if command.name == match.name:
            continue
        lines += [f".SS {_escaped(command.name.removeprefix('referee '))}"]
        lines += [f".B {_escaped(command.usage[0])}", *_prose(command.paragraphs)]
        shared = []
        for title, entries in (command.groups | command.more).items():
            if entries.items() <= shared_groups.get(title, {}).items():
                shared.append(title)
            else:
                lines += _listed(entries)
        if shared:
            lines += _prose([f"Takes the options above under {', '.join(shared)} too."])
    lines += [".SH EXIT STATUS", *_listed(MEANINGS), ".SH FILES", *_listed(FILES)]
    return "\n".join(lines) + "\n"


def topics(app: App, *words: str) -> Iterator[Topic]:
    """Yields the topics of all commands below this one."""
    command = app
    for word in words:
        command = command[word]
    for name in commands(command):
        yield topic(app, (*words, name))
        yield from topics(app, *words, name)


def _usage(name: str, command: App, arguments: list[Any]) -> Iterator[str]:
    if name in ("referee", "referee play"):
        yield "referee play --game GAME BOT BOT [OPTIONS]"
    elif command.default_command is not None:
        takes = [_positional(argument) for argument in arguments if argument.index is not None]
        needed = [argument.name for argument in arguments if argument.index is None and argument.required]
        yield " ".join([name, *takes, *(f"{flag} {flag[2:].upper()}" for flag in needed), "[OPTIONS]"])
    if commands(command):
        yield f"{name} COMMAND ..."


def _usage_text(of: Topic) -> str:
    return "Usage: " + "\n       ".join(of.usage)


def _arguments(command: App) -> list[Any]:
    if command.default_command is None:
        return []
    return [argument for argument in command.assemble_argument_collection(parse_docstring=True) if argument.show]


def _groups(arguments: list[Any]) -> dict[str, dict[str, str]]:
    groups: dict[str, dict[str, str]] = {}
    for argument in arguments:
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
    flags = ", ".join(sorted(argument.positives, key=len))
    hints = {argument.hint, *get_args(argument.hint)}
    value = "N" if hints & {int, float} else "PATH" if Path in hints else "VALUE"
    value = "|".join(argument.get_choices() or ()) or value
    named = VALUES.match(str(argument.parameter.help))
    return " ".join([flags, *([named[1]] if named else [value] * argument.token_count()[0])])


def _text(argument: Any) -> str:
    text = " ".join(str(argument.parameter.help or "").split())
    if named := VALUES.match(text):
        text = text[named.end() :]
        text = text[0].upper() + text[1:]
    default = argument.field_info.default
    has_default = isinstance(default, str | int | float) and not isinstance(default, bool) and default != ""
    return f"{text} Default: {default}." if has_default and "Default:" not in text else text


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
