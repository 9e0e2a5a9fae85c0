"""Starts a program once before any match, so that one that cannot be started counts as a bot that cannot be built."""

import trio

from referee.harness.common.errors import RunError
from referee.harness.process.limits import Limits
from referee.harness.programs import kinds, start_problem
from referee.harness.programs.build_process import BuildError
from referee.harness.programs.entrant import Entrant
from referee.harness.seats.roster import open_roster
from referee.harness.seats.starter import StartRefused


def check_start(entrant: Entrant, limits: Limits) -> None:
    """BuildError if the system cannot start a program in its sandbox, RunError if this machine lacks its interpreter.

    Only a trial shows what the sandbox hides. It takes 0.1 s, so a program that needs nothing but the system has none.
    """
    if not kinds.called(entrant.kind).has_process:
        return
    if entrant.image is None:
        start_problem.check_start(entrant.name, entrant.argv[0])
        if start_problem.surely_starts(entrant.argv[0]):
            return
    trio.run(_start_once, entrant, limits)


async def _start_once(entrant: Entrant, limits: Limits) -> None:
    async with open_roster(limits) as roster:
        try:
            await roster.start(entrant)
        except StartRefused as error:
            raise BuildError(entrant.name, str(error).removeprefix(f"{entrant.name} ")) from error
        except RunError:
            return  # the machine's fault: the first match reports it
        await roster.close(orderly=False)
