"""A bot to fill in. It knows the rules well enough to lose slowly: it places its pieces and ends its turns."""

from typing import List

from referee_kit.reantics import *


class MyBot(ReAnticsBot):
    def getPlacement(self, currentState: GameState) -> List[Coord]:
        if currentState.phase == SETUP_PHASE_1:
            anthill, tunnel = (2, 1), (7, 1)
            grass = [(x, 3) for x in range(9)]
            return [anthill, tunnel, *grass]
        taken = {constr.coords for inventory in currentState.inventories for constr in inventory.constrs}
        enemy_side = [(x, y) for y in (9, 8, 7, 6) for x in range(10)]
        return [tile for tile in enemy_side if tile not in taken][:2]

    def getMove(self, currentState: GameState) -> Move:
        me = currentState.inventories[currentState.whoseTurn]
        print(f"I have {me.foodCount} food")  # goes to standard error: print as you like
        # An ant walks a path:      Move(MOVE_ANT, [(7, 1), (7, 2)])
        # The anthill builds:       Move(BUILD, [(2, 1)], WORKER)
        return Move(END)

    def getAttack(self, currentState: GameState, attackingAnt: Ant, enemyLocations: List[Coord]) -> Coord:
        return enemyLocations[0]

    def registerWin(self, hasWon: bool) -> None:
        print("won" if hasWon else "did not win")


if __name__ == "__main__":
    run(MyBot)
