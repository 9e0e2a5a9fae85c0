"""A rule of `referee check`: a module uses the same fuel however its frames come, and by another engine."""

from referee.addons.wasm.kind import MODULE
from referee.addons.wasm.options import PULLEY
from referee.addons.wasm.prices import UNITS_PER_S
from referee.addons.wasm.runner import by_engine
from referee.harness.check.engine_match import EngineGame
from referee.harness.check.findings import Added, Level, Rule
from referee.harness.check.rules import FEW_CALLS
from referee.harness.check.trial import Skip, Trial
from referee.harness.programs.build_process import BuildContext
from referee.harness.seats.chaos import Manner
from referee.protocol.text import counted


async def metered(trial: Trial) -> str:
    """Plays one game three times: as usual, in pieces, and by the interpreter. The clock of a module is its fuel."""
    bot = trial.request.bot
    if not MODULE.plays(bot):
        raise Skip("it is no module of WebAssembly")
    plan = trial.plan(calls=FEW_CALLS)
    first, _ = await trial.play(plan)
    pieces, _ = await trial.play(plan, Manner(cuts=9, pause_s=0.001))
    interpreted, _ = await trial.play(plan, program=by_engine(bot, BuildContext(trial.limits), PULLEY))
    for how, game in (("in pieces", pieces), ("by the interpreter", interpreted)):
        for number, (one, other) in enumerate(zip(first.calls, game.calls, strict=False), 1):
            if one != other:
                units = " and ".join(f"{round(call.wall_s * UNITS_PER_S):,}" for call in (one, other))
                trial.report(Level.ERROR, f"call {number} {one.method} used {units} units {how}", plan)
                return ""
    return _share_of_fuel(trial, first)


def _share_of_fuel(trial: Trial, game: EngineGame) -> str:
    most_s, limit_s = max((call.wall_s for call in game.calls), default=0.0), trial.request.time.per_call_s
    share = "" if limit_s is None else f", {most_s / limit_s:.1%} of its limit"
    return f"{counted(len(game.calls), 'call')}, at most {round(most_s * UNITS_PER_S):,} units in one{share}"


METERED = Added(
    "metered",
    Rule(
        "A module uses the same fuel in pieces and by another engine",
        "build it without threads and relaxed SIMD; keep its recursion far from the end of the stack",
        "SPEC.md 6",
    ),
    metered,
)
