"""Makes an analysis: plays on from the positions of a match until the time is over."""

import time
from collections.abc import Callable
from pathlib import Path

from referee.addons.analysis import workers
from referee.addons.analysis.curve import BATCH, Curve
from referee.addons.analysis.history import History
from referee.addons.analysis.moments import Moment, found
from referee.addons.analysis.policy import Policy
from referee.addons.analysis.record import Analysis, analysis
from referee.harness.cli.reports.text import printable
from referee.harness.common.errors import UsageError
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import Difference

CURVE_SHARE = 0.7
"""Of the time, for the curve; the rest is for its moments."""


def made(
    replay: Replay,
    seconds: float,
    bot: str | None = None,
    rules: Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
    partly: bool = False,
) -> Analysis:
    """Returns the analysis of a replay. UsageError if it does not follow the rules.

    `bot`: who plays on; None = the strongest built-in bot that is quick enough. `rules`: the game's folder, if the user
    has named it. `partly`: KeyboardInterrupt ends it with what there is, unless there is nothing yet.
    """
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
    work_s = cost_s * BATCH * history.turns
    with workers.playing(replay, rules, history, policy, work_s) as (play, at_once):
        ends_at = time.monotonic() + seconds
        try:
            for _ in curve.improve(play, at_once, ends_at - (1 - CURVE_SHARE) * seconds):
                progress(f"@{policy.name} plays on: {len(curve.estimates)} of {history.turns + 1} positions")
            for moment in found(curve, play, at_once, ends_at):
                moments.append(moment)
                progress(f"@{policy.name} tries other answers: {len(moments)} moments")
        except KeyboardInterrupt:
            if not partly or len(curve.estimates) < 2:
                raise
            known = {moment.turn for moment in moments}
            moments += [moment for moment in found(curve, play, at_once, ends_at=0.0) if moment.turn not in known]
    return analysis(curve, sorted(moments, key=lambda each: each.turn), replay.sha256)
