"""Makes an analysis: plays on from the positions of a match until the time is over, or has an engine evaluate them."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from referee.addons.analysis import workers
from referee.addons.analysis.curve import BATCH, Curve
from referee.addons.analysis.engine import evaluate
from referee.addons.analysis.history import History
from referee.addons.analysis.moments import Moment, found
from referee.addons.analysis.policy import Policy
from referee.addons.analysis.record import Analysis, analysis
from referee.harness.cli.reports.text import printable
from referee.harness.common.errors import UsageError
from referee.harness.programs.spec import name_of
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import Difference

CURVE_SHARE = 0.7
"""Of the time, for the curve; the rest is for its moments."""
Progress = Callable[[str], None]


def made(
    replay: Replay,
    seconds: float,
    bot: str | None = None,
    rules: Path | None = None,
    progress: Progress = lambda _: None,
    partly: bool = False,
) -> Analysis:
    """Returns the analysis of a replay. UsageError if it does not follow the rules.

    `bot`: the built-in bot that plays on, None = the strongest one that is quick enough; or another bot, which
    evaluates each position instead. `rules`: the game's folder, if the user has named it. `partly`: KeyboardInterrupt
    ends it with what there is, unless there is nothing yet.
    """
    try:
        history = History(replay)
    except Difference as difference:
        raise UsageError(f"{replay.path}: {printable(str(difference))}") from difference
    if bot is not None and not bot.startswith("@"):
        curve = Curve(history)
        by, moments = name_of(bot, replay.game.name), _evaluated(curve, bot, seconds, progress)
    else:
        if bot is None:
            policy, cost_s = workers.chosen(history, seconds)
        else:
            policy = Policy(history.game, bot.removeprefix("@"))
            cost_s = workers.cost(history, policy)
        curve = Curve(history, cost_s)
        by, moments = f"@{policy.name}", _played(curve, replay, rules, policy, seconds, progress)
    known: dict[int, Moment] = {}
    try:
        for moment in moments:
            known[moment.turn] = moment
    except KeyboardInterrupt:
        if not partly or len(curve.estimates) < 2:
            raise
        known = {moment.turn: moment for moment in found(curve)} | known
    return analysis(curve, by, sorted(known.values(), key=lambda each: each.turn), replay.sha256)


def _evaluated(curve: Curve, spec: str, seconds: float, progress: Progress) -> Iterator[Moment]:
    evaluate(curve, spec, seconds, progress)
    yield from found(curve)


def _played(
    curve: Curve, replay: Replay, rules: Path | None, policy: Policy, seconds: float, progress: Progress
) -> Iterator[Moment]:
    turns = curve.history.turns
    work_s = curve.cost_s * BATCH * turns
    with workers.playing(replay, rules, curve.history, policy, work_s) as (play, at_once):
        ends_at = time.monotonic() + seconds
        for _ in curve.improve(play, at_once, ends_at - (1 - CURVE_SHARE) * seconds):
            progress(f"@{policy.name} plays on: {len(curve.estimates)} of {turns + 1} positions")
        for number, moment in enumerate(found(curve, play, at_once, ends_at)):
            yield moment
            progress(f"@{policy.name} tries other answers: {number + 1} moments")
