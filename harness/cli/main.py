"""The command line's entry: the commands, and what each way to end means as an exit code. Only here argv is read."""

import gc
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from cyclopts import App, CycloptsError, MissingArgumentError, UnusedCliTokensError
from msgspec import Struct
from rich.text import Text

from referee.games import registry
from referee.harness.cli.exit_codes import BY_SIGNAL, FAILED, NO_ROOM, NOT_ISOLATED, PLAYED, USAGE, SoFar
from referee.harness.cli.help import commands, summary
from referee.harness.cli.match import match
from referee.harness.cli.options import UnknownOption
from referee.harness.cli.reports.text import printable
from referee.harness.cli.screen import err, out, paged, print_json
from referee.harness.cli.signals import Ended, obeyed
from referee.harness.cli.standard_streams import discard, flush, prepare
from referee.harness.errors import NoRoom, NotIsolated, RunError, UsageError
from referee.harness.isolation.self_protection import TOO_MANY, hide_option, no_room
from referee.harness.match.rule_options import option_names


class Failure(Struct, frozen=True):
    """What `--json` prints where a run has failed."""

    error: str
    exit_code: int
    reached: Any = None
    """What was reached, in the command's own form: of several matches those that were played, of a check or a gate
    the report of which a file could not be written."""


app = App(
    name="referee",
    version=metadata.version("referee"),
    help="A match between any two programs: fair, fast and on the record.",
    help_on_error=False,
    result_action="return_value",
    console=out,
    suppress_keyboard_interrupt=False,
)
app.default(match)


def explain(*command: str) -> int:
    """Explains every option, of a match or of a command.

    Parameters
    ----------
    command
        The command, such as `replay show`.
    """
    known = app
    for word in command:
        if word.startswith("-") or word not in known:
            near = get_close_matches(word, list(commands(known)), 1)
            raise UsageError(f"there is no command {word}; " + (f"did you mean {near[0]}?" if near else _listed(known)))
        known = known[word]
    with paged():
        app.help_print(list(command))
    return PLAYED


def _listed(known: App) -> str:
    return f"there are {', '.join(commands(known))}" if commands(known) else "that has none"


app.command(explain, name="help")
replay_app = App(name="replay", help="Verify and read the records of matches.")
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
    (app, "rules", "rules:print_rules"),
    (app, "serve", "serve:serve"),
    (app, "tournament", "tournament:tournament_app"),
    (app, "user", "serve:user"),
    (app, "view", "view:view"),
    (replay_app, "export", "replay:replay_export"),
    (replay_app, "html", "replay:replay_html"),
    (replay_app, "show", "replay:replay_show"),
    (replay_app, "verify", "replay:replay_verify"),
):
    parent.command(f"referee.harness.cli.{function}", name=name)  # loaded when it is asked for: each start is quicker


@app.command
def completion(shell: Literal["bash", "zsh", "fish"]) -> int:
    """Prints the completion of commands and options for a shell.

    Parameters
    ----------
    shell
        Such as in `referee completion bash > ~/.local/share/bash-completion/completions/referee`.
    """
    out.print(app.generate_completion(shell=shell), markup=False, end="")
    return PLAYED


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit code. An empty one shows what there is."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        prepare()
        if argv is None:
            hide_option("--seed")  # every program of this account could read it, and foresee all luck
            gc.freeze()  # what was loaded stays: no search for garbage goes through it while a call is open
        with obeyed():
            code = _run(words)
        flush()
        return code
    except BaseException as error:
        return _ended_by(error, words)
    finally:
        if argv is None:
            gc.freeze()  # Python would look for garbage in all that there is before it ends: a fifth of a short command


def _run(words: list[str]) -> int:
    if not words or words in (["--help"], ["-h"]):
        out.print("\n".join(summary(app, min(out.width, 100))), markup=False)
        return PLAYED if words else USAGE
    code = app(words, exit_on_error=False, print_error=False)
    return PLAYED if code is None else int(code)


def _ended_by(error: BaseException, words: Sequence[str]) -> int:
    """Tells what has ended the run, and returns the exit code; a bug of ours goes on with its trace."""
    so_far = _inside(error, SoFar)
    reached = so_far.reached if isinstance(so_far, SoFar) else None
    cause = so_far.cause if isinstance(so_far, SoFar) else error
    if _inside(cause, BrokenPipeError):
        discard()  # the reader of our output has closed it, as `head` does
        return PLAYED
    found = _message(cause, words)
    if found is None:
        raise cause
    message, code = found
    with suppress(BrokenPipeError, RunError):
        if "--json" in words:
            print_json(Failure(message, code, reached))
        elif isinstance(so_far, SoFar):
            out.print(so_far.shown)
    return _tell(message, code)


def _message(error: BaseException, words: Sequence[str]) -> tuple[str, int] | None:
    """What to say of an error that is no bug of ours, and the exit code."""
    if isinstance(error, CycloptsError):
        return _slip(error, words) or " ".join(str(error).split()), USAGE
    if isinstance(error, UnknownOption):
        return _unknown(error, words), USAGE
    if wrong := _inside(error, UsageError):
        return str(wrong) + _suggestion(words), USAGE
    if lacking := _inside(error, NotIsolated):
        return str(lacking), NOT_ISOLATED
    if cramped := _inside(error, NoRoom):
        return str(cramped), NO_ROOM
    if (failed := _inside(error, OSError)) and isinstance(failed, OSError) and failed.errno in TOO_MANY:
        return str(no_room()), NO_ROOM
    if isinstance(ended := _inside(error, Ended), Ended):
        return str(ended), BY_SIGNAL + ended.number
    if _inside(error, KeyboardInterrupt):
        return "interrupted", BY_SIGNAL + signal.SIGINT
    if failed := _inside(error, RunError):
        return str(failed) + _elsewhere(str(failed), words), FAILED
    return None


def _suggestion(words: Sequence[str]) -> str:
    """The command that a first word is a slip for: no bot is there under that name."""
    commands = [name for name in app if not name.startswith("-")]
    near = (
        get_close_matches(words[0], commands, 1)
        if words and words[0][:1] not in ("", "-") and words[0] not in commands
        else []
    )
    return f"; did you mean `referee {near[0]}`?" if near and not Path(words[0]).exists() else ""


def _elsewhere(message: str, words: Sequence[str]) -> str:
    """What to do about a record that cannot be written."""
    if not (message.startswith("the replay ") and " cannot be written: " in message):
        return ""
    command = words[0] if words else ""
    place = "FOLDER" if command in ("judge", "serve") else "FILE"
    always = command in ("judge", "fork")  # these commands exist for their records
    return f"; --replay {place} puts it elsewhere" + ("" if always else ", --no-replay keeps none")


def _slip(error: CycloptsError, words: Sequence[str]) -> str | None:
    """A word too many; one that is missing; or an option that nobody knows and that ends the line, which was taken for
    one of the rules' without its value."""
    if isinstance(error, UnusedCliTokensError):
        return f"{' '.join(error.unused_tokens or ())}: more than this command takes; --help says what it does"
    if not isinstance(error, MissingArgumentError) or error.argument is None:
        return None
    if error.keyword is None:
        name = error.argument.name
        needed = name if error.argument.index is None else name.removeprefix("--").upper()
        return f"{' '.join(error.command_chain or ('referee',))}: needs {needed}; --help says what that is"
    known = {option for name in registry.names() for option in option_names(registry.game(name))}
    if not error.argument.name.endswith("[KEYWORD]") or error.keyword.lstrip("-").replace("-", "_") in known:
        return None
    return _unknown(UnknownOption(error.keyword, sorted(known), "`referee games` lists those of the rules"), words)


def _unknown(error: UnknownOption, words: Sequence[str]) -> str:
    """That the command has no such option, and which it may have been meant for: its own, or one of the rules."""
    command = app
    for word in words:
        if word.startswith("-") or word not in command:
            break
        command = command[word]
    flags = {flag for argument in command.assemble_argument_collection() for flag in argument.names}
    known = [*sorted(flags), *(f"--{option}" for option in error.rules)]
    near = [option for option in get_close_matches(error.option, known, 2) if option != error.option][:1]
    return f"there is no option {error.option}; " + (f"did you mean {near[0]}?" if near else error.otherwise)


def _inside(error: BaseException, kind: type[BaseException]) -> BaseException | None:
    """The first exception of that kind, in however many groups it is wrapped."""
    if isinstance(error, BaseExceptionGroup):
        return next(filter(None, (_inside(inner, kind) for inner in error.exceptions)), None)
    return error if isinstance(error, kind) else None


def _tell(message: str, code: int) -> int:
    first, *rest = message.split("\n")
    err.print(Text.assemble(("referee: ", "bold red"), printable(first)))
    for line in rest:
        err.print(Text("  " + printable(line)))
    return code


if __name__ == "__main__":
    sys.exit(main())
