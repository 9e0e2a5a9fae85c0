"""AI Arena 21 as arrays: planes of the map's size by row and column; answers as a kind and a number."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from referee.addons.rl.encoding import ChoiceEncoding
from referee.games.aiarena21 import (
    BLOCK_CHAR,
    DRAGON_FRUIT,
    ONION,
    PLAY_AUCTION,
    PLAY_POWERUP,
    PLAY_TURN,
    POWER_UPS,
    STRAWBERRY,
    Options,
    Situation,
    ground_of,
)
from referee.games.contract import Player
from referee.games.game import Game
from referee.harness.seats.decision import Decision

_POINTS = {"Onion": ONION, "Strawberry": STRAWBERRY, "DragonFruit": DRAGON_FRUIT}
_POWER_UP, _MOVE, _TRANSPORT, _BID = range(1, 5)
"""Kinds of answers."""
BIDS = 64
"""The fewest bids that there is room for."""


class AIArena21Arrays(ChoiceEncoding):
    """There are as many actions as cells. Where more bids are legal, bids spread evenly from 0 to the highest count."""

    parts = ("kind", "value")

    channels = (
        "free cells",
        "own place",
        "opponent's place",
        "fruit: points",
        "fruit put down in this turn: points",
        "heat",
        "own score, everywhere",
        "opponent's score, everywhere",
        "own bike, everywhere",
        "opponent's bike, everywhere",
        "own portal gun, everywhere",
        "opponent's portal gun, everywhere",
        "turns left with this one, everywhere",
    )

    def __init__(self, game: Game, options: Options) -> None:
        super().__init__(game, options)
        ground = ground_of(options)
        self.plane = (ground.rows, ground.cols)
        self.actions = max(BIDS, ground.rows * ground.cols)

    def observe(self, view: Situation, player: Player) -> NDArray[np.float32]:
        planes = np.zeros(self.shape, np.float32)
        cells = np.frombuffer("".join(view.game_map.cells).encode(), np.uint8).reshape(self.plane)
        planes[0] = cells != ord(BLOCK_CHAR)
        planes[(1, *view.me.location)] = planes[(2, *view.opponent.location)] = 1
        planes[3], planes[5] = view.items, view.heatmap
        for row, piles in enumerate(view.new_items):
            for col, pile in enumerate(piles):
                if pile:
                    planes[4, row, col] = sum([_POINTS[item] for item in pile])
        both = view.me, view.opponent
        for index, value in enumerate(
            [each.score for each in both] + [each.bike for each in both] + [each.portal_gun for each in both], 6
        ):
            planes[index] = value
        planes[12] = view.remaining_turns
        return planes

    def choices(self, decision: Decision) -> dict[tuple[int, ...], Any]:
        method = decision.call.method
        if method is PLAY_POWERUP:
            return {(_POWER_UP, number): name for number, name in enumerate(POWER_UPS)}
        if method is PLAY_AUCTION:
            highest = decision.view.me.score
            steps = min(highest, self.actions - 1)
            bids = [highest * step // steps for step in range(1, steps + 1)]
            return {(_BID, bid): bid for bid in (0, *bids)}
        kind = _MOVE if method is PLAY_TURN else _TRANSPORT
        return {(kind, self._cell(answer)): answer for answer in decision.legal()}

    def _cell(self, answer: str) -> int:
        row, col = map(int, answer.split(","))
        return row * self.plane[1] + col


ENCODING = AIArena21Arrays
