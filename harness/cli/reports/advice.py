"""Advice about a fault for the author of the bot, from its standard error, its time and the end of its process."""

import re
from collections.abc import Sequence
from pathlib import Path

from referee.games.contract import FaultKind
from referee.harness.process.core_wait import own_thread
from referee.harness.process.limits import died_of_error, exit_words
from referee.harness.programs.debuggers import crash_advice
from referee.harness.programs.kinds import late_advice
from referee.harness.replay.lines import FaultReport

BUSY_SHARE = 0.5
"""A late bot that used this share of its time as CPU time computed. It waited if it used `IDLE_SHARE` or less."""
IDLE_SHARE = 0.1
_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '([^']+)'")
_NOT_INSTALLED = re.compile(r"\b(?:ERR_)?MODULE_NOT_FOUND\b")
_SHADOWED = re.compile(r"partially initialized module '(\w+)'")
_HIDDEN = re.compile(r"Read-only file system|Permission denied|\b(?:EROFS|EACCES)\b")


def advice(fault: FaultReport, command: Sequence[str]) -> str | None:
    """Returns what to do about a fault of the bot that this command runs; None if its detail says it already."""
    if died_of_error(fault.exit):
        return crash_advice(command)
    text = "\n".join(fault.said or fault.last_words)
    if missing := _NO_MODULE.search(text):
        return _module(missing[1], command)
    if _NOT_INSTALLED.search(text):
        return "put the module into the bot's folder, for example with `npm install`; standard error names it"
    if own := _SHADOWED.search(text):
        return f"rename {own[1]}.py: it is loaded instead of the module {own[1]}, or the two import each other"
    if _HIDDEN.search(text):
        return "in a match, a bot reads its own folder and the system, and writes to $HOME and $TMPDIR only"
    if fault.kind is FaultKind.CRASH and fault.exit == exit_words(0):
        return "read standard input until `exit`; with a kit, call run(…) at the end of the program"
    if fault.detail.startswith("the answer is not an object"):
        return (
            "return an Action of the kit, or an object with the member `action`; a function without return gives null"
        )
    if fault.kind is FaultKind.TIMEOUT and not fault.host_noise and fault.wall_s > 0:
        known = late_advice(command)
        return _late(fault) if known is None else known or None
    return None


def _module(name: str, command: Sequence[str]) -> str:
    python = next((word for word in command if Path(word).name.startswith("python")), "python3")
    return f"put {name.partition('.')[0]}.py into the bot's folder, or install the package for {python}"


def _late(fault: FaultReport) -> str | None:
    share = fault.cpu_s / fault.wall_s
    used = f"it used {fault.cpu_s:.2f} s of CPU time in {fault.wall_s:.2f} s"
    if share >= BUSY_SHARE:
        return f"{used}, so it computed: look for a loop without end, and at `clock`; `referee repro` shows its stack"
    if share <= IDLE_SHARE and "did you flush" not in fault.detail:
        machine = "" if own_thread().ran_ns > 0 else ", or for a core, which this machine does not count"
        what = f"for input, a lock, a sleep or another program{machine}"
        return f"{used}, so it waited: {what}; `referee repro` shows its stack"
    return None
