"""`referee replay`: verifies, shows and exports the records of matches."""

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.text import Text

from referee.harness.cli.exit_codes import AT_FAULT, PLAYED
from referee.harness.cli.options import Flag
from referee.harness.cli.reports.originals import steps as original_steps
from referee.harness.cli.reports.text import printable
from referee.harness.cli.reports.turns import Window, steps
from referee.harness.cli.screen import out, paged
from referee.harness.errors import RunError, UsageError
from referee.harness.replay.formats import exports
from referee.harness.replay.formats.imported_frames import read_record
from referee.harness.replay.formats.imports import Original
from referee.harness.replay.reader import Replay, kept_from
from referee.harness.replay.simulate import Difference, verify
from referee.harness.web.page import page


def replay_verify(file: Path) -> int:
    """Plays a recorded match again from its setup and answers: "identical", or the first line that differs.

    Of a match that was aborted it says so, and whether it is identical up to there.

    Parameters
    ----------
    file
        The replay.
    """
    replay = Replay(file)
    origin = replay.header.origin
    forked = "" if origin is None else f", forked from {printable(origin.replay)} after turn {origin.turn}"
    try:
        result = verify(replay)
    except Difference as difference:
        out.print(Text(f"{file}: {printable(str(difference))}"))
        return AT_FAULT
    if result is None:
        out.print(Text(f"{file}: {_aborted(replay)}; identical so far, {len(replay.lines)} lines"))
    else:
        out.print(Text(f"{file}: identical, {len(replay.lines)} lines, {printable(result.reason)}{forked}"))
    return PLAYED


def replay_show(
    file: Path,
    *,
    turn: int | None = None,
    first: Annotated[int | None, Parameter(name="--from")] = None,
    to: int | None = None,
    last: int | None = None,
    seat: int | None = None,
    calls: Flag = False,
    plain: Flag = False,
) -> int:
    """Steps through a recorded match, in the game's own notation: on a whole terminal, with keys (? lists them).

    Printed, through $PAGER on a terminal, with any of these options, into a pipe, or where Textual is not installed
    (the extra `referee[tui]`). So is AI Arena 21's own `replay.txt`, which holds no calls.

    Parameters
    ----------
    file
        The replay, or a `replay.txt` of AI Arena 21.
    turn
        Only this turn; 0 is the opening.
    first
        From this turn on.
    to
        Up to this turn.
    last
        Only so many turns at the end.
    seat
        Only turns in which this seat answered.
    calls
        Show every call's frame and that of its answer too, as JSON.
    plain
        Print it.
    """
    replay = read_record(file)
    if sum(given is not None for given in (turn, first if first is not None else to, last)) > 1:
        raise UsageError("--turn, --last, and --from with --to: one of the three")
    if isinstance(replay, Original):
        return _show_original(replay, turn, first, to, last, seat is not None or calls)
    if seat is not None and seat not in range(len(replay.header.setup.names)):
        raise UsageError(f"--seat {seat}: the seats are 0 to {len(replay.header.setup.names) - 1}")
    window = _window(_turns(replay), turn, first, to, last, seat, calls)
    if not plain and not calls and window == Window() and _has_screen():
        from referee.harness.cli.full_screen import show  # slow to load, and an extra

        show(replay)
        return PLAYED
    with paged():
        for step in steps(replay, window):
            out.print(step, end="\n\n")
    return PLAYED


def _window(
    turns: int,
    turn: int | None,
    first: int | None,
    to: int | None,
    last: int | None,
    seat: int | None = None,
    calls: bool = False,
) -> Window:
    """What the options of `replay show` ask for, of so many turns."""
    for option, given in (("--turn", turn), ("--from", first)):
        if given is not None and given not in range(turns + 1):
            raise UsageError(f"{option} {given}: the match has turns 0 to {turns}")
    if to is not None and to < (first or 0):
        raise UsageError(f"--to {to}: wanted is a turn from {first or 0} on")
    if last is not None:
        if last < 1:
            raise UsageError(f"--last {last}: there must be one at least")
        first = max(turns - last + 1, 0)
    return Window(turn if turn is not None else first or 0, turn if turn is not None else to, seat, calls)


def _show_original(
    original: Original, turn: int | None, first: int | None, to: int | None, last: int | None, asks_calls: bool
) -> int:
    if asks_calls:
        raise UsageError(f"--seat, --calls: there are no calls in {original.path}, a file of the original competition")
    turns = sum(original.form.standing(line) is not None for line in original.lines)
    window = _window(turns, turn, first, to, last)
    with paged():
        for step in original_steps(original, window):
            out.print(step, end="\n\n")
    return PLAYED


def replay_export(format: str, replay: Path, file: Path) -> int:
    """Writes a recorded match in another form.

    Parameters
    ----------
    format
        aiarena21-replay: AI Arena 21's own replay.txt, for its viewer.
    replay
        The replay; nothing is written unless it verifies.
    file
        Where the other form goes.
    """
    try:
        exports.export(format, Replay(replay), file)
    except Difference as difference:
        out.print(Text(f"{replay}: {printable(str(difference))}"))
        return AT_FAULT
    return PLAYED


def replay_html(replay: Path, file: Path) -> int:
    """Writes one page to look at a match in a browser, with everything in it: it opens from disk.

    Parameters
    ----------
    replay
        The replay, or a `replay.txt` of AI Arena 21.
    file
        Where the page goes.
    """
    kept_from(replay, file)
    content = page(read_record(replay))
    try:
        file.write_bytes(content)
    except OSError as error:
        raise RunError(f"{file} cannot be written: {error.strerror}") from error
    out.print(Text(f"{file}  ({len(content) >> 10} KiB)"))
    return PLAYED


def _has_screen() -> bool:
    """Whether there is a terminal to take, and what takes it."""
    return out.is_terminal and not out.is_dumb_terminal and sys.stdin.isatty() and find_spec("textual") is not None


def _aborted(replay: Replay) -> str:
    """`aborted after 12 turns (interrupted)`."""
    assert replay.ending is not None
    turns = _turns(replay)
    return f"aborted after {turns} turn{'' if turns == 1 else 's'} ({printable(str(replay.ending.aborted))})"


def _turns(replay: Replay) -> int:
    return sum(line.startswith(b'{"turn":') for line in replay.lines)
