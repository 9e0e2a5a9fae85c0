"""`referee replay`: verifies, shows and exports replays."""

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
from referee.harness.replay.formats import originals
from referee.harness.replay.formats.originals import Original, read_record
from referee.harness.replay.reader import Replay, refuse_same_file
from referee.harness.replay.simulate import Difference, verify
from referee.harness.web.page import page


def replay_verify(file: Path) -> int:
    """Plays a match again from the setup and the answers in its replay: "verified", or the first line that differs.

    For an aborted match it says so, and whether the replay is right up to there.

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
        out.print(Text(f"{file}: {_aborted(replay)}; verified so far, {len(replay.lines)} lines"))
    else:
        out.print(Text(f"{file}: verified, {len(replay.lines)} lines, {printable(result.reason)}{forked}"))
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
    """Steps through a match in the game's own notation, on the full terminal; ? lists the keys.

    With any option, into a pipe, or without Textual (the extra `referee[tui]`), it prints the match, on a terminal
    through $PAGER. It always prints AI Arena 21's own `replay.txt`, which holds no calls.

    Parameters
    ----------
    file
        The replay, or a `replay.txt` of AI Arena 21.
    turn
        Only this turn; 0 is the opening.
    first
        The first turn to show.
    to
        The last turn to show.
    last
        Only this many turns at the end.
    seat
        Only turns in which this seat answered.
    calls
        Show every call and its answer as JSON frames too.
    plain
        Print the match instead of taking the terminal.
    """
    replay = read_record(file)
    if sum(given is not None for given in (turn, first if first is not None else to, last)) > 1:
        raise UsageError("--turn, --last and --from/--to cannot be combined")
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
    """Returns the turns to show, from the options and the number of turns."""
    for option, given in (("--turn", turn), ("--from", first)):
        if given is not None and given not in range(turns + 1):
            raise UsageError(f"{option} {given}: the match has turns 0 to {turns}")
    if to is not None and to < (first or 0):
        raise UsageError(f"--to {to}: expected a turn from {first or 0} on")
    if last is not None:
        if last < 1:
            raise UsageError(f"--last {last}: expected at least 1")
        first = max(turns - last + 1, 0)
    return Window(turn if turn is not None else first or 0, turn if turn is not None else to, seat, calls)


def _show_original(
    original: Original, turn: int | None, first: int | None, to: int | None, last: int | None, asks_calls: bool
) -> int:
    if asks_calls:
        raise UsageError(f"--seat, --calls: {original.path}, a file of the original competition, holds no calls")
    turns = sum(original.form.standing(line) is not None for line in original.lines)
    window = _window(turns, turn, first, to, last)
    with paged():
        for step in original_steps(original, window):
            out.print(step, end="\n\n")
    return PLAYED


def replay_export(format: str, replay: Path, file: Path) -> int:
    """Writes a match in another format.

    Parameters
    ----------
    format
        aiarena21-replay: AI Arena 21's own replay.txt, for its viewer.
    replay
        The replay; nothing is written unless it verifies.
    file
        The new file.
    """
    try:
        originals.export(format, Replay(replay), file)
    except Difference as difference:
        out.print(Text(f"{replay}: {printable(str(difference))}"))
        return AT_FAULT
    return PLAYED


def replay_html(replay: Path, file: Path) -> int:
    """Writes a match as one HTML page, which holds all that it needs and opens from disk.

    Parameters
    ----------
    replay
        The replay, or a `replay.txt` of AI Arena 21.
    file
        The new page.
    """
    refuse_same_file(replay, file)
    content = page(read_record(replay))
    try:
        file.write_bytes(content)
    except OSError as error:
        raise RunError(f"{file} cannot be written: {error.strerror}") from error
    out.print(Text(f"{file}  ({len(content) >> 10} KiB)"))
    return PLAYED


def _has_screen() -> bool:
    """Returns whether there is a terminal, and Textual."""
    return out.is_terminal and not out.is_dumb_terminal and sys.stdin.isatty() and find_spec("textual") is not None


def _aborted(replay: Replay) -> str:
    """Returns text such as `aborted after 12 turns (interrupted)`."""
    assert replay.ending is not None
    turns = _turns(replay)
    return f"aborted after {turns} turn{'' if turns == 1 else 's'} ({printable(str(replay.ending.aborted))})"


def _turns(replay: Replay) -> int:
    return sum(line.startswith(b'{"turn":') for line in replay.lines)
