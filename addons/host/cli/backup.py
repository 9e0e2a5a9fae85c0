"""`referee host backup` and `referee host restore`."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from referee.addons.web.cli.view import web_extra
from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.limit_options import LimitOptions
from referee.harness.cli.reports.text import counted, printable
from referee.harness.cli.screen import err, out
from referee.harness.process.limits import Limits

SHOWN = 10
"""How many lines about what was left out are printed."""


def backup(cup: Path, file: Path) -> int:
    """Writes a backup of a contest, also while it runs.

    Everything that was accepted and every game that had ended before is in it. It holds secrets, such as what teams
    handed in and the secret of the next final: keep it to yourself.

    Args:
        cup: The contest's folder.
        file: FILE.tar: the backup. An older one is replaced.
    """
    with web_extra("referee host"):
        from referee.addons.host import backup as backups
    size = backups.backup(cup, file)
    out.print(f"{file}: {size / 1e6:,.1f} MB")
    return PLAYED


def restore(file: Path, cup: Path, *, trust: bool = False) -> int:
    """Makes a contest's folder of a backup. `referee host CUP` then goes on where the backup was made.

    Args:
        file: FILE.tar: the backup.
        cup: The contest's folder, which must be new or empty.
        trust: Leave nothing out, and accept bots that are command lines of this machine, isolation that is weaker than
            the default, limits wider than four times the defaults, and calls of more than an hour. For your own backups
            only: those of strangers could run any program.
    """
    with web_extra("referee host"):
        from referee.addons.host.restore import restore as restore_backup
    notes: list[str] = []
    count = restore_backup(file, cup, limits_of, trust, notes.append)
    for line in notes[:SHOWN]:
        err.print(printable(line))
    if more := notes[SHOWN:]:
        err.print(f"and {len(more)} more such lines; with --trust, nothing is left out")
    out.print(f"{cup}: {counted(count, 'file')}; to go on: referee host {shlex.quote(str(cup))}")
    return PLAYED


def limits_of(options: Sequence[str]) -> Limits:
    """Returns the limits that options of `referee check`, each with its value, set. UsageError for wrong ones."""
    given: dict[str, list[str]] = {}
    for option, value in zip(options[::2], options[1::2], strict=True):
        given.setdefault(option, []).append(value)
    default = LimitOptions()
    return LimitOptions(
        memory=given.get("--memory", [default.memory])[-1],
        limit=given.get("--limit", ()),
        build=given.get("--build", ()),
    ).limits()
