"""The Arena's test run: a bot plays every built-in case of a game; the cases are worth 100 points together.

Sources: tictactoe.md, quoridor.md and connectfour.md, B2 and B3.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from referee.games import registry
from referee.games.contract import FaultKind, Player
from referee.games.dice import derive_seed
from referee.games.ending import reason_in_words
from referee.harness.common.errors import RunError, UsageError
from referee.harness.match.match import Match, play
from referee.harness.match.verdict import Verdict
from referee.harness.opponents import OPPONENTS
from referee.harness.process.limits import Limits
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.spec import entrant
from referee.harness.seats.roster import Roster, open_roster

Pay = Callable[[Verdict, Player, int], int]
"""Takes a match, the bot's seat and the worth of the case; returns the bot's points."""


class Case(Struct, frozen=True):
    """One battle of a test run."""

    name: str
    """The built-in opponent, without its `@`."""
    points: int
    """The worth of the case."""
    pay: Pay


class JudgePlan(Struct, frozen=True):
    """The test run of one game."""

    cases: tuple[Case, ...]
    """In the order of the document."""
    options: Mapping[str, Any] = {}
    """The rule options of all battles."""


class CaseResult(Struct, frozen=True):
    """The result of one case."""

    case: str
    seat: Player
    """The bot's seat."""
    points: int
    out_of: int
    why: str
    match: Verdict


class JudgeReport(Struct, frozen=True):
    """The result of a test run."""

    game: str
    seed: int
    name: str
    points: int
    cases: tuple[CaseResult, ...]


async def judge(
    game: str,
    bot: Entrant,
    seed: int,
    limits: Limits,
    folder: Path | None = None,
    on_case: Callable[[CaseResult], None] | None = None,
) -> JudgeReport:
    """Plays all cases of `game`, one after the other; `on_case` receives each result.

    Each case has its own seed, and its replay in `folder`. UsageError for a game without a test run. RunError if a
    program cannot be started, or if a built-in opponent fails.
    """
    plan = judge_plan(game)
    results = []
    async with open_roster(limits) as roster:
        for case in plan.cases:
            results.append(await _battle(game, plan, case, bot, seed, folder, roster))
            if on_case is not None:
                on_case(results[-1])
    return JudgeReport(game, seed, bot.name, sum(result.points for result in results), tuple(results))


def judge_plan(game: str) -> JudgePlan:
    """Returns the test run of a game. UsageError if it has none."""
    if game not in JUDGE_PLANS:
        raise UsageError(f"{game} has no test run; the games that have one are {', '.join(sorted(JUDGE_PLANS))}")
    return JUDGE_PLANS[game]


async def _battle(
    game_name: str, plan: JudgePlan, case: Case, bot: Entrant, seed: int, folder: Path | None, roster: Roster
) -> CaseResult:
    game, rival = registry.game(game_name), entrant(f"@{case.name}")
    rival_seat = OPPONENTS[case.name].seats[game_name]
    match = Match(
        game=game,
        entrants=(rival, bot) if rival_seat == 0 else (bot, rival),
        seed=derive_seed(seed, "case", case.name),
        options=game.options(**plan.options),
        time=game.time,
        replay=None if folder is None else folder / f"{case.name}.jsonl",
    )
    verdict = await play(match, roster)
    seat = match.entrants.index(bot)
    for fault in verdict.faults:
        if fault.player != seat and fault.kind is not FaultKind.ILLEGAL:
            raise RunError(f"{rival.name} failed in seat {fault.player}: {fault.kind}: {fault.detail}")
    return CaseResult(case.name, seat, case.pay(verdict, seat, case.points), case.points, _why(verdict, seat), verdict)


def _why(verdict: Verdict, player: Player) -> str:
    """Describes the ending in words from the bot's point of view, with its faults."""
    ranks = verdict.result.ranks
    names = [each.name if seat == player else "the rival" for seat, each in enumerate(verdict.seats)]
    reason = reason_in_words(registry.game(verdict.game).presentation.endings, verdict.result, names)
    ending = "drew" if ranks[0] == ranks[1] else "won" if ranks[player] == 1 else "lost"
    turns = (verdict.turns + 1) // 2
    own = ["; ".join(fault.detail.splitlines()) for fault in verdict.faults if fault.player == player]
    details = [detail for detail in own if detail not in reason]
    return "; ".join([f"{ending} after {turns} turn{'' if turns == 1 else 's'}: {reason}", *details])


# The points of a case (B3).


def _win(verdict: Verdict, player: Player, points: int) -> int:
    return points if verdict.result.ranks[player] < verdict.result.ranks[1 - player] else 0


def _win_or_draw(verdict: Verdict, player: Player, points: int) -> int:
    return points if verdict.result.ranks[player] == 1 else 0


def _no_flip_against_it(verdict: Verdict, player: Player, points: int) -> int:
    """Pays for every ending except a flip by the opponent: the bot has answered the cheat with a flip at once."""
    return 0 if verdict.result.ranks[player] == 2 and verdict.result.reason.startswith("FLIPPED") else points


def _win_or_last(verdict: Verdict, player: Player, points: int) -> int:
    """Pays fully for a win, otherwise by the answers of the first player; nothing after a flip by the opponent."""
    if _win(verdict, player, points):
        return points
    if not _no_flip_against_it(verdict, player, points):
        return 0
    turns = (verdict.turns + 1) // 2
    if turns >= 40:
        return points
    if turns >= 22:
        return 10 + 15 * (turns - 22) // 18
    return 6 if turns >= 18 else 3 if turns >= 14 else 1 if turns >= 8 else 0


def _cases(*groups: tuple[int, Pay, str]) -> tuple[Case, ...]:
    """Makes cases from groups of points, pay and names."""
    return tuple(Case(name, points, pay) for points, pay, names in groups for name in names.split())


JUDGE_PLANS: Mapping[str, JudgePlan] = {
    "tictactoe": JudgePlan(
        _cases(
            (20, _win, "BASE_AI_O BASE_AI_X"),
            (20, _win_or_draw, "AB_AI_O AB_AI_X"),
            (4, _no_flip_against_it, "C_AI_OUT_OF_BOUND C_AI_DUP C_AI_X_FIRST C_AI_TWICE_A_ROW"),
            (4, _no_flip_against_it, "C_AI_FLIP_TABLE_RANDOMLY"),
        )
    ),
    "quoridor": JudgePlan(
        _cases(
            (15, _win, "BASE_AI_FIRST BASE_AI_SECOND"),
            (25, _win_or_last, "AB_AI_FIRST AB_AI_SECOND"),
            (2, _no_flip_against_it, "C_AI_TELEPORT C_AI_SECOND_FIRST C_AI_TWICE_A_ROW C_AI_WALL_OUTSIDE"),
            (2, _no_flip_against_it, "C_AI_PAWN_OUTSIDE C_AI_WALL_CROSS"),
            (4, _no_flip_against_it, "C_AI_WALL_BLOCKING"),
            (2, _no_flip_against_it, "C_AI_WALK_THROUGH_WALL C_AI_PUT_11_WALLS"),
        ),
        {"max_turns": 40},
    ),
    "connectfour": JudgePlan(
        _cases(
            (10, _win, "BASE_AI_R BASE_AI_Y"),
            (15, _win, "AB_AI_R AB_AI_Y"),
            (3, _no_flip_against_it, "C_AI_OUT_OF_BOUND"),
            (10, _no_flip_against_it, "C_AI_OVERFLOW C_AI_Y_FIRST C_AI_TWICE_A_ROW C_AI_FLIP_TABLE_RANDOMLY"),
            (3, _no_flip_against_it, "C_AI_NIL"),
            (4, _no_flip_against_it, "C_AI_SURPRISE"),
        )
    ),
}
