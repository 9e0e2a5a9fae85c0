"""A bot to fill in. It plays random legal moves as it stands: it places its pieces anywhere, and any ant takes any step
until the turn ends; make it win. The kit seeds `random`: the same match gives the same luck."""

import random

from referee_kit.reantics import *


class MyBot(ReAnticsBot):
    def getPlacement(self, currentState: GameState) -> list[Coord]:
        """The anthill, the tunnel and nine grass on our side; later two foods on the enemy's."""
        rows, count = ((0, 1, 2, 3), 11) if currentState.phase == SETUP_PHASE_1 else ((6, 7, 8, 9), 2)
        taken = {constr.coords for inventory in currentState.inventories for constr in inventory.constrs}
        return random.sample([(x, y) for x in range(10) for y in rows if (x, y) not in taken], count)

    def getMove(self, currentState: GameState) -> Move:
        me = currentState.inventories[currentState.whoseTurn]
        print(f"I have {me.foodCount} food")  # goes to standard error: print as you like
        # A path may be longer:     Move(MOVE_ANT, [(7, 1), (7, 2), (7, 3)])
        # The anthill builds:       Move(BUILD, [(2, 1)], WORKER)
        taken = {ant.coords for inventory in currentState.inventories for ant in inventory.ants}
        moves = [Move(END)]
        for ant in me.ants:
            (x, y), last = ant.coords, 3 if ant.type == QUEEN else 9  # she stays on our side
            for tile in ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)):
                if not ant.hasMoved and 0 <= tile[0] <= 9 and 0 <= tile[1] <= last and tile not in taken:
                    moves.append(Move(MOVE_ANT, [ant.coords, tile]))
        return random.choice(moves)

    def getAttack(self, currentState: GameState, attackingAnt: Ant, enemyLocations: list[Coord]) -> Coord:
        return random.choice(enemyLocations)

    def registerWin(self, hasWon: bool) -> None:
        print("won" if hasWon else "did not win")


if __name__ == "__main__":
    run(MyBot)
