"""Plays the games of a tuning: the bot with some values against itself with others."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from typing import Any

import msgspec
import trio

from referee.addons.tournament.execution.runner import End, Runner
from referee.addons.tournament.execution.worker_messages import Assignment, Contest, PlayedGame
from referee.addons.tournament.execution.worker_pool import WorkerPool
from referee.addons.tournament.statistics.spsa import Spsa, Step
from referee.addons.tournament.tuning.parameters import Parameter, Values, values
from referee.games.dice import Dice, derive_seed
from referee.harness.common.game_files import OpenedBook
from referee.harness.common.measures import in_standings, measured
from referee.harness.match.verdict import Verdict
from referee.harness.programs.entrant import Entrant

TRIES = 20
"""How often to draw a step whose two sides are not the same after rounding."""
Make = Callable[[Values], Entrant]
"""Returns the bot with these values."""
_verdict = msgspec.json.Decoder(Verdict).decode


class TuningGames(Runner):
    """The games of one tuning. Each step is a seed group: a seed, with the one side at every seat."""

    def __init__(
        self,
        parameters: Sequence[Parameter],
        spsa: Spsa,
        seed: int,
        make: Make,
        contest: Contest,
        book: OpenedBook | None,
        at_once: int,
        seats: int,
        max_cost: float | None = None,
    ) -> None:
        """`at_once`: the steps that are open at a time, one for each worker. `max_cost`: in dollars, of models."""
        self.parameters, self.spsa, self.seed = parameters, spsa, seed
        self._make, self._contest, self._book, self._at_once = make, contest, book, at_once
        self._dice = Dice(derive_seed(seed, "tune"))
        self._open: dict[int, tuple[Step, dict[int, Verdict]]] = {}
        self._entering = trio.Lock()
        self.seats = seats
        self.cost, self._max_cost = 0.0, inf if max_cost is None else max_cost
        self._costly = trio.Event()
        self.faults = 0
        """Games with a fault."""
        self.counted: Callable[[], None] = lambda: None
        """Called after every step."""
        super().__init__()
        self.one_by_one = max_cost is not None

    @property
    def games(self) -> int:
        """The number of games in the steps that have ended."""
        return self.spsa.told * self.seats

    async def play(self, pool: WorkerPool, stop: trio.Event | None = None, max_s: float = inf) -> End:
        end = await super().play(pool, self._costly if stop is None else stop, max_s)
        return End.COSTLY if end is End.INTERRUPTED and self._costly.is_set() else end

    def _is_finished(self) -> bool:
        return self.spsa.told == self.spsa.steps

    async def take_in_changes(self, pool: WorkerPool) -> None:
        """Begins the next steps when the last ones have ended, and has the workers know their bots."""
        async with self._entering:
            if self._open or self.spsa.asked >= self.spsa.steps:
                return
            bots: dict[str, Entrant] = {}
            for _ in range(min(self._at_once, self.spsa.steps - self.spsa.asked)):
                step, sides = self._drawn()
                self._open[step.number] = step, {}
                for side, chosen in zip("+-", sides, strict=True):
                    name = f"{step.number}{side}"
                    bots[name] = msgspec.structs.replace(self._make(chosen), name=name)
            await pool.enter(msgspec.structs.replace(self._contest, bots=bots), ())
            self.begin_anew()

    def _drawn(self) -> tuple[Step, tuple[Values, Values]]:
        step = self.spsa.ask()
        for _ in range(TRIES):
            luck = self._dice.fork(str(step.number))
            sides = values(self.parameters, step.plus, luck.copy()), values(self.parameters, step.minus, luck)
            if sides[0] != sides[1]:
                break
            self._dice.below(2)
        return step, sides

    def assignments(self) -> Iterator[Assignment | None]:
        for number, (_, played) in self._open.items():
            begins = None if self._book is None else self._options(self._book.options(number - 1))
            for seat in range(self.seats):
                if seat not in played:
                    bots = tuple(f"{number}{'+' if place == seat else '-'}" for place in range(self.seats))
                    seed = derive_seed(self.seed, "step", number)
                    yield Assignment(f"tune/{number}/{number}/{seat}", bots, seed, plain=True, options=begins)

    def _options(self, begins: Mapping[str, Any]) -> dict[str, Any]:
        return {**self._contest.options, **begins}

    def take(self, games: Sequence[PlayedGame]) -> None:
        for game in games:
            _, _, number, seat = game.key.split("/")
            if (found := self._open.get(int(number))) is None:
                continue
            step, played = found
            played[int(seat)] = verdict = _verdict(game.line)
            uses = (measured(seat, in_standings().name) for seat in verdict.seats)
            self.cost += sum(use.cost or 0.0 for use in uses if use is not None)
            if self.cost >= self._max_cost:
                self._draining = True
                self._costly.set()
            if len(played) == self.seats:
                del self._open[step.number]
                self.faults += sum(bool(each.faults) for each in played.values())
                self.spsa.tell(step, _result(played))
                self.counted()

    def describe(self, game: Assignment) -> str:
        return f"a game of the tuning ({' against '.join(game.bots)})"


def _result(played: Mapping[int, Verdict]) -> float:
    """Returns the share of rivals that the one side finished ahead of, less the share that it finished behind."""
    ahead = met = 0
    for seat, verdict in played.items():
        ranks = verdict.result.ranks
        for rival, rank in enumerate(ranks):
            if rival != seat:
                met += 1
                ahead += (ranks[seat] < rank) - (ranks[seat] > rank)
    return ahead / met
