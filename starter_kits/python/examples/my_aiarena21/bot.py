"""A bot to fill in. It plays random legal moves as it stands, and buys nothing; make it win. The kit seeds `random`:
the same match gives the same luck."""

import random

from referee_kit.aiarena21 import AIArena21Bot, Item, Map, Player, PowerUp, run
from referee_kit.grid import Grid, name


class MyBot(AIArena21Bot):
    def play_powerup(
        self,
        game_map: Map,
        me: Player,
        opponent: Player,
        items: list[list[int]],
        new_items: list[list[list[Item]]],
        heatmap: list[list[float]],
        remaining_turns: int,
    ) -> PowerUp:
        return ""  # or "bike", or "portal gun"

    def play_turn(
        self,
        game_map: Map,
        me: Player,
        opponent: Player,
        items: list[list[int]],
        new_items: list[list[list[Item]]],
        heatmap: list[list[float]],
        remaining_turns: int,
    ) -> str:
        return name(random.choice(Grid(game_map).reach(me)))

    def play_auction(
        self,
        game_map: Map,
        me: Player,
        opponent: Player,
        items: list[list[int]],
        new_items: list[list[list[Item]]],
        heatmap: list[list[float]],
        remaining_turns: int,
    ) -> int:
        return random.randint(0, me.score)

    def play_transport(
        self,
        game_map: Map,
        me: Player,
        opponent: Player,
        items: list[list[int]],
        new_items: list[list[list[Item]]],
        heatmap: list[list[float]],
        remaining_turns: int,
    ) -> str:
        return name(random.choice(Grid(game_map).free))


if __name__ == "__main__":
    run(MyBot)
