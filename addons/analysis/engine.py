"""The evaluation of each position by an engine: once, instead of continuations.

The engine is a bot that the user names, such as `uci:stockfish`, and that reports an evaluation with its answers. It
gets the calls of the match, as `referee repro` makes them, and the recorded answers count.
"""

import math
import time
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import trio

from referee.addons.analysis.curve import Curve, Estimate
from referee.games.contract import Call, Fault
from referee.games.game import TimeControl
from referee.harness.common.errors import UsageError
from referee.harness.match.replay_prefix import prefix_calls
from referee.harness.match.turn import Driver
from referee.harness.process.limits import Limits
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.spec import entrant
from referee.harness.seats.roster import open_roster
from referee.protocol.messages import Encoding

LIMITS = Limits(memory_bytes=1 << 30)
"""Engines have large tables, and only one of them thinks at a time."""
LEAST_S = 0.2
"""Of a call: an engine keeps a tenth of a second for the way of its answer."""
SHARE = 0.8
"""Of the time, for the engine itself; the rest is for starting it and for the way of its answers."""
LATE_S = 10.0
"""How much longer than its time an answer is awaited."""
STEEP = 0.00368208
"""With it, 1 / (1 + exp(-STEEP * centipawns)) is what people at lichess score on average."""


def evaluate(curve: Curve, spec: str, seconds: float, progress: Callable[[str], None]) -> None:
    """Puts the evaluation of each position into a curve.

    UsageError for a bot that cannot play this game, or that reports no evaluation.
    """
    history = curve.history
    if len(history.names) != 2:
        raise UsageError(f"--with {spec}: engines evaluate matches of two bots; this one has {len(history.names)}")
    engine = entrant(spec, history.game.name)
    answers: dict[int, Any] = {}
    curve.best = lambda turn: [answers[turn]] if turn in answers else []
    trio.run(_evaluate, curve, answers, engine, seconds, progress)
    if not any(each.source == "evaluated" for each in curve.estimates.values()):
        raise UsageError(f"--with {spec}: it reports no evaluation with its answers, as engines of UCI do")


async def _evaluate(
    curve: Curve, answers: dict[int, Any], engine: Entrant, seconds: float, progress: Callable[[str], None]
) -> None:
    history = curve.history
    every = max(1, math.ceil(history.turns * LEAST_S / (SHARE * seconds)))
    call_s = SHARE * seconds * every / max(1, history.turns)
    driver = Driver(history.game, history.setup, TimeControl(per_call_s=call_s))
    ends_at = time.monotonic() + seconds
    async with open_roster(LIMITS) as roster:
        driver.seats.extend(await roster.take_all([engine] * len(history.names)))
        for player, seat in enumerate(driver.seats):
            await driver.greet(player, LIMITS, tuple(Encoding), driver.setup.seed)
            if seat.fault is not None:
                raise UsageError(f"{engine.name} cannot evaluate {history.game.name}: {seat.fault.detail}")
        for call, step in prefix_calls(driver, history.steps):
            if time.monotonic() > ends_at:
                break
            if step.turn % every:  # there is no time for all
                continue
            reply = await driver.seats[call.player].ask(call, driver.shown_clock(call), call_s + LATE_S)
            if isinstance(reply.value, Fault) and reply.value.fatal:
                raise UsageError(f"{engine.name} failed at turn {step.turn}: {reply.value.detail}")
            if (found := expected(call, reply.value)) is not None:
                score, answers[step.turn - 1] = found
                pair = (score, 1 - score) if call.player == 0 else (1 - score, score)
                curve.estimates[step.turn - 1] = Estimate(step.turn - 1, [pair], "evaluated")
                progress(f"{engine.name} evaluates: {step.turn} of {history.turns} positions")


def expected(call: Call, answer: Any) -> tuple[float, Any] | None:
    """Returns the expected score of the seat that answers, by what it reports, and its answer without that.

    None if it reports no evaluation. A method says which members of an answer are reports (`Method.remarks`).
    """
    plain = msgspec.to_builtins(answer)
    if not isinstance(plain, Mapping):
        return None
    reports = [plain[name] for name in call.method.remarks if isinstance(plain.get(name), Mapping)]
    for report in reports:
        rest = {name: value for name, value in plain.items() if name not in call.method.remarks}
        if "mate" in report:
            return (1.0 if report["mate"] > 0 else 0.0), rest
        if "score" in report:
            return 1 / (1 + math.exp(-STEEP * report["score"])), rest
    return None
