"""`referee export problem`: writes a problem package for a school's judge."""

import shlex
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import App, Parameter

from referee.addons.export.problem import Accept, Terms, write_problem
from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.options import POSITIVE, GameName, Seed, SetupOptions, drawn
from referee.harness.cli.screen import out
from referee.harness.common.known_games import typed_game
from referee.harness.programs.built_in import check_seats
from referee.harness.programs.private_files import left_out_line

export_app = App(name="export", help="Writes packages for other systems.")


@export_app.command(name="problem")
def export_problem(
    *,
    game: GameName,
    against: str,
    into: Path,
    accept: Accept = Accept.FINISH,
    solution: Path | None = None,
    tests: Annotated[int, Parameter(validator=POSITIVE)] = 3,
    seed: Seed = None,
    setup: SetupOptions = SetupOptions(),
) -> int:
    """Writes a problem package for Kattis and DOMjudge.

    The problem is interactive, and Referee is its output validator: the judge's machine needs this version of it.

    Args:
        against: The opponent: @NAME, a file or a folder, which is copied.
        into: The folder of the package, new or empty. Its name is the problem's short name.
        accept: finish: the submission plays without a fault; draw: it also loses no match; win: it wins them all.
        solution: A bot that must be accepted, a file or a folder. Default: the Python kit's bot.
        tests: Secret tests for every seat, each with a seed of its own.
    """
    played = typed_game(game)
    check_seats([against], played.name, every_seat=True)
    seats = played.seats.start
    limits, time, options = setup.resolved(played, seats)
    terms = Terms(played.name, msgspec.to_builtins(options), seats, against, accept, limits, time)
    if private := write_problem(played, terms, into, solution, drawn(seed), tests):
        out.print(left_out_line(private))
    out.print(f"Created {into}. Next: verifyproblem {shlex.quote(str(into))}   (pip install problemtools)")
    return PLAYED
