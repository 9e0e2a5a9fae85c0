import random
import sys
sys.path.append("..")
from Player import *
from Constants import *
from Construction import CONSTR_STATS
from Ant import UNIT_STATS
from Move import Move
from GameState import addCoords
from AIPlayerUtils import *

print("loading with prints")

class AIPlayer(Player):
    def __init__(self, inputPlayerId):
        super(AIPlayer, self).__init__(inputPlayerId, "Random Walker")

    def getPlacement(self, currentState):
        numToPlace = 0
        if currentState.phase == SETUP_PHASE_1:
            numToPlace, low, high = 11, 0, 3
        else:
            numToPlace, low, high = 2, 6, 9
        moves = []
        for i in range(numToPlace):
            move = None
            while move is None:
                x, y = random.randint(0, 9), random.randint(low, high)
                if currentState.board[x][y].constr is None and (x, y) not in moves:
                    move = (x, y)
                    currentState.board[x][y].constr == True
            moves.append(move)
        return moves

    def getMove(self, currentState):
        moves = listAllLegalMoves(currentState)
        picked = moves[random.randint(0, len(moves) - 1)]
        print("picked", picked)
        return picked

    def getAttack(self, currentState, attackingAnt, enemyLocations):
        return enemyLocations[random.randint(0, len(enemyLocations) - 1)]

    def registerWin(self, hasWon):
        with open("walker_memory.txt", "a") as memory:
            memory.write("%s %s\n" % (self.playerId, hasWon))
