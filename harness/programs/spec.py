"""Turns a bot spec, which is what the user types, into a program that can be started.

A bot spec is one of:

- `PATH`: an executable, a folder with `bot.toml`, a zip file of one, or a source file
- `@NAME`: a built-in opponent
- `cmd:COMMAND LINE`
- `human` and `script:FILE`: a person or a prepared list of answers, in single matches only
- what a kind of player of an add-on takes: a prefix of its own, or a path that it recognises

`NAME=` before any of these names the bot.
"""

import os
import shlex
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from referee.harness.common.errors import UsageError
from referee.harness.process.limits import DEFAULT_LIMITS, Limits
from referee.harness.programs.build_process import BuildContext, Progress
from referee.harness.programs.entrant import Entrant, Parsed, check_utf8, with_unique_names
from referee.harness.programs.kinds import kind_of, split_name


def entrants(
    specs: Iterable[str],
    game: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
    people: bool = False,
    progress: Progress | None = None,
    on_output: Callable[[bytes], None] | None = None,
) -> tuple[Entrant, ...]:
    """Returns the programs for bot specs, built and with unique names.

    UsageError for a wrong spec, before anything is built. RunError for a failed build.

    `game`: what they play; without it, kinds that play one game only recognise no path. `limits`: those of the builds.
    `people`: allow `human` and `script:`, as in single matches, where a bot's `bundle` may lead to the current folder.
    `progress`: receives the progress of builds. `on_output`: receives what they print.
    """
    parsed = [_parse(spec, game, people) for spec in specs]
    context = BuildContext(limits, progress, on_output=on_output, is_users=people)
    made = tuple(with_unique_names([_built(each, context) for each in parsed]))
    for bot in made:
        check_utf8(*bot.argv, str(bot.cwd))
    return made


def entrant(
    spec: str,
    game: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
    on_output: Callable[[bytes], None] | None = None,
) -> Entrant:
    """Returns the program for one bot spec; see `entrants`."""
    return entrants([spec], game, limits, progress=progress, on_output=on_output)[0]


def name_of(spec: str, game: str | None = None) -> str:
    """Returns a bot's name, the same wherever it plays. UsageError for a wrong spec."""
    return _parse(spec, game, people=False)[0]


def _built(parsed: Parsed, context: BuildContext) -> Entrant:
    name, build = parsed
    return msgspec.structs.replace(build(msgspec.structs.replace(context, name=name)), name=name)


def _parse(spec: str, game: str | None, people: bool) -> Parsed:
    if "\0" in spec:
        raise UsageError(f"{spec!r}: there is a NUL, which no command and no path can hold")
    name, rest = split_name(spec)
    if not people:
        refuse_people(rest)
    usual, build = kind_of(rest).parse(rest, game)
    return name or usual, build


# Command lines.


def refuse_people(spec: str) -> None:
    """UsageError for a player that takes part in single matches only, such as a person, a script or a web service."""
    kind = kind_of(spec)
    if not kind.in_series:
        raise UsageError(f"{spec}: {kind.plural} play single matches only, by `referee --game`; name a program here")


def command(spec: str) -> Parsed:
    try:
        argv = shlex.split(spec.removeprefix("cmd:"))
    except ValueError as error:
        raise UsageError(f"{spec}: {error}") from error
    if not argv:
        raise UsageError("cmd: needs a command line, as in cmd:'python3 mybot.py'")
    program = shutil.which(argv[0])
    if program is None:
        raise UsageError(f"{spec}: there is no program {argv[0]!r}; check the path, or put it on PATH")
    return command_line(program, argv[1:])


def command_line(program: str, arguments: Sequence[str]) -> Parsed:
    name = next((Path(word).stem for word in arguments if os.path.exists(word)), Path(program).stem)
    return name, lambda context: Entrant(name, (os.path.abspath(program), *arguments), Path.cwd())
