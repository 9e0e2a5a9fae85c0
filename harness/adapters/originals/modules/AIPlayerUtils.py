"""Functions on positions (reantics.md, 11.3). Agents also use the names that this module imports."""

import random

from Ant import UNIT_STATS, Ant
from Constants import *
from Construction import CONSTR_STATS, Construction
from GameState import *
from Move import Move
from referee_kit.reantics import (
    GraphNode,
    approxDist,
    asciiPrintState,
    aStarSearchPath,
    charRepAnt,
    charRepConstr,
    charRepLoc,
    construct_path,
    createPathToward,
    findPathRecursive,
    getAntAt,
    getAntList,
    getConstrAt,
    getConstrList,
    getCurrPlayerFood,
    getCurrPlayerInventory,
    getCurrPlayerQueen,
    getEnemyInv,
    getNextState,
    getNextStateAdversarial,
    getWinner,
    isPathOkForQueen,
    legalCoord,
    listAdjacent,
    listAllBuildMoves,
    listAllLegalMoves,
    listAllMovementMoves,
    listAllMovementPaths,
    listAttackable,
    listReachableAdjacent,
    listReachAdj,
    neighbors,
    stepsToReach,
)
