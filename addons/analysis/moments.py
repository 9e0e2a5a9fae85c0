"""The turns on which a match turned, and what would have been better."""

import math
import time
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Any

import msgspec
from msgspec import Struct

from referee.addons.analysis.curve import Curve, Estimate, Play, Task
from referee.games.contract import Player

MOST = 5
"""Moments of a match."""
LEAST = 0.1
"""A smaller change of an expected score is none."""
ALTERNATIVES = 40
"""Legal answers that are tried instead of the one that was played."""
TRIES = 16
"""Continuations of each, with the same seeds."""
NAMED = 2
"""Better answers that a sentence names."""


class Moment(Struct, frozen=True, omit_defaults=True):
    """A turn that changed the expected score of a seat, and the next look before it."""

    turn: int
    """The first turn after which the score had changed."""
    player: Player
    """Of the seats that answered, the one whose score changed most."""
    change: float
    """Of that seat's expected score, from -1 to 1."""
    error: float
    """How far that may be off: half of a 95 % interval."""
    luck: bool = False
    """The same answers with other luck would have led elsewhere."""
    since: int | None = None
    """The turn that was looked at before, if not the one before."""
    answer: Any = None
    """As it was recorded."""
    better: tuple[Any, ...] = ()
    """Answers that would have kept the score, the best first."""
    words: str = ""
    """All that in a sentence."""

    @property
    def before(self) -> int:
        """The turn after which the score had not changed yet."""
        return self.turn - 1 if self.since is None else self.since


def found(curve: Curve, play: Play = lambda _: (), at_once: int = 1, ends_at: float = 0.0) -> Iterator[Moment]:
    """Yields the largest changes of an expected score, at most `MOST`, in the order of the match.

    Until `time.monotonic` is `ends_at`, it tries what each would have been with other luck, or with other answers.
    """
    seats = range(len(curve.history.names))
    changes = []
    for before, after in pairwise(curve.in_order()):
        change = {seat: after.expected(seat) - before.expected(seat) for seat in seats}
        seat = max(seats, key=lambda seat: abs(change[seat]))
        if abs(change[seat]) >= LEAST and abs(change[seat]) > _error(before, after, seat):
            changes.append((abs(change[seat]), before, after))
    largest = sorted(changes, key=lambda each: -each[0])[:MOST]
    for number, (_, before, after) in enumerate(largest):
        left_s = (ends_at - time.monotonic()) / (len(largest) - number)
        tries = int(left_s * at_once / (len(_seeds(curve)) * max(curve.cost_s, 1e-4)))
        yield _moment(curve, before, after, play, tries)


def _seeds(curve: Curve) -> range:
    return range(1 if curve.repeats else TRIES)


def _error(before: Estimate, after: Estimate, seat: Player) -> float:
    return math.hypot(before.error(seat), after.error(seat))


def _moment(curve: Curve, before: Estimate, after: Estimate, play: Play, tries: int) -> Moment:
    """Says who did it: of the seats that answered, the one whose score changed most.

    `tries`: for how many other answers there is time.
    """
    history, seats = curve.history, range(len(curve.history.names))
    change = {seat: after.expected(seat) - before.expected(seat) for seat in seats}
    player = max(seats, key=lambda seat: abs(change[seat]))
    if after.turn - before.turn > 1:
        return Moment(after.turn, player, change[player], _error(before, after, player), since=before.turn)
    movers = history.movers(after.turn)
    player = max(movers or seats, key=lambda seat: abs(change[seat]))
    step = history.step(after.turn)
    answers: dict[Player, Any] = step.answers | step.faults
    moment = Moment(after.turn, player, change[player], _error(before, after, player), answer=answers.get(player))
    if not before.is_played:
        better = islice(curve.best(before.turn), NAMED) if change[player] < 0 else ()
        return msgspec.structs.replace(moment, better=tuple(map(msgspec.to_builtins, better)))
    if tries < 1:
        return moment
    seeds = _seeds(curve)
    ((*scores,),) = play([Task(before.turn, seeds, answers)])
    if len(scores) < len(seeds):  # the time is over
        return moment
    usual = sum(each[player] for each in scores) / len(seeds)
    if abs(after.expected(player) - usual) > abs(change[player]) / 2:
        return msgspec.structs.replace(moment, luck=True)
    if change[player] >= 0 or player not in movers:
        return moment
    state, _ = history.at(before.turn)
    others = list(islice(state.legal(player), min(tries, ALTERNATIVES)))
    played = play([Task(before.turn, seeds, {**answers, player: answer}) for answer in others])
    expected = [
        (sum(each[player] for each in scores) / len(seeds), answer)
        for answer, scores in zip(others, played, strict=True)
        if len(scores) == len(seeds)
    ]
    best = sorted(expected, key=lambda each: -each[0])[:NAMED]
    kept = [msgspec.to_builtins(answer) for score, answer in best if score > after.expected(player) + LEAST]
    return msgspec.structs.replace(moment, better=tuple(kept))
