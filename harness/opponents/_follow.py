"""What the opponents share at the Arena's games: no call shows the position, so that each keeps its own engine."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from referee.games import registry
from referee.games.arena import Battle, without_opening
from referee.games.contract import Player, Setup
from referee.games.dice import Dice
from referee.harness.opponents._serve import Handler, UnknownMethod
from referee.protocol.messages import Initialize

Position = TypeVar("Position", bound=Battle)

Choose = Callable[[Position, Player, Dice], Any]
"""Takes the position, the own seat and the own luck; gives the answer. It is never asked when a flip is due."""

Inject = Callable[[Position, Player], list[dict[str, Any]]]
"""Takes the position and the own seat; gives the answers to show out of turn, in order. None yet: []."""


def follow(
    match: Initialize, kind: type[Position], choose: Choose[Position], inject: Inject[Position] | None = None
) -> Handler:
    """Plays a match with an engine that is kept in step by the events, and flips the table when that is due."""
    options: Any = msgspec.convert(match.options, registry.game(match.game).options)
    position = kind(without_opening(Setup(0, match.names, options)))
    dice = Dice(match.seed)

    def handle(method: str, params: dict[str, Any]) -> Any:
        if method == "play":
            if position.pending is not None:
                return next(position.legal(match.seat))  # the flip, and nothing else
            return choose(position, match.seat, dice)
        if method == "inject" and inject is not None:
            return [] if position.pending is not None else inject(position, match.seat)
        if method != "event":
            raise UnknownMethod(method)
        _hear(position, params)
        return None

    return handle


def _hear(position: Battle, event: Mapping[str, Any]) -> None:
    if (side := event.get("player")) is not None:
        seat = position.SIDES.index(side)
        answer = {name: value for name, value in event.items() if name != "player"}
        if seat in position.awaited:
            position.apply({seat: answer})
        elif position.result is None and position.pending is None:
            position.inject(seat, [answer])  # a cheat out of turn; or the referee's flip, with which all is over
