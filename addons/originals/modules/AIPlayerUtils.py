"""Functions on positions (reantics.md, 11.3). Agents also use the names that this module imports."""

import random

from Ant import UNIT_STATS, Ant
from Constants import *
from Construction import CONSTR_STATS, Construction
from GameState import *
from Move import Move
from referee_kit import ants as _kit

# The kit's own functions: they work on the original's objects too, which have the kit's names beside their own.
from referee_kit.ants import GraphNode
from referee_kit.ants import approx_dist as approxDist
from referee_kit.ants import ascii_print_state as asciiPrintState
from referee_kit.ants import char_rep_ant as charRepAnt
from referee_kit.ants import char_rep_constr as charRepConstr
from referee_kit.ants import char_rep_loc as charRepLoc
from referee_kit.ants import create_path_toward as createPathToward
from referee_kit.ants import get_ant_at as getAntAt
from referee_kit.ants import get_ant_list as getAntList
from referee_kit.ants import get_constr_at as getConstrAt
from referee_kit.ants import get_constr_list as getConstrList
from referee_kit.ants import get_curr_player_inventory as getCurrPlayerInventory
from referee_kit.ants import get_curr_player_queen as getCurrPlayerQueen
from referee_kit.ants import get_next_state as getNextState
from referee_kit.ants import get_next_state_adversarial as getNextStateAdversarial
from referee_kit.ants import get_winner as getWinner
from referee_kit.ants import is_path_ok_for_queen as isPathOkForQueen
from referee_kit.ants import legal_coord as legalCoord
from referee_kit.ants import list_adjacent as listAdjacent
from referee_kit.ants import list_all_build_moves as listAllBuildMoves
from referee_kit.ants import list_all_legal_moves as listAllLegalMoves
from referee_kit.ants import list_all_movement_moves as listAllMovementMoves
from referee_kit.ants import list_attackable as listAttackable
from referee_kit.ants import steps_to_reach as stepsToReach


# What differs: parameters that agents may name, parameters that nothing uses, False instead of None.
def getCurrPlayerFood(self, state):
    """The two foods on the side of the player to move. The first argument is not used."""
    return _kit.get_curr_player_food(state)


def getEnemyInv(self, state):
    """The inventory of the opponent. The first argument is not used."""
    return _kit.get_enemy_inv(state)


def listReachableAdjacent(state, coords, movement, ignoresGrass=False):
    """The neighbours without an ant that cost at most `movement` to enter."""
    return _kit.list_reachable_adjacent(state, coords, movement, ignoresGrass)


def listReachAdj(state, coords, antCoords=None):
    """The neighbours without an ant. The last argument is not used."""
    return [near for near in listAdjacent(coords) if getAntAt(state, near) is None]


def listAllMovementPaths(state, coords, movement, ignoresGrass=False):
    """Every path from a tile."""
    return _kit.list_all_movement_paths(state, coords, movement, ignoresGrass)


def findPathRecursive(state, src, dst, movement, ignoresGrass):
    """The path that gets nearest to a tile within `movement`, and the distance that is left."""
    return _kit.find_path_recursive(state, src, dst, movement, ignoresGrass)


def neighbors(state, node, goal, ign_grass, antMovement):
    """The tiles next to a node that can be entered, each one step further."""
    return _kit.neighbors(state, node, goal, ign_grass, antMovement)


def construct_path(node, antMovement):
    """The way to a node from where it began, as far as an ant gets."""
    return _kit.construct_path(node, antMovement)


def aStarSearchPath(state, start, goal):
    """The way of the ant on `start` to the tile before `goal`; False if there is none."""
    path = _kit.a_star_search_path(state, start, goal)
    return False if path is None else path
