"""The play process of a contest: `python -m referee.harness.host.play_process FOLDER GAMES`.

It ends when its standard input does, which is when `referee host` ends.
"""

import os
import signal
import sys
import threading
from pathlib import Path

from referee.harness.errors import NotIsolated, RunError, UsageError
from referee.harness.host.orders import DatabaseOrders
from referee.harness.host.play import run
from referee.harness.host.store import Store
from referee.harness.tournament.execution.local import open_local
from referee.protocol.text import printable


def main(folder: Path, games: int) -> int:
    """Plays until standard input ends. `games`: how many at a time. Returns the exit code."""
    threading.Thread(target=_end_with_input, daemon=True).start()
    try:
        run(
            folder,
            DatabaseOrders(Store(folder)),
            lambda contest, plan: open_local(contest, games, 1, True),
            on_note=_note,
        )
    except (NotIsolated, RunError, UsageError) as error:
        _note(str(error))
        return 3
    return 0


def _end_with_input() -> None:
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def _note(text: str) -> None:
    sys.stderr.write(f"{printable(text)}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2])))
