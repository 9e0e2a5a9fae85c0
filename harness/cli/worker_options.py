"""Where tournaments and gates play: the options of lanes on this machine, and a cluster."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from referee.harness.errors import UsageError
from referee.harness.tournament.execution.local import Crew, open_local
from referee.harness.tournament.execution.worker_messages import Contest
from referee.harness.tournament.model import Plan


@Parameter(name="*", group="Lanes")
@dataclass(frozen=True, kw_only=True)
class LaneOptions:
    """How many games are played at a time, and where."""

    jobs: int | None = None
    """Games at a time. Default: one for every physical core."""
    cores_per_lane: int = 1
    """Cores for each of them, for bots that think at once."""
    no_pin: Annotated[bool, Parameter(negative=())] = False
    """Do not bind games to cores."""

    def checked(self, cluster: bool = False) -> None:
        """UsageError for what cannot be. `cluster`: a cluster's workers are the lanes."""
        for of_lanes in fields(self) if cluster else ():
            if getattr(self, of_lanes.name) != of_lanes.default:
                flag = f"--{of_lanes.name.replace('_', '-')}"
                raise UsageError(f"{flag} --cluster: one of the two; each of its workers plays a game at a time")
        for option, count in (("--jobs", self.jobs), ("--cores-per-lane", self.cores_per_lane)):
            if count is not None and count < 1:
                raise UsageError(f"{option} {count}: there must be one at least")

    def opened(self, contest: Contest) -> AbstractAsyncContextManager[Crew]:
        """The lanes, for a block."""
        return open_local(contest, self.jobs, self.cores_per_lane, not self.no_pin)


def check_cluster(address: str | None, tls: tuple[Path | None, ...], forfeit: bool) -> None:
    """UsageError for a wrong address and RunError for one where nobody is, before anything is written: so that the
    mended command finds no folder of this one. Without an address, UsageError for certificates."""
    if address is None:
        if any(tls):
            raise UsageError("--tls-ca, --tls-cert, --tls-key: they are for --cluster")
        return
    if forfeit:
        raise UsageError(
            "--forfeit --cluster: a bot is built by each worker, and one that cannot build it plays nothing"
        )
    try:
        from referee.harness.tournament.execution.dask import Tls, checked_address, knock
    except ImportError as error:
        raise UsageError(f"--cluster needs what pip install 'referee[cluster]' adds: {error}") from error
    checked_address(address, Tls(*tls))
    knock(address)


def on_cluster(
    contest: Contest,
    address: str,
    plan: Plan,
    folder: Path,
    tls: tuple[Path | None, ...],
    on_note: Callable[[str], None],
) -> AbstractAsyncContextManager[Crew]:
    """A cluster's workers, for a block."""
    from referee.harness.tournament.execution.dask import Tls, open_cluster

    return open_cluster(contest, address, plan, folder, Tls(*tls), on_note)
