"""`referee host play`: plays a hosted contest, beside its web process."""

import sys
import time
from pathlib import Path

from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.reports.text import printable
from referee.harness.cli.worker_options import ClusterOptions, WorkerOptions
from referee.harness.errors import UsageError
from referee.harness.host import play
from referee.harness.host.orders import DatabaseOrders
from referee.harness.host.store import Store
from referee.harness.tournament.store.ledger import PLAN


def play_contest(
    cup: Path,
    *,
    workers: WorkerOptions = WorkerOptions(),
    cluster: ClusterOptions = ClusterOptions(),
    failures: int = play.FAILURES,
) -> int:
    """Plays the games of a hosted contest until it is stopped. `referee host` starts it, beside its web process.

    It takes new versions in while it plays. A kill loses no finished game.

    Exit codes: 0 stopped by a signal, 2 usage, 3 the run itself failed.

    Args:
        cup: The contest's folder.
        failures: A version is set aside after this many games with a fault in a row.
    """
    if not (cup / PLAN).is_file():
        raise UsageError(f"{cup} holds no contest; `referee host {cup} --game GAME` makes one")
    cluster.check(workers, forfeit=False)
    on_cluster = cluster.cluster is not None
    play.run(
        cup,
        DatabaseOrders(Store(cup)),
        lambda contest, plan: cluster.opened(contest, plan, cup, note) if on_cluster else workers.opened(contest),
        builds=not on_cluster,
        failures=failures,
        on_note=note,
    )
    return PLAYED


def note(text: str) -> None:
    """Prints a line of the log to standard error."""
    sys.stderr.write(f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} play {printable(text)}\n")
    sys.stderr.flush()
