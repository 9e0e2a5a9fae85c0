"""`referee gate --split`: what a new bot's set-up is worth, and what its play."""

import sys
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import msgspec

from referee.addons.tournament import organise
from referee.addons.tournament.execution.tournament_games import TournamentGames, contest_of
from referee.addons.tournament.execution.worker_messages import Contest
from referee.addons.tournament.gate import Report, Split
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.ledger import PLAN, Ledger
from referee.games.game import Game
from referee.harness.cli.screen import progress
from referee.harness.common.errors import UsageError
from referee.harness.common.paths import HOME
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.kinds import split_name

RUNNER = HOME / "addons" / "tournament" / "split_bot.py"
KINDS = ("program", "command line")
SET_UP, PLAY = "set-up", "play"
"""The part of the new bot that meets the old one; the other part is the old one's."""


def check(rules: Game) -> None:
    """UsageError for a game in which bots do not set up."""
    if not rules.set_up:
        raise UsageError(f"--split: at {rules.name}, bots do not set up; leave the option out")


def played(
    rules: Game,
    request: organise.Request,
    folder: Path,
    decide: Callable[[TournamentGames, Any, str], Report],
    workers: Callable[[Contest], Any],
) -> tuple[Split, ...]:
    """Plays a gate for each part of the new bot against the whole old one, in folders of their own.

    `decide` plays the games of one gate, `workers` opens workers for a contest.
    """
    new, old, *_ = [split_name(spec)[1] for spec in request.bots]
    found = []
    for part in (SET_UP, PLAY):
        own = folder / part
        bots = (f"{part}={new}", *[f"old={old}"] * (len(request.bots) - 1))
        with ExitStack() as stack:
            asked = msgspec.structs.replace(request, bots=bots)
            plan = stack.enter_context(organise.arranged(asked, own, (own / PLAN).is_file(), fewer=True))
            with progress() as show:
                plan, programs = organise.programs(plan, own, progress=show)
            newer, older = (programs[plan.bots[place].ident] for place in (0, 1))
            whole = (newer, older) if part == SET_UP else (older, newer)
            programs[plan.bots[0].ident] = joined(part, rules.set_up, *whole)
            opened = stack.enter_context(closing(Ledger(own, msgspec.to_builtins(plan))))
            games = TournamentGames(plan, opened, reader.read(own))
            report = decide(games, workers(contest_of(plan, programs, "all", own)), part)
        found.append(Split(part, report.games, report.strength, report.faults_new))
    return tuple(found)


def joined(name: str, methods: tuple[str, ...], set_up: Entrant, play: Entrant) -> Entrant:
    """Returns a bot that sets up as one and plays as another. UsageError for bots that are no programs."""
    for each in (set_up, play):
        if each.kind not in KINDS or each.image is not None or each.variables:
            raise UsageError(f"--split: {each.name}: expected two programs, without variables of their own")
    words = ",".join(methods), str(set_up.cwd), str(len(set_up.argv)), *set_up.argv, str(play.cwd), *play.argv
    return Entrant(name, (sys.executable, "-P", str(RUNNER), *words), HOME, "command line")
