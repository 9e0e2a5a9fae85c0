"""The process that plays a hosted contest: `python -m referee.harness.host.play_process FOLDER SETTINGS`.

`referee host` starts it, beside its web process, and starts it again when it has ended. It ends when its standard input
does, or at a signal. SETTINGS is JSON.
"""

import sys
import time
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import msgspec
from msgspec import Struct

from referee.harness.errors import RunError, UsageError
from referee.harness.host import play
from referee.harness.host.orders import DatabaseOrders
from referee.harness.host.store import Store
from referee.harness.tournament.execution.local import open_local
from referee.harness.tournament.execution.worker_messages import Contest
from referee.harness.tournament.execution.worker_pool import WorkerPool
from referee.harness.tournament.plan import Plan

PROGRAM = [sys.executable, "-m", "referee.harness.host.play_process"]
FAILED, WRONG = 3, 2
"""Exit codes: the run failed; the folder holds no contest, or another process plays it."""


class PlaySettings(Struct, frozen=True):
    """Where a contest plays."""

    jobs: int | None = None
    """Games at a time on this machine; None = one for every physical core."""
    cores_each: int = 1
    pin: bool = True
    cluster: str | None = None
    """The address of a Dask cluster, which plays instead of this machine."""
    tls: tuple[Path | None, Path | None, Path | None] = (None, None, None)
    """The files of the cluster's authority, and of a certificate and its key."""
    failures: int = play.FAILURES
    """A version is set aside after so many games with a fault in a row."""

    def opened(self, contest: Contest, plan: Plan, folder: Path) -> AbstractAsyncContextManager[WorkerPool]:
        """Opens the workers."""
        if self.cluster is None:
            return open_local(contest, self.jobs, self.cores_each, self.pin)
        from referee.harness.tournament.execution.dask import Tls, open_cluster

        return open_cluster(contest, self.cluster, plan, folder, Tls(*self.tls), note)


def note(text: str) -> None:
    """Prints a line of the log."""
    shown = "".join(letter if letter.isprintable() else "?" for letter in text)
    sys.stderr.write(f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} play {shown}\n")
    sys.stderr.flush()


def main() -> int:
    """Runs the program."""
    folder = Path(sys.argv[1])
    try:
        settings = msgspec.json.decode(sys.argv[2], type=PlaySettings)
        play.run(
            folder,
            DatabaseOrders(Store(folder)),
            lambda contest, plan: settings.opened(contest, plan, folder),
            settings.cluster is None,
            settings.failures,
            note,
        )
    except UsageError as error:
        note(str(error))
        return WRONG
    except RunError as error:
        note(str(error))
        return FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main())
