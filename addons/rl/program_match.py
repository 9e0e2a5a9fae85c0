"""A match against programs, with the members of an `Episode`."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from referee.addons.rl.episode import Rewards
from referee.addons.rl.match_thread import Worker
from referee.games.contract import Player, Result, State
from referee.harness.match.match import Match
from referee.harness.match.verdict import Verdict
from referee.harness.programs.entrant import Entrant
from referee.harness.seats.decision import Decision
from referee.harness.seats.kinds import FUNCTION


class ProgramMatch:
    """A match in a worker. It is begun at once; `wait` before anything else, and after each `send`."""

    def __init__(self, worker: Worker, match: Match, seat: Player) -> None:
        """`match`: the entrant of `seat` stands for the learner."""
        self._worker, self._seat = worker, seat
        self._last: Decision | None = None
        self._paid: Sequence[float] = (0.0,) * len(match.entrants)
        self.verdict: Verdict | None = None
        """Of a match that is over."""
        self.decisions: dict[Player, Decision] = {}
        """The call of the learner. Empty when the match is over."""
        entrants: list[Entrant] = list(match.entrants)
        entrants[seat] = replace(entrants[seat], kind=FUNCTION.name, settings=worker)
        worker.begin(replace(match, entrants=tuple(entrants)))

    def send(self, answer: Any) -> None:
        """Answers the call, and does not wait for the programs."""
        self._worker.answer(answer)

    def wait(self) -> None:
        """Waits for the programs, up to the next call of the learner. RunError if one cannot be started."""
        news = self._worker.next()
        if isinstance(news, Decision):
            self.decisions, self._last = {self._seat: news}, news
        else:
            self.decisions, self.verdict = {}, news

    @property
    def result(self) -> Result | None:
        return None if self.verdict is None else self.verdict.result

    @property
    def ending(self) -> str:
        """Why the match ended, with the faults of the programs."""
        if self.verdict is None:
            return ""
        faults = [f"{fault.name}: {fault.kind}, {fault.detail}" for fault in self.verdict.faults]
        return "; ".join([self.verdict.result.reason, *faults])

    @property
    def faults(self) -> int:
        """How many faults the programs had, in a match that is over."""
        return 0 if self.verdict is None else sum(fault.player != self._seat for fault in self.verdict.faults)

    @property
    def state(self) -> State:
        """The position. There must have been a call."""
        assert self._last is not None
        return self._last._state

    def view(self, player: Player) -> Any:
        """Returns what a seat may see."""
        return self.state.view(player)

    def pay(self, rewards: Rewards) -> list[float]:
        """Returns what each seat gains since the last time."""
        before, self._paid = self._paid, rewards.total(self.state, self.result)
        return [now - then for now, then in zip(self._paid, before, strict=True)]
