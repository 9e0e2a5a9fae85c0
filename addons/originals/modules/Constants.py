"""The numbers of ReAntics (reantics.md, 1)."""

PLAYER_ONE, PLAYER_TWO, NEUTRAL = 0, 1, 2
COPY, HUMAN = -2, -1
BOARD_LENGTH = 10
MENU_PHASE, SETUP_PHASE_1, SETUP_PHASE_2, PLAY_PHASE = range(4)
TOURNAMENT_MODE, HUMAN_MODE, AI_MODE = range(3)
FOOD_GOAL = 11
QUEEN, WORKER, DRONE, SOLDIER, R_SOLDIER = range(5)
ANTHILL, TUNNEL, GRASS, FOOD = -4, -3, -2, -1
MOVE_ANT, BUILD, END, UNDO = range(4)
MOVEMENT, HEALTH, ATTACK, RANGE, COST, IGNORES_GRASS = range(6)
MOVE_COST, CAP_HEALTH, BUILD_COST = range(3)
INACTIVE, ACTIVE = range(2)
INVALID_PLACEMENT, INVALID_MOVE, INVALID_ATTACK = range(3)
AI_MOVE_TIMEOUT = 30

_MOVES = {MOVE_ANT: "MOVE_ANT", BUILD: "BUILD", END: "END"}
_ANTS = {QUEEN: "QUEEN", WORKER: "WORKER", DRONE: "DRONE", SOLDIER: "SOLDIER", R_SOLDIER: "RANGED"}


def moveTypeToStr(moveType):
    """Returns the name of a kind of move, `???` if unknown."""
    return _MOVES.get(moveType, "???")


def antTypeToStr(antType):
    """Returns the name of a kind of ant, `???` if unknown."""
    return _ANTS.get(antType, "???")


def buildTypeToStr(buildType):
    """Returns the name of a building or ant that can be built."""
    return "TUNNEL" if buildType == TUNNEL else antTypeToStr(buildType)
