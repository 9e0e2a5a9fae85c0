"""Answers each position with the results of the kit's functions for AIBG 5.

Player 1 is the shooter; its kills and deaths are the target's q and r, its level is a radius.
"""

from referee_kit.aibg5 import Action, AIBG5Bot, run
from referee_kit.hexgrid import Board, distance, is_on_board, line_of_fire, neighbours, ring, within


class Hexes(AIBG5Bot):
    def do_action(self, player_idx, game_state, message):
        board, me = Board(game_state), game_state.player1
        here, there, steps = (me.q, me.r), (me.kills, me.deaths), me.level
        hit = board.hit(here, there)
        says = [
            str(distance(here, there)),
            flag(is_on_board(here)) + flag(is_on_board(there)),
            listed(neighbours(here)),
            listed(within(here, steps)),
            listed(ring(steps)),
            listed(line_of_fire(here, there)),
            flag(board.may_enter(there)) + flag(board.is_target(there)),
            "-" if hit is None else listed([hit]),
            listed(board.targets(here)),
        ]
        return Action(";".join(says))


def flag(value):
    return "yes " if value else "no "


def listed(cells):
    return " ".join(f"{q},{r}" for q, r in cells)


if __name__ == "__main__":
    run(Hexes)
