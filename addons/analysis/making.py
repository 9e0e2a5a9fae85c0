"""Makes an analysis: searches positions of a match to the end, plays on from them, or has an engine evaluate them."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from referee.addons.analysis import workers
from referee.addons.analysis.curve import BATCH, Curve, Estimate, repeats, until
from referee.addons.analysis.engine import evaluate
from referee.addons.analysis.exact import NotSearched, Search
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
PLAY_SHARE = 0.4
"""Of the time, at least, for continuations: on a busy machine, it takes long to choose a bot and to start processes."""
REPEATS_SHARE = 0.2
"""Of the time, at most, to find out whether all continuations are the same."""
SEARCH_SHARE, FIRST_S, GROWTH = 0.4, 1.0, 4
"""The share of the time that the search gets at most, how long it may take for the last position, and how many times as
long besides as all after it took. Most games are too large for a search, which shows soon."""
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

    `bot`: the built-in bot that plays on where the game is too large to be searched, None = the strongest one that is
    quick enough; or another bot, which evaluates each position instead. `rules`: the game's folder, if the user has
    named it. `partly`: KeyboardInterrupt ends it with what there is, unless there is nothing yet.
    """
    try:
        history = History(replay)
    except Difference as difference:
        raise UsageError(f"{replay.path}: {printable(str(difference))}") from difference
    curve = Curve(history)
    curve.spec = bot or ""
    if bot is None or bot.startswith("@"):
        policy = None if bot is None else Policy(history.game, bot.removeprefix("@"))
        moments = _played(curve, replay, rules, policy, seconds, progress)
    else:
        moments = _evaluated(curve, bot, seconds, progress)
    known: dict[int, Moment] = {}
    try:
        for moment in moments:
            known[moment.turn] = moment
    except KeyboardInterrupt:
        if not partly or len(curve.estimates) < 2:
            raise
        known = {moment.turn: moment for moment in found(curve)} | known
    return analysis(curve, sorted(known.values(), key=lambda each: each.turn), replay.sha256)


def _evaluated(curve: Curve, spec: str, seconds: float, progress: Progress) -> Iterator[Moment]:
    curve.by = name_of(spec, curve.history.game.name)
    evaluate(curve, spec, seconds, progress)
    yield from found(curve)


def _played(
    curve: Curve, replay: Replay, rules: Path | None, policy: Policy | None, seconds: float, progress: Progress
) -> Iterator[Moment]:
    history, turns, ends_at = curve.history, curve.history.turns, time.monotonic() + seconds
    if _search(curve, seconds, progress):
        yield from found(curve)
        return
    policy, curve.cost_s = workers.chosen(history, ends_at - time.monotonic(), policy)
    curve.by = curve.spec = f"@{policy.name}"
    curve.repeats = repeats(history, policy, REPEATS_SHARE * seconds)
    work_s = curve.cost_s * BATCH * turns
    with workers.playing(replay, rules, history, policy, work_s) as (play, at_once):
        left_s = max(ends_at - time.monotonic(), PLAY_SHARE * seconds)
        ends_at = time.monotonic() + left_s
        play = until(play, ends_at)
        for _ in curve.improve(play, at_once, ends_at - (1 - CURVE_SHARE) * left_s):
            progress(f"{curve.by} plays on: {len(curve.estimates)} of {turns + 1} positions")
        if not any(each.is_played for each in curve.estimates.values()):
            raise UsageError(
                f"{replay.path}: {curve.by} has not played on to the end once in {seconds:g} s; allow more with"
                " --seconds, or name a quicker bot with --with"
            )
        for number, moment in enumerate(found(curve, play, at_once, ends_at)):
            yield moment
            progress(f"{curve.by} tries other answers: {number + 1} moments")


def _search(curve: Curve, seconds: float, progress: Progress) -> bool:
    """Puts the exact worth of positions into a curve, from the last one back. Returns whether all could be searched."""
    history, started = curve.history, time.monotonic()
    search = Search(history.game)
    try:
        for turn in reversed(range(history.turns + 1)):
            if turn not in curve.estimates:
                now = time.monotonic()
                most_s = FIRST_S + GROWTH * (now - started)
                search.ends_at = min(now + most_s, started + SEARCH_SHARE * seconds)
                worth = search.worth(history.at(turn)[0])
                curve.estimates[turn] = Estimate(turn, [(worth, 1 - worth)], "exact")
                progress(f"search: {len(curve.estimates)} of {history.turns + 1} positions")
    except NotSearched:
        return False
    finally:
        search.ends_at = started + seconds
        curve.best = lambda turn: search.best(history.at(turn)[0])
    return True
