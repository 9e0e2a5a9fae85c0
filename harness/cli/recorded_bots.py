"""The programs that a replay names. The author of the replay chose them, so none starts before the user agrees."""

import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter

from referee.games.contract import Player
from referee.harness.cli.limit_options import isolation
from referee.harness.cli.reports.text import printable
from referee.harness.cli.screen import building, err
from referee.harness.common.errors import UsageError
from referee.harness.isolation.plan import Isolation
from referee.harness.process.limits import Limits, accepted_limits
from referee.harness.programs import build_cache
from referee.harness.programs.build_process import BuildContext
from referee.harness.programs.built_in import built_in_entrant
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.kinds import kind_in_replay, kind_that_made, suffixes
from referee.harness.programs.source_file import SOURCES
from referee.harness.replay.reader import Replay
from referee.harness.seats.kinds import FUNCTION, PERSON

FILES = frozenset({*SOURCES, *suffixes(), ".jar", ".pyz"})
"""Suffixes of programs in a command line. Any other relative word may be an argument."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class RecordedOptions:
    """What may start, how it is isolated and which limits it may have. Nothing of this is taken from a replay."""

    recorded: bool = False
    """Start the programs that the replay names without asking. The author of the replay chose them."""
    isolation: str | None = None
    """How bots are isolated, as for a match: off, auto, required, required:NAME,NAME. Default: auto."""
    readable: Annotated[tuple[Path, ...], Parameter(consume_multiple=False)] = ()
    """PATH: another file or folder that bots may read. May be repeated."""
    recorded_limits: bool = False
    """Accept limits of the replay that are wider than four times the defaults, such as those of memory."""

    def isolated(self, default: str = "auto") -> Isolation:
        """Returns the isolation. UsageError for a path that does not exist; NotIsolated if a layer is missing."""
        for path in self.readable:
            if not path.exists():
                raise UsageError(f"--readable {path}: there is no such file or folder")
        return isolation(self.isolation or default, self.readable)

    def limits(self, replay: Replay) -> Limits:
        """Returns the limits of a replay. UsageError if they are invalid, or wider than the user accepts."""
        return accepted_limits(replay.header.limits, self.recorded_limits)


def recorded_entrant(replay: Replay, player: Player, command: tuple[str, ...], folder: str, option: str) -> Entrant:
    """Returns the program that a replay names, without starting it; a module is compiled again if its build is gone.

    UsageError if there is none, or if it is gone; `option` names another.
    """
    name = replay.header.setup.names[player]
    seat = f"seat {player} ({printable(name)})"
    if (built_in := built_in_entrant(command, replay.game.name)) is not None:
        return msgspec.structs.replace(built_in, name=name)
    if who := _nobody(replay, player, command):
        raise UsageError(f"{who} played at {seat}; name a bot with {option}")
    if (kind := kind_that_made(command, folder)) is not None:
        program = kind.recorded(replay, player, command, folder, BuildContext(Limits(), building))
    else:
        program = None if _is_gone(command, folder) else Entrant(name, command, Path(folder))
    if program is None:
        raise UsageError(f"{seat} cannot be started: its program is gone; name another with {option}")
    return program


def _nobody(replay: Replay, player: Player, command: tuple[str, ...]) -> str:
    """Returns what played there, if that was no program of this machine; else an empty text."""
    if player in replay.header.people:
        return f"a {PERSON.name}"
    if player in replay.header.functions:
        return f"a {FUNCTION.name}"
    kind = kind_in_replay(command)
    return "" if kind is None else f"a {kind.name}"


def _is_gone(command: tuple[str, ...], folder: str) -> bool:
    """Returns whether the program, its folder, or a file of its command line is missing."""
    if not command or not folder or not os.path.isdir(folder):
        return True
    words = [part for word in command[1:] if not word.startswith("-") for part in _paths(word)]
    builds = build_cache.builds_named_in((*command, folder))
    return not all(os.path.exists(os.path.join(folder, path)) for path in (command[0], *words, *builds))


def _paths(word: str) -> list[str]:
    """Returns the paths in an argument: itself, or the parts of a class path."""
    if word.startswith("/"):
        return word.split(":")
    return [word] if Path(word).suffix in FILES else []


def is_foreign(program: Entrant, game: str) -> bool:
    """Returns whether a program is more than a built-in opponent."""
    return built_in_entrant(program.argv, game) is None


def agree(path: Path, game: str, programs: Mapping[Player, Entrant], options: RecordedOptions, instead: str) -> None:
    """Asks the user at the terminal whether these programs of a replay may start. Built-in opponents always may.

    UsageError if not, or if there is no terminal to ask at. `instead`: the command that names the bots.
    """
    foreign = {player: each for player, each in programs.items() if is_foreign(each, game)}
    if options.recorded or not foreign:
        return
    named = [f"seat {player} ({printable(each.name)}): {_words(each)}" for player, each in foreign.items()]
    if not (sys.stdin.isatty() and err.is_terminal):
        advice = f"name the bots, as in `{instead}`, or start what the replay names with --recorded"
        raise UsageError("\n".join([f"{path} names programs, which do not start by themselves; {advice}", *named]))
    err.print(f"{printable(str(path))} names programs, which its author chose:")
    for line in named:
        err.print(f"  {line}")
    err.print("start them? [y/N] ", style="bold", end="")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError(f"nothing was started; name the bots, as in `{instead}`")


def _words(program: Entrant) -> str:
    return f"{printable(shlex.join(program.argv))} in {printable(str(program.cwd))}"
