"""`referee analyse FILE`: where a match turned."""

import shlex
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number
from rich.text import Text

from referee.addons.analysis import workers
from referee.addons.analysis.curve import BATCH, Curve
from referee.addons.analysis.history import History
from referee.addons.analysis.moments import Moment, found
from referee.addons.analysis.policy import Policy
from referee.addons.analysis.record import Analysis, analysis, beside, keep, kept
from referee.addons.analysis.words import sentence
from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.options import GameFolder, Json, name_folder
from referee.harness.cli.reports.board_text import SEAT_STYLES
from referee.harness.cli.reports.text import printable
from referee.harness.cli.screen import live, out, print_json
from referee.harness.common.errors import UsageError, reason
from referee.harness.replay.reader import Replay, read_content
from referee.harness.replay.simulate import Difference

CURVE_SHARE = 0.7
"""Of the time, for the curve; the rest is for its moments."""
ROWS = 24
"""Lines of the curve on a terminal."""
BAR = 40


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

    A built-in bot plays on from many positions of the match, at all seats and many times. Nothing that the replay names
    is started. The result is kept beside the replay, in FILE.analysis.json.

    Args:
        file: The replay.
        seconds: How long to play on, at most.
        bot: The built-in bot, such as @advanced. Default: the strongest that is quick enough.
        again: Do not show what is kept, but play again.
        keep_it: Keep the result beside the replay.
    """
    name_folder(game)
    try:
        content = read_content(file)
    except OSError as error:
        raise UsageError(f"the replay {file} cannot be read: {reason(error)}") from error
    replay = Replay(file, content)
    known = None if again else kept(file, content)
    if known is None or (bot is not None and known.bot != bot.removeprefix("@")):
        known = _played(replay, content, seconds, bot, game)
        if keep_it:
            keep(file, known)
    if json:
        print_json(known)
    else:
        _show(History(replay), known, file)
    return PLAYED


def _played(replay: Replay, content: bytes, seconds: float, bot: str | None, rules: Path | None) -> Analysis:
    try:
        history = History(replay)
    except Difference as difference:
        raise UsageError(f"{replay.path}: {printable(str(difference))}") from difference
    if bot is None:
        policy, cost_s = workers.chosen(history, seconds)
    else:
        policy = Policy(history.game, bot.removeprefix("@"))
        cost_s = workers.cost(history, policy)
    curve = Curve(history, policy, cost_s)
    moments: list[Moment] = []
    with workers.playing(replay.path, content, rules, history, policy, cost_s * BATCH * history.turns) as (
        play,
        at_once,
    ):
        ends_at = time.monotonic() + seconds
        try:
            for _ in curve.improve(play, at_once, ends_at - (1 - CURVE_SHARE) * seconds):
                live.show(f"@{policy.name} plays on: {len(curve.estimates)} of {history.turns + 1} positions")
            for moment in found(curve, play, at_once, ends_at):
                moments.append(moment)
                live.show(f"@{policy.name} tries other answers: {len(moments)} moments")
        except KeyboardInterrupt:
            if len(curve.estimates) < 2:
                raise
        finally:
            live.clear()
    return analysis(curve, sorted(moments, key=lambda each: each.turn), content)


def _show(history: History, known: Analysis, file: Path) -> None:
    names = [printable(name) for name in history.names]
    for line in _curve(known, names):
        out.print(line)
    for moment in known.moments:
        out.print(sentence(history, moment), highlight=False)
        out.print(f"  referee fork {shlex.quote(str(file))} --turn {moment.since or moment.turn - 1}", style="dim")
    if not known.moments:
        out.print("No turn changed the expected score by a tenth or more.")
    out.print(f"@{known.bot} played on from {len(known.points)} positions. Kept in {beside(file)}", style="dim")


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
        line.append(f"  {figures}  ± {max(point.error):.0%}", style="dim")
        yield line
