"""Where tournaments and gates play: the options for workers on this machine, and for a cluster."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from referee.addons.tournament.execution.local import open_local
from referee.addons.tournament.execution.worker_messages import Contest
from referee.addons.tournament.execution.worker_pool import WorkerPool
from referee.addons.tournament.plan import Plan
from referee.harness.cli.options import MORE, MORE_TITLE, POSITIVE
from referee.harness.common.errors import UsageError
from referee.harness.common.installed import extra_command

if TYPE_CHECKING:
    from referee.addons.tournament.execution.dask import Tls


@Parameter(name="*", group="Workers")
@dataclass(frozen=True, kw_only=True)
class WorkerOptions:
    """How many games to play at a time on this machine."""

    jobs: Annotated[int | None, Parameter(validator=POSITIVE)] = None
    """Games at a time. Default: one for every physical core."""
    cores_per_worker: Annotated[int, Parameter(group=MORE_TITLE, validator=POSITIVE)] = 1
    """Cores for each game, for bots that think at the same time."""
    no_pin: Annotated[bool, MORE] = False
    """Do not pin games to cores."""

    def opened(self, contest: Contest) -> AbstractAsyncContextManager[WorkerPool]:
        """Returns a block with the workers."""
        return open_local(contest, self.jobs, self.cores_per_worker, not self.no_pin)


@Parameter(name="*", group=MORE_TITLE)
@dataclass(frozen=True, kw_only=True)
class ClusterOptions:
    """Workers on other machines."""

    cluster: str | None = None
    """Play on the workers of a Dask cluster, such as tls://HOST:8786; needs the extra `cluster`."""
    tls_ca: Path | None = None
    """The certificate of the authority that signed those of the cluster."""
    tls_cert: Path | None = None
    """Your certificate."""
    tls_key: Path | None = None
    """The key of your certificate."""

    def check(self, workers: WorkerOptions, forfeit: bool) -> None:
        """Raises UsageError for options that cannot be combined or are wrong, RunError if nothing listens there.

        Called before a folder is created: otherwise the corrected command would find that folder in use.
        """
        if self.cluster is None:
            if self != ClusterOptions():
                raise UsageError("--tls-ca, --tls-cert and --tls-key need --cluster")
            return
        for option, used in (
            ("--jobs", workers.jobs is not None),
            ("--cores-per-worker", workers.cores_per_worker != 1),
            ("--no-pin", workers.no_pin),
        ):
            if used:
                why = "each worker of a cluster plays one game at a time"
                raise UsageError(f"{option} cannot be combined with --cluster; {why}")
        if forfeit:
            why = "a worker that cannot build a bot plays nothing"
            raise UsageError(f"--forfeit cannot be combined with --cluster: {why}")
        try:
            from referee.addons.tournament.execution.dask import check_address
        except ImportError as error:
            raise UsageError(
                f"--cluster needs the extra `cluster` ({error}); to install it: {extra_command('cluster')}"
            ) from error
        check_address(self.cluster, self._tls())

    def opened(
        self, contest: Contest, plan: Plan, folder: Path, on_note: Callable[[str], None]
    ) -> AbstractAsyncContextManager[WorkerPool]:
        """Returns a block with the workers."""
        from referee.addons.tournament.execution.dask import open_cluster

        assert self.cluster is not None
        return open_cluster(contest, self.cluster, plan, folder, self._tls(), on_note)

    def _tls(self) -> "Tls":
        from referee.addons.tournament.execution.dask import Tls

        return Tls(self.tls_ca, self.tls_cert, self.tls_key)
