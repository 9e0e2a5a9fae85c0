"""A bot to fill in. It plays random legal moves as it stands; make it win. The kit seeds `random`: the same match gives
the same luck."""

import random

from referee_kit.aibg5 import Action, AIBG5Bot, GameState, run
from referee_kit.hexgrid import Board, attack, move, neighbours


class MyBot(AIBG5Bot):
    def do_action(self, player_idx: int, game_state: GameState, message: str | None) -> Action:
        board = Board(game_state)
        me = next(player for player in board.players if player.player_idx == player_idx)
        here = (me.q, me.r)
        actions = [move(cell) for cell in neighbours(here) if board.may_enter(cell)]
        actions += [attack(cell) for cell in board.targets(here)]
        return random.choice(actions) if actions else move(here)  # nothing is legal: it costs a tenth of the health


if __name__ == "__main__":
    run(MyBot)
