"""`referee repro BUNDLE BOT`: a fault of a match again, for whoever looks for its cause."""

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
from referee.harness.programs.debuggers import attach_command, listening, process_of
from referee.harness.programs.spec import Entrant, entrant
from referee.harness.replay import fault_report as bundles
from referee.harness.replay.fault_report import Bundle
from referee.harness.seats.seat import Seat


def repro(bundle: Path, bot: str | None = None, *, fault: int = 1, debug: Flag = False, json: Flag = False) -> int:
    """Asks a bot again what it was asked up to a fault, without a rival and without limits.

    Exit code 1 if it is at fault in that call again, 0 if it is not: `git bisect run` finds the change that mattered.

    Parameters
    ----------
    bundle
        The folder that the verdict names at the fault; or a record, such as one of a tournament's.
    bot
        The bot, named as for a match. Default: the program that was at fault, where it was.
    fault
        Of a record that tells of several faults the one of this number, from 1.
    debug
        Before the call in question print the bot's process and how a debugger is attached to it, and wait for Enter.
    json
        Print one machine-readable object on standard output and nothing else.
    """
    found, _ = bundles.read_any(bundle, fault)
    if bot is None:
        program = recorded(found.fault.name, "name the bot", found.fault.name, found.command, found.folder)
    else:
        program = entrant(bot, found.game, found.limits, building)
    if debug:
        program = listening(program)
    reproduced = run(partial(reproduce, bundle, fault, program, partial(_wait, program) if debug else None))
    if json:
        print_json(reproduced)
    else:
        _tell(found, reproduced)
    return AT_FAULT if reproduced.at_fault else PLAYED


def recorded(who: str, otherwise: str, name: str, command: tuple[str, ...], folder: str) -> Entrant:
    """A program that a record names. UsageError if it is not there any more; `otherwise`: how to name another."""
    if not command or not folder or not Path(folder).is_dir() or not Path(folder, command[0]).exists():
        raise UsageError(f"{who} cannot be started: its program is not where it was; {otherwise}")
    return Entrant(name, command, Path(folder))


async def _wait(program: Entrant, seat: Seat) -> None:
    pid = process_of(seat)
    if pid is None:
        return
    err.print(Text(f"process {pid}; attach: {attach_command(pid, program)}"))
    err.print(Text("Enter makes the call"))
    await trio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True)


def _tell(found: Bundle, now: Reproduced) -> None:
    fault = found.fault
    out.print(Text(f"seat {fault.player} ({printable(fault.name)}), {found.game}, seed {found.seed}", style="bold"))
    if now.differs is not None:
        other = now.differs
        out.print(Text(f"call {other.call} {other.method} was answered otherwise before that:", style="yellow"))
        out.print(Text(f"  in the match: {as_json(other.recorded)}"))
        out.print(Text(f"  now:          {as_json(other.now)}"))
    elif now.calls:
        out.print(Text(f"{now.calls} call{'' if now.calls == 1 else 's'} answered as in the match"))
    out.print(Text(f"call {now.call} {now.method}, {now.wall_s * 1000:.1f} ms:"))
    out.print(Text(f"  in the match: {cut(now.recorded)}"))
    out.print(Text(f"  now:          {cut(now.now)}"))
    if now.said:
        out.print(Text("  on standard error, in this call:", style="dim"))
        for line in now.said:
            out.print(Text(f"    {printable(line)}"))
    word, style = ("the same", "bold red") if now.same else ("another fault", "bold red")
    if not now.at_fault:
        word, style = "no fault this time", "bold green"
    out.print(Text(word, style=style))
