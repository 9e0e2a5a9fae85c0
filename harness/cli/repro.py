"""`referee repro BUNDLE BOT`: reproduces a fault of a match."""

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path

import trio
from rich.text import Text

from referee.games.contract import FaultKind
from referee.harness.cli.exit_codes import AT_FAULT, PLAYED
from referee.harness.cli.options import GameFolder, Json, name_folder
from referee.harness.cli.recorded_bots import RecordedOptions, agree, recorded_entrant
from referee.harness.cli.reports.text import as_json, counted, cut, printable
from referee.harness.cli.screen import building, err, print_result
from referee.harness.cli.signals import run
from referee.harness.common.errors import NotIsolated, NotTested, RunError
from referee.harness.match.rerun.repro import PATIENCE, Reproduced, reproduce
from referee.harness.process.limits import Limits
from referee.harness.programs.debuggers import attach_command, listening, process_of
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.kinds import from_transcript
from referee.harness.programs.spec import entrant
from referee.harness.replay import fault_report
from referee.harness.replay.fault_report import FaultDetails
from referee.harness.seats.seat import Seat


def repro(
    bundle: Path,
    bot: str | None = None,
    *,
    fault: int = 1,
    debug: bool = False,
    game: GameFolder = None,
    options: RecordedOptions = RecordedOptions(),
    json: Json = False,
) -> int:
    """Reproduces a fault of a match.

    Makes the calls up to the fault again, without opponents and with wide limits. A second run shows the stack of a
    crash by a signal, if gdb is installed, and that of a late bot when its time is up.

    Exit code 1 if the bot fails in that call again, 0 if not, and 125 if it cannot be built or started. So `git bisect
    run` can find the change that mattered.

    Args:
        bundle: The fault report, a folder that the verdict names; or a replay, such as a tournament's.
        bot: The bot, named as for a match. Default: the program of the match, if you agree to start it. A language
            model then answers from the transcript in the replay (`--transcripts`), and no service is asked.
        fault: The number of the fault in a replay, from 1.
        debug: Before the call, print the bot's process id and how to attach a debugger, and wait for Enter. Without
            isolation, unless --isolation asks for it: no debugger reaches into a sandbox.
    """
    name_folder(game)
    isolation = options.isolated("off" if debug else "auto")
    details, replay = fault_report.read_any(bundle, fault)
    options.limits(replay)
    if bot is None and (kept := from_transcript(replay, details.fault.player)) is not None:
        program = kept
    elif bot is None:
        program = recorded_entrant(replay, details.fault.player, details.command, details.folder, "BOT")
        instead = shlex.join(["referee", "repro", str(bundle), "BOT", *(("--fault", str(fault)) if fault > 1 else ())])
        agree(bundle, details.game, {details.fault.player: program}, options, instead)
    with _named_bot() if bot is not None else nullcontext():
        if bot is not None:
            program = entrant(bot, details.game, Limits(isolation=options.isolated()), building)
        if debug:
            program = listening(program)
        if details.fault.kind is FaultKind.TIMEOUT and not debug:
            most_s = max(PATIENCE * details.fault.wall_s, PATIENCE)
            err.print(f"waiting up to {most_s:.0f} s for the late answer; Ctrl-C ends this", style="dim")
        waits = partial(_wait, program) if debug else None
        reproduced = run(partial(reproduce, bundle, fault, program, isolation, waits))
    print_result(reproduced, _shown(details, reproduced), json)
    return AT_FAULT if reproduced.at_fault else PLAYED


@contextmanager
def _named_bot() -> Iterator[None]:
    """Turns a failed build or start into NotTested."""
    try:
        yield
    except NotIsolated:
        raise
    except RunError as error:
        raise NotTested(str(error)) from error


async def _wait(program: Entrant, seat: Seat) -> None:
    pid = process_of(seat.status().process.pid)
    if pid is None:
        return
    err.print(f"process {pid}; attach: {attach_command(pid, program)}")
    err.print("press Enter to make the call")
    await trio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True)


def _shown(details: FaultDetails, now: Reproduced) -> Text:
    fault = details.fault
    who = f"seat {fault.player} ({printable(fault.name)}), {details.game}, seed {details.seed}"
    lines = [Text(who, style="bold")]
    if now.differs is not None:
        other = now.differs
        lines.append(Text(f"call {other.call} {other.method} was answered differently:", style="yellow"))
        lines.append(Text(f"  in the match: {as_json(other.recorded)}"))
        lines.append(Text(f"  now:          {as_json(other.now)}"))
    elif now.calls:
        lines.append(Text(f"{counted(now.calls, 'call')} answered as in the match"))
    if now.note:
        lines.append(Text(now.note, style="yellow"))
    lines.append(Text(f"call {now.call} {now.method}, {now.wall_s * 1000:.1f} ms:"))
    lines.append(Text(f"  in the match: {cut(now.recorded)}"))
    lines.append(Text(f"  now:          {cut(now.now)}"))
    if now.said:
        lines.append(Text("  standard error during this call:", style="dim"))
        lines += [Text(f"    {printable(line)}") for line in now.said]
    if now.backtrace:
        lines.append(Text("  backtrace:", style="dim"))
        lines += [Text(f"    {cut(line)}") for line in now.backtrace]
    if now.at_fault:
        lines.append(Text("the same" if now.same else "another fault", style="bold red"))
    else:
        lines.append(Text("no fault this time", style="bold green"))
    return Text("\n").join(lines)
