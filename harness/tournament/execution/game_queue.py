"""Games that wait for a worker: in the order of their schedule, those of one line-up together."""

import heapq
from collections import deque
from collections.abc import Callable, Iterator

from referee.harness.tournament.execution.worker_messages import Assignment

AHEAD = 10_000
"""How many games to take from the schedule in advance, to find those of the same line-up."""
Numbered = tuple[int, Assignment]
"""A game with its number in the schedule."""


class GameQueue:
    """Games that wait, by line-up."""

    def __init__(self, source: Iterator[Assignment | None]) -> None:
        self.ended = False
        """The schedule has no further games."""
        self.size = 0
        self._source = source
        self._number = 0
        self._by_line_up: dict[str, deque[Numbered]] = {}
        self._heads: list[tuple[int, str]] = []
        """A heap of the first game of every line-up. Outdated entries stay until `first` meets them."""

    def fill(self) -> None:
        """Takes games from the schedule until there are enough, or the next one depends on results."""
        while self.size < AHEAD and not self.ended:
            try:
                game = next(self._source)
            except StopIteration:
                self.ended = True
                return
            if game is None:
                return
            self._number += 1
            self.add(self._number, game)

    def add(self, number: int, game: Assignment) -> None:
        """Inserts a game before or behind the other games of its line-up."""
        queue = self._by_line_up.setdefault(game.line_up, deque())
        if not queue or number < queue[0][0]:
            queue.appendleft((number, game))
            heapq.heappush(self._heads, (number, game.line_up))
        else:
            queue.append((number, game))
        self.size += 1

    def first(self, deferred: Callable[[str], bool]) -> str | None:
        """Returns the line-up of the earliest game. Deferred line-ups come after all others."""
        passed: list[tuple[int, str]] = []
        choice = None
        while self._heads and choice is None:
            number, line_up = self._heads[0]
            queue = self._by_line_up.get(line_up)
            if not queue or queue[0][0] != number:
                heapq.heappop(self._heads)
            elif deferred(line_up):
                passed.append(heapq.heappop(self._heads))
            else:
                choice = line_up
        for head in passed:
            heapq.heappush(self._heads, head)
        return choice or (passed[0][1] if passed else None)

    def take(self, line_up: str, count: int) -> list[Numbered]:
        """Removes and returns the first games of a line-up."""
        queue = self._by_line_up[line_up]
        taken = [queue.popleft() for _ in range(min(count, len(queue)))]
        if queue:
            heapq.heappush(self._heads, (queue[0][0], line_up))
        else:
            del self._by_line_up[line_up]
        self.size -= len(taken)
        return taken
