"""The expected score of each seat after each turn of a match, from continuations."""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from referee.addons.analysis.continuation import MOST_TURNS, OutOfTimeError, ended, worth
from referee.addons.analysis.history import History
from referee.addons.analysis.policy import Policy
from referee.games.contract import Player
from referee.games.dice import Dice

BATCH = 8
"""Continuations that are played from a position at a time."""
MOST = 64
"""Continuations from one position."""
SAME = 3
"""How many continuations are compared, to find out whether all are the same."""
SURE = 0.04
"""An expected score is known well enough if its interval is not wider than this to either side."""
FIRST_SHARE = 0.5
"""Of the time, for the first look at positions at even distances."""
LEAST_POSITIONS = 12
"""At how many positions it looks at least."""


class Estimate(Struct):
    """What one position is worth."""

    turn: int
    scores: list[tuple[float, ...]] = field(default_factory=list)
    """The worth of each continuation to each seat. The n-th of all positions have the same seed."""
    source: Literal["played", "repeated", "exact", "evaluated"] = "played"
    """By continuations; by one, as all others would be the same; exactly, by search or as the match is over; or as an
    engine says. All but the first have one score."""

    @property
    def is_played(self) -> bool:
        """Whether it comes from continuations."""
        return self.source in ("played", "repeated")

    @property
    def grows(self) -> bool:
        """Whether more continuations would tell more."""
        return self.source == "played" and len(self.scores) < MOST

    def expected(self, player: Player) -> float:
        """Returns the expected score of a seat, from 0 to 1."""
        return sum(each[player] for each in self.scores) / len(self.scores)

    def error(self, player: Player) -> float:
        """Returns how far the expected score may be off: half of a 95 % interval.

        A quarter is added to the sum of squares, since a few equal results are no certainty.
        """
        if self.source != "played":
            return 0.0
        mean, count = self.expected(player), len(self.scores)
        variance = (sum((each[player] - mean) ** 2 for each in self.scores) + 0.25) / count
        return 1.96 * math.sqrt(variance / count)


def most_turns(history: History, turn: int) -> int:
    """Returns after how many turns a continuation stops: a match that its clock ends is as long as the recorded one."""
    return MOST_TURNS if history.game.time.match_s is None else max(1, history.turns - turn)


class Task(Struct, frozen=True):
    """Continuations to play from the position after a turn, one for each seed."""

    turn: int
    seeds: range
    first: dict[Player, Any] | None = None
    """The answers of the first turn; None = the bot's."""
    ends_at: float = math.inf
    """By `time.monotonic`. Continuations that have not ended by then are left out."""


def sampled(history: History, policy: Policy, task: Task) -> list[tuple[float, ...]]:
    """Plays the continuations of a task, as many as end in its time."""
    state, told = history.at(task.turn)
    turns, scores = most_turns(history, task.turn), []
    with suppress(OutOfTimeError):
        for seed in task.seeds:
            end = ended(state, told, policy, seed, task.first, turns, lambda: time.monotonic() > task.ends_at)
            scores.append(worth(end.result, len(told)))
    return scores


def repeats(history: History, policy: Policy, most_s: float = math.inf) -> bool:
    """Returns whether all continuations from a position are the same: neither the game nor the bot draws luck.

    False if `most_s` seconds of CPU are too few to tell.
    """
    ends_at = time.thread_time() + most_s
    for turn in (history.turns // 2, 0):
        (state, told), turns, keys = history.at(turn), most_turns(history, turn), set()
        for seed in range(SAME):
            try:
                end = ended(state, told, policy, seed, None, turns, lambda: time.thread_time() > ends_at)
            except OutOfTimeError:
                return False
            end.dice = Dice(0)
            keys.add(end.key())
            if len(keys) > 1:
                return False
    return True


Play = Callable[[Sequence[Task]], Iterable[list[tuple[float, ...]]]]
"""Plays continuations, and returns those of each task."""


def until(play: Play, ends_at: float) -> Play:
    """Returns what plays continuations until `time.monotonic` is `ends_at`."""
    return lambda tasks: play([replace(task, ends_at=ends_at) for task in tasks])


def halved(turns: Sequence[int]) -> list[int]:
    """Returns turns in an order of which every beginning is spread evenly: the first, the middle, the quarters."""
    order: list[int] = []
    waiting = [turns]
    while waiting:
        part = waiting.pop(0)
        if part:
            middle = len(part) // 2 if order else 0
            order.append(part[middle])
            waiting += [part[:middle], part[middle + 1 :]]
    return order


class Curve:
    """The estimates of a match, which become better while there is time."""

    by = "the search"
    """Who says so: the search alone, a built-in bot that plays the continuations, or an engine."""

    spec = ""
    """The bot that the user named, or the built-in one that was chosen; empty if none was needed."""

    cost_s = 0.0
    """Of one continuation, about."""
    repeats = False
    """All continuations from a position are the same."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.best: Callable[[int], Iterable[Any]] = lambda turn: ()
        """Returns the best answers after a turn whose estimate does not come from continuations."""
        self.estimates: dict[int, Estimate] = {}
        if history.result is not None:
            last = worth(history.result, len(history.names))
            self.estimates[history.turns] = Estimate(history.turns, [last], "exact")

    def improve(self, play: Play, at_once: int, ends_at: float) -> Iterator[None]:
        """Plays continuations, `at_once` tasks at a time, until nothing is left to learn or no time is left.

        `ends_at`: by `time.monotonic`. Yields after each few, so that somebody can show the progress.
        """
        waiting = self._first((ends_at - time.monotonic()) * at_once)
        while time.monotonic() < ends_at and (waiting := waiting or self._next(at_once)):
            now, waiting = waiting[:at_once], waiting[at_once:]
            for task, scores in zip(now, play(now), strict=True):
                new = Estimate(task.turn, source="repeated" if self.repeats else "played")
                if scores:
                    self.estimates.setdefault(task.turn, new).scores += scores
            yield

    @property
    def _batch(self) -> range:
        return range(1 if self.repeats else BATCH)

    def _first(self, cpu_s: float) -> list[Task]:
        """Returns positions at even distances, as many as half of the time allows."""
        turns = self.history.turns + (self.history.result is None)
        count = max(LEAST_POSITIONS, int(cpu_s * FIRST_SHARE / (len(self._batch) * max(self.cost_s, 1e-4))))
        looked_at = range(0, turns, max(1, math.ceil(turns / count)))
        return [Task(turn, self._batch) for turn in halved(looked_at) if turn not in self.estimates]

    def _next(self, at_once: int) -> list[Task]:
        """Returns what would tell most: a position between two that differ, or more of one that is uncertain."""
        worths: list[tuple[float, Task]] = []
        seats = range(len(self.history.names))
        for before, after in pairwise(self.in_order()):
            change = max(abs(after.expected(seat) - before.expected(seat)) for seat in seats)
            noise = max(math.hypot(before.error(seat), after.error(seat)) for seat in seats)
            gap = after.turn - before.turn
            if gap > 1 and (change > SURE or self.repeats):  # one continuation each is little work: all positions
                worths.append((change + gap / 1e6, Task((before.turn + after.turn) // 2, self._batch)))
            elif change > SURE:
                doubtful = [each for each in (before, after) if each.grows]
                worths += [(noise * min(1.0, 2 * change), self._more(each)) for each in doubtful]
        worths += [
            (max(each.error(seat) for seat in seats) / 4, self._more(each))
            for each in self.in_order()
            if each.grows and max(each.error(seat) for seat in seats) > SURE
        ]
        best: dict[int, tuple[float, Task]] = {}
        for value, task in worths:
            best[task.turn] = max(best.get(task.turn, (0.0, task)), (value, task), key=lambda each: each[0])
        return [task for _, task in sorted(best.values(), key=lambda each: -each[0])[:at_once]]

    def _more(self, estimate: Estimate) -> Task:
        done = len(estimate.scores)
        return Task(estimate.turn, range(done, done + BATCH))

    def in_order(self) -> list[Estimate]:
        """Returns the estimates by turn."""
        return [self.estimates[turn] for turn in sorted(self.estimates) if self.estimates[turn].scores]
