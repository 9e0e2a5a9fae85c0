"""The positions of a recorded match, each with the notices that the seats had by then."""

from collections.abc import Iterable, Sequence

from referee.games.contract import Event, Notice, Player, Result, State
from referee.harness.replay.lines import Opening, Step, Turn, apply_step
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import positions

KEPT = 200
"""About how many positions are kept; the others are made again from the one before."""


class History:
    """A match up to its last recorded turn. `turns` counts from 1; turn 0 is the opening."""

    def __init__(self, replay: Replay) -> None:
        """Raises Difference for a replay that does not follow the rules."""
        self.game, self.setup, self.names = replay.game, replay.header.setup, replay.header.setup.names
        self.steps: list[Step] = []
        self._after: list[int] = []
        """For each turn, how many steps lead to the position after it, with those out of turn that follow it."""
        self.result: Result | None = None
        for _, state, step in positions(replay):
            self.steps.append(step)
            if isinstance(step, Turn | Opening):
                self._after.append(0)
            if self._after:
                self._after[-1] = len(self.steps)
            self.result = state.result
        self._first = replay.new()
        self._kept: dict[int, tuple[State, tuple[int, ...]]] = {}
        self._told: list[list[Notice]] = [[] for _ in self.names]
        self._keep()

    @property
    def turns(self) -> int:
        """The number of the last turn."""
        return len(self._after) - 1

    @property
    def open_cards(self) -> bool:
        """Whether a continuation has what was hidden as it was: the game cannot deal it anew."""
        return not self._first.deals_again

    def _keep(self) -> None:
        every = max(1, len(self._after) // KEPT)
        state, done = self._first, 0
        for turn, after in enumerate(self._after):
            for step in self.steps[done:after]:
                self._note(apply_step(state, step))
            done = after
            if turn % every == 0:
                self._kept[turn] = state.copy(), tuple(len(notices) for notices in self._told)

    def _note(self, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, Notice):
                for player in event.to:
                    self._told[player].append(event)

    def at(self, turn: int) -> tuple[State, Sequence[Sequence[Notice]]]:
        """Returns the position after a turn, and the notices that each seat had by then."""
        near = max(kept for kept in self._kept if kept <= turn)
        kept, counts = self._kept[near]
        state, more = kept.copy(), [0] * len(self.names)
        for step in self.steps[self._after[near] : self._after[turn]]:
            for event in apply_step(state, step):
                for player in event.to if isinstance(event, Notice) else ():
                    more[player] += 1
        ends = [count + new for count, new in zip(counts, more, strict=True)]
        return state, [notices[:end] for notices, end in zip(self._told, ends, strict=True)]

    def step(self, turn: int) -> Turn:
        """Returns a turn from 1."""
        first = self._after[turn - 1]
        (step,) = [each for each in self.steps[first : self._after[turn]] if isinstance(each, Turn)]
        return step

    def movers(self, turn: int) -> tuple[Player, ...]:
        """Returns the seats that answered in a turn."""
        return tuple(sorted({*self.step(turn).answers, *self.step(turn).faults}))
