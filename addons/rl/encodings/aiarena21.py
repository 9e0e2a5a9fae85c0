"""AI Arena 21 as arrays: planes of the map's size by row and column; a power-up, a cell and a bid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from referee.addons.rl.encoding import Encoding, number_in
from referee.games.aiarena21 import (
    BLOCK_CHAR,
    DRAGON_FRUIT,
    ONION,
    PLAY_AUCTION,
    PLAY_POWERUP,
    POWER_UPS,
    STRAWBERRY,
    Options,
    Situation,
    ground_of,
)
from referee.games.contract import Player
from referee.games.game import Game
from referee.harness.seats.decision import Decision

if TYPE_CHECKING:
    from gymnasium import spaces

_POINTS = {"Onion": ONION, "Strawberry": STRAWBERRY, "DragonFruit": DRAGON_FRUIT}
MOST_BID = (1 << 31) - 1


class AIArena21Arrays(Encoding):
    """An action has `power_up`, `cell` and `bid`, of which the function that is asked reads one."""

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

    def action_space(self) -> spaces.Dict:
        from gymnasium import spaces

        rows, cols = self.plane
        cell, bid = spaces.Discrete(rows * cols), spaces.Box(0, MOST_BID, (), np.int64)
        return spaces.Dict({"power_up": spaces.Discrete(len(POWER_UPS)), "cell": cell, "bid": bid})

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

    def answer(self, action: Mapping[str, Any], decision: Decision) -> Any:
        method = decision.call.method
        if method is PLAY_POWERUP:
            number = number_in(action, "power_up")
            if not 0 <= number < len(POWER_UPS):
                raise ValueError(f"power_up {number}: expected 0 to {len(POWER_UPS) - 1}")
            return POWER_UPS[number]
        if method is PLAY_AUCTION:
            return number_in(action, "bid")
        row, col = divmod(number_in(action, "cell"), self.plane[1])
        return f"{row},{col}"

    def legal(self, decision: Decision) -> list[dict[str, int]]:
        method = decision.call.method
        if method is PLAY_POWERUP:
            return [_action(power_up=number) for number in range(len(POWER_UPS))]
        if method is PLAY_AUCTION:
            return [_action(bid=bid) for bid in decision.legal()]
        cells = [map(int, answer.split(",")) for answer in decision.legal()]
        return [_action(cell=row * self.plane[1] + col) for row, col in cells]


def _action(power_up: int = 0, cell: int = 0, bid: int = 0) -> dict[str, int]:
    return {"power_up": power_up, "cell": cell, "bid": bid}


ENCODING = AIArena21Arrays
