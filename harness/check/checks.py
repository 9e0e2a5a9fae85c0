"""Tries every rule of `referee.harness.check.findings` on a bot, one after the other.

The basic rules are games against the engine's own answers. A bot that fails them is not tried further: the other rules
would find the same defect again. Nothing here knows a game.
"""

import time
from collections.abc import Callable
from functools import partial

import msgspec

from referee.games.game import Game
from referee.harness.check.findings import (
    BASIC_RULES,
    NOT_TRIED,
    UNDECIDED,
    UNDECIDED_NOTE,
    CheckReport,
    Finding,
    Level,
    RuleResult,
    Status,
    bot_rules,
)
from referee.harness.check.request import Check, Origin
from referee.harness.check.rules import tried
from referee.harness.check.source_lines import places
from referee.harness.check.trial import PLAIN, Skip, Trial
from referee.harness.programs.build_process import BuildError
from referee.harness.seats.chaos import CHAOS, Chaos
from referee.harness.seats.roster import open_roster

ALWAYS_TRIED = ("builds", "starts")
"""The other rules depend on what the bot says of itself at its start."""

Progress = Callable[[RuleResult], None]


def not_built(game: Game, seed: int, name: str, error: BuildError, origin: Origin, build_s: float) -> CheckReport:
    """Returns the report of a bot whose build fails: no other rule can be tried."""
    output = tuple(error.output.split("\n")) if error.output else ()
    finding = Finding(
        "builds",
        Level.ERROR,
        error.reason,
        last_words=output,
        places=places(output, origin.folder),
        command=origin.check_command(seed, "builds"),
    )
    failed = RuleResult("builds", Status.FAILED, build_s, "", (finding,))
    return _after_build(game, seed, name, failed, NOT_TRIED)


def slowed(game: Game, seed: int, name: str, why: str, origin: Origin, spent_s: float) -> CheckReport:
    """Returns the report of a bot whose build or check had no core for much of its time: nothing is decided."""
    finding = Finding("builds", Level.WARNING, why, command=origin.check_command(seed, "builds"))
    undecided = RuleResult("builds", Status.UNDECIDED, spent_s, UNDECIDED_NOTE, (finding,))
    return _after_build(game, seed, name, undecided, UNDECIDED)


def _after_build(game: Game, seed: int, name: str, built: RuleResult, note: str) -> CheckReport:
    others = [RuleResult(rule, Status.SKIPPED, 0.0, note) for rule in bot_rules() if rule != "builds"]
    return CheckReport(game.name, seed, name, None, False, (built, *others), None)


async def check(request: Check, progress: Progress | None = None) -> CheckReport:
    """Tries all rules; `progress` receives each result.

    RunError if a program cannot be started, or if a built-in opponent fails.
    """
    rules = [rule for rule in bot_rules() if not request.only or rule in request.only or rule in ALWAYS_TRIED]
    attempts: list[RuleResult] = []
    is_broken = False
    async with open_roster(request.limits, partial(Chaos, manner=CHAOS if request.chaos else PLAIN)) as roster:
        trial = Trial(request, roster)
        for rule in rules:
            attempts.append(await _attempt(rule, trial, is_broken))
            if rule in BASIC_RULES:
                is_broken = trial.is_broken()
            if progress is not None:
                progress(_with_findings(attempts[-1], trial))
    results = tuple(_with_findings(attempt, trial) for attempt in _with_unasked(attempts, trial))
    passed = all(result.status not in (Status.FAILED, Status.UNDECIDED) for result in results)
    return CheckReport(
        game=request.game.name,
        seed=request.seed,
        name=request.bot.name,
        program=trial.program,
        passed=passed,
        checks=results,
        costs=trial.costs(),
        games=trial.games,
        decided_by_machine=trial.decided_by_machine,
    )


def _with_unasked(attempts: list[RuleResult], trial: Trial) -> list[RuleResult]:
    """Adds the rules that the bot broke although nobody asked for them, such as its limit of time."""
    tried = {attempt.rule: attempt for attempt in attempts}
    broken = {finding.rule for finding in trial.findings if finding.level is Level.ERROR} | trial.undecided
    found = {rule: RuleResult(rule, Status.PASSED, 0.0) for rule in broken}
    return [(found | tried)[rule] for rule in bot_rules() if rule in found or rule in tried]


async def _attempt(rule: str, trial: Trial, is_broken: bool) -> RuleResult:
    if is_broken:
        return RuleResult(rule, Status.SKIPPED, 0.0, UNDECIDED if trial.undecided else NOT_TRIED)
    started, trial.rule = time.perf_counter(), rule
    try:
        status, note = Status.PASSED, await tried(rule)(trial)
    except Skip as skip:
        status, note = Status.SKIPPED, str(skip)
    spent_s = trial.request.build_s if rule == "builds" else time.perf_counter() - started
    return RuleResult(rule, status, spent_s, note)


def _with_findings(attempt: RuleResult, trial: Trial) -> RuleResult:
    """Adds the findings for a rule, some of which come from the attempts of other rules."""
    findings = tuple(finding for finding in trial.findings if finding.rule == attempt.rule)
    if any(finding.level is Level.ERROR for finding in findings):
        note = "" if attempt.note in (NOT_TRIED, UNDECIDED) else attempt.note
        return msgspec.structs.replace(attempt, status=Status.FAILED, note=note, findings=findings)
    if attempt.rule in trial.undecided:
        return msgspec.structs.replace(attempt, status=Status.UNDECIDED, note=UNDECIDED_NOTE, findings=findings)
    return msgspec.structs.replace(attempt, findings=findings)
