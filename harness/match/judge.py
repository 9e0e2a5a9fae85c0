"""The judged run of the Arena: a bot against every built-in case of a game, with points for each, 100 in all.

Sources: tictactoe.md, quoridor.md and connectfour.md, B2 and B3.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from referee.games import registry
from referee.games.contract import FaultKind, Player
from referee.games.dice import derive_seed
from referee.harness.errors import RunError, UsageError
from referee.harness.match.play import Match, play
from referee.harness.match.verdict import Verdict
from referee.harness.opponents import OPPONENTS
from referee.harness.process.limits import Limits
from referee.harness.programs.spec import Entrant, entrant
from referee.harness.seats.roster import Roster, open_roster

Pay = Callable[[Verdict, Player, int], int]
"""Takes a match, the bot's seat and the points that the case can pay; gives those that it pays."""


class Case(Struct, frozen=True):
    """One battle of the run."""

    name: str
    """The built-in opponent, without its `@`."""
    points: int
    """What it can pay."""
    pay: Pay


class Course(Struct, frozen=True):
    """The judged run of one game."""

    cases: tuple[Case, ...]
    """In the document's order."""
    options: Mapping[str, Any] = {}
    """The rules' options in all its battles."""


class Judged(Struct, frozen=True):
    """What became of one case."""

    case: str
    seat: Player
    """The bot's own."""
    points: int
    out_of: int
    why: str
    match: Verdict


class Judgement(Struct, frozen=True):
    """A whole run."""

    game: str
    seed: int
    name: str
    points: int
    """The sum."""
    cases: tuple[Judged, ...]


async def judge(
    game: str,
    bot: Entrant,
    seed: int,
    limits: Limits,
    folder: Path | None = None,
    judged: Callable[[Judged], None] | None = None,
) -> Judgement:
    """Plays all cases of `game`, one after the other; `judged` is told of each.

    Each has a seed of its own, and its record in `folder`. UsageError for a game without a run; RunError if a program
    cannot be started, or if one of our own fails.
    """
    run = course(game)
    results = []
    async with open_roster(limits) as roster:
        for case in run.cases:
            results.append(await _battle(game, run, case, bot, seed, folder, roster))
            if judged is not None:
                judged(results[-1])
    return Judgement(game, seed, bot.name, sum(result.points for result in results), tuple(results))


def course(game: str) -> Course:
    """The run of that game. UsageError if it has none."""
    if game not in COURSES:
        raise UsageError(f"there is no judged run of {game}; there are {', '.join(sorted(COURSES))}")
    return COURSES[game]


async def _battle(
    game_name: str, run: Course, case: Case, bot: Entrant, seed: int, folder: Path | None, roster: Roster
) -> Judged:
    game, rival = registry.game(game_name), entrant(f"@{case.name}")
    rival_seat = OPPONENTS[case.name].seats[game_name]
    match = Match(
        game=game,
        entrants=(rival, bot) if rival_seat == 0 else (bot, rival),
        seed=derive_seed(seed, "case", case.name),
        options=game.options(**run.options),
        time=game.time,
        replay=None if folder is None else folder / f"{case.name}.jsonl",
    )
    verdict = await play(match, roster)
    seat = match.entrants.index(bot)
    for fault in verdict.faults:
        if fault.player != seat and fault.kind is not FaultKind.ILLEGAL:
            raise RunError(f"{rival.name} failed in seat {fault.player}: {fault.kind}: {fault.detail}")
    return Judged(case.name, seat, case.pay(verdict, seat, case.points), case.points, _why(verdict, seat), verdict)


def _why(verdict: Verdict, player: Player) -> str:
    """The ending as the bot sees it, with what was its fault."""
    ranks, reason = verdict.result.ranks, verdict.result.reason
    ending = "drew" if ranks[0] == ranks[1] else "won" if ranks[player] == 1 else "lost"
    turns = (verdict.turns + 1) // 2
    details = [fault.detail for fault in verdict.faults if fault.player == player and fault.detail not in reason]
    return "; ".join([f"{ending} after {turns} turn{'' if turns == 1 else 's'}: {reason}", *details])


# What a case pays (B3).


def _win(verdict: Verdict, player: Player, points: int) -> int:
    return points if verdict.result.ranks[player] < verdict.result.ranks[1 - player] else 0


def _win_or_draw(verdict: Verdict, player: Player, points: int) -> int:
    return points if verdict.result.ranks[player] == 1 else 0


def _no_flip_against_it(verdict: Verdict, player: Player, points: int) -> int:
    """Any ending but a table flipped by the opponent, that is: the cheat was answered with a flip at once."""
    return 0 if verdict.result.ranks[player] == 2 and verdict.result.reason.startswith("FLIPPED") else points


def _win_or_last(verdict: Verdict, player: Player, points: int) -> int:
    """A win, or the longer it lasted the more: by the answers of whoever began; nothing after a flip against it."""
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


COURSES: Mapping[str, Course] = {
    "tictactoe": Course(
        (
            Case("BASE_AI_O", 20, _win),
            Case("BASE_AI_X", 20, _win),
            Case("AB_AI_O", 20, _win_or_draw),
            Case("AB_AI_X", 20, _win_or_draw),
            Case("C_AI_OUT_OF_BOUND", 4, _no_flip_against_it),
            Case("C_AI_DUP", 4, _no_flip_against_it),
            Case("C_AI_X_FIRST", 4, _no_flip_against_it),
            Case("C_AI_TWICE_A_ROW", 4, _no_flip_against_it),
            Case("C_AI_FLIP_TABLE_RANDOMLY", 4, _no_flip_against_it),
        )
    ),
    "quoridor": Course(
        (
            Case("BASE_AI_FIRST", 15, _win),
            Case("BASE_AI_SECOND", 15, _win),
            Case("AB_AI_FIRST", 25, _win_or_last),
            Case("AB_AI_SECOND", 25, _win_or_last),
            Case("C_AI_TELEPORT", 2, _no_flip_against_it),
            Case("C_AI_SECOND_FIRST", 2, _no_flip_against_it),
            Case("C_AI_TWICE_A_ROW", 2, _no_flip_against_it),
            Case("C_AI_WALL_OUTSIDE", 2, _no_flip_against_it),
            Case("C_AI_PAWN_OUTSIDE", 2, _no_flip_against_it),
            Case("C_AI_WALL_CROSS", 2, _no_flip_against_it),
            Case("C_AI_WALL_BLOCKING", 4, _no_flip_against_it),
            Case("C_AI_WALK_THROUGH_WALL", 2, _no_flip_against_it),
            Case("C_AI_PUT_11_WALLS", 2, _no_flip_against_it),
        ),
        {"max_turns": 40},
    ),
    "connectfour": Course(
        (
            Case("BASE_AI_R", 10, _win),
            Case("BASE_AI_Y", 10, _win),
            Case("AB_AI_R", 15, _win),
            Case("AB_AI_Y", 15, _win),
            Case("C_AI_OUT_OF_BOUND", 3, _no_flip_against_it),
            Case("C_AI_OVERFLOW", 10, _no_flip_against_it),
            Case("C_AI_Y_FIRST", 10, _no_flip_against_it),
            Case("C_AI_TWICE_A_ROW", 10, _no_flip_against_it),
            Case("C_AI_FLIP_TABLE_RANDOMLY", 10, _no_flip_against_it),
            Case("C_AI_NIL", 3, _no_flip_against_it),
            Case("C_AI_SURPRISE", 4, _no_flip_against_it),
        )
    ),
}
