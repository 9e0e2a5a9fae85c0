"""`referee tournament add` and `withdraw`: who takes part, also while a tournament is played."""

from pathlib import Path

from referee.addons.tournament import organise
from referee.addons.tournament.contests import refuse_contest
from referee.addons.tournament.inbox import Withdraw, hand_in
from referee.addons.tournament.plan import Plan, read_plan
from referee.addons.tournament.store.ledger import PLAN
from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.reports.text import counted, printable
from referee.harness.cli.screen import err, out
from referee.harness.common.errors import UsageError
from referee.protocol.text import listed


def add(folder: Path, *bots: str, keep_points: bool = False) -> int:
    """Adds bots to a tournament, also while it is played.

    `referee tournament run FOLDER` plays their games. Other games stay as they are. In a Swiss, bots play from the next
    round on, and have byes for the rounds that they missed.

    Args:
        folder: The tournament's folder.
        bots: As for a tournament. The name of a withdrawn bot takes it back.
        keep_points: In a Swiss, give new versions the place and points of their predecessors, not 0 points.
    """
    if not bots:
        raise UsageError("no bot is named; expected `referee tournament add FOLDER BOT`")
    refuse_contest(folder)
    before = read_plan(folder / PLAN).older
    plan, waits = organise.add(folder, bots, keep_points)
    for ident, label in plan.labels.items():
        if ident in plan.older - before and plan.format != "swiss":
            err.print(printable(f"{label} has a newer version: its games no longer count"))
    _say(folder, plan, waits)
    return PLAYED


def withdraw(folder: Path, *names: str, void: bool = False) -> int:
    """Withdraws bots: they play no more, also in a running tournament.

    Games that workers have already are played to their end. `referee tournament add FOLDER NAME` takes a bot back.

    Args:
        folder: The tournament's folder.
        names: The names of bots.
        void: Their games count for nobody, as after a disqualification. Default: games that were played count.
    """
    if not names:
        raise UsageError("no bot is named; expected `referee tournament withdraw FOLDER NAME`")
    refuse_contest(folder)
    plan, waits = hand_in(folder, Withdraw(names, void))
    _say(folder, plan, waits)
    return PLAYED


def _say(folder: Path, plan: Plan, waits: bool) -> None:
    present = sum(not entry.absent for entry in plan.bots)
    gone = [entry.name for entry in plan.bots if entry.withdrawn]
    text = f"{folder}: {counted(present, 'bot')}"
    text += f"; withdrawn: {listed(gone)}" if gone else ""
    out.print(printable(text))
    if waits:
        err.print("the run that plays this tournament will take the change in")
