"""Where tournaments and gates play: the options for workers on this machine, and for a cluster."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from referee.harness.errors import UsageError
from referee.harness.tournament.execution.local import open_local
from referee.harness.tournament.execution.worker_messages import Contest
from referee.harness.tournament.execution.worker_pool import WorkerPool
from referee.harness.tournament.model import Plan


@Parameter(name="*", group="Workers")
@dataclass(frozen=True, kw_only=True)
class WorkerOptions:
    """How many games to play at a time, and where."""

    jobs: int | None = None
    """Games at a time. Default: one for every physical core."""
    cores_per_worker: Annotated[int, Parameter(name="--cores-per-lane")] = 1
    """Cores for each game, for bots that think at the same time."""
    no_pin: Annotated[bool, Parameter(negative=())] = False
    """Do not pin games to cores."""

    def check(self, cluster: bool = False) -> None:
        """Raises UsageError for values that make no sense, and for any together with a cluster."""
        options = {"--jobs": self.jobs, "--cores-per-lane": self.cores_per_worker, "--no-pin": self.no_pin}
        defaults = (None, 1, False)
        for (option, value), default in zip(options.items(), defaults, strict=True):
            if cluster and value != default:
                raise UsageError(
                    f"{option} cannot be combined with --cluster; each worker of a cluster plays one game at a time"
                )
            if option != "--no-pin" and value is not None and value < 1:
                raise UsageError(f"{option} {value}: must be at least 1")

    def opened(self, contest: Contest) -> AbstractAsyncContextManager[WorkerPool]:
        """Returns a block with the workers."""
        return open_local(contest, self.jobs, self.cores_per_worker, not self.no_pin)


def check_cluster(address: str | None, tls: tuple[Path | None, ...], forfeit: bool) -> None:
    """Raises UsageError for a wrong address or wrong certificates, RunError if nothing listens at the address.

    Called before anything is written, so that the corrected command does not meet the folder of this one.
    """
    if address is None:
        if any(tls):
            raise UsageError("--tls-ca, --tls-cert and --tls-key need --cluster")
        return
    if forfeit:
        raise UsageError("--forfeit cannot be combined with --cluster: a worker that cannot build a bot plays nothing")
    try:
        from referee.harness.tournament.execution.dask import Tls, check_address
    except ImportError as error:
        raise UsageError(f"--cluster needs what pip install 'referee[cluster]' adds: {error}") from error
    check_address(address, Tls(*tls))


def on_cluster(
    contest: Contest,
    address: str,
    plan: Plan,
    folder: Path,
    tls: tuple[Path | None, ...],
    on_note: Callable[[str], None],
) -> AbstractAsyncContextManager[WorkerPool]:
    """Returns a block with the workers of a cluster."""
    from referee.harness.tournament.execution.dask import Tls, open_cluster

    return open_cluster(contest, address, plan, folder, Tls(*tls), on_note)
