import sys
sys.path.append("..")
from Player import *
from AIPlayerUtils import *
class AIPlayer(Player):
    def __init__(self, inputPlayerId):
        super(AIPlayer, self).__init__(inputPlayerId, "Searcher")
    def getPlacement(self, currentState):
        if currentState.phase == SETUP_PHASE_1:
            return [(0,0),(5,1),(0,3),(1,2),(2,1),(3,0),(0,2),(1,1),(2,0),(0,1),(1,0)]
        free = [(x,y) for x in range(10) for y in range(6,10) if getConstrAt(currentState,(x,y)) is None]
        return free[:2]
    def score(self, state):
        me = state.whoseTurn
        inv = state.inventories[me]
        s = inv.foodCount*10 + sum(a.carrying for a in inv.ants)*5 + len(inv.ants)*3 - len(state.inventories[1-me].ants)*3
        foods = getConstrList(state, None, (FOOD,))
        for a in inv.ants:
            if a.type == WORKER:
                goals = [c.coords for c in (foods if not a.carrying else inv.getTunnels()+[inv.getAnthill()])]
                s -= min(stepsToReach(state, a.coords, g) for g in goals)*.5
        return s
    def getMove(self, currentState):
        best = None
        for m in listAllLegalMoves(currentState):
            n = getNextState(currentState, m)
            v = self.score(n)
            if best is None or v > best[0]:
                best = (v, m)
        return best[1]
    def getAttack(self, currentState, attackingAnt, enemyLocations):
        return enemyLocations[0]
