"""The options of everything that plays on lanes: tournaments and gates."""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from referee.harness.errors import UsageError
from referee.harness.tournament.crew import Crew, open_local
from referee.harness.tournament.wire import Contest


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

    def checked(self) -> None:
        """UsageError for what cannot be."""
        for option, count in (("--jobs", self.jobs), ("--cores-per-lane", self.cores_per_lane)):
            if count is not None and count < 1:
                raise UsageError(f"{option} {count}: there must be one at least")

    def opened(self, contest: Contest) -> AbstractAsyncContextManager[Crew]:
        """The lanes, for a block."""
        return open_local(contest, self.jobs, self.cores_per_lane, not self.no_pin)
