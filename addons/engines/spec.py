"""Engines of other protocols: how the user names them.

`uci:[--nodes N] [--depth N] [--movetime MS] [--option NAME=VALUE] [--overhead MS] [--debug] ENGINE`, and the same for
`ugi:`, `gtp:` and `cecp:`, each with the options that it can express. ENGINE is a path or a command line. An ordinary
program runs it, `addons/engines/run.py`.
"""

import os
import re
import shlex
import sys
from pathlib import Path

import msgspec
from msgspec import Struct

from referee.addons.engines.command import RUNNER
from referee.addons.engines.options import BOUNDS, COMMAND, DEBUG, OPTION, PROTOCOLS, VALUED
from referee.harness.common.errors import RunError, UsageError
from referee.harness.languages import packages, toolchains
from referee.harness.programs import adapter_options, files
from referee.harness.programs.build_process import BuildContext
from referee.harness.programs.entrant import Entrant, Parsed
from referee.harness.programs.kinds import PATH
from referee.harness.programs.spec import command_line as parse_command_line

PREFIXES = tuple(f"{protocol}:" for protocol in PROTOCOLS)
GAMES = "openspiel:"
"""The names of games that engines play begin with this."""
ONLY = {"uci": f"{GAMES}chess", "cecp": f"{GAMES}chess", "gtp": f"{GAMES}go"}
"""The game of a protocol that knows one game only."""

EXAMPLES = {
    "uci": "uci:stockfish",
    "ugi": "ugi:./engine",
    "gtp": "gtp:'gnugo --mode gtp'",
    "cecp": "cecp:fairymax",
}


class NamedEngine(Struct, frozen=True):
    """An engine that the user named."""

    runner: tuple[str, ...]
    """The command of the program that runs it. The engine's own command follows."""
    command: str
    """The engine's path or command line, as typed."""


def read(spec: str, game: str | None) -> NamedEngine:
    """Parses a bot spec. UsageError if anything is wrong with it, or with the game."""
    protocol, _, text = spec.partition(":")
    if game is not None and not game.startswith(GAMES):
        raise UsageError(f"{spec}: engines play OpenSpiel's games, such as {GAMES}chess, not {game}")
    only = ONLY.get(protocol)
    if game is not None and only is not None and game != only:
        other = "" if protocol == "gtp" else "; for other games there is ugi:"
        raise UsageError(f"{spec}: {protocol}: plays {only}, not {game}{other}")
    known = PROTOCOLS[protocol]
    pairs, command = adapter_options.split_all(text, {name: VALUED[name] for name in known}, spec)
    if command.startswith("-"):
        raise UsageError(f"{spec}: {protocol}: has no option {command.split()[0]}; it has {', '.join(known)}")
    if not command:
        raise UsageError(f"{spec}: expected an engine, as in {EXAMPLES[protocol]}")
    words: list[str] = []
    for name, value in pairs:
        if name not in (OPTION, DEBUG) and not re.fullmatch("[0-9]{1,18}", value):
            raise UsageError(f"{spec}: {name} {value}: expected a whole number")
        if name in BOUNDS and int(value) == 0:
            raise UsageError(f"{spec}: {name} {value}: expected 1 or more")
        words += [name] if name == DEBUG else [name, value]
    return NamedEngine((sys.executable, "-P", str(RUNNER), protocol, *words, COMMAND), command)


def path_of(seat: NamedEngine) -> Path | None:
    """Returns the engine's file or folder; None for a command line, and for a program on PATH that is only named."""
    path = adapter_options.existing(Path(), seat.command)
    is_named = "/" not in seat.command and toolchains.find(seat.command) is not None
    return None if is_named else path


def paths(spec: str, game: str | None) -> list[Path]:
    """Returns the files and folders that a bot spec names."""
    return adapter_options.named_paths(spec, path_of(read(spec, game)))


def command_line(seat: NamedEngine, spec: str) -> tuple[str, list[str]]:
    """Returns the program of an engine's command line, and its arguments.

    UsageError if there is no such program. RunError, with the command that installs it, for one that is known.
    """
    try:
        words = shlex.split(seat.command)
    except ValueError as error:
        raise UsageError(f"{spec}: {error}") from error
    program = toolchains.find(os.path.expanduser(words[0]))
    if program is not None:
        return program, words[1:]
    if advice := packages.how_to_install(words[:1]):
        raise RunError(f"{spec} needs {words[0]}, which is not on this machine{advice}")
    raise UsageError(f"{spec}: there is no program {words[0]!r}; check the path, or put it on PATH")


def parse(spec: str, game: str | None) -> Parsed:
    """Finds an engine as any bot, or on PATH. Its command becomes that of the program that runs it."""
    seat = read(spec, game)
    path = path_of(seat)
    name, build = parse_command_line(*command_line(seat, spec)) if path is None else files.parse(str(path), None)

    def built(context: BuildContext) -> Entrant:
        engine = build(context)
        if engine.kind != PATH.name:
            raise UsageError(f"{spec}: an engine is a program of this machine, not a module of WebAssembly")
        named = None if engine.named is None else (*seat.runner, *engine.named)
        return msgspec.structs.replace(engine, argv=(*seat.runner, *engine.argv), named=named)

    return name, built
