"""`@random`: any legal answer, each as likely as the engine's `sample` makes it."""

from collections.abc import Callable
from typing import Any

import msgspec

from games import reantics, registry
from games.api import Setup
from games.dice import Dice
from games.reantics import Ant, GameState
from games.tictactoe import SYMBOLS
from harness.opponents._serve import Handler, UnknownMethod, serve
from protocol.messages import Initialize


def follow_arena(match: Initialize) -> Handler:
    """A game whose calls show no position: an engine of our own is kept in step by the events."""
    game = registry.game(match.game)
    state = game.new(Setup(0, match.names, msgspec.convert(match.options, game.options)))
    dice = Dice(match.seed)

    def handle(method: str, params: dict[str, Any]) -> Any:
        if method == "play":
            return state.sample(match.seat, dice)
        if method != "event":
            raise UnknownMethod(method)
        if (symbol := params.get("player")) is not None:
            seat = SYMBOLS.index(symbol)
            if seat in state.awaited:  # a flip by the referee, for a rival that answered nothing, is nobody's turn
                state.apply({seat: {name: value for name, value in params.items() if name != "player"}})
        return None

    return handle


def follow_reantics(match: Initialize) -> Handler:
    """Every call shows the whole position."""
    options = msgspec.convert(match.options, reantics.Options)
    dice = Dice(match.seed)

    def handle(method: str, params: dict[str, Any]) -> Any:
        if method not in reantics.METHODS:
            raise UnknownMethod(method)
        if method == "registerWin":
            return None
        view = msgspec.convert(params["currentState"], GameState)
        attacking = msgspec.convert(params.get("attackingAnt"), Ant | None)
        return reantics.from_view(view, options, attacking).sample(match.seat, dice)

    return handle


FOLLOWERS: dict[str, Callable[[Initialize], Handler]] = {"tictactoe": follow_arena, "reantics": follow_reantics}


def start(match: Initialize) -> Handler:
    """The handler for one match. ValueError if the game is none of ours."""
    follow = FOLLOWERS.get(match.game)
    if follow is None:
        raise ValueError(f"@random plays {', '.join(sorted(FOLLOWERS))}, not {match.game}")
    return follow(match)


if __name__ == "__main__":
    serve("random", start)
