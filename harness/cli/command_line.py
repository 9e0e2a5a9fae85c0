"""The entry of the command line: its commands, and the exit code and message of each error."""

import errno
import gc
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from cyclopts import (
    App,
    CycloptsError,
    MissingArgumentError,
    Parameter,
    UnusedCliTokensError,
    ValidationError,
)
from cyclopts.exceptions import ArgumentOrderError, UnknownOptionError
from msgspec import Struct
from rich.text import Text

from referee.games import registry
from referee.harness.cli.exit_codes import (
    BY_SIGNAL,
    FAILED,
    INTERRUPTED,
    NO_ROOM,
    NOT_ISOLATED,
    NOT_TESTED,
    PLAYED,
    USAGE,
    SoFar,
)
from referee.harness.cli.help import commands, explained, overview, topic
from referee.harness.cli.limit_options import NAMES
from referee.harness.cli.match import match
from referee.harness.cli.nested import add_commands
from referee.harness.cli.reports.text import printable, short
from referee.harness.cli.screen import err, out, paged, print_json
from referee.harness.cli.signals import Ended, obeyed
from referee.harness.cli.standard_streams import discard, finish_stderr, prepare, writing
from referee.harness.common.errors import NoRoom, NotIsolated, NotTested, RunError, UsageError, first_of, reason
from referee.harness.common.installed import version
from referee.harness.common.paths import expanded
from referee.harness.isolation.self_protection import (
    TOO_MANY,
    hide_option,
    is_file_size_too_small,
    no_file_size,
    no_room,
    reset_inherited_state,
)
from referee.harness.isolation.visible_paths import is_inside
from referee.harness.match.rule_options import option_names
from referee.harness.programs.entrant import check_utf8

MOST_OF_A_PATH = 200
DEEPEST = 2
"""The most words of a command's name, as of `replay show`."""


class Failure(Struct, frozen=True):
    """What `--json` prints if a command fails."""

    error: str
    exit_code: int
    reached: Any = None
    """The result so far: the matches played, or the report that could not be written."""


app = App(
    name="referee",
    version=version,
    help="A match between any two programs: fair, fast and on the record.",
    help_on_error=False,
    result_action="return_value",
    console=out,
    suppress_keyboard_interrupt=False,
    default_parameter=Parameter(negative=()),
)
app.default(match)
app.command(match, name="play")


@app.command(name="help", show=False)
def explain(*command: str, all: bool = False) -> int:
    """Explains a command, like its --help.

    Args:
        command: The command, such as `replay show`.
        all: Also explain rarely used options, and the names of --limit and --build.
    """
    width = min(out.width, 100)
    with paged():
        out.print(explained(topic(app, command), width, all) if command else overview(app, width, all))
    return PLAYED


HERE = "referee.harness.cli"
OWN = (
    ("build", "build:build"),
    ("check", "check:check_bot"),
    ("doctor", "doctor:doctor"),
    ("fork", "fork:fork"),
    ("games", "games:games_app"),
    ("new", "new:new_bot"),
    ("repro", "repro:repro"),
    ("rules", "games:print_rules"),
)
for name, function in OWN:
    app.command(f"{HERE}.{function}", name=name)  # loaded on use, so that every start is quick
add_commands(app)
replay_app = App(name="replay", help="Verifies and shows replays.")
app.command(replay_app)
for name in ("export", "show", "verify"):
    replay_app.command(f"{HERE}.replay:replay_{name}", name=name)
add_commands(replay_app, "replay")
serve_app = App(name="serve", help="Plays with clients, engines and assistants of others.")
add_commands(serve_app, "serve")
if commands(serve_app):
    app.command(serve_app)


@app.command
def completion(shell: Literal["bash", "zsh", "fish"]) -> int:
    """Prints a completion script for a shell.

    Args:
        shell: For example, `referee completion bash > ~/.local/share/bash-completion/completions/referee`.
    """
    out.print(app.generate_completion(shell=shell), end="")
    return PLAYED


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command line and returns its exit code. An empty one prints an overview."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        prepare()
        if argv is None:
            reset_inherited_state()
            hide_option("--seed")  # other programs of this account could read it and foresee all luck
            gc.freeze()  # garbage collections skip what is loaded, also while a call is open
        with obeyed():
            code = _run(words)
        with writing():
            sys.stdout.flush()
        return code
    except BaseException as error:
        return _ended_by(error, words)
    finally:
        if argv is None:
            finish_stderr()
            gc.freeze()  # saves a fifth of a short command: Python would collect garbage at exit


def _run(words: list[str]) -> int:
    if not words:
        explain()
        return USAGE
    asked = [word for word in words if word in ("--help", "-h")]
    if asked:
        names = _commands(words)
        if not names and len(words) > len(asked) + words.count("--all"):  # a match without the verb
            names = ("play",)
        return explain(*names, all="--all" in words)
    if names := _group(words):
        explain(*names)
        return USAGE
    check_utf8(*words, _folder())
    code = app(words, exit_on_error=False, print_error=False)
    return PLAYED if code is None else int(code)


def _folder() -> str:
    """Returns the current folder; empty if it was removed."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def _group(words: Sequence[str]) -> tuple[str, ...]:
    """Returns the names of the command that is the whole line, if it does nothing without one of its own commands."""
    names = _commands(words) if len(words) <= DEEPEST else ()
    command = app
    for name in names:
        command = command[name]
    return names if len(names) == len(words) and commands(command) and command.default_command is None else ()


def _commands(words: Sequence[str]) -> tuple[str, ...]:
    """Returns the names of the command that a line starts with, such as `replay` and `show`."""
    return tuple(name for name in app.parse_commands(words)[0] if not name.startswith("-"))


def _ended_by(error: BaseException, words: Sequence[str]) -> int:
    """Prints why a command failed, and returns the exit code. A bug of ours is raised with its trace."""
    so_far = first_of(error, SoFar)
    cause = so_far.cause if so_far else error
    if first_of(cause, BrokenPipeError):
        discard(sys.stdout)  # as `head` closes the pipe
        return PLAYED
    failure = _message(cause, words)
    if failure is None:
        raise cause
    message, code = failure
    with suppress(BrokenPipeError, RunError):
        if "--json" in words:
            print_json(Failure(message, code, so_far and so_far.reached))
        elif so_far:
            out.print(so_far.shown)
    first, *rest = map(printable, message.split("\n"))
    err.print(Text.assemble(("referee: ", "bold red"), first))
    for line in rest:
        err.print(f"  {line}")
    return code


def _message(error: BaseException, words: Sequence[str]) -> tuple[str, int] | None:
    """Returns message and exit code of an error; None if it is a bug of ours."""
    if isinstance(error, CycloptsError):
        return _other_command(words) or _wrong_words(error), USAGE
    if first_of(error, FileNotFoundError) and not _folder():
        return "the current folder was removed; change to another one, and repeat the command", USAGE
    if wrong := first_of(error, UsageError):
        return _other_command(words) or str(wrong), USAGE
    if (failed := first_of(error, OSError)) and failed.errno in TOO_MANY:
        return str(no_room()), NO_ROOM
    if failed and (failed.errno == errno.EFBIG or is_file_size_too_small()):
        return str(no_file_size()), NO_ROOM
    if ended := first_of(error, Ended):
        return str(ended), BY_SIGNAL + ended.number
    if first_of(error, KeyboardInterrupt):
        return "interrupted", INTERRUPTED
    kinds = ((NotIsolated, NOT_ISOLATED), (NoRoom, NO_ROOM), (NotTested, NOT_TESTED), (RunError, FAILED))
    for kind, code in kinds:
        if failure := first_of(error, kind):
            return str(failure) + _other_place(str(failure), words), code
    if failed and (path := _typed_path(failed.filename, words)):
        return f"{short([path], MOST_OF_A_PATH)[0]}: {reason(failed)}", USAGE
    return None


def _typed_path(name: object, words: Sequence[str]) -> str:
    """Returns the path of an error if the user named it, or a place in or above it; otherwise empty."""
    if not isinstance(name, str | Path) or not os.fspath(name):
        return ""
    path = os.path.abspath(name)
    parts = [part for word in words for part in (word, word.partition("=")[2]) if part]
    typed = [os.path.abspath(expanded(part)) for part in parts]
    return str(name) if any(is_inside(path, [each]) or is_inside(each, [path]) for each in typed) else ""


def _other_command(words: Sequence[str]) -> str | None:
    """Returns the message for a misspelt command where a bot or a folder may stand: of `referee` and `referee host`."""
    names = _commands(words)
    command = app
    for name in names:
        command = command[name]
    inner, word = commands(command), next(iter(words[len(names) :]), "-")
    if not inner or command.default_command is None or word.startswith("-") or os.path.exists(word):
        return None
    near = get_close_matches(word, inner, 1, 0.8 if names else 0.6)
    if near and not (names and words[len(names) + 1 :]):  # `referee host` takes the name of a new folder
        return f"there is no command {word!r}; did you mean `{' '.join(['referee', *names, near[0]])}`?"
    if names or "--game" in words or word in registry.names() or not re.fullmatch(r"[a-z-]+", word):
        return None  # a bot or a folder, about which the error says more
    return f"there is no command {word!r}; `referee --help` lists the commands"


def _other_place(message: str, words: Sequence[str]) -> str:
    """Returns advice about a replay that cannot be written."""
    if not (message.startswith("the replay ") and " cannot be written: " in message):
        return ""
    place = "FOLDER" if words[0] in ("judge", "serve") else "FILE"
    otherwise = "" if words[0] in ("judge", "fork") else ", or keep none with --replay none"
    return f"; choose another place with --replay {place}{otherwise}"


def _wrong_words(error: CycloptsError) -> str:
    """Returns the message for a wrong command line: the library's, unless we know a better one."""
    see = f"see `{' '.join(['referee', *(word for word in error.command_chain or () if word != 'referee')])} --help`"
    if isinstance(error, UnusedCliTokensError):
        return f"{' '.join(error.unused_tokens or ())}: unexpected argument; {see}"
    if isinstance(error, ArgumentOrderError) and error.argument is not None:
        first = error.prior_positional_or_keyword_supplied_as_keyword_arguments[0].name
        order = f"{first.removeprefix('--').upper()} {error.argument.name.removeprefix('--').upper()}"
        return f"{error.token}: unexpected argument after {first}; give both as {order}, without {first}; {see}"
    if isinstance(error, ValidationError) and error.group is not None:
        return error.exception_message
    if isinstance(error, MissingArgumentError) and error.argument is not None and error.keyword is None:
        name = error.argument.name
        return f"{name if error.argument.index is None else name.removeprefix('--').upper()} is missing; {see}"
    taker = _taker(error) if isinstance(error, UnknownOptionError) else None
    return taker or " ".join(str(error).split())


def _taker(error: UnknownOptionError) -> str | None:
    """Returns the message for an unknown option whose name another option takes as a value."""
    typed = (error.token.keyword or error.token.value).partition("=")[0]
    name = typed.lstrip("-").replace("-", "_")
    flags = {flag for argument in error.argument_collection for flag in argument.positives}
    rules = {option for game in registry.loaded() for option in option_names(game)}
    takers = {"--set": rules} | {flag: {each.name for each in limits} for flag, limits in NAMES.items()}
    takers["--build"] |= {f"build_{limit}" for limit in takers["--build"]}
    for flag, names in takers.items():
        if flag in flags and name in names:
            return f"there is no option {typed}; use {flag} {name.removeprefix('build_')}=VALUE"
    return None
