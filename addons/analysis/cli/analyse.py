"""`referee analyse FILE`: where a match turned."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number
from rich.text import Text

from referee.addons.analysis.making import made
from referee.addons.analysis.record import Analysis, beside, check_place, keep, kept
from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.options import GameFolder, Json, name_folder
from referee.harness.cli.reports.board_text import SEAT_STYLES
from referee.harness.cli.reports.text import printable
from referee.harness.cli.screen import live, out, print_json
from referee.harness.replay.reader import Replay
from referee.protocol.text import counted

ROWS = 24
"""Lines of the curve on a terminal."""
BAR = 40
OPEN_CARDS = "Hidden cards stayed as they were: this game cannot deal them anew. So no change is certain."


def analyse(
    file: Path,
    *,
    seconds: Annotated[float, Parameter(validator=Number(gt=0))] = 30.0,
    bot: Annotated[str | None, Parameter(name="--with")] = None,
    again: bool = False,
    keep_it: Annotated[bool, Parameter(name="--keep", negative="--no-keep")] = True,
    game: GameFolder = None,
    json: Json = False,
) -> int:
    """Shows on which turns a match turned.

    Positions of small games are searched to the end. From others, a built-in bot plays on, at all seats and many times;
    or an engine that you name evaluates each position. Nothing that the replay names is started. The result is kept
    next to the replay, in FILE.analysis.json.

    Args:
        file: The replay.
        seconds: How long to play on, at most.
        bot: The built-in bot, such as @advanced; or an engine that reports evaluations, such as uci:stockfish. Default:
            the strongest built-in bot that is quick enough.
        again: Do not show what is kept, but play again.
        keep_it: Keep the result next to the replay.
    """
    name_folder(game)
    replay = Replay(file)
    known = None if again else kept(file, replay.sha256)
    if known is not None and bot is not None and known.spec != bot:
        known = None
    is_kept = keep_it or known is not None
    if known is None:
        if keep_it:
            check_place(file)  # before half a minute of play, not after it
        try:
            known = made(replay, seconds, bot, game, live.show, partly=True)
        finally:
            live.clear()
        if keep_it:
            keep(file, known)
    if json:
        print_json(known)
    else:
        _show(replay, known)
        place = f" Kept in {beside(file)}" if is_kept else ""
        out.print(f"{_source(known)}.{place}", style="dim")
        if known.open_cards:
            out.print(OPEN_CARDS, style="dim")
    return PLAYED


def _source(known: Analysis) -> str:
    exact = sum(point.exact for point in known.points)
    played = sum(point.continuations > 0 for point in known.points)
    evaluated, by = len(known.points) - exact - played, printable(known.by)
    parts = (
        (played, f"{by} played on from {counted(played, 'position')}"),
        (evaluated, f"{by} evaluated {counted(evaluated, 'position')}"),
        (exact, f"exact at {counted(exact, 'position')}"),
    )
    return "; ".join(words for number, words in parts if number)


def _show(replay: Replay, known: Analysis) -> None:
    file, names = replay.path, [printable(name) for name in replay.header.setup.names]
    for line in _curve(known, names):
        out.print(line)
    for moment in known.moments:
        out.print(printable(moment.words), highlight=False)
        out.print(f"  referee fork {shlex.quote(str(file))} --turn {moment.before}", style="dim")
    if not known.moments:
        out.print("No turn changed the expected score by a tenth or more.")


def _curve(known: Analysis, names: list[str]) -> Iterator[Text]:
    """Yields a line for each of some turns, in which each seat has its part."""
    every = max(1, -(-len(known.points) // ROWS))
    shown = [*known.points[:-1:every], known.points[-1]]
    head = Text(" turn  ")
    for seat, name in enumerate(names):
        head.append(f"{name}  ", style=SEAT_STYLES[seat % len(SEAT_STYLES)])
    yield head
    for point in shown:
        line, total = Text(f"{point.turn:>5}  "), sum(point.expected) or 1.0
        drawn = 0
        for seat in range(len(names)):
            upto = round(BAR * sum(point.expected[: seat + 1]) / total)
            line.append("█" * (upto - drawn), style=SEAT_STYLES[seat % len(SEAT_STYLES)])
            drawn = upto
        figures = "  ".join(f"{expected:.0%}" for expected in point.expected)
        sure = f"± {max(point.error):.0%}" if max(point.error) else "exact" if point.exact else ""
        line.append(f"  {figures}  {sure}".rstrip(), style="dim")
        yield line
