"""What the opponents share at AIBG 5.0: every call shows the position, from which an engine is made."""

from collections.abc import Callable
from typing import Any

import msgspec

from referee.games.aibg5 import AIBG5, METHODS, DoAction, Options, from_view
from referee.games.contract import Player
from referee.games.dice import Dice
from referee.harness.opponents._serve import Handler, UnknownMethod
from referee.protocol.messages import Initialize

Choose = Callable[[AIBG5, Player, Dice], Any]
"""Takes the position, the own seat and the own luck; gives the answer."""


def follow(match: Initialize, choose: Choose) -> Handler:
    """Asks `choose` for every action."""
    options = msgspec.convert(match.options, Options)
    dice = Dice(match.seed)

    def handle(method: str, params: dict[str, Any]) -> Any:
        if method not in METHODS:
            raise UnknownMethod(method)
        if method != "doAction":
            return None
        shown = msgspec.convert(params, DoAction)
        player = shown.playerIdx - 1
        return choose(from_view(shown.gameState, player, options), player, dice)

    return handle
