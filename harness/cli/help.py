"""The command line explained: on one screen, in full, and as a page for `man`. All three come from the same text: the
functions' docstrings and signatures."""

import re
from collections.abc import Iterable, Iterator
from textwrap import shorten, wrap
from typing import Any

from cyclopts import App

from referee.harness.cli import exit_codes

EXIT_CODES = (
    (str(exit_codes.PLAYED), "played, verified, passed"),
    (str(exit_codes.AT_FAULT), "a fault under --strict, a replay that differs, a bot that a check refuses"),
    (str(exit_codes.USAGE), "what was asked for cannot be"),
    (str(exit_codes.FAILED), "the run itself failed"),
    (str(exit_codes.INCONCLUSIVE), "a cap came before the decision"),
    (str(exit_codes.NOT_ISOLATED), "--isolation required asked for what this machine does not have"),
    (str(exit_codes.NO_ROOM), "the system allows too few file descriptors"),
    (f"{exit_codes.BY_SIGNAL}+N", "ended by signal N"),
)
FILES = (
    ("./replays", "the records of matches"),
    ("bot.toml", "in a bot's folder: how to build and run it, and its game"),
    ("~/.cache/referee", "what was built"),
)


def summary(app: App, width: int) -> Iterator[str]:
    """The commands with a line each, and the names of the options by group: at most a screen."""
    yield "Usage: referee --game GAME BOT BOT [OPTIONS]"
    yield "       referee COMMAND ..."
    yield ""
    yield from wrap(f"{app.help} A BOT is PATH, @random or cmd:'COMMAND LINE'; NAME= in front names it.", width)
    yield ""
    names = commands(app)
    indent = max(map(len, names)) + 4
    for name, command in names.items():
        yield f"  {name:{indent - 2}}{shorten(first_sentence(command), width - indent, placeholder=' …')}"
    yield ""
    groups: dict[str, list[str]] = {}
    for argument in options(app):
        if argument.names[0].startswith("-"):
            groups.setdefault(group_of(argument), []).append(_flag(argument))
    indent = max(map(len, groups)) + 4
    for title, flags in groups.items():
        yield from wrap(f"  {title:{indent - 2}}{' '.join(flags)}", width, subsequent_indent=" " * indent)
    yield ""
    yield "All options with their meaning: referee help. Of a command: referee COMMAND --help."


def manual(app: App) -> str:
    """The page for `man`, in troff's man macros."""
    lines = [
        '.TH REFEREE 1 "" "referee" "User Commands"',
        ".SH NAME",
        f"referee \\- {_escaped(str(app.help).rstrip('.').lower())}",
        ".SH SYNOPSIS",
        ".B referee \\-\\-game",
        ".I GAME BOT BOT",
        "[OPTIONS]",
        ".br",
        ".B referee",
        ".I COMMAND ...",
    ]
    lines += [".SH DESCRIPTION", *_paragraph(app.help), *_options(app)]
    lines.append(".SH COMMANDS")
    for name, command in _every(app):
        lines += [f".SS {_escaped(name)}", *_paragraph(command.help), *_options(command)]
    lines += [".SH EXIT STATUS", *_listed(EXIT_CODES), ".SH FILES", *_listed(FILES)]
    return "\n".join(lines) + "\n"


def _every(app: App, before: str = "") -> Iterator[tuple[str, App]]:
    """All commands, those inside of others too."""
    for name, command in commands(app).items():
        yield f"{before}{name}", command
        yield from _every(command, f"{before}{name} ")


def commands(app: App) -> dict[str, App]:
    """By name, in the order of the alphabet."""
    return {name: app[name] for name in sorted(app) if not name.startswith("-")}


def options(app: App) -> list[Any]:
    """What a command takes, in the order of its groups; nothing for one that only has commands below it."""
    if app.default_command is None:
        return []
    found = [argument for argument in app.assemble_argument_collection(parse_docstring=True) if argument.show]
    order = list(dict.fromkeys(group_of(argument) for argument in found))
    return sorted(found, key=lambda argument: order.index(group_of(argument)))


def group_of(argument: Any) -> str:
    """The title under which an option stands."""
    groups = argument.parameter.group or ()
    title = str(getattr(groups[0], "name", groups[0])) if groups else "Options"
    return "Options" if title in ("Parameters", "Arguments") else title


def _flag(argument: Any) -> str:
    return str(argument.names[0]).replace("[KEYWORD]", "KEY")


def first_sentence(command: App) -> str:
    """What it does, in a line."""
    text = " ".join(str(command.help).split("\n\n")[0].split())
    return text.partition(". ")[0].partition(":")[0].rstrip(".")


def _options(command: App) -> Iterator[str]:
    for argument in options(command):
        flags = ", ".join(sorted(argument.names, key=len)).replace("[KEYWORD]", "KEY")
        default = argument.field_info.default
        shown = f" Default: {default}." if isinstance(default, str | int) and not isinstance(default, bool) else ""
        yield ".TP"
        yield f".B {_escaped(flags)}"
        yield from _paragraph((argument.parameter.help or "") + shown, first="")


def _paragraph(text: object, first: str = ".PP") -> Iterator[str]:
    if first:
        yield first
    prose = re.split(r"\n\s*Parameters\n\s*---", str(text or ""))[0]
    for number, block in enumerate(prose.strip().split("\n\n")):
        if number:
            yield ".PP"
        yield _escaped(" ".join(block.split())) or "\\&"


def _listed(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, meaning in pairs:
        yield from (".TP", f".B {_escaped(name)}", _escaped(meaning) + ".")


def _escaped(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "")
    text = "".join(sign if sign.isascii() else f"\\[u{ord(sign):04X}]" for sign in text)
    return f"\\&{text}" if text.startswith((".", "'")) else text
