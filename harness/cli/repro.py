"""`referee repro BUNDLE BOT`: reproduces a fault of a match."""

import sys
from functools import partial
from pathlib import Path

import trio
from rich.text import Text

from referee.harness.cli.exit_codes import AT_FAULT, PLAYED
from referee.harness.cli.options import Flag
from referee.harness.cli.reports.text import as_json, cut, printable
from referee.harness.cli.screen import building, err, out, print_json
from referee.harness.cli.signals import run
from referee.harness.errors import UsageError
from referee.harness.match.repro import Reproduced, reproduce
from referee.harness.process.limits import recorded_limits
from referee.harness.programs.debuggers import attach_command, listening, process_of
from referee.harness.programs.spec import Entrant, entrant
from referee.harness.replay import fault_report
from referee.harness.replay.fault_report import FaultDetails
from referee.harness.seats.seat import Seat


def repro(bundle: Path, bot: str | None = None, *, fault: int = 1, debug: Flag = False, json: Flag = False) -> int:
    """Makes the calls up to a fault again, without a rival and without limits.

    Exit code 1 if the bot fails in that call again, 0 if not, so `git bisect run` can find the change that mattered.

    Parameters
    ----------
    bundle
        The fault report, a folder that the verdict names; or a replay, such as a tournament's.
    bot
        The bot, named as for a match. Default: the program of the match.
    fault
        The number of the fault in a replay, from 1.
    debug
        Before the call, print the bot's process id and how to attach a debugger, and wait for Enter.
    json
        Print one machine-readable object on standard output and nothing else.
    """
    details, _ = fault_report.read_any(bundle, fault)
    if bot is None:
        name = details.fault.name
        program = recorded_entrant(name, "BOT", name, details.command, details.folder)
    else:
        program = entrant(bot, details.game, recorded_limits(details.limits), building)
    if debug:
        program = listening(program)
    reproduced = run(partial(reproduce, bundle, fault, program, partial(_wait, program) if debug else None))
    if json:
        print_json(reproduced)
    else:
        _print(details, reproduced)
    return AT_FAULT if reproduced.at_fault else PLAYED


def recorded_entrant(seat: str, option: str, name: str, command: tuple[str, ...], folder: str) -> Entrant:
    """Returns the program that a replay names. UsageError if it is gone; `option` names another."""
    if not command or not folder or not Path(folder).is_dir() or not Path(folder, command[0]).exists():
        raise UsageError(f"{seat} cannot be started: its program is gone; name another with {option}")
    return Entrant(name, command, Path(folder))


async def _wait(program: Entrant, seat: Seat) -> None:
    pid = process_of(seat.account().process.pid)
    if pid is None:
        return
    err.print(Text(f"process {pid}; attach: {attach_command(pid, program)}"))
    err.print(Text("press Enter to make the call"))
    await trio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True)


def _print(details: FaultDetails, now: Reproduced) -> None:
    fault = details.fault
    out.print(Text(f"seat {fault.player} ({printable(fault.name)}), {details.game}, seed {details.seed}", style="bold"))
    if now.differs is not None:
        other = now.differs
        out.print(Text(f"call {other.call} {other.method} was answered differently:", style="yellow"))
        out.print(Text(f"  in the match: {as_json(other.recorded)}"))
        out.print(Text(f"  now:          {as_json(other.now)}"))
    elif now.calls:
        out.print(Text(f"{now.calls} call{'' if now.calls == 1 else 's'} answered as in the match"))
    out.print(Text(f"call {now.call} {now.method}, {now.wall_s * 1000:.1f} ms:"))
    out.print(Text(f"  in the match: {cut(now.recorded)}"))
    out.print(Text(f"  now:          {cut(now.now)}"))
    if now.said:
        out.print(Text("  standard error during this call:", style="dim"))
        for line in now.said:
            out.print(Text(f"    {printable(line)}"))
    word, style = ("the same", "bold red") if now.same else ("another fault", "bold red")
    if not now.at_fault:
        word, style = "no fault this time", "bold green"
    out.print(Text(word, style=style))
