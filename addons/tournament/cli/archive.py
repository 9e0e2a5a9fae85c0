"""`referee tournament archive`: writes a tournament as one file."""

from pathlib import Path

from referee.addons.tournament.reports import tournament_archive
from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.screen import out
from referee.protocol.text import counted


def archive(folder: Path, file: Path) -> int:
    """Writes a tournament that is over as one file: its bots, ledger, replays, finals and pages.

    `referee tournament verify FILE` checks it. The bots' programs and standard error are in it: publish it only if
    their authors agree.

    Args:
        folder: The tournament's folder, which nobody uses now.
        file: FILE.zip: the archive. An older one is replaced.
    """
    out.print(f"{file}: {counted(tournament_archive.write(folder, file), 'file')}")
    return PLAYED
