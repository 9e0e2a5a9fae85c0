"""`referee replay`: verifies, shows and exports replays."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from rich.text import Text

from referee.games.ending import headline
from referee.harness.cli.added import Added, added
from referee.harness.cli.exit_codes import AT_FAULT, PLAYED
from referee.harness.cli.options import GameFolder, name_folder
from referee.harness.cli.reports.text import as_json, counted, printable
from referee.harness.cli.reports.turns import Window, coloured, legend, steps, title
from referee.harness.cli.screen import out, paged
from referee.harness.common.errors import UsageError
from referee.harness.replay.formats import records
from referee.harness.replay.formats.originals import Original, read_record
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import Difference, verify

if TYPE_CHECKING:
    VerifyAdded = Added
else:
    VerifyAdded = added("replay verify")


def replay_verify(
    file: Path,
    *bots: Path,
    more: VerifyAdded = VerifyAdded(),  # noqa: B008
    game: GameFolder = None,
) -> int:
    """Checks that a replay is right.

    Plays the match again from the setup and the answers: "verified", or the first line that differs.

    For an aborted match it says so, and whether the replay is right up to there.

    Args:
        file: The replay.
        bots: With --play, the files of the bots that play again, in the order of their seats. Default: those that
            --keep-bots has put next to the replay, or those in the cache.
    """
    name_folder(game)
    replay = Replay(file)
    takes = [each.check(bots) for each in more.each()]
    if bots and not any(takes):
        raise UsageError(
            f"{bots[0]}: expected one replay, and programs with --play alone; to verify several: "
            'for file in replays/*.jsonl; do referee replay verify "$file"; done'
        )
    origin = replay.header.origin
    forked = "" if origin is None else f", forked from {printable(origin.replay)} after turn {origin.turn}"
    try:
        result = verify(replay)
    except Difference as difference:
        if replay.other_rules:
            out.print(f"{file}: the files of the rules differ from those of the match")
        return _differs(file, difference)
    lines = counted(len(replay.lines), "line")
    if result is not None:
        ending = headline(replay.game.presentation.endings, result, replay.header.setup.names)
        rules = ", with rules whose files differ from those of the match" if replay.other_rules else ""
        out.print(f"{file}: verified, {lines}, {printable(ending)}{forked}{rules}")
        try:
            return next((code for each in more.each() if (code := each.after(replay, bots)) is not None), PLAYED)
        except Difference as difference:
            return _differs(file, difference)
    assert replay.ending is not None
    aborted = f"aborted after {counted(_turns(replay), 'turn')} ({printable(str(replay.ending.aborted))})"
    out.print(f"{file}: {aborted}; verified so far, {lines}")
    return PLAYED


def _differs(file: Path, difference: Difference) -> int:
    out.print(f"{file}: {printable(str(difference))}")
    return AT_FAULT


def replay_show(file: Path, *, part: Window = Window(), game: GameFolder = None) -> int:
    """Prints a match.

    Turns are in the game's own notation. On a terminal they go through $PAGER.

    Args:
        file: The replay, or a `replay.txt` of AI Arena 21.
    """
    name_folder(game)
    replay = read_record(file)
    window = part.within(_turns(replay))
    if isinstance(replay, Original):
        if window.seat is not None or window.calls:
            raise UsageError(
                f"--seat, --calls: {replay.path}, a file of the original competition, holds no calls; leave both out"
            )
        shown = _original_steps(replay, window)
    else:
        seats = range(len(replay.header.setup.names))
        if window.seat is not None and window.seat not in seats:
            raise UsageError(f"--seat {window.seat}: the seats are 0 to {seats[-1]}")
        shown = steps(replay, window)
    with paged():
        for step in shown:
            out.print(step, end="\n\n")
    return PLAYED


def _turns(replay: Replay | Original) -> int:
    if isinstance(replay, Original):
        return sum(replay.form.standing(line) is not None for line in replay.lines)
    return sum(line.startswith(b'{"turn":') for line in replay.lines)


def _original_steps(original: Original, window: Window) -> Iterator[Text]:
    """Yields the title and what the file holds, each turn with the position after it, and at last any error."""
    game, lines = original.game, original.lines
    holds = f"a file of the original competition: {original.form.contents}"
    yield title(game, original.names, None).append(f"\n{holds}", style="bold")
    reader = original.reader()
    if window.holds(0, ()):
        yield coloured(game, reader.drawing)
    try:
        for line in lines[1:]:
            notices = reader.take(line)
            if notices is None:
                break
            if window.holds(reader.turns, ()):
                text = Text()
                for name, params in notices:
                    words = f"{name} {printable(as_json(msgspec.to_builtins(params)))}\n"
                    text.append(f"{reader.turns:>5}  ", style="dim").append(words)
                yield text.append_text(coloured(game, reader.drawing))
        yield from legend(game)
        reader.conclude(lines[reader.turns + 1 :])
    except Difference as difference:
        yield Text(f"the file is damaged: {printable(str(difference))}", style="bold red")


def replay_export(format: str, replay: Path, file: Path, *, game: GameFolder = None) -> int:
    """Writes a match in another format.

    Args:
        format: pgn for openspiel:chess, sgf for openspiel:go, aiarena21-replay for AI Arena 21's viewer.
        replay: The replay; nothing is written unless it verifies.
        file: The new file.
    """
    name_folder(game)
    try:
        records.export(format, Replay(replay), file)
    except Difference as difference:
        return _differs(replay, difference)
    return PLAYED
