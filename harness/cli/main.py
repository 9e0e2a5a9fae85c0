"""The entry of the command line: its commands, and the exit code and message of each error."""

import gc
import sys
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib import metadata
from pathlib import Path
from typing import Any, Literal, TypeVar

from cyclopts import App, CycloptsError, MissingArgumentError, Parameter, UnusedCliTokensError
from msgspec import Struct
from rich.text import Text

from referee.games import registry
from referee.harness.cli.exit_codes import BY_SIGNAL, FAILED, INTERRUPTED, NO_ROOM, NOT_ISOLATED, PLAYED, USAGE, SoFar
from referee.harness.cli.help import explained, summary, topic
from referee.harness.cli.match import match
from referee.harness.cli.options import UnknownOption
from referee.harness.cli.reports.text import printable
from referee.harness.cli.screen import err, out, paged, print_json
from referee.harness.cli.signals import Ended, obeyed
from referee.harness.cli.standard_streams import discard, prepare, writing
from referee.harness.errors import NoRoom, NotIsolated, RunError, UsageError
from referee.harness.isolation.self_protection import TOO_MANY, hide_option, no_room
from referee.harness.match.rule_options import option_names

E = TypeVar("E", bound=BaseException)


class Failure(Struct, frozen=True):
    """What `--json` prints if a command fails."""

    error: str
    exit_code: int
    reached: Any = None
    """The result so far: the matches played, or the report that could not be written."""


app = App(
    name="referee",
    version=metadata.version("referee"),
    help="A match between any two programs: fair, fast and on the record.",
    help_on_error=False,
    result_action="return_value",
    console=out,
    suppress_keyboard_interrupt=False,
    default_parameter=Parameter(negative=()),
)
app.default(match)


@app.command(name="help")
def explain(*command: str) -> int:
    """Explains every option of a match or a command.

    Args:
        command: The command, such as `replay show`.
    """
    with paged():
        out.print(explained(topic(app, command), min(out.width, 100)))
    return PLAYED


replay_app = App(name="replay", help="Verifies and shows replays.")
app.command(replay_app)
for parent, name, function in (
    (app, "check", "check:check_bot"),
    (app, "doctor", "doctor:doctor"),
    (app, "fork", "fork:fork"),
    (app, "games", "games:games"),
    (app, "gate", "gate:gate"),
    (app, "judge", "judge:judge_bot"),
    (app, "new", "new:new_bot"),
    (app, "repro", "repro:repro"),
    (app, "rules", "games:print_rules"),
    (app, "serve", "serve:serve"),
    (app, "tournament", "tournament:tournament_app"),
    (app, "user", "serve:user"),
    (app, "view", "view:view"),
    (replay_app, "export", "replay:replay_export"),
    (replay_app, "html", "replay:replay_html"),
    (replay_app, "show", "replay:replay_show"),
    (replay_app, "verify", "replay:replay_verify"),
):
    parent.command(f"referee.harness.cli.{function}", name=name)  # loaded on use, so that every start is quick


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
            gc.freeze()  # saves a fifth of a short command: Python would collect garbage at exit


def _run(words: list[str]) -> int:
    if not words or words in (["--help"], ["-h"]):
        out.print(summary(app, min(out.width, 100)))
        return PLAYED if words else USAGE
    if "--help" in words or "-h" in words:
        return explain(*(name for name in app.parse_commands(words)[0] if not name.startswith("-")))
    code = app(words, exit_on_error=False, print_error=False)
    return PLAYED if code is None else int(code)


def _ended_by(error: BaseException, words: Sequence[str]) -> int:
    """Prints why a command failed, and returns the exit code. A bug of ours is raised with its trace."""
    so_far = _inside(error, SoFar)
    cause = so_far.cause if so_far else error
    if _inside(cause, BrokenPipeError):
        discard()  # as `head` closes the pipe
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
        return _wrong_words(error, words) or " ".join(str(error).split()), USAGE
    if isinstance(error, UnknownOption):
        return _unknown(error, words), USAGE
    if wrong := _inside(error, UsageError):
        return str(wrong) + _suggestion(words), USAGE
    if (failed := _inside(error, OSError)) and failed.errno in TOO_MANY:
        return str(no_room()), NO_ROOM
    if ended := _inside(error, Ended):
        return str(ended), BY_SIGNAL + ended.number
    if _inside(error, KeyboardInterrupt):
        return "interrupted", INTERRUPTED
    for kind, code in ((NotIsolated, NOT_ISOLATED), (NoRoom, NO_ROOM), (RunError, FAILED)):
        if failure := _inside(error, kind):
            return str(failure) + _other_place(str(failure), words), code
    return None


def _suggestion(words: Sequence[str]) -> str:
    """Suggests a command if the first word looks like one and is not a file."""
    word = words[0] if words else ""
    near = [] if word.startswith("-") or word in app or Path(word).exists() else get_close_matches(word, list(app), 1)
    return f"; did you mean `referee {near[0]}`?" if near else ""


def _other_place(message: str, words: Sequence[str]) -> str:
    """Returns advice about a replay that cannot be written."""
    if not (message.startswith("the replay ") and " cannot be written: " in message):
        return ""
    place = "FOLDER" if words[0] in ("judge", "serve") else "FILE"
    otherwise = "" if words[0] in ("judge", "fork") else " or use --no-replay"
    return f"; choose another place with --replay {place}{otherwise}"


def _wrong_words(error: CycloptsError, words: Sequence[str]) -> str | None:
    """Returns the message for an unexpected word, a missing one, or an unknown option at the end of the line.

    cyclopts takes the last for an option of the rules without its value.
    """
    if isinstance(error, UnusedCliTokensError):
        unexpected = " ".join(error.unused_tokens or ())
        return f"{unexpected}: unexpected argument; see `{_name(error)} --help`"
    if not isinstance(error, MissingArgumentError) or error.argument is None:
        return None
    if error.keyword is None:
        name = error.argument.name
        needed = name if error.argument.index is None else name.removeprefix("--").upper()
        return f"{needed} is missing; see `{_name(error)} --help`"
    all_options = {option for name in registry.names() for option in option_names(registry.game(name))}
    if not error.argument.name.endswith("[KEYWORD]") or error.keyword.lstrip("-").replace("-", "_") in all_options:
        return None
    advice = "`referee games` lists the options of the rules"
    return _unknown(UnknownOption(error.keyword, sorted(all_options), advice), words)


def _name(error: CycloptsError) -> str:
    return " ".join(["referee", *(word for word in error.command_chain or () if word != "referee")])


def _unknown(error: UnknownOption, words: Sequence[str]) -> str:
    """Returns the message for an unknown option, with a similar one of the command or of the rules."""
    *_, command = app.parse_commands(words)[1]
    flags = {flag for argument in command.assemble_argument_collection() for flag in argument.positives}
    options = [*sorted(flags), *(f"--{option}" for option in error.rules)]
    near = [option for option in get_close_matches(error.option, options, 2) if option != error.option][:1]
    return f"there is no option {error.option}; " + (f"did you mean {near[0]}?" if near else error.otherwise)


def _inside(error: BaseException, kind: type[E]) -> E | None:
    """Returns the first exception of this kind, also inside of groups."""
    if isinstance(error, BaseExceptionGroup):
        return next(filter(None, (_inside(inner, kind) for inner in error.exceptions)), None)
    return error if isinstance(error, kind) else None


if __name__ == "__main__":
    sys.exit(main())
