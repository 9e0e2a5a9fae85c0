"""A bot to fill in. It plays random legal moves as it stands: it places its pieces anywhere, and any ant takes any step
until the turn ends; make it win. The kit seeds `random`: the same match gives the same luck."""

import random

from referee_kit.reantics import Ant, AntType, Coord, GameState, Move, MoveType, Phase, ReAnticsBot, run


class MyBot(ReAnticsBot):
    def get_placement(self, current_state: GameState) -> list[Coord]:
        """The anthill, the tunnel and nine grass on our side; later two foods on the enemy's."""
        rows, count = ((0, 1, 2, 3), 11) if current_state.phase == Phase.SETUP_PHASE_1 else ((6, 7, 8, 9), 2)
        taken = {constr.coords for inventory in current_state.inventories for constr in inventory.constrs}
        return random.sample([(x, y) for x in range(10) for y in rows if (x, y) not in taken], count)

    def get_move(self, current_state: GameState) -> Move:
        me = current_state.inventories[current_state.whose_turn]
        print(f"I have {me.food_count} food")  # goes to standard error: print as you like
        # A path may be longer:     Move(MoveType.MOVE_ANT, [(7, 1), (7, 2), (7, 3)])
        # The anthill builds:       Move(MoveType.BUILD, [(2, 1)], AntType.WORKER)
        taken = {ant.coords for inventory in current_state.inventories for ant in inventory.ants}
        moves = [Move(MoveType.END)]
        for ant in me.ants:
            (x, y), last = ant.coords, 3 if ant.type == AntType.QUEEN else 9  # she stays on our side
            for tile in ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)):
                if not ant.has_moved and 0 <= tile[0] <= 9 and 0 <= tile[1] <= last and tile not in taken:
                    moves.append(Move(MoveType.MOVE_ANT, [ant.coords, tile]))
        return random.choice(moves)

    def get_attack(self, current_state: GameState, attacking_ant: Ant, enemy_locations: list[Coord]) -> Coord:
        return random.choice(enemy_locations)

    def register_win(self, has_won: bool) -> None:
        print("won" if has_won else "did not win")


if __name__ == "__main__":
    run(MyBot)
