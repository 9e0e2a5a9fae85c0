"""The interface between the runner and workers, wherever they are: jobs go in, events come out."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import trio
from msgspec import Struct

from referee.addons.tournament.execution.worker_messages import Contest, Done, Failed, Job, Played
from referee.addons.tournament.plan import Entry

QUEUED_JOBS = 2
"""Jobs that a worker has at once, unless a run sets another number, so that it never waits for the next."""
DRAIN_S = 5.0
"""How long running games may take to finish when a run is stopped."""


class Lost(Struct, frozen=True):
    """A worker died. The games of its jobs that it had not reported have to be played again."""

    jobs: tuple[int, ...]
    """The first is the one that it was playing."""
    started: bool
    """Whether it had started: otherwise no game can be the cause."""


class Unbuilt(Struct, frozen=True):
    """No worker can build or start a bot of a job, which is lost next."""

    job: int
    ident: str
    """Of the bot."""
    why: str
    """A line for each machine."""


Event = Played | Done | Failed | Lost | Unbuilt


class WorkerPool(ABC):
    """Takes jobs and sends events: some games of a job were played, a job is done, a worker or the run failed."""

    JOB_S = 0.25
    """How long a job should take, so that dispatching it costs little in comparison."""

    def __init__(self) -> None:
        self._send, self.events = trio.open_memory_channel[Event](1000)
        self.queued_jobs = QUEUED_JOBS
        """Jobs that a worker has at once."""
        self.waiting_s = 0.0
        """How long one worker would need for the games that no worker has; 0 while that is unknown."""

    @abstractmethod
    def room(self) -> int:
        """Returns how many more jobs the workers take now."""

    @abstractmethod
    async def give(self, job: Job) -> None:
        """Gives a job to a worker. Only while there is room."""

    @abstractmethod
    async def enter(self, contest: Contest, bots: Sequence[Entry]) -> None:
        """Has the workers know the bots of a changed tournament before they get its next jobs."""

    @abstractmethod
    async def stop(self, drain_s: float = DRAIN_S) -> None:
        """Lets running games finish within that time, then ends all workers and the events. May be called again."""
