"""The exact worth of positions in small games, by search: with the best play of both seats.

It asks nothing but `State`. A game can be searched if two seats move in turn, nothing is hidden and luck decides
nothing. Positions may repeat: a match that a seat can keep going without end is a draw.
"""

import math
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from referee.addons.analysis.continuation import worth
from referee.games.contract import State
from referee.games.dice import Dice
from referee.games.game import Game

MOST = 200_000
"""Positions of a match that are searched: more would fill the memory."""
LEVEL = 4
"""How many turns are searched depth first, before those behind them: most wins are near."""
SEEDS = (1, 2, 3)
"""Of other luck, which must change nothing."""
DEALS = range(1, 17)
"""Seeds with which hidden cards are dealt again: where there are two ways, one deal in two is the same."""
BEST = (1.0, 0.0)
"""By seat, the best worth to seat 0."""


class NotSearched(Exception):
    """A position cannot be searched, or not within the limits."""


class Search:
    """The worth of positions to seat 0. Each is searched once."""

    ends_at = math.inf
    """By `time.monotonic`."""

    def __init__(self, game: Game) -> None:
        self._has_clock = game.time.match_s is not None  # then the end is no matter of the rules
        self._known: dict[bytes, float] = {}
        self._left = MOST

    def worth(self, state: State) -> float:
        """Returns the worth of a position. NotSearched if it cannot be found."""
        if state.result is None and (self._has_clock or len(state.setup.names) != 2 or _hides(state)):
            raise NotSearched
        state = _with_luck(state, 0)
        root = state.key()
        if (found := self._at_once(state, root)) is not None:
            return found
        nodes = {root: _Node(root, state, 0)}
        levels = defaultdict[int, list[_Step]](list, {0: self._searched(state, nodes[root], nodes)})
        while any(levels.values()) and root not in self._known:
            nearest = min(level for level, steps in levels.items() if steps)
            before, answer, node = levels[nearest].pop()
            if not node.searched and node.key not in self._known and self._matters(node):
                for step in self._searched(_after(before, answer), node, nodes):
                    levels[step[2].depth // LEVEL].append(step)
        # What a seat can force is known by now, so each can keep the rest from ending badly.
        self._known |= {each.key: 0.5 for each in nodes.values() if each.searched and each.key not in self._known}
        return self._known[root]

    def best(self, state: State) -> Iterator[Any]:
        """Yields the answers that keep the worth of a position, until one cannot be searched."""
        ((mover, _),) = state.awaited.items()
        with suppress(NotSearched):
            found = self.worth(state)
            for answer in state.legal(mover):
                if self.worth(_after(_with_luck(state, 0), answer)) == found:
                    yield answer

    def _at_once(self, state: State, key: bytes) -> float | None:
        if state.result is not None or not state.awaited:
            return worth(state.result, 2)[0]
        return self._known.get(key)

    def _matters(self, node: "_Node") -> bool:
        return any(parent.key not in self._known for parent in node.parents)

    def _searched(self, state: State, node: "_Node", nodes: dict[bytes, "_Node"]) -> "list[_Step]":
        """Tries the answers in a position. Returns those to positions whose worth is not known."""
        node.searched = True
        steps: list[_Step] = []
        for answer in state.legal(node.mover):
            if self._left < 0 or time.monotonic() > self.ends_at:
                raise NotSearched
            after = _after(state, answer)
            key = after.key()
            if (found := self._at_once(after, key)) is None:
                if (child := nodes.get(key)) is None:
                    child = nodes[key] = _Node(key, after, node.depth + 1)
                    self._left -= 1
                child.parents.append(node)
                node.open += 1
                if not child.searched:
                    steps.append((state, answer, child))
            elif node.takes(found):
                self._decide(node)
                return []
        if not node.open:
            self._decide(node)
        return steps

    def _decide(self, node: "_Node") -> None:
        decided = [node]
        while decided:
            each = decided.pop()
            if each.key not in self._known:
                self._known[each.key] = each.best
                for parent in each.parents:
                    parent.open -= 1
                    if parent.takes(each.best) or not parent.open:
                        decided.append(parent)


class _Node:
    """A position whose worth is searched."""

    __slots__ = ("best", "depth", "key", "mover", "open", "parents", "searched")

    def __init__(self, key: bytes, state: State, depth: int) -> None:
        if len(state.awaited) != 1:
            raise NotSearched
        ((self.mover, _),) = state.awaited.items()
        self.key, self.depth = key, depth
        self.best = BEST[1 - self.mover]
        """The best worth of the answers that are known."""
        self.open = 0
        """How many answers are not known."""
        self.parents: list[_Node] = []
        self.searched = False

    def takes(self, worth: float) -> bool:
        """Notes what an answer is worth. Returns whether no other can be better."""
        self.best = max(self.best, worth) if self.mover == 0 else min(self.best, worth)
        return self.best == BEST[self.mover]


_Step = tuple[State, Any, _Node]
"""A position, an answer, and what is known of the position after it. That is made anew: many would fill the memory."""


def _with_luck(state: State, seed: int) -> State:
    """Returns a copy with this luck to come. Else positions that are equal would have different keys."""
    copy = state.copy()
    copy.dice = Dice(seed)
    return copy


def _after(state: State, answer: Any) -> State:
    """Returns the position after an answer. NotSearched if luck decides what it is: some rules only draw it."""
    (mover,) = state.awaited
    after = state.copy()
    after.apply({mover: answer})
    if after.dice.state == state.dice.state:
        return after
    after.dice = Dice(0)
    for seed in SEEDS:
        other = _with_luck(state, seed)
        other.apply({mover: answer})
        other.dice = Dice(0)
        if other.key() != after.key():
            raise NotSearched
    return after


def _hides(state: State) -> bool:
    """Whether something is hidden from a seat: it would be dealt again, or the game says that it cannot be."""
    others = (_with_luck(state.copy(seed), 0) for seed in DEALS)
    return not state.deals_again or any(other.key() != _with_luck(state, 0).key() for other in others)
